//! EMSA-PSS (RFC 8017, 9.1): `EM = (0..0 | 1 | salt) ^ mask of H | H | 0xbc`, with
//! `H = hash(8 zeros | hash of the message | salt)`.

use crate::Hash;
use std::ops::RangeInclusive;
use subtle::ConstantTimeEq;

/// The last byte.
const TRAILER: u8 = 0xbc;

/// Encodes a hash value for a signature in `ceil(bits / 8)` bytes. `bits` is one less than the modulus has. Returns
/// `None` if `bits < 8 (hash + salt) + 9`.
pub(crate) fn encode((hash, mgf): (Hash, Hash), value: &[u8], salt: &[u8], bits: usize) -> Option<Vec<u8>> {
    let (h, len) = (hash.len(), bits.div_ceil(8));
    let one = len.checked_sub(h + salt.len() + 2)?;
    let mut em = vec![0; len];
    let (db, tail) = em.split_at_mut(len - h - 1);
    db[one] = 1;
    db[one + 1..].copy_from_slice(salt);
    tail[..h].copy_from_slice(&hash.digest(&[&[0; 8], value, salt]));
    tail[h] = TRAILER;
    mgf.mask(&tail[..h], db);
    db[0] &= top_mask(bits);
    Some(em)
}

/// Whether the encoded message belongs to this hash value and has a salt of one of these lengths. The arguments are
/// public.
pub(crate) fn verify(
    (hash, mgf): (Hash, Hash),
    value: &[u8],
    salts: &RangeInclusive<usize>,
    em: &[u8],
    bits: usize,
) -> bool {
    let (h, len) = (hash.len(), bits.div_ceil(8));
    if em.len() != len || len < h + 2 || em[len - 1] != TRAILER || em[0] & !top_mask(bits) != 0 {
        return false;
    }
    let (db, tail) = em.split_at(len - h - 1);
    let mut db = db.to_vec();
    mgf.mask(&tail[..h], &mut db);
    db[0] &= top_mask(bits);
    let Some(one) = db.iter().position(|byte| *byte != 0) else { return false };
    let found = &db[one + 1..];
    db[one] == 1 && salts.contains(&found.len()) && bool::from(hash.digest(&[&[0; 8], value, found]).ct_eq(&tail[..h]))
}

/// Mask of the bits that the first byte of a number of `bits` bits may use.
const fn top_mask(bits: usize) -> u8 {
    0xff >> (bits.div_ceil(8) * 8 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: RangeInclusive<usize> = 0..=usize::MAX;

    #[test]
    fn only_encoded_messages_verify() {
        for (hash, mgf) in Hash::ALL.into_iter().zip(Hash::ALL).chain([(Hash::Sha256, Hash::Sha1)]) {
            let (scheme, value) = ((hash, mgf), hash.digest(&[b"message"]));
            // Every position of the top bit in its byte. If bits = 1 modulo 8, the block has one byte less than the
            // modulus.
            for bits in 1023..1031usize {
                for salt in [0, 1, hash.len(), bits.div_ceil(8) - hash.len() - 2] {
                    let salt = vec![7; salt];
                    let Some(em) = encode(scheme, &value, &salt, bits) else {
                        assert!(bits < 8 * (hash.len() + salt.len()) + 9);
                        continue;
                    };
                    assert!(verify(scheme, &value, &ANY, &em, bits));
                    assert!(verify(scheme, &value, &(salt.len()..=salt.len()), &em, bits));
                    assert!(!verify(scheme, &value, &(salt.len() + 1..=usize::MAX), &em, bits));
                    assert!(!verify(scheme, &hash.digest(&[b"other"]), &ANY, &em, bits));
                    assert!(!verify((hash, Hash::Sha3_384), &value, &ANY, &em, bits) || mgf == Hash::Sha3_384);
                }
                assert!(encode(scheme, &value, &vec![0; bits.div_ceil(8) - hash.len() - 1], bits).is_none());
            }
        }
    }

    #[test]
    fn every_bit_of_the_block_counts() {
        let (scheme, bits) = ((Hash::Sha256, Hash::Sha256), 1021);
        let value = Hash::Sha256.digest(&[b"message"]);
        let em = encode(scheme, &value, b"salt", bits).unwrap();
        for bit in 0..8 * em.len() {
            let mut em = em.clone();
            em[bit / 8] ^= 1 << (bit % 8);
            assert!(!verify(scheme, &value, &ANY, &em, bits), "bit {bit}");
        }
        assert!(!verify(scheme, &value, &ANY, &em[1..], bits) && !verify(scheme, &value, &ANY, &[], bits));
    }
}
