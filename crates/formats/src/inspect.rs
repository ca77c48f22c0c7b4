//! Inspection: the kind of a file, and whether it is intact.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ciborium::Value;
use serde::Serialize;
use solinas_schemes::lwe::KeyFile;

use crate::KeyId;
use crate::error::{Error, Result};
use crate::header::Kind;
use crate::keys::KeyFiles;
use crate::reader::{Expect, Reader};
use crate::tfhe;

/// The result of [`inspect`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Path of the file.
    pub path: PathBuf,
    /// Length in bytes.
    pub bytes: u64,
    /// Format version (major, minor).
    pub version: (u16, u16),
    /// Kind of the file.
    pub kind: Kind,
    /// Name of the scheme.
    pub scheme: Option<String>,
    /// Parameters of the scheme.
    pub params: Value,
    /// Identity of the key pair to which the file belongs.
    pub key_id: Option<KeyId>,
    /// Name and version of the program that wrote the file.
    pub library: String,
    /// Whether the contents come from a fixed seed and are therefore not secret.
    pub insecure_seed: bool,
    /// Fields that depend on the kind.
    pub meta: BTreeMap<String, Value>,
    /// The sections in order.
    pub sections: Vec<SectionSummary>,
    /// The operations that a key can do.
    pub can: Vec<&'static str>,
    /// Sections that keys of this version have and this one lacks.
    pub lacks: Vec<&'static str>,
    /// Whether the file is secret and other users of the machine can read it.
    pub exposed: bool,
}

/// One section of a [`Summary`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SectionSummary {
    /// Name of the section.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Damage of the first damaged chunk. `None` if the section is intact.
    pub damage: Option<String>,
}

impl Summary {
    /// Whether every byte of the file is unaltered.
    pub fn is_intact(&self) -> bool {
        self.sections.iter().all(|section| section.damage.is_none())
    }
}

/// Reads the header and verifies every byte of a file of any kind, including a [`KeyFile`]. Reports damage within
/// sections in the summary. Shows no content.
///
/// # Errors
/// The errors of [`Reader::open`], if the header cannot be trusted.
pub fn inspect(path: impl AsRef<Path>) -> Result<Summary> {
    let path = path.as_ref();
    let reader = match Reader::open(path, Expect::any()) {
        Err(Error::NotSolinas { .. }) if is_key_file(path) => return inspect_key_file(path),
        reader => reader?,
    };
    let mut sections = Vec::new();
    for (name, bytes) in reader.sections() {
        let damage = reader.chunks(name)?.find_map(|chunk| chunk.err()).map(|error| error.to_string());
        sections.push(SectionSummary { name: name.to_owned(), bytes, damage });
    }
    let header = reader.header();
    let (can, lacks) = abilities(&reader);
    Ok(Summary {
        path: reader.path().to_path_buf(),
        bytes: reader.len(),
        version: reader.version(),
        kind: header.kind,
        scheme: header.scheme.clone(),
        params: header.params.clone(),
        key_id: header.key_id,
        library: header.library.clone(),
        insecure_seed: header.insecure_seed,
        meta: header.meta.iter().map(|(field, value)| (label(field), value.clone())).collect(),
        sections,
        can,
        lacks,
        exposed: header.kind.is_secret() && readable_by_others(reader.path()),
    })
}

/// The name under which a field is shown. The header of a client key of scheme TFHE calls the public seed of the server key `seed`.
fn label(field: &str) -> String {
    if field == "seed" { "public_seed" } else { field }.to_owned()
}

/// Returns the operations that a key can do, and the sections that it lacks. Both lists are empty for other files.
fn abilities(reader: &Reader) -> (Vec<&'static str>, Vec<&'static str>) {
    let tfhe = reader.header().scheme.as_deref() == Some(tfhe::SCHEME);
    match reader.kind() {
        Kind::ClientKey => (vec!["encrypt", "decrypt"], Vec::new()),
        Kind::PublicKey => (vec!["encrypt"], Vec::new()),
        // The server keys of other schemes hold the public key.
        Kind::ServerKey if !tfhe => (vec!["compute", "encrypt"], Vec::new()),
        Kind::ServerKey if reader.sections().any(|(name, _)| name == tfhe::PACKING) => {
            (vec!["compute", "pack compact results"], Vec::new())
        }
        Kind::ServerKey => (vec!["compute"], vec![tfhe::PACKING]),
        _ => (Vec::new(), Vec::new()),
    }
}

/// Whether a file begins with the magic of a streamed matrix.
fn is_key_file(path: &Path) -> bool {
    let mut magic = [0; KeyFile::MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *KeyFile::MAGIC
}

/// Inspects a streamed matrix. It counts as a cache, because the key's seed can regenerate it.
fn inspect_key_file(path: &Path) -> Result<Summary> {
    let file = KeyFile::open(path).map_err(|error| Error::damaged(path, error.to_string()))?;
    let damage = file.verify().err().map(|error| error.to_string());
    let layout = file.layout();
    let sizes = [("rows", layout.rows()), ("columns", layout.columns()), ("words", layout.words())];
    let bits = ("modulus_bits", file.modulus().bits());
    let meta = sizes.into_iter().chain([bits]).map(|(name, size)| (name.to_owned(), Value::from(size as u64)));
    Ok(Summary {
        path: path.to_path_buf(),
        bytes: std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
        version: (KeyFile::VERSION as u16, 0),
        kind: Kind::Cache,
        scheme: Some(solinas_schemes::lwe::Lwe::NAME.to_owned()),
        params: Value::Null,
        key_id: Some(KeyId(*file.id())),
        library: "solinas, as a matrix to be streamed".to_owned(),
        insecure_seed: false,
        meta: meta.collect(),
        sections: vec![SectionSummary { name: "matrix".to_owned(), bytes: layout.bytes(), damage }],
        can: Vec::new(),
        lacks: Vec::new(),
        exposed: false,
    })
}

#[cfg(unix)]
fn readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable_by_others(_: &Path) -> bool {
    false
}

/// Formats the summary as lines of plain text.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.kind)?;
        if let Some(scheme) = &self.scheme {
            write!(f, ", scheme {}", scheme.escape_debug())?;
        }
        if let Some(id) = self.key_id {
            write!(f, ", key {}", id.short())?;
        }
        let (major, minor) = self.version;
        writeln!(f, "\n{} bytes, format {major}.{minor}, written by {}", self.bytes, self.library.escape_debug())?;
        if self.insecure_seed {
            writeln!(f, "made from a fixed seed: for tests only, protects nothing")?;
        }
        if self.exposed {
            writeln!(f, "other users may read this secret file: run chmod 600 on it")?;
        }
        if !self.params.is_null() {
            writeln!(f, "parameters: {}", Plain(&self.params))?;
        }
        for (field, value) in &self.meta {
            writeln!(f, "{}: {}", field.escape_debug(), Plain(value))?;
        }
        for SectionSummary { name, bytes, damage } in &self.sections {
            let state = damage.as_deref().unwrap_or("verified");
            writeln!(f, "section {name}: {bytes} bytes, {state}")?;
        }
        if !self.can.is_empty() {
            writeln!(f, "can: {}", self.can.join(", "))?;
        }
        for section in &self.lacks {
            writeln!(f, "lacks the section {section}: `solinas convert --key client.key` adds it")?;
        }
        Ok(())
    }
}

/// Formats a CBOR value for people. Strings and keys are escaped, because a file can hold arbitrary text.
struct Plain<'a>(&'a Value);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Integer(n) => write!(f, "{}", i128::from(*n)),
            Value::Float(x) => write!(f, "{x}"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Null => f.write_str("none"),
            Value::Text(text) => write!(f, "{}", text.escape_debug()),
            // The identity of a plan.
            Value::Bytes(bytes) if bytes.len() == 32 => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Value::Bytes(bytes) => write!(f, "({} bytes)", bytes.len()),
            Value::Tag(_, value) => Plain(value).fmt(f),
            Value::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, Plain(item))?;
                }
                f.write_str("]")
            }
            Value::Map(fields) => {
                for (i, (key, value)) in fields.iter().enumerate() {
                    let nested = matches!(value, Value::Map(_));
                    let (open, close) = if nested { ("{", "}") } else { ("", "") };
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{} {open}{}{close}", Plain(key), Plain(value))?;
                }
                Ok(())
            }
            _ => f.write_str("(unknown)"),
        }
    }
}
