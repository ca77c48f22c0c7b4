//! The form of a ciphertext, and how far operations can go on with it.

use crate::Type;
use serde::{Deserialize, Serialize};

/// How the bits of an element lie in ciphertexts of the scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One bit each.
    Bits,
    /// Two bits each, as lookup tables want them.
    Radix,
    /// Integers modulo a prime, as many in one as it has slots.
    Slots,
}

impl Form {
    /// Bits a block holds; of slots the whole of a number.
    pub(crate) fn bits_per_block(self) -> usize {
        match self {
            Self::Bits => 1,
            Self::Radix => 2,
            Self::Slots => 128,
        }
    }

    /// Blocks of an element.
    pub(crate) fn blocks(self, ty: Type) -> usize {
        ty.width().div_ceil(self.bits_per_block())
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Radix => "radix",
            Self::Slots => "slots",
        }
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What is left of a ciphertext that wears out: of the worst of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Condition {
    /// Bits by which the noise may still grow.
    pub margin: f64,
    /// Products in a row that it allows (NTRU, BGV, LWE).
    pub products: Option<usize>,
    /// Whether it can be computed on.
    pub usable: bool,
}
