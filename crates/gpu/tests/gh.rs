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
use solinas_testing::is_long;
use std::sync::Arc;

fn key(name: &str) -> Arc<ServerKey> {
    let params = Params::named(name).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    Arc::new(client.server_key(&Control::default()).unwrap())
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
    let mut all: Vec<Vec<u64>> =
        [false, true].iter().map(|&bit| encryptor.encrypt(bit, &mut rng).unwrap().words().to_vec()).collect();
    let largest = public.d().checked_sub(&Natural::one()).unwrap();
    all.extend([false, true].map(|bit| Ciphertext::trivial(public, bit).words().to_vec()));
    all.push(largest.words().to_vec());
    all
}

/// Compares products and Recrypts of all residues.
fn check(server: &Arc<ServerKey>, engine: &Engine, cpu: &Evaluator<'_>, residues: &[Vec<u64>]) {
    let public = server.public();
    let ciphertext =
        |words: &Vec<u64>| Ciphertext::from_parts(public, words.clone(), noise::fresh(server.params())).unwrap();
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
    for (name, method, count) in [
        ("ci-3", RecryptMethod::PairTable, 5),
        ("ci-3", RecryptMethod::FullFft, 5),
        ("ci-7", RecryptMethod::FullFft, 3),
    ] {
        let server = key(name);
        let cpu = evaluator(&server, RecryptMethod::PartialFft);
        let engine = Engine::new(&device(1), Arc::clone(&server), method).unwrap();
        assert_eq!(engine.method(), method);
        check(&server, &engine, &cpu, &residues(&server)[5 - count..]);
    }
}

/// Batches that fill the device and that do not, and empty ones.
#[test]
fn encryptions_are_those_of_the_processor() {
    for (name, batch) in [("ci-3", 3), ("ci-7", 70)] {
        let server = key(name);
        let public = Arc::new(server.public().clone());
        let cpu = Encryptor::new(&public, EncryptMethod::Table, 1 << 34, Arithmetic::default()).unwrap();
        let gpu = gh::Encryptor::new(&device(1), Arc::clone(&public), batch).unwrap();
        for count in [0, 1, 7] {
            let bits: Vec<bool> = (0..count).map(|i| i % 3 == 0).collect();
            let rng = || public.encryption_rng(count as u64).unwrap();
            let want = cpu.encrypt_batch(&bits, &mut rng()).unwrap();
            assert!(gpu.encrypt(&bits, &mut rng()).unwrap() == want, "{count} bits of {name}");
        }
    }
}

/// A key with 15 blocks; of the papers' smallest set in a long run.
#[test]
fn recrypts_of_15_blocks_are_those_of_the_processor() {
    let server = key(if is_long() { "toy" } else { "ci-15" });
    let cpu = evaluator(&server, RecryptMethod::PairTable);
    let device = device(1);
    let engine = Engine::with_pair_table(&device, Arc::clone(&server), &cpu).unwrap();
    let (estimate, held) = (gh::bytes(server.params(), cpu.method()).unwrap() as f64, device.live_bytes() as f64);
    println!("{held} bytes, estimated {estimate}");
    // The pool rounds small buffers up to powers of two, and a small key has no others.
    assert!(!is_long() || (0.8..1.2).contains(&(estimate / held)), "{held} bytes, estimated {estimate}");
    check(&server, &engine, &cpu, &residues(&server)[1..2]);
}

#[test]
fn tables_that_do_not_fit_are_refused_before_the_work() {
    let server = key("ci-7");
    let params = server.params();
    let limit = |bytes| Device::emulated(DeviceOptions { memory: Some(bytes), ..DeviceOptions::default() });
    let [pairs, full] = [RecryptMethod::PairTable, RecryptMethod::FullFft].map(|m| gh::bytes(params, m).unwrap());
    let new = |bytes, method| Engine::new(&limit(bytes), Arc::clone(&server), method).map(drop);
    let message = new(pairs.min(full), if pairs < full { RecryptMethod::FullFft } else { RecryptMethod::PairTable })
        .unwrap_err()
        .to_string();
    assert!(message.contains("recryption fits"), "{message}");
    let error = new(1 << 10, RecryptMethod::PairTable).unwrap_err();
    assert!(matches!(&error, Error::Memory { fits, .. } if fits.contains("take the device cpu")), "{error}");
    assert!(matches!(gh::fastest(&limit(1 << 10), params), Err(Error::Memory { .. })));
    assert_eq!(gh::fastest(&limit(1 << 30), params), Ok(RecryptMethod::PairTable));
    let error = new(1 << 30, RecryptMethod::PartialFft).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}
