//! Files of TFHE keys: their parameter sets, and the sections of server keys.

use solinas_formats::tfhe::{
    ServerFile, params, read_server, server_header, short_header, stored_server_bytes, write_server,
};
use solinas_formats::{Expect, Header, KeyId, Kind, Overwrite, Reader, Value, Writer};
use solinas_schemes::tfhe::{ClientKey, PackingKey, Params, ParamsLiteral};
use solinas_schemes::{Control, Entropy};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::common::{file, open};

#[test]
fn numbers_that_the_set_of_that_name_has_not_are_refused() {
    let named = Params::named("gates-128").unwrap().literal().clone();
    let weaker = |change: fn(&mut ParamsLiteral)| {
        let mut literal = named.clone();
        change(&mut literal);
        literal
    };
    let cases =
        [weaker(|l| l.lwe_dimension = 500), weaker(|l| l.glwe_log2_std = -40.0), weaker(|l| l.name = "gates-1".into())];
    for literal in cases {
        let header = Header::new(Kind::ClientKey).scheme("tfhe").params(&literal);
        let bytes = file(header, |_| Ok(()));
        let error = params(&open(&bytes).unwrap()).unwrap_err().to_string();
        assert!(error.contains("gates-1"), "{error}");
    }
    // Claims are not taken from files.
    let header = Header::new(Kind::ClientKey).scheme("tfhe").params(&weaker(|l| l.classical_bits = 999.0));
    let read = params(&open(&file(header, |_| Ok(()))).unwrap()).unwrap();
    assert_eq!(read.literal(), &named);
}

#[test]
fn short_parameters_name_a_set() {
    for set in ["gates-40", "integers-128"].map(|name| Params::named(name).unwrap()) {
        let header = short_header(Kind::Ciphertext, &set, KeyId([1; 32]), true);
        assert_eq!(params(&open(&file(header, |_| Ok(()))).unwrap()).unwrap(), set);
    }
    let field = |name: &str, value: Value| (Value::from(name), value);
    let wrong = Value::Map(vec![field("name", "gates-40".into()), field("lwe_dimension", 661.into())]);
    let header = Header::new(Kind::Ciphertext).scheme("tfhe").params(&wrong);
    let error = params(&open(&file(header, |_| Ok(()))).unwrap()).unwrap_err().to_string();
    assert!(error.contains("gates-40"), "{error}");
}

/// Writes a copy of a file beside it, without its section `packing`.
fn without_section(path: &Path) -> PathBuf {
    let (reader, copy) = (Reader::open(path, Expect::any()).unwrap(), path.with_extension("copy"));
    let mut writer = Writer::create(&copy, reader.header().clone(), Overwrite::Never).unwrap();
    for (name, _) in reader.sections().filter(|(name, _)| *name != "packing") {
        writer.section(name, &reader.section(name).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    copy
}

#[test]
fn the_packing_key_is_read_and_verified_when_it_is_used() {
    let client =
        ClientKey::generate(&Params::named("gates-40").unwrap(), true, Entropy::Insecure(7), &Control::default())
            .unwrap();
    let packing = client.packing_key().unwrap();
    let key = Arc::new(client.server_key(&Control::default()).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let save = |name: &str, stored: &ServerFile| {
        let path = dir.path().join(name);
        let mut writer = Writer::create(&path, server_header(&key).unwrap(), Overwrite::Never).unwrap();
        write_server(&mut writer, stored).unwrap();
        writer.finish().unwrap();
        path
    };
    let load = |path: &Path| read_server(&Reader::open(path, Expect::kind(Kind::ServerKey)).unwrap());
    let path = save("server.key", &ServerFile { key: Arc::clone(&key), packing: Arc::new(packing.clone().into()) });
    let sections: usize = Reader::open(&path, Expect::any()).unwrap().sections().map(|(_, bytes)| bytes as usize).sum();
    assert_eq!(sections, stored_server_bytes(key.params()));
    let read = load(&path).unwrap();
    let part = &read.packing;
    assert!(read.key == key && !part.is_read());
    assert!(*part.get().unwrap() == packing && part.is_read());
    // An unread part comes from the file that was opened, even if another file has its name now.
    let unread = load(&path).unwrap();
    std::fs::rename(without_section(&path), &path).unwrap();
    let error = read_server(&Reader::open(&path, Expect::any()).unwrap()).unwrap_err().to_string();
    assert!(error.contains("packing"), "a key without the section: {error}");
    assert!(*unread.packing.get().unwrap() == packing);

    // Damage of the section is found on its first use, each time, and the rest of the key computes.
    let path = save("damaged.key", &ServerFile { key: Arc::clone(&key), packing: Arc::new(packing.into()) });
    let mut bytes = std::fs::read(&path).unwrap();
    let length = PackingKey::len(key.params()) * 8;
    for step in 0..16 {
        // The section is the last one. Only its hashes follow, and those of the other sections are read with the header.
        let place = bytes.len() - 1000 - step * (length - 1000) / 16;
        bytes[place] ^= 1 << (step % 8);
        std::fs::write(&path, &bytes).unwrap();
        let read = load(&path).unwrap();
        assert!(read.key == key);
        for _ in 0..2 {
            let error = read.packing.get().unwrap_err().to_string();
            assert!(error.contains("section packing is altered"), "byte {place}: {error}");
        }
        if step < 15 {
            bytes[place] ^= 1 << (step % 8);
        }
    }
    // Bytes in memory are read at once.
    let error = read_server(&open(&bytes).unwrap()).unwrap_err().to_string();
    assert!(error.contains("section packing is altered"), "{error}");
}
