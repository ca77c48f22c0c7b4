//! Gentry-Halevi keys and checkpoints from untrusted bytes. A reader returns typed errors and never panics. Accepted input is written back unchanged.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use solinas_formats::gh::{self, Gh};
use solinas_formats::{Expect, Header, KeyFiles, KeyId, Kind, Reader, Writer};
use solinas_schemes::gh::{
    Arithmetic, ClientKey, EncryptMethod, Encryptor, Evaluator, KeyGeneration, Params, ParamsLiteral, RecryptMethod,
    ServerKey,
};
use solinas_schemes::{Control, Entropy};

use super::leveled;

/// The smallest parameters, so that the target tries many inputs per second.
static KEYS: LazyLock<Option<(ClientKey, ServerKey)>> = LazyLock::new(|| {
    let params = Params::named("ci-3").ok()?;
    gh::keygen(&params, true, Entropy::Insecure(1), None, &Control::default()).ok()
});

const KINDS: [Kind; 5] = [Kind::ClientKey, Kind::ServerKey, Kind::PublicKey, Kind::Checkpoint, Kind::Cache];

/// Reads the bytes unchanged, with a corrected header checksum, and as a list of changes to a file whose checksums are all corrected.
pub fn run(data: &[u8]) {
    leveled::inputs(data, altered).for_each(|bytes| check(&bytes));
}

/// A file of each kind, and lists of changes.
pub fn seeds() -> Vec<Vec<u8>> {
    let none = (0..KINDS.len() as u8).map(|kind| vec![kind]);
    let files = none.clone().filter_map(|changes| altered(&changes));
    let changes = [vec![1, 3, 0, 0, 1], vec![0, 0, 1, 0, 1, 1, 0, 0, 2], vec![3, 9, 1, 0, 32], vec![2, 8, 0, 0, 3]];
    files.chain(none).chain(changes).collect()
}

fn check(bytes: &[u8]) {
    let Ok(reader) = Reader::from_bytes("fuzz", bytes, Expect::any()) else { return };
    match reader.kind() {
        Kind::Checkpoint => check_checkpoint(&reader),
        Kind::Cache => check_caches(&reader),
        _ => leveled::check_key::<Gh>(&reader),
    }
}

/// An accepted checkpoint continues by one step, or gives a typed error.
fn check_checkpoint(reader: &Reader) {
    let Ok(params) = Gh::read_params(reader) else { return };
    // Larger parameters take too long.
    if params.dimension() > 128 || params.coefficient_bits() > 200 {
        return;
    }
    if let Ok(mut generation) = gh::read_checkpoint(reader, &params, true) {
        let before = generation.checkpoint().parts.len();
        let cancel = AtomicBool::new(true);
        let _ = generation.step(&Control { progress: None, cancel: Some(&cancel) });
        assert_eq!(generation.checkpoint().parts.len(), before);
        let _ = generation.step(&Control::default());
    }
}

/// A cache is accepted only if it holds the tables of the key.
fn check_caches(reader: &Reader) {
    let Some((_, server)) = KEYS.as_ref() else { return };
    let (public, memory, arithmetic) = (server.public(), 1 << 30, Arithmetic::default());
    for method in EncryptMethod::ALL {
        if let Ok(encryptor) = gh::read_encryptor(reader, public, method, memory, arithmetic) {
            let new = Encryptor::new(public, method, memory, arithmetic).expect("a small table");
            assert_eq!(encryptor.table(), new.table());
        }
    }
    if let Ok(evaluator) = gh::read_evaluator(reader, server, memory, arithmetic) {
        let new = Evaluator::new(server, RecryptMethod::PairTable, memory, arithmetic).expect("a small table");
        assert_eq!(evaluator.pair_table(), new.pair_table());
    }
}

/// A file of the kind that the first byte selects, with changes of four bytes each: the part of the file, an offset (two bytes) and a value.
fn altered(data: &[u8]) -> Option<Vec<u8>> {
    let (&kind, changes) = data.split_first()?;
    let kind = KINDS[usize::from(kind) % KINDS.len()];
    let (client, server) = KEYS.as_ref()?;
    let public = server.public();
    let mut literal = public.params().literal().clone();
    let padded = |words: &[u64]| {
        let mut words = words.to_vec();
        words.resize(public.words(), 0);
        words
    };
    let lattice = ["denominator", "numerator-0", "numerator-1"].map(|name| (name, vec![1u64; 64]));
    let mut sections = vec![
        ("d", padded(public.d().words())),
        ("r", padded(public.r().words())),
        ("w", padded(client.w().words())),
        ("x", server.x().to_vec()),
        ("indicators", server.indicators().to_vec()),
    ];
    sections.extend(lattice);
    sections.push(("draws", vec![0; public.params().blocks()]));
    if kind == Kind::Cache {
        let encryptor = Encryptor::new(public, EncryptMethod::Table, 1 << 30, Arithmetic::default()).ok()?;
        sections[0] = ("table", encryptor.table()?.to_vec());
    }
    let (mut id, mut dimension) = (server.id().0, 0u64);
    for change in changes.chunks_exact(4) {
        let (place, value) = (usize::from(change[1]) | usize::from(change[2]) << 8, change[3]);
        match usize::from(change[0]) % 17 {
            i @ (0..8 | 16) => {
                let words = &mut sections[i.min(8)].1;
                match place.checked_rem(words.len() + 2) {
                    Some(at) if at < words.len() => words[at] ^= u64::from(value) << (8 * (place % 8)),
                    Some(at) if at == words.len() => words.truncate(usize::from(value)),
                    _ => words.resize(words.len() + usize::from(value), u64::MAX),
                }
            }
            8 => id[place % 32] ^= value,
            9 => dimension = (place as u64) << (value % 64),
            10 => literal.name = if value & 1 == 0 { "mine".into() } else { "ci-7".into() },
            11 => literal.dimension = place,
            12 => literal.coefficient_bits = place,
            13 => literal.blocks = place,
            14 => literal.candidates = (value & 1 == 0).then_some(place),
            15 => literal.nonzeros = Some(place),
            _ => unreachable!("a remainder by 17"),
        }
    }
    forge(kind, &literal, id, dimension, &sections).ok()
}

fn forge(
    kind: Kind,
    literal: &ParamsLiteral,
    id: [u8; 32],
    dimension: u64,
    sections: &[(&str, Vec<u64>)],
) -> Result<Vec<u8>, solinas_formats::Error> {
    let header = Header::new(kind).scheme(Gh::NAME).params(literal)?.key_id(KeyId(id)).insecure_seed(true);
    let mut writer = Writer::in_memory(
        header.meta("attempt", &0)?.meta("dimension", &dimension)?.meta("method", "table")?.meta("layout", &1)?,
    );
    if kind == Kind::Checkpoint {
        writer.section("seed", &[7; 32])?;
    }
    let belongs = |name: &str| match kind {
        Kind::Checkpoint => KeyGeneration::PARTS.contains(&name),
        Kind::ClientKey => matches!(name, "d" | "r" | "w"),
        Kind::ServerKey => matches!(name, "d" | "r" | "x" | "indicators"),
        Kind::Cache => name == "table",
        _ => matches!(name, "d" | "r"),
    };
    for (name, words) in sections.iter().filter(|section| belongs(section.0)) {
        writer.section_u64(name, words)?;
    }
    writer.into_bytes().map(|bytes| bytes.to_vec())
}
