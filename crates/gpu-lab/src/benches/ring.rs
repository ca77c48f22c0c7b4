//! Products and bootstraps of NTRU and BGV, with values that stay on the device.

use super::Measured;
use crate::checks::ring::{bgv_key, ntru_key, sets};
use crate::{Size, Timer};
use solinas_gpu::ring::{bgv, ntru};
use solinas_gpu::{Device, Error, Stream};
use solinas_schemes::Evaluate;
use std::sync::Arc;

/// A bootstrap of NTRU, or a product. The bound is one pass over the key, or over the operands and the product.
pub(super) fn ntru(device: &Device, bootstrap: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (key, x) = ntru_key(sets(size).0, 1)?;
    let stream = Arc::new(Stream::new(device)?);
    let engine = ntru::Engine::new(&stream, Arc::clone(&key))?;
    let x = engine.upload(&x)?;
    let words = |part: &solinas_ring::RnsPoly<solinas_ring::Eval>| 8 * part.words().len();
    let bytes = match (bootstrap, key.bootstrap_key()) {
        (true, Some(key)) => key.bytes(),
        _ => key.hints().last().map_or(0, |hint| 4 * words(hint)),
    };
    let seconds = timer.median(|| {
        if bootstrap {
            engine.bootstrap(&x)?
        } else {
            engine.multiply(&x, &x)?
        };
        stream.synchronize()
    })?;
    Ok(Measured { seconds, count: 1, fp64: 0.0, bytes: bytes as f64, share: 1.0 })
}

/// As [`ntru()`], of BGV. The bound of a product is one pass over its key too.
pub(super) fn bgv(device: &Device, bootstrap: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (key, x) = bgv_key(sets(size).1, 1)?;
    let stream = Arc::new(Stream::new(device)?);
    let engine = bgv::Engine::new(&stream, Arc::clone(&key))?;
    let x = engine.upload(&x)?;
    let rows = key.relinearization().rows().iter().flatten().map(|part| 8 * part.words().len()).sum::<usize>();
    let bytes = match (bootstrap, key.bootstrap_key()) {
        (true, Some(key)) => key.bytes(),
        _ => rows + 6 * x.numbers().bytes(),
    };
    let seconds = timer.median(|| {
        if bootstrap {
            engine.bootstrap(&x)?
        } else {
            engine.multiply(&x, &x)?
        };
        stream.synchronize()
    })?;
    Ok(Measured { seconds, count: 1, fp64: 0.0, bytes: bytes as f64, share: 1.0 })
}
