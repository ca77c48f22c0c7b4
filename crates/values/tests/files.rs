//! Files of ciphertexts: their sizes, their parts, and the memory that they take.

use crate::keys::{encrypted, keys};
use solinas_values::{Ciphertext, Error, Plain, Type};

#[test]
fn files_are_small_and_read_back() {
    let (client, _) = keys("tfhe", "integers-128");
    let public = client.public_key().unwrap();
    let bytes = |ciphertext: Ciphertext| {
        let bytes = ciphertext.to_bytes().unwrap();
        assert!(Ciphertext::from_bytes(&bytes).unwrap() == ciphertext);
        bytes.len()
    };
    let one = Plain::scalar(Type::Uint(32), 7).unwrap();
    let many = Plain::new(Type::Uint(32), Some(vec![1000]), (0..1000u128).collect()).unwrap();
    let sizes = [
        ("u32 of a client key", bytes(client.encrypt(&one).unwrap()), 1000),
        ("1000 u32 of a client key", bytes(client.encrypt(&many).unwrap()), 70_000),
        ("u32 of a public key", bytes(public.encrypt(&one).unwrap()), 10_000),
        ("1000 u32 of a public key", bytes(public.encrypt(&many).unwrap()), 40 * 16_000),
        ("the public key", public.to_bytes().unwrap().len(), 50_000),
    ];
    for (what, bytes, most) in sizes {
        println!("{what}: {bytes} bytes");
        assert!(bytes <= most, "{what}: {bytes} bytes, at most {most}");
    }
}

#[test]
fn sizes_of_ciphertexts_are_as_estimated() {
    let sets = [
        ("tfhe", "gates-toy", Type::Uint(5)),
        ("tfhe", "integers-toy", Type::Uint(5)),
        ("gh", "ci-15", Type::Uint(5)),
        ("ntru", "tight-64-12", Type::Uint(5)),
        ("ntru", "slots-128-3", Type::Mod(257)),
        ("bgv", "bits-64-12", Type::Uint(5)),
        ("bgv", "slots-128-4", Type::Mod(65537)),
        ("lwe", "leveled-8-9", Type::Uint(5)),
    ];
    for (scheme, params, ty) in sets {
        let (client, key) = keys(scheme, params);
        for shape in [None, Some(1), Some(3), Some(400)] {
            let size = encrypted(&client, ty, shape, vec![1; shape.unwrap_or(1)]).to_bytes().unwrap().len() as f64;
            let estimate = key.params().fresh_bytes(ty, shape) as f64;
            // A file holds the seed of the uniform part where the client's key made it, which is half of the ciphertext.
            assert!((0.9 * size - 4096.0..=2.0 * size).contains(&estimate), "{params} {shape:?}: {estimate}, {size}");
        }
    }
}

#[test]
fn headers_tell_what_a_file_takes() {
    let (client, _) = keys("tfhe", "gates-40");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.ct");
    let x = encrypted(&client, Type::Uint(4), Some(100), vec![1; 100]);
    x.save(&path).unwrap();
    let facts = Ciphertext::peek(&path).unwrap();
    assert_eq!((facts.ty, facts.shape.as_deref(), facts.len), (Type::Uint(4), Some(&[100][..]), 100));
    assert!(!facts.is_compact && facts.memory_bytes >= 1600 && facts.loading_bytes > facts.memory_bytes, "{facts:?}");
    std::fs::write(&path, b"no ciphertext").unwrap();
    assert!(Ciphertext::peek(&path).is_err());
}

/// Parts of one encryption stay short. Others are expanded, to 500 times their size, and the budget is checked before.
#[test]
fn stacks_of_short_forms_stay_short_or_are_within_the_budget() {
    let (client, _) = keys("tfhe", "gates-toy");
    let bytes = |x: &Ciphertext| x.to_bytes().unwrap().len();
    let array = |count: usize| encrypted(&client, Type::Bool, Some(count), vec![1; count]);
    let whole = array(4000);
    let parts = vec![whole.slice(0..1000).unwrap(), whole.slice(2000..4000).unwrap()];
    assert!(bytes(&Ciphertext::stack(parts).unwrap()) < bytes(&whole) + 100);
    let [one, other] = [1, 2].map(|_| array(20));
    assert!(bytes(&Ciphertext::stack(vec![one, other]).unwrap()) > 10 * bytes(&whole) / 4);
    // The same 2^16 blocks 4096 times are one array in memory, and 1.6 TB when they are expanded.
    let plain = Plain::new(Type::Bool, Some(vec![1 << 16]), vec![0u128; 1 << 16]).unwrap();
    let packed = client.public_key().unwrap().encrypt(&plain).unwrap();
    let error = Ciphertext::stack(vec![packed; 4096]).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::Memory { .. }) && message.contains("take fewer values at a time"), "{message}");
}

#[test]
fn elements_of_bits_are_taken_apart_and_those_of_slots_are_not() {
    let (client, _) = keys("ntru", "tight-64-12");
    let u4 = Type::Uint(4);
    let x = encrypted(&client, u4, Some(3), vec![1, 2, 3]);
    let y = Ciphertext::stack(vec![x.get(2).unwrap(), x.get(0).unwrap()]).unwrap();
    assert_eq!(client.decrypt(&y).unwrap().values, [3, 1]);
    assert!(matches!(x.get(3), Err(Error::Index { .. })));
    let (client, _) = keys("ntru", "slots-128-3");
    let x = encrypted(&client, Type::Mod(257), Some(2), vec![1, 256]);
    assert!(matches!(x.get(0), Err(Error::Packed { slots: 128 })));
    assert!(matches!(Ciphertext::stack(vec![x.clone(), x]), Err(Error::Packed { .. })));
}
