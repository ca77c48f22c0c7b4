//! Plans: a length, its tables on a device, and the launches of transforms and products.

use super::BRANCH;
use super::kernels::Kernels;
use super::lists::Lists;
use crate::{Arg, Buffer, Device, Error, Kernel, Launch, Stream};
use solinas_field::Backend;
use solinas_field::complex::{self, Stages, Wrap, error_bound};

/// Threads of the blocks of all kernels except the kernels of carries.
const BLOCK: u32 = 128;
/// Number of words of a block of carries, and number of its threads.
const CARRY: (u32, u32) = (2048, 256);
/// Most items of a batch: CUDA allows no more blocks in this direction.
const MAX_ITEMS: usize = 65_535;
/// Bytes of a complex point.
const POINT: u32 = 16;

/// A pass over columns: the nodes of one stage, with `1 << child_log` columns each.
#[derive(Debug)]
struct Columns {
    radix_log: u32,
    child_log: u32,
    twiddles: Buffer<f64>,
}

/// The pass over branches, of `1 << log` points.
#[derive(Debug)]
struct Branches {
    log: u32,
    stages: u32,
    /// Logarithms of the radices of its stages, two bits each.
    radices: u32,
    /// Places of the twiddles of both stages, of the rows and of the columns of the tiles.
    starts: [u32; 4],
    twiddles: Buffer<f64>,
}

/// Integers of a batch on a device, at equal distances in one buffer. Their least significant words come first.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    buffer: &'a Buffer<u64>,
    items: usize,
    /// Places of the items; `None` for the first ones.
    picked: Option<&'a Buffer<u32>>,
    /// Words from an item to the next.
    stride: usize,
    /// First word of an item, and its words.
    from: usize,
    words: usize,
}

impl<'a> Operand<'a> {
    /// The integers that fill a buffer.
    ///
    /// # Errors
    /// [`Error::Launch`] unless the length of the buffer is a multiple of `items`, which is at least 1.
    pub fn new(buffer: &'a Buffer<u64>, items: usize) -> Result<Self, Error> {
        let stride = buffer.len().checked_div(items).filter(|stride| stride * items == buffer.len());
        let stride = stride.ok_or_else(|| misfit(format!("{items} items in {} words", buffer.len())))?;
        Ok(Self { buffer, items, picked: None, stride, from: 0, words: stride })
    }

    /// The integers at listed places among these ones. The kernels trust the list: the caller keeps each place below
    /// [`Self::items`].
    pub(crate) fn picked(self, places: &'a Buffer<u32>, items: usize) -> Self {
        Self { picked: Some(places), items, ..self }
    }

    /// The first `items` of these integers.
    ///
    /// # Errors
    /// [`Error::Launch`] if there are fewer.
    pub(crate) fn first(self, items: usize) -> Result<Self, Error> {
        match items <= self.items {
            true => Ok(Self { items, ..self }),
            false => Err(misfit(format!("{items} items of {}", self.items))),
        }
    }

    /// Number of integers.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Words of an integer.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The integers of `words` words from word `from` of these ones on.
    ///
    /// # Errors
    /// [`Error::Launch`] if these integers end before.
    pub fn part(self, from: usize, words: usize) -> Result<Self, Error> {
        match from.checked_add(words) {
            Some(end) if end <= self.words => Ok(Self { from: self.from + from, words, ..self }),
            _ => Err(misfit(format!("words {from} to {from}+{words} of {}", self.words))),
        }
    }
}

/// Buffers that the launches of a plan use for themselves. Launches that share them run one after the other.
#[derive(Debug)]
pub struct Scratch {
    points: [Buffer<f64>; 2],
    coefficients: Buffer<u64>,
    flags: Buffer<u32>,
    carries: Buffer<u32>,
}

/// Transforms of `n` balanced digits on a device, for products of integers modulo `2^M + 1` with `M = digit_bits n`.
///
/// A residue has [`Self::words`] words: `M / 64`, and one that is 1 for the residue `2^M` alone. A spectrum has
/// [`Self::spectrum_len`] doubles. Batches have up to 65,535 items. The results are those of
/// [`solinas_field::complex::Plan`], in every bit.
#[derive(Debug)]
pub struct Plan {
    device: Device,
    digits: usize,
    digit_bits: u32,
    /// Complex points: `n / 2`.
    points: u32,
    /// Columns of the first stage.
    child: u32,
    first: Buffer<f64>,
    columns: Vec<Columns>,
    branches: Branches,
    kernels: Kernels,
}

impl Plan {
    /// Makes a plan for `digits` digits, `2 m 2^k` with `m` in `{1, 3, 5, 7}` and `k >= 6`, of `digit_bits` bits.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another number of digits, or for digits so large that a product of two full operands
    /// could be rounded to a wrong integer. [`Error::Memory`]; the errors of the device.
    pub fn new(device: &Device, digits: usize, digit_bits: u32) -> Result<Self, Error> {
        Self::for_sums(device, digits, digit_bits, 1)
    }

    /// Makes a plan as [`Self::new`] does, for sums of up to `terms` products of spectra.
    ///
    /// # Errors
    /// As [`Self::new`], if a sum of products of full operands could be rounded to a wrong integer.
    pub fn for_sums(device: &Device, digits: usize, digit_bits: u32, terms: usize) -> Result<Self, Error> {
        let unsupported = || Error::Unsupported { params: format!("{digits} digits of {digit_bits} bits") };
        let plan = complex::Plan::new(digits, Wrap::Plus, Backend::Scalar, 1).map_err(|_| unsupported())?;
        let stages = plan.stages().ok_or_else(unsupported)?;
        if !(2..=25).contains(&digit_bits) || error_bound(digits, Wrap::Plus, digit_bits, digits, digits, terms) >= 0.5
        {
            return Err(unsupported());
        }
        let stream = Stream::new(device)?;
        let upload = |twiddles: &[f64]| stream.buffer_of(twiddles, "twiddle factors");
        let Stages { odd, subtree, odd_twiddles, steps, rows, columns: tile_columns } = stages;
        let mut steps = steps.into_iter();
        let mut length = subtree;
        // The first pass takes the odd factor. Without one, it takes the first step, unless that is in a branch.
        let (radix, first) = if odd > 1 {
            (odd, upload(&odd_twiddles)?)
        } else if subtree > BRANCH {
            let (radix_log, twiddles) = steps.next().ok_or_else(unsupported)?;
            length >>= radix_log;
            (1 << radix_log, upload(twiddles)?)
        } else {
            (1, upload(&odd_twiddles)?)
        };
        let mut columns = Vec::new();
        while length > BRANCH {
            let (radix_log, twiddles) = steps.next().ok_or_else(unsupported)?;
            length >>= radix_log;
            columns.push(Columns { radix_log, child_log: length.ilog2(), twiddles: upload(twiddles)? });
        }
        let (mut all, mut starts, mut radices, mut count) = (Vec::new(), [0; 4], 0, 0);
        for (radix_log, twiddles) in steps {
            starts[count] = all.len() as u32;
            radices |= radix_log << (2 * count);
            all.extend_from_slice(twiddles);
            count += 1;
        }
        for (start, twiddles) in starts[2..].iter_mut().zip([rows, tile_columns]) {
            *start = all.len() as u32;
            all.extend_from_slice(twiddles);
        }
        let twiddles = upload(&all)?;
        let branches = Branches { log: length.ilog2(), stages: count as u32, radices, starts, twiddles };
        let passes: Vec<usize> = columns.iter().map(|pass| 1 << pass.radix_log).collect();
        let kernels = Kernels::new(device, radix, &passes)?;
        let points = (digits / 2) as u32;
        stream.synchronize()?;
        let device = device.clone();
        Ok(Self { device, digits, digit_bits, points, child: points / radix as u32, first, columns, branches, kernels })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bits of the modulus `2^M + 1`: `M`.
    pub fn modulus_bits(&self) -> u64 {
        self.digits as u64 * u64::from(self.digit_bits)
    }

    /// Words of a residue.
    pub fn words(&self) -> usize {
        (self.modulus_bits() / 64) as usize + 1
    }

    /// Doubles of a spectrum.
    pub fn spectrum_len(&self) -> usize {
        self.digits
    }

    /// Makes the buffers for launches of `items` items.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn scratch(&self, stream: &Stream, items: usize) -> Result<Scratch, Error> {
        let points = || stream.buffer(items * self.spectrum_len(), "the points of a product");
        let blocks = (self.words() as u32).div_ceil(CARRY.0) as usize;
        Ok(Scratch {
            points: [points()?, points()?],
            coefficients: stream.buffer(items * self.digits, "the coefficients of a product")?,
            flags: stream.buffer(items * blocks, "the carries of a product")?,
            carries: stream.buffer(items, "the carries of a product")?,
        })
    }

    /// `spectra <- transform(x)`. Shape: `spectra` has space for as many spectra as `x` has items.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes, or if an item has more than `M / 64` words.
    pub fn transform(&self, x: Operand<'_>, spectra: &Buffer<f64>) -> Result<Vec<Launch<'_>>, Error> {
        let mut launches = self.split(x, spectra)?;
        launches.push(self.branch(&self.kernels.forward, spectra, None, x.items));
        Ok(launches)
    }

    /// `out <- x y`, or `x^2` without `y`. Shape: `y` has as many items as `x`; `out` has space for as many residues.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes, or if an item has more than `M / 64` words.
    pub fn product<'p>(
        &'p self,
        x: Operand<'_>,
        y: Option<Operand<'_>>,
        out: &Buffer<u64>,
        scratch: &Scratch,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let [a, b] = &scratch.points;
        let mut launches = self.split(x, a)?;
        if let Some(y) = y {
            if y.items != x.items {
                return Err(misfit(format!("{} and {} items", x.items, y.items)));
            }
            launches.extend(self.split(y, b)?);
            launches.push(self.branch(&self.kernels.product, a, Some((b, false)), x.items));
        } else {
            launches.push(self.branch(&self.kernels.square, a, None, x.items));
        }
        launches.extend(self.join(a, x.items, out, scratch)?);
        Ok(launches)
    }

    /// `out <- x y`, where `spectra` are the transforms of the items of `y`, or of one `y` for all items.
    ///
    /// # Errors
    /// As [`Self::product`].
    pub fn product_by_spectra<'p>(
        &'p self,
        x: Operand<'_>,
        spectra: &Buffer<f64>,
        out: &Buffer<u64>,
        scratch: &Scratch,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let a = &scratch.points[0];
        let one = self.shares(spectra, x.items)?;
        let mut launches = self.split(x, a)?;
        launches.push(self.branch(&self.kernels.kept, a, Some((spectra, one)), x.items));
        launches.extend(self.join(a, x.items, out, scratch)?);
        Ok(launches)
    }

    /// `sums <- a b`, or `sums + a b` if `add`, of spectra. Shape: `a` and `sums` have space for `items` spectra; `b` holds
    /// as many, or one for all items.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub fn multiply<'p>(
        &'p self,
        sums: &Buffer<f64>,
        a: &Buffer<f64>,
        b: &Buffer<f64>,
        items: usize,
        add: bool,
    ) -> Result<Launch<'p>, Error> {
        self.check(sums.len(), items, self.spectrum_len())?;
        self.check(a.len(), items, self.spectrum_len())?;
        let one = self.shares(b, items)?;
        let kernel = if add { &self.kernels.multiply_add } else { &self.kernels.multiply };
        let args = vec![Arg::write(sums), Arg::read(a), Arg::read(b), self.points.into(), u32::from(one).into()];
        Ok(launch(kernel, [self.points.div_ceil(BLOCK), items as u32, 1], args))
    }

    /// Spectrum i of `sums` <- the sum of the products of spectra of `a` and `b` that list i of `pairs` names. Shape: `sums`
    /// has space for a spectrum of each list. The kernel trusts the lists: the caller keeps each place below the number of
    /// spectra.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub(crate) fn sums<'p>(
        &'p self,
        sums: &Buffer<f64>,
        a: &Buffer<f64>,
        b: &Buffer<f64>,
        pairs: &Lists,
    ) -> Result<Launch<'p>, Error> {
        self.check(sums.len(), pairs.items, self.spectrum_len())?;
        let args = vec![
            Arg::write(sums),
            Arg::read(a),
            Arg::read(b),
            Arg::read(&pairs.starts),
            Arg::read(&pairs.members),
            self.points.into(),
        ];
        Ok(launch(&self.kernels.sums, [self.points.div_ceil(BLOCK), pairs.items as u32, 1], args))
    }

    /// `out <- inverse(spectra)`, and destroys the spectra. Shape: `spectra` holds `items` spectra or more, and `out` has
    /// space for as many residues.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub fn inverse<'p>(
        &'p self,
        spectra: &Buffer<f64>,
        items: usize,
        out: &Buffer<u64>,
        scratch: &Scratch,
    ) -> Result<Vec<Launch<'p>>, Error> {
        self.check(spectra.len(), items, self.spectrum_len())?;
        let mut launches = vec![self.branch(&self.kernels.inverse, spectra, None, items)];
        launches.extend(self.join(spectra, items, out, scratch)?);
        Ok(launches)
    }

    /// Whether all items share one spectrum.
    fn shares(&self, spectra: &Buffer<f64>, items: usize) -> Result<bool, Error> {
        let one = spectra.len() == self.spectrum_len();
        self.check(spectra.len(), if one { 1 } else { items }, self.spectrum_len())?;
        Ok(one)
    }

    /// Checks that a buffer has space for these items.
    fn check(&self, len: usize, items: usize, each: usize) -> Result<(), Error> {
        let fits = (1..=MAX_ITEMS).contains(&items) && len >= items * each;
        if fits { Ok(()) } else { Err(misfit(format!("{items} items of {each} values in a buffer of {len}"))) }
    }

    /// The launches of the digits, of the first stage, and of the passes over columns.
    fn split<'p>(&'p self, x: Operand<'_>, points: &Buffer<f64>) -> Result<Vec<Launch<'p>>, Error> {
        self.check(points.len(), x.items, self.spectrum_len())?;
        if x.words >= self.words() {
            return Err(misfit(format!("{} words for {}", x.words, self.words() - 1)));
        }
        let args = vec![
            Arg::write(points),
            Arg::read(x.buffer),
            Arg::read(&self.first),
            x.picked.map_or(Arg::from(0u64), Arg::read),
            (x.from as u32).into(),
            (x.stride as u32).into(),
            (x.words as u32).into(),
            self.digit_bits.into(),
            self.child.into(),
        ];
        let mut launches = vec![launch(&self.kernels.digits, [self.child.div_ceil(BLOCK), x.items as u32, 1], args)];
        let passes = self.columns.iter().zip(&self.kernels.columns);
        launches.extend(passes.map(|(pass, [split, _])| self.pass(pass, split, points, x.items)));
        Ok(launches)
    }

    /// The launches of the inverse passes over columns, of the inverse first stage, of the rounding, and of the
    /// carries.
    fn join<'p>(
        &'p self,
        points: &Buffer<f64>,
        items: usize,
        out: &Buffer<u64>,
        scratch: &Scratch,
    ) -> Result<Vec<Launch<'p>>, Error> {
        self.check(out.len(), items, self.words())?;
        self.check(scratch.coefficients.len(), items, self.digits)?;
        let passes = self.columns.iter().zip(&self.kernels.columns).rev();
        let mut launches: Vec<_> = passes.map(|(pass, [_, join])| self.pass(pass, join, points, items)).collect();
        // The offset (2^bits - 1) q of each coefficient makes all of them positive. They add up to q (2^M - 1).
        let q = 1u64 << (51 - self.digit_bits);
        let magic = ((1u64 << 52) + (1 << 51) - q) as f64;
        let scale = 1.0 / f64::from(self.points);
        let args = vec![
            Arg::write(&scratch.coefficients),
            Arg::read(points),
            Arg::read(&self.first),
            self.child.into(),
            scale.to_bits().into(),
            magic.to_bits().into(),
        ];
        let (items, words) = (items as u32, self.words() as u32);
        launches.push(launch(&self.kernels.round, [self.child.div_ceil(BLOCK), items, 1], args));
        let blocks = words.div_ceil(CARRY.0);
        let args = vec![
            Arg::read(&scratch.coefficients),
            Arg::write(out),
            Arg::write(&scratch.flags),
            (u64::MAX / u64::from(self.digit_bits) + 1).into(),
            (self.digits as u32).into(),
            words.into(),
            self.digit_bits.into(),
        ];
        launches.push(Launch { block: CARRY.1, ..launch(&self.kernels.coefficients, [blocks, items, 1], args) });
        let args =
            vec![Arg::write(out), Arg::read(&scratch.flags), Arg::write(&scratch.carries), words.into(), 0u32.into()];
        launches.push(Launch { block: 32, ..launch(&self.kernels.resolve, [blocks, items, 1], args) });
        // 2^M is -1, so q (2^M - 1) is -2 q.
        let args = vec![Arg::write(out), (words - 1).into(), (2 * q).into()];
        launches.push(Launch { block: 32, ..launch(&self.kernels.wrap, [1, items, 1], args) });
        Ok(launches)
    }

    fn pass<'p>(&self, pass: &Columns, kernel: &'p Kernel, points: &Buffer<f64>, items: usize) -> Launch<'p> {
        let args = vec![Arg::write(points), Arg::read(&pass.twiddles), self.points.into(), pass.child_log.into()];
        launch(kernel, [(self.points >> pass.radix_log).div_ceil(BLOCK), items as u32, 1], args)
    }

    /// The launch of a pass over branches. `other` is a second operand and whether all items share it.
    fn branch<'p>(
        &self,
        kernel: &'p Kernel,
        points: &Buffer<f64>,
        other: Option<(&Buffer<f64>, bool)>,
        items: usize,
    ) -> Launch<'p> {
        let Branches { log, stages, radices, starts: [start0, start1, rows, columns], ref twiddles } = self.branches;
        let one = u32::from(other.is_some_and(|(_, one)| one));
        let other = other.map_or(Arg::from(0u64), |(other, _)| Arg::read(other));
        let mut args = vec![Arg::write(points), other, Arg::read(twiddles)];
        args.extend([log, stages, radices, start0, start1, rows, columns, one].map(Arg::from));
        let operands = if std::ptr::eq(kernel, &raw const self.kernels.product) { 2 } else { 1 };
        Launch { shared: (operands * POINT) << log, ..launch(kernel, [self.points >> log, items as u32, 1], args) }
    }
}

fn launch(kernel: &Kernel, grid: [u32; 3], args: Vec<Arg>) -> Launch<'_> {
    Launch { kernel, grid, block: BLOCK, shared: 0, args }
}

/// The error for buffers that do not fit a plan.
fn misfit(problem: String) -> Error {
    Error::Launch { kernel: "of a complex transform".into(), problem }
}
