//! Recrypts and encryptions of the scheme of Gentry and Halevi, from and to the host.

use super::Measured;
use crate::checks::gh::key;
use crate::{Size, Timer};
use solinas_gpu::gh::{Encryptor, Engine, bytes};
use solinas_gpu::{Device, Error};
use solinas_schemes::gh::{Accelerator, RecryptMethod};
use std::sync::Arc;

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

/// A batch of encryptions. The bound is one read of the powers that each of them adds.
pub(super) fn encrypt(device: &Device, set: &str, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (set, batch) = if size == Size::Quick { ("ci-3", 4) } else { (set, 256) };
    let (server, _) = key(set, 1)?;
    let public = Arc::new(server.public().clone());
    let encryptor = Encryptor::new(device, Arc::clone(&public), batch)?;
    let (bits, mut rng) = (vec![true; batch], public.encryption_rng(1)?);
    let seconds = timer.median(|| encryptor.encrypt(&bits, &mut rng).map(drop))?;
    let bytes = 8 * public.words() * public.params().nonzeros() * batch;
    Ok(Measured { seconds, count: batch as u64, fp64: 0.0, bytes: bytes as f64, share: 1.0 })
}
