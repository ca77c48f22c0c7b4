//! Files the tests share.

use solinas_formats::{Header, KeyId, Kind, Memory, Result, Writer};

/// A header of that kind with every field in use.
pub(crate) fn header(kind: Kind) -> Header {
    let params = [("n", 740), ("big_n", 1024)];
    Header::new(kind)
        .scheme("tfhe")
        .params(&std::collections::BTreeMap::from(params))
        .and_then(|h| h.key_id(KeyId::hash_of(b"a key pair")).meta("width", &16))
        .expect("small maps have a CBOR form")
}

/// A small file in memory with sections of 0, 1, 64 and 100 bytes.
pub(crate) fn small(kind: Kind) -> Result<Vec<u8>> {
    let mut writer: Writer<Memory> = Writer::in_memory(header(kind));
    for (name, len) in [("none", 0), ("one", 1), ("aligned", 64), ("data", 100u8)] {
        writer.section(name, &(0..len).collect::<Vec<u8>>())?;
    }
    writer.into_bytes().map(|bytes| bytes.to_vec())
}
