//! Implicit rejection (draft-irtf-cfrg-rsa-guidance, section 7), as in OpenSSL 3.2: a message that replaces a malformed
//! one.
//!
//! If the padding of a ciphertext is wrong, decryption returns a message that looks random. Key and ciphertext
//! determine the message. The answer therefore does not tell that the padding was wrong, which Bleichenbacher's attack
//! (1998) needs.

use crate::Hash;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{ConditionallySelectable, ConstantTimeLess};
use zeroize::{Zeroize, Zeroizing};

/// Number of candidate lengths drawn. The last one in range is used.
const DRAWS: usize = 128;
/// Bytes of a block that cannot belong to the message: 0, 2 and eight random ones. The draft does not count the zero
/// that ends them.
const FRAME: usize = 10;

/// A block of the modulus' length whose last bytes are the message.
pub(crate) struct Alternative {
    pub(super) block: Zeroizing<Vec<u8>>,
    /// Index at which the message begins.
    pub(super) start: u32,
}

impl Drop for Alternative {
    fn drop(&mut self) {
        self.start.zeroize();
    }
}

impl Alternative {
    /// Derives the alternative for a ciphertext from the private exponent. Both are padded to the length of the modulus
    /// in bytes.
    pub(crate) fn new(exponent: &[u8], ciphertext: &[u8]) -> Self {
        let key = hmac(&Hash::Sha256.digest(&[exponent]), &[ciphertext]);
        let k = ciphertext.len();
        let lengths = prf(&*key, b"length", 2 * DRAWS);
        let most = k.saturating_sub(FRAME) as u32;
        // Mask of the bits that a length below `most` can have.
        let mask = u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        let mut len = 0u32;
        for draw in lengths.chunks_exact(2) {
            let draw = u32::from(draw[0]) << 8 | u32::from(draw[1]);
            len.conditional_assign(&(draw & mask), (draw & mask).ct_lt(&most));
        }
        Self { block: prf(&*key, b"message", k), start: k as u32 - len }
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    // HMAC pads a key that is shorter than the block of SHA-256 with zeros (RFC 2104).
    let mut block = Zeroizing::new([0; 64]);
    block[..key.len()].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&(*block).into());
    parts.iter().for_each(|part| mac.update(part));
    Zeroizing::new(mac.finalize().into_bytes().into())
}

/// Returns `len` pseudorandom bytes for a key of 32 bytes and a label. Range: `len` in `0..8192`.
fn prf(key: &[u8], label: &[u8], len: usize) -> Zeroizing<Vec<u8>> {
    let bits = ((8 * len) as u16).to_be_bytes();
    let mut out = Zeroizing::new(vec![0; len]);
    for (counter, chunk) in (0u16..).zip(out.chunks_mut(32)) {
        chunk.copy_from_slice(&hmac(key, &[&counter.to_be_bytes(), label, &bits])[..chunk.len()]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_is_that_of_rfc_4231() {
        let mac = hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(mac[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
    }

    #[test]
    fn messages_are_repeated_and_have_every_length() {
        let (k, mut lengths) = (64, std::collections::BTreeSet::new());
        for i in 0..2000u16 {
            let mut ciphertext = vec![0; k];
            ciphertext[..2].copy_from_slice(&i.to_be_bytes());
            let [one, same, other] = [(&[1; 64], &ciphertext), (&[1; 64], &ciphertext), (&[2; 64], &ciphertext)]
                .map(|(d, c)| Alternative::new(d, c));
            assert_eq!((&one.block, one.start), (&same.block, same.start));
            assert_ne!(one.block, other.block);
            lengths.insert(k - one.start as usize);
        }
        assert_eq!(lengths, (0..k - FRAME).collect());
    }
}
