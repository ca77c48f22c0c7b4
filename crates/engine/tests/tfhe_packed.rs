//! Packed compact results of TFHE: sizes, parts of arrays, and files.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_engine::{
    Ciphertext, ClientKey, Control, KeygenOptions, Plain, Server, ServerKey, ServerOptions, Type, keygen,
};
use solinas_formats::{Expect, Header, Reader, Writer};

fn keys(params: &str) -> (ClientKey, ServerKey) {
    let options = KeygenOptions { params: Some(params.into()), insecure_seed: Some(4), ..KeygenOptions::default() };
    keygen(&options, &Control::default()).unwrap()
}

fn encrypted(client: &ClientKey, ty: Type, values: &[u128]) -> Ciphertext {
    client.encrypt(&Plain::new(ty, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
}

fn single(client: &ClientKey, ty: Type, value: u128) -> Ciphertext {
    client.encrypt(&Plain::new(ty, None, vec![value]).unwrap()).unwrap()
}

fn bytes(ciphertext: &Ciphertext) -> usize {
    let bytes = ciphertext.to_bytes().unwrap();
    assert!(Ciphertext::from_bytes(&bytes).unwrap() == *ciphertext);
    bytes.len()
}

#[test]
fn files_of_compact_results_are_small() {
    let (client, key) = keys("integers-128");
    let server = Server::new(&key, None).unwrap();
    let compact = |fresh: &Ciphertext| {
        let compact = server.compact(fresh).unwrap();
        assert_eq!(client.decrypt(&compact).unwrap(), client.decrypt(fresh).unwrap());
        bytes(&compact)
    };
    let many: Vec<u128> = (0..256).map(|i| i * 0x0101_0101).collect();
    for (what, bytes, most) in [
        ("a bool", compact(&single(&client, Type::Bool, 1)), 1800),
        ("a u8", compact(&single(&client, Type::Uint(8), 200)), 4_000),
        ("a u32", compact(&single(&client, Type::Uint(32), 0xdead_beef)), 4_100),
        ("256 u32, 4096 blocks", compact(&encrypted(&client, Type::Uint(32), &many)), 3 * 4096),
    ] {
        println!("{what}: {bytes} bytes");
        assert!(bytes <= most, "{what}: {bytes} bytes, at most {most}");
    }
}

#[test]
fn parts_of_packed_arrays_keep_their_values_and_their_masks() {
    for params in ["integers-40", "gates-40"] {
        let (client, key) = keys(params);
        let server = Server::new(&key, None).unwrap();
        // More than a polynomial of blocks, so that an element is cut by its end.
        let values: Vec<u128> = (0..700).map(|i| i * 37 % 1024).collect();
        let array = server.compact(&encrypted(&client, Type::Uint(10), &values)).unwrap();
        assert!(array.is_compact());
        for (index, &value) in values.iter().enumerate().step_by(23) {
            let element = array.get(index).unwrap();
            assert_eq!(client.decrypt(&element).unwrap().values, [value], "{params}, element {index}");
        }
        let whole = bytes(&array);
        let halves = [array.slice(0..333).unwrap(), array.slice(333..700).unwrap()];
        for (half, values) in halves.iter().zip([&values[..333], &values[333..]]) {
            assert_eq!(client.decrypt(half).unwrap().values, values, "{params}");
            assert!(bytes(half) < whole);
        }
        // Parts that follow each other share their masks again.
        let joined = Ciphertext::stack(halves.to_vec()).unwrap();
        assert!(joined == array && bytes(&joined) == whole, "{params}");
        // Parts in another order, and from different files, decrypt too.
        let [low, high] = halves.map(|half| Ciphertext::from_bytes(&half.to_bytes().unwrap()).unwrap());
        let other = server.compact(&single(&client, Type::Uint(10), 1000)).unwrap();
        let mixed = Ciphertext::stack(vec![high, other, low]).unwrap();
        let want: Vec<u128> = [&values[333..], &[1000], &values[..333]].concat();
        assert_eq!(client.decrypt(&mixed).unwrap().values, want, "{params}");
        bytes(&mixed);
        let third = mixed.slice(300..500).unwrap();
        assert_eq!(client.decrypt(&third).unwrap().values, want[300..500], "{params}");
    }
}

#[test]
fn every_device_and_thread_count_gives_the_same_bytes() {
    let (client, key) = keys("integers-40");
    let fresh = encrypted(&client, Type::Uint(8), &[1, 2, 3, 250]);
    let compact = |threads, device: Option<&str>| {
        let device = device.map(|name| name.parse().unwrap());
        let server =
            Server::with_options(&key, &ServerOptions { threads: Some(threads), device, ..Default::default() });
        server.unwrap().compact(&fresh).unwrap().to_bytes().unwrap()
    };
    let want = compact(1, None);
    assert!(want == compact(3, None) && want == compact(2, Some("emulated")));
}

#[test]
fn inconsistent_packed_sections_are_refused() {
    let (client, key) = keys("gates-40");
    let server = Server::new(&key, None).unwrap();
    let packed = server.compact(&encrypted(&client, Type::Uint(4), &[5, 6])).unwrap().to_bytes().unwrap();
    let reader = Reader::from_bytes("x", packed, Expect::any()).unwrap();
    let (header, section) = (reader.header().clone(), reader.section("packed").unwrap().into_owned());
    let read = |header: Header, section: &[u8]| {
        let mut writer = Writer::in_memory(header);
        writer.section("packed", section).unwrap();
        Ciphertext::from_bytes(&writer.into_bytes().unwrap())
    };
    assert!(read(header.clone(), &section).is_ok());
    let changed = |place: usize, word: u32| {
        let mut section = section.clone();
        section[place..place + 4].copy_from_slice(&word.to_le_bytes());
        section
    };
    for (what, section) in [
        ("no blocks", changed(0, 0)),
        ("fewer blocks", changed(0, 7)),
        ("more blocks", changed(0, 9)),
        ("many blocks", changed(0, u32::MAX)),
        ("a first block past the end", changed(4, 505)),
        ("blocks with masks of their own", changed(4, u32::MAX)),
        ("a missing byte", section[..section.len() - 1].to_vec()),
        ("a byte too many", [&section[..], &[0]].concat()),
        ("half a head", section[..5].to_vec()),
        ("nothing", Vec::new()),
    ] {
        assert!(read(header.clone(), &section).is_err(), "{what}");
    }
    let newer = header.clone().meta("layout", &2u32).unwrap();
    let error = read(newer, &section).unwrap_err().to_string();
    assert!(error.contains("update"), "{error}");

    // The only block is in the header.
    let bit = server.compact(&single(&client, Type::Bool, 1)).unwrap().to_bytes().unwrap();
    let header = Reader::from_bytes("x", bit, Expect::any()).unwrap().header().clone();
    let read = |header: Header| Ciphertext::from_bytes(&Writer::in_memory(header).into_bytes().unwrap());
    assert!(read(header.clone()).is_ok());
    let block = header.meta["block"].as_bytes().unwrap().clone();
    for wrong in [
        header.clone().meta("block", "text").unwrap(),
        header.clone().meta("block", &solinas_formats::Value::Bytes(block[1..].to_vec())).unwrap(),
        header.clone().meta("shape", &Some([2])).unwrap(),
        header.clone().meta("type", "u2").unwrap(),
    ] {
        assert!(read(wrong).is_err());
    }
}
