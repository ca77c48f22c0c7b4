//! Writing, section by section.

use std::fs::File;
use std::io::{self, SeekFrom, Write};
use std::path::Path;

use zeroize::Zeroizing;

use crate::destination::{Destination, Memory, Overwrite, ToFile};
use crate::error::{Error, Result};
use crate::header::Header;
use crate::layout::{self, CHUNK, Entry, MAX_SECTIONS, PRELUDE, Prelude};
use crate::pack;

/// Number of body bytes that are buffered before the first write to the file. Smaller files get a header without slack
/// and are written in one pass.
const BUFFER: usize = 1 << 20;
/// Number of bytes reserved for the section table of a file larger than [`BUFFER`]: [`MAX_SECTIONS`] entries of at most
/// 192 bytes.
const TABLE: usize = MAX_SECTIONS * 192;

/// Writes one file in one pass, section by section.
pub struct Writer<D: Destination + ?Sized> {
    header: Header,
    sections: Vec<Entry>,
    open: Option<OpenSection>,
    /// Body bytes that are not yet in the file.
    buffer: Zeroizing<Vec<u8>>,
    /// Offset of the body in the file, after the first write.
    body: Option<u64>,
    /// Length of the body so far in bytes.
    length: u64,
    /// The first failed write. After it the file is never completed.
    failure: Option<io::Error>,
    /// The last field, so that `&mut Writer<ToFile>` coerces to `&mut Writer<dyn Destination>`.
    destination: D,
}

struct OpenSection {
    name: String,
    offset: u64,
    length: u64,
    /// Holds up to 1 KiB of the section. Wiped on drop.
    chunk: Zeroizing<blake3::Hasher>,
    hashes: Vec<u8>,
}

impl OpenSection {
    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = u64::from(CHUNK) - self.length % u64::from(CHUNK);
            let (now, later) = bytes.split_at(bytes.len().min(room as usize));
            self.chunk.update(now);
            self.length += now.len() as u64;
            if self.length.is_multiple_of(u64::from(CHUNK)) {
                self.end_chunk();
            }
            bytes = later;
        }
    }

    fn end_chunk(&mut self) {
        self.hashes.extend_from_slice(self.chunk.finalize().as_bytes());
        self.chunk.reset();
    }
}

impl Writer<ToFile> {
    /// Begins a file. Its bytes go to a temporary file in the same folder, which is removed if the writer is dropped
    /// before [`Self::finish`]. A secret file has mode 0600 from the first byte on. A symbolic link is replaced; the
    /// file that it names stays unchanged.
    ///
    /// # Errors
    /// [`Error::Exists`] if `overwrite` does not allow to replace a file. [`Error::NotAFile`] if the path names a
    /// directory, a pipe or a device. [`Error::Io`] and [`Error::DiskFull`] from the file system.
    pub fn create(path: impl AsRef<Path>, header: Header, overwrite: Overwrite) -> Result<Self> {
        Ok(Self::begin(ToFile::create(path.as_ref(), header.kind, overwrite)?, header))
    }

    /// Completes the file: writes the header, makes the file durable, and gives it its name in one step.
    ///
    /// # Errors
    /// [`Error::DiskFull`] and [`Error::Io`] from the file system. [`Error::Exists`] if another process took the name.
    /// [`Error::Unwritable`] if the header is too large. After an error no part of the file remains.
    pub fn finish(self) -> Result<()> {
        self.finish_locked().map(drop)
    }

    /// Completes the file as [`Self::finish`] does. The file stays locked until the result is closed, if the file
    /// system supports locks.
    pub(crate) fn finish_locked(mut self) -> Result<File> {
        self.complete()?;
        self.destination.persist(self.header.kind)
    }
}

impl Writer<Memory> {
    /// Begins a file in memory.
    pub fn in_memory(header: Header) -> Self {
        Self::begin(Memory(()), header)
    }

    /// Completes the file and returns its bytes. They are wiped on drop; take public bytes out of their wrapper with
    /// `std::mem::take`.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the header is too large.
    pub fn into_bytes(mut self) -> Result<Zeroizing<Vec<u8>>> {
        let front = self.complete()?;
        let mut file = Zeroizing::new(Vec::with_capacity(front.len() + self.buffer.len()));
        file.extend_from_slice(&front);
        file.extend_from_slice(&self.buffer);
        Ok(file)
    }
}

impl<D: Destination> Writer<D> {
    fn begin(destination: D, header: Header) -> Self {
        Self {
            header,
            sections: Vec::new(),
            open: None,
            buffer: Zeroizing::default(),
            body: None,
            length: 0,
            failure: None,
            destination,
        }
    }
}

impl<D: Destination + ?Sized> Writer<D> {
    /// The metadata of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Writes a section. A name has 1 to 64 lower-case letters, digits, dots, dashes or underscores.
    ///
    /// # Errors
    /// The errors of [`Writer::begin_section`].
    pub fn section(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        // `check` below reports a failure with the name of the file.
        let _ = self.begin_section(name)?.write_all(bytes);
        self.check()
    }

    /// Writes a section of little-endian 64-bit words without a second copy of them.
    ///
    /// # Errors
    /// The errors of [`Writer::begin_section`].
    pub fn section_u64(&mut self, name: &str, words: &[u64]) -> Result<()> {
        let mut section = self.begin_section(name)?;
        for words in words.chunks(BUFFER / 8) {
            // `check` below reports a failure with the name of the file.
            let _ = if cfg!(target_endian = "little") {
                section.write_all(bytemuck::cast_slice(words))
            } else {
                section.write_all(&Zeroizing::new(pack::u64_to_le(words)))
            };
        }
        self.check()
    }

    /// Writes a section that consists of parts, one after the other.
    ///
    /// # Errors
    /// The errors of [`Writer::begin_section`]. The errors of the parts.
    pub fn section_of_parts<B: AsRef<[u8]>>(
        &mut self,
        name: &str,
        parts: impl IntoIterator<Item = Result<B>>,
    ) -> Result<()> {
        let mut section = self.begin_section(name)?;
        for part in parts {
            // `check` below reports a failure with the name of the file.
            if section.write_all(part?.as_ref()).is_err() {
                break;
            }
        }
        self.check()
    }

    /// Ends the current section and begins a new one. Write its bytes to the result.
    ///
    /// # Errors
    /// [`Error::Unwritable`] for an invalid or repeated name, or too many sections. [`Error::DiskFull`] or
    /// [`Error::Io`] if this or an earlier write failed.
    pub fn begin_section(&mut self, name: &str) -> Result<SectionWriter<'_, D>> {
        self.end_section()?;
        layout::check_name(name).map_err(Error::Unwritable)?;
        if self.sections.iter().any(|s| s.name == name) {
            return Err(Error::Unwritable(format!("section {name} is written twice")));
        }
        if self.sections.len() == MAX_SECTIONS {
            return Err(Error::Unwritable(format!("more than {MAX_SECTIONS} sections")));
        }
        self.pad()?;
        self.open = Some(OpenSection {
            name: name.to_owned(),
            offset: self.length,
            length: 0,
            chunk: Zeroizing::new(blake3::Hasher::new()),
            hashes: Vec::new(),
        });
        Ok(SectionWriter { writer: self })
    }

    /// Ends the open section, if any, and appends its table of chunk hashes.
    fn end_section(&mut self) -> Result<()> {
        self.check()?;
        let Some(mut section) = self.open.take() else { return Ok(()) };
        if !section.length.is_multiple_of(u64::from(CHUNK)) {
            section.end_chunk();
        }
        self.pad()?;
        self.sections.push(Entry {
            name: section.name,
            offset: section.offset,
            length: section.length,
            chunk: CHUNK,
            hashes: self.length,
            root: *blake3::hash(&section.hashes).as_bytes(),
        });
        self.push(&section.hashes);
        self.check()
    }

    /// Pads the body with zeros to the next multiple of the alignment.
    fn pad(&mut self) -> Result<()> {
        let end = layout::align(self.length).ok_or_else(|| Error::Unwritable("the file would be too large".into()))?;
        self.push(&[0; layout::ALIGN as usize][..(end - self.length) as usize]);
        self.check()
    }

    /// Returns the first failed write as an error with the name of the file.
    fn check(&self) -> Result<()> {
        self.failure.as_ref().map_or(Ok(()), |e| Err(Error::io(self.destination.path(), "write", repeat(e))))
    }

    /// Appends to the body. Stores the first failure.
    fn push(&mut self, bytes: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        self.length += bytes.len() as u64;
        if self.destination.file().is_some() && self.buffer.len() + bytes.len() > BUFFER {
            let written = self.spill();
            self.failure = written.err();
            if bytes.len() >= BUFFER
                && self.failure.is_none()
                && let Some(file) = self.destination.file()
            {
                self.failure = file.write_all(bytes).err();
                return;
            }
        }
        extend(&mut self.buffer, bytes);
    }

    /// Moves the buffer to the file, after the space for the header. This space stays zero until the end, so the file
    /// is unreadable before.
    fn spill(&mut self) -> io::Result<()> {
        let Some(file) = self.destination.file() else { return Ok(()) };
        if self.body.is_none() {
            let header = layout::encode_header(&self.header, &[]).map_err(io::Error::other)?;
            let body = (PRELUDE + header.len() + TABLE).next_multiple_of(layout::ALIGN as usize) as u64;
            layout::write_zeros(file, body)?;
            self.body = Some(body);
        }
        file.write_all(&self.buffer)?;
        zeroize::Zeroize::zeroize(self.buffer.as_mut_slice());
        self.buffer.clear();
        Ok(())
    }

    /// Ends the last section and returns the beginning of the file. If there is a file, also writes this beginning and
    /// the rest of the body.
    fn complete(&mut self) -> Result<Vec<u8>> {
        self.end_section()?;
        let header = layout::encode_header(&self.header, &self.sections)?;
        let end = (PRELUDE + header.len()) as u64;
        let body = self.body.unwrap_or_else(|| end.next_multiple_of(layout::ALIGN));
        if end > body {
            return Err(Error::Unwritable("the section table is larger than the space reserved for it".into()));
        }
        let prelude = Prelude::seal(self.header.kind.is_secret(), &header, body, self.length)?;
        let mut front = prelude.to_bytes().to_vec();
        front.extend_from_slice(&header);
        if self.body.is_none() {
            front.resize(body as usize, 0);
        }
        if let Some(file) = self.destination.file() {
            let in_order = self.body.is_none();
            let written = (|| {
                if in_order {
                    file.write_all(&front)?;
                    return file.write_all(&self.buffer);
                }
                file.write_all(&self.buffer)?;
                file.seek(SeekFrom::Start(0))?;
                file.write_all(&front)
            })();
            self.failure = written.err();
        }
        self.check().map(|()| front)
    }
}

/// Receives the bytes of one section. The next section or the end of the file ends it. Small writes are buffered.
pub struct SectionWriter<'a, D: Destination + ?Sized> {
    writer: &'a mut Writer<D>,
}

impl<D: Destination + ?Sized> Write for SectionWriter<'_, D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(section) = &mut self.writer.open {
            section.update(bytes);
        }
        self.writer.push(bytes);
        self.writer.failure.as_ref().map_or(Ok(bytes.len()), |e| Err(repeat(e)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Appends bytes. If the buffer must grow, no old copy is left in memory.
fn extend(buffer: &mut Zeroizing<Vec<u8>>, bytes: &[u8]) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * buffer.capacity())));
        larger.extend_from_slice(buffer);
        *buffer = larger;
    }
    buffer.extend_from_slice(bytes);
}

/// Returns a copy of an error.
fn repeat(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::new(error.kind(), error.to_string()), io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use super::*;
    use crate::destination::sealed;
    use crate::header::Kind;

    /// A disk with space for `room` bytes.
    struct SmallDisk {
        room: usize,
        disk: io::Cursor<Vec<u8>>,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = self.room.saturating_sub(self.disk.position() as usize);
            if room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.disk.write(&bytes[..bytes.len().min(room)])
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for SmallDisk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.disk.seek(to)
        }
    }

    impl sealed::Destination for SmallDisk {
        fn path(&self) -> &Path {
            Path::new("x.ct")
        }

        fn file(&mut self) -> Option<&mut dyn sealed::WriteSeek> {
            Some(self)
        }
    }

    impl Destination for SmallDisk {}

    fn write_to(room: usize) -> Result<Vec<u8>> {
        let disk = SmallDisk { room, disk: io::Cursor::default() };
        let mut writer = Writer::begin(disk, Header::new(Kind::Ciphertext));
        writer.section("a", &[7; 3 << 20])?;
        let mut section = writer.begin_section("b")?;
        for i in 0..1 << 12 {
            if section.write_all(&[i as u8; 777]).is_err() {
                break;
            }
        }
        writer.section("c", &[])?;
        writer.complete()?;
        Ok(writer.destination.disk.into_inner())
    }

    #[test]
    fn a_full_disk_is_reported_wherever_it_happens() {
        let whole = write_to(usize::MAX).unwrap();
        let mut rooms: Vec<usize> = (0..whole.len()).step_by(99_991).collect();
        rooms.extend([1, 64, whole.len() - 1]);
        for room in rooms {
            let error = write_to(room).unwrap_err();
            assert!(matches!(error, Error::DiskFull { .. }), "{room}: {error}");
        }
        assert_eq!(write_to(whole.len()).unwrap(), whole);
        let reader = crate::Reader::from_bytes("x.ct", whole, crate::Expect::any()).unwrap();
        reader.verify_all().unwrap();
        assert_eq!(reader.section("b").unwrap().len(), 777 << 12);
    }
}
