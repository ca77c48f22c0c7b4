//! Code shared by the targets for files of leveled schemes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use solinas_engine::{Ciphertext, ClientKey, Control, Error, KeygenOptions, Plain, Program, Server, Type, Work};
use solinas_formats::{Destination, Expect, Header, KeyFiles, KeyId, Kind, Reader, Result, Writer};

use super::container::reseal;

/// Files of a client key, a server key and a ciphertext under small parameters, and the functions that use them.
pub(super) struct Keys {
    files: Vec<Vec<u8>>,
    client: ClientKey,
    server: Server,
    ty: Type,
}

/// Files for parameter sets that hold the given types.
pub(super) fn keys(scheme: &str, sets: &[(&str, Type)]) -> Vec<Keys> {
    let make = |&(params, ty): &(&str, Type)| -> std::result::Result<Keys, Error> {
        let options = KeygenOptions {
            scheme: scheme.parse()?,
            params: Some(params.into()),
            rotations: ty.modulus().is_some(),
            research: true,
            insecure_seed: Some(1),
            ..Default::default()
        };
        let (client, key) = solinas_engine::keygen(&options, &Control::default())?;
        let x = client.encrypt(&Plain::new(ty, Some(vec![2]), vec![1, 0])?)?;
        let files = vec![client.to_bytes()?.to_vec(), key.to_bytes()?, x.to_bytes()?];
        Ok(Keys { files, client, server: Server::new(&key, Some(1))?, ty })
    };
    sets.iter().map(|set| make(set).expect("keys of a small set")).collect()
}

/// The bytes unchanged, with a corrected header checksum, and as a list of changes to a file whose checksums are all corrected.
pub(super) fn inputs(data: &[u8], altered: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> impl Iterator<Item = Vec<u8>> {
    [Some(data.to_vec()), reseal(data), altered(data)].into_iter().flatten()
}

/// Each file, and lists of changes.
pub(super) fn seeds(keys: &[Keys], altered: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let none = (0..3 * keys.len() as u8).map(|file| vec![file]);
    let files = none.clone().filter_map(|changes| altered(&changes));
    let changes = [[0, 0, 0, 0, 1], [1, 1, 4, 0, 255], [2, 2, 1, 0, 9], [4, 3, 0, 0, 1], [5, 9, 7, 0, 2]];
    files.chain(none.clone()).chain(changes.map(Vec::from)).collect()
}

/// A change of the parameters: the parameter, an offset and a value.
pub(super) type Change = (usize, usize, u8);

/// The file that the first byte selects, with changes of four bytes each: the part of the file, an offset (two bytes) and a value. `alter` changes parameters.
pub(super) fn altered<L: Serialize + DeserializeOwned>(
    data: &[u8],
    keys: &[Keys],
    alter: impl Fn(&mut L, Change),
) -> Option<Vec<u8>> {
    let (&file, changes) = data.split_first()?;
    let keys = keys.get(usize::from(file) / 3 % keys.len().max(1))?;
    let reader = Reader::from_bytes("seed", keys.files[usize::from(file) % 3].clone(), Expect::any()).ok()?;
    let mut sections = Vec::new();
    for (name, _) in reader.sections() {
        sections.push((name.to_owned(), reader.section(name).ok()?.to_vec()));
    }
    let (mut id, mut of_params) = (reader.key_id().ok()?.0, Vec::new());
    for change in changes.chunks_exact(4) {
        let (place, value) = (usize::from(change[1]) | usize::from(change[2]) << 8, change[3]);
        match usize::from(change[0]) % 14 {
            i if i < sections.len() => {
                let bytes = &mut sections[i].1;
                match place.checked_rem(bytes.len() + 2) {
                    Some(at) if at < bytes.len() => bytes[at] ^= value,
                    Some(at) if at == bytes.len() => bytes.truncate(usize::from(value)),
                    _ => bytes.resize(bytes.len() + usize::from(value), 0xff),
                }
            }
            0..=5 => id[place % 32] ^= value,
            which => of_params.push((which - 6, place, value)),
        }
    }
    let mut literal: L = reader.params().ok()?;
    of_params.into_iter().for_each(|change| alter(&mut literal, change));
    let header = reader.header().clone().params(&literal).ok()?.key_id(KeyId(id));
    let mut writer = Writer::in_memory(header);
    for (name, bytes) in &sections {
        writer.section(name, bytes).ok()?;
    }
    writer.into_bytes().ok().map(|bytes| bytes.to_vec())
}

/// An accepted key is written with the sections from which it was read. An accepted ciphertext is computed on. Larger parameters than `small` take too long.
pub(super) fn check<S: KeyFiles<PublicKey: PartialEq>>(
    bytes: &[u8],
    keys: &[Keys],
    small: impl FnOnce(&S::Params) -> bool,
) {
    let Ok(reader) = Reader::from_bytes("fuzz", bytes, Expect::any()) else { return };
    if !S::read_params(&reader).is_ok_and(|params| small(&params)) {
        return;
    }
    if reader.kind() == Kind::Ciphertext {
        check_ciphertext(bytes, keys);
    } else {
        check_key::<S>(&reader);
    }
}

/// An accepted key is written with the sections from which it was read.
pub(super) fn check_key<S: KeyFiles<PublicKey: PartialEq>>(reader: &Reader) {
    let copy = match reader.kind() {
        Kind::ClientKey => {
            S::read_client(reader).map(|key| written(S::client_header(&key), |to| S::write_client(to, &key)))
        }
        Kind::ServerKey => {
            S::read_server(reader).map(|key| written(S::server_header(&key), |to| S::write_server(to, &key)))
        }
        _ => S::read_public(reader).map(|key| written(S::public_header(&key), |to| S::write_public(to, &key))),
    };
    let Ok(copy) = copy else { return };
    let again = Reader::from_bytes("copy", copy, Expect::any()).expect("what was written can be read");
    assert!(S::read_public(&again).expect("a key") == S::read_public(reader).expect("a key"));
    for (name, _) in again.sections() {
        assert_eq!(again.section(name).expect("whole"), reader.section(name).expect("checked"), "{name}");
    }
}

fn written(header: Result<Header>, write: impl FnOnce(&mut Writer<dyn Destination>) -> Result<()>) -> Vec<u8> {
    let mut writer = Writer::in_memory(header.expect("a key's header"));
    write(&mut writer).expect("memory is large enough");
    writer.into_bytes().expect("a small header").to_vec()
}

/// A ciphertext is decrypted and computed on, or gives a typed error.
pub(super) fn check_ciphertext(bytes: &[u8], keys: &[Keys]) {
    let Ok(x) = Ciphertext::from_bytes(bytes) else { return };
    let again = Ciphertext::from_bytes(&x.to_bytes().expect("memory is large enough")).expect("what was written");
    assert_eq!(again, x);
    let _ = x.condition();
    for Keys { client, server, ty, .. } in keys {
        let _ = client.decrypt(&x);
        if x.len() > 4 {
            continue;
        }
        let pair = [*ty, *ty];
        let programs = [Program::from_op("add", &pair), Program::from_op("dot", &pair), Program::rotation(*ty, 1)];
        for program in programs.into_iter().flatten() {
            let inputs = vec![x.clone(); program.inputs.len()];
            let _ = server.run(Work::program(&program, &inputs), &Control::default());
        }
    }
}
