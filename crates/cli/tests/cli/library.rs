//! The command and the crate `solinas` read each other's files.

use crate::common::{Place, key};
use solinas::{ClientKey, Encrypted, EncryptedArray, Program, Server, ServerKey, keygen};

#[test]
fn the_crate_reads_keys_and_ciphertexts_of_the_command() {
    let place = Place::new();
    place.encrypt("u8", "200", "a.ct");
    place.encrypt("bool", "true false true", "flags.ct");
    let client = ClientKey::load(key("k/client.key")).unwrap();
    let server = Server::new(&ServerKey::load(key("k/server.key")).unwrap()).unwrap();
    let a = Encrypted::<u8>::load(place.path("a.ct")).unwrap();
    let flags = EncryptedArray::<bool>::load(place.path("flags.ct")).unwrap();
    let results = server.run((&a & 15, !flags)).unwrap();
    assert_eq!(client.decrypt(results).unwrap(), (8, vec![false, true, false]));
}

#[test]
fn the_command_reads_keys_ciphertexts_and_programs_of_the_crate() {
    let place = Place::new();
    let (client, server_key) = keygen("tfhe").params("gates-toy").research().insecure_seed(5).run().unwrap();
    client.save(place.path("client.key")).unwrap();
    server_key.save(place.path("server.key")).unwrap();
    client.encrypt(200u8).unwrap().save(place.path("a.ct")).unwrap();
    client.encrypt([99u8, 1]).unwrap().save(place.path("b.ct")).unwrap();
    type Add = Program<(Encrypted<u8>, Encrypted<u8>), (Encrypted<u8>, Encrypted<bool>)>;
    Add::record(|(a, b)| (&a + &b, a.lt(b))).unwrap().save(place.path("add.json")).unwrap();
    place.run("eval --key server.key --program add.json --inputs a.ct b.ct -o sum.ct -o less.ct");
    let decrypted = place.run("decrypt --key client.key sum.ct less.ct");
    assert_eq!(decrypted, "sum.ct: 43 201\nless.ct: false false\n");
    let sum = EncryptedArray::<u8>::load(place.path("sum.ct")).unwrap();
    assert_eq!(client.decrypt(sum).unwrap(), [43, 201]);
}
