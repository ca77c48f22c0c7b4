//! The file format. No bytes make the reader panic, hang or allocate without bound. Accepted input is written back unchanged.

use solinas_formats::{Error, Expect, Header, KeyId, Kind, PUBLIC_MAGIC, Reader, SECRET_MAGIC, Writer, pack};

/// Opens the bytes in three ways: unchanged; with corrected lengths and checksums, so that mutations pass these checks; and as the header of a file without
/// a body.
pub fn run(data: &[u8]) {
    check(data);
    if let Some(sealed) = reseal(data) {
        check(&sealed);
    }
    if let Some(sealed) = header_only(data).as_deref().and_then(reseal) {
        check(&sealed);
    }
    check_packing(data);
}

/// Complete files of several kinds and sizes, and their headers only.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for (kind, lens) in [
        (Kind::Circuit, &[][..]),
        (Kind::ClientKey, &[17, 0, 64]),
        (Kind::ServerKey, &[4097, 100]),
        (Kind::Ciphertext, &[1, 1, 1, 1]),
    ] {
        let params = ("n", 740, 2.5, [1u8; 3], Some(true));
        let header = Header::new(kind).scheme("tfhe").key_id(KeyId([7; 32])).params(&params);
        let file = header.and_then(|header| header.meta("width", &64)).and_then(|header| {
            let mut writer = Writer::in_memory(header);
            for (i, &len) in lens.iter().enumerate() {
                writer.section(&format!("section-{i}"), &vec![i as u8; len])?;
            }
            writer.into_bytes()
        });
        let file = file.map(|bytes| bytes.to_vec()).unwrap_or_default();
        seeds.extend(header_of(&file).map(<[u8]>::to_vec));
        seeds.push(file);
    }
    seeds
}

fn check(bytes: &[u8]) {
    let Ok(reader) = Reader::from_bytes("fuzz", bytes, Expect::any()) else { return };
    let whole = reader.verify_all().is_ok();
    let mut all_sections = true;
    let mut copy = Writer::in_memory(reader.header().clone());
    for (name, len) in reader.sections() {
        match reader.section(name) {
            Ok(section) => {
                assert_eq!(section.len() as u64, len);
                copy.section(name, &section).expect("what was read can be written");
            }
            Err(Error::Damaged { .. }) => all_sections = false,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(whole, all_sections);
    let Ok(copy) = copy.into_bytes() else { return };
    let again = Reader::from_bytes("copy", copy.to_vec(), Expect::any()).expect("what was written can be read");
    again.verify_all().expect("what was written is whole");
    if whole {
        assert!(again.sections().eq(reader.sections()));
        assert!(reader.sections().all(|(name, _)| again.section(name).ok() == reader.section(name).ok()));
    }
}

fn header_of(file: &[u8]) -> Option<&[u8]> {
    let len = u32::from_le_bytes(file.get(12..16)?.try_into().ok()?) as usize;
    file.get(64..64usize.checked_add(len)?)
}

/// A file with that header and no body, not yet sealed.
fn header_only(header: &[u8]) -> Option<Vec<u8>> {
    let body = (64 + header.len()).next_multiple_of(64);
    let mut file = vec![0; body];
    file[12..16].copy_from_slice(&u32::try_from(header.len()).ok()?.to_le_bytes());
    file[16..20].copy_from_slice(&u32::try_from(body).ok()?.to_le_bytes());
    file[64..64 + header.len()].copy_from_slice(header);
    Some(file)
}

/// The same bytes with a valid magic, a valid version, the actual lengths, and the checksum of the header.
pub(super) fn reseal(data: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = data.to_vec();
    let len = (bytes.len() as u64).to_le_bytes();
    let front = bytes.get_mut(..64)?;
    let magic = if front[0] & 4 == 0 { PUBLIC_MAGIC } else { SECRET_MAGIC };
    front[..8].copy_from_slice(&magic);
    front[8..10].copy_from_slice(&1u16.to_le_bytes());
    front[20..24].fill(0);
    front[24..32].copy_from_slice(&len);
    let hash = *blake3::Hasher::new().update(&bytes[..32]).update(header_of(&bytes)?).finalize().as_bytes();
    bytes[32..64].copy_from_slice(&hash);
    Some(bytes)
}

fn check_packing(data: &[u8]) {
    let [bits, count, packed @ ..] = data else { return };
    let (bits, count) = (u32::from(*bits), usize::from(*count));
    if let Ok(words) = pack::unpack_high_bits(packed, bits, count) {
        assert_eq!(pack::pack_high_bits(&words, bits).expect("words that were unpacked"), packed);
    }
}
