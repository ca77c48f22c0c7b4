//! Inspection: the kind of a file, and whether it is intact.

#[cfg(feature = "lwe")]
mod matrix;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use ciborium::Value;
use serde::Serialize;
use solinas_schemes::security::SecurityClaim;

use crate::error::Result;
use crate::header::Kind;
use crate::key_facts::{self, KeyIdentity};
use crate::reader::{Expect, Reader};
use crate::{KeyId, tfhe};

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
    /// Parameters of the scheme, without security claims.
    pub params: Value,
    /// Security of the parameters, by this version of the library. `None` if it does not know them.
    pub security: Option<SecurityClaim>,
    /// Security claims of the file, which are not checked. Empty if the library knows the parameters.
    pub unchecked_claims: BTreeMap<String, Value>,
    /// Identity of the key pair to which the file belongs.
    pub key_id: Option<KeyId>,
    /// The identity of a key, checked. `None` for other files, and for keys that this version cannot read.
    pub identity: Option<KeyIdentity>,
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
    /// Whether every byte of the file is unaltered, and a key has the identity that it states.
    pub fn is_intact(&self) -> bool {
        self.sections.iter().all(|section| section.damage.is_none()) && self.forged().is_none()
    }

    /// The reason why a key is not the one that it names.
    pub fn forged(&self) -> Option<&str> {
        self.identity.as_ref()?.forged.as_deref()
    }
}

/// Reads the header and verifies every byte of a file of any kind, including a streamed matrix of LWE. Reports damage within
/// sections in the summary. Shows no content.
///
/// # Errors
/// The errors of [`Reader::open`], if the header cannot be trusted.
pub fn inspect(path: impl AsRef<Path>) -> Result<Summary> {
    let path = path.as_ref();
    let reader = match Reader::open(path, Expect::any()) {
        #[cfg(feature = "lwe")]
        Err(crate::Error::NotSolinas { .. }) if matrix::is_matrix(path) => return matrix::inspect(path),
        reader => reader?,
    };
    let mut sections = Vec::new();
    for (name, bytes) in reader.sections() {
        let damage = reader.chunks(name)?.find_map(|chunk| chunk.err()).map(|error| error.to_string());
        sections.push(SectionSummary { name: name.to_owned(), bytes, damage });
    }
    let header = reader.header();
    let can = abilities(&reader);
    let intact = sections.iter().all(|section: &SectionSummary| section.damage.is_none());
    let identity = intact.then(|| key_facts::key_identity(&reader)).flatten();
    let mut params = header.params.clone();
    let (claims, security) = (key_facts::take_claims(&mut params), key_facts::security(&reader));
    let unchecked_claims = if security.is_some() { BTreeMap::new() } else { claims.into_iter().collect() };
    Ok(Summary {
        path: reader.path().to_path_buf(),
        bytes: reader.len(),
        version: reader.version(),
        kind: header.kind,
        scheme: header.scheme.clone(),
        params,
        security,
        unchecked_claims,
        key_id: header.key_id,
        identity,
        library: header.library.clone(),
        insecure_seed: header.insecure_seed,
        meta: header.meta.iter().map(|(field, value)| (label(field), value.clone())).collect(),
        sections,
        can,
        exposed: header.kind.is_secret() && readable_by_others(reader.path()),
    })
}

/// BLAKE3 of the names, lengths and bytes of all sections of a file: all that a server key consists of, beside its header.
///
/// # Errors
/// The errors of [`Reader::open`]; [`Error::Damaged`](crate::Error::Damaged).
pub fn digest_of_sections(path: impl AsRef<Path>) -> Result<KeyId> {
    let reader = Reader::open(path, Expect::any_public())?;
    let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 digest of sections");
    for (name, bytes) in reader.sections() {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(&bytes.to_le_bytes());
        for chunk in reader.chunks(name)? {
            hasher.update(&chunk?);
        }
    }
    Ok(KeyId(hasher.finalize().into()))
}

/// The name under which a field is shown. The header of a client key of scheme TFHE calls the public seed of the server key `seed`.
fn label(field: &str) -> String {
    if field == "seed" { "public_seed" } else { field }.to_owned()
}

/// Returns the operations that a key can do. The list is empty for other files.
fn abilities(reader: &Reader) -> Vec<&'static str> {
    match reader.kind() {
        Kind::ClientKey => vec!["encrypt", "decrypt"],
        Kind::PublicKey => vec!["encrypt"],
        Kind::ServerKey if reader.header().scheme.as_deref() == Some(tfhe::SCHEME) => {
            vec!["compute", "pack compact results"]
        }
        // The server keys of other schemes hold the public key.
        Kind::ServerKey => vec!["compute", "encrypt"],
        _ => Vec::new(),
    }
}

/// Whether other users of the machine than its owner can read or write a file.
#[cfg(unix)]
pub fn readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// Whether other users of the machine than its owner can read or write a file. Not known here.
#[cfg(not(unix))]
pub fn readable_by_others(_: &Path) -> bool {
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
        if let Some(claim) = &self.security {
            let (classical, quantum) = (claim.classical_bits, claim.quantum_bits);
            write!(f, "security: an attack takes 2^{classical:.1} operations, 2^{quantum:.1} of a quantum computer")?;
            writeln!(
                f,
                "{}",
                claim.status.why().map_or_else(String::new, |why| format!("; {}: {why}", claim.status.word()))
            )?;
        }
        for (claim, value) in &self.unchecked_claims {
            let claim = claim.escape_debug();
            writeln!(f, "security: the file claims {claim} {} (parameters not known to this version)", Plain(value))?;
        }
        if let Some(identity) = &self.identity {
            write!(f, "{}", Identified(identity))?;
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
        Ok(())
    }
}

/// Formats the identity of a key.
struct Identified<'a>(&'a KeyIdentity);

impl fmt::Display for Identified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KeyIdentity { binds_key, fingerprint, forged, .. } = self.0;
        if let Some(reason) = forged {
            return writeln!(f, "not the key that it names: {reason}");
        }
        let fingerprint = fingerprint.as_deref();
        match (binds_key, fingerprint) {
            (true, Some(fingerprint)) => writeln!(f, "fingerprint: {fingerprint}"),
            (false, Some(fingerprint)) => {
                writeln!(f, "the id of version 1 does not bind this key; compare its fingerprint: {fingerprint}")
            }
            (_, None) => {
                writeln!(
                    f,
                    "the id of version 1 does not bind this key; `solinas inspect public.key` shows its fingerprint"
                )
            }
        }
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
