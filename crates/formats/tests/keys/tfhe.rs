//! Files of TFHE keys: those of earlier parameter sets, and the sections of server keys.

use solinas_formats::tfhe::{
    ServerFile, client_header, params, read_client, read_server, server_header, short_header, stored_server_bytes,
    write_client, write_server,
};
use solinas_formats::{Expect, Header, KeyId, Kind, Overwrite, Reader, Value, Writer};
use solinas_schemes::security::Status;
use solinas_schemes::tfhe::params::Cut;
use solinas_schemes::tfhe::{ClientKey, PackingKey, Params, ParamsLiteral, identity};
use solinas_schemes::{Control, Entropy};
use std::sync::Arc;

use super::common::{file, open};

/// The `gates-40` of version 0.1, with the claims that its files make.
fn former() -> ParamsLiteral {
    ParamsLiteral {
        lwe_dimension: 636,
        block_bits: 1,
        decomposition: Cut { base_log: 18, levels: 1 },
        lwe_log2_std: -13.66,
        glwe_log2_std: -36.7,
        classical_bits: 128.0,
        quantum_bits: 121.9,
        ..Params::named("gates-40").unwrap().literal().clone()
    }
}

#[test]
fn keys_of_earlier_sets_are_read_and_claim_what_is_true_of_them() {
    let key = ClientKey::generate(&Params::stored(&former()).unwrap(), true, Entropy::Insecure(7), &Control::default())
        .unwrap();
    let id = identity(key.params(), key.public_seed(), true, None).id();
    let old = Header::new(Kind::ClientKey).scheme("tfhe").params(&former()).unwrap().key_id(id);
    let old = old.insecure_seed(true).meta("seed", &KeyId(*key.public_seed()));
    for header in [old, client_header(&key)] {
        let read = read_client(&open(&file(header, |writer| write_client(writer, &key))).unwrap()).unwrap();
        let claim = read.params().security();
        assert_eq!((read.lwe_bits(), read.glwe_bits()), (key.lwe_bits(), key.glwe_bits()));
        assert!(claim.classical_bits < 128.0 && matches!(claim.status, Status::ResearchOnly { .. }), "{claim:?}");
    }
}

#[test]
fn numbers_that_no_set_of_that_name_had_are_refused() {
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
fn short_parameters_name_a_set_of_any_version() {
    let sets = [Params::stored(&former()).unwrap(), Params::named("gates-40").unwrap()];
    for set in &sets {
        let header = short_header(Kind::Ciphertext, set, KeyId([1; 32]), true);
        assert_eq!(params(&open(&file(header, |_| Ok(()))).unwrap()).unwrap(), *set);
    }
    let field = |name: &str, value: Value| (Value::from(name), value);
    let wrong = Value::Map(vec![field("name", "gates-40".into()), field("lwe_dimension", 661.into())]);
    let header = Header::new(Kind::Ciphertext).scheme("tfhe").params(&wrong);
    let error = params(&open(&file(header, |_| Ok(()))).unwrap()).unwrap_err().to_string();
    assert!(error.contains("gates-40"), "{error}");
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
    let load = |path: &std::path::Path| read_server(&Reader::open(path, Expect::kind(Kind::ServerKey)).unwrap());
    // The form of the versions before the section.
    let old = save("old.key", &ServerFile { key: Arc::clone(&key), packing: None });
    let read = load(&old).unwrap();
    assert!(read.packing.is_none() && read.key == key);

    let path =
        save("server.key", &ServerFile { key: Arc::clone(&key), packing: Some(Arc::new(packing.clone().into())) });
    let sections: usize = Reader::open(&path, Expect::any()).unwrap().sections().map(|(_, bytes)| bytes as usize).sum();
    assert_eq!(sections, stored_server_bytes(key.params()));
    let read = load(&path).unwrap();
    let part = read.packing.as_ref().unwrap();
    assert!(read.key == key && !part.is_read());
    assert!(*part.get().unwrap() == packing && part.is_read());
    // An unread part comes from the file that was opened, even if another file has its name now.
    let unread = load(&path).unwrap();
    std::fs::rename(&old, &path).unwrap();
    assert!(*unread.packing.unwrap().get().unwrap() == packing);

    // Damage of the section is found on its first use, each time, and the rest of the key computes.
    let path = save("damaged.key", &ServerFile { key: Arc::clone(&key), packing: Some(Arc::new(packing.into())) });
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
            let error = read.packing.as_ref().unwrap().get().unwrap_err().to_string();
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
