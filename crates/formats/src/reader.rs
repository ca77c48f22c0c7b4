//! Reading. Everything is checked before use.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use zeroize::{Zeroize, Zeroizing};

use crate::KeyId;
use crate::error::{Error, Result};
use crate::header::{Header, Kind};
use crate::layout::{self, Entry, HASH, MAX_HEADER, PRELUDE, Prelude, VERSION};
use crate::source::{self, Source};

/// The kinds of file that a caller accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect(Vec<Kind>);

impl Expect {
    /// Exactly one kind.
    pub fn kind(kind: Kind) -> Self {
        Self(vec![kind])
    }

    /// Any kind of this list.
    pub fn any_of(kinds: &[Kind]) -> Self {
        Self(kinds.to_vec())
    }

    /// Any kind without secrets. Servers use it.
    pub fn any_public() -> Self {
        Self(Kind::ALL.into_iter().filter(|kind| !kind.is_secret()).collect())
    }

    /// Any kind.
    pub fn any() -> Self {
        Self(Kind::ALL.to_vec())
    }

    fn check(&self, path: &Path, found: Kind) -> Result<()> {
        if self.0.contains(&found) {
            return Ok(());
        }
        Err(Error::WrongKind { path: path.to_path_buf(), found, needed: self.0.clone() })
    }
}

/// An open file. Its header, layout and hash tables are verified. Sections are verified when they are read. Clones share the open file.
#[derive(Clone)]
pub struct Reader {
    path: PathBuf,
    source: Arc<Source>,
    version: (u16, u16),
    header: Header,
    sections: Vec<Section>,
}

#[derive(Clone)]
struct Section {
    entry: Entry,
    /// Offset in the file.
    at: u64,
    /// Hashes of the chunks.
    hashes: Vec<u8>,
}

/// Shows no content of the file.
impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("path", &self.path).field("kind", &self.header.kind).finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens a file. Sections of a large public file are read on request. If the file is changed in place meanwhile, a
    /// read gives an error. If it is replaced, reads continue with the old file. If only public kinds are accepted, no
    /// more than the magic of a secret file is read.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotAFile`], [`Error::Empty`], [`Error::NotSolinas`], [`Error::NewerVersion`],
    /// [`Error::Truncated`], [`Error::Damaged`], [`Error::WrongKind`].
    pub fn open(path: impl AsRef<Path>, expect: Expect) -> Result<Self> {
        let path = path.as_ref();
        let (mut file, metadata) = source::open(path)?;
        let magic = source::read_magic(path, &mut file)?;
        check_magic(path, &magic, &expect)?;
        let source = Source::from_file(path, file, &metadata, &magic)?;
        Self::parse(path, source, &expect)
    }

    /// Opens bytes in memory. `name` is the name of the file in messages. Bytes of a secret file are wiped when the
    /// reader is dropped.
    ///
    /// # Errors
    /// The errors of [`Reader::open`], except those of the file system.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: impl Into<Vec<u8>>, expect: Expect) -> Result<Self> {
        // The source wipes secret bytes even if a check below fails.
        let bytes: Vec<u8> = bytes.into();
        let magic: Vec<u8> = bytes[..bytes.len().min(8)].to_vec();
        let source = Source::from(bytes);
        check_magic(name.as_ref(), &magic, &expect)?;
        Self::parse(name.as_ref(), source, &expect)
    }

    fn parse(path: &Path, source: Source, expect: &Expect) -> Result<Self> {
        let damaged = |what: &str| Error::damaged(path, what);
        let read = |from: u64, to: u64| source.read(from..to).map_err(|e| failed(path, e));
        let len = source.len();
        let truncated = |expected: u64| Error::Truncated { path: path.to_path_buf(), len, expected };
        if len < PRELUDE as u64 {
            return Err(truncated(PRELUDE as u64));
        }
        let not_ours = || Error::NotSolinas { path: path.to_path_buf() };
        let prelude = read(0, PRELUDE as u64)?.first_chunk().and_then(Prelude::from_bytes).ok_or_else(not_ours)?;
        if prelude.version.0 > VERSION.0 {
            let (found, supported) = (prelude.version, VERSION);
            return Err(Error::NewerVersion { path: path.to_path_buf(), found, supported });
        }
        if prelude.version.0 < VERSION.0 {
            return Err(damaged("its format version is 0, which does not exist"));
        }
        if len < prelude.file_len {
            return Err(truncated(prelude.file_len));
        }
        if len > prelude.file_len {
            let more = len - prelude.file_len;
            let bytes = if more == 1 { "byte" } else { "bytes" };
            return Err(damaged(&format!("it has {more} {bytes} after its end")));
        }
        let (end, body) = (PRELUDE as u64 + u64::from(prelude.header_len), u64::from(prelude.body));
        let fits = prelude.header_len as usize <= MAX_HEADER
            && end <= body
            && body <= len
            && body.is_multiple_of(layout::ALIGN);
        if !fits || prelude.flags != 0 {
            return Err(damaged("the fields of its first 64 bytes are inconsistent"));
        }
        let cbor = read(PRELUDE as u64, end)?;
        if prelude.hash_with(&cbor) != prelude.hash {
            return Err(damaged("its header does not match the header's checksum"));
        }
        let (header, entries) = layout::decode_header(&cbor).map_err(|what| Error::damaged(path, what))?;
        drop(cbor);
        if header.kind.is_secret() != prelude.secret {
            return Err(damaged("its first bytes and its header disagree on whether it is secret"));
        }
        expect.check(path, header.kind)?;
        layout::check_sections(&entries, len - body).map_err(|what| Error::damaged(path, what))?;
        let sections = read_tables(path, &source, entries, end, body)?;
        Ok(Self { path: path.to_path_buf(), version: prelude.version, header, sections, source: Arc::new(source) })
    }

    /// The file's path, or the name given to [`Reader::from_bytes`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.source.len()
    }

    /// Format version of the file (major, minor).
    pub fn version(&self) -> (u16, u16) {
        self.version
    }

    /// Whether the bytes of the file are in memory. Otherwise sections are read from the file on request.
    pub fn is_in_memory(&self) -> bool {
        self.source.memory().is_some()
    }

    /// Length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.source.len()
    }

    /// Whether the file has no sections.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// The metadata of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The kind of the file.
    pub fn kind(&self) -> Kind {
        self.header.kind
    }

    /// Identity of the key pair to which the file belongs.
    ///
    /// # Errors
    /// [`Error::Field`] if the header has none.
    pub fn key_id(&self) -> Result<KeyId> {
        self.header.key_id.ok_or_else(|| self.field("key_id", "absent"))
    }

    /// The parameters of the scheme.
    ///
    /// # Errors
    /// [`Error::Field`] if they do not have this type.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T> {
        self.header.params.deserialized().map_err(|e| self.field("params", &what(e)))
    }

    /// A field that depends on the kind.
    ///
    /// # Errors
    /// [`Error::Field`] if it is absent or does not have this type.
    pub fn meta<T: DeserializeOwned>(&self, field: &str) -> Result<T> {
        let value = self.header.meta.get(field).ok_or_else(|| self.field(field, "absent"))?;
        value.deserialized().map_err(|e| self.field(field, &what(e)))
    }

    /// Checks the scheme of the file.
    ///
    /// # Errors
    /// [`Error::WrongScheme`] for another scheme.
    pub fn expect_scheme(&self, scheme: &str) -> Result<()> {
        let found = self.header.scheme.as_deref().unwrap_or("(none)");
        if found == scheme {
            return Ok(());
        }
        Err(Error::WrongScheme { path: self.path.clone(), found: found.to_owned(), needed: scheme.to_owned() })
    }

    /// Checks that the file belongs to the key `needed`. `other` names the file of that key in the message
    /// (`"server.key"`).
    ///
    /// # Errors
    /// [`Error::WrongKey`] for another key.
    pub fn expect_key(&self, needed: KeyId, other: &str) -> Result<()> {
        if self.header.key_id == Some(needed) {
            return Ok(());
        }
        Err(Error::WrongKey { path: self.path.clone(), found: self.header.key_id, other: other.to_owned(), needed })
    }

    /// Returns the parameters of the file. Fails if `named`, the known set of the same name, differs.
    pub(crate) fn unchanged<P: PartialEq>(&self, named: Option<P>, params: P) -> Result<P> {
        match named {
            Some(named) if named != params => Err(self.field(
                "params",
                "they differ from the parameter set of that name; make the key again with this version",
            )),
            _ => Ok(params),
        }
    }

    /// Builds an [`Error::Field`] about this file, for codecs with further checks.
    pub fn field(&self, field: &str, reason: &str) -> Error {
        Error::Field { path: self.path.clone(), field: field.to_owned(), reason: reason.to_owned() }
    }

    /// Builds an [`Error::Section`] about this file, for codecs with further checks.
    pub fn section_error(&self, section: &str, reason: impl std::fmt::Display) -> Error {
        Error::Section { path: self.path.clone(), section: section.to_owned(), reason: reason.to_string() }
    }

    /// Names of the sections and their lengths in bytes, in the order of the file.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.sections.iter().map(|section| (section.entry.name.as_str(), section.entry.length))
    }

    fn find(&self, name: &str) -> Result<&Section> {
        let missing = || Error::MissingSection { path: self.path.clone(), section: name.to_owned() };
        self.sections.iter().find(|section| section.entry.name == name).ok_or_else(missing)
    }

    /// Returns a whole verified section. Borrows it if the file is in memory, else copies it from the file.
    ///
    /// # Errors
    /// [`Error::MissingSection`] if there is none. [`Error::Damaged`] if it was altered. [`Error::Io`] from the file
    /// system, or if memory is short.
    pub fn section(&self, name: &str) -> Result<Cow<'_, [u8]>> {
        let section = self.find(name)?;
        if let Some(bytes) = self.source.memory() {
            let begin = section.at as usize;
            let bytes = &bytes[begin..begin + section.entry.length as usize];
            let chunks = bytes.par_chunks(section.entry.chunk as usize).zip(section.hashes.par_chunks(HASH as usize));
            let checked = chunks.enumerate().map(|(i, (chunk, hash))| self.verify(section, i, chunk, hash));
            return checked.find_map_first(Result::err).map_or(Ok(bytes.into()), Err);
        }
        let length = usize::try_from(section.entry.length).unwrap_or(usize::MAX);
        let mut bytes = source::zeroed(length).map_err(|e| failed(&self.path, e))?;
        self.fill(section, &mut bytes)?;
        Ok(bytes.into())
    }

    /// Reads a whole section and verifies its chunks in parallel.
    fn fill(&self, section: &Section, out: &mut [u8]) -> Result<()> {
        let size = section.entry.chunk as usize;
        let chunks = out.par_chunks_mut(size).zip(section.hashes.par_chunks(HASH as usize)).enumerate();
        let read = |(i, (chunk, hash)): (usize, (&mut [u8], &[u8]))| {
            self.source.read_into(section.at + (i * size) as u64, chunk).map_err(|e| failed(&self.path, e))?;
            self.verify(section, i, chunk, hash)
        };
        chunks.map(read).find_map_first(Result::err).map_or(Ok(()), Err)
    }

    /// Length of a section in bytes.
    ///
    /// # Errors
    /// [`Error::MissingSection`] if there is none.
    pub fn section_len(&self, name: &str) -> Result<u64> {
        Ok(self.find(name)?.entry.length)
    }

    /// Returns a whole verified section of exactly `len` bytes.
    ///
    /// # Errors
    /// [`Error::Section`] for another length. The errors of [`Reader::section`].
    pub fn section_of_len(&self, name: &str, len: usize) -> Result<Cow<'_, [u8]>> {
        self.check_len(name, len)?;
        self.section(name)
    }

    fn check_len(&self, name: &str, len: usize) -> Result<()> {
        match self.section_len(name)? {
            found if found == len as u64 => Ok(()),
            found => Err(self.section_error(name, format_args!("it has {found} bytes, its parameters ask for {len}"))),
        }
    }

    /// Returns a verified copy of a section of little-endian 32-bit words. Wrap secret words in `Zeroizing`.
    ///
    /// # Errors
    /// [`Error::Section`] unless it has exactly `count` words. The errors of [`Reader::section`].
    pub fn section_u32(&self, name: &str, count: usize) -> Result<Vec<u32>> {
        self.words(name, count, u32::from_le)
    }

    /// Returns a verified copy of a section of little-endian 64-bit words. Wrap secret words in `Zeroizing`.
    ///
    /// # Errors
    /// [`Error::Section`] unless it has exactly `count` words. The errors of [`Reader::section`].
    pub fn section_u64(&self, name: &str, count: usize) -> Result<Vec<u64>> {
        self.words(name, count, u64::from_le)
    }

    /// Reads words without a second copy of their bytes.
    fn words<T: Pod + Zeroize>(&self, name: &str, count: usize, from_le: impl Fn(T) -> T) -> Result<Vec<T>> {
        self.check_len(name, count.saturating_mul(size_of::<T>()))?;
        let section = self.find(name)?;
        let mut words = Zeroizing::new(source::zeroed::<T>(count).map_err(|e| failed(&self.path, e))?);
        self.fill(section, bytemuck::cast_slice_mut(&mut words))?;
        if cfg!(target_endian = "big") {
            words.iter_mut().for_each(|word| *word = from_le(*word));
        }
        Ok(std::mem::take(&mut *words))
    }

    /// Returns the verified chunks of a section in order. Use it for sections that are too large for memory.
    ///
    /// # Errors
    /// [`Error::MissingSection`] if there is none. Each chunk can be an [`Error::Damaged`] or [`Error::Io`].
    pub fn chunks(&self, name: &str) -> Result<impl Iterator<Item = Result<Cow<'_, [u8]>>>> {
        let section = self.find(name)?;
        let (chunk, length) = (u64::from(section.entry.chunk), section.entry.length);
        Ok(section.hashes.chunks_exact(HASH as usize).enumerate().map(move |(i, hash)| {
            let begin = i as u64 * chunk;
            let (from, to) = (section.at + begin, section.at + length.min(begin + chunk));
            let bytes = self.source.read(from..to).map_err(|e| failed(&self.path, e))?;
            self.verify(section, i, &bytes, hash)?;
            Ok(bytes)
        }))
    }

    /// Compares chunk `i` of a section with its hash.
    fn verify(&self, section: &Section, i: usize, chunk: &[u8], hash: &[u8]) -> Result<()> {
        if blake3::hash(chunk).as_bytes() == hash {
            return Ok(());
        }
        let begin = section.at + i as u64 * u64::from(section.entry.chunk);
        let (name, last) = (&section.entry.name, begin + chunk.len() as u64 - 1);
        Err(Error::damaged(&self.path, format!("section {name} is altered within bytes {begin} to {last} of the file")))
    }

    /// Verifies every section, and so every byte of the file.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first damaged chunk. [`Error::Io`] from the file system.
    pub fn verify_all(&self) -> Result<()> {
        self.sections().try_for_each(|(name, _)| self.chunks(name)?.try_for_each(|chunk| chunk.map(drop)))
    }
}

/// Reads the hash tables of the sections. Checks that all gaps are zero and that the tables match the header.
fn read_tables(path: &Path, source: &Source, entries: Vec<Entry>, header: u64, body: u64) -> Result<Vec<Section>> {
    let read = |from: u64, to: u64| source.read(from..to).map_err(|e| failed(path, e));
    let zero = |from: u64, to: u64| match read(from, to)?.iter().position(|&b| b != 0) {
        None => Ok(()),
        Some(i) => Err(Error::damaged(path, format!("byte {} between its sections is not zero", from + i as u64))),
    };
    zero(header, body)?;
    let mut end = body;
    let section = |entry: Entry| {
        let (at, hashes) = (body + entry.offset, body + entry.hashes);
        zero(end, at)?;
        zero(at + entry.length, hashes)?;
        end = hashes + entry.chunks() * HASH;
        let hashes = read(hashes, end)?.into_owned();
        if *blake3::hash(&hashes).as_bytes() != entry.root {
            return Err(Error::damaged(path, format!("the checksums of section {} are altered", entry.name)));
        }
        Ok(Section { entry, at, hashes })
    };
    entries.into_iter().map(section).collect()
}

/// Converts an error of a read. A file that has become shorter counts as damaged.
fn failed(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::damaged(path, "it became shorter while it was read"),
        _ => Error::io(path, "read", error),
    }
}

/// Checks the first bytes: refuses empty and foreign files, and secret files if only public kinds are accepted.
fn check_magic(path: &Path, magic: &[u8], expect: &Expect) -> Result<()> {
    if magic.is_empty() {
        return Err(Error::Empty { path: path.to_path_buf() });
    }
    let secret = layout::is_secret(magic).ok_or_else(|| Error::NotSolinas { path: path.to_path_buf() })?;
    if secret && magic.len() == 8 && !expect.0.iter().any(|kind| kind.is_secret()) {
        // The magic does not tell the kind. The client key is the most common secret kind.
        return expect.check(path, Kind::ClientKey);
    }
    Ok(())
}

/// The text of a CBOR error without the name of its variant.
fn what(error: ciborium::value::Error) -> String {
    let ciborium::value::Error::Custom(what) = error;
    what
}
