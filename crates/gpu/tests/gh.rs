//! Products and Recrypts of Gentry and Halevi's scheme on the emulated device equal those of the CPU.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_bigint::Natural;
use solinas_gpu::gh::{self, Engine};
use solinas_gpu::{Device, DeviceOptions, Error};
use solinas_schemes::gh::{
    Accelerator, Arithmetic, Ciphertext, ClientKey, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod,
    ServerKey, noise,
};
use solinas_schemes::{Control, Entropy};
use std::sync::Arc;

fn key(name: &str, seed: u64) -> (ClientKey, Arc<ServerKey>) {
    let params = Params::named(name).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, Arc::new(server))
}

fn device(seed: u64) -> Device {
    Device::emulated(DeviceOptions { seed, ..DeviceOptions::default() })
}

fn evaluator(server: &Arc<ServerKey>, method: RecryptMethod) -> Evaluator<'static> {
    Evaluator::shared(Arc::clone(server), method, 1 << 34, Arithmetic::default()).unwrap()
}

/// The words of encrypted bits, of the constants, and of the largest residue.
fn residues(server: &ServerKey) -> Vec<Vec<u64>> {
    let public = server.public();
    let encryptor = Encryptor::new(public, EncryptMethod::PartialFft, 1 << 34, Arithmetic::default()).unwrap();
    let mut rng = public.encryption_rng(7).unwrap();
    let mut all: Vec<Vec<u64>> = [false, true]
        .iter()
        .map(|&bit| encryptor.encrypt(bit, &mut rng).unwrap().words().to_vec())
        .collect();
    let largest = public.d().checked_sub(&Natural::one()).unwrap();
    all.extend([false, true].map(|bit| Ciphertext::trivial(public, bit).words().to_vec()));
    all.push(largest.words().to_vec());
    all
}

/// Compares products and Recrypts of all residues.
fn check(server: &Arc<ServerKey>, engine: &Engine, cpu: &Evaluator<'_>, residues: &[Vec<u64>]) {
    let public = server.public();
    let ciphertext = |words: &Vec<u64>| {
        Ciphertext::from_parts(public, words.clone(), noise::fresh(server.params())).unwrap()
    };
    for x in residues {
        let want = cpu.recrypt(&ciphertext(x)).unwrap();
        assert_eq!(engine.recrypt(x).unwrap(), want.words(), "Recrypt by {:?}", engine.method());
        let y = &residues[0];
        let product = (&Natural::from_words(x.clone()) * &Natural::from_words(y.clone())).rem(public.d()).unwrap();
        assert_eq!(Natural::from_words(engine.multiply(x, y).unwrap()), product);
    }
}

#[test]
fn recrypts_are_those_of_the_processor() {
    for (name, seed) in [("ci-3", 1), ("ci-7", 2), ("ci-15", 3)] {
        let (_, server) = key(name, seed);
        let cpu = evaluator(&server, RecryptMethod::PartialFft);
        for method in [RecryptMethod::PairTable, RecryptMethod::FullFft] {
            let device = device(seed);
            let engine = Engine::new(&device, Arc::clone(&server), method).unwrap();
            assert_eq!(engine.method(), method);
            check(&server, &engine, &cpu, &residues(&server));
        }
    }
}
