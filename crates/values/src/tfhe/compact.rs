//! Compact results: blocks that can be decrypted but not computed with.

use crate::Error;
use solinas_formats::{Destination, Reader, Value, Writer, pack};
use solinas_schemes::tfhe::{
    ClientKey, CompactCiphertext, Evaluator, LweCiphertext, PackedCiphertexts, Packer, Params,
};
use std::ops::Range;

/// Blocks that follow each other.
#[derive(Debug, Clone, PartialEq)]
enum Run {
    /// Blocks with a mask each.
    Alone(Vec<CompactCiphertext>),
    /// Blocks with a common mask.
    Packed(PackedCiphertexts),
}

impl Run {
    fn len(&self) -> usize {
        match self {
            Self::Alone(blocks) => blocks.len(),
            Self::Packed(packed) => packed.len(),
        }
    }

    fn slice(&self, start: usize, len: usize) -> Self {
        match self {
            Self::Alone(blocks) => Self::Alone(blocks[start..start + len].to_vec()),
            Self::Packed(packed) => Self::Packed(packed.slice(start, len)),
        }
    }
}

/// A list of compact blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compact {
    /// The runs of blocks. No run is empty, and no run could join the run before it.
    runs: Vec<Run>,
}

/// The number that a stored run has in place of its first coefficient if each of its blocks has its own mask.
const ALONE: u32 = u32::MAX;
/// The field of a header that holds the only block.
pub(super) const SINGLE: &str = "block";
/// Bytes in front of a stored run: the number of its blocks, and its first coefficient.
const HEAD: usize = 8;

/// The sizes of stored blocks, and the bits of their words.
struct Sizes {
    /// A block with a mask of its own.
    alone: usize,
    alone_words: usize,
    alone_bits: u32,
    /// A common mask.
    mask: usize,
    mask_words: usize,
    mask_bits: u32,
    body_bits: u32,
}

impl Sizes {
    fn new(params: &Params) -> Result<Self, Error> {
        let (bits, packed) = (params.compact_bits(), params.packed_bits());
        let (words, mask_words) = (params.literal().lwe_dimension + 1, params.big_dimension());
        Ok(Self {
            alone: pack::packed_len(words, bits)?,
            alone_words: words,
            alone_bits: bits,
            mask: pack::packed_len(mask_words, packed.mask)?,
            mask_words,
            mask_bits: packed.mask,
            body_bits: packed.body,
        })
    }

    /// Bytes of a run of packed blocks.
    fn packed(&self, count: usize) -> Result<usize, Error> {
        Ok(HEAD + self.mask + pack::packed_len(count, self.body_bits)?)
    }
}

impl Compact {
    /// Makes ciphertexts compact, on the current thread pool. It packs groups of up to `N` blocks if that takes fewer bytes. It asks for the
    /// packer when it needs one.
    ///
    /// # Errors
    /// [`Error::Scheme`] for ciphertexts of other parameters. The errors of `packer`.
    pub fn new<'a>(
        evaluator: &Evaluator,
        packer: impl Fn() -> Result<&'a Packer, Error>,
        blocks: &[LweCiphertext],
    ) -> Result<Self, Error> {
        let sizes = Sizes::new(evaluator.params())?;
        let mut all = Self::default();
        for blocks in blocks.chunks(evaluator.params().literal().ring_dimension) {
            let pays = sizes.packed(blocks.len())? < sizes.alone * blocks.len();
            all.push(match pays {
                true => Run::Packed(packer()?.pack(blocks)?),
                false => Run::Alone(evaluator.compact(blocks)?),
            });
        }
        Ok(all)
    }

    fn push(&mut self, run: Run) {
        let joined = match (self.runs.last_mut(), &run) {
            (Some(Run::Alone(blocks)), Run::Alone(more)) => {
                blocks.extend_from_slice(more);
                true
            }
            (Some(Run::Packed(packed)), Run::Packed(more)) => packed.join(more),
            _ => false,
        };
        if !joined && run.len() > 0 {
            self.runs.push(run);
        }
    }

    /// Whether some blocks have a common mask.
    pub(super) fn is_packed(&self) -> bool {
        self.runs.iter().any(|run| matches!(run, Run::Packed(_)))
    }

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(Run::len).sum()
    }

    /// The blocks of a range that ends at [`Self::len`] or before.
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        let (mut slice, mut begin) = (Self::default(), 0);
        for run in &self.runs {
            let end = begin + run.len();
            let (from, to) = (range.start.clamp(begin, end), range.end.clamp(begin, end));
            if from < to {
                slice.push(run.slice(from - begin, to - from));
            }
            begin = end;
        }
        slice
    }

    /// Appends blocks.
    pub(super) fn extend(&mut self, more: &Self) {
        more.runs.iter().for_each(|run| self.push(run.clone()));
    }

    /// Decrypts each block.
    pub(super) fn decrypt(&self, key: &ClientKey) -> Vec<u32> {
        let run = |run: &Run| -> Vec<u32> {
            match run {
                Run::Alone(blocks) => blocks.iter().map(|block| key.decrypt_compact(block)).collect(),
                Run::Packed(packed) => (0..packed.len()).map(|index| key.decrypt_packed(packed, index)).collect(),
            }
        };
        self.runs.iter().flat_map(run).collect()
    }

    /// The bytes of the only block, if it has a mask of its own. A header holds them, so that the file is as small as it can be.
    pub(super) fn single(&self, params: &Params) -> Result<Option<Vec<u8>>, Error> {
        match self.runs.as_slice() {
            [Run::Alone(blocks)] if blocks.len() == 1 => {
                Ok(Some(pack_words(blocks[0].words(), params.compact_bits())?))
            }
            _ => Ok(None),
        }
    }

    /// Writes the blocks: nothing if the header holds the only one, one after the other if each has a mask of its own, else run by run.
    pub(super) fn write(&self, params: &Params, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        if self.single(params)?.is_some() {
            return Ok(());
        }
        let sizes = Sizes::new(params)?;
        let alone = |block: &CompactCiphertext| pack_words(block.words(), sizes.alone_bits);
        if !self.is_packed() {
            let blocks = self.runs.iter().flat_map(|run| match run {
                Run::Alone(blocks) => blocks.as_slice(),
                Run::Packed(_) => &[],
            });
            return Ok(writer.section_of_parts("compact", blocks.map(alone))?);
        }
        let part = |run: &Run| {
            let (first, blocks) = match run {
                Run::Alone(blocks) => {
                    (ALONE, blocks.iter().map(alone).collect::<solinas_formats::Result<Vec<_>>>()?.concat())
                }
                Run::Packed(packed) => {
                    let mask = pack_words(packed.mask(), sizes.mask_bits)?;
                    (packed.first() as u32, [mask, pack_words(packed.bodies(), sizes.body_bits)?].concat())
                }
            };
            Ok([pack::u32_to_le(&[run.len() as u32, first]), blocks].concat())
        };
        Ok(writer.section_of_parts("packed", self.runs.iter().map(part))?)
    }

    /// Reads `count` blocks that have a mask each.
    pub(super) fn read_alone(reader: &Reader, params: &Params, count: usize) -> Result<Self, Error> {
        let sizes = Sizes::new(params)?;
        let bytes = count.checked_mul(sizes.alone).ok_or_else(|| reader.field("shape", "it has too many elements"))?;
        let mut compact = Self::default();
        if reader.header().meta.contains_key(SINGLE) {
            let wrong = |reason: &str| Error::from(reader.field(SINGLE, reason));
            let Value::Bytes(block) = reader.meta(SINGLE)? else { return Err(wrong("it is no string of bytes")) };
            if count != 1 || block.len() != bytes {
                return Err(wrong("it is not the only block of the elements"));
            }
            compact.push(alone(&sizes, params, &block).map_err(|error| wrong(&error.to_string()))?);
            return Ok(compact);
        }
        let all = reader.section_of_len("compact", bytes)?;
        compact.push(alone(&sizes, params, &all).map_err(|error| reader.section_error("compact", error))?);
        Ok(compact)
    }

    /// Reads `count` blocks run by run.
    pub(super) fn read_packed(reader: &Reader, params: &Params, count: usize) -> Result<Self, Error> {
        let wrong = |reason: &str| reader.section_error("packed", reason);
        let sizes = Sizes::new(params)?;
        let all = reader.section("packed")?;
        let (mut compact, mut rest, mut left) = (Self::default(), &*all, count);
        while left > 0 {
            let (head, after) = rest.split_at_checked(HEAD).ok_or_else(|| wrong("it ends before its last block"))?;
            let [blocks, first] = pack::u32_from_le(head)?[..] else { return Err(wrong("a run has no head").into()) };
            let here = blocks as usize;
            if here == 0 || here > left {
                return Err(wrong("the blocks of its runs are not those of the elements").into());
            }
            left -= here;
            let size = match first {
                ALONE => here.checked_mul(sizes.alone),
                _ => sizes.packed(here)?.checked_sub(HEAD),
            };
            let split = size.and_then(|size| after.split_at_checked(size));
            let (bytes, after) = split.ok_or_else(|| wrong("it ends before its last block"))?;
            rest = after;
            let run = match first {
                ALONE => alone(&sizes, params, bytes),
                _ => packed(&sizes, params, first, here, bytes),
            };
            compact.push(run.map_err(|error| reader.section_error("packed", error))?);
        }
        if rest.is_empty() { Ok(compact) } else { Err(wrong("it has bytes after its last block").into()) }
    }
}

/// Unpacks blocks with a mask each.
fn alone(sizes: &Sizes, params: &Params, bytes: &[u8]) -> Result<Run, Error> {
    let block = |bytes: &[u8]| {
        Ok(CompactCiphertext::from_words(params, unpack_words(bytes, sizes.alone_bits, sizes.alone_words)?)?)
    };
    Ok(Run::Alone(bytes.chunks_exact(sizes.alone).map(block).collect::<Result<_, Error>>()?))
}

/// Unpacks blocks with a common mask.
fn packed(sizes: &Sizes, params: &Params, first: u32, count: usize, bytes: &[u8]) -> Result<Run, Error> {
    let (mask, bodies) = bytes.split_at(sizes.mask);
    let mask = unpack_words(mask, sizes.mask_bits, sizes.mask_words)?;
    let bodies = unpack_words(bodies, sizes.body_bits, count)?;
    Ok(Run::Packed(PackedCiphertexts::from_parts(params, mask, first as usize, bodies)?))
}

fn pack_words(words: &[u16], bits: u32) -> solinas_formats::Result<Vec<u8>> {
    let words: Vec<u64> = words.iter().map(|&word| u64::from(word) << (64 - bits)).collect();
    pack::pack_high_bits(&words, bits)
}

fn unpack_words(bytes: &[u8], bits: u32, count: usize) -> Result<Vec<u16>, Error> {
    let words = pack::unpack_high_bits(bytes, bits, count)?;
    Ok(words.iter().map(|word| (word >> (64 - bits)) as u16).collect())
}
