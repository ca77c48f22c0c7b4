//! The header: metadata of a file.

use std::collections::BTreeMap;
use std::fmt;

use ciborium::Value;
use serde::{Deserialize, Serialize};
use solinas_schemes::KeyId;

use crate::error::{Error, Result};

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Secret key: decrypts.
    ClientKey,
    /// Evaluation key: computes on ciphertexts, decrypts nothing.
    ServerKey,
    /// Public encryption key.
    PublicKey,
    /// Encrypted values.
    Ciphertext,
    /// Circuit of gates.
    Circuit,
    /// Program over typed integers.
    Program,
    /// Plan of a program or circuit: its operations under a parameter set.
    Plan,
    /// Paused computation: ciphertexts of a run between two waves.
    RunState,
    /// Data that can be recomputed: transformed keys.
    Cache,
    /// Unfinished key generation. Secret: it determines the client key.
    Checkpoint,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::ClientKey,
        Self::ServerKey,
        Self::PublicKey,
        Self::Ciphertext,
        Self::Circuit,
        Self::Program,
        Self::Plan,
        Self::RunState,
        Self::Cache,
        Self::Checkpoint,
    ];

    /// Whether files of this kind carry the secret magic and mode 0600.
    pub fn is_secret(self) -> bool {
        matches!(self, Self::ClientKey | Self::Checkpoint)
    }

    /// The usual name of a file of this kind, for messages: `client.key`.
    pub fn usual_name(self) -> &'static str {
        match self {
            Self::ClientKey => "client.key",
            Self::ServerKey => "server.key",
            Self::PublicKey => "public.key",
            Self::Ciphertext => "a file made by `solinas encrypt` or `solinas eval`, such as x.ct",
            Self::Circuit => "a circuit file",
            Self::Program => "a program file",
            Self::Plan => "a plan made by `solinas eval --save-plan`",
            Self::RunState => "a paused run made by `solinas eval --checkpoint`",
            Self::Cache => "a cache file",
            Self::Checkpoint => "a checkpoint of key generation",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientKey => "client key",
            Self::ServerKey => "server key",
            Self::PublicKey => "public key",
            Self::Ciphertext => "ciphertext",
            Self::Circuit => "circuit",
            Self::Program => "program",
            Self::Plan => "plan",
            Self::RunState => "paused run",
            Self::Cache => "cache",
            Self::Checkpoint => "checkpoint",
        })
    }
}

/// Metadata of a file, without its section table. Build it with [`Header::new`] and the methods below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// Kind of the file.
    pub kind: Kind,
    /// Name of the scheme (`tfhe`). `None` for circuits and programs.
    pub scheme: Option<String>,
    /// Full parameters of the scheme, serialized by the scheme. Null if there are none.
    pub params: Value,
    /// Identity of the key pair to which the file belongs.
    pub key_id: Option<KeyId>,
    /// Name and version of the program that wrote the file.
    pub library: String,
    /// Whether the contents come from a fixed seed. Such files are for tests and benchmarks only, and protect nothing.
    pub insecure_seed: bool,
    /// Fields that depend on the kind.
    pub meta: BTreeMap<String, Value>,
}

impl Header {
    /// Creates a header with only a kind.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            scheme: None,
            params: Value::Null,
            key_id: None,
            library: concat!("solinas ", env!("CARGO_PKG_VERSION")).to_owned(),
            insecure_seed: false,
            meta: BTreeMap::new(),
        }
    }

    /// Sets the scheme.
    #[must_use]
    pub fn scheme(mut self, scheme: &str) -> Self {
        self.scheme = Some(scheme.to_owned());
        self
    }

    /// Sets the parameters.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if they cannot be represented in CBOR.
    pub fn params<T: Serialize>(mut self, params: &T) -> Result<Self> {
        self.params = to_value("params", params)?;
        Ok(self)
    }

    /// Sets the key pair.
    #[must_use]
    pub fn key_id(mut self, id: KeyId) -> Self {
        self.key_id = Some(id);
        self
    }

    /// Sets whether the contents come from a fixed seed.
    #[must_use]
    pub fn insecure_seed(mut self, insecure: bool) -> Self {
        self.insecure_seed = insecure;
        self
    }

    /// Sets a field that depends on the kind.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the value cannot be represented in CBOR.
    pub fn meta<T: Serialize + ?Sized>(mut self, field: &str, value: &T) -> Result<Self> {
        let value = to_value(field, value)?;
        self.meta.insert(field.to_owned(), value);
        Ok(self)
    }
}

fn to_value<T: Serialize + ?Sized>(field: &str, value: &T) -> Result<Value> {
    Value::serialized(&value).map_err(|e| Error::Unwritable(format!("header field {field}: {e}")))
}
