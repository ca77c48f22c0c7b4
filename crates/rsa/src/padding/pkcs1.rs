//! The paddings of PKCS#1 v1.5.
//!
//! - EME (RFC 8017, 7.2): `EM = 0 | 2 | at least 8 random bytes that are not 0 | 0 | message`.
//! - EMSA (RFC 8017, 9.2): `EM = 0 | 1 | at least 8 bytes 0xff | 0 | DigestInfo`.

use super::rejection::Alternative;
use crate::Hash;
use rand_core::RngCore;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};
use zeroize::Zeroizing;

/// Number of bytes that frame a message: 0, 2, eight random ones, 0.
const FRAME: usize = 11;

/// Encodes a message in `k` bytes. Returns `None` if the message is longer than `k - 11` bytes.
pub(crate) fn encode(message: &[u8], k: usize, rng: &mut impl RngCore) -> Option<Zeroizing<Vec<u8>>> {
    let zero = k.checked_sub(message.len() + 1).filter(|zero| *zero + 1 >= FRAME)?;
    let mut em = Zeroizing::new(vec![0; k]);
    em[1] = 2;
    for byte in &mut em[2..zero] {
        // A byte takes 256/255 draws on average.
        while *byte == 0 {
            rng.fill_bytes(std::slice::from_mut(byte));
        }
    }
    em[zero + 1..].copy_from_slice(message);
    Some(em)
}

/// Decodes a block to its message, or returns the alternative's message if the block is malformed. Both blocks have the
/// same length. The time depends on the length of the block and on the length of the result. It does not depend on
/// which message is returned.
pub(crate) fn decode(em: &[u8], alternative: &Alternative) -> Zeroizing<Vec<u8>> {
    let mut valid = em[..2].ct_eq(&[0, 2]);
    // Index of the first 0 after the first two bytes.
    let (mut found, mut zero) = (Choice::from(0), 0u32);
    for (i, byte) in (2u32..).zip(&em[2..]) {
        let is_zero = byte.ct_eq(&0);
        zero.conditional_assign(&i, is_zero & !found);
        found |= is_zero;
    }
    valid &= found & zero.ct_gt(&(FRAME as u32 - 2));
    let start = u32::conditional_select(&alternative.start, &(zero + 1), valid);
    let select = |(alternative, real)| u8::conditional_select(alternative, real, valid);
    let block: Zeroizing<Vec<u8>> = Zeroizing::new(alternative.block.iter().zip(em).map(select).collect());
    Zeroizing::new(block[start as usize..].to_vec())
}

/// Encodes a hash value in `k` bytes for a signature. Returns `None` if `k` is too small (`k < hash + 30` for SHA-2 and
/// SHA-3).
pub(crate) fn encode_signature(hash: Hash, value: &[u8], k: usize) -> Option<Vec<u8>> {
    let info = hash.digest_info();
    let zero = k.checked_sub(info.len() + value.len() + 1).filter(|zero| *zero >= 10)?;
    let mut em = vec![0xff; k];
    (em[0], em[1], em[zero]) = (0, 1, 0);
    em[zero + 1..zero + 1 + info.len()].copy_from_slice(&info);
    em[zero + 1 + info.len()..].copy_from_slice(value);
    Some(em)
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_schemes::Entropy;
    use solinas_schemes::random::SecretSeed;

    /// The message, or `None` if `decode` returns the alternative.
    fn decoded(em: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let alternative = Alternative::new(&[1; 64], &vec![0; em.len()]);
        let message = decode(em, &alternative);
        (*message != alternative.block[alternative.start as usize..]).then_some(message)
    }

    #[test]
    fn decoding_gives_the_message_back_up_to_the_capacity() {
        let mut rng = SecretSeed::new(Entropy::Insecure(1)).unwrap().stream(0);
        for len in [0, 1, 52, 53] {
            let message = vec![0; len];
            let em = encode(&message, 64, &mut rng).unwrap();
            assert!(em[2..63 - len].iter().all(|byte| *byte != 0));
            assert_eq!(*decoded(&em).unwrap(), message);
        }
        assert!(encode(&[0; 54], 64, &mut rng).is_none() && encode(&[], 10, &mut rng).is_none());
    }

    #[test]
    fn frames_that_are_not_whole_give_the_alternative() {
        let em = |front: &[u8]| [front, &[9; 53][..]].concat();
        assert_eq!(*decoded(&em(&[0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 0])).unwrap(), [9; 53]);
        for front in [
            &[1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 0][..],
            &[0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0],
            &[0, 2, 1, 2, 3, 4, 5, 6, 7, 0, 8, 0],
            &[0, 2, 0, 2, 3, 4, 5, 6, 7, 8, 9, 0],
            &[0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        ] {
            assert!(decoded(&em(front)).is_none(), "{front:?}");
        }
    }

    #[test]
    fn signature_blocks_end_in_the_hash() {
        for hash in Hash::ALL.into_iter().filter(|hash| hash.signs()) {
            let value = hash.digest(&[b"x"]);
            let em = encode_signature(hash, &value, hash.len() + 30).unwrap();
            assert_eq!(em[..12], [0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x30]);
            assert!(em.ends_with(&value));
            assert!(encode_signature(hash, &value, hash.len() + 29).is_none());
        }
    }
}
