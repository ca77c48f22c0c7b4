//! Products of integers that stay on the device.

use super::Measured;
use crate::checks::bigint::random;
use crate::{Size, Timer};
use solinas_bigint::Natural;
use solinas_gpu::bigint::{Modulus, plan};
use solinas_gpu::complex::Operand;
use solinas_gpu::{Device, Error, Graph, Launch, Stream};

/// Bits of the factors: those of the papers.
fn bits(size: Size) -> usize {
    if size == Size::Quick { 5_000 } else { 785_006 }
}

/// Products of fresh factors, `items` at once.
pub(super) fn products(device: &Device, items: usize, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let words = bits(size).div_ceil(64);
    let plan = plan(device, 128 * words)?;
    let stream = Stream::new(device)?;
    let factors = |seed| stream.buffer_of(&batch(seed, items, words), "factors");
    let (a, b) = (factors(1)?, factors(2)?);
    let out = stream.buffer::<u64>(items * plan.words(), "products")?;
    let scratch = plan.scratch(&stream, items)?;
    let launches = plan.product(Operand::new(&a, items)?, Some(Operand::new(&b, items)?), &out, &scratch)?;
    measured(&stream, &launches, items, 8 * (2 * words + plan.words()), timer)
}

/// Products modulo a number, `items` at once.
pub(super) fn modular(device: &Device, items: usize, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let modulus = &(&Natural::one() << (bits(size) - 1)) + &random(3, bits(size) - 2);
    let modulus = Modulus::new(device, &modulus)?;
    let stream = Stream::new(device)?;
    let factors = |seed| stream.buffer_of(&batch(seed, items, modulus.words()), "factors");
    let (a, b) = (factors(1)?, factors(2)?);
    let out = stream.buffer::<u64>(items * modulus.words(), "products")?;
    let workspace = modulus.workspace(&stream, items)?;
    let launches = modulus.product(Operand::new(&a, items)?, Some(Operand::new(&b, items)?), &out, &workspace)?;
    measured(&stream, &launches, items, 8 * 3 * modulus.words(), timer)
}

/// The words of random numbers.
fn batch(seed: u64, items: usize, words: usize) -> Vec<u64> {
    let number = |item: usize| {
        let mut number = random(seed + 2 * item as u64, 64 * words - 1).into_words();
        number.resize(words, 0);
        number
    };
    (0..items).flat_map(number).collect()
}

/// Measures launches as a graph. The bound counts the bytes of factors and products alone.
fn measured(
    stream: &Stream,
    launches: &[Launch<'_>],
    items: usize,
    bytes: usize,
    timer: &Timer,
) -> Result<Measured, Error> {
    let graph = Graph::new(stream.device(), launches)?;
    let seconds = timer.median(|| {
        stream.replay(&graph)?;
        stream.synchronize()
    })?;
    Ok(Measured { seconds, count: items as u64, fp64: 0.0, bytes: (items * bytes) as f64, share: 1.0 })
}
