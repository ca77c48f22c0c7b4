//! Recrypts and products of the scheme of Gentry and Halevi, from and to the host.

use super::Measured;
use crate::checks::gh::key;
use crate::{Size, Timer};
use solinas_gpu::gh::{Engine, bytes};
use solinas_gpu::{Device, Error};
use solinas_schemes::gh::{Accelerator, RecryptMethod};

/// Recrypts by the pair table, one at a time. The bound is one pass over the table.
pub(super) fn recrypt(device: &Device, set: &str, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (server, bits) = key(if size == Size::Quick { "ci-3" } else { set }, 1)?;
    let params = server.params().clone();
    // The table takes most of the memory.
    let table = 8 * (params.blocks() * params.candidates() * server.public().words()) as u64;
    let all = bytes(&params, RecryptMethod::PairTable).unwrap_or(table);
    let engine = Engine::new(device, server, RecryptMethod::PairTable)?;
    let seconds = timer.median(|| Ok(engine.recrypt(bits[0].words()).map(drop)?))?;
    Ok(Measured { seconds, count: 1, fp64: 0.0, bytes: table.min(all) as f64, share: 1.0 })
}
