//! The memory of an engine, known before it is made.

use super::expand::Expansion;
use crate::bigint::{Modulus, digits_of};
use crate::{Device, Error};
use solinas_schemes::gh::{GUARD_BITS, Params, RecryptMethod, ResidueBatch, Schedule};

/// Bytes of the workspace beyond which the full FFT takes fewer blocks of the key at once.
const WORKSPACE: u64 = 1 << 30;

/// Numbers of items and their bytes.
#[derive(Debug)]
pub(super) struct Shape {
    params: Params,
    words: usize,
    /// Bytes of a spectrum, and of a residue of its plan.
    spectrum: u64,
    product: u64,
    /// Most operands and most sums of a batch of the sum of columns; its slots.
    operands: usize,
    sums: usize,
    slots: usize,
}

impl Shape {
    /// The sizes for moduli of `words` words.
    pub(super) fn new(params: &Params, words: usize) -> Self {
        let bits = Modulus::product_bits(words);
        // A plan that is too long has no size. Making it is an error.
        let (digits, digit_bits) = digits_of(bits, params.recrypt_terms()).unwrap_or((0, 0));
        let schedule = Schedule::new(params.blocks(), params.precision());
        let (mut operand_count, mut sum_count) = (0, 0);
        for batch in &schedule.batches {
            match batch {
                ResidueBatch::Products { operands, sums, .. } => {
                    operand_count = operand_count.max(operands.len());
                    sum_count = sum_count.max(sums.len());
                }
                ResidueBatch::Sums { lists, .. } => sum_count = sum_count.max(lists.len()),
            }
        }
        Self {
            params: params.clone(),
            words,
            spectrum: 8 * digits as u64,
            product: (digits as u64 * u64::from(digit_bits)) / 8 + 8,
            operands: operand_count,
            sums: sum_count,
            slots: schedule.slots as usize,
        }
    }

    /// Bits of a candidate.
    fn width(&self) -> usize {
        self.params.precision() + 1
    }

    /// Most operands of a batch of the sum of columns.
    pub(super) fn operands(&self) -> usize {
        self.operands
    }

    /// Most sums of a batch of the sum of columns.
    pub(super) fn sums(&self) -> usize {
        self.sums
    }

    /// Bytes of the workspace of an item.
    fn item(&self) -> u64 {
        // An item has two operands, its coefficients, three products, two remainders and the sums of words.
        3 * self.spectrum + 3 * self.product + 16 * (self.words as u64 + 1) + 12 * self.words as u64
    }

    /// Blocks of the key that the full FFT takes together.
    pub(super) fn blocks_at_once(&self) -> usize {
        let groups = (self.params.first_indices() * self.width()) as u64;
        let block = groups * (self.item() + self.spectrum + 8 * self.words as u64).max(1);
        ((WORKSPACE / block) as usize).clamp(1, self.params.blocks())
    }

    /// Most items of a batch.
    pub(super) fn items(&self, method: RecryptMethod) -> usize {
        let columns = match method {
            RecryptMethod::FullFft => self.blocks_at_once() * self.params.first_indices() * self.width(),
            _ => self.params.blocks() * self.width(),
        };
        columns.max(self.sums)
    }

    fn bytes(&self, method: RecryptMethod) -> u64 {
        let params = &self.params;
        let (blocks, residue) = (params.blocks() as u64, 8 * self.words as u64);
        let fraction = params.ratio_bits() * (params.candidates() - 1) + params.precision() + 1;
        let point = 64 * self.words + GUARD_BITS + fraction;
        let (digits, _) = digits_of(Expansion::bits(point), 1).unwrap_or((0, 0));
        // A block has factors, products, two operands, coefficients and the expansions.
        let expansion = blocks * (5 * 8 * digits as u64 + point as u64 / 4);
        let indicators = blocks * params.indicators() as u64 * residue;
        let tables = match method {
            RecryptMethod::FullFft => {
                let inner = (self.items(method) as u64) * (self.spectrum + residue);
                let columns = (self.blocks_at_once() * self.width()) as u64 * self.spectrum;
                indicators + blocks * params.first_indices() as u64 * self.spectrum + inner + columns
            }
            _ => indicators + blocks * params.candidates() as u64 * residue,
        };
        let sum = (self.operands + self.sums) as u64 * self.spectrum + self.slots as u64 * residue;
        expansion + tables + sum + self.items(method) as u64 * self.item()
    }
}

/// Approximate bytes that a key of these parameters takes on a device, with the tables of a method. `None` for
/// [`RecryptMethod::PartialFft`], which has no kernels.
pub fn bytes(params: &Params, method: RecryptMethod) -> Option<u64> {
    (method != RecryptMethod::PartialFft).then(|| Shape::new(params, params.words()).bytes(method))
}

/// The fastest method whose tables fit on a device.
///
/// # Errors
/// [`Error::Memory`] if none fits. The error states the bytes of the smallest method.
pub fn fastest(device: &Device, params: &Params) -> Result<RecryptMethod, Error> {
    let fits = |&method: &RecryptMethod| check(device, params, method).is_ok();
    let by_bytes = |&method: &RecryptMethod| bytes(params, method).unwrap_or(u64::MAX);
    let least = RecryptMethod::ALL.into_iter().min_by_key(by_bytes).unwrap_or(RecryptMethod::PairTable);
    match RecryptMethod::ALL.into_iter().find(fits) {
        Some(method) => Ok(method),
        None => check(device, params, least).map(|()| least),
    }
}

/// Refuses a method that has no kernels or does not fit.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::Memory`].
pub(super) fn check(device: &Device, params: &Params, method: RecryptMethod) -> Result<(), Error> {
    let need = bytes(params, method).ok_or_else(|| Error::Unsupported { params: method.name().into() })?;
    let limit = device.memory_limit();
    let free = limit.saturating_sub(device.live_bytes());
    if need <= free {
        return Ok(());
    }
    let other = |&other: &RecryptMethod| bytes(params, other).is_some_and(|bytes| bytes <= free);
    let fits = match RecryptMethod::ALL.into_iter().find(other) {
        Some(method) => format!("{} fits", method.name()),
        None => "no method fits; take the device cpu".into(),
    };
    let what = format!("a server key of {} with the tables of {}", params.name(), method.name());
    Err(Error::Memory { what, device: device.info().name.clone(), need, free, limit, fits })
}
