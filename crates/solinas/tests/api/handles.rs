//! Encrypted values: computed, kept, refused.

use crate::{keys, slots};
use solinas::{Encrypted, EncryptedArray, ErrorKind, Mod, Program, keygen};

#[test]
fn encrypted_results_equal_plain_ones() {
    let (client, _, server) = keys();
    let (a, b) = (client.encrypt(200u8).unwrap(), client.encrypt(99u8).unwrap());
    let (sum, less, list) = server.run((&a + &b, a.lt(&b), vec![&a - &b, a.min(&b)])).unwrap();
    assert_eq!(client.decrypt((sum, less, list)).unwrap(), (43, false, vec![101, 99]));
    // A ciphertext comes back as it is.
    assert_eq!(client.decrypt(server.run(&a).unwrap()).unwrap(), 200);
    assert_eq!(client.decrypt(server.run([&a, &b, &a].into_iter().sum::<Encrypted<_>>()).unwrap()).unwrap(), 243);
    let index = client.encrypt(1u8).unwrap();
    let chosen = index.choose(&[a, b]).unwrap();
    assert_eq!(client.decrypt(server.run(chosen).unwrap()).unwrap(), 99);
    assert_eq!(index.choose::<u8>(&[]).unwrap_err().kind(), ErrorKind::Type);
    let nothing: Encrypted<u8> = Vec::<Encrypted<u8>>::new().into_iter().sum();
    assert_eq!(client.decrypt(server.run(nothing).unwrap()).unwrap(), 0);
}

#[test]
fn a_computed_value_is_kept() {
    let (client, _, server) = keys();
    let a = client.encrypt(7u8).unwrap();
    let square = &a * &a;
    assert!(!square.is_computed());
    assert_eq!(format!("{square:?} {a:?}"), "Encrypted<u8>(expression) Encrypted<u8>(ciphertext)");
    assert!(server.prepare(&square).unwrap().count().unwrap().bootstraps > 0);
    server.run(&square).unwrap();
    assert!(square.is_computed());
    assert_eq!(client.decrypt(&square).unwrap(), 49);
    let prepared = server.prepare((&square, &square + 1)).unwrap();
    assert_eq!(prepared.count().unwrap(), server.prepare(&square + 1).unwrap().count().unwrap());
    assert_eq!(server.prepare(&square).unwrap().count().unwrap().bootstraps, 0);
}

#[test]
fn lookups_refuse_tables_of_another_length() {
    let (client, ..) = keys();
    let x = client.encrypt(3u8).unwrap();
    let error = x.lookup(&[0u8; 255]).unwrap_err();
    assert!(error.to_string().contains("256 entries"), "{error}");
    let error = client.encrypt(3u32).unwrap().lookup(&[0u8; 256]).unwrap_err();
    assert!(error.to_string().contains("at most 8 bits"), "{error}");
}

#[test]
fn long_chains_are_planned_and_released_without_recursion() {
    let (client, _, server) = keys();
    let mut chain = client.encrypt(true).unwrap();
    for _ in 0..100_000 {
        chain = !chain;
    }
    match server.run(&chain) {
        Ok(result) => assert!(client.decrypt(result).unwrap()),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Circuit, "{error}"),
    }
    drop(chain);
}

#[test]
fn expressions_and_ciphertexts_of_other_keys_are_refused() {
    let (client, _, server) = keys();
    let a = client.encrypt(1u8).unwrap();
    let error = client.decrypt(&a + 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(error.to_string().contains("Server::run"), "{error}");
    assert_eq!((&a + 1).to_bytes().unwrap_err().kind(), ErrorKind::Type);
    let (other, _) = keygen("tfhe").params("integers-toy").research().insecure_seed(9).run().unwrap();
    assert_eq!(other.decrypt(&a).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(server.run(&a + other.encrypt(1u8).unwrap()).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(server.run(other.encrypt(1u8).unwrap()).unwrap_err().kind(), ErrorKind::Key);
    let (bgv, bgv_server) = slots();
    assert_eq!(bgv.decrypt(&a).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(bgv_server.run(&a + 1).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(bgv.encrypt(1u8).unwrap_err().kind(), ErrorKind::Type);
    assert_eq!(client.encrypt(Mod::<65537>(1)).unwrap_err().kind(), ErrorKind::Type);
}

#[test]
fn keys_have_schemes_sets_and_weaknesses() {
    assert_eq!(keygen("rot13").run().unwrap_err().kind(), ErrorKind::Params);
    assert_eq!(keygen("bgv").params("integers-128").run().unwrap_err().kind(), ErrorKind::Params);
    let error = keygen("gh").params("toy").run().unwrap_err();
    assert!(error.to_string().contains("research"), "{error}");
    let (client, key) = keygen("gh").params("toy").research().insecure_seed(1).run().unwrap();
    assert!(client.weakness().unwrap().contains("seed"));
    assert_eq!(key.params().name, "toy");
    // A public key encrypts, where the scheme has one.
    assert_eq!(client.decrypt(key.encrypt([true, false]).unwrap()).unwrap(), [true, false]);
    assert_eq!(keys().1.encrypt(1u8).unwrap_err().kind(), ErrorKind::Params);
    assert_eq!(format!("{:?}", keys().0).matches("[").count(), 0, "a key shows no words");
}

#[test]
fn programs_run_on_a_server_and_inside_programs() {
    type Risk = Program<(Encrypted<u8>, Encrypted<u8>), Encrypted<u8>>;
    let risk = Risk::record(|(age, dose)| age.gt(60).select(&age * &dose, &dose * 2)).unwrap();
    let (client, _, server) = keys();
    let arguments = || (client.encrypt(70u8).unwrap(), client.encrypt(3u8).unwrap());
    assert_eq!(client.decrypt(server.run(risk.call(arguments())).unwrap()).unwrap(), 210);
    let both = Program::<Encrypted<u8>, (Encrypted<u8>, Encrypted<bool>)>::record(|age| {
        let risk = risk.call((age.clone(), &age - 68));
        (risk.clone(), risk.eq(age))
    });
    assert_eq!(both.unwrap().evaluate(70).unwrap(), (140, false));
}

#[test]
fn recorded_functions_use_their_arguments_only() {
    type Same = Program<Encrypted<u16>, Encrypted<u16>>;
    let (client, _, server) = keys();
    let outside = client.encrypt(1u16).unwrap();
    let refused = |error: solinas::Error, what: &str| {
        assert_eq!(error.kind(), ErrorKind::Type);
        assert!(error.to_string().contains(what), "{error}");
    };
    refused(Same::record(|x| x + &outside).unwrap_err(), "a ciphertext");
    let next = |x: Encrypted<u16>| ([x].into_iter().collect::<EncryptedArray<_>>() + 1).get(0).unwrap();
    refused(Same::record(next).unwrap_err(), "an array");
    let mut kept = None;
    Same::record(|x| kept.insert(x).clone()).unwrap();
    let kept = kept.unwrap();
    refused(Same::record(|x| x + &kept).unwrap_err(), "another program");
    refused(server.run(kept).unwrap_err(), "parameter 1 of a program is used outside of `Program::record`");
}

#[test]
fn a_server_needs_a_thread() {
    let options = solinas::ServerOptions { threads: Some(0), ..Default::default() };
    let error = solinas::Server::with_options(&keys().1, &options).unwrap_err();
    assert!(error.to_string().contains("at least one thread"), "{error}");
}
