//! Every byte counts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common;

use proptest::prelude::*;
use solinas_formats::{Error, Expect, Header, Kind, Overwrite, Reader, Result, Writer, inspect};

fn verify(bytes: &[u8]) -> Result<()> {
    Reader::from_bytes("x", bytes, Expect::any())?.verify_all()
}

#[test]
fn flipping_any_bit_is_detected() {
    for kind in [Kind::ServerKey, Kind::ClientKey] {
        let whole = common::small(kind).unwrap();
        verify(&whole).unwrap();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                assert!(verify(&altered).is_err(), "{kind}: bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn truncating_anywhere_and_appending_anything_is_detected() {
    let whole = common::small(Kind::Ciphertext).unwrap();
    for len in 0..whole.len() {
        let error = verify(&whole[..len]).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. } | Error::Empty { .. }), "{len}: {error}");
    }
    for more in [1, 63, 64, 4096] {
        for fill in [0, 0xff] {
            let mut longer = whole.clone();
            longer.resize(whole.len() + more, fill);
            assert!(matches!(verify(&longer), Err(Error::Damaged { .. })));
        }
    }
}

#[test]
fn swapping_sections_of_equal_length_is_detected() {
    let mut writer = Writer::in_memory(Header::new(Kind::Cache));
    writer.section("a", &[1; 64]).unwrap();
    writer.section("b", &[2; 64]).unwrap();
    let mut bytes = writer.into_bytes().unwrap().to_vec();
    let (a, b) = (position(&bytes, &[1; 64]), position(&bytes, &[2; 64]));
    for i in 0..64 {
        bytes.swap(a + i, b + i);
    }
    assert!(verify(&bytes).is_err());
}

fn position(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).unwrap()
}

#[test]
fn damage_in_one_chunk_is_located_and_leaves_the_others_readable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.key");
    let mut writer = Writer::create(&path, common::header(Kind::ServerKey), Overwrite::Never).unwrap();
    writer.section("large", &vec![5; 3 << 20]).unwrap();
    writer.section("small", &[6; 100]).unwrap();
    writer.finish().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = position(&bytes, &[5; 1000]) + (1 << 20) + 17;
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    let reader = Reader::open(&path, Expect::kind(Kind::ServerKey)).unwrap();
    assert_eq!(*reader.section("small").unwrap(), [6; 100]);
    let states: Vec<bool> = reader.chunks("large").unwrap().map(|chunk| chunk.is_ok()).collect();
    assert_eq!(states, [true, false, true]);
    let message = reader.section("large").unwrap_err().to_string();
    assert!(message.contains("server.key is damaged: section large"), "{message}");
    let summary = inspect(&path).unwrap();
    assert!(!summary.is_intact());
    assert!(summary.sections[0].damage.is_some() && summary.sections[1].damage.is_none());
}

/// Truncated, overwritten and replaced while it is open: an error or the right bytes, never a signal that ends the process.
#[test]
fn a_file_that_changes_under_its_reader_gives_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.key");
    let write = |word: u64, overwrite| {
        let mut writer = Writer::create(&path, common::header(Kind::ServerKey), overwrite).unwrap();
        writer.section_u64("words", &vec![word; 1 << 19]).unwrap();
        writer.finish().unwrap();
    };
    write(1, Overwrite::Never);
    let other = std::fs::read(&path).unwrap();
    write(2, Overwrite::Always);
    let (read, replaced) = (|reader: &Reader| reader.section_u64("words", 1 << 19), vec![2; 1 << 19]);
    let reader = Reader::open(&path, Expect::any()).unwrap();
    let words = read(&reader).unwrap();
    // As `cp` does: in place, cut to nothing and written anew.
    std::fs::write(&path, &other).unwrap();
    assert!(matches!(read(&reader), Err(Error::Damaged { .. })));
    assert!(matches!(reader.section("words"), Err(Error::Damaged { .. })));
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let message = read(&reader).unwrap_err().to_string();
    assert!(message.contains("became shorter while it was read"), "{message}");
    assert!(reader.verify_all().is_err());
    assert!(words == replaced, "what was read stays");
    // As Solinas does: renamed over it, which leaves the one that is open.
    write(2, Overwrite::Always);
    let reader = Reader::open(&path, Expect::any()).unwrap();
    write(1, Overwrite::Always);
    assert!(read(&reader).unwrap() == replaced);
}

#[test]
fn memory_and_file_hold_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.ct");
    let mut writer = Writer::create(&path, common::header(Kind::Ciphertext), Overwrite::Never).unwrap();
    for (name, len) in [("none", 0), ("one", 1), ("aligned", 64), ("data", 100u8)] {
        writer.section(name, &(0..len).collect::<Vec<u8>>()).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), common::small(Kind::Ciphertext).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Sections of any size, written in pieces of any size, to a file (read section by section when large) and to memory.
    #[test]
    fn reading_gives_back_what_was_written(
        sizes in prop::collection::vec(prop_oneof![0usize..200, (1usize << 20) - 2..(1 << 20) + 3, 0usize..3 << 20], 0..5),
        piece in prop_oneof![1usize..5000, 1usize << 20..2 << 20],
        secret: bool,
    ) {
        let kind = if secret { Kind::ClientKey } else { Kind::ServerKey };
        let sections: Vec<(String, Vec<u8>)> = sizes
            .iter()
            .enumerate()
            .map(|(i, &len)| (format!("s{i}"), (0..len).map(|j| (j * 31 + i) as u8 ^ (j >> 9) as u8).collect()))
            .collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let header = common::header(kind);
        let mut file = Writer::create(&path, header.clone(), Overwrite::Never).unwrap();
        let mut memory = Writer::in_memory(header.clone());
        for (name, data) in &sections {
            let mut out = file.begin_section(name).unwrap();
            for piece in data.chunks(piece) {
                std::io::Write::write_all(&mut out, piece).unwrap();
            }
            memory.section(name, data).unwrap();
        }
        file.finish().unwrap();
        let in_memory = Reader::from_bytes("memory", memory.into_bytes().unwrap().to_vec(), Expect::kind(kind)).unwrap();
        let in_file = Reader::open(&path, Expect::kind(kind)).unwrap();
        for reader in [in_memory, in_file] {
            reader.verify_all().unwrap();
            prop_assert_eq!(reader.header(), &header);
            prop_assert_eq!(reader.sections().len(), sections.len());
            for (name, data) in &sections {
                prop_assert!(*reader.section(name).unwrap() == data[..]);
                let chunks: Vec<u8> = reader.chunks(name).unwrap().flat_map(|chunk| chunk.unwrap().to_vec()).collect();
                prop_assert!(chunks == *data);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), ours: bool) {
        let mut bytes = bytes;
        if ours && bytes.len() >= 12 {
            bytes[..8].copy_from_slice(&solinas_formats::PUBLIC_MAGIC);
            bytes[8..12].copy_from_slice(&[1, 0, 0, 0]);
        }
        prop_assert!(verify(&bytes).is_err());
    }
}
