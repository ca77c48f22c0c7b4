//! Streaming: reads of the source, copies to the device and products overlap (`wang2014`, section 6.3).
//!
//! There are three buffers of the host and three of the device. While the device multiplies the contents of one, the
//! next ones are copied, and the host reads the one after them. Each buffer has its own stream of copies, since a
//! stream waits for all operations that another one has.

use super::Engine;
use super::work::Work;
use crate::{Buffer, Error, HostBuffer, Stream};
use rayon::prelude::*;
use solinas_schemes::lwe::{KeyFile, Layout, Matrix, Modulus, Source};
use solinas_schemes::{Control, Error as SchemeError};
use std::ops::Range;

/// Number of buffers of the host. The device has the same number.
pub(super) const BUFFERS: usize = 3;

/// A matrix that the host reads piece by piece: in its memory, or in a file.
pub trait Pieces: Sync {
    /// Shape and order of the matrix.
    fn layout(&self) -> Layout;

    /// The modulus.
    fn modulus(&self) -> &Modulus;

    /// Reads the words of piece number `index` of [`Layout::piece`] to `out`, which has as many words.
    ///
    /// # Errors
    /// The errors of the source.
    fn read(&self, index: usize, out: &mut [u32]) -> Result<(), SchemeError>;
}

impl Pieces for Matrix {
    fn layout(&self) -> Layout {
        Source::layout(self)
    }

    fn modulus(&self) -> &Modulus {
        Source::modulus(self)
    }

    fn read(&self, index: usize, out: &mut [u32]) -> Result<(), SchemeError> {
        let piece = Source::layout(self).piece(index);
        out.copy_from_slice(&self.words()[piece.offset..][..piece.words]);
        Ok(())
    }
}

/// Each piece is compared with its checksum.
impl Pieces for KeyFile {
    fn layout(&self) -> Layout {
        self.layout()
    }

    fn modulus(&self) -> &Modulus {
        self.modulus()
    }

    fn read(&self, index: usize, out: &mut [u32]) -> Result<(), SchemeError> {
        self.read(&mut self.reader()?, index, out)
    }
}

/// Copies a matrix to a buffer of its size.
pub(super) fn load(
    engine: &Engine,
    source: &impl Pieces,
    matrix: &Buffer<u32>,
    control: &Control<'_>,
) -> Result<(), Error> {
    let (layout, copies) = (source.layout(), Stream::new(&engine.device)?);
    let mut staging = Staging::new(engine, &layout)?;
    for group in 0..staging.groups() {
        let pieces = staging.pieces(group);
        let from = staging.read(source, group)?;
        copies.write_from(matrix, layout.piece(pieces.start).offset, from, words(&layout, &pieces))?;
        control.report(pieces.end as u64, layout.pieces() as u64);
        control.check().map_err(SchemeError::from)?;
    }
    copies.synchronize()
}

/// Adds the products of all pieces.
pub(super) fn multiply(
    engine: &Engine,
    source: &impl Pieces,
    work: &Work<'_>,
    control: &Control<'_>,
) -> Result<(), Error> {
    let layout = source.layout();
    let mut staging = Staging::new(engine, &layout)?;
    let buffer = |_| {
        let copies = Stream::new(&engine.device)?;
        let arrived = copies.buffer::<u32>(staging.group * layout.largest_piece(), "pieces of a matrix")?;
        Ok((copies, arrived))
    };
    let arrived: Vec<_> = (0..staging.hosts.len()).map(buffer).collect::<Result<_, Error>>()?;
    let copy = |staging: &mut Staging, group: usize| {
        let len = words(&layout, &staging.pieces(group));
        let (copies, arrived) = &arrived[group % BUFFERS];
        copies.write_from(arrived, 0, staging.read(source, group)?, len)
    };
    for group in 0..arrived.len() {
        copy(&mut staging, group)?;
    }
    for group in 0..staging.groups() {
        let pieces = staging.pieces(group);
        let start = layout.piece(pieces.start).offset;
        for piece in pieces.clone().map(|index| layout.piece(index)) {
            work.add_piece(&arrived[group % BUFFERS].1, piece.offset - start, &piece)?;
        }
        // The copy waits for the products that have just been submitted, and for none after them.
        if group + BUFFERS < staging.groups() {
            copy(&mut staging, group + BUFFERS)?;
        }
        control.report(pieces.end as u64, layout.pieces() as u64);
        control.check().map_err(SchemeError::from)?;
    }
    Ok(())
}

/// Number of words of a range of pieces.
fn words(layout: &Layout, pieces: &Range<usize>) -> usize {
    pieces.clone().map(|index| layout.piece(index).words).sum()
}

/// The buffers of the host. Each of them takes a group of consecutive pieces.
struct Staging {
    layout: Layout,
    /// Pieces of a group.
    group: usize,
    hosts: Vec<HostBuffer<u32>>,
}

impl Staging {
    fn new(engine: &Engine, layout: &Layout) -> Result<Self, Error> {
        let group = engine.group(layout);
        let len = group * layout.largest_piece();
        let host = |_| HostBuffer::new(&engine.device, len, "pieces of a matrix");
        let count = BUFFERS.min(layout.pieces().div_ceil(group));
        Ok(Self { layout: *layout, group, hosts: (0..count).map(host).collect::<Result<_, _>>()? })
    }

    fn groups(&self) -> usize {
        self.layout.pieces().div_ceil(self.group)
    }

    /// The pieces of a group.
    fn pieces(&self, group: usize) -> Range<usize> {
        group * self.group..((group + 1) * self.group).min(self.layout.pieces())
    }

    /// Reads a group on the current rayon pool, after the last copy from its buffer.
    fn read(&mut self, source: &impl Pieces, group: usize) -> Result<&mut HostBuffer<u32>, Error> {
        let (layout, pieces) = (self.layout, self.pieces(group));
        let host = &mut self.hosts[group % BUFFERS];
        let mut rest = host.values_mut()?;
        let mut parts = Vec::with_capacity(pieces.len());
        for index in pieces {
            let (part, after) = rest.split_at_mut(layout.piece(index).words);
            parts.push((index, part));
            rest = after;
        }
        parts.into_par_iter().try_for_each(|(index, part)| source.read(index, part))?;
        Ok(host)
    }
}
