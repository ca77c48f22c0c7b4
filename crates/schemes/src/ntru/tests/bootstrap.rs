//! Bootstrapping: bits, noise at every step, circuits deeper than the levels, and what is refused.

use core::ops::ControlFlow;

use super::super::noise::{TOLERANCE_BELOW, tolerance_above};
use super::super::*;

struct World {
    params: Params,
    client: ClientKey,
    server: ServerKey,
    key: BootstrapKey,
}

impl World {
    fn new(name: &str) -> Self {
        let params = Params::named(name).unwrap();
        let (client, server) = generate_insecure(&params, true, 11).unwrap();
        let key = client.bootstrap_key(&|_, _| ControlFlow::Continue(())).unwrap();
        Self { params, client, server, key }
    }

    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(&self.server).with_bootstrapping(&self.key).unwrap()
    }

    /// An encrypted bit, and other coefficients that are not 0.
    fn encrypt(&self, bit: bool, nonce: u64) -> Ciphertext {
        let n = self.params.dimension() as u64;
        let mut plain: Vec<u64> = (0..n).map(|i| i * i / 3 % 2).collect();
        plain[0] = bit.into();
        self.server.public().encrypt(&plain, &mut self.server.public().encryption_rng(nonce).unwrap()).unwrap()
    }

    fn near(&self, what: &str, measured: f64, formula: f64) {
        let name = self.params.name();
        println!("{name}, {what}: 2^{measured:.2} measured, 2^{formula:.2} by the formula");
        assert!(
            (-TOLERANCE_BELOW..=tolerance_above(self.params.dimension())).contains(&(measured - formula)),
            "{name}, {what}: 2^{measured:.2} measured, 2^{formula:.2} by the formula"
        );
    }

    /// A bootstrapped bit: alone in its polynomial, and with the noise of the formula.
    fn check(&self, x: &Ciphertext, bit: bool) {
        let plain = self.client.decrypt(x).unwrap();
        assert_eq!(plain[0] == 1, bit, "{}", self.params.name());
        assert!(plain[1..].iter().all(|&x| x == 0));
        assert_eq!(x.level(), self.params.bootstrapped_level());
        self.near("bootstrapped", self.client.measure_noise(x).unwrap(), x.noise());
    }
}

#[test]
fn bits_are_bootstrapped_again_and_again() {
    for name in ["boot-64", "boot-256-1"] {
        let world = World::new(name);
        let evaluator = world.evaluator();
        let mut bits = Vec::new();
        for i in 0..8 {
            let bit = i * i % 3 == 1;
            let x = evaluator.bootstrap(&world.encrypt(bit, i)).unwrap();
            world.check(&x, bit);
            bits.push((bit, x));
        }
        // Products of bootstrapped bits, down to the last level.
        for pair in bits.windows(2) {
            let ((a, x), (b, y)) = (&pair[0], &pair[1]);
            let mut product = evaluator.composed_multiply(x, y).unwrap();
            while product.level() > 1 {
                product = evaluator.composed_multiply(&product, &product).unwrap();
            }
            world.check(&evaluator.bootstrap(&product).unwrap(), a & b);
        }
        let (bit, mut x) = bits[1].clone();
        for _ in 0..5 {
            x = evaluator.bootstrap(&x).unwrap();
            world.check(&x, bit);
        }
    }
}
