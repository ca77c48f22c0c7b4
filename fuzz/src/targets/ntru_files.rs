//! NTRU keys and ciphertexts from untrusted bytes: typed errors, never a panic; what is accepted is written back the same.

use std::sync::LazyLock;

use solinas_formats::{Expect, Header, Kind, Reader, ntru};
use solinas_runtime::{Scheme, Type};
use solinas_schemes::ntru::{Params, ParamsLiteral};

use super::leveled::{self, Change, Keys, written};

/// Of bits, of slots that rotate, and that bootstraps.
static KEYS: LazyLock<Vec<Keys>> = LazyLock::new(|| {
    let sets = [("tight-16-2", Type::Uint(2)), ("slots-128-1", Type::Mod(257)), ("boot-64", Type::Uint(1))];
    leveled::keys(Scheme::Ntru, &sets)
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
    let small = |params: &Params| params.dimension() <= 256 && params.levels() <= 10;
    // Larger ones take too long.
    if !ntru::params(&reader).as_ref().is_ok_and(small) {
        return;
    }
    let copy = match reader.kind() {
        Kind::ClientKey => {
            let Ok(key) = ntru::read_client(&reader) else { return };
            written(ntru::client_header(&key), |writer| ntru::write_client(writer, &key))
        }
        Kind::ServerKey => {
            let Ok((key, bootstrap, rotations)) = ntru::read_server(&reader) else { return };
            written(ntru::server_header(&key), |writer| {
                ntru::write_server(writer, &key, bootstrap.as_ref(), rotations.as_ref())
            })
        }
        Kind::Ciphertext => return leveled::check_ciphertext(bytes, &KEYS),
        _ => {
            let Ok(key) = ntru::read_public(&reader) else { return };
            written(ntru::public_header(&key), |writer| ntru::write_public(writer, &key))
        }
    };
    let public = |reader: &Reader| ntru::read_public(reader).expect("a key");
    leveled::check_copy(&reader, copy, |again, reader| public(again) == public(reader));
}

/// The file that the first byte tells, changed.
fn altered(data: &[u8]) -> Option<Vec<u8>> {
    leveled::altered(data, &KEYS, |reader, changes| {
        let mut literal: ParamsLiteral = reader.params().ok()?;
        changes.iter().for_each(|&change| alter(&mut literal, change));
        Header::new(reader.kind()).scheme(ntru::SCHEME).params(&literal).ok()
    })
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
