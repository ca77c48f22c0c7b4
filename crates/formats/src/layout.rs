//! The layout of a file.

use std::io;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::header::Header;

/// First bytes of a file without secrets. They are not text, and every conversion of newlines alters them.
pub const PUBLIC_MAGIC: [u8; 8] = *b"\x89SLN\r\n\x1a\n";
/// First bytes of a file with secrets.
pub const SECRET_MAGIC: [u8; 8] = *b"\x8dSLNSEC\n";
/// Version of the format that is written, and newest version that is read (major, minor). A higher minor version only
/// adds header fields. A higher major version is not readable.
pub const VERSION: (u16, u16) = (1, 0);
/// Largest length of the CBOR header in bytes.
pub const MAX_HEADER: usize = 256 << 10;
/// Largest number of sections of a file.
pub const MAX_SECTIONS: usize = 64;

/// Number of bytes before the CBOR header.
pub(crate) const PRELUDE: usize = 64;
/// Number of bytes of the prelude that its hash covers.
const HASHED: usize = 32;
/// Alignment of sections and hash tables in bytes.
pub(crate) const ALIGN: u64 = 64;
/// Chunk size of new files in bytes.
pub(crate) const CHUNK: u32 = 1 << 20;
/// Chunk sizes that are read, in bytes.
const CHUNKS: std::ops::RangeInclusive<u32> = 1 << 12..=1 << 26;
/// Bytes of a chunk hash.
pub(crate) const HASH: u64 = 32;
/// Largest length of a section name in bytes.
const MAX_NAME: usize = 64;
/// Largest nesting depth of CBOR values in a header.
const MAX_DEPTH: usize = 32;

/// Returns the next multiple of [`ALIGN`]. `None` if it exceeds `u64`.
pub(crate) fn align(offset: u64) -> Option<u64> {
    offset.checked_next_multiple_of(ALIGN)
}

/// One entry of the section table. Offsets count from the beginning of the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) chunk: u32,
    /// Offset of the chunk hashes.
    pub(crate) hashes: u64,
    /// BLAKE3 of the chunk hashes.
    #[serde(with = "hash_bytes")]
    pub(crate) root: [u8; 32],
}

impl Entry {
    /// Number of chunks. The last one may be shorter.
    pub(crate) fn chunks(&self) -> u64 {
        self.length.div_ceil(u64::from(self.chunk))
    }
}

/// 32 bytes as a CBOR byte string.
mod hash_bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::KeyId;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        KeyId::deserialize(deserializer).map(|id| id.0)
    }
}

/// The CBOR header for writing.
#[derive(Serialize)]
struct HeaderRef<'a> {
    about: &'a Header,
    sections: &'a [Entry],
}

/// The CBOR header for reading.
#[derive(Deserialize)]
struct HeaderOwned {
    about: Header,
    sections: Vec<Entry>,
}

pub(crate) fn encode_header(about: &Header, sections: &[Entry]) -> Result<Vec<u8>> {
    let mut cbor = Vec::new();
    ciborium::into_writer(&HeaderRef { about, sections }, &mut cbor)
        .map_err(|e| Error::Unwritable(format!("the header has no CBOR form: {e}")))?;
    if cbor.len() > MAX_HEADER {
        return Err(Error::Unwritable(format!(
            "the header has {} bytes, at most {MAX_HEADER} are allowed; move large fields to a section",
            cbor.len()
        )));
    }
    // A file that could not be read again must not be written.
    decode_header(&cbor).map_err(|e| Error::Unwritable(format!("the header would not be readable: {e}")))?;
    Ok(cbor)
}

/// Reads exactly one CBOR value. Memory is limited to a small multiple of its length, and the stack to [`MAX_DEPTH`]
/// levels.
pub(crate) fn decode_header(cbor: &[u8]) -> std::result::Result<(Header, Vec<Entry>), String> {
    let mut rest = cbor;
    let header: HeaderOwned =
        ciborium::de::from_reader_with_recursion_limit(&mut rest, MAX_DEPTH).map_err(|e| match e {
            ciborium::de::Error::Io(_) => "its header ends within a value".to_owned(),
            ciborium::de::Error::Syntax(at) => format!("its header is not CBOR at byte {at}"),
            ciborium::de::Error::Semantic(_, what) => format!("its header is not as expected: {what}"),
            ciborium::de::Error::RecursionLimitExceeded => "its header is nested too deeply".to_owned(),
        })?;
    if !rest.is_empty() {
        return Err(format!("its header has {} bytes too many", rest.len()));
    }
    Ok((header.about, header.sections))
}

/// The fixed part at the beginning of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prelude {
    pub(crate) secret: bool,
    pub(crate) version: (u16, u16),
    pub(crate) header_len: u32,
    pub(crate) body: u32,
    pub(crate) flags: u32,
    pub(crate) file_len: u64,
    pub(crate) hash: [u8; 32],
}

impl Prelude {
    /// Builds the prelude of a file. Its hash covers the prelude and the header.
    pub(crate) fn seal(secret: bool, header: &[u8], body: u64, body_len: u64) -> Result<Self> {
        let too_large = || Error::Unwritable("the file would be too large".to_owned());
        let mut prelude = Self {
            secret,
            version: VERSION,
            header_len: u32::try_from(header.len()).map_err(|_| too_large())?,
            body: u32::try_from(body).map_err(|_| too_large())?,
            flags: 0,
            file_len: body.checked_add(body_len).ok_or_else(too_large)?,
            hash: [0; 32],
        };
        prelude.hash = prelude.hash_with(header);
        Ok(prelude)
    }

    pub(crate) fn to_bytes(self) -> [u8; PRELUDE] {
        let mut bytes = [0; PRELUDE];
        bytes[..8].copy_from_slice(if self.secret { &SECRET_MAGIC } else { &PUBLIC_MAGIC });
        bytes[8..10].copy_from_slice(&self.version.0.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.version.1.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.header_len.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.body.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.flags.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.file_len.to_le_bytes());
        bytes[32..].copy_from_slice(&self.hash);
        bytes
    }

    /// Reads the fields. Returns `None` if the magic is not one of this format.
    pub(crate) fn from_bytes(bytes: &[u8; PRELUDE]) -> Option<Self> {
        let u16_at = |i: usize| u16::from_le_bytes([bytes[i], bytes[i + 1]]);
        let u32_at = |i: usize| u32::from(u16_at(i)) | u32::from(u16_at(i + 2)) << 16;
        let mut hash = [0; 32];
        hash.copy_from_slice(&bytes[32..]);
        Some(Self {
            secret: is_secret(&bytes[..8])?,
            version: (u16_at(8), u16_at(10)),
            header_len: u32_at(12),
            body: u32_at(16),
            flags: u32_at(20),
            file_len: u64::from(u32_at(24)) | u64::from(u32_at(28)) << 32,
            hash,
        })
    }

    /// BLAKE3 of the fields before the hash, and of the header.
    pub(crate) fn hash_with(&self, header: &[u8]) -> [u8; 32] {
        *blake3::Hasher::new().update(&self.to_bytes()[..HASHED]).update(header).finalize().as_bytes()
    }
}

/// Whether a magic, or the beginning of one, is the secret one. `None` if it is not a magic of this format.
pub(crate) fn is_secret(magic: &[u8]) -> Option<bool> {
    if PUBLIC_MAGIC.starts_with(magic) {
        Some(false)
    } else if SECRET_MAGIC.starts_with(magic) {
        Some(true)
    } else {
        None
    }
}

/// Checks a section name.
pub(crate) fn check_name(name: &str) -> std::result::Result<(), String> {
    let ok = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(ok) {
        return Err(format!(
            "section name {name:?} is not 1 to {MAX_NAME} lower-case letters, digits, dots, dashes or underscores"
        ));
    }
    Ok(())
}

/// Checks that the sections and their hashes follow each other without gaps, from offset 0 to exactly `body_len`.
pub(crate) fn check_sections(sections: &[Entry], body_len: u64) -> std::result::Result<(), String> {
    if sections.len() > MAX_SECTIONS {
        return Err(format!("it lists {} sections, more than {MAX_SECTIONS}", sections.len()));
    }
    let mut end = 0;
    for (i, entry) in sections.iter().enumerate() {
        let name = &entry.name;
        check_name(name)?;
        if sections[..i].iter().any(|other| other.name == *name) {
            return Err(format!("it lists section {name} twice"));
        }
        if !CHUNKS.contains(&entry.chunk) || !entry.chunk.is_power_of_two() {
            return Err(format!("section {name} has a chunk size of {}", entry.chunk));
        }
        let place = |end: u64| {
            let offset = align(end)?;
            let hashes = align(offset.checked_add(entry.length)?)?;
            let end = hashes.checked_add(entry.chunks().checked_mul(HASH)?)?;
            (end <= body_len).then_some((offset, hashes, end))
        };
        let Some((offset, hashes, section_end)) = place(end) else {
            return Err(format!("section {name} of {} bytes does not fit the file", entry.length));
        };
        if (entry.offset, entry.hashes) != (offset, hashes) {
            return Err(format!("section {name} is not where it should be"));
        }
        end = section_end;
    }
    if end != body_len {
        return Err(format!("its sections end at byte {end} of {body_len}"));
    }
    Ok(())
}

/// Writes `count` zeros, at most a page at a time.
pub(crate) fn write_zeros(out: &mut dyn io::Write, mut count: u64) -> io::Result<()> {
    const ZEROS: [u8; 4096] = [0; 4096];
    while count > 0 {
        let n = count.min(ZEROS.len() as u64);
        out.write_all(&ZEROS[..n as usize])?;
        count -= n;
    }
    Ok(())
}
