//! Powers modulo odd numbers, and RSA signatures.

use super::Bench;
use crate::ours;
use crate::peers::Gmp;
use crate::report::{Row, Target};
use bench_common::Error;
use bench_common::crypto::RsaKey;
use bench_common::numbers::{below, number, to_bytes, trimmed, words};
use bench_common::sample::{Contestant, Job};

/// Bits of the modulus, and distances of the two primes from the numbers of [`start`].
const KEYS: [(usize, [u64; 2]); 4] =
    [(2048, [439, 57]), (4096, [2321, 29]), (8192, [1415, 2339]), (12_288, [5847, 1117])];

/// The number where the search for a prime begins. The product of two such primes has twice as many bits.
fn start(bits: usize, seed: u64) -> Vec<u64> {
    let mut x = number(bits, seed);
    if let Some(top) = x.last_mut() {
        *top |= 3 << 62;
    }
    x[0] = 0;
    x
}

/// Distances of the first primes from the numbers of [`start`]: the figures of `KEYS`.
pub fn offsets(gmp: Gmp, bits: usize) -> [u64; 2] {
    [11, 12].map(|seed| gmp.next_prime(&start(bits / 2, seed))[0])
}

/// The first prime above the number of [`start`]. The distance spares the search, unless the generator of the numbers has changed.
fn prime(gmp: Gmp, bits: usize, seed: u64, offset: u64) -> Vec<u64> {
    let mut x = start(bits, seed);
    x[0] = offset;
    let (mut power, mut exponent) = (vec![0; x.len()], x.clone());
    exponent[0] -= 1;
    // Fermat's test.
    gmp.powm(&mut power, &[2], &exponent, &x);
    if trimmed(&power) == [1] { x } else { gmp.next_prime(&start(bits, seed)) }
}

/// The key of these primes.
fn key(gmp: Gmp, bits: usize, offsets: [u64; 2]) -> Option<RsaKey> {
    let prime = |seed, offset| prime(gmp, bits / 2, seed, offset);
    let (p, q) = (prime(11, offsets[0]), prime(12, offsets[1]));
    let (p, q) = if gmp.less(&p, &q) { (q, p) } else { (p, q) };
    let less_one = |x: &[u64]| {
        let mut x = x.to_vec();
        x[0] -= 1;
        x
    };
    let (p_1, q_1) = (less_one(&p), less_one(&q));
    let (mut n, mut phi) = (vec![0; bits / 64], vec![0; bits / 64]);
    gmp.mul(&mut n, &p, &q);
    gmp.mul(&mut phi, &p_1, &q_1);
    let e = vec![65_537];
    let d = gmp.invert(&e, &phi)?;
    let rest = |m: &[u64]| {
        let (mut quotient, mut rest) = (vec![0; d.len() - m.len() + 1], vec![0; m.len()]);
        gmp.div_rem(&mut quotient, &mut rest, &d, m);
        rest
    };
    let (dp, dq) = (rest(&p_1), rest(&q_1));
    let q_inverse = gmp.invert(&q, &p)?;
    Some(RsaKey { n, e, d, p, q, dp, dq, q_inverse })
}

/// Powers with exponents as long as the modulus, and RSA signatures with the CRT.
pub fn rows(bench: &Bench<'_>) -> Result<Vec<Row>, Error> {
    let Some(gmp) = bench.peers.gmp else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for (bits, offsets) in KEYS {
        let Some(key) = key(gmp, bits, offsets) else { continue };
        let (message, digest) = (below(&key.n, 13), to_bytes(&words(4, 14)));
        let contestants = || {
            let mut all = Vec::new();
            all.push(Contestant::new("ours", ours::sign(&key, &digest)));
            all.extend(bench.peers.crypto.map(|crypto| Contestant::new("OpenSSL", crypto.sign(&key, &digest))));
            all
        };
        let target = (bits >= 8192).then(|| Target::new("ours", "OpenSSL", 1.0));
        rows.extend(bench.row(format!("rsa/sign/bits={bits}"), contestants, target.into_iter().collect())?);
        rows.extend(power(bench, gmp, &key, &message)?);
    }
    Ok(rows)
}

fn power(bench: &Bench<'_>, gmp: Gmp, key: &RsaKey, base: &[u64]) -> Result<Option<Row>, Error> {
    let (bits, exponent) = (64 * key.n.len(), trimmed(&key.d));
    let contestants = || {
        let mut all = Vec::new();
        all.push(Contestant::new("ours", ours::power(base, exponent, &key.n)));
        if let Some(crypto) = bench.peers.crypto {
            all.push(Contestant::new("OpenSSL", crypto.power(base, exponent, &key.n)));
        }
        let sec = move |out: &mut [u64]| gmp.powm_sec(out, base, exponent, &key.n);
        all.push(Contestant::new("GMP powm_sec", Job::new(key.n.len(), sec)));
        all
    };
    bench.row(format!("power/bits={bits}"), contestants, Vec::new())
}
