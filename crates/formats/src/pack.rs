//! Numbers as little-endian bytes, and words truncated to their high bits.
//!
//! The results are ordinary vectors. Wrap vectors of secrets in `Zeroizing`.
//!
//! ```
//! use solinas_formats::pack;
//! // Torus elements whose low 54 bits were rounded away.
//! let words = [0x8000_0000_0000_0000, 0xffc0_0000_0000_0000];
//! let packed = pack::pack_high_bits(&words, 10)?;
//! assert_eq!(packed.len(), 3);
//! assert_eq!(pack::unpack_high_bits(&packed, 10, 2)?, words);
//! # Ok::<(), solinas_formats::Error>(())
//! ```

use crate::error::{Error, Result};

/// Encodes each word as four bytes, little-endian.
pub fn u32_to_le(words: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0; words.len() * 4];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// Encodes each word as eight bytes, little-endian.
pub fn u64_to_le(words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; words.len() * 8];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// Decodes 32-bit words. Inverse of [`u32_to_le`].
///
/// # Errors
/// [`Error::Packing`] if the length is not a multiple of 4.
pub fn u32_from_le(bytes: &[u8]) -> Result<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    check_multiple(rest, bytes.len(), 4)?;
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Decodes 64-bit words. Inverse of [`u64_to_le`].
///
/// # Errors
/// [`Error::Packing`] if the length is not a multiple of 8.
pub fn u64_from_le(bytes: &[u8]) -> Result<Vec<u64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    check_multiple(rest, bytes.len(), 8)?;
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn check_multiple(rest: &[u8], len: usize, size: usize) -> Result<()> {
    if rest.is_empty() { Ok(()) } else { Err(Error::Packing(format!("{len} bytes are not a multiple of {size}"))) }
}

/// Number of bytes to which [`pack_high_bits`] packs `count` words: ceil(count * bits / 8).
///
/// # Errors
/// [`Error::Packing`] if `bits` is not in 1..=64 or the length exceeds the address space.
pub fn packed_len(count: usize, bits: u32) -> Result<usize> {
    if !(1..=64).contains(&bits) {
        return Err(Error::Packing(format!("{bits} bits a word are not in 1..=64")));
    }
    usize::try_from((count as u128 * u128::from(bits)).div_ceil(8))
        .map_err(|_| Error::Packing(format!("{count} words do not fit this machine's memory")))
}

/// Packs the top `bits` bits of each word, word after word, the lowest bit first. Unused bits of the last byte are
/// zero. Lower bits are dropped, so the caller must round before.
///
/// # Errors
/// The errors of [`packed_len`].
pub fn pack_high_bits(words: &[u64], bits: u32) -> Result<Vec<u8>> {
    let len = packed_len(words.len(), bits)?;
    // Whole words are appended. The excess of the last one is truncated.
    let mut bytes = Vec::with_capacity(len + 8);
    let (mut pending, mut filled) = (0u64, 0u32);
    for word in words {
        let value = word >> (64 - bits);
        pending |= value << filled;
        filled += bits;
        if filled >= 64 {
            bytes.extend_from_slice(&pending.to_le_bytes());
            filled -= 64;
            // The shift is 64 if no bit is left over.
            pending = value.checked_shr(bits - filled).unwrap_or(0);
        }
    }
    bytes.extend_from_slice(&pending.to_le_bytes());
    bytes.truncate(len);
    Ok(bytes)
}

/// Unpacks `count` words. Inverse of [`pack_high_bits`]: the low `64 - bits` bits are zero.
///
/// # Errors
/// [`Error::Packing`] if the length does not match `count`, or a bit after the last word is set. The errors of
/// [`packed_len`].
pub fn unpack_high_bits(bytes: &[u8], bits: u32, count: usize) -> Result<Vec<u64>> {
    let len = packed_len(count, bits)?;
    if bytes.len() != len {
        return Err(Error::Packing(format!("{} bytes where {count} words of {bits} bits take {len}", bytes.len())));
    }
    let mut words = Vec::with_capacity(count);
    let (mut pending, mut filled) = (0u64, 0u32);
    let mut rest = bytes;
    for _ in 0..count {
        let mut value = pending;
        if filled >= bits {
            pending = pending.checked_shr(bits).unwrap_or(0);
            filled -= bits;
        } else {
            let next = take_word(&mut rest);
            value |= next << filled;
            let taken = bits - filled;
            pending = next.checked_shr(taken).unwrap_or(0);
            filled = 64 - taken;
        }
        words.push(value << (64 - bits));
    }
    if pending != 0 {
        return Err(Error::Packing("a bit beyond the last word is set".into()));
    }
    Ok(words)
}

/// Takes the next eight bytes, or the rest padded with zeros.
fn take_word(bytes: &mut &[u8]) -> u64 {
    if let Some((word, rest)) = bytes.split_first_chunk() {
        *bytes = rest;
        return u64::from_le_bytes(*word);
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    *bytes = &[];
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn unpack_inverts_pack_on_the_high_bits(words in prop::collection::vec(any::<u64>(), 0..100), bits in 1u32..=64) {
            let packed = pack_high_bits(&words, bits).unwrap();
            prop_assert_eq!(packed.len(), packed_len(words.len(), bits).unwrap());
            let high: Vec<u64> = words.iter().map(|w| w >> (64 - bits) << (64 - bits)).collect();
            prop_assert_eq!(unpack_high_bits(&packed, bits, words.len()).unwrap(), high);
        }

        #[test]
        fn packed_bit_i_of_word_j_is_bit_j_bits_plus_i(words in prop::collection::vec(any::<u64>(), 1..20), bits in 1u32..=64) {
            let packed = pack_high_bits(&words, bits).unwrap();
            for (j, word) in words.iter().enumerate() {
                for i in 0..bits as usize {
                    let at = j * bits as usize + i;
                    prop_assert_eq!(u64::from(packed[at / 8] >> (at % 8) & 1), word >> (64 - bits as usize + i) & 1);
                }
            }
        }

        #[test]
        fn words_round_trip(a in prop::collection::vec(any::<u32>(), 0..50), b in prop::collection::vec(any::<u64>(), 0..50)) {
            prop_assert_eq!(u32_from_le(&u32_to_le(&a)).unwrap(), a);
            prop_assert_eq!(u64_from_le(&u64_to_le(&b)).unwrap(), b);
        }
    }

    #[test]
    fn wrong_lengths_and_stray_bits_are_errors() {
        assert!(u32_from_le(&[0; 6]).is_err());
        assert!(u64_from_le(&[0; 12]).is_err());
        for bits in [0, 65, u32::MAX] {
            assert!(pack_high_bits(&[1], bits).is_err());
            assert!(unpack_high_bits(&[], bits, 0).is_err());
        }
        assert!(unpack_high_bits(&[0, 0], 10, 2).is_err());
        assert!(unpack_high_bits(&[0; 4], 10, 2).is_err());
        assert!(unpack_high_bits(&[0, 0, 0x10], 10, 2).is_err());
        assert!(unpack_high_bits(&[], 64, usize::MAX).is_err());
        assert_eq!(unpack_high_bits(&[], 7, 0).unwrap(), [0u64; 0]);
    }
}
