//! EME-OAEP (RFC 8017, 7.1): `EM = 0 | seed ^ mask | (hash of the label | 0..0 | 1 | message) ^ mask`.

use crate::Hash;
use rand_core::RngCore;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

/// Encodes a message in `k` bytes. The result is below every modulus of `k` bytes. Returns `None` if the message is
/// longer than `k - 2 hash - 2` bytes.
pub(crate) fn encode(
    (hash, mgf, label): (Hash, Hash, &[u8]),
    message: &[u8],
    k: usize,
    rng: &mut impl RngCore,
) -> Option<Zeroizing<Vec<u8>>> {
    let h = hash.len();
    let one = k.checked_sub(message.len() + 1).filter(|one| *one > 2 * h)?;
    let mut em = Zeroizing::new(vec![0; k]);
    em[one] = 1;
    em[one + 1..].copy_from_slice(message);
    em[h + 1..=2 * h].copy_from_slice(&hash.digest(&[label]));
    let (seed, db) = em[1..].split_at_mut(h);
    rng.fill_bytes(seed);
    mgf.mask(seed, db);
    mgf.mask(db, seed);
    Some(em)
}

/// Decodes a block to its message. Returns `None` if the block is malformed. The time depends on the length of the
/// block and on whether it is well-formed. If it is, the time also depends on the length of the message.
pub(crate) fn decode(
    (hash, mgf, label): (Hash, Hash, &[u8]),
    mut em: Zeroizing<Vec<u8>>,
) -> Option<Zeroizing<Vec<u8>>> {
    let h = hash.len();
    if em.len() < 2 * h + 2 {
        return None;
    }
    let (first, rest) = em.split_at_mut(1);
    let (seed, db) = rest.split_at_mut(h);
    mgf.mask(db, seed);
    mgf.mask(seed, db);
    let mut valid = first.ct_eq(&[0]) & db[..h].ct_eq(&hash.digest(&[label]));
    // Index of the first 1 that only zeros precede.
    let (mut found, mut one) = (Choice::from(0), 0u32);
    for (i, byte) in (h as u32..).zip(&db[h..]) {
        let is_one = byte.ct_eq(&1);
        one.conditional_assign(&i, is_one & !found);
        found |= is_one;
        valid &= found | byte.ct_eq(&0);
    }
    valid &= found;
    bool::from(valid).then(|| Zeroizing::new(db[one as usize + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_schemes::Entropy;
    use solinas_schemes::random::SecretSeed;

    const K: usize = 128;

    #[test]
    fn decoding_gives_the_message_back_up_to_the_capacity() {
        let mut rng = SecretSeed::new(Entropy::Insecure(1)).unwrap().stream(0);
        for hash in Hash::ALL.into_iter().filter(|hash| 2 * hash.len() + 2 <= K) {
            for mgf in Hash::ALL {
                for len in [0, 1, K - 2 * hash.len() - 3, K - 2 * hash.len() - 2] {
                    let message: Vec<u8> = (0..len as u8).collect();
                    let em = encode((hash, mgf, b"label"), &message, K, &mut rng).unwrap();
                    assert_eq!((em.len(), em[0]), (K, 0));
                    assert_eq!(*decode((hash, mgf, b"label"), em.clone()).unwrap(), message);
                    assert!(decode((hash, mgf, b"other"), em).is_none());
                }
                assert!(encode((hash, mgf, b""), &vec![0; K - 2 * hash.len() - 1], K, &mut rng).is_none());
            }
        }
    }

    #[test]
    fn every_bit_of_the_frame_counts() {
        let scheme = (Hash::Sha256, Hash::Sha256, &b""[..]);
        let mut rng = SecretSeed::new(Entropy::Insecure(2)).unwrap().stream(0);
        let em = encode(scheme, b"message", K, &mut rng).unwrap();
        for bit in 0..8 * K {
            let mut em = em.clone();
            em[bit / 8] ^= 1 << (bit % 8);
            // A change of the masked message changes the seed, and so the whole block.
            assert!(decode(scheme, em).is_none(), "bit {bit}");
        }
        assert!(decode(scheme, Zeroizing::new(vec![0; 65])).is_none());
    }

    #[test]
    fn a_block_without_the_one_is_refused() {
        let scheme = (Hash::Sha256, Hash::Sha256, &b""[..]);
        let mut em = Zeroizing::new(vec![0; K]);
        em[33..65].copy_from_slice(&Hash::Sha256.digest(&[b""]));
        let (seed, db) = em[1..].split_at_mut(32);
        Hash::Sha256.mask(seed, db);
        Hash::Sha256.mask(db, seed);
        assert!(decode(scheme, em).is_none());
    }
}
