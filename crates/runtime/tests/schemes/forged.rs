//! Ciphertext files whose hashes are right and whose numbers are not: refused when they are read, by name.

use crate::common::Setup;
use solinas_formats::{Expect, Kind, Reader, Writer, pack};
use solinas_runtime::{Ciphertext, Scheme, Type};
use std::path::Path;

/// A fresh ciphertext of 1 of each leveled scheme.
fn fresh() -> impl Iterator<Item = Ciphertext> {
    let sets = [
        (Scheme::Bgv, "slots-64-2"),
        (Scheme::Bgv, "bits-64-2"),
        (Scheme::Ntru, "slots-64-2"),
        (Scheme::Lwe, "leveled-8-2"),
    ];
    sets.into_iter().map(|(scheme, params)| {
        let setup = Setup::new(scheme, params, 1);
        let modulus = setup.client.params().plaintext_modulus.filter(|&p| p > 2);
        setup.scalar(modulus.map_or(Type::Bool, |p| Type::Mod(p as u32)), 1)
    })
}

/// Writes the ciphertext with a section replaced, its hashes made anew, and reads it.
fn with(x: &Ciphertext, section: &str, path: &Path, change: impl Fn(&[u8]) -> Vec<u8>) -> Result<Ciphertext, String> {
    let bytes = x.to_bytes().unwrap();
    let reader = Reader::from_bytes("x", &bytes[..], Expect::kind(Kind::Ciphertext)).unwrap();
    let mut writer = Writer::in_memory(reader.header().clone());
    for (name, _) in reader.sections() {
        let content = reader.section(name).unwrap();
        writer.section(name, &if name == section { change(content) } else { content.to_vec() }).unwrap();
    }
    std::fs::write(path, &*writer.into_bytes().unwrap()).unwrap();
    Ciphertext::load(path).map_err(|error| error.to_string())
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
