//! Versioned, checksummed files for keys, ciphertexts and circuits.
//!
//! One container holds every kind of file ([`Kind`]):
//!
//! ```text
//! offset  bytes  content
//!      0      8  magic: PUBLIC_MAGIC or SECRET_MAGIC
//!      8    2+2  format version, major and minor (all numbers little-endian)
//!     12      4  h: length of the CBOR header
//!     16      4  b: offset of the body, a multiple of 64
//!     20      4  flags, 0
//!     24      8  length of the file
//!     32     32  BLAKE3 of bytes 0..32 and of the CBOR header
//!     64      h  CBOR header: kind, scheme, parameters, key id, library, insecure seed, meta, section table
//!      b         body: for each section its raw bytes, then its table of 32-byte chunk hashes;
//!                both begin at multiples of 64
//! ```
//!
//! The section table gives for each section its name, offset, length and chunk size, the offset of the chunk hashes,
//! and their BLAKE3. All gaps are zero, and the lengths determine the layout. Checks therefore cover every byte of a
//! file: they find bytes that are changed, removed or added. Opening a file checks everything but the bytes of the
//! sections. These are checked chunk by chunk as they are read into memory. Later changes of the file do not affect
//! what was read.
//!
//! The hashes detect damage, not forgery: an attacker that can write a file can write its hashes too. Nothing here is
//! encrypted. Only the permissions of its file protect a client key.
//!
//! ```
//! use solinas_formats::{Expect, Header, Kind, KeyId, Overwrite, Reader, Writer};
//! # fn main() -> Result<(), solinas_formats::Error> {
//! # let dir = tempfile::tempdir().expect("a temporary folder");
//! let path = dir.path().join("server.key");
//! let header = Header::new(Kind::ServerKey).scheme("tfhe").key_id(KeyId::hash_of(b"seed")).meta("seeded", &true)?;
//! let mut writer = Writer::create(&path, header, Overwrite::KeepSecrets)?;
//! writer.section("bootstrap", &[1, 2, 3])?;
//! writer.finish()?;
//!
//! let reader = Reader::open(&path, Expect::kind(Kind::ServerKey))?;
//! assert!(reader.meta::<bool>("seeded")?);
//! assert_eq!(*reader.section("bootstrap")?, [1, 2, 3]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, reason = "a build without some schemes does not use all that they share")
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod destination;
mod error;
#[cfg(feature = "gh")]
pub mod gh;
mod header;
mod inspect;
mod key_facts;
mod keys;
mod layout;
#[cfg(feature = "leveled")]
mod leveled;
mod lock;
mod new_file;
mod on_demand;
pub mod pack;
mod pair;
mod private_key;
mod reader;
mod source;
#[cfg(not(target_family = "wasm"))]
mod temporary;
#[cfg(target_family = "wasm")]
#[path = "no_temporary.rs"]
mod temporary;
pub mod tfhe;
mod writer;

pub use ciborium::Value;
pub use destination::{Destination, Memory, Overwrite, ToFile, write_text};
pub use error::{Error, Result};
pub use header::{Header, Kind};
pub use inspect::{SectionSummary, Summary, digest_of_sections, inspect, readable_by_others};
pub use key_facts::KeyIdentity;
pub use keys::KeyFiles;
pub use layout::{MAX_HEADER, MAX_SECTIONS, PUBLIC_MAGIC, SECRET_MAGIC, VERSION};
#[cfg(feature = "leveled")]
pub use leveled::CiphertextFiles;
#[cfg(feature = "bgv")]
pub use leveled::bgv;
#[cfg(feature = "lwe")]
pub use leveled::lwe;
#[cfg(feature = "ntru")]
pub use leveled::ntru;
pub use lock::Lock;
pub use new_file::{
    NewFile, TemporaryFolder, check_place, check_replaceable, clear_leftovers, containing_folder, remove_file,
};
pub use on_demand::OnDemand;
pub use pair::NewPair;
pub use private_key::{PRIVATE_KEY_HEAD, is_private_key};
pub use reader::{Expect, Reader};
pub use solinas_schemes::{Fingerprint, KeyId, NoFingerprint};
pub use writer::{SectionWriter, Writer};
