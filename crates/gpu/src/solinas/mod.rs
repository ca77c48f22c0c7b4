//! Products of long integers by transforms over the field of p = 2^64 - 2^32 + 1, which are exact by themselves.
//!
//! The transforms are those of [`solinas_field::solinas`], in the order of its spectra. On GPUs with fast doubles,
//! [`bigint`](crate::bigint) is faster; this module is the exact reference, and the form for GPUs with slow doubles.
//!
//! ```
//! use solinas_bigint::Natural;
//! use solinas_gpu::{Device, DeviceOptions, solinas};
//! let device = Device::emulated(DeviceOptions::default());
//! let (a, b): (Natural, Natural) = ("123456789012345678901234567890".parse()?, "98765432109876543210".parse()?);
//! assert_eq!(solinas::mul(&device, &a, &b)?, &a * &b);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod kernels;
mod plan;
mod tables;

use crate::{Buffer, Device, Error, Stream};
pub use plan::{Plan, Scratch};
use solinas_bigint::Natural;
use solinas_field::solinas::P;
#[doc(hidden)]
pub use tables::{Twiddle, twiddle};

/// Shortest and longest powers of two of a product's transform, as logarithms.
const LOGS: std::ops::RangeInclusive<u32> = 12..=24;

/// The product of two integers.
///
/// # Errors
/// [`Error::Unsupported`] if it is too long; [`Error::Memory`]; the errors of the device.
pub fn mul(device: &Device, a: &Natural, b: &Natural) -> Result<Natural, Error> {
    product(device, a, Some(b))
}

/// The square of an integer.
///
/// # Errors
/// As [`mul`].
pub fn square(device: &Device, a: &Natural) -> Result<Natural, Error> {
    product(device, a, None)
}

fn product(device: &Device, a: &Natural, b: Option<&Natural>) -> Result<Natural, Error> {
    if a.is_zero() || b.is_some_and(Natural::is_zero) {
        return Ok(Natural::default());
    }
    let factors = [a, b.unwrap_or(a)].map(|x| x.words().len());
    let (odd, log, bits) = shape(factors)
        .ok_or_else(|| Error::Unsupported { params: format!("products of {} bits", 64 * (factors[0] + factors[1])) })?;
    let plan = Plan::new(device, odd, log)?;
    let stream = Stream::new(device)?;
    let upload = |x: &Natural| stream.buffer_of(x.words(), "a factor");
    let (x, y) = (upload(a)?, b.map(upload).transpose()?);
    let words = factors[0] + factors[1];
    let out: Buffer<u64> = stream.buffer(words, "a product")?;
    let scratch = plan.scratch(&stream, 1, words)?;
    for launch in plan.product(&x, y.as_ref(), 1, bits, &out, &scratch)? {
        stream.launch(&launch)?;
    }
    let mut result = vec![0; words];
    stream.read(&out, 0, &mut result)?;
    Ok(Natural::from_words(result))
}

/// Returns the odd part and the logarithm of the shortest transform for a product, and the bits of its digits. The
/// factors have the given numbers of words.
fn shape(words: [usize; 2]) -> Option<(usize, u32, u32)> {
    let shapes = LOGS.flat_map(|log| [1, 3, 5, 17].map(|odd| (odd, log)));
    let mut shapes: Vec<(usize, u32)> = shapes.filter(|(odd, log)| odd << log <= 1 << LOGS.end()).collect();
    shapes.sort_unstable_by_key(|(odd, log)| odd << log);
    shapes.into_iter().find_map(|(odd, log)| {
        let digits = |bits: u32| words.map(|words| (64 * words).div_ceil(bits as usize));
        let fits = |&bits: &u32| {
            let [a, b] = digits(bits);
            a + b <= odd << log && sum_is_exact(bits, a.min(b))
        };
        (8..=26).rev().find(fits).map(|bits| (odd, log, bits))
    })
}

/// Whether a sum of `terms` products of digits of `bits` bits is below p.
fn sum_is_exact(bits: u32, terms: usize) -> bool {
    let largest = (1u128 << bits) - 1;
    terms as u128 * largest * largest < u128::from(P)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_hold_both_factors_and_every_sum() {
        for words in [[1, 1], [1, 5000], [700, 700], [12_266, 12_266], [200_000, 3], [2_000_000, 2_000_000]] {
            let (odd, log, bits) = shape(words).unwrap();
            let [a, b] = words.map(|words| (64 * words).div_ceil(bits as usize));
            assert!(a + b <= odd << log && sum_is_exact(bits, a.min(b)), "{words:?}");
        }
        assert_eq!(shape([12_266, 12_266]), Some((1, 16, 24)), "the shape of wang2014 table 5.3");
        assert_eq!(shape([3_000_000, 3_000_000]), None);
    }
}
