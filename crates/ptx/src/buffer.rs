//! One allocation of global memory: its words, and a mark of each byte that was written.
//!
//! Blocks of a launch run on several threads, so words are atomic. The order of accesses does not matter: those of
//! different blocks to one place are a race, unless all are reads, and the check of races reports it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// One allocation.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) start: u64,
    bytes: usize,
    words: Vec<AtomicU32>,
    /// One bit for each byte: set once the byte was written.
    written: Vec<AtomicU64>,
}

impl Buffer {
    pub(crate) fn new(start: u64, bytes: usize) -> Self {
        let words = std::iter::repeat_with(|| AtomicU32::new(0xA5A5_A5A5)).take(bytes.div_ceil(4)).collect();
        let written = std::iter::repeat_with(AtomicU64::default).take(bytes.div_ceil(64)).collect();
        Self { start, bytes, words, written }
    }

    /// Bytes of the allocation.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// The number in `N` bytes from an offset, of 1, 2, 4 or 8. Bytes outside are 0.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&self, offset: usize) -> u64 {
        let word = |at: usize| self.words.get(at).map_or(0, |word| u64::from(word.load(Relaxed)));
        let (at, shift) = (offset / 4, 8 * (offset % 4));
        if N == 8 && shift == 0 {
            return word(at) | word(at + 1) << 32;
        }
        // Words that hold the bytes, also of an address that is not aligned.
        let wide = u128::from(word(at)) | u128::from(word(at + 1)) << 32;
        let wide = if 8 * N + shift > 64 { wide | u128::from(word(at + 2)) << 64 } else { wide };
        (wide >> shift) as u64 & (u64::MAX >> (64 - 8 * N))
    }

    /// Writes `N` bytes from an offset, of 1, 2, 4 or 8, and marks them. Bytes outside are dropped.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&self, offset: usize, value: u64) {
        let (at, shift) = (offset / 4, offset % 4);
        if N >= 4 && shift == 0 {
            for (word, part) in self.words.get(at..at + N / 4).unwrap_or_default().iter().zip([value, value >> 32]) {
                word.store(part as u32, Relaxed);
            }
        } else {
            (0..N).for_each(|i| self.put(offset + i, (value >> (8 * i)) as u8));
        }
        self.mark(offset, N);
    }

    /// Writes one byte, and leaves the others of its word to other threads.
    fn put(&self, offset: usize, byte: u8) {
        let shift = 8 * (offset % 4);
        if let Some(word) = self.words.get(offset / 4) {
            word.fetch_and(!(0xFF << shift), Relaxed);
            word.fetch_or(u32::from(byte) << shift, Relaxed);
        }
    }

    /// Whether all of `bytes` bytes from `offset` were written. The range is inside of the buffer.
    #[inline]
    pub(crate) fn is_written(&self, offset: usize, bytes: usize) -> bool {
        let (word, shift) = (offset / 64, offset % 64);
        if (1..=64 - shift).contains(&bytes) {
            let mask = u64::MAX >> (64 - bytes);
            return self.written[word].load(Relaxed) >> shift & mask == mask;
        }
        self.first_unwritten(offset, bytes).is_none()
    }

    /// Marks `bytes` bytes from `offset` as written.
    #[inline]
    fn mark(&self, offset: usize, bytes: usize) {
        for (word, mask) in words(offset, bytes) {
            if let Some(written) = self.written.get(word).filter(|written| written.load(Relaxed) & mask != mask) {
                written.fetch_or(mask, Relaxed);
            }
        }
    }

    pub(crate) fn forget(&mut self, offset: usize, bytes: usize) {
        for (word, mask) in words(offset, bytes) {
            *self.written[word].get_mut() &= !mask;
        }
    }

    pub(crate) fn first_unwritten(&self, offset: usize, bytes: usize) -> Option<usize> {
        words(offset, bytes).find_map(|(word, mask)| {
            let missing = mask & !self.written[word].load(Relaxed);
            (missing != 0).then(|| 64 * word + missing.trailing_zeros() as usize)
        })
    }

    /// Writes bytes of the host, inside of the buffer.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let head = bytes.len().min(offset.next_multiple_of(4) - offset);
        let (first, rest) = bytes.split_at(head);
        first.iter().enumerate().for_each(|(i, &byte)| self.put(offset + i, byte));
        let (chunks, tail) = rest.as_chunks::<4>();
        let at = (offset + head) / 4;
        for (word, chunk) in self.words[at..].iter_mut().zip(chunks) {
            *word.get_mut() = u32::from_le_bytes(*chunk);
        }
        let end = offset + bytes.len() - tail.len();
        tail.iter().enumerate().for_each(|(i, &byte)| self.put(end + i, byte));
        self.mark(offset, bytes.len());
    }

    /// Reads bytes from inside of the buffer.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        let start = offset;
        for (i, chunk) in out.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&self.load::<8>(start + 8 * i).to_le_bytes()[..chunk.len()]);
        }
    }
}

/// The words of a bitmap that a range of bits touches, each with the mask of the bits in it.
#[inline]
fn words(offset: usize, count: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = offset + count;
    let words = if count == 0 { 0..0 } else { offset / 64..end.div_ceil(64) };
    words.map(move |word| {
        let low = offset.saturating_sub(64 * word);
        let high = (end - 64 * word).min(64);
        (word, (u64::MAX >> (64 - (high - low))) << low)
    })
}
