//! At every step, the carried noise is at least the measured noise. Before a Recrypt this is proven; after one it holds
//! for these seeds.

use super::super::*;
use crate::{Control, Entropy};

const MEMORY: u64 = 1 << 30;

/// One key with its encryptor, evaluator and decryptor.
struct Bench<'a> {
    client: &'a ClientKey,
    evaluator: Evaluator<'a>,
    name: String,
}

impl Bench<'_> {
    /// Checks that the ciphertext decrypts to the bit, and has at least the margin of its bound.
    #[track_caller]
    fn check(&self, step: &str, ciphertext: &Ciphertext, bit: bool) {
        assert_eq!(self.client.decryptor().unwrap().decrypt(ciphertext).unwrap(), bit, "{}, {step}", self.name);
        let (measured, bound) =
            (self.client.measure_margin(ciphertext).unwrap(), ciphertext.margin(self.client.params()));
        assert!(measured >= bound, "{}, {step}: margin measured {measured:.2}, bound {bound:.2}", self.name);
    }

    /// The columns inside Recrypt: sums of products of two indicators.
    fn check_columns(&self, server: &ServerKey, ciphertext: &Ciphertext) {
        let params = server.params();
        let candidates = self.evaluator.candidates(ciphertext.words()).unwrap();
        let columns = self.evaluator.columns(&candidates).unwrap();
        for (j, blocks) in columns.into_iter().enumerate() {
            for (k, words) in blocks.into_iter().enumerate() {
                // Bit `p - j` of a candidate has weight `2^-j`.
                let terms = candidates[k].iter().filter(|&z| z >> (params.precision() - j) & 1 == 1).count();
                let noise = noise::product(noise::fresh(params), noise::fresh(params)) + (terms.max(1) as f64).log2();
                let column = Ciphertext::from_parts(server.public(), words, noise).unwrap();
                let (measured, bound) = (self.client.measure_margin(&column).unwrap(), column.margin(params));
                assert!(measured >= bound, "{}, column {j} of block {k}: {measured:.2}, {bound:.2}", self.name);
            }
        }
    }
}

/// Fresh ciphertexts, sums, negations, products with as many factors as the bound allows, columns, recrypted
/// ciphertexts, their sums and products, and a chain.
#[test]
fn the_carried_noise_is_not_below_the_noise() {
    for (name, seed) in [("ci-3", 21), ("ci-3", 22), ("ci-7", 23), ("ci-7", 24), ("ci-15", 25), ("ci-15", 26)] {
        let params = Params::named(name).unwrap();
        let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
        let server = client.server_key(&Control::default()).unwrap();
        let public = server.public();
        let encryptor = Encryptor::new(public, EncryptMethod::Table, MEMORY, Arithmetic::default()).unwrap();
        let evaluator = Evaluator::new(&server, RecryptMethod::PairTable, MEMORY, Arithmetic::default()).unwrap();
        let bench = Bench { client: &client, evaluator, name: format!("{name}, seed {seed}") };
        let mut rng = public.encryption_rng(seed).unwrap();
        let mut fresh = |bit| encryptor.encrypt(bit, &mut rng).unwrap();

        for bit in [false, true] {
            bench.check("trivial", &Ciphertext::trivial(public, bit), bit);
        }
        let (mut sum, mut product, mut parity) = (fresh(false), fresh(true), false);
        for i in 0..40 {
            let next = fresh(i % 3 == 0);
            bench.check("fresh", &next, i % 3 == 0);
            sum = bench.evaluator.not(&bench.evaluator.add(&sum, &next).unwrap()).unwrap();
            parity ^= i % 3 != 0;
            bench.check("sum", &sum, parity);
        }
        let mut factors = 1;
        while let Ok(next) = bench.evaluator.multiply(&product, &fresh(true)) {
            (product, factors) = (next, factors + 1);
            bench.check("product", &product, true);
        }
        assert!(factors > 4, "{name}: {factors} factors");

        bench.check_columns(&server, &sum);
        let recrypted: Vec<_> = (0..12).map(|i| bench.evaluator.recrypt(&fresh(i % 2 == 0)).unwrap()).collect();
        let mut sum = Ciphertext::trivial(public, false);
        for (i, next) in recrypted.iter().enumerate() {
            bench.check("recrypted", next, i % 2 == 0);
            sum = bench.evaluator.add(&sum, next).unwrap();
        }
        bench.check("sum of recrypted", &sum, false);
        if !params.supports_circuits() {
            continue;
        }
        let (mut chain, mut bit) = (recrypted[0].clone(), true);
        for i in 1..12 {
            let (factor, other) = (&recrypted[2 * (i % 6)], &recrypted[i]);
            let next = bench.evaluator.multiply(&chain, factor).unwrap();
            bench.check("product of two recrypted", &next, bit);
            let next = bench.evaluator.add(&next, other).unwrap();
            bit ^= i % 2 == 0;
            bench.check("product of two recrypted, and a sum", &next, bit);
            bench.check_columns(&server, &next);
            chain = bench.evaluator.recrypt(&next).unwrap();
            bench.check("recrypted of the chain", &chain, bit);
        }
    }
}
