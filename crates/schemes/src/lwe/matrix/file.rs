//! A matrix in a file, for streaming. It can be larger than memory.
//!
//! ```text
//! header, 4096 bytes    magic, version, rows, columns, words of the modulus, identity of the key
//! tiles                 in the order of `Layout`, words of 32 bits, little-endian
//! table                 BLAKE3 of every piece: up to 2048 rows of a tile
//! seal                  BLAKE3 of header and table
//! ```
//! `solinas_formats::lwe` gives the file its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::{Cancelled, Control, Fingerprint, KeyId};
use solinas_field::buffer::AlignedVec;

use super::vector::PAD;
use super::{Error, Layout, Modulus, Source};

const HEADER: usize = 4096;
const HASH: usize = 32;

/// A matrix in a file.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    layout: Layout,
    modulus: Modulus,
    id: [u8; 32],
    table: Vec<u8>,
    seal: [u8; HASH],
}

/// Builds the errors of a file.
#[derive(Clone, Copy)]
pub(in crate::lwe) struct Place<'a>(pub(in crate::lwe) &'a Path);

impl Place<'_> {
    pub(in crate::lwe) fn read(self, error: io::Error) -> Error {
        Error::File { path: self.0.into(), problem: error.to_string() }
    }

    pub(in crate::lwe) fn damaged(self, problem: &str) -> Error {
        let problem = format!("{problem}; it is damaged or of another kind");
        Error::File { path: self.0.into(), problem }
    }
}

/// The bytes of words, in place.
fn bytes_mut(words: &mut [u32]) -> &mut [u8] {
    bytemuck::cast_slice_mut(words)
}

/// Converts words between the order of the file (little-endian) and of the machine.
fn order(words: &mut [u32]) {
    if cfg!(target_endian = "big") {
        words.iter_mut().for_each(|word| *word = word.swap_bytes());
    }
}

fn header(layout: Layout, modulus: &Modulus, id: &[u8; 32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER);
    out.extend_from_slice(KeyFile::MAGIC);
    out.extend_from_slice(&KeyFile::VERSION.to_le_bytes());
    for number in [layout.rows(), layout.columns(), layout.words()] {
        out.extend_from_slice(&(number as u32).to_le_bytes());
    }
    out.extend_from_slice(id);
    modulus.words().iter().for_each(|word| out.extend_from_slice(&word.value().to_le_bytes()));
    out.resize(HEADER, 0);
    out
}

fn seal(header: &[u8], table: &[u8]) -> [u8; HASH] {
    let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 lwe matrix file");
    hasher.update(header).update(table);
    hasher.finalize().into()
}

impl KeyFile {
    /// The first bytes of a matrix file.
    pub const MAGIC: &[u8; 16] = b"solinas-lwe-tile";
    /// Version of the format.
    pub const VERSION: u32 = 1;

    /// Writes the file of a matrix with the identity of its key. Holds one piece in memory at a time. `out` receives
    /// the bytes, some KiB at a time. Progress counts pieces.
    ///
    /// # Errors
    /// The errors of `out`. [`Error::Cancelled`] if the caller cancels. [`Error::Dimension`] for a modulus with too
    /// many words for the header.
    pub fn write<E: From<Error>>(
        source: &impl Source,
        id: [u8; 32],
        mut out: impl FnMut(&[u8]) -> Result<(), E>,
        control: &Control<'_>,
    ) -> Result<(), E> {
        let (layout, modulus) = (source.layout(), source.modulus());
        if layout.words() * 4 > HEADER - 128 {
            let want = (HEADER - 128) / 4;
            return Err(Error::Dimension { what: "words of a modulus in a file", got: layout.words(), want }.into());
        }
        let header = header(layout, modulus, &id);
        let total = layout.pieces();
        let mut table = Vec::with_capacity(total * HASH);
        out(&header)?;
        for tile in (0..layout.tiles()).map(|index| layout.tile(index)) {
            let mut hasher = blake3::Hasher::new();
            let mut result = Ok(());
            let visited = source.visit(tile, PAD, &mut |first, piece| {
                let mut words = piece.words().to_vec();
                order(&mut words);
                let bytes = bytes_mut(&mut words);
                hasher.update(bytes);
                result = out(bytes);
                let end = first + piece.rows();
                let mut goes_on = true;
                if end.is_multiple_of(layout.piece(0).rows) || end == layout.padded_rows() {
                    table.extend_from_slice(hasher.finalize().as_bytes());
                    hasher.reset();
                    control.report((table.len() / HASH) as u64, total as u64);
                    goes_on = control.check().is_ok();
                }
                if result.is_ok() && goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            result?;
            if visited.is_break() {
                return Err(Error::from(Cancelled).into());
            }
        }
        out(&table)?;
        out(&seal(&header, &table))
    }

    /// Opens a file. Checks header, size and table now, and each piece when it is read.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read, is damaged, or is of another kind.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let place = Place(path);
        // Comes before the open, which would wait for a writer if the path is a pipe.
        if !fs::metadata(path).map_err(|error| place.read(error))?.is_file() {
            return Err(place.damaged("it is not an ordinary file"));
        }
        let mut file = File::open(path).map_err(|error| place.read(error))?;
        let size = file.metadata().map_err(|error| place.read(error))?.len();
        let mut header_bytes = vec![0; HEADER];
        let damaged = |problem: &str| place.damaged(problem);
        file.read_exact(&mut header_bytes).map_err(|_| damaged("it has no header"))?;
        let word = |i: usize| {
            let bytes = &header_bytes[i..i + 4];
            bytes.iter().rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte))
        };
        if &header_bytes[..16] != KeyFile::MAGIC || word(16) != KeyFile::VERSION {
            return Err(damaged("it does not begin with the magic and version of a matrix"));
        }
        let [rows, columns, count] = [20, 24, 28].map(|at| word(at) as usize);
        let mut id = [0; 32];
        id.copy_from_slice(&header_bytes[32..64]);
        if count * 4 > HEADER - 128 {
            return Err(damaged("its modulus has too many words"));
        }
        let words: Vec<u32> = (0..count).map(|i| word(64 + 4 * i)).collect();
        let modulus = Modulus::new(&words).map_err(|_| damaged("its words do not form a modulus"))?;
        let layout = Layout::new(rows, columns, &modulus).map_err(|_| damaged("its shape is out of range"))?;
        if header_bytes != header(layout, &modulus, &id) {
            return Err(damaged("its header has unknown content"));
        }
        if size != Self::bytes(&layout) {
            return Err(damaged("its size does not match its shape"));
        }
        let table_len = layout.pieces() * HASH;
        file.seek(SeekFrom::Start(HEADER as u64 + layout.bytes())).map_err(|error| place.read(error))?;
        let mut table = vec![0; table_len + HASH];
        file.read_exact(&mut table).map_err(|error| place.read(error))?;
        let sealed = table.split_off(table_len);
        let seal = seal(&header_bytes, &table);
        if sealed != seal {
            return Err(damaged("its seal does not match"));
        }
        Ok(Self { path: path.into(), layout, modulus, id, table, seal })
    }

    /// Bytes of the file of a matrix.
    pub fn bytes(layout: &Layout) -> u64 {
        HEADER as u64 + layout.bytes() + ((layout.pieces() + 1) * HASH) as u64
    }

    /// Shape and order of the matrix.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Identity of the key.
    pub fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// The fingerprint of all numbers of the matrix and of its header, for people to compare. The identity of the key does not bind the numbers, so a
    /// forged matrix has another fingerprint and the same identity.
    pub fn fingerprint(&self) -> Fingerprint {
        KeyId(self.seal).fingerprint()
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads and checks all pieces.
    ///
    /// # Errors
    /// [`Error::File`] for the first damaged piece.
    pub fn verify(&self) -> Result<(), Error> {
        let mut file = self.reader()?;
        let mut piece = AlignedVec::zeroed(self.layout.largest_piece());
        (0..self.layout.pieces()).try_for_each(|index| self.read(&mut file, index, &mut piece))
    }

    /// Opens the file for [`Self::read`].
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be opened.
    pub fn reader(&self) -> Result<File, Error> {
        File::open(&self.path).map_err(|error| Place(&self.path).read(error))
    }

    /// Reads piece number `index` to the first words of `out`, and checks it.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read, or the piece is damaged.
    ///
    /// # Panics
    /// If `out` is shorter than the piece, or there is no such piece.
    pub fn read(&self, file: &mut File, index: usize, out: &mut [u32]) -> Result<(), Error> {
        let place = Place(&self.path);
        let piece = self.layout.piece(index);
        let words = &mut out[..piece.words];
        let bytes = bytes_mut(words);
        file.seek(SeekFrom::Start(HEADER as u64 + 4 * piece.offset as u64)).map_err(|error| place.read(error))?;
        file.read_exact(bytes).map_err(|error| place.read(error))?;
        if blake3::hash(bytes).as_bytes()[..] != self.table[index * HASH..][..HASH] {
            return Err(place.damaged(&format!("piece {index} is not what was written")));
        }
        order(words);
        Ok(())
    }
}
