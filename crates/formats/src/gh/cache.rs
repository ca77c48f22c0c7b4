//! Tables of encryption and of Recrypt in cache files beside a key. All tables can be recomputed from the key.
//!
//! A cache names its key, its method ([`EncryptMethod`] or [`RecryptMethod`]) and [`VERSION`]. Its only section `table`
//! holds little-endian 64-bit words. Readers verify the checksums. They also check by a product of random multiples
//! that the table belongs to the key. Tables are residues; they do not depend on the engine or the vector unit.

use std::path::Path;

use serde::Serialize;
use solinas_schemes::gh::{Arithmetic, EncryptMethod, Encryptor, Evaluator, PublicKey, RecryptMethod, ServerKey};

use super::Gh;
use crate::{Error, Expect, KeyFiles, Kind, Overwrite, Reader, Writer};

/// Version of the layout of the tables.
const VERSION: u64 = 1;

/// A value that was loaded from a cache, or built because the cache could not be used.
#[derive(Debug)]
pub struct Cached<T> {
    /// The value with its tables.
    pub value: T,
    /// The reason why the cache could not be used, for the user: it is absent, damaged, or of another key. `None` if it
    /// was used.
    pub rebuilt: Option<String>,
}

/// Loads an encryptor with the table of a cache. If the cache cannot be used, builds a new table.
///
/// # Errors
/// The errors of [`Encryptor::new`]. An unusable cache is not an error.
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

/// Loads an evaluator with the pair table of a cache. If the cache cannot be used, builds a new table.
///
/// # Errors
/// The errors of [`Evaluator::new`]. An unusable cache is not an error.
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

/// Reads an encryptor with the table of a cache.
///
/// # Errors
/// [`Error::WrongScheme`], [`Error::WrongKey`], [`Error::Field`], [`Error::Section`] or [`Error::Damaged`] if the cache
/// cannot be used. [`Error::Unwritable`] for a method without a table. The errors of [`Encryptor::with_table`].
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

/// Reads an evaluator with the pair table of a cache.
///
/// # Errors
/// [`Error::WrongScheme`], [`Error::WrongKey`], [`Error::Field`], [`Error::Section`] or [`Error::Damaged`] if the cache
/// cannot be used. The errors of [`Evaluator::with_pair_table`].
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

/// Writes the table of an encryptor to a cache. Replaces an older cache, but never a key.
///
/// # Errors
/// [`Error::Unwritable`] for a method that stores transforms instead of a table. The errors of [`Writer`].
pub fn save_encryptor(path: &Path, encryptor: &Encryptor<'_>) -> Result<(), Error> {
    let method = encryptor.method();
    save(path, encryptor.public(), &method, method.name(), encryptor.table())
}

/// Writes the pair table of an evaluator to a cache. Replaces an older cache, but never a key.
///
/// # Errors
/// [`Error::Unwritable`] for a method without a pair table. The errors of [`Writer`].
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
    let header = Gh::header(Kind::Cache, public.params(), public.id(), public.is_insecure())?;
    let header = header.meta("method", method)?.meta("layout", &VERSION)?;
    let mut writer = Writer::create(path, header, Overwrite::KeepSecrets)?;
    writer.section_u64("table", table)?;
    writer.finish()
}

fn no_table(name: &str) -> Error {
    Error::Unwritable(format!("{name} stores no table that would load faster than it is computed"))
}

fn open(path: &Path) -> Result<Reader, Error> {
    Reader::open(path, Expect::kind(Kind::Cache))
}

/// Checks that the cache belongs to this key and method.
fn check(reader: &Reader, public: &PublicKey, method: &impl Serialize) -> Result<(), Error> {
    reader.expect_scheme(Gh::NAME)?;
    reader.expect_key(public.id(), "the key")?;
    let wanted = ciborium::Value::serialized(method).map_err(|error| reader.field("method", &error.to_string()))?;
    if reader.header().meta.get("method") != Some(&wanted) {
        return Err(reader.field("method", "the cache is of another method"));
    }
    if reader.meta::<u64>("layout")? != VERSION {
        return Err(reader.field("layout", "the cache is of another version"));
    }
    Ok(())
}

fn or_built<T>(loaded: Result<T, Error>, build: impl FnOnce() -> Result<T, Error>) -> Result<Cached<T>, Error> {
    match loaded {
        Ok(value) => Ok(Cached { value, rebuilt: None }),
        Err(why) => Ok(Cached { value: build()?, rebuilt: Some(format!("the table was computed again: {why}")) }),
    }
}
