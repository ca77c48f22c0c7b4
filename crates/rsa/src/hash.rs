//! The hash functions of paddings and signatures.

use der::oid::{AssociatedOid, ObjectIdentifier};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use sha3::{Sha3_256, Sha3_384, Sha3_512};
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroize;

/// A hash function of FIPS 180-4 or FIPS 202.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Hash {
    /// SHA-1. Collisions of it are known, so it is allowed for OAEP alone, whose security does not need collision
    /// resistance.
    Sha1,
    /// SHA-256.
    #[default]
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
}

/// Evaluates `$body` with `$D` as the type that implements `$hash`. The type has the name of the variant.
macro_rules! with_type {
    ($hash:expr, $D:ident => $body:expr) => {
        with_type!($hash, $D => $body, Sha1 Sha256 Sha384 Sha512 Sha3_256 Sha3_384 Sha3_512)
    };
    ($hash:expr, $D:ident => $body:expr, $($name:ident)*) => {
        match $hash {
            $(Hash::$name => {
                type $D = $name;
                $body
            })*
        }
    };
}

/// A hash value of up to 64 bytes. It is wiped on drop, because some values mask secrets.
pub(super) struct Digest {
    bytes: [u8; 64],
    len: usize,
}

impl Drop for Digest {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl std::ops::Deref for Digest {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Hash {
    /// Every hash function.
    pub const ALL: [Self; 7] =
        [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512, Self::Sha3_256, Self::Sha3_384, Self::Sha3_512];

    /// Bytes of a hash value.
    pub const fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 | Self::Sha3_256 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 => 64,
        }
    }

    /// Always false: no hash value is empty.
    pub const fn is_empty(self) -> bool {
        false
    }

    /// The name that the command line and `openssl` accept, such as `sha256` and `sha3-256`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
            Self::Sha3_256 => "sha3-256",
            Self::Sha3_384 => "sha3-384",
            Self::Sha3_512 => "sha3-512",
        }
    }

    /// Whether signatures may use the function: no collision of it is known.
    pub const fn signs(self) -> bool {
        !matches!(self, Self::Sha1)
    }

    /// The hash of the concatenated parts.
    pub(super) fn digest(self, parts: &[&[u8]]) -> Digest {
        fn run<D: sha2::Digest>(parts: &[&[u8]]) -> Digest {
            let mut hasher = D::new();
            parts.iter().for_each(|part| hasher.update(part));
            let (mut bytes, value) = ([0; 64], hasher.finalize());
            bytes[..value.len()].copy_from_slice(&value);
            Digest { bytes, len: value.len() }
        }
        with_type!(self, D => run::<D>(parts))
    }

    /// The object identifier of the function.
    pub(super) const fn oid(self) -> ObjectIdentifier {
        with_type!(self, D => <D as AssociatedOid>::OID)
    }

    /// DER of `DigestInfo` up to, but without, the hash value (RFC 8017, 9.2, note 1).
    pub(super) fn digest_info(self) -> Vec<u8> {
        // SEQUENCE { SEQUENCE { OID, NULL }, OCTET STRING }
        let (oid, value) = (self.oid(), self.len() as u8);
        let oid = oid.as_bytes();
        let len = oid.len() as u8;
        [&[0x30, len + value + 8, 0x30, len + 4, 6, len], oid, &[5, 0, 4, value]].concat()
    }

    /// `out <- out xor MGF1(seed)` (RFC 8017, B.2.1).
    pub(super) fn mask(self, seed: &[u8], out: &mut [u8]) {
        for (counter, block) in (0u32..).zip(out.chunks_mut(self.len())) {
            let mask = self.digest(&[seed, &counter.to_be_bytes()]);
            block.iter_mut().zip(mask.iter()).for_each(|(byte, mask)| *byte ^= mask);
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
            Self::Sha3_256 => "SHA3-256",
            Self::Sha3_384 => "SHA3-384",
            Self::Sha3_512 => "SHA3-512",
        })
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |name: &str| name.to_lowercase().replace('-', "");
        let found = Self::ALL.into_iter().find(|hash| plain(hash.name()) == plain(text));
        found.ok_or_else(|| {
            let all = Self::ALL.map(Self::name).join(", ");
            format!("there is no hash function {text:?}; choose one of {all}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standards() {
        let start = |hash: Hash| u32::from_be_bytes(hash.digest(&[b"a", b"bc"])[..4].try_into().unwrap());
        // The examples for "abc" of FIPS 180-4 and FIPS 202.
        let expected = [0xa999_3e36, 0xba78_16bf, 0xcb00_753f, 0xddaf_35a1, 0x3a98_5da7, 0xec01_4982, 0xb751_850b];
        assert_eq!(Hash::ALL.map(start), expected);
        assert!(Hash::ALL.iter().all(|hash| hash.digest(&[]).len() == hash.len() && !hash.is_empty()));
    }

    #[test]
    fn names_are_read_with_and_without_dash() {
        assert!(Hash::ALL.into_iter().all(|hash| hash.name().parse() == Ok(hash)));
        assert!(Hash::ALL.into_iter().all(|hash| hash.to_string().parse() == Ok(hash)));
        assert!("md5".parse::<Hash>().unwrap_err().contains("sha256"));
    }

    #[test]
    fn digest_info_is_that_of_rfc_8017() {
        let sha256 = [0x30, 0x31, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 32];
        assert_eq!(Hash::Sha256.digest_info(), sha256);
        let sha1 = [0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 14, 3, 2, 26, 5, 0, 4, 20];
        assert_eq!(Hash::Sha1.digest_info(), sha1);
        // The last arcs of the object identifiers of FIPS 202's hash functions (NIST's register of algorithms).
        let arc = |hash: Hash| hash.digest_info()[14];
        assert_eq!([Hash::Sha3_256, Hash::Sha3_384, Hash::Sha3_512].map(arc), [8, 9, 10]);
    }

    #[test]
    fn masks_continue_block_by_block() {
        let mut long = [0; 100];
        Hash::Sha256.mask(b"seed", &mut long);
        assert_eq!(long[..32], *Hash::Sha256.digest(&[b"seed", &[0; 4]]));
        assert_eq!(long[96..], Hash::Sha256.digest(&[b"seed", &[0, 0, 0, 3]])[..4]);
    }
}
