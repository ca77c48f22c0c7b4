//! LWE keys and ciphertexts from untrusted bytes: typed errors, never a panic; what is accepted is written back the same.

use std::sync::LazyLock;

use solinas_formats::{Expect, Header, Kind, Reader, lwe};
use solinas_runtime::{Scheme, Type};
use solinas_schemes::lwe::leveled::{Params, ParamsLiteral};

use super::leveled::{self, Change, Keys, written};

/// With products, and without.
static KEYS: LazyLock<Vec<Keys>> = LazyLock::new(|| {
    let sets = ["leveled-8-1", "leveled-4-2", "toy-16-2"].map(|params| (params, Type::Uint(2)));
    leveled::keys(Scheme::Lwe, &sets)
});

/// Reads the bytes as they are, with the header's checksum made right, and as a list of changes to a file of which all checksums are right.
pub fn run(data: &[u8]) {
    leveled::inputs(data, altered).for_each(|bytes| check(&bytes));
}

/// Each file, and lists of changes.
pub fn seeds() -> Vec<Vec<u8>> {
    leveled::seeds(&KEYS, altered)
}

fn check(bytes: &[u8]) {
    let Ok(reader) = Reader::from_bytes("fuzz", bytes, Expect::any()) else { return };
    let small = |params: &Params| params.switch_bytes() <= 1 << 22 && params.fresh().samples() <= 1 << 12;
    // Larger ones take too long.
    if !lwe::params(&reader).as_ref().is_ok_and(small) {
        return;
    }
    let copy = match reader.kind() {
        Kind::ClientKey => {
            let Ok(key) = lwe::read_client(&reader) else { return };
            written(lwe::client_header(&key), |writer| lwe::write_client(writer, &key))
        }
        Kind::ServerKey => {
            let Ok(key) = lwe::read_server(&reader) else { return };
            written(lwe::server_header(&key), |writer| lwe::write_server(writer, &key))
        }
        Kind::Ciphertext => return leveled::check_ciphertext(bytes, &KEYS),
        _ => {
            let Ok(key) = lwe::read_public(&reader) else { return };
            written(lwe::public_header(&key), |writer| lwe::write_public(writer, &key))
        }
    };
    let public = |reader: &Reader| lwe::read_public(reader).expect("a key");
    leveled::check_copy(&reader, copy, |again, reader| public(again) == public(reader));
}

/// The file that the first byte tells, changed.
fn altered(data: &[u8]) -> Option<Vec<u8>> {
    leveled::altered(data, &KEYS, |reader, changes| {
        let mut literal: ParamsLiteral = reader.params().ok()?;
        changes.iter().for_each(|&change| alter(&mut literal, change));
        Header::new(reader.kind()).scheme(lwe::SCHEME).params(&literal).ok()
    })
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
