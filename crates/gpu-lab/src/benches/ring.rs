//! Products and bootstraps of NTRU and BGV, with values that stay on the device.

use super::Measured;
use crate::checks::ring::{bgv_key, ntru_key, sets};
use crate::{Size, Timer};
use solinas_gpu::ring::{bgv as bgv_device, ntru as ntru_device};
use solinas_gpu::{Device, Error, Stream};
use solinas_ring::{Eval, RnsPoly};
use solinas_schemes::{Evaluate, bgv, ntru};
use std::sync::Arc;

/// A bootstrap of NTRU, or a product. The bound is one pass over the key, or over the operands and the product.
pub(super) fn ntru(device: &Device, bootstrap: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (key, x) = ntru_key(sets(size).0, 1)?;
    let stream = Arc::new(Stream::new(device)?);
    let evaluator = ntru::Evaluator::on(ntru_device::Engine::new(&stream, Arc::clone(&key))?);
    let x = evaluator.upload(x)?;
    let bytes = match (bootstrap, key.bootstrap_key()) {
        (true, Some(key)) => key.bytes(),
        _ => key.hints().last().map_or(0, |hint| 4 * bytes_of(hint)),
    };
    let seconds = timer.median(|| {
        if bootstrap {
            evaluator.bootstrap(&x)?
        } else {
            evaluator.multiply(&x, &x)?
        };
        stream.synchronize()
    })?;
    Ok(Measured { seconds, count: 1, fp64: 0.0, bytes: bytes as f64, share: 1.0 })
}

/// As [`ntru()`], of BGV. The bound of a product is one pass over its key too.
pub(super) fn bgv(device: &Device, bootstrap: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (key, x) = bgv_key(sets(size).1, 1)?;
    let stream = Arc::new(Stream::new(device)?);
    let evaluator = bgv::Evaluator::on(bgv_device::Engine::new(&stream, Arc::clone(&key))?);
    let operand: usize = x.parts().iter().map(bytes_of).sum();
    let x = evaluator.upload(x)?;
    let rows: usize = key.relinearization().rows().iter().flatten().map(bytes_of).sum();
    let bytes = match (bootstrap, key.bootstrap_key()) {
        (true, Some(key)) => key.bytes(),
        _ => rows + 6 * operand,
    };
    let seconds = timer.median(|| {
        if bootstrap {
            evaluator.bootstrap(&x)?
        } else {
            evaluator.multiply(&x, &x)?
        };
        stream.synchronize()
    })?;
    Ok(Measured { seconds, count: 1, fp64: 0.0, bytes: bytes as f64, share: 1.0 })
}

fn bytes_of(part: &RnsPoly<Eval>) -> usize {
    size_of_val(part.words())
}
