//! Lengths of transforms and sizes of digits.

use solinas_field::complex::{self, Wrap};

use super::spectrum::Shape;
use super::{Engine, Ring};
use crate::Error;

/// Digits shorter than this would make carries run over many of them.
const MIN_DIGIT_BITS: usize = 6;

/// What a transform is to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Least bits of the ring.
    pub bits: usize,
    /// Words of the operands.
    pub words: [usize; 2],
    /// Products that are added up.
    pub terms: usize,
}

impl Task {
    /// Products of residues modulo 2^bits -+ 1.
    pub(super) fn ring(min_bits: usize, terms: usize) -> Self {
        let words = min_bits.div_ceil(64);
        Self { bits: min_bits, words: [words; 2], terms }
    }

    /// Products that do not wrap.
    pub(super) fn product(a_words: usize, b_words: usize, terms: usize) -> Self {
        Self { bits: 64 * (a_words + b_words), words: [a_words, b_words], terms }
    }
}

/// Digits that an operand of so many words fills: one more where the highest is full, for its carry.
fn digits_of(words: usize, digit_bits: u32, digits: usize) -> usize {
    (64 * words / digit_bits as usize + 1).min(digits)
}

pub(super) fn wrap(ring: Ring) -> Wrap {
    match ring {
        Ring::Minus => Wrap::Minus,
        Ring::Plus => Wrap::Plus,
    }
}

/// The size of digits, if `digits` of them can do the task without an error.
fn complex_digit_bits(task: &Task, rings: &[Ring], digits: usize) -> Option<u32> {
    let bits = task.bits.div_ceil(digits).max(MIN_DIGIT_BITS) as u32;
    let [a, b] = task.words.map(|words| digits_of(words, bits, digits));
    let fits = |&ring: &Ring| bits <= complex::max_digit_bits(digits, wrap(ring), a, b, task.terms);
    rings.iter().all(fits).then_some(bits)
}

/// Cost of a complex transform, in butterflies: a first pass of radix 3, 5 or 7 costs more than its share of the levels.
fn complex_cost(digits: usize) -> f64 {
    let odd = digits >> digits.trailing_zeros();
    let first = match odd {
        1 => 0.0,
        3 => 0.5,
        5 => 1.0,
        _ => 1.5,
    };
    digits as f64 * ((digits as f64).log2() + first)
}

/// The least costly shape for a task that all of `rings` can do.
///
/// # Errors
/// [`Error::TransformTooLong`] when no length is enough.
pub(super) fn choose(task: &Task, rings: &[Ring], engine: Engine) -> Result<Shape, Error> {
    let ring = rings[0];
    match engine {
        Engine::Complex => {
            let lengths = [1, 3, 5, 7].into_iter().filter_map(|m| {
                let shortest = m * (task.bits / (25 * m)).next_power_of_two().max(128);
                let mut lengths = core::iter::successors(Some(shortest), |n| n.checked_mul(2))
                    .take_while(|&n| n <= complex::MAX_DIGITS);
                lengths.find_map(|n| complex_digit_bits(task, rings, n).map(|bits| (n, bits)))
            });
            let best = lengths.min_by(|(m, _), (n, _)| complex_cost(*m).total_cmp(&complex_cost(*n)));
            let (digits, digit_bits) =
                best.ok_or(Error::TransformTooLong { bits: task.bits, max: complex::MAX_DIGITS * MIN_DIGIT_BITS })?;
            Ok(Shape { engine, ring, digits, digit_bits })
        }
        Engine::Solinas => Err(Error::TransformTooLong { bits: task.bits, max: 0 }),
    }
}
