//! Inspection of a streamed matrix of LWE ([`KeyFile`]), which has a format of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use ciborium::Value;
use solinas_schemes::lwe::{KeyFile, Lwe};

use super::{SectionSummary, Summary};
use crate::{Error, KeyId, Kind, Result};

/// Whether a file begins with the magic of a streamed matrix.
pub(super) fn is_matrix(path: &Path) -> bool {
    let mut magic = [0; KeyFile::MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *KeyFile::MAGIC
}

/// Inspects a streamed matrix. It counts as a cache, because the key's seed can regenerate it.
pub(super) fn inspect(path: &Path) -> Result<Summary> {
    let file = KeyFile::open(path).map_err(|error| Error::damaged(path, error.to_string()))?;
    let damage = file.verify().err().map(|error| error.to_string());
    let layout = file.layout();
    let sizes = [("rows", layout.rows()), ("columns", layout.columns()), ("words", layout.words())];
    let bits = ("modulus_bits", file.modulus().bits());
    let meta = sizes.into_iter().chain([bits]).map(|(name, size)| (name.to_owned(), Value::from(size as u64)));
    let meta = meta.chain([("fingerprint".to_owned(), Value::from(file.fingerprint().to_string()))]);
    Ok(Summary {
        path: path.to_path_buf(),
        bytes: std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
        version: (KeyFile::VERSION as u16, 0),
        kind: Kind::Cache,
        scheme: Some(<Lwe as solinas_schemes::leveled::Leveled>::NAME.to_owned()),
        params: Value::Null,
        security: None,
        unchecked_claims: BTreeMap::new(),
        key_id: Some(KeyId(*file.id())),
        identity: None,
        library: "solinas, as a matrix to be streamed".to_owned(),
        insecure_seed: false,
        meta: meta.collect(),
        sections: vec![SectionSummary { name: "matrix".to_owned(), bytes: layout.bytes(), damage }],
        can: Vec::new(),
        exposed: false,
    })
}
