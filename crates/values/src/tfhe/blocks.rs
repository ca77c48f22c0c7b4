//! The blocks of encrypted elements, in the forms in which they are stored.

use super::compact::{Compact, SINGLE};
use super::params::{info, value_bytes};
use crate::{Error, Form, Type, memory};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use solinas_formats::{Destination, Header, KeyId, Reader, Value, Writer, pack};
use solinas_schemes::tfhe::{LweCiphertext, Masks, Params, ShortCiphertexts};
use std::borrow::Cow;
use std::ops::Range;

/// The blocks of elements, least significant first.
#[derive(Debug, Clone, PartialEq)]
pub enum Blocks {
    /// The blocks of each element, as LWE ciphertexts of dimension `k N`.
    Full(Vec<Vec<LweCiphertext>>),
    /// Fresh ciphertexts, many of which share one mask. The number counts the blocks of an element.
    Short(ShortCiphertexts, usize),
    /// Compact results, which can be decrypted but not computed with. The number counts the blocks of an element.
    Compact(Compact, usize),
}

/// The name of a form in the header of a file. Full blocks have no name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    #[default]
    Full,
    Seeded,
    Scattered,
    Glwe,
    Compact,
    Packed,
}

/// The version of the layout of packed blocks.
const LAYOUT: u32 = 1;

fn compact() -> Error {
    Error::Compact { what: "the ciphertext".into() }
}

impl Blocks {
    /// Whether the blocks can be decrypted but not computed with.
    pub fn is_compact(&self) -> bool {
        matches!(self, Self::Compact(..))
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Full(elements) => elements.len(),
            Self::Short(short, size) => short.len() / (*size).max(1),
            Self::Compact(compact, size) => compact.len() / (*size).max(1),
        }
    }

    /// Number of blocks of all elements.
    fn values(&self) -> u64 {
        match self {
            Self::Full(elements) => elements.iter().map(Vec::len).sum::<usize>() as u64,
            Self::Short(short, _) => short.len() as u64,
            Self::Compact(compact, _) => compact.len() as u64,
        }
    }

    /// Bytes in memory of a slice of one element.
    pub(super) fn element_bytes(&self, params: &Params) -> u64 {
        let bytes = match self {
            Self::Full(elements) => elements.first().map_or(0, Vec::len) as u64 * value_bytes(params),
            Self::Short(short, size) => match short.masks() {
                Masks::Seed(_) => 4 * *size as u64,
                // The masks of the polynomials that the blocks come from.
                Masks::Glwe(_) => {
                    let polynomials = size / params.literal().ring_dimension + 2;
                    4 * (size + polynomials * params.big_dimension()) as u64
                }
            },
            Self::Compact(_, size) => *size as u64 * value_bytes(params),
        };
        bytes + 512
    }

    /// The elements of a range that ends at [`Self::len`] or before.
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Full(elements) => Self::Full(elements[range].to_vec()),
            Self::Short(short, size) => Self::Short(short.slice(range.start * size, range.len() * size), *size),
            Self::Compact(compact, size) => Self::Compact(compact.slice(range.start * size..range.end * size), *size),
        }
    }

    /// The blocks of each element as full ciphertexts.
    ///
    /// # Errors
    /// [`Error::Compact`].
    pub fn full(&self) -> Result<Cow<'_, [Vec<LweCiphertext>]>, Error> {
        match self {
            Self::Full(elements) => Ok(Cow::Borrowed(elements)),
            Self::Short(short, size) => {
                let element =
                    |index: usize| (index * size..(index + 1) * size).map(|block| short.expand(block)).collect();
                Ok(Cow::Owned((0..self.len()).into_par_iter().map(element).collect()))
            }
            Self::Compact(..) => Err(compact()),
        }
    }

    /// A block of an element as a full ciphertext. The element and the block are there.
    ///
    /// # Errors
    /// [`Error::Compact`].
    pub fn block(&self, element: usize, block: usize) -> Result<Cow<'_, LweCiphertext>, Error> {
        match self {
            Self::Full(elements) => Ok(Cow::Borrowed(&elements[element][block])),
            Self::Short(short, size) => Ok(Cow::Owned(short.expand(element * size + block))),
            Self::Compact(..) => Err(compact()),
        }
    }

    /// These elements, followed by others. Fresh blocks of one encryption under a client key stay short. Others are expanded.
    ///
    /// # Errors
    /// [`Error::Compact`] if some are compact and others are not. [`Error::Memory`] if the expanded blocks do not fit.
    pub(super) fn concat<'a>(
        &self,
        params: &Params,
        others: impl IntoIterator<Item = &'a Self>,
    ) -> Result<Self, Error> {
        if let Self::Compact(blocks, size) = self {
            let mut all = blocks.clone();
            for other in others {
                let Self::Compact(blocks, _) = other else { return Err(compact()) };
                all.extend(blocks);
            }
            return Ok(Self::Compact(all, *size));
        }
        let others: Vec<_> = others.into_iter().collect();
        if let Self::Short(first, size) = self {
            let mut all = first.clone();
            let mut short = others.iter().map(|other| match other {
                Self::Short(more, _) => all.join(more),
                _ => false,
            });
            if short.all(|joined| joined) {
                return Ok(Self::Short(all, *size));
            }
        }
        let values: u64 = core::iter::once(self).chain(others.iter().copied()).map(Self::values).sum();
        memory::check("an array of these parts", &info(params), values * value_bytes(params), memory::FEWER)?;
        let mut all = self.full()?.into_owned();
        for other in others {
            all.extend_from_slice(&other.full()?);
        }
        Ok(Self::Full(all))
    }

    /// The first words of the mask of each block of an element, or of its negative: of the two the smaller words. Masks are uniform, so two blocks with the same
    /// words have the same ciphertext up to the sign and a constant, or no mask.
    pub fn mask_starts(&self, index: usize) -> Vec<[u32; 8]> {
        let start = |words: &[u32]| std::array::from_fn(|i| words.get(i).copied().unwrap_or(0));
        let starts: Vec<[u32; 8]> = match self {
            Self::Full(elements) => {
                elements.get(index).into_iter().flatten().map(|block| start(block.words())).collect()
            }
            Self::Short(short, size) => {
                let blocks = index * size..((index + 1) * size).min(short.len());
                blocks.map(|block| short.mask_start(block)).collect()
            }
            Self::Compact(..) => Vec::new(),
        };
        starts.into_iter().map(|start| start.min(start.map(u32::wrapping_neg))).collect()
    }

    /// Adds the fields of the form to a header.
    pub(super) fn header(&self, params: &Params, header: Header) -> Result<Header, Error> {
        let header = match self {
            Self::Full(_) => return Ok(header),
            Self::Compact(compact, _) if compact.is_packed() => {
                header.meta("blocks", &Stored::Packed)?.meta("layout", &LAYOUT)?
            }
            Self::Compact(compact, _) => {
                let header = header.meta("blocks", &Stored::Compact)?;
                match compact.single(params)? {
                    Some(block) => header.meta(SINGLE, &Value::Bytes(block))?,
                    None => header,
                }
            }
            Self::Short(short, _) => match short.masks() {
                Masks::Seed(seed) if short.numbers().is_some() => {
                    return Ok(header.meta("blocks", &Stored::Scattered)?.meta("masks", &KeyId(*seed))?);
                }
                Masks::Seed(seed) => header.meta("blocks", &Stored::Seeded)?.meta("masks", &KeyId(*seed))?,
                Masks::Glwe(_) => header.meta("blocks", &Stored::Glwe)?,
            }
            .meta("first", &short.first())?,
        };
        Ok(header)
    }

    pub(super) fn write(&self, params: &Params, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        match self {
            Self::Full(elements) => {
                let blocks = elements.iter().flatten();
                writer.section_of_parts("lwe", blocks.map(|block| Ok(pack::u32_to_le(block.words()))))?;
            }
            Self::Short(short, _) => {
                if let Masks::Glwe(words) = short.masks() {
                    writer.section("masks", &pack::u32_to_le(words))?;
                }
                if let Some(numbers) = short.numbers() {
                    writer.section("runs", &pack::u32_to_le(&runs(numbers)))?;
                }
                writer.section("bodies", &pack::u32_to_le(short.bodies()))?;
            }
            Self::Compact(compact, _) => compact.write(params, writer)?,
        }
        Ok(())
    }

    /// Reads the blocks of `count` elements.
    pub(super) fn read(reader: &Reader, params: &Params, ty: Type, form: Form, count: usize) -> Result<Self, Error> {
        let size = form.blocks(ty);
        let many = || reader.field("shape", "it has too many elements");
        let total = count.checked_mul(size).ok_or_else(many)?;
        let stored = if reader.header().meta.contains_key("blocks") { reader.meta("blocks")? } else { Stored::Full };
        match stored {
            Stored::Full => {
                let words = params.big_dimension() + 1;
                let all = reader.section_u32("lwe", total.checked_mul(words).ok_or_else(many)?)?;
                let block = |words: &[u32]| LweCiphertext::from_words(words.to_vec());
                let element = |element: &[u32]| element.chunks_exact(words).map(block).collect();
                Ok(Self::Full(all.chunks_exact(size * words).map(element).collect()))
            }
            Stored::Scattered => {
                let bodies = reader.section_u32("bodies", total)?;
                let runs = pack::u32_from_le(&reader.section("runs")?)?;
                let numbers = numbers(&runs, total)
                    .ok_or_else(|| reader.section_error("runs", "its runs are not those of the blocks"))?;
                let short = ShortCiphertexts::scattered(params, reader.meta::<KeyId>("masks")?.0, numbers, bodies);
                Ok(Self::Short(short.map_err(|error| reader.section_error("bodies", error))?, size))
            }
            Stored::Seeded | Stored::Glwe => {
                let first: u64 = reader.meta("first")?;
                let bodies = reader.section_u32("bodies", total)?;
                let masks = if stored == Stored::Seeded {
                    Masks::Seed(reader.meta::<KeyId>("masks")?.0)
                } else {
                    let n = params.literal().ring_dimension;
                    if first >= n as u64 {
                        return Err(reader.field("first", "it is not a coefficient of a polynomial").into());
                    }
                    let polynomials = total.checked_add(first as usize).ok_or_else(many)?.div_ceil(n);
                    let words = polynomials.checked_mul(params.big_dimension()).ok_or_else(many)?;
                    Masks::Glwe(reader.section_u32("masks", words)?)
                };
                let short = ShortCiphertexts::from_parts(params, masks, first, bodies);
                Ok(Self::Short(short.map_err(|error| reader.section_error("bodies", error))?, size))
            }
            Stored::Compact => Ok(Self::Compact(Compact::read_alone(reader, params, total)?, size)),
            Stored::Packed => {
                if reader.meta::<u32>("layout")? != LAYOUT {
                    return Err(reader
                        .field("layout", "a newer version of Solinas wrote it; update to read it")
                        .into());
                }
                Ok(Self::Compact(Compact::read_packed(reader, params, total)?, size))
            }
        }
    }
}

/// The runs of consecutive numbers, with three words each: the length, and the first number, whose low word comes first.
fn runs(numbers: &[u64]) -> Vec<u32> {
    let consecutive = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    consecutive.flat_map(|run| [run.len() as u32, run[0] as u32, (run[0] >> 32) as u32]).collect()
}

/// The numbers in runs. `None` unless there are `total` of them.
fn numbers(runs: &[u32], total: usize) -> Option<Vec<u64>> {
    let (runs, []) = runs.as_chunks::<3>() else { return None };
    let mut numbers = Vec::with_capacity(total);
    for &[len, low, high] in runs {
        let first = u64::from(high) << 32 | u64::from(low);
        let end = first.checked_add(u64::from(len))?;
        if len == 0 || len as usize > total - numbers.len() {
            return None;
        }
        numbers.extend(first..end);
    }
    (numbers.len() == total).then_some(numbers)
}
