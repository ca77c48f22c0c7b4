//! Products of integers that stay on the device.

use super::Measured;
use crate::checks::bigint::random;
use crate::{Size, Timer};
use solinas_bigint::Natural;
use solinas_gpu::bigint::{Modulus, plan};
use solinas_gpu::complex::Operand;
use solinas_gpu::{Device, Error, Graph, Launch, Stream};

/// Operations on doubles for each complex point of a transform: six passes of radix 8, of 10 operations a point each.
const FP64: f64 = 60.0;

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
    let points = items * plan.spectrum_len() / 2;
    measured(&stream, &launches, items, 8 * (2 * words + plan.words()), 3 * points, timer)
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
    let points = items * modulus.spectrum_len() / 2;
    measured(&stream, &launches, items, 8 * 3 * modulus.words(), 7 * points, timer)
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

/// Measures launches as a graph. The bound counts the bytes of factors and products, and the operations of transforms of
/// `points` complex points in all.
fn measured(
    stream: &Stream,
    launches: &[Launch<'_>],
    items: usize,
    bytes: usize,
    points: usize,
    timer: &Timer,
) -> Result<Measured, Error> {
    let graph = Graph::new(stream.device(), launches)?;
    let seconds = timer.median(|| {
        stream.replay(&graph)?;
        stream.synchronize()
    })?;
    let (fp64, bytes) = (FP64 * points as f64, (items * bytes) as f64);
    // A block of a product has 2048 points of a transform at most.
    let blocks = points as f64 / 3.0 / 2048.0;
    let share = (blocks / f64::from(stream.device().info().multiprocessors)).min(1.0);
    Ok(Measured { seconds, count: items as u64, fp64, bytes, share })
}
