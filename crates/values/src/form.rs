//! The form of a ciphertext, and how far operations can go on with it.

use crate::Type;
use serde::{Deserialize, Serialize};

/// The encoding of an element in ciphertexts of the scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One bit in each ciphertext.
    Bits,
    /// Two bits in each ciphertext, for lookup tables.
    Radix,
    /// Integers modulo a prime; a ciphertext holds as many as it has slots.
    Slots,
}

impl Form {
    /// Number of bits that a block holds. For slots, a block holds the whole number.
    pub fn bits_per_block(self) -> usize {
        match self {
            Self::Bits => 1,
            Self::Radix => 2,
            Self::Slots => usize::BITS as usize,
        }
    }

    /// Number of blocks of an element.
    pub fn blocks(self, ty: Type) -> usize {
        ty.width().div_ceil(self.bits_per_block())
    }

    /// Name of the form.
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

/// The remaining capacity of a ciphertext whose noise grows, taken from its worst part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Condition {
    /// Number of bits by which the noise may still grow.
    pub margin: f64,
    /// Number of sequential products that the ciphertext allows (NTRU, BGV, LWE).
    pub products: Option<usize>,
    /// Whether the server can compute on it.
    pub usable: bool,
}
