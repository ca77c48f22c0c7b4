//! Bootstraps on the emulated device: the words of the CPU, for any words.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::tfhe::{Engine, Session, Sum, Task};
use solinas_gpu::{Device, DeviceOptions, Error};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{BootstrapTask, ClientKey, Evaluator, LookupTable, LweCiphertext, Params, ParamsLiteral};
use solinas_schemes::{Control, Entropy};

/// A key of a set with the LWE dimension `n`.
fn evaluator(set: &str, n: usize) -> Evaluator {
    let literal = Params::named(set).unwrap().literal().clone();
    let small = ParamsLiteral { lwe_dimension: n, classical_bits: 0.0, quantum_bits: 0.0, ..literal };
    let params = Params::try_from(small).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap()
}

fn engine(evaluator: &Evaluator, seed: u64) -> Engine {
    Engine::new(&Device::emulated(DeviceOptions { memory: None, seed }), evaluator).unwrap()
}

fn random(evaluator: &Evaluator, rng: &mut ChaCha8Rng) -> LweCiphertext {
    LweCiphertext::from_words((0..=evaluator.params().big_dimension()).map(|_| rng.next_u32()).collect())
}

/// Tables of each number of outputs.
fn tables(family: Family, rng: &mut ChaCha8Rng) -> Vec<LookupTable> {
    let mut table = || std::array::from_fn(|_| (rng.next_u32() % 32) as u8);
    match family {
        Family::Gates => vec![LookupTable::Sign],
        Family::Integers => {
            (1..4).map(|outputs| LookupTable::Entries((0..outputs).map(|_| table()).collect())).collect()
        }
    }
}

/// Values as the CPU computes them.
struct Twin<'a> {
    evaluator: &'a Evaluator,
    slots: Vec<LweCiphertext>,
}

impl Twin<'_> {
    fn sum(&self, sum: &Sum) -> LweCiphertext {
        let terms: Vec<_> = sum.terms.iter().map(|&(slot, c)| (c, &self.slots[slot as usize])).collect();
        LweCiphertext::linear(self.evaluator.params().big_dimension(), &terms, sum.constant).unwrap()
    }

    fn bootstrap(&mut self, tables: &[LookupTable], tasks: &[Task]) {
        let job = |task: &Task| BootstrapTask { input: self.sum(&task.argument), table: &tables[task.table] };
        let jobs: Vec<BootstrapTask<'_>> = tasks.iter().map(job).collect();
        for (task, outputs) in tasks.iter().zip(self.evaluator.bootstrap(&jobs).unwrap()) {
            for (&slot, output) in task.outputs.iter().zip(outputs) {
                self.slots[slot as usize] = output;
            }
        }
    }
}

/// Random waves of up to `jobs` bootstraps. The outputs of a wave are inputs of the next one.
fn waves_agree(evaluator: &Evaluator, waves: usize, jobs: usize, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (engine, tables) = (engine(evaluator, seed), tables(evaluator.params().family(), &mut rng));
    // The first slots are written at the start, the others by the waves.
    let (inputs, slots) = (4, 4 + 3 * jobs);
    let mut session = Session::new(&engine, slots, jobs.div_ceil(2), &tables).unwrap();
    let values = (0..slots).map(|_| random(evaluator, &mut rng)).collect();
    let mut twin = Twin { evaluator, slots: values };
    for slot in 0..inputs {
        session.write(slot as u32, &twin.slots[slot]).unwrap();
    }
    let mut known: Vec<u32> = (0..inputs as u32).collect();
    for wave in 0..waves {
        let mut free: Vec<u32> = (inputs as u32..slots as u32).filter(|slot| wave == 0 || slot % 2 == 0).collect();
        let mut tasks = Vec::new();
        for _ in 0..jobs {
            let table = rng.next_u32() as usize % tables.len();
            let argument = sum(&known, &mut rng);
            let count = tables[table].steps().len();
            if free.len() < count {
                break;
            }
            tasks.push(Task { argument, table, outputs: free.split_off(free.len() - count) });
        }
        // No task reads what another one writes.
        let written: Vec<u32> = tasks.iter().flat_map(|task| task.outputs.clone()).collect();
        tasks.retain(|task| task.argument.terms.iter().all(|(slot, _)| !written.contains(slot)));
        session.bootstrap(&tasks).unwrap();
        twin.bootstrap(&tables, &tasks);
        known.extend(tasks.iter().flat_map(|task| task.outputs.clone()));
    }
    let mut sums: Vec<Sum> = known.iter().map(|&slot| Sum { terms: vec![(slot, 1)], constant: 0 }).collect();
    sums.extend((0..3).map(|_| sum(&known, &mut rng)));
    sums.push(Sum { terms: Vec::new(), constant: 1 << 29 });
    let want: Vec<LweCiphertext> = sums.iter().map(|sum| twin.sum(sum)).collect();
    assert_eq!(session.read(&sums).unwrap(), want, "seed {seed}");
}

/// A random sum of up to three values.
fn sum(known: &[u32], rng: &mut ChaCha8Rng) -> Sum {
    let mut term = |_| (known[rng.next_u32() as usize % known.len()], rng.next_u32() as i32 % 100);
    Sum { terms: (0..3).map(&mut term).collect(), constant: rng.next_u32() }
}

#[test]
fn waves_of_integers_are_those_of_the_cpu() {
    let evaluator = evaluator("integers-128", 16);
    for seed in 0..3 {
        waves_agree(&evaluator, 3, 5, seed);
    }
}

#[test]
fn waves_of_gates_are_those_of_the_cpu() {
    let evaluator = evaluator("gates-128", 16);
    for seed in 0..3 {
        waves_agree(&evaluator, 3, 6, seed);
    }
}

#[test]
fn a_bootstrap_of_gates_128_is_that_of_the_cpu() {
    waves_agree(&evaluator("gates-128", 724), 1, 1, 7);
}

#[test]
fn a_bootstrap_of_integers_128_is_that_of_the_cpu() {
    waves_agree(&evaluator("integers-128", 918), 1, 1, 8);
}

#[test]
fn tasks_that_do_not_fit_are_refused() {
    let evaluator = evaluator("integers-128", 16);
    let engine = engine(&evaluator, 0);
    let entries = |outputs| LookupTable::Entries(vec![[1; 16]; outputs]);
    let mut session = Session::new(&engine, 2, 1, &[entries(2)]).unwrap();
    let task = |slot: u32, table, outputs: &[u32]| Task {
        argument: Sum { terms: vec![(slot, 1)], constant: 0 },
        table,
        outputs: outputs.to_vec(),
    };
    for task in [task(2, 0, &[0, 1]), task(0, 1, &[0, 1]), task(0, 0, &[0]), task(0, 0, &[0, 2])] {
        assert!(matches!(session.bootstrap(&[task]), Err(Error::Launch { .. })));
    }
    assert!(matches!(session.write(0, &LweCiphertext::from_words(vec![0; 5])), Err(Error::Scheme(_))));
    assert!(matches!(
        session.write(2, &random(&evaluator, &mut ChaCha8Rng::seed_from_u64(0))),
        Err(Error::Launch { .. })
    ));
    assert!(matches!(Session::new(&engine, 2, 1, &[LookupTable::Sign]), Err(Error::Scheme(_))));
    assert!(matches!(Session::new(&engine, 2, 1, &[entries(0)]), Err(Error::Scheme(_))));
}

#[test]
fn a_key_that_does_not_fit_names_the_sets_that_do() {
    let device = Device::emulated(DeviceOptions { memory: Some(70 << 20), seed: 0 });
    let error = Engine::new(&device, &evaluator("integers-128", 918)).unwrap_err().to_string();
    assert!(error.contains("a server key of integers-128 needs") && error.contains("keys of gates-128,"), "{error}");
    let device = Device::emulated(DeviceOptions { memory: Some(1 << 20), seed: 0 });
    let error = Engine::new(&device, &evaluator("integers-128", 918)).unwrap_err().to_string();
    assert!(error.contains("no parameter set fits"), "{error}");
}

#[test]
fn sets_without_kernels_are_refused() {
    let literal = Params::named("gates-128").unwrap().literal().clone();
    let other = ParamsLiteral { ring_dimension: 1024, glwe_dimension: 1, lwe_dimension: 8, ..literal };
    let params = Params::try_from(other).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let error = Engine::new(&Device::emulated(DeviceOptions::default()), &evaluator).unwrap_err();
    assert!(error.to_string().contains("N = 1024"), "{error}");
}
