//! Tables of encryption and of Recrypt, kept beside a key. All can be computed again, from the key alone.
//!
//! A cache names its key, what it is of ([`EncryptMethod`] or [`RecryptMethod`]) and [`VERSION`], and has one section, `table`, of little-endian 64-bit words: it
//! is checked by its checksums, and that it belongs to the key by a product of random multiples. Tables are residues, and the same for every engine
//! and vector unit.

use std::path::Path;

use serde::Serialize;
use solinas_schemes::gh::{Arithmetic, EncryptMethod, Encryptor, Evaluator, PublicKey, RecryptMethod, ServerKey};

use super::Gh;
use crate::{Error, Expect, KeyFiles, Kind, Overwrite, Reader, Writer};

/// Version of the tables' layout.
const VERSION: u64 = 1;

/// What was loaded from a cache, or built where it could not be.
#[derive(Debug)]
pub struct Cached<T> {
    /// With its tables.
    pub value: T,
    /// Why the cache was of no use, for the user: there is none, or it is damaged, or of another key. None where it was.
    pub rebuilt: Option<String>,
}

/// An encryptor with the table of that cache, if it is good; otherwise one with a new table.
///
/// # Errors
/// As [`Encryptor::new`], never for what the cache is.
pub fn load_encryptor<'a>(
    path: &Path,
    public: &'a PublicKey,
    method: EncryptMethod,
    memory: u64,
    arithmetic: Arithmetic,
) -> Result<Cached<Encryptor<'a>>, Error> {
    let loaded = open(path).and_then(|reader| read_encryptor(&reader, public, method, memory, arithmetic));
    or_built(loaded, || Ok(Encryptor::new(public, method, memory, arithmetic)?))
}

/// An evaluator with the pair table of that cache, if it is good; otherwise one with a new table.
///
/// # Errors
/// As [`Evaluator::new`], never for what the cache is.
pub fn load_evaluator<'a>(
    path: &Path,
    server: &'a ServerKey,
    memory: u64,
    arithmetic: Arithmetic,
) -> Result<Cached<Evaluator<'a>>, Error> {
    let method = RecryptMethod::PairTable;
    let loaded = open(path).and_then(|reader| read_evaluator(&reader, server, memory, arithmetic));
    or_built(loaded, || Ok(Evaluator::new(server, method, memory, arithmetic)?))
}

/// An encryptor with the table of a cache.
///
/// # Errors
/// [`Error::WrongScheme`], [`Error::WrongKey`], [`Error::Field`], [`Error::Section`], [`Error::Damaged`] for a cache that is of no use; as
/// [`Encryptor::with_table`].
pub fn read_encryptor<'a>(
    reader: &Reader,
    public: &'a PublicKey,
    method: EncryptMethod,
    memory: u64,
    arithmetic: Arithmetic,
) -> Result<Encryptor<'a>, Error> {
    let words = method.table_words(public).ok_or_else(|| no_table(method.name()))?;
    check(reader, public, &method)?;
    let table = reader.section_u64("table", words)?.into();
    Ok(Encryptor::with_table(public, method, memory, arithmetic, table)?)
}

/// An evaluator with the pair table of a cache.
///
/// # Errors
/// As [`read_encryptor`]; as [`Evaluator::with_pair_table`].
pub fn read_evaluator<'a>(
    reader: &Reader,
    server: &'a ServerKey,
    memory: u64,
    arithmetic: Arithmetic,
) -> Result<Evaluator<'a>, Error> {
    let words = Evaluator::pair_table_words(server.public());
    check(reader, server.public(), &RecryptMethod::PairTable)?;
    let table = reader.section_u64("table", words)?.into();
    Ok(Evaluator::with_pair_table(server, memory, arithmetic, table)?)
}

/// Writes the table of an encryptor. An older cache is replaced; no key is.
///
/// # Errors
/// [`Error::Unwritable`] for a method that keeps transforms instead of a table; from the file.
pub fn save_encryptor(path: &Path, encryptor: &Encryptor<'_>) -> Result<(), Error> {
    let method = encryptor.method();
    save(path, encryptor.public(), &method, method.name(), encryptor.table())
}

/// Writes the pair table of an evaluator. An older cache is replaced; no key is.
///
/// # Errors
/// [`Error::Unwritable`] for a method without a pair table; from the file.
pub fn save_evaluator(path: &Path, evaluator: &Evaluator<'_>) -> Result<(), Error> {
    let method = evaluator.method();
    save(path, evaluator.server().public(), &method, method.name(), evaluator.pair_table())
}

fn save(
    path: &Path,
    public: &PublicKey,
    method: &impl Serialize,
    name: &str,
    table: Option<&[u64]>,
) -> Result<(), Error> {
    let table = table.ok_or_else(|| no_table(name))?;
    let header = Gh::key_header(Kind::Cache, public)?.meta("method", method)?.meta("layout", &VERSION)?;
    let mut writer = Writer::create(path, header, Overwrite::KeepSecrets)?;
    writer.section_u64("table", table)?;
    writer.finish()
}

fn no_table(name: &str) -> Error {
    Error::Unwritable(format!("{name} keeps no table that would be quicker to load"))
}

fn open(path: &Path) -> Result<Reader, Error> {
    Reader::open(path, Expect::kind(Kind::Cache))
}

/// That the cache is of that key and method.
fn check(reader: &Reader, public: &PublicKey, method: &impl Serialize) -> Result<(), Error> {
    reader.expect_scheme(Gh::NAME)?;
    reader.expect_key(public.id(), "the key")?;
    let wanted = ciborium::Value::serialized(method).map_err(|error| reader.field("method", &error.to_string()))?;
    if reader.header().meta.get("method") != Some(&wanted) {
        return Err(reader.field("method", "it is of another one"));
    }
    if reader.meta::<u64>("layout")? != VERSION {
        return Err(reader.field("layout", "it is of another version"));
    }
    Ok(())
}

fn or_built<T>(loaded: Result<T, Error>, build: impl FnOnce() -> Result<T, Error>) -> Result<Cached<T>, Error> {
    match loaded {
        Ok(value) => Ok(Cached { value, rebuilt: None }),
        Err(why) => Ok(Cached { value: build()?, rebuilt: Some(format!("the table was computed anew: {why}")) }),
    }
}
