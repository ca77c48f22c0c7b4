//! LWE keys and ciphertexts from untrusted bytes. A reader returns typed errors and never panics. Accepted input is written back unchanged.

use std::sync::LazyLock;

use solinas_engine::Type;
use solinas_schemes::lwe::{Lwe, ParamsLiteral};

use super::leveled::{self, Change, Keys};

/// Parameter sets with products and without.
static KEYS: LazyLock<Vec<Keys>> = LazyLock::new(|| {
    let sets = ["leveled-8-1", "leveled-4-2", "toy-16-2"].map(|params| (params, Type::Uint(2)));
    leveled::keys("lwe", &sets)
});

/// Reads the bytes unchanged, with a corrected header checksum, and as a list of changes to a file whose checksums are all corrected.
pub fn run(data: &[u8]) {
    for bytes in leveled::inputs(data, altered) {
        leveled::check::<Lwe>(&bytes, &KEYS, |params| {
            params.switch_bytes() <= 1 << 22 && params.fresh().samples() <= 1 << 12
        });
    }
}

/// Each file, and lists of changes.
pub fn seeds() -> Vec<Vec<u8>> {
    leveled::seeds(&KEYS, altered)
}

/// The file that the first byte selects, with changes.
fn altered(data: &[u8]) -> Option<Vec<u8>> {
    leveled::altered(data, &KEYS, alter)
}

fn alter(literal: &mut ParamsLiteral, (which, place, value): Change) {
    match which {
        0 => literal.fresh.name = if value & 1 == 0 { "mine".into() } else { "leveled-4-1".into() },
        1 => literal.fresh.dimension = place,
        2 => literal.depth = usize::from(value),
        3 => literal.fresh.samples = place,
        4 => literal.fresh.words = usize::from(value),
        5 => literal.fresh.word_bits = value.into(),
        6 => literal.fresh.sigma = f64::from(value) / 10.0,
        _ => (literal.digit_bits, literal.terms) = (u32::from(value), place as u32),
    }
}
