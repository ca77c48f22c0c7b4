//! BGV keys and ciphertexts from ubgvsted bytes: typed errors, never a panic; what is accepted is written back the same.

use std::sync::LazyLock;

use solinas_formats::{Expect, Header, KeyId, Kind, Memory, Reader, Writer, bgv};
use solinas_runtime::{Ciphertext, ClientKey, Control, KeygenOptions, Plain, Program, Scheme, Server, Type, keygen};
use solinas_schemes::bgv::{Params, ParamsLiteral};

use super::container::reseal;

/// Small ones of bits and of slots: files of client key, server key and a ciphertext, and what works with them.
struct Keys {
    files: Vec<Vec<u8>>,
    client: ClientKey,
    server: Server,
    ty: Type,
}

static KEYS: LazyLock<Vec<Keys>> = LazyLock::new(|| {
    [("bits-16-2", Type::Uint(2)), ("slots-16-1", Type::Mod(65537))]
        .into_iter()
        .filter_map(|(params, ty)| keys(params, ty).ok())
        .collect()
});

fn keys(params: &str, ty: Type) -> Result<Keys, solinas_runtime::Error> {
    let options = KeygenOptions {
        scheme: Scheme::Bgv,
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(1),
        ..Default::default()
    };
    let (client, key) = keygen(&options, &Control::default())?;
    let x = client.encrypt(&Plain::new(ty, Some(vec![2]), vec![1, 0])?)?;
    let files = vec![client.to_bytes()?.to_vec(), key.to_bytes()?, x.to_bytes()?];
    Ok(Keys { files, client, server: Server::new(&key, Some(1))?, ty })
}

/// Reads the bytes as they are, with the header's checksum made right, and as a list of changes to a file of which all checksums are right.
pub fn run(data: &[u8]) {
    for bytes in [Some(data.to_vec()), reseal(data), altered(data)].into_iter().flatten() {
        check(&bytes);
    }
}

/// Each file, and lists of changes.
pub fn seeds() -> Vec<Vec<u8>> {
    let none = (0..6u8).map(|file| vec![file]);
    let files = none.clone().filter_map(|changes| altered(&changes));
    let changes =
        [vec![0, 2, 0, 0, 1], vec![1, 2, 4, 0, 255], vec![2, 2, 1, 0, 9], vec![4, 3, 0, 0, 1], vec![5, 9, 7, 0, 2]];
    files.chain(none).chain(changes).collect()
}

fn check(bytes: &[u8]) {
    let Ok(reader) = Reader::from_bytes("fuzz", bytes, Expect::any()) else { return };
    let small = |params: &Params| params.dimension() <= 256 && params.levels() <= 10;
    // Larger ones take too long.
    if !bgv::params(&reader).as_ref().is_ok_and(small) {
        return;
    }
    let copy = match reader.kind() {
        Kind::ClientKey => bgv::read_client(&reader).ok().map(|key| {
            let header = bgv::client_header(&key).expect("a key's header");
            written(header, |writer| bgv::write_client(writer, &key))
        }),
        Kind::ServerKey => bgv::read_server(&reader).ok().map(|key| {
            let header = bgv::server_header(&key).expect("a key's header");
            written(header, |writer| bgv::write_server(writer, &key))
        }),
        Kind::Ciphertext => return check_ciphertext(bytes),
        _ => bgv::read_public(&reader).ok().map(|key| {
            let header = bgv::public_header(&key).expect("a key's header");
            written(header, |writer| bgv::write_public(writer, &key))
        }),
    };
    let Some(copy) = copy else { return };
    let again = Reader::from_bytes("copy", copy, Expect::any()).expect("what was written can be read");
    assert!(bgv::read_public(&again).expect("a key") == bgv::read_public(&reader).expect("a key"));
    for (name, _) in again.sections() {
        assert_eq!(again.section(name).expect("whole"), reader.section(name).expect("checked"), "{name}");
    }
}

/// It is decrypted and computed on, or a typed error says why not.
fn check_ciphertext(bytes: &[u8]) {
    let Ok(x) = Ciphertext::from_bytes(bytes) else { return };
    let again = Ciphertext::from_bytes(&x.to_bytes().expect("memory is large enough")).expect("what was written");
    assert_eq!(again, x);
    let _ = x.condition();
    for keys in KEYS.iter() {
        let _ = keys.client.decrypt(&x);
        if x.len() > 4 {
            continue;
        }
        let programs = [
            Program::from_op("add", &[keys.ty, keys.ty]),
            Program::from_op("dot", &[keys.ty, keys.ty]),
            Program::rotation(keys.ty, 1),
        ];
        for program in programs.into_iter().flatten() {
            let inputs = vec![x.clone(); program.inputs.len()];
            let _ = keys.server.run(&program, &inputs, &Control::default());
        }
    }
}

fn written(header: Header, write: impl FnOnce(&mut Writer<Memory>) -> Result<(), solinas_formats::Error>) -> Vec<u8> {
    let mut writer = Writer::in_memory(header);
    write(&mut writer).expect("memory is large enough");
    writer.into_bytes().expect("a small header").to_vec()
}

/// The file that the first byte tells, with changes of four bytes: where, a place (two bytes) and a value.
fn altered(data: &[u8]) -> Option<Vec<u8>> {
    let (&file, changes) = data.split_first()?;
    let keys = KEYS.get(usize::from(file) / 3 % KEYS.len().max(1))?;
    let reader = Reader::from_bytes("seed", keys.files[usize::from(file) % 3].clone(), Expect::any()).ok()?;
    let mut literal: ParamsLiteral = reader.params().ok()?;
    let mut sections = Vec::new();
    for (name, _) in reader.sections() {
        sections.push((name.to_owned(), reader.section(name).ok()?.to_vec()));
    }
    let mut id = reader.key_id().ok()?.0;
    let about = reader.header();
    for change in changes.chunks_exact(4) {
        let (place, value) = (usize::from(change[1]) | usize::from(change[2]) << 8, change[3]);
        match usize::from(change[0]) % 12 {
            i if i < sections.len() => {
                let bytes = &mut sections[i].1;
                match place.checked_rem(bytes.len() + 2) {
                    Some(at) if at < bytes.len() => bytes[at] ^= value,
                    Some(at) if at == bytes.len() => bytes.truncate(usize::from(value)),
                    _ => bytes.resize(bytes.len() + usize::from(value), 0xff),
                }
            }
            5 => id[place % 32] ^= value,
            6 => literal.name = if value & 1 == 0 { "mine".into() } else { "bits-32-2".into() },
            7 => literal.dimension = place,
            8 => literal.depth = usize::from(value),
            9 => literal.plaintext_modulus = place as u64,
            10 => literal.bits = (value & 1 == 0).then_some(u32::from(value) / 2),
            _ => literal.terms = u32::from(value),
        }
    }
    let header = Header::new(reader.kind()).scheme(bgv::SCHEME).params(&literal).ok()?.key_id(KeyId(id));
    let mut header = header.insecure_seed(about.insecure_seed);
    for (field, meta) in &about.meta {
        header = header.meta(field, meta).ok()?;
    }
    let mut writer = Writer::in_memory(header);
    for (name, bytes) in &sections {
        writer.section(name, bytes).ok()?;
    }
    writer.into_bytes().ok().map(|bytes| bytes.to_vec())
}
