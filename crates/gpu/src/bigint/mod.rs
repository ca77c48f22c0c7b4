//! Products, reductions and powers of long integers on a device, with the results of [`solinas_bigint`].
//!
//! Operands of a batch lie in one buffer, at equal distances, and stay on the device. Products go through
//! [`complex`](crate::complex) transforms.
//!
//! ```
//! use solinas_bigint::Natural;
//! use solinas_gpu::{Device, DeviceOptions, bigint::{self, Modulus}};
//! let device = Device::emulated(DeviceOptions::default());
//! let (a, b): (Natural, Natural) = ("123456789012345678901234567890".parse()?, "98765432109876543210".parse()?);
//! assert_eq!(bigint::mul(&device, &a, &b)?, &a * &b);
//! let modulus = Modulus::new(&device, &"1000000000000000000000007".parse()?)?;
//! assert_eq!(modulus.mul(&[a.clone()], &[b.clone()])?, [modulus.value().clone()].map(|m| (&a * &b).div_rem(&m).unwrap().1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod modulus;
mod reduce;
mod sums;

use crate::complex::{Operand, Plan};
use crate::{Device, Error, Stream};
pub use modulus::{Modulus, Workspace};
use solinas_bigint::Natural;
use solinas_field::complex::{Wrap, max_digit_bits};
pub(crate) use sums::WordSums;

/// Makes the plan with the fewest digits whose products are exact below `2^bits`.
///
/// # Errors
/// [`Error::Unsupported`] if no plan is that long; the errors of [`Plan::new`].
pub fn plan(device: &Device, bits: usize) -> Result<Plan, Error> {
    plan_of_sums(device, bits, 1)
}

/// Makes the plan with the fewest digits whose sums of up to `terms` products are exact below `2^bits`.
///
/// # Errors
/// As [`plan`].
pub(crate) fn plan_of_sums(device: &Device, bits: usize, terms: usize) -> Result<Plan, Error> {
    let unsupported = || Error::Unsupported { params: format!("products of {bits} bits") };
    let (digits, digit_bits) = digits_of(bits, terms).ok_or_else(unsupported)?;
    Plan::for_sums(device, digits, digit_bits, terms)
}

/// The number of digits of [`plan_of_sums`], and the bits of a digit. `None` if no plan is that long.
pub(crate) fn digits_of(bits: usize, terms: usize) -> Option<(usize, u32)> {
    let mut lengths: Vec<usize> = (7..28).flat_map(|log| [1, 3, 5, 7].map(|odd| odd << log)).collect();
    lengths.sort_unstable();
    let supported = lengths.into_iter().take_while(|&digits| digits <= solinas_field::complex::MAX_DIGITS);
    let mut shapes = supported.map(|digits| (digits, max_digit_bits(digits, Wrap::Plus, digits, digits, terms)));
    shapes.find(|&(digits, digit_bits)| digits * digit_bits as usize >= bits)
}

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
    let words = a.words().len() + b.unwrap_or(a).words().len();
    let plan = plan(device, 64 * words)?;
    let stream = Stream::new(device)?;
    let upload = |x: &Natural| stream.buffer_of(x.words(), "a factor");
    let (x, y) = (upload(a)?, b.map(upload).transpose()?);
    let y = y.as_ref().map(|y| Operand::new(y, 1)).transpose()?;
    let out = stream.buffer(plan.words(), "a product")?;
    let scratch = plan.scratch(&stream, 1)?;
    for launch in plan.product(Operand::new(&x, 1)?, y, &out, &scratch)? {
        stream.launch(&launch)?;
    }
    let mut result = vec![0; words];
    stream.read(&out, 0, &mut result)?;
    Ok(Natural::from_words(result))
}
