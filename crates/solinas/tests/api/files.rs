//! Files of keys, values and programs, and errors for other contents.

use crate::keys;
use solinas::{ClientKey, Encrypted, EncryptedArray, ErrorKind, Program, Server, ServerKey};

type Add = Program<(Encrypted<u16>, Encrypted<u16>), Encrypted<u16>>;

#[test]
fn keys_and_values_come_back_from_files_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (client, key, _) = keys();
    client.save(at("client.key")).unwrap();
    key.save(at("server.key")).unwrap();
    client.encrypt(-5i16).unwrap().save(at("x.ct")).unwrap();
    client.encrypt([1u8, 2]).unwrap().save(at("y.ct")).unwrap();
    let key = ServerKey::load(at("server.key")).unwrap();
    let (client, server) = (ClientKey::load(at("client.key")).unwrap(), Server::new(&key).unwrap());
    let x = Encrypted::<i16>::load(at("x.ct")).unwrap();
    let y = EncryptedArray::<u8>::load(at("y.ct")).unwrap();
    assert_eq!(client.decrypt(server.run((&x * 2, y + 1)).unwrap()).unwrap(), (-10, vec![2, 3]));
    assert_eq!(client.decrypt(Encrypted::<i16>::from_bytes(&x.to_bytes().unwrap()).unwrap()).unwrap(), -5);
    assert_eq!(ServerKey::from_bytes(&key.to_bytes().unwrap()).unwrap().params(), key.params());
    assert_eq!(client.save(at("client.key")).unwrap_err().kind(), ErrorKind::File);
    assert_eq!(x.save(at("server.key")).unwrap_err().kind(), ErrorKind::File);
}

#[test]
fn files_of_another_type_kind_or_content_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (client, key, _) = keys();
    client.encrypt(-5i16).unwrap().save(at("x.ct")).unwrap();
    client.encrypt([1u8, 2]).unwrap().save(at("y.ct")).unwrap();
    key.save(at("server.key")).unwrap();
    let named = |error: solinas::Error, kind: ErrorKind, name: &str| {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(name), "{error}");
    };
    named(Encrypted::<u16>::load(at("x.ct")).unwrap_err(), ErrorKind::Type, "x.ct");
    named(Encrypted::<u8>::load(at("y.ct")).unwrap_err(), ErrorKind::Type, "y.ct");
    named(EncryptedArray::<i16>::load(at("x.ct")).unwrap_err(), ErrorKind::Type, "one i16");
    named(ClientKey::load(at("server.key")).unwrap_err(), ErrorKind::Format, "server.key");
    named(ServerKey::load(at("none.key")).unwrap_err(), ErrorKind::File, "none.key");
    let mut bytes = std::fs::read(at("x.ct")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert_eq!(Encrypted::<i16>::from_bytes(&bytes).unwrap_err().kind(), ErrorKind::Format);
}

#[test]
fn programs_are_saved_and_checked_against_their_types() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("add.json");
    Add::record(|(a, b)| a + b).unwrap().save(&path).unwrap();
    assert_eq!(Add::load(&path).unwrap().evaluate((65535, 3)).unwrap(), 2);
    let error = Program::<Encrypted<u16>, Encrypted<u16>>::load(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(error.to_string().contains("(u16, u16) -> (u16)") && error.to_string().contains("add.json"), "{error}");
    let text = std::fs::read_to_string(&path).unwrap();
    for (bad, kind) in [
        ("{}".to_owned(), ErrorKind::Format),
        (text.replace(r#""version":2"#, r#""version":9"#), ErrorKind::Format),
        (text.replace(r#""args":[0,1]"#, r#""args":[0,7]"#), ErrorKind::Circuit),
    ] {
        std::fs::write(&path, bad).unwrap();
        let error = Add::load(&path).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("add.json"), "{error}");
    }
    assert_eq!(Add::load(folder.path().join("none")).unwrap_err().kind(), ErrorKind::File);
    keys().1.save(folder.path().join("server.key")).unwrap();
    let error = Add::record(|(a, b)| a + b).unwrap().save(folder.path().join("server.key")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
}

/// `python.json` is what `Program.save` of the Python package writes. `python/tests/test_rust_files.py` reads `rust.json`.
#[test]
fn programs_go_to_python_and_come_from_there() {
    type Risk = Program<(Encrypted<u32>, Encrypted<u32>), Encrypted<u32>>;
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let risk = Risk::load(data.join("python.json")).unwrap();
    assert_eq!((risk.evaluate((70, 3)).unwrap(), risk.evaluate((60, 3)).unwrap()), (210, 6));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rust.json");
    Risk::record(|(age, dose)| age.gt(60).select(&age * &dose, &dose * 2)).unwrap().save(&path).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), std::fs::read_to_string(data.join("rust.json")).unwrap());
}
