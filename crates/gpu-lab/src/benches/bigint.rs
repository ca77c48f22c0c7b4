//! Products of long integers by complex transforms, resident on the device.

use super::Measured;
use crate::checks::bigint::random;
use crate::{Size, Timer};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_gpu::bigint::{Modulus, plan};
use solinas_gpu::complex::Operand;
use solinas_gpu::{Buffer, Device, Error, Graph, Stream};

/// Operations on doubles of a product, for each complex point: three transforms of 6 passes of radix 8, and the product.
const FP64: f64 = 200.0;

/// Numbers of a batch, and their words.
fn shape(bits: usize, many: bool, size: Size) -> (usize, usize) {
    let items = match (many, size) {
        (false, _) => 1,
        (true, Size::Quick) => 2,
        (true, Size::Full) => (64 * 785_006 / bits).max(1),
    };
    (items, if size == Size::Quick { 100 } else { bits.div_ceil(64) })
}

fn operands(stream: &Stream, items: usize, words: usize) -> Result<Buffer<u64>, Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let numbers: Vec<u64> = (0..items).flat_map(|_| random(&mut rng, 64 * words - 1).words().to_vec()).collect();
    stream.buffer_of(&numbers, "a bench")
}

/// Products of pairs of numbers of that many bits.
pub(super) fn products(device: &Device, bits: usize, many: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (items, words) = shape(bits, many, size);
    let (stream, plan) = (Stream::new(device)?, plan(device, 128 * words)?);
    let [x, y] = [operands(&stream, items, words)?, operands(&stream, items, words)?];
    let out = stream.buffer(items * plan.words(), "a bench")?;
    let scratch = plan.scratch(&stream, items)?;
    let launches = plan.product(Operand::new(&x, items)?, Some(Operand::new(&y, items)?), &out, &scratch)?;
    let graph = Graph::new(device, &launches)?;
    let seconds = timer.median(|| {
        stream.replay(&graph)?;
        stream.synchronize()
    })?;
    Ok(measured(device, seconds, items, plan.spectrum_len() / 2, 1.0))
}

/// Products of pairs of numbers modulo one of that many bits.
pub(super) fn residues(device: &Device, bits: usize, many: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (items, words) = shape(bits, many, size);
    let value = random(&mut ChaCha8Rng::seed_from_u64(2), 64 * words);
    let (stream, modulus) = (Stream::new(device)?, Modulus::new(device, &value)?);
    let words = modulus.words();
    let [x, y] = [operands(&stream, items, words)?, operands(&stream, items, words)?];
    let workspace = modulus.workspace(&stream, items)?;
    let launches = modulus.product(Operand::new(&x, items)?, Some(Operand::new(&y, items)?), &x, &workspace)?;
    let graph = Graph::new(device, &launches)?;
    let seconds = timer.median(|| {
        stream.replay(&graph)?;
        stream.synchronize()
    })?;
    // Seven transforms in place of three.
    Ok(measured(device, seconds, items, modulus.spectrum_len() / 2, 7.0 / 3.0))
}

/// Products of `points` complex points that take `transforms` times the transforms of one product.
fn measured(device: &Device, seconds: f64, items: usize, points: usize, transforms: f64) -> Measured {
    let points = (items * points) as f64;
    Measured {
        seconds,
        count: items as u64,
        fp64: FP64 * transforms * points,
        // Each transform reads and writes its points twice; the second-level cache holds them if they are few.
        bytes: if points < 1e6 { 0.0 } else { 3.0 * 64.0 * transforms * points },
        share: (points / (2048.0 * f64::from(device.info().multiprocessors))).min(1.0),
    }
}
