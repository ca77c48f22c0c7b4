//! The whole cycle, noise against the formulas, agreement with the Python oracle, and what bad input gets.

mod bootstrap;
mod cycle;
mod oracle;
mod refused;

use std::sync::Arc;

use crate::control::Steps;
use crate::{Control, Entropy};
use rand_core::RngCore;

use super::context::Context;
use super::keygen::{Choices, Short};
use super::keys::EvaluationParts;
use super::noise::{TOLERANCE_BELOW, tolerance_above};
use super::*;

/// The key pair of a seed.
fn keys(params: &Params, seed: u64) -> (ClientKey, ServerKey) {
    let client = ClientKey::generate(params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, server)
}

/// The key pair of those choices, without a bootstrapping key.
fn assembled(context: Arc<Context>, choices: Choices, errors: Vec<[Short; 3]>) -> (ClientKey, ServerKey) {
    let steps = Steps::unobserved();
    let (public, secret) = keygen::assemble(context, true, choices, &steps).unwrap();
    let client = ClientKey::new(public, secret);
    let hints = keygen::hints(&client, errors.into_iter(), &steps).unwrap();
    let parts = EvaluationParts { hints, bootstrap: None, rotations: None };
    let server = ServerKey::new(client.public().clone(), parts);
    (client, server)
}

/// Keys and plain arithmetic of a parameter set.
struct World {
    params: Params,
    client: ClientKey,
    server: ServerKey,
    nonce: u64,
}

impl World {
    fn new(params: Params) -> Self {
        let (client, server) = keys(&params, 7);
        Self { params, client, server, nonce: 0 }
    }

    fn named(name: &str) -> Self {
        Self::new(Params::named(name).unwrap())
    }

    /// A random plaintext and its encryption.
    fn fresh(&mut self) -> (Vec<u64>, Ciphertext) {
        self.nonce += 1;
        let mut rng = self.server.public().encryption_rng(self.nonce).unwrap();
        let p = self.params.plaintext_modulus();
        let plain: Vec<u64> = (0..self.params.dimension()).map(|_| rng.next_u64() % p).collect();
        let cipher = self.server.public().encrypt(&plain, &mut rng).unwrap();
        (plain, cipher)
    }

    fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (n, p) = (a.len(), self.params.plaintext_modulus());
        let mut out = vec![0; n];
        for (i, &x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (j, &y) in b.iter().enumerate() {
                let term = x * y % p;
                let at = &mut out[(i + j) % n];
                *at = if i + j < n { (*at + term) % p } else { (*at + p - term) % p };
            }
        }
        out
    }

    fn sum(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(x, y)| (x + y) % self.params.plaintext_modulus()).collect()
    }

    /// Checks that a ciphertext decrypts to `plain` and that its noise is within the tolerance of the formula.
    fn check(&self, cipher: &Ciphertext, plain: &[u64], what: &str) {
        let over = self.check_bound(cipher, plain, what);
        assert!(over >= -TOLERANCE_BELOW, "{what}, {}: {over:.2} bits over the formula", self.params.name());
    }

    /// Checks that a ciphertext decrypts to `plain` and that its noise does not exceed the formula. The formula holds
    /// for plaintexts that are large at the same roots. Returns the bits by which the noise is above the formula.
    fn check_bound(&self, cipher: &Ciphertext, plain: &[u64], what: &str) -> f64 {
        assert!(self.client.decrypt(cipher).unwrap() == plain, "{what}, {}", self.params.name());
        let (measured, formula) = (self.client.measure_noise(cipher).unwrap(), cipher.noise());
        assert!(
            measured <= formula.scaled(tolerance_above(plain.len())),
            "{what}, {}: 2^{measured:.2} measured, 2^{formula:.2} by the formula",
            self.params.name()
        );
        measured.bits_above(formula)
    }
}

fn literal(name: &str, dimension: usize, p: u64, depth: usize) -> ParamsLiteral {
    ParamsLiteral {
        name: name.into(),
        dimension,
        plaintext_modulus: p,
        depth,
        primes_per_level: if p > 1 << 12 { 2 } else { 1 },
        first_bits: None,
        bits: None,
        top_bits: None,
        keys: KeyDistribution::Gaussian,
        floor: None,
        terms: 2,
        failure_bits: 40,
        bootstrapping: None,
    }
}

fn rng() -> impl RngCore {
    crate::random::SecretSeed::insecure(3).stream(0)
}
