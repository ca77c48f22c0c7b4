//! Waves of bootstraps.

use super::Measured;
use crate::checks::tfhe::{evaluator, random};
use crate::{Size, Timer};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_gpu::tfhe::{Engine, Session};
use solinas_gpu::{Device, Error};
use solinas_schemes::tfhe::LookupTable;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{SlotBootstrap, Sum};

/// Waves of one bootstrap, or of as many as a graph holds.
pub(super) fn waves(device: &Device, set: &str, many: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let evaluator = evaluator(set, (size == Size::Quick).then_some(6))?;
    let params = evaluator.params();
    let engine = Engine::new(device, &evaluator)?;
    let table = match params.family() {
        Family::Gates => LookupTable::Sign,
        Family::Integers => LookupTable::Entries(vec![std::array::from_fn(|i| i as u8)]),
    };
    let jobs = match (many, size) {
        (false, _) => 1,
        (true, Size::Quick) => 3,
        (true, Size::Full) => Session::MAX_JOBS,
    };
    let mut session = Session::new(&engine, jobs + 1, jobs, &[table])?;
    session.write(&[(0, &random(&evaluator, &mut ChaCha8Rng::seed_from_u64(1)))])?;
    let task =
        |slot| SlotBootstrap { argument: Sum { terms: vec![(0, 1)], constant: slot }, table: 0, outputs: vec![slot] };
    let tasks: Vec<SlotBootstrap> = (1..=jobs as u32).map(task).collect();
    let seconds = timer.median(|| session.bootstrap(&tasks))?;
    // Operations on doubles of a step of the rotation, which takes a block of the key: see cuda/README.md.
    let fp64 = match params.family() {
        Family::Gates => 134_912.0,
        Family::Integers => 255_488.0,
    };
    let blocks = params.literal().lwe_dimension / params.literal().block_bits;
    Ok(Measured {
        seconds,
        count: jobs as u64,
        fp64: jobs as f64 * blocks as f64 * fp64,
        // The keys once; the values stay in the cache.
        bytes: Engine::size_of(params) as f64,
        share: (jobs as f64 / engine.parallel() as f64).min(1.0),
    })
}
