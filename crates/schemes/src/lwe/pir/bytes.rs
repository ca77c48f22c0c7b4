//! Hints, queries and answers as bytes. All numbers are little-endian.
//!
//! ```text
//! bytes  content
//!     8  magic: "SLNPIR1" and h, q or a (hint, query, answer)
//!    32  identity of the database
//!        hint: 8+8+8 number of records, bytes of a record, records in a column
//!        query and answer: 16 number of the query
//!   4 w  words: of a hint 1088 for each row, row by row; of a query one for each column; of an answer one for each row
//!    32  BLAKE3 of all bytes before, which finds damage but no forgery
//! ```

use super::message::NUMBER;
use super::{Answer, DIMENSION, DatabaseId, Hint, Layout, Query};
use crate::{Error, Fingerprint, KeyId};

const MAGIC: &[u8; 7] = b"SLNPIR1";
const HASH: usize = 32;

/// A reader of the parts of an object.
struct Reader<'a> {
    part: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Checks magic and hash.
    fn new(part: &'static str, bytes: &'a [u8]) -> Result<Self, Error> {
        let error = |problem: &str| Err(Error::Material { part, problem: problem.into() });
        let magic = [MAGIC.as_slice(), part.as_bytes().get(..1).unwrap_or_default()].concat();
        if !bytes.starts_with(&magic) {
            return error("the bytes do not begin as expected");
        }
        let Some((content, hash)) = bytes.split_last_chunk::<HASH>() else { return error("it is incomplete") };
        if blake3::hash(content) != *hash {
            return error("its hash does not match its bytes");
        }
        Ok(Self { part, rest: content.get(magic.len()..).unwrap_or_default() })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let Some((array, rest)) = self.rest.split_first_chunk() else {
            return Err(Error::Material { part: self.part, problem: "it is incomplete".into() });
        };
        self.rest = rest;
        Ok(*array)
    }

    fn number(&mut self) -> Result<usize, Error> {
        // A number that does not fit is too large for every check.
        Ok(usize::try_from(u64::from_le_bytes(self.array()?)).unwrap_or(usize::MAX))
    }

    fn words(self) -> Result<Vec<u32>, Error> {
        let (words, rest) = self.rest.as_chunks::<4>();
        if !rest.is_empty() {
            let problem = format!("{} bytes are no whole numbers", self.rest.len());
            return Err(Error::Material { part: self.part, problem });
        }
        Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}

/// Writes an object. `part` is its name, as for [`Reader::new`].
fn write(part: &'static str, id: DatabaseId, head: &[u8], words: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAGIC.len() + 1 + id.0.len() + head.len() + 4 * words.len() + HASH);
    bytes.extend_from_slice(MAGIC);
    bytes.extend(part.bytes().take(1));
    bytes.extend_from_slice(&id.0);
    bytes.extend_from_slice(head);
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    bytes
}

impl Hint {
    const PART: &'static str = "hint";

    /// The hint as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let layout = [self.layout.records(), self.layout.record_bytes(), self.layout.stretches()];
        write(Self::PART, self.id, layout.map(|number| (number as u64).to_le_bytes()).as_flattened(), &self.words)
    }

    /// The fingerprint of all bytes of a hint, for people to compare. The identity of the database does not bind the numbers of the hint, so a forged hint
    /// has another fingerprint and the same identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.digest().fingerprint()
    }

    fn digest(&self) -> KeyId {
        KeyId(blake3::derive_key("solinas 2026-11 lwe pir hint", &self.to_bytes()))
    }

    /// Reads a hint that its owner made: one with this fingerprint.
    ///
    /// # Errors
    /// As [`Self::from_bytes`], and [`Error::Material`] for a hint with another fingerprint.
    pub fn from_trusted_bytes(bytes: &[u8], fingerprint: Fingerprint) -> Result<Self, Error> {
        let hint = Self::from_bytes(bytes)?;
        if fingerprint.matches(&hint.digest()) {
            return Ok(hint);
        }
        let found = hint.fingerprint();
        let problem =
            format!("its fingerprint is {found}, not {fingerprint}: ask the owner of the database for the hint");
        Err(Error::Material { part: Self::PART, problem })
    }

    /// Reads a hint.
    ///
    /// # Errors
    /// [`Error::Material`] for bytes that are no hint; [`Error::Database`] for a layout that no database has.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(Self::PART, bytes)?;
        let id = DatabaseId(reader.array()?);
        let layout = Layout::from_parts(reader.number()?, reader.number()?, reader.number()?)?;
        let words = reader.words()?;
        if layout.rows().checked_mul(DIMENSION) != Some(words.len()) {
            let problem = format!("{} numbers for {} rows", words.len(), layout.rows());
            return Err(Error::Material { part: Self::PART, problem });
        }
        Ok(Self { layout, id, words })
    }
}

macro_rules! message {
    ($message:ident, $part:literal) => {
        impl $message {
            /// The bytes to send.
            pub fn to_bytes(&self) -> Vec<u8> {
                write($part, self.id, &self.number, &self.words)
            }

            /// Reads received bytes. The database or the client checks the number of words.
            ///
            /// # Errors
            /// [`Error::Material`] for other bytes.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
                let mut reader = Reader::new($part, bytes)?;
                let (id, number) = (DatabaseId(reader.array()?), reader.array::<NUMBER>()?);
                Ok(Self { id, number, words: reader.words()? })
            }
        }
    };
}
message!(Query, "query");
message!(Answer, "answer");
