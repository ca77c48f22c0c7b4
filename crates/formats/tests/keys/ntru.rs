//! Files of NTRU keys.

use std::sync::LazyLock;

use solinas_formats::KeyFiles;
use solinas_formats::ntru;
use solinas_schemes::ntru::{ClientKey, Ntru, Params, ParamsLiteral, Rotation, RotationKey, ServerKey};
use solinas_schemes::{Control, Entropy, Level};

use super::common::{
    changed, check_damage, check_headers, check_read_back, check_refused, client_file, file, open, server_file,
    with_params, without,
};

type Keys = (ClientKey, ServerKey);

fn keys(params: &Params) -> Keys {
    let client = ClientKey::generate(params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, server)
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| keys(&Params::named("tight-16-2").unwrap()));

/// Rings are reduced on the way down.
fn reduced() -> Params {
    let literal = Params::named("tight-256-3").unwrap().literal().clone();
    let open = ParamsLiteral { first_bits: None, bits: None, top_bits: None, ..literal };
    Params::try_from(ParamsLiteral { name: "mine".into(), floor: Some(1.3), ..open }).unwrap()
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let named = ["tight-16-2", "slots-128-2", "boot-64"].map(|name| Params::named(name).unwrap());
    assert!(reduced().dimension_at(Level::LOWEST) < 256);
    for params in named.into_iter().chain([reduced()]) {
        let (client, server) = keys(&params);
        check_read_back::<Ntru>(&client, &server, ntru::stored_server_bytes(&params));
    }
}

#[test]
fn rotation_keys_are_read_back_and_every_word_is_checked() {
    let params = Params::named("slots-128-1").unwrap();
    let (client, _) = keys(&params);
    let all = Rotation::all(&params);
    assert_eq!(all.len(), 7);
    let server = client.server_key_with(&all, true, &Control::default()).unwrap();
    let key = server.rotation_key().unwrap();
    let words: Vec<usize> = key.polynomials().map(|poly| poly.words().len()).collect();
    assert_eq!(words, RotationKey::sizes(&params).unwrap().repeat(all.len()));
    let bytes = server_file::<Ntru>(&server);
    assert!(Ntru::read_server(&open(&bytes).unwrap()).unwrap() == server);
    let size = 8 * words.iter().sum::<usize>();
    let refused = |alter: &dyn Fn(&mut Vec<u8>)| {
        check_refused::<Ntru>(&changed(&bytes, "rotations", alter), "section rotations");
    };
    refused(&|bytes| bytes[..8].fill(0xff));
    refused(&|bytes| bytes[size - 8..].fill(0xff));
    refused(&|bytes| bytes.truncate(size - 8));
    refused(&Vec::clear);
    refused(&|bytes| bytes.extend([0; 8]));
    // A set of bits has no rotation keys.
    let bits = file(Ntru::server_header(&KEYS.1), |writer| {
        Ntru::write_server(writer, &KEYS.1)?;
        writer.section("rotations", &[0; 8])
    });
    check_refused::<Ntru>(&bits, "section rotations");
    check_refused::<Ntru>(&bits, "no slots");
    // Nor does a server key take the rotation key of another.
    let hints: Vec<Vec<u64>> = KEYS.1.hints().map(|hint| hint.words().to_vec()).collect();
    let foreign = ServerKey::from_parts(KEYS.1.public().clone(), &hints, None, Some(key.clone())).unwrap_err();
    assert!(foreign.to_string().starts_with("the rotation key belongs to key"), "{foreign}");
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server) = &*KEYS;
    check_damage::<Ntru>(client, server, 7);
}

#[test]
fn what_no_key_can_be_is_refused_by_name() {
    let refused = |file: Vec<u8>, word: &str| check_refused::<Ntru>(&file, word);
    let (client, server) = (client_file::<Ntru>(&KEYS.0), server_file::<Ntru>(&KEYS.1));
    for file in [&client, &server] {
        check_headers::<Ntru>(file);
        refused(changed(file, "h", |h| h[0] ^= 1), "public_digest");
        refused(changed(file, "h", |h| h.fill(0xff)), "section h");
        refused(changed(file, "h", |h| h.truncate(8)), "section h");
    }
    refused(changed(&server, "hints", |hints| hints.fill(0xff)), "section hints");
    refused(changed(&server, "hints", |hints| hints.extend([0; 8])), "section hints");
    for far in [i32::MIN, i32::MAX, 1 << 20, 3] {
        let alter = |keys: &mut Vec<u8>| keys[4..8].copy_from_slice(&far.to_le_bytes());
        refused(changed(&client, "keys", alter), "section keys");
    }
    refused(changed(&client, "wide", |wide| wide.extend([0; 4])), "section wide");
    let with = |alter: fn(&mut ParamsLiteral)| with_params(&server, alter);
    refused(with(|l| l.terms = 3), "params");
    refused(with(|l| l.bits = None), "open");
    refused(with(|l| (l.name, l.dimension) = ("mine".into(), usize::MAX)), "dimension");
    refused(with(|l| (l.name, l.depth) = ("mine".into(), usize::MAX)), "depth");
    refused(with(|l| l.name = "mine".into()), "key_id");
    // A bootstrapping key that is missing, or cut.
    let boots = server_file::<Ntru>(&keys(&Params::named("boot-64").unwrap()).1);
    refused(without(&boots, "bootstrap"), "bootstrap");
    refused(changed(&boots, "bootstrap", |key| key.truncate(key.len() - 512)), "section bootstrap");
}
