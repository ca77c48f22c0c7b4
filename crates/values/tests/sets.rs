//! Parameter sets, and what their keys hold.

use crate::keys::keys;
use solinas_values::{Error, Plain, Type, params};

#[test]
fn sets_say_what_they_hold() {
    let all: Vec<_> = params().into_iter().filter(|set| set.scheme.name() == "bgv").collect();
    let set = all.iter().find(|set| set.name == "slots128-16384-7").unwrap();
    assert!(set.log2_failure == -128.0);
    assert!(set.recommended && set.classical_bits == 128.0 && set.depth == Some(7) && set.slots == Some(16384));
    let set = all.iter().find(|set| set.name == "bits128-4096-2").unwrap();
    assert!(set.recommended && set.slots.is_none() && set.plaintext_modulus == Some(2));
}

#[test]
fn a_million_packed_values_take_megabytes() {
    let sets = params();
    let bgv = sets.iter().find(|set| set.scheme.name() == "bgv").unwrap();
    let bytes = bgv.encrypted_bytes(Type::Mod(65537), Some(1_000_000));
    assert!((1 << 20..200 << 20).contains(&bytes), "{bytes}");
}

#[test]
fn more_values_than_memory_holds_are_refused() {
    let (client, _) = keys("bgv", "bits-64-12");
    let plain = |count: usize| Plain::new(Type::Uint(128), Some(vec![count]), vec![1; count]).unwrap();
    client.encrypt(&plain(300)).unwrap();
    let error = client.encrypt(&plain(1 << 25)).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    assert!(error.to_string().contains("take fewer values at a time"), "{error}");
}
