//! Plans: a length, its tables on a device, and the launches of transforms and products.

use super::kernels::{self, Both, Products};
use super::tables::{Direction, Twiddle, below_root, inner, inverse, outer, rader};
use crate::{Arg, Buffer, Device, Error, Kernel, Launch, Stream};

/// Points of the rows of transforms of more than one kernel, as a logarithm.
const ROWS: u32 = 8;
/// Most points of a transform of one kernel, as a logarithm.
const ONE_KERNEL: u32 = 12;
/// Words of a block of carries.
const CARRY_BLOCK: u32 = 2048;

/// A pass over columns of `2^bits` points, `2^stride` words apart, of a node of `2^(bits + stride)` points.
#[derive(Debug)]
struct Columns {
    stride: u32,
    kernels: Both,
    /// The factors of the pass itself, in both directions.
    inner: [Buffer<Twiddle>; 2],
    /// The factors between the pass and those below, in both directions.
    outer: [Buffer<Twiddle>; 2],
    mask: u32,
    /// Whether the inverse of this pass is the last one.
    last: bool,
    bits: u32,
}

/// The pass over rows, of transforms.
#[derive(Debug)]
struct Rows {
    kernels: Both,
    inner: [Buffer<Twiddle>; 2],
    /// Whether the pass is the whole transform.
    whole: bool,
}

/// The pass of an odd factor.
#[derive(Debug)]
struct Root {
    kernels: Both,
    rader: Buffer<Twiddle>,
    outer: [Buffer<Twiddle>; 2],
}

/// Buffers that the launches of a product use for themselves.
#[derive(Debug)]
pub struct Scratch {
    points: [Buffer<u64>; 2],
    flags: Buffer<u32>,
    carries: Buffer<u32>,
}

/// Transforms of `odd 2^log` elements of the field on a device, and products of integers by them.
///
/// Spectra have the order of [`solinas_field::solinas::Plan`], and its words.
#[derive(Debug)]
pub struct Plan {
    device: Device,
    odd: usize,
    log: u32,
    root: Option<Root>,
    /// The passes over columns of a product, from the root down. A transform of one kernel does not run them.
    columns: Vec<Columns>,
    rows: Rows,
    /// The factors of the rows of a product, and its kernels.
    product: Option<([Buffer<Twiddle>; 2], Products)>,
}

impl Plan {
    /// Makes a plan for `odd` in `{1, 3, 5, 17}` and `log` in 1..=24. Products need a `log` of at least 12.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for other lengths; [`Error::Memory`]; the errors of the device.
    pub fn new(device: &Device, odd: usize, log: u32) -> Result<Self, Error> {
        let largest = if odd == 1 { 24 } else { 20 };
        if ![1, 3, 5, 17].contains(&odd) || !(1..=largest).contains(&log) {
            return Err(Error::Unsupported { params: format!("transforms of {odd} * 2^{log} points") });
        }
        let stream = Stream::new(device)?;
        let upload = |table: Vec<Twiddle>| stream.buffer_of(&table, "twiddle factors");
        let scale = inverse((odd as u64) << log);
        let column = |(i, (bits, stride)): (usize, (u32, u32))| -> Result<Columns, Error> {
            let last = i == 0 && odd == 1;
            let factor = if last { scale } else { 1 };
            Ok(Columns {
                stride,
                kernels: kernels::columns(device, bits)?,
                inner: [upload(inner(bits, Direction::Forward))?, upload(inner(bits, Direction::Inverse(1)))?],
                outer: [
                    upload(outer(bits + stride, bits, Direction::Forward))?,
                    upload(outer(bits + stride, bits, Direction::Inverse(factor)))?,
                ],
                mask: (1 << (bits + stride)) - 1,
                last,
                bits,
            })
        };
        let columns: Vec<Columns> = columns(log).into_iter().enumerate().map(column).collect::<Result<_, _>>()?;
        let points = if log <= ONE_KERNEL { log } else { ROWS };
        let whole = odd == 1 && log <= ONE_KERNEL;
        let back = Direction::Inverse(if whole { scale } else { 1 });
        let rows = Rows {
            kernels: kernels::rows(device, points)?,
            inner: [upload(inner(points, Direction::Forward))?, upload(inner(points, back))?],
            whole,
        };
        let root = (odd > 1).then(|| -> Result<Root, Error> {
            Ok(Root {
                kernels: kernels::root(device, odd)?,
                rader: upload(rader(odd))?,
                outer: [
                    upload(below_root(odd, log, Direction::Forward))?,
                    upload(below_root(odd, log, Direction::Inverse(scale)))?,
                ],
            })
        });
        let first = columns.first().filter(|_| odd == 1).map(|pass| pass.bits);
        let product = (log >= ONE_KERNEL).then(|| -> Result<_, Error> {
            let inner = [upload(inner(ROWS, Direction::Forward))?, upload(inner(ROWS, Direction::Inverse(1)))?];
            Ok((inner, Products::new(device, first)?))
        });
        let (root, product) = (root.transpose()?, product.transpose()?);
        stream.synchronize()?;
        Ok(Self { device: device.clone(), odd, log, root, columns, rows, product })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.odd << self.log
    }

    fn words(&self) -> u32 {
        self.points() as u32
    }

    /// Checks a buffer of items. Returns their number.
    fn items(&self, data: &Buffer<u64>) -> Result<u32, Error> {
        match data.len() / self.points() {
            items @ 1..=65_535 if items * self.points() == data.len() => Ok(items as u32),
            _ => Err(misfit(format!("{} words for transforms of {}", data.len(), self.points()))),
        }
    }

    /// The passes over columns of a transform.
    fn transform_columns(&self) -> &[Columns] {
        if self.log <= ONE_KERNEL { &[] } else { &self.columns }
    }

    /// Transforms each item of a buffer in place. Shape: [`Self::points`] words an item. Range: any words.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub fn transform(&self, data: &Buffer<u64>) -> Result<Vec<Launch<'_>>, Error> {
        let (items, words) = (self.items(data)?, self.words());
        let (mut launches, mut above) = (Vec::new(), Above::none());
        if let Some(root) = &self.root {
            (launches, above) = (vec![self.digits_of_root(root, data, items, None)], Above::root(root));
        }
        for pass in self.transform_columns() {
            launches.push(above.columns(pass, data, words, items));
            above = Above::columns_of(pass);
        }
        let Rows { kernels: [kernel, _], inner: [inner, _], .. } = &self.rows;
        let args = vec![Arg::write(data), Arg::read(inner), above.factors(), words.into(), above.mask.into()];
        launches.push(launch(kernel, [words.div_ceil(4096), items, 1], 256, args));
        Ok(launches)
    }

    /// The inverse of [`Self::transform`]. The results are canonical.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub fn inverse(&self, data: &Buffer<u64>) -> Result<Vec<Launch<'_>>, Error> {
        let (items, words) = (self.items(data)?, self.words());
        let Rows { kernels: [_, kernel], inner: [_, inner], whole } = &self.rows;
        let scale = inverse(self.points() as u64);
        let args = vec![Arg::write(data), Arg::read(inner), scale.into(), words.into(), u32::from(*whole).into()];
        let mut launches = vec![launch(kernel, [words.div_ceil(4096), items, 1], 256, args)];
        launches.extend(self.inverse_passes(self.transform_columns(), data, items));
        Ok(launches)
    }

    /// Makes the buffers for products of `items` items of `words` words.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn scratch(&self, stream: &Stream, items: usize, words: usize) -> Result<Scratch, Error> {
        let points = || stream.buffer(items * self.points(), "the points of a product");
        let blocks = (words as u32).div_ceil(CARRY_BLOCK) as usize;
        Ok(Scratch {
            points: [points()?, points()?],
            flags: stream.buffer(items * blocks, "the carries of a product")?,
            carries: stream.buffer(items, "the carries of a product")?,
        })
    }

    /// `out <- a b`, or `a^2` without `b`, by digits of `bits` bits. Shape: as many items in all of them, which share a
    /// buffer at equal distances; `out` has as many words an item as both factors together.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes, and if the digits of both factors are more than [`Self::points`] or could have
    /// sums of products above p. [`Error::Unsupported`] for plans of fewer than 2^12 points.
    pub fn product<'p>(
        &'p self,
        a: &Buffer<u64>,
        b: Option<&Buffer<u64>>,
        items: usize,
        bits: u32,
        out: &Buffer<u64>,
        scratch: &Scratch,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let short = || Error::Unsupported { params: format!("products by transforms of {} points", self.points()) };
        let ([there, back], kernels) = self.product.as_ref().ok_or_else(short)?;
        let [p, q] = &scratch.points;
        let per_item = |x: &Buffer<u64>| x.len() / items.max(1);
        let (a_words, b_words) = (per_item(a), per_item(b.unwrap_or(a)));
        let digits = [a_words, b_words].map(|words| (64 * words).div_ceil(bits.max(1) as usize));
        let out_words = per_item(out);
        let fits = [a, b.unwrap_or(a), out].iter().all(|x| x.len() == per_item(x) * items)
            && (8..=26).contains(&bits)
            && digits[0] + digits[1] <= self.points()
            && super::sum_is_exact(bits, digits[0].min(digits[1]))
            && out_words == a_words + b_words;
        // A launch takes 65,535 blocks in y, one for each operand of an item.
        let most = if b.is_some() { 32_767 } else { 65_535 };
        let blocks = (out_words as u32).div_ceil(CARRY_BLOCK) as usize;
        let room = (1..=most).contains(&items)
            && scratch.flags.len() >= items * blocks
            && p.len() == items * self.points()
            && scratch.carries.len() == items;
        if !fits || !room {
            return Err(misfit(format!("{items} products of {a_words} by {b_words} words, digits of {bits} bits")));
        }
        let (count, words) = (items as u32, self.words());
        let operands: &[&Buffer<u64>] = if b.is_some() { &[p, q] } else { &[p] };
        let mut launches = Vec::new();
        let (mut above, rest) = match (&self.root, &kernels.digits) {
            (None, Some(kernel)) => {
                let first = &self.columns[0];
                let mut args = vec![Arg::write(p), Arg::write(q), Arg::read(a), Arg::read(b.unwrap_or(a))];
                args.push(Arg::read(&first.inner[0]));
                let numbers = [count, words, first.stride, 2 * a_words as u32, 2 * b_words as u32, bits];
                args.extend(numbers.map(Arg::from));
                launches.push(launch(kernel, [words / 4096, operands.len() as u32 * count, 1], 256, args));
                (Above::columns_of(first), &self.columns[1..])
            }
            (Some(root), _) => {
                for (points, (x, x_words)) in operands.iter().zip([(a, a_words), (b.unwrap_or(a), b_words)]) {
                    launches.push(self.digits_of_root(root, points, count, Some((x, 2 * x_words as u32, bits))));
                }
                (Above::root(root), &self.columns[..])
            }
            (None, None) => return Err(short()),
        };
        for pass in rest {
            launches.extend(operands.iter().map(|data| above.columns(pass, data, words, count)));
            above = Above::columns_of(pass);
        }
        let mut args = vec![Arg::write(p), Arg::read(p), Arg::read(operands[operands.len() - 1])];
        args.extend([Arg::read(there), Arg::read(back), above.factors(), words.into(), above.mask.into()]);
        launches.push(launch(&kernels.rows, [words / 2048, count, 1], 128, args));
        launches.extend(self.inverse_passes(&self.columns, p, count));
        let blocks = (out_words as u32).div_ceil(CARRY_BLOCK);
        let mut args = vec![Arg::read(p), Arg::write(out), Arg::write(&scratch.flags)];
        args.push((u64::MAX / u64::from(bits) + 1).into());
        args.extend([words, out_words as u32, bits].map(Arg::from));
        launches.push(launch(&kernels.coefficients, [blocks, count, 1], 256, args));
        let mut args = vec![Arg::write(out), Arg::read(&scratch.flags), Arg::write(&scratch.carries)];
        args.extend([out_words as u32, 0].map(Arg::from));
        launches.push(launch(&kernels.resolve, [blocks, count, 1], 32, args));
        Ok(launches)
    }

    /// The pass of an odd factor. The coefficients are the words of the data, or the digits of integers. `digits` gives
    /// the integers as 32-bit words, the number of words of an item, and the bits of a digit.
    fn digits_of_root<'p>(
        &self,
        root: &'p Root,
        data: &Buffer<u64>,
        items: u32,
        digits: Option<(&Buffer<u64>, u32, u32)>,
    ) -> Launch<'p> {
        let stride = 1u32 << self.log;
        let (source, words, bits) =
            digits.map_or((0u64.into(), 0, 0), |(source, words, bits)| (Arg::read(source), words, bits));
        let args = vec![Arg::write(data), source, Arg::read(&root.rader), stride.into(), words.into(), bits.into()];
        launch(&root.kernels[0], [stride.div_ceil(128), items, 1], 128, args)
    }

    /// The launches of the inverse passes over columns, from the rows up, and of the inverse pass of an odd factor.
    fn inverse_passes<'p>(&'p self, passes: &'p [Columns], data: &Buffer<u64>, items: u32) -> Vec<Launch<'p>> {
        let words = self.words();
        let pass = |pass: &'p Columns| {
            let mut args = vec![Arg::write(data), Arg::read(&pass.inner[1]), Arg::read(&pass.outer[1])];
            args.extend([words, pass.stride, u32::from(pass.last)].map(Arg::from));
            launch(&pass.kernels[1], [words / 4096, items, 1], 256, args)
        };
        let mut launches: Vec<_> = passes.iter().rev().map(pass).collect();
        if let Some(root) = &self.root {
            let stride = 1u32 << self.log;
            let args = vec![Arg::write(data), Arg::read(&root.rader), Arg::read(&root.outer[1]), stride.into()];
            launches.push(launch(&root.kernels[1], [stride.div_ceil(128), items, 1], 128, args));
        }
        launches
    }
}

/// The factors that the passes so far leave to the next one, and the words of their node less 1.
struct Above<'p> {
    factors: Option<&'p Buffer<Twiddle>>,
    mask: u32,
}

impl<'p> Above<'p> {
    fn none() -> Self {
        Self { factors: None, mask: u32::MAX }
    }

    fn root(root: &'p Root) -> Self {
        Self { factors: Some(&root.outer[0]), mask: u32::MAX }
    }

    fn columns_of(pass: &'p Columns) -> Self {
        Self { factors: Some(&pass.outer[0]), mask: pass.mask }
    }

    fn factors(&self) -> Arg {
        self.factors.map_or(0u64.into(), Arg::read)
    }

    /// A pass over columns.
    fn columns(&self, pass: &'p Columns, data: &Buffer<u64>, words: u32, items: u32) -> Launch<'p> {
        let args = vec![Arg::write(data), Arg::read(&pass.inner[0]), self.factors(), words.into(), pass.stride.into()];
        launch(&pass.kernels[0], [words / 4096, items, 1], 256, args)
    }
}

/// Bits and strides of the passes over columns of `2^log` points, from the root down. The list is empty below 2^12
/// points.
fn columns(log: u32) -> Vec<(u32, u32)> {
    match log {
        ..ONE_KERNEL => vec![],
        ONE_KERNEL..=16 => vec![(log - ROWS, ROWS)],
        _ => {
            let below = (log - ROWS) / 2;
            vec![(log - ROWS - below, ROWS + below), (below, ROWS)]
        }
    }
}

fn launch(kernel: &Kernel, grid: [u32; 3], block: u32, args: Vec<Arg>) -> Launch<'_> {
    Launch { kernel, grid, block, shared: 0, args }
}

/// The error for buffers that do not fit a plan.
fn misfit(problem: String) -> Error {
    Error::Launch { kernel: "of a transform over the field".into(), problem }
}
