//! Reading: everything is checked before it is used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::header::{Header, KeyId, Kind};
use crate::layout::{self, Entry, HASH, MAX_HEADER, PRELUDE, Prelude, VERSION};
use crate::map::{self, Bytes};
use crate::pack;

/// The kinds of file a caller can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect(Vec<Kind>);

impl Expect {
    /// Exactly one kind.
    pub fn kind(kind: Kind) -> Self {
        Self(vec![kind])
    }

    /// Any of these kinds.
    pub fn any_of(kinds: &[Kind]) -> Self {
        Self(kinds.to_vec())
    }

    /// Any kind that holds no secret: what a server opens.
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

/// An open file whose header, layout and hash tables are verified; sections are verified as they are read.
pub struct Reader {
    path: PathBuf,
    bytes: Arc<Bytes>,
    version: (u16, u16),
    header: Header,
    sections: Vec<Entry>,
    body: usize,
}

/// Shows no content.
impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("path", &self.path).field("kind", &self.header.kind).finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens a file. Large public files are mapped into memory, and no other program may edit them in place while they are open (replacing
    /// them, as Solinas does, is fine). Of a secret file where only public ones are expected, no more than the magic is read.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotAFile`], [`Error::Empty`], [`Error::NotSolinas`], [`Error::NewerVersion`], [`Error::Truncated`],
    /// [`Error::Damaged`], [`Error::WrongKind`].
    pub fn open(path: impl AsRef<Path>, expect: Expect) -> Result<Self> {
        let path = path.as_ref();
        let (mut file, metadata) = map::open(path)?;
        let magic = map::read_magic(path, &mut file)?;
        check_magic(path, &magic, &expect)?;
        let bytes = map::load(path, file, &metadata, &magic)?;
        Self::parse(path, bytes, &expect)
    }

    /// Opens bytes in memory; `name` stands for the file in messages. Bytes of a secret file are wiped when the reader is dropped.
    ///
    /// # Errors
    /// As [`Reader::open`], without those of the file system.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: impl Into<Vec<u8>>, expect: Expect) -> Result<Self> {
        let bytes = Bytes::from(bytes.into());
        check_magic(name.as_ref(), &bytes[..bytes.len().min(8)], &expect)?;
        Self::parse(name.as_ref(), bytes, &expect)
    }

    fn parse(path: &Path, bytes: Bytes, expect: &Expect) -> Result<Self> {
        let damaged = |what: &str| Error::damaged(path, what);
        let len = bytes.len() as u64;
        let truncated = |expected: u64| Error::Truncated { path: path.to_path_buf(), len, expected };
        let first = bytes.first_chunk::<PRELUDE>().ok_or_else(|| truncated(PRELUDE as u64))?;
        let not_ours = || Error::NotSolinas { path: path.to_path_buf() };
        let prelude = Prelude::from_bytes(first).ok_or_else(not_ours)?;
        if prelude.version.0 > VERSION.0 {
            let (found, supported) = (prelude.version, VERSION);
            return Err(Error::NewerVersion { path: path.to_path_buf(), found, supported });
        }
        if prelude.version.0 < VERSION.0 {
            return Err(damaged("its format version is 0, which never was"));
        }
        if len < prelude.file_len {
            return Err(truncated(prelude.file_len));
        }
        if len > prelude.file_len {
            return Err(damaged(&format!("it has {} bytes after its end", len - prelude.file_len)));
        }
        let (header_len, body) = (prelude.header_len as usize, prelude.body as usize);
        let end = PRELUDE + header_len.min(MAX_HEADER + 1);
        let fits = header_len <= MAX_HEADER
            && end <= body
            && body <= bytes.len()
            && body.is_multiple_of(layout::ALIGN as usize);
        if !fits || prelude.flags != 0 {
            return Err(damaged("its first 64 bytes contradict each other"));
        }
        let cbor = &bytes[PRELUDE..end];
        if prelude.hash_with(cbor) != prelude.hash {
            return Err(damaged("its header does not match the header's checksum"));
        }
        let (header, sections) = layout::decode_header(cbor).map_err(|what| Error::damaged(path, what))?;
        if header.kind.is_secret() != prelude.secret {
            return Err(damaged("its first bytes and its header disagree on whether it is secret"));
        }
        expect.check(path, header.kind)?;
        layout::check_sections(&sections, len - body as u64).map_err(|what| Error::damaged(path, what))?;
        let reader =
            Self { path: path.to_path_buf(), version: prelude.version, header, sections, body, bytes: Arc::new(bytes) };
        reader.check_gaps_and_tables(end)?;
        Ok(reader)
    }

    /// Checks that all gaps are zero and that the chunk hashes match the header.
    fn check_gaps_and_tables(&self, header_end: usize) -> Result<()> {
        let zero = |from: usize, to: usize| {
            let gap = &self.bytes[from..to];
            gap.iter().position(|&b| b != 0).map_or(Ok(()), |i| {
                Err(Error::damaged(&self.path, format!("byte {} between its sections is not zero", from + i)))
            })
        };
        zero(header_end, self.body)?;
        let mut end = self.body;
        for entry in &self.sections {
            let data = self.place(entry.offset);
            let tail = data + entry.length as usize;
            let hashes = self.place(entry.hashes);
            zero(end, data)?;
            zero(tail, hashes)?;
            let table = self.hash_table(entry);
            if *blake3::hash(table).as_bytes() != entry.root {
                return Err(Error::damaged(&self.path, format!("the checksums of section {} are altered", entry.name)));
            }
            end = hashes + table.len();
        }
        Ok(())
    }

    /// Position in the file of a checked position in the body.
    fn place(&self, offset: u64) -> usize {
        self.body + offset as usize
    }

    fn hash_table(&self, entry: &Entry) -> &[u8] {
        let at = self.place(entry.hashes);
        &self.bytes[at..at + (entry.chunks() * HASH) as usize]
    }

    /// The file's path, or the name given to [`Reader::from_bytes`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Format version of the file (major, minor).
    pub fn version(&self) -> (u16, u16) {
        self.version
    }

    /// Length of the file, bytes.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether the file has no section.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// What the file says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What the file holds.
    pub fn kind(&self) -> Kind {
        self.header.kind
    }

    /// The key pair the file belongs to.
    ///
    /// # Errors
    /// [`Error::Field`] if it names none.
    pub fn key_id(&self) -> Result<KeyId> {
        self.header.key_id.ok_or_else(|| self.field("key_id", "absent"))
    }

    /// The scheme's parameters.
    ///
    /// # Errors
    /// [`Error::Field`] if they are not of this type.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T> {
        self.header.params.deserialized().map_err(|e| self.field("params", &what(e)))
    }

    /// A field of the kind at hand.
    ///
    /// # Errors
    /// [`Error::Field`] if it is absent or not of this type.
    pub fn meta<T: DeserializeOwned>(&self, field: &str) -> Result<T> {
        let value = self.header.meta.get(field).ok_or_else(|| self.field(field, "absent"))?;
        value.deserialized().map_err(|e| self.field(field, &what(e)))
    }

    /// Checks the scheme.
    ///
    /// # Errors
    /// [`Error::WrongScheme`].
    pub fn expect_scheme(&self, scheme: &str) -> Result<()> {
        let found = self.header.scheme.as_deref().unwrap_or("(none)");
        if found == scheme {
            return Ok(());
        }
        Err(Error::WrongScheme { path: self.path.clone(), found: found.to_owned(), needed: scheme.to_owned() })
    }

    /// Checks that the file belongs to the key `needed` of `other` (`"server.key"`).
    ///
    /// # Errors
    /// [`Error::WrongKey`].
    pub fn expect_key(&self, needed: KeyId, other: &str) -> Result<()> {
        if self.header.key_id == Some(needed) {
            return Ok(());
        }
        Err(Error::WrongKey { path: self.path.clone(), found: self.header.key_id, other: other.to_owned(), needed })
    }

    /// Parameters that a file holds, unless a set of that name is another.
    pub(crate) fn unchanged<P: PartialEq>(&self, named: Option<P>, params: P) -> Result<P> {
        match named {
            Some(named) if named != params => Err(self.field(
                "params",
                "they differ from the parameter set of that name; make the key again with this version",
            )),
            _ => Ok(params),
        }
    }

    /// An [`Error::Field`] about this file, for codecs that check fields further.
    pub fn field(&self, field: &str, reason: &str) -> Error {
        Error::Field { path: self.path.clone(), field: field.to_owned(), reason: reason.to_owned() }
    }

    /// An [`Error::Section`] about this file, for codecs that check sections further.
    pub fn section_error(&self, section: &str, reason: impl std::fmt::Display) -> Error {
        Error::Section { path: self.path.clone(), section: section.to_owned(), reason: reason.to_string() }
    }

    /// Names and lengths in bytes of the sections, in the order of the file.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.sections.iter().map(|entry| (entry.name.as_str(), entry.length))
    }

    fn entry(&self, name: &str) -> Result<&Entry> {
        let missing = || Error::MissingSection { path: self.path.clone(), section: name.to_owned() };
        self.sections.iter().find(|entry| entry.name == name).ok_or_else(missing)
    }

    /// A whole section, verified. It begins at a multiple of 64 in the file.
    ///
    /// # Errors
    /// [`Error::MissingSection`]; [`Error::Damaged`].
    pub fn section(&self, name: &str) -> Result<&[u8]> {
        let entry = self.entry(name)?;
        self.entry_chunks(entry).try_for_each(|chunk| chunk.map(drop))?;
        let at = self.place(entry.offset);
        Ok(&self.bytes[at..at + entry.length as usize])
    }

    /// Length of a section, bytes.
    ///
    /// # Errors
    /// [`Error::MissingSection`].
    pub fn section_len(&self, name: &str) -> Result<u64> {
        Ok(self.entry(name)?.length)
    }

    /// A whole section of exactly `len` bytes, verified.
    ///
    /// # Errors
    /// [`Error::Section`] if it has another length; as [`Reader::section`].
    pub fn section_of_len(&self, name: &str, len: usize) -> Result<&[u8]> {
        let found = self.entry(name)?.length;
        if found != len as u64 {
            return Err(self.section_error(name, format_args!("it has {found} bytes, its parameters ask for {len}")));
        }
        self.section(name)
    }

    /// A section of little-endian 32-bit words, verified and copied; wrap a secret one in `Zeroizing`.
    ///
    /// # Errors
    /// [`Error::Section`] if there are not exactly `count`; as [`Reader::section`].
    pub fn section_u32(&self, name: &str, count: usize) -> Result<Vec<u32>> {
        let bytes = self.section_of_len(name, count.saturating_mul(4))?;
        pack::u32_from_le(bytes).map_err(|e| self.section_error(name, e))
    }

    /// A section of little-endian 64-bit words, verified and copied; wrap a secret one in `Zeroizing`.
    ///
    /// # Errors
    /// [`Error::Section`] if there are not exactly `count`; as [`Reader::section`].
    pub fn section_u64(&self, name: &str, count: usize) -> Result<Vec<u64>> {
        let bytes = self.section_of_len(name, count.saturating_mul(8))?;
        pack::u64_from_le(bytes).map_err(|e| self.section_error(name, e))
    }

    /// A section of public little-endian 64-bit words, verified. The words of a mapped file are used where they lie, and keep it mapped; others are
    /// copied.
    ///
    /// # Errors
    /// As [`Reader::section_u64`].
    pub fn shared_u64(&self, name: &str, count: usize) -> Result<Arc<dyn AsRef<[u64]> + Send + Sync>> {
        let section = self.section_of_len(name, count.saturating_mul(8))?;
        let begin = self.place(self.entry(name)?.offset);
        match map::mapped_words(&self.bytes, begin..begin + section.len()) {
            Some(words) => Ok(words),
            None => Ok(Arc::new(pack::u64_from_le(section).map_err(|e| self.section_error(name, e))?)),
        }
    }

    /// The verified chunks of a section, in order: what to use for sections too large to hold at once.
    ///
    /// # Errors
    /// [`Error::MissingSection`]; each chunk can be [`Error::Damaged`].
    pub fn chunks(&self, name: &str) -> Result<impl Iterator<Item = Result<&[u8]>>> {
        Ok(self.entry_chunks(self.entry(name)?))
    }

    fn entry_chunks<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = Result<&'a [u8]>> + 'a {
        let at = self.place(entry.offset);
        let data = &self.bytes[at..at + entry.length as usize];
        let hashes = self.hash_table(entry).chunks_exact(HASH as usize);
        data.chunks(entry.chunk as usize).zip(hashes).enumerate().map(move |(i, (chunk, hash))| {
            if blake3::hash(chunk).as_bytes() == hash {
                return Ok(chunk);
            }
            let begin = at + i * entry.chunk as usize;
            let (name, last) = (&entry.name, begin + chunk.len() - 1);
            Err(Error::damaged(
                &self.path,
                format!("section {name} is altered within bytes {begin} to {last} of the file"),
            ))
        })
    }

    /// Verifies every section, hence every byte of the file.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the first place that is.
    pub fn verify_all(&self) -> Result<()> {
        self.sections.iter().try_for_each(|entry| self.entry_chunks(entry).try_for_each(|chunk| chunk.map(drop)))
    }
}

/// Tells empty and foreign files, and secret ones where only public ones will do, by their first bytes.
fn check_magic(path: &Path, magic: &[u8], expect: &Expect) -> Result<()> {
    if magic.is_empty() {
        return Err(Error::Empty { path: path.to_path_buf() });
    }
    let secret = layout::is_secret(magic).ok_or_else(|| Error::NotSolinas { path: path.to_path_buf() })?;
    if secret && magic.len() == 8 && !expect.0.iter().any(|kind| kind.is_secret()) {
        // The secret kind that there is most of: which it is, is behind the magic.
        return expect.check(path, Kind::ClientKey);
    }
    Ok(())
}

/// What is wrong with a value, for people: the library prints the name of its variant around it.
fn what(error: ciborium::value::Error) -> String {
    let ciborium::value::Error::Custom(what) = error;
    what
}
