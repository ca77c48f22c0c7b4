//! Fingerprints: the part of a key id that people compare.

use core::fmt;
use core::str::FromStr;
use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};

use crate::KeyId;

/// Bytes of a fingerprint for people.
const SHORT: usize = 20;
/// Characters of a group.
const GROUP: usize = 4;

/// Crockford's base 32: no letters I, L, O and U.
static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut spec = Specification::new();
    spec.symbols.push_str("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
    spec.translate.from.push_str("abcdefghjkmnpqrstvwxyzilIoLO");
    spec.translate.to.push_str("ABCDEFGHJKMNPQRSTVWXYZ111010");
    spec.ignore.push_str("- ");
    spec.encoding().unwrap_or_else(|_| unreachable!("32 different symbols"))
});

/// The fingerprint of a key pair, by which its owner and others recognise it: the first 160 bits of a [`KeyId`] of version 2, in Crockford's base 32, as 8
/// groups of 4 characters (`7QK3-...`). A text of 64 hexadecimal digits, the whole id, is a fingerprint too: links and pictures can carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fingerprint {
    /// The first 160 bits.
    Short([u8; SHORT]),
    /// The whole id.
    Whole(KeyId),
}

impl KeyId {
    /// The part of the id that people compare.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self)
    }
}

/// A text that is no fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a fingerprint; {help}", help = Self::HELP)]
pub struct NoFingerprint(pub String);

impl NoFingerprint {
    /// The fix.
    pub const HELP: &str = "give 8 groups of 4 letters and digits, such as 7QK3-..., or 64 hexadecimal digits";
}

impl Fingerprint {
    /// The fingerprint of an id, for people.
    pub fn of(id: &KeyId) -> Self {
        let mut bytes = [0; SHORT];
        bytes.copy_from_slice(&id.0[..SHORT]);
        Self::Short(bytes)
    }

    /// Whether this is a fingerprint of the key pair with that id.
    pub fn matches(&self, id: &KeyId) -> bool {
        match self {
            Self::Short(bytes) => id.0.starts_with(bytes),
            Self::Whole(whole) => whole == id,
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = match self {
            Self::Short(bytes) => bytes,
            Self::Whole(id) => return id.fmt(f),
        };
        let text = BASE32.encode(bytes);
        for (i, character) in text.chars().enumerate() {
            if i > 0 && i % GROUP == 0 {
                f.write_str("-")?;
            }
            write!(f, "{character}")?;
        }
        Ok(())
    }
}

/// Upper and lower case count the same, as do O and 0, and I, L and 1. Dashes and spaces do not count.
impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> Result<Self, NoFingerprint> {
        if text.len() == 64
            && let Ok(id) = text.parse()
        {
            return Ok(Self::Whole(id));
        }
        let bytes = BASE32.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self::Short).ok_or_else(|| NoFingerprint(text.chars().take(100).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back_however_people_type_them() {
        let id = KeyId(core::array::from_fn(|i| (i * 37 + 11) as u8));
        let fingerprint = id.fingerprint();
        let text = fingerprint.to_string();
        assert_eq!((text.len(), text.split('-').count()), (39, 8));
        let typed = [text.clone(), text.to_lowercase(), text.replace('-', ""), text.replace('-', " ")];
        let similar = [text.replace('1', "I").replace('0', "O"), text.replace('1', "l").replace('0', "o")];
        for text in typed.into_iter().chain(similar) {
            assert_eq!(text.parse(), Ok(fingerprint), "{text}");
        }
        let whole: Fingerprint = id.to_string().parse().unwrap();
        assert!(fingerprint.matches(&id) && whole.matches(&id));
        for changed in [0, 19] {
            let mut other = id;
            other.0[changed] ^= 1;
            assert!(!fingerprint.matches(&other) && !whole.matches(&other));
        }
        for wrong in ["", "7QK3", &text[1..], &format!("{text}0"), &text.replace('-', "U"), &id.to_string()[1..]] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }
}
