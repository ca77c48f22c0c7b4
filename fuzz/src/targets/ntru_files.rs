//! NTRU keys and ciphertexts from untrusted bytes. A reader returns typed errors and never panics. Accepted input is written back unchanged.

use std::sync::LazyLock;

use solinas_engine::Type;
use solinas_schemes::ntru::Ntru;
use solinas_schemes::ntru::ParamsLiteral;

use super::leveled::{self, Change, Keys};

/// Parameter sets of bits, of slots with rotations, and with bootstrapping.
static KEYS: LazyLock<Vec<Keys>> = LazyLock::new(|| {
    let sets = [("tight-16-2", Type::Uint(2)), ("slots-128-1", Type::Mod(257)), ("boot-64", Type::Uint(1))];
    leveled::keys("ntru", &sets)
});

/// Reads the bytes unchanged, with a corrected header checksum, and as a list of changes to a file whose checksums are all corrected.
pub fn run(data: &[u8]) {
    for bytes in leveled::inputs(data, altered) {
        leveled::check::<Ntru>(&bytes, &KEYS, |params| params.dimension() <= 256 && params.levels() <= 10);
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
        0 => literal.name = if value & 1 == 0 { "mine".into() } else { "tight-32-2".into() },
        1 => literal.dimension = place,
        2 => literal.depth = usize::from(value),
        3 => literal.plaintext_modulus = place as u64,
        4 => literal.bits = (value & 1 == 0).then_some(u32::from(value) / 2),
        _ => literal.terms = u32::from(value),
    }
}
