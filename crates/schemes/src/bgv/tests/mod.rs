//! The whole cycle, random circuits, noise against the formulas, and what bad input gets.

mod bootstrap;
mod circuits;
mod cycle;
mod refused;

use crate::{Control, Entropy};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;

/// Numbers modulo `p` that look random.
fn random(p: u64, len: usize, seed: u64) -> Vec<u64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.next_u64() % p).collect()
}

/// A key pair with every rotation.
fn keys(name: &str) -> (ClientKey, ServerKey) {
    let params = Params::named(name).unwrap();
    let rotations = match params.slots() {
        Ok(_) => Rotations::all(&params).unwrap(),
        Err(_) => Rotations::none(&params).with_automorphism(5).unwrap(),
    };
    keys_with(&params, &rotations, 1)
}

/// A key pair with these rotations, of that seed.
fn keys_with(params: &Params, rotations: &Rotations, seed: u64) -> (ClientKey, ServerKey) {
    let client = ClientKey::generate(params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let server = client.server_key_with(rotations, &Control::default()).unwrap();
    (client, server)
}

fn encrypt(server: &ServerKey, plaintext: &[u64], nonce: u64) -> Ciphertext {
    server.public().encrypt(plaintext, &mut server.public().encryption_rng(nonce).unwrap()).unwrap()
}

/// Checks that the measured noise is within the tolerance of the formula.
fn check_noise(client: &ClientKey, x: &Ciphertext, what: &str) {
    let (measured, formula) = (client.measure_noise(x).unwrap(), x.noise());
    let n = client.params().dimension();
    assert!(
        measured <= formula.scaled(noise::tolerance_above(n)),
        "{what}: measured {measured:.2}, formula {formula:.2}"
    );
    assert!(
        measured >= formula.scaled(-noise::TOLERANCE_BELOW),
        "{what}: measured {measured:.2}, formula {formula:.2}"
    );
}

/// Product modulo `p` and `X^N + 1`.
fn negacyclic(x: &[u64], y: &[u64], p: u64) -> Vec<u64> {
    let n = x.len();
    let mut out = vec![0u64; n];
    for (i, &a) in x.iter().enumerate() {
        for (j, &b) in y.iter().enumerate() {
            let product = a * b % p;
            let (at, term) = if i + j < n { (i + j, product) } else { (i + j - n, p - product) };
            out[at] = (out[at] + term) % p;
        }
    }
    out
}
