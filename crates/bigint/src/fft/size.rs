//! Lengths of transforms and sizes of digits.

use solinas_field::complex::{self, Wrap};
use solinas_field::solinas;

use super::spectrum::Shape;
use super::{Engine, Ring};
use crate::Error;

/// Least number of digits of a transform over the power of two in its length, so that residues are whole words.
const SMALLEST: usize = 128;
/// Largest number of bits of a digit in complex transforms.
const COMPLEX_DIGIT_BITS: usize = 25;
/// Digits of the longest transform over F_p.
const SOLINAS_MAX_DIGITS: usize = 17 << 22;
/// Least number of bits of a digit. Carries would run over many shorter digits.
const MIN_DIGIT_BITS: usize = 6;

/// Requirements on a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Least number of bits of the ring.
    pub bits: usize,
    /// Words of the operands. `None` means residues, which may fill every digit of the ring.
    pub words: Option<[usize; 2]>,
    /// Number of products that are added up.
    pub terms: usize,
}

impl Task {
    /// Returns the task of products of residues modulo 2^bits -+ 1.
    pub(super) fn ring(min_bits: usize, terms: usize) -> Self {
        Self { bits: min_bits, words: None, terms }
    }

    /// Returns the task of products that do not wrap.
    ///
    /// # Errors
    /// [`Error::TransformTooLong`] if the number of bits overflows.
    pub(super) fn product(a_words: usize, b_words: usize, terms: usize) -> Result<Self, Error> {
        let bits = a_words.checked_add(b_words).and_then(|words| words.checked_mul(64));
        let too_long = Error::TransformTooLong { bits: usize::MAX, max: complex::MAX_DIGITS * MIN_DIGIT_BITS };
        Ok(Self { bits: bits.ok_or(too_long)?, words: Some([a_words, b_words]), terms })
    }

    /// Returns the number of digits that each operand fills, of `digits` digits of `digit_bits` bits. An operand whose
    /// highest digit is full fills one more, for its carry.
    fn operands(&self, digit_bits: usize, digits: usize) -> [usize; 2] {
        self.words.map_or([digits; 2], |words| words.map(|words| (64 * words / digit_bits + 1).min(digits)))
    }
}

pub(super) fn wrap(ring: Ring) -> Wrap {
    match ring {
        Ring::Minus => Wrap::Minus,
        Ring::Plus => Wrap::Plus,
    }
}

/// Returns the size of digits, if `digits` of them can do the task without an error.
fn complex_digit_bits(task: &Task, rings: &[Ring], digits: usize) -> Option<u32> {
    let bits = task.bits.div_ceil(digits).max(MIN_DIGIT_BITS) as u32;
    let [a, b] = task.operands(bits as usize, digits);
    let fits = |&ring: &Ring| bits <= complex::max_digit_bits(digits, wrap(ring), a, b, task.terms);
    rings.iter().all(fits).then_some(bits)
}

/// Returns the size of digits, if `digits` of them modulo p can do the task. Sums of products must stay below p, or
/// below p / 2 in magnitude if signs differ.
fn solinas_digit_bits(task: &Task, rings: &[Ring], digits: usize) -> Option<u32> {
    let bits = task.bits.div_ceil(digits).max(MIN_DIGIT_BITS) as u32;
    let [a, b] = task.operands(bits as usize, digits);
    let signs = if rings.contains(&Ring::Plus) { 2 } else { 1 };
    let products = (a.min(b) as u64).checked_mul(task.terms as u64)?.checked_mul(signs)?;
    (bits <= solinas::max_digit_bits(products)?).then_some(bits)
}

/// Returns the shortest of the lengths `m 2^k` in `least..=most`, `m` in `odd`, for which `digit_bits` gives a size of
/// digits. The time grows nearly as `n log n`, whatever the odd factor.
fn shortest(
    odd: [usize; 4],
    least: usize,
    most: usize,
    digit_bits: impl Fn(usize) -> Option<u32>,
) -> Option<(usize, u32)> {
    let first = |m: usize| Some((m * least.div_ceil(m).checked_next_power_of_two()?).max(m * SMALLEST));
    let lengths = |m| core::iter::successors(first(m), |n| n.checked_mul(2)).take_while(|&n| n <= most);
    odd.into_iter().filter_map(|m| lengths(m).find_map(|n| Some((n, digit_bits(n)?)))).min()
}

/// Returns the shape of the shortest transform for a task that all of `rings` can do, in the first of them.
///
/// # Errors
/// [`Error::TransformTooLong`] if no length is enough.
pub(super) fn choose(task: &Task, rings: &[Ring], engine: Engine) -> Result<Shape, Error> {
    let (found, most) = match engine {
        Engine::Complex => {
            let (least, most) = (task.bits / COMPLEX_DIGIT_BITS, complex::MAX_DIGITS);
            (shortest([1, 3, 5, 7], least, most, |n| complex_digit_bits(task, rings, n)), most)
        }
        Engine::Solinas => {
            let (least, most) = (task.bits / solinas::MAX_DIGIT_BITS as usize, SOLINAS_MAX_DIGITS);
            (shortest([1, 3, 5, 17], least, most, |n| solinas_digit_bits(task, rings, n)), most)
        }
    };
    let (digits, digit_bits) = found.ok_or(Error::TransformTooLong { bits: task.bits, max: most * MIN_DIGIT_BITS })?;
    Ok(Shape { engine, ring: rings[0], digits, digit_bits })
}
