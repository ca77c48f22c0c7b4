//! Checks of kernels and engines against the CPU, byte for byte.

pub mod bigint;
pub(crate) mod gh;
pub(crate) mod lwe;
pub(crate) mod ring;
pub mod tfhe;

use crate::{Clock, Size};
use serde::Serialize;
use solinas_gpu::{Device, Error, Stream};
use std::time::Instant;

/// A check on random inputs of a seed. Its error names the first difference, or the failure of the device.
pub struct Check {
    /// Its name in the results.
    pub name: &'static str,
    /// The check.
    pub run: fn(&Device, u64, Size) -> Result<(), String>,
}

/// All checks. An engine adds its lines here.
pub const CHECKS: &[Check] = &[
    Check { name: "copies and fills of all sizes", run: copies },
    Check { name: "products of integers", run: bigint::check_products },
    Check { name: "products and powers modulo an integer", run: bigint::check_modular },
    Check { name: "products of lwe matrices in three forms", run: lwe::check },
    Check { name: "products and recrypts of gh", run: gh::check },
    Check { name: "products and bootstraps of ntru", run: ring::check_ntru },
    Check { name: "products, rotations and bootstraps of bgv", run: ring::check_bgv },
    Check { name: "waves of tfhe, gates-128", run: |device, seed, size| tfhe::check(device, "gates-128", seed, size) },
    Check {
        name: "waves of tfhe, integers-128",
        run: |device, seed, size| tfhe::check(device, "integers-128", seed, size),
    },
];

/// The result of a check.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Name of the check.
    pub name: &'static str,
    /// `passed`, `failed` or `skipped`.
    pub status: &'static str,
    /// The difference or error.
    pub problem: Option<String>,
    /// Seconds of the check.
    pub seconds: f64,
}

/// Runs the checks whose name contains `only`, as far as the time allows. Poisons the memory of the device before each.
pub fn run(device: &Device, seed: u64, size: Size, only: &str, clock: Clock) -> Vec<Outcome> {
    let outcome = |check: &Check| {
        let start = Instant::now();
        let result = match clock.is_over() {
            true => None,
            false => Some(poison(device).map_err(problem).and_then(|()| (check.run)(device, seed, size))),
        };
        let status = match &result {
            None => "skipped",
            Some(Ok(())) => "passed",
            Some(Err(_)) => "failed",
        };
        let problem = result.and_then(Result::err);
        Outcome { name: check.name, status, problem, seconds: start.elapsed().as_secs_f64() }
    };
    CHECKS.iter().filter(|check| check.name.contains(only)).map(outcome).collect()
}

/// The text of an error of the device.
pub(crate) fn problem(error: Error) -> String {
    error.to_string()
}

/// Fills free memory of all sizes of the pool, so that a result that a kernel does not write is not right by accident.
fn poison(device: &Device) -> Result<(), Error> {
    let stream = Stream::new(device)?;
    let largest = if device.info().is_emulated { 1 << 20 } else { 1 << 30 };
    let sizes = std::iter::successors(Some(256usize), |bytes| Some(2 * bytes)).take_while(|&bytes| bytes <= largest);
    let buffers = sizes.map(|bytes| stream.buffer::<u8>(bytes, "a check")).collect::<Result<Vec<_>, _>>()?;
    buffers.iter().try_for_each(|buffer| stream.fill(buffer, 0xA5))?;
    stream.synchronize()
}

/// Writes, fills and copies parts of buffers, and reads them back.
fn copies(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    let lens: &[usize] = if size == Size::Quick { &[1, 257, 5000] } else { &[1, 257, 5000, 1 << 20, (1 << 25) + 3] };
    for &len in lens {
        let values: Vec<u64> = (0..len as u64).map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let copied = || {
            let stream = Stream::new(device)?;
            let from = stream.buffer_of(&values, "a check")?;
            let to = stream.buffer::<u64>(len + 2, "a check")?;
            stream.fill(&to, 0x11)?;
            stream.copy((&from, 0), (&to, 1), len)?;
            let mut found = vec![0; len + 2];
            stream.read(&to, 0, &mut found)?;
            Ok(found)
        };
        let found = copied().map_err(problem)?;
        let edge = u64::from_ne_bytes([0x11; 8]);
        if found[1..=len] != values || found[0] != edge || found[len + 1] != edge {
            return Err(format!("a copy of {len} words differs"));
        }
    }
    Ok(())
}
