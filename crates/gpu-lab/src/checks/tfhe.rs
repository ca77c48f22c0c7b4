//! Waves of bootstraps: the words of the CPU, for any words.

use super::problem;
use crate::Size;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::Device;
use solinas_gpu::tfhe::{Engine, Session};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{
    BootstrapTask, ClientKey, Evaluator, LookupTable, LweCiphertext, Params, ParamsLiteral, SlotBootstrap, Sum,
};
use solinas_schemes::{Control, Entropy, Error};

/// Waves of a parameter set: of a small LWE dimension for [`Size::Quick`], else of its own. Then waves of a key of
/// independent bits.
pub(super) fn check(device: &Device, set: &str, seed: u64, size: Size) -> Result<(), String> {
    let (n, waves, jobs) = match size {
        Size::Quick => (Some(6), 2, 3),
        Size::Full => (None, 4, 300),
    };
    for evaluator in [evaluator(set, n), evaluator_of_bits(set, n.unwrap_or(60))] {
        waves_agree(device, &evaluator.map_err(|error| error.to_string())?, waves, jobs, seed)?;
    }
    Ok(())
}

/// A key of a set from a fixed seed, with the LWE dimension `n` if one is given. It is a multiple of the bits of a block.
///
/// # Errors
/// The errors of the parameters and of the key generation.
pub fn evaluator(set: &str, n: Option<usize>) -> Result<Evaluator, Error> {
    let literal = Params::named(set)?.literal().clone();
    generate(ParamsLiteral { lwe_dimension: n.unwrap_or(literal.lwe_dimension), ..literal })
}

/// As [`evaluator`], with a key of `n` independent bits.
///
/// # Errors
/// As [`evaluator`].
pub fn evaluator_of_bits(set: &str, n: usize) -> Result<Evaluator, Error> {
    generate(ParamsLiteral { lwe_dimension: n, block_bits: 1, ..Params::named(set)?.literal().clone() })
}

fn generate(literal: ParamsLiteral) -> Result<Evaluator, Error> {
    let params = Params::try_from(ParamsLiteral { classical_bits: 0.0, quantum_bits: 0.0, ..literal })?;
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
    Evaluator::new(&client.server_key(&Control::default())?)
}

/// A ciphertext of random words.
pub fn random(evaluator: &Evaluator, rng: &mut ChaCha8Rng) -> LweCiphertext {
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
    fn sum(&self, sum: &Sum) -> Result<LweCiphertext, Error> {
        let terms: Vec<_> = sum.terms.iter().map(|&(slot, c)| (c, &self.slots[slot as usize])).collect();
        LweCiphertext::linear(self.evaluator.params().big_dimension(), &terms, sum.constant)
    }

    fn bootstrap(&mut self, tables: &[LookupTable], tasks: &[SlotBootstrap]) -> Result<(), Error> {
        let job =
            |task: &SlotBootstrap| Ok(BootstrapTask { input: self.sum(&task.argument)?, table: &tables[task.table] });
        let jobs = tasks.iter().map(job).collect::<Result<Vec<BootstrapTask<'_>>, Error>>()?;
        for (task, outputs) in tasks.iter().zip(self.evaluator.bootstrap(&jobs)?) {
            for (&slot, output) in task.outputs.iter().zip(outputs) {
                self.slots[slot as usize] = output;
            }
        }
        Ok(())
    }
}

/// Random waves of up to `jobs` bootstraps. The outputs of a wave are inputs of the next one.
///
/// # Errors
/// If a word differs from that of the CPU, or if the device fails.
pub fn waves_agree(device: &Device, evaluator: &Evaluator, waves: usize, jobs: usize, seed: u64) -> Result<(), String> {
    let of_cpu = |error: Error| error.to_string();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let engine = Engine::new(device, evaluator).map_err(problem)?;
    let tables = tables(evaluator.params().family(), &mut rng);
    // The first slots are written at the start, the others by the waves.
    let (inputs, slots) = (4, 4 + 3 * jobs);
    let mut session = Session::new(&engine, slots, jobs.div_ceil(2), &tables).map_err(problem)?;
    let values = (0..slots).map(|_| random(evaluator, &mut rng)).collect();
    let mut twin = Twin { evaluator, slots: values };
    let written: Vec<(u32, &LweCiphertext)> = (0u32..).zip(&twin.slots[..inputs]).collect();
    session.write(&written).map_err(problem)?;
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
            tasks.push(SlotBootstrap { argument, table, outputs: free.split_off(free.len() - count) });
        }
        // No task reads what another one writes.
        let written: Vec<u32> = tasks.iter().flat_map(|task| task.outputs.clone()).collect();
        tasks.retain(|task| task.argument.terms.iter().all(|(slot, _)| !written.contains(slot)));
        session.bootstrap(&tasks).map_err(problem)?;
        twin.bootstrap(&tables, &tasks).map_err(of_cpu)?;
        known.extend(tasks.iter().flat_map(|task| task.outputs.clone()));
    }
    let mut sums: Vec<Sum> = known.iter().map(|&slot| Sum { terms: vec![(slot, 1)], constant: 0 }).collect();
    sums.extend((0..3).map(|_| sum(&known, &mut rng)));
    sums.push(Sum { terms: Vec::new(), constant: 1 << 29 });
    let found = session.read(&sums).map_err(problem)?;
    for (sum, found) in sums.iter().zip(found) {
        if found != twin.sum(sum).map_err(of_cpu)? {
            return Err(format!("seed {seed}: the sum {sum:?} differs from that of the CPU"));
        }
    }
    Ok(())
}

/// A random sum of up to three values.
fn sum(known: &[u32], rng: &mut ChaCha8Rng) -> Sum {
    let mut term = |_| (known[rng.next_u32() as usize % known.len()], rng.next_u32() as i32 % 100);
    Sum { terms: (0..3).map(&mut term).collect(), constant: rng.next_u32() }
}
