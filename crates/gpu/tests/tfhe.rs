//! Bootstraps on the emulated device: the words of the CPU, for any words.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_gpu::tfhe::{Engine, Session};
use solinas_gpu::{Device, DeviceOptions, Error};
use solinas_gpu_lab::checks::tfhe;
use solinas_schemes::tfhe::{
    ClientKey, Evaluator, LookupTable, LweCiphertext, Params, ParamsLiteral, SlotBootstrap, Sum,
};
use solinas_schemes::{Control, Entropy};

/// A key of a set, with the LWE dimension `n` if one is given.
fn evaluator(set: &str, n: Option<usize>) -> Evaluator {
    tfhe::evaluator(set, n).unwrap()
}

fn engine(evaluator: &Evaluator, seed: u64) -> Engine {
    Engine::new(&Device::emulated(DeviceOptions { memory: None, seed }), evaluator).unwrap()
}

/// Random waves of up to `jobs` bootstraps, as `gpu-lab` runs them on a GPU.
fn waves_agree(evaluator: &Evaluator, waves: usize, jobs: usize, seed: u64) {
    let device = Device::emulated(DeviceOptions { memory: None, seed });
    tfhe::waves_agree(&device, evaluator, waves, jobs, seed).unwrap();
}

#[test]
fn waves_of_integers_are_those_of_the_cpu() {
    let evaluator = evaluator("integers-128", Some(15));
    for seed in 0..3 {
        waves_agree(&evaluator, 3, 5, seed);
    }
}

#[test]
fn waves_of_integers_with_independent_key_bits_are_those_of_the_cpu() {
    let evaluator = tfhe::evaluator_of_bits("integers-128", 16).unwrap();
    for seed in 0..2 {
        waves_agree(&evaluator, 3, 5, seed);
    }
}

#[test]
fn waves_of_gates_are_those_of_the_cpu() {
    let evaluator = evaluator("gates-128", Some(15));
    for seed in 0..3 {
        waves_agree(&evaluator, 3, 6, seed);
    }
}

#[test]
fn waves_of_gates_with_independent_key_bits_are_those_of_the_cpu() {
    let evaluator = tfhe::evaluator_of_bits("gates-128", 16).unwrap();
    for seed in 0..2 {
        waves_agree(&evaluator, 3, 6, seed);
    }
}

#[test]
fn a_bootstrap_of_gates_128_is_that_of_the_cpu() {
    waves_agree(&evaluator("gates-128", None), 1, 1, 7);
}

#[test]
fn a_bootstrap_of_integers_128_is_that_of_the_cpu() {
    waves_agree(&evaluator("integers-128", None), 1, 1, 8);
}

#[test]
fn tasks_that_do_not_fit_are_refused() {
    let evaluator = evaluator("integers-128", Some(15));
    let engine = engine(&evaluator, 0);
    let entries = |outputs| LookupTable::Entries(vec![[1; 16]; outputs]);
    let mut session = Session::new(&engine, 2, 1, &[entries(2)]).unwrap();
    let task = |slot: u32, table, outputs: &[u32]| SlotBootstrap {
        argument: Sum { terms: vec![(slot, 1)], constant: 0 },
        table,
        outputs: outputs.to_vec(),
    };
    for task in [task(2, 0, &[0, 1]), task(0, 1, &[0, 1]), task(0, 0, &[0]), task(0, 0, &[0, 2])] {
        assert!(matches!(session.bootstrap(&[task]), Err(Error::Launch { .. })));
    }
    assert!(matches!(session.write(&[(0, &LweCiphertext::from_words(vec![0; 5]))]), Err(Error::Scheme(_))));
    assert!(matches!(
        session.write(&[(2, &tfhe::random(&evaluator, &mut ChaCha8Rng::seed_from_u64(0)))]),
        Err(Error::Launch { .. })
    ));
    assert!(matches!(Session::new(&engine, 2, 1, &[LookupTable::Sign]), Err(Error::Scheme(_))));
    assert!(matches!(Session::new(&engine, 2, 1, &[entries(0)]), Err(Error::Scheme(_))));
}

#[test]
fn a_key_that_does_not_fit_names_the_sets_that_do() {
    let device = Device::emulated(DeviceOptions { memory: Some(70 << 20), seed: 0 });
    let error = Engine::new(&device, &evaluator("integers-128", None)).unwrap_err().to_string();
    assert!(error.contains("a server key of integers-128 needs") && error.contains("keys of gates-128,"), "{error}");
    let device = Device::emulated(DeviceOptions { memory: Some(1 << 20), seed: 0 });
    let error = Engine::new(&device, &evaluator("integers-128", None)).unwrap_err().to_string();
    assert!(error.contains("no parameter set fits"), "{error}");
}

#[test]
fn sets_without_kernels_are_refused() {
    let literal = Params::named("gates-128").unwrap().literal().clone();
    let ring = ParamsLiteral { ring_dimension: 1024, glwe_dimension: 1, lwe_dimension: 9, ..literal.clone() };
    let blocks = ParamsLiteral { block_bits: 2, lwe_dimension: 8, ..literal };
    for (literal, why) in [(ring, "N = 1024"), (blocks, "blocks of 2 bits")] {
        let params = Params::try_from(literal).unwrap();
        let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
        let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
        let error = Engine::new(&Device::emulated(DeviceOptions::default()), &evaluator).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}
