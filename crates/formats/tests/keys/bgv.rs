//! Files of BGV keys.

use std::sync::LazyLock;

use proptest::prelude::*;
use solinas_formats::KeyFiles;
use solinas_formats::bgv;
use solinas_schemes::bgv::{Bgv, ClientKey, KeySwitching, Params, ParamsLiteral, ServerKey};
use solinas_schemes::{Control, Entropy};

use super::common::{
    changed, check_damage, check_headers, check_read_back, check_refused, client_file, open, server_file, with_params,
    without,
};

type Keys = (ClientKey, ServerKey);

fn keys(params: &Params) -> Keys {
    let client = ClientKey::generate(params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, server)
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| keys(&Params::named("slots-16-2").unwrap()));

/// Keys are switched by digits of towers, without special primes.
fn digits() -> Params {
    let literal = Params::named("slots-64-2").unwrap().literal().clone();
    let open = ParamsLiteral { first_bits: None, bits: None, top_bits: None, ..literal };
    let switching = KeySwitching::Digits { bits: 7 };
    Params::try_from(ParamsLiteral { name: "mine".into(), switching, ..open }).unwrap()
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let named = ["slots-16-2", "bits-64-3", "wide-128-1", "boot-64-1"].map(|name| Params::named(name).unwrap());
    for params in named.into_iter().chain([digits()]) {
        let (client, server) = keys(&params);
        check_read_back::<Bgv>(&client, &server, bgv::stored_server_bytes(&params, &server.rotations()));
    }
}

#[test]
fn a_bootstrapping_key_is_read_back_and_every_word_is_checked() {
    let (_, server) = keys(&Params::named("boot-64-1").unwrap());
    let bytes = server_file::<Bgv>(&server);
    assert!(Bgv::read_server(&open(&bytes).unwrap()).unwrap() == server);
    let refused = |name: &str, alter: &dyn Fn(&mut Vec<u8>)| {
        check_refused::<Bgv>(&changed(&bytes, name, alter), &format!("section {name}"));
    };
    refused("bootstrap", &|words| words[..8].fill(0xff));
    refused("bootstrap", &|words| {
        let end = words.len() - 8;
        words[end..].fill(0xff);
    });
    refused("bootstrap", &|words| words.truncate(words.len() - 1));
    refused("bootstrap", &|words| words.push(0));
    refused("bootstrap", &Vec::clear);
    refused("bootstrap_seeds", &|seeds| seeds.truncate(32));
    check_refused::<Bgv>(&without(&bytes, "bootstrap"), "bootstrap");
    let open = |l: &mut ParamsLiteral| l.bootstrapping.iter_mut().for_each(|bootstrapping| bootstrapping.bits = None);
    check_refused::<Bgv>(&with_params(&bytes, open), "open");
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server) = &*KEYS;
    check_damage::<Bgv>(client, server, 7);
}

#[test]
fn what_no_key_can_be_is_refused_by_name() {
    let refused = |file: Vec<u8>, word: &str| check_refused::<Bgv>(&file, word);
    let (client, server) = (client_file::<Bgv>(&KEYS.0), server_file::<Bgv>(&KEYS.1));
    for file in [&client, &server] {
        check_headers::<Bgv>(file);
        refused(changed(file, "seed", |seed| seed[0] ^= 1), "key_id");
        refused(changed(file, "seed", |seed| seed.truncate(31)), "section seed");
        refused(changed(file, "b", |b| b[0] ^= 1), "public_digest");
        refused(changed(file, "b", |b| b.fill(0xff)), "section b");
        refused(changed(file, "b", |b| b.truncate(8)), "section b");
    }
    refused(changed(&server, "keys", |keys| keys.fill(0xff)), "section keys");
    refused(changed(&server, "keys", |keys| keys.extend([0; 8])), "section keys");
    refused(changed(&server, "seeds", |seeds| seeds.truncate(32)), "section seeds");
    // Even, out of range, twice, one more than there are keys.
    for first in [0_u64, 1, 2, 32, u64::MAX] {
        let alter = |words: &mut Vec<u8>| words[..8].copy_from_slice(&first.to_le_bytes());
        refused(changed(&server, "rotations", alter), "section rotations");
    }
    refused(changed(&server, "rotations", |words| words.copy_within(8..16, 0)), "section rotations");
    refused(changed(&server, "rotations", |words| words.truncate(9)), "section rotations");
    refused(changed(&server, "rotations", |words| words.truncate(8)), "section seeds");
    for far in [2, 0x7f, 0x80] {
        refused(changed(&client, "secret", |secret| secret[3] = far), "section secret");
    }
    // Ternary, and not that of the public key.
    refused(changed(&client, "secret", |secret| secret.fill(1)), "section secret");
    let with = |alter: fn(&mut ParamsLiteral)| with_params(&server, alter);
    refused(with(|l| l.terms = 3), "params");
    refused(with(|l| l.bits = None), "open");
    refused(with(|l| (l.name, l.dimension) = ("mine".into(), usize::MAX)), "dimension");
    refused(with(|l| (l.name, l.depth) = ("mine".into(), usize::MAX)), "depth");
    refused(with(|l| l.name = "mine".into()), "key_id");
}

proptest! {
    #[test]
    fn unpack_inverts_pack(bits in prop::collection::vec(1_u32..=64, 1..5), seed: u64) {
        let words: Vec<u64> = bits
            .iter()
            .flat_map(|&bits| (0..16).map(move |i| (seed ^ (i << 60)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)))
            .collect();
        let packed = bgv::pack_towers(&words, &bits).unwrap();
        prop_assert_eq!(packed.len(), bgv::packed_bytes(16, &bits));
        prop_assert_eq!(bgv::unpack_towers(&packed, 16, &bits).unwrap(), words);
        prop_assert!(bgv::unpack_towers(&packed[1..], 16, &bits).is_err());
    }
}

#[test]
fn towers_of_other_sizes_are_refused() {
    assert!(bgv::pack_towers(&[1, 2, 3], &[4, 4]).is_err() && bgv::pack_towers(&[], &[4]).is_err());
    assert!(bgv::pack_towers(&[1], &[]).is_err());
}
