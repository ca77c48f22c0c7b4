//! Short, public and compact ciphertexts of TFHE: programs on them, their files, and what they refuse.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_circuits::program::Program;
use solinas_engine::{
    Ciphertext, ClientKey, Control, EncryptionKey, Error, Form, KeygenOptions, Plain, PublicKey, Server, ServerKey,
    Type, Work, keygen,
};

fn keys(params: &str) -> (ClientKey, ServerKey) {
    let options = KeygenOptions {
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(3),
        ..KeygenOptions::default()
    };
    keygen(&options, &Control::default()).unwrap()
}

fn scalar(ty: Type, value: u128) -> Plain {
    Plain::new(ty, None, vec![value]).unwrap()
}

fn array(ty: Type, values: &[u128]) -> Plain {
    Plain::new(ty, Some(vec![values.len()]), values.to_vec()).unwrap()
}

fn run(server: &Server, operation: &str, inputs: &[Ciphertext]) -> Result<Ciphertext, Error> {
    let types: Vec<Type> = inputs.iter().map(Ciphertext::ty).collect();
    let program = Program::from_op(operation, &types).unwrap();
    Ok(server.run(Work::program(&program, inputs), &Control::default())?.remove(0))
}

#[test]
fn programs_take_every_form_and_give_results_that_can_be_compact() {
    for params in ["integers-toy", "gates-toy"] {
        let (client, key) = keys(params);
        let public = client.public_key().unwrap();
        let server = Server::new(&key, None).unwrap();
        let (a, b) = (scalar(Type::Uint(8), 201), array(Type::Uint(8), &[3, 77, 255]));
        let mut digests = Vec::new();
        for (a, b) in [
            (client.encrypt(&a).unwrap(), client.encrypt(&b).unwrap()),
            (public.encrypt(&a).unwrap(), client.encrypt(&b).unwrap()),
            (public.encrypt(&a).unwrap(), public.encrypt(&b).unwrap()),
        ] {
            assert!(!a.is_compact());
            for (operation, want) in [("add", [204, 22, 200]), ("lt", [0, 0, 1])] {
                let result = run(&server, operation, &[a.clone(), b.clone()]).unwrap();
                let compact = server.compact(&result).unwrap();
                for result in [&result, &compact, &server.compact(&compact).unwrap()] {
                    assert_eq!(client.decrypt(result).unwrap().values, want, "{params} {operation}");
                }
                assert!(compact.is_compact() && compact.get(1).unwrap().is_compact());
                assert_eq!(client.decrypt(&compact.get(2).unwrap()).unwrap().values, [want[2]]);
                let (full, small) = (result.to_bytes().unwrap().len(), compact.to_bytes().unwrap().len());
                assert!(5 * small.saturating_sub(700) < full, "{params} {operation}: {small} of {full} bytes");
            }
            // Elements and their files, before and after they are stacked.
            let second = b.get(1).unwrap();
            let stacked = Ciphertext::stack(vec![second.clone(), a.clone(), b.get(0).unwrap()]).unwrap();
            for (ciphertext, want) in [(&second, &[77][..]), (&stacked, &[77, 201, 3])] {
                let read = Ciphertext::from_bytes(&ciphertext.to_bytes().unwrap()).unwrap();
                assert_eq!(client.decrypt(&read).unwrap().values, want);
            }
            let sum = run(&server, "add", &[second.clone(), second]).unwrap();
            assert_eq!(client.decrypt(&sum).unwrap().values, [154]);
            digests.push(a.to_bytes().unwrap());
        }
        digests.dedup();
        assert_eq!(digests.len(), 3, "every encryption differs");
    }
}

#[test]
fn parts_of_fresh_arrays_stay_short_in_any_order() {
    let (client, key) = keys("gates-40");
    let values: Vec<u128> = (0..40).collect();
    let all = client.encrypt(&array(Type::Uint(8), &values)).unwrap();
    let size = all.to_bytes().unwrap().len();
    for order in [(1..40).collect::<Vec<_>>(), (0..40).rev().collect(), (0..40).map(|i| 7 * i % 40).collect()] {
        let parts = order.iter().map(|&i| all.get(i).unwrap()).collect();
        let part = Ciphertext::stack(parts).unwrap();
        let bytes = part.to_bytes().unwrap();
        assert!(bytes.len() < size + 12 * order.len() + 300, "{} bytes, and {size} of the whole", bytes.len());
        let read = Ciphertext::from_bytes(&bytes).unwrap();
        assert!(read == part);
        let want: Vec<u128> = order.iter().map(|&i| values[i]).collect();
        assert_eq!(client.decrypt(&read).unwrap().values, want);
        let slice = read.slice(3..9).unwrap();
        assert_eq!(client.decrypt(&slice).unwrap().values, want[3..9]);
    }
    // One bootstrap for each bit shows that the server reads the form.
    let reversed = Ciphertext::stack((0..3).rev().map(|i| all.get(i).unwrap()).collect()).unwrap();
    let server = Server::new(&key, None).unwrap();
    let both = run(&server, "and", &[reversed.clone(), reversed]).unwrap();
    assert_eq!(client.decrypt(&both).unwrap().values, [2, 1, 0]);
}

#[test]
fn wrong_uses_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let (client, key) = keys("integers-toy");
    let server = Server::new(&key, None).unwrap();
    let path = dir.path().join("public.key");
    client.public_key().unwrap().save(&path, false).unwrap();
    let check = |error: Error, want: &str| {
        assert!(error.to_string().contains(want), "{error}");
    };
    check(ClientKey::load(&path).unwrap_err(), "is a public key, a client key is needed");
    check(ServerKey::load(&path).unwrap_err(), "is a public key, a server key is needed");
    check(client.public_key().unwrap().save(&path, false).unwrap_err(), "already exists");
    let public = EncryptionKey::load(&path).unwrap().allow_research();
    assert_eq!(public.key_id(), client.key_id());
    let a = public.encrypt(&scalar(Type::Uint(8), 5)).unwrap();
    assert_eq!(client.decrypt(&a).unwrap().values, [5]);
    check(key.encrypt(&scalar(Type::Uint(8), 5)).unwrap_err(), "encrypt with the public key (public.key)");
    let server_path = dir.path().join("server.key");
    key.save(&server_path, false).unwrap();
    check(EncryptionKey::load(&server_path).unwrap_err(), "do not encrypt");
    check(PublicKey::load(&server_path).unwrap_err(), "a public key is needed");

    let compact = server.compact(&a).unwrap();
    check(run(&server, "add", &[a.clone(), compact.clone()]).unwrap_err(), "input \"b\" is a compact result");
    let conversion = Work::Convert { ciphertext: &compact, form: Form::Bits };
    check(server.run(conversion, &Control::default()).unwrap_err(), "compact");
    assert!(Ciphertext::stack(vec![compact.clone(), a]).is_err());
    assert!(Ciphertext::stack(vec![compact.clone(), compact]).unwrap().is_compact());

    let options = KeygenOptions {
        scheme: "bgv".parse().unwrap(),
        params: Some("bits-64-12".into()),
        research: true,
        insecure_seed: Some(1),
        ..KeygenOptions::default()
    };
    let (other, other_key) = keygen(&options, &Control::default()).unwrap();
    check(other.public_key().unwrap_err(), "encrypt with the server key, which holds the public key");
    let bit = other.encrypt(&scalar(Type::Bool, 1)).unwrap();
    check(server.compact(&bit).unwrap_err(), "is of scheme bgv, but the key is of scheme tfhe");
    let other_server = Server::new(&other_key, None).unwrap();
    check(other_server.compact(&bit).unwrap_err(), "no compact form");
}

/// Every flipped byte of a file is found, or changes nothing.
#[test]
fn flipped_bytes_of_files_are_found() {
    // Results of this set are smaller if they are packed.
    let (client, key) = keys("integers-40");
    let public = client.public_key().unwrap();
    let server = Server::new(&key, None).unwrap();
    let plain = array(Type::Uint(4), &[9, 2]);
    let short = client.encrypt(&plain).unwrap();
    let compact = |plain: &Plain| server.compact(&client.encrypt(plain).unwrap()).unwrap();
    // One block, several blocks with masks of their own, blocks with a common mask, and both.
    let bit = compact(&scalar(Type::Bool, 1));
    let pair = Ciphertext::stack(vec![bit.clone(), bit.clone()]).unwrap();
    let packed = compact(&array(Type::Bool, &[1, 0, 0, 1, 1]));
    let mixed = Ciphertext::stack(vec![packed.clone(), bit.clone()]).unwrap();
    let ciphertexts = [short.clone(), public.encrypt(&plain).unwrap(), bit, pair, packed, mixed];
    let count = ciphertexts.len();
    let mut files: Vec<Vec<u8>> = ciphertexts.iter().map(|ciphertext| ciphertext.to_bytes().unwrap()).collect();
    files.push(public.to_bytes().unwrap());
    for (which, file) in files.iter().enumerate() {
        for place in (0..file.len()).step_by(if file.len() > 10_000 { 13 } else { 1 }) {
            let mut damaged = file.clone();
            damaged[place] ^= 1 << (place % 8);
            let same = if which < count {
                Ciphertext::from_bytes(&damaged).is_ok_and(|read| read == ciphertexts[which])
            } else {
                PublicKey::from_bytes(&damaged).is_ok_and(|read| read.to_bytes().is_ok_and(|bytes| bytes == *file))
            };
            let refused = if which < count {
                Ciphertext::from_bytes(&damaged).is_err()
            } else {
                PublicKey::from_bytes(&damaged).is_err()
            };
            assert!(refused || same, "file {which}, byte {place}");
        }
        for length in [0, 8, 63, file.len() / 2, file.len() - 1] {
            assert!(
                Ciphertext::from_bytes(&file[..length]).is_err() && PublicKey::from_bytes(&file[..length]).is_err()
            );
        }
    }
}
