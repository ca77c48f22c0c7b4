//! Ciphertext files whose hashes are right and whose numbers are not: refused when they are read, by name.

use crate::keys::{encrypted, keys};
use solinas_formats::{Expect, Header, Reader, Value, Writer, pack};
use solinas_values::{Ciphertext, ClientKey, EncryptionKey, ServerKey, Type};
use std::path::Path;

/// A fresh ciphertext of 1 of each leveled scheme.
fn fresh() -> impl Iterator<Item = Ciphertext> {
    let sets = [("bgv", "slots-64-2"), ("bgv", "bits-64-2"), ("ntru", "slots-64-2"), ("lwe", "leveled-8-2")];
    sets.into_iter().map(|(scheme, params)| {
        let (client, _) = keys(scheme, params);
        let modulus = client.params().plaintext_modulus.filter(|&p| p > 2);
        encrypted(&client, modulus.map_or(Type::Bool, |p| Type::Mod(p as u32)), None, vec![1])
    })
}

/// The bytes of a file with its header and one of its sections changed, its hashes made anew. None where they have no form.
fn forged(
    bytes: &[u8],
    header: impl Fn(&mut Header),
    section: &str,
    change: impl Fn(&[u8]) -> Vec<u8>,
) -> Option<Vec<u8>> {
    let reader = Reader::from_bytes("x", bytes, Expect::any()).unwrap();
    let mut about = reader.header().clone();
    header(&mut about);
    let mut writer = Writer::in_memory(about);
    for (name, _) in reader.sections() {
        let content = reader.section(name).unwrap();
        writer.section(name, &if name == section { change(&content) } else { content.to_vec() }).ok()?;
    }
    Some(writer.into_bytes().ok()?.to_vec())
}

/// Writes the ciphertext with a section replaced and reads it.
fn with(x: &Ciphertext, section: &str, path: &Path, change: impl Fn(&[u8]) -> Vec<u8>) -> Result<Ciphertext, String> {
    std::fs::write(path, forged(&x.to_bytes().unwrap(), |_| {}, section, change).unwrap()).unwrap();
    Ciphertext::load(path).map_err(|error| error.to_string())
}

/// Other values that are like a header's value: another number or text in each place.
fn altered(value: &Value) -> Vec<Value> {
    let with = |items: &[Value], i: usize, new: Value| {
        let mut items = items.to_vec();
        items[i] = new;
        items
    };
    let mut all =
        vec![Value::Null, Value::Text("\u{1b}[2J".into()), Value::from(u64::MAX), Value::from(0), Value::Float(-1.0)];
    match value {
        Value::Array(items) => {
            let each =
                items.iter().enumerate().flat_map(|(i, item)| altered(item).into_iter().map(move |new| (i, new)));
            all.extend(each.map(|(i, new)| Value::Array(with(items, i, new))));
        }
        Value::Map(fields) => {
            for (i, (name, value)) in fields.iter().enumerate() {
                for new in altered(value) {
                    let mut fields = fields.clone();
                    fields[i] = (name.clone(), new);
                    all.push(Value::Map(fields));
                }
            }
        }
        _ => {}
    }
    all
}

/// Every file of every scheme, with each field of its header, and each of its sections, replaced by others.
#[test]
fn every_error_about_a_forged_file_names_it() {
    type Load = fn(&Path) -> Result<(), String>;
    let loads: [Load; 4] = [
        |path| Ciphertext::load(path).map(drop).map_err(|e| e.to_string()),
        |path| ClientKey::load(path).map(drop).map_err(|e| e.to_string()),
        |path| ServerKey::load(path).map(drop).map_err(|e| e.to_string()),
        |path| EncryptionKey::load(path).map(drop).map_err(|e| e.to_string()),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged");
    let (mut refused, mut read) = (0, 0);
    for (scheme, params) in
        [("tfhe", "gates-40"), ("gh", "ci-15"), ("bgv", "slots-64-2"), ("ntru", "slots-64-2"), ("lwe", "leveled-8-2")]
    {
        let (client, key) = keys(scheme, params);
        let modulus = client.params().plaintext_modulus.filter(|&p| p > 2);
        let x = encrypted(&client, modulus.map_or(Type::Bool, |p| Type::Mod(p as u32)), None, vec![1]);
        let files = [x.to_bytes().unwrap(), client.to_bytes().unwrap().to_vec(), key.to_bytes().unwrap()];
        for (bytes, load) in files.iter().zip(loads) {
            let reader = Reader::from_bytes("x", &bytes[..], Expect::any()).unwrap();
            let mut all = Vec::new();
            for params in altered(&reader.header().params) {
                all.push(forged(bytes, |header| header.params = params.clone(), "", <[u8]>::to_vec));
            }
            for (name, value) in &reader.header().meta {
                all.push(forged(bytes, |header| drop(header.meta.remove(name)), "", <[u8]>::to_vec));
                for value in altered(value) {
                    let change = |header: &mut Header| drop(header.meta.insert(name.clone(), value.clone()));
                    all.push(forged(bytes, change, "", <[u8]>::to_vec));
                }
            }
            all.push(forged(bytes, |header| header.scheme = Some("none".into()), "", <[u8]>::to_vec));
            all.push(forged(bytes, |header| header.key_id = None, "", <[u8]>::to_vec));
            for (name, _) in reader.sections() {
                for change in [
                    |_: &[u8]| Vec::new(),
                    |bytes: &[u8]| bytes[bytes.len() / 2..].to_vec(),
                    |bytes: &[u8]| vec![0xff; bytes.len()],
                    |bytes: &[u8]| vec![0; bytes.len()],
                    |bytes: &[u8]| [bytes, &[0; 8]].concat(),
                ] {
                    all.push(forged(bytes, |_| {}, name, change));
                }
            }
            for forged in all.into_iter().flatten() {
                std::fs::write(&path, forged).unwrap();
                for load in [load, loads[3]] {
                    match load(&path) {
                        Ok(()) => read += 1,
                        Err(message) => {
                            assert!(message.contains("forged"), "{scheme}: {message}");
                            refused += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{refused} refused by name, {read} read");
    assert!(refused > 1000);
}

#[test]
fn numbers_that_are_no_residues_are_refused_with_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.ct");
    for x in fresh() {
        assert_eq!(with(&x, "polynomials", &path, <[u8]>::to_vec).as_ref(), Ok(&x));
        let message = with(&x, "polynomials", &path, |bytes| vec![0xff; bytes.len()]).unwrap_err();
        assert!(message.contains("forged.ct") && message.contains("no residue of its prime"), "{message}");
        // The last number alone.
        let last = |bytes: &[u8]| [&bytes[..bytes.len() - 8], &[0xff; 8]].concat();
        let message = with(&x, "polynomials", &path, last).unwrap_err();
        assert!(message.contains("forged.ct") && message.contains("no residue of its prime"), "{message}");
    }
}

#[test]
fn noise_that_no_ciphertext_has_is_refused_in_a_short_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.ct");
    for x in fresh() {
        for noise in [1e308, 1e9, -1.0, f64::NAN, f64::INFINITY] {
            let change = |bytes: &[u8]| pack::u64_to_le(&vec![f64::to_bits(noise); bytes.len() / 8]);
            let message = with(&x, "noise", &path, change).unwrap_err();
            assert!(message.contains("forged.ct") && message.contains("as large as the modulus"), "{message}");
            assert!(message.len() < 300, "{message}");
        }
    }
}
