//! Checksums of the parts of uploads: the header `Upload-Checksum` with a name and a hash in base64.

use crate::error::{Code, Problem};
use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

/// The names that clients may give. The protocol asks for the first.
pub(super) const NAMES: &str = "sha1,blake3";

enum Hash {
    Sha1(Sha1),
    Blake3(Box<blake3::Hasher>),
}

/// A checksum that a client declared, and the hash of the bytes that came.
pub(super) struct Checksum {
    declared: Vec<u8>,
    hash: Hash,
}

impl Checksum {
    /// The checksum that the headers declare, if they do.
    pub(super) fn declared(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let Some(header) = headers.get("upload-checksum") else { return Ok(None) };
        let wrong = || {
            let fix = "send a name, a space and the hash in base64; the names are sha1 and blake3";
            Problem::new(Code::BadRequest, "the header Upload-Checksum cannot be used", fix)
        };
        let (name, hash) = header.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(wrong)?;
        let declared = STANDARD.decode(hash).map_err(|_| wrong())?;
        let hash = match name {
            "sha1" => Hash::Sha1(Sha1::new()),
            "blake3" => Hash::Blake3(Box::default()),
            _ => return Err(wrong()),
        };
        Ok(Some(Self { declared, hash }))
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.hash {
            Hash::Sha1(hash) => hash.update(bytes),
            Hash::Blake3(hash) => drop(hash.update(bytes)),
        }
    }

    /// Checks that the bytes are those that were declared.
    pub(super) fn check(self) -> Result<(), Problem> {
        let same = match self.hash {
            Hash::Sha1(hash) => hash.finalize().as_slice() == self.declared,
            Hash::Blake3(hash) => hash.finalize().as_bytes().as_slice() == self.declared,
        };
        match same {
            true => Ok(()),
            false => Err(Problem::new(
                Code::ChecksumMismatch,
                "the bytes of the part have another checksum than the header Upload-Checksum; they were not stored",
                "send the part again",
            )),
        }
    }
}
