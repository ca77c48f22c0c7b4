//! The kernels of a transform, of a product and of carries in their order.

use crate::lab::Lab;
use crate::tables::{Direction, Twiddle, below_root, inner, outer, rader};
use solinas_field::solinas::inv;
use solinas_gpu::{Arg, Buffer};

/// Points of the rows of transforms of more than one kernel, as a logarithm.
const ROWS: u32 = 8;
/// Words of a block of carries.
const CARRY_BLOCK: u32 = 2048;

/// One pass over columns: of `2^bits` points, `2^stride` words apart.
#[derive(Clone, Copy)]
struct Pass {
    bits: u32,
    stride: u32,
}

/// The passes over columns of transforms of `2^log` points, log at least 12, from the root down.
fn columns(log: u32) -> Vec<Pass> {
    if log <= 16 {
        return vec![Pass { bits: log - ROWS, stride: ROWS }];
    }
    let below = (log - ROWS) / 2;
    vec![Pass { bits: log - ROWS - below, stride: ROWS + below }, Pass { bits: below, stride: ROWS }]
}

/// As [`columns`]. One kernel does transforms of up to 2^12 points.
fn passes(log: u32) -> Vec<Pass> {
    if log <= 12 { vec![] } else { columns(log) }
}

/// The passes so far leave these factors to the next one.
struct Above {
    factors: Option<Buffer<Twiddle>>,
    /// The words of the node of the factors, less 1.
    mask: u32,
}

impl Above {
    fn none() -> Self {
        Self { factors: None, mask: u32::MAX }
    }

    fn factors(&self) -> Arg {
        self.factors.as_ref().map_or(0u64.into(), Arg::read)
    }

    /// The factors below a pass over columns.
    fn below(lab: &Lab, Pass { bits, stride }: Pass) -> Self {
        let factors = lab.upload(&outer(bits + stride, bits, Direction::Forward));
        Self { factors: Some(factors), mask: (1 << (bits + stride)) - 1 }
    }

    /// Runs a pass over columns of some buffers.
    fn columns(&self, lab: &Lab, pass: Pass, words: u32, buffers: &[&Buffer<u64>]) -> Self {
        let Pass { bits, stride } = pass;
        let table = lab.upload(&inner(bits, Direction::Forward));
        for data in buffers {
            let args = vec![Arg::write(data), Arg::read(&table), self.factors(), words.into(), stride.into()];
            let grid = [words / 4096, data.len() as u32 / words];
            lab.run("solinas_columns", &format!("solinas_forward_columns_{bits}"), grid, 256, args);
        }
        Self::below(lab, pass)
    }

    /// Runs the root's pass of `odd` points. The coefficients are those of the data, or the digits of integers: their
    /// 32-bit words, the words of an item, and the bits of a digit.
    fn root(lab: &Lab, odd: usize, log: u32, data: &Buffer<u64>, digits: Option<(&Buffer<u64>, u32, u32)>) -> Self {
        let (kernel, stride) = (lab.upload(&rader(odd)), 1u32 << log);
        let (source, words, bits) =
            digits.map_or((0u64.into(), 0, 0), |(source, words, bits)| (Arg::read(source), words, bits));
        let args = vec![Arg::write(data), source, Arg::read(&kernel), stride.into(), words.into(), bits.into()];
        let items = (data.len() / (odd << log)) as u32;
        lab.run("solinas_root", &format!("solinas_forward_root_{odd}"), [stride.div_ceil(128), items], 128, args);
        Self { factors: Some(lab.upload(&below_root(odd, log, Direction::Forward))), mask: u32::MAX }
    }
}

/// A transform of `odd 2^log` points, in place, of all items of a buffer.
pub(crate) fn forward(lab: &Lab, odd: usize, log: u32, data: &Buffer<u64>) {
    let (words, passes) = ((odd << log) as u32, passes(log));
    let items = data.len() as u32 / words;
    let mut above = if odd > 1 { Above::root(lab, odd, log, data, None) } else { Above::none() };
    for &pass in &passes {
        above = above.columns(lab, pass, words, &[data]);
    }
    let (file, bits) = rows_of(log);
    let table = lab.upload(&inner(bits, Direction::Forward));
    let args = vec![Arg::write(data), Arg::read(&table), above.factors(), words.into(), above.mask.into()];
    lab.run(file, &format!("solinas_forward_rows_{bits}"), [words.div_ceil(4096), items], 256, args);
}

/// The inverse of [`forward`].
pub(crate) fn inverse(lab: &Lab, odd: usize, log: u32, data: &Buffer<u64>) {
    let (words, passes) = ((odd << log) as u32, passes(log));
    let items = data.len() as u32 / words;
    let (file, bits) = rows_of(log);
    let whole = odd == 1 && passes.is_empty();
    let table = lab.upload(&inner(bits, Direction::Inverse(if whole { scale(odd, log) } else { 1 })));
    let args = vec![Arg::write(data), Arg::read(&table), scale(odd, log).into(), words.into(), u32::from(whole).into()];
    lab.run(file, &format!("solinas_inverse_rows_{bits}"), [words.div_ceil(4096), items], 256, args);
    inverse_passes(lab, odd, log, data, &passes);
}

/// Inverse passes over columns, from the rows up.
fn inverse_passes(lab: &Lab, odd: usize, log: u32, data: &Buffer<u64>, passes: &[Pass]) {
    let words = (odd << log) as u32;
    let items = data.len() as u32 / words;
    for (i, &Pass { bits, stride }) in passes.iter().enumerate().rev() {
        let last = i == 0 && odd == 1;
        let table = lab.upload(&inner(bits, Direction::Inverse(1)));
        let factor = if last { scale(odd, log) } else { 1 };
        let factors = lab.upload(&outer(bits + stride, bits, Direction::Inverse(factor)));
        let args = vec![
            Arg::write(data),
            Arg::read(&table),
            Arg::read(&factors),
            words.into(),
            stride.into(),
            u32::from(last).into(),
        ];
        lab.run("solinas_columns", &format!("solinas_inverse_columns_{bits}"), [words / 4096, items], 256, args);
    }
    if odd > 1 {
        let (kernel, stride) = (lab.upload(&rader(odd)), 1u32 << log);
        let factors = lab.upload(&below_root(odd, log, Direction::Inverse(scale(odd, log))));
        let args = vec![Arg::write(data), Arg::read(&kernel), Arg::read(&factors), stride.into()];
        lab.run("solinas_root", &format!("solinas_inverse_root_{odd}"), [stride.div_ceil(128), items], 128, args);
    }
}

/// The module of the rows of a transform, and the logarithm of their points.
fn rows_of(log: u32) -> (&'static str, u32) {
    match log {
        0..=8 => ("solinas_rows", log),
        9..=12 => ("solinas_rows_long", log),
        _ => ("solinas_rows", ROWS),
    }
}

/// `1 / (odd 2^log)`.
fn scale(odd: usize, log: u32) -> u64 {
    inv((odd as u64) << log).unwrap()
}

/// Adds the carries between the blocks of numbers of `words` words. Returns the carries out.
pub(crate) fn resolve(lab: &Lab, result: &Buffer<u64>, flags: &Buffer<u32>, words: u32, carry: u32) -> Vec<u32> {
    let items = result.len() as u32 / words;
    let out = lab.buffer::<u32>(items as usize);
    let args = vec![Arg::write(result), Arg::read(flags), Arg::write(&out), words.into(), carry.into()];
    lab.run("carry_resolve", "carry_resolve", [words.div_ceil(CARRY_BLOCK), items], 32, args);
    lab.download(&out)
}

/// Returns the sums of `coefficients[i] 2^(bits i)` modulo `2^(64 words)`, for `items` items.
pub(crate) fn carry(lab: &Lab, coefficients: &Buffer<u64>, items: u32, bits: u32, words: u32) -> Vec<u64> {
    let blocks = words.div_ceil(CARRY_BLOCK);
    let (result, flags) = (lab.buffer((items * words) as usize), lab.buffer((items * blocks) as usize));
    let reciprocal = (u64::MAX / u64::from(bits)) + 1;
    let args = vec![
        Arg::read(coefficients),
        Arg::write(&result),
        Arg::write(&flags),
        reciprocal.into(),
        (coefficients.len() as u32 / items).into(),
        words.into(),
        bits.into(),
    ];
    lab.run("carry_coefficients", "carry_coefficients", [blocks, items], 256, args);
    assert_eq!(resolve(lab, &result, &flags, words, 0), vec![0; items as usize]);
    lab.download(&result)
}

/// Returns a + b, or a - b if `subtract`, of numbers of `words` words, and the carries out.
pub(crate) fn add(lab: &Lab, a: &[u64], b: &[u64], words: u32, subtract: bool) -> (Vec<u64>, Vec<u32>) {
    let (items, blocks) = (a.len() as u32 / words, words.div_ceil(CARRY_BLOCK));
    let (sums, flags) = (lab.buffer(a.len()), lab.buffer((items * blocks) as usize));
    let (a, b, invert) = (lab.upload(a), lab.upload(b), u32::from(subtract));
    let args = vec![Arg::write(&sums), Arg::read(&a), Arg::read(&b), Arg::write(&flags), words.into(), invert.into()];
    lab.run("carry_add", "carry_add", [blocks, items], 256, args);
    let carries = resolve(lab, &sums, &flags, words, invert);
    (lab.download(&sums), carries)
}

/// Returns the products of `items` pairs of numbers, by transforms of `odd 2^log` points of `bits` bits, log at least 12.
/// `None` for `b` squares `a`.
pub(crate) fn product(
    lab: &Lab,
    (a, b): (&[u64], Option<&[u64]>),
    items: u32,
    (odd, log): (usize, u32),
    bits: u32,
) -> Vec<u64> {
    let (words, passes) = ((odd << log) as u32, columns(log));
    let per_item = |x: &[u64]| 2 * x.len() as u32 / items;
    let (a_words, b_words) = (per_item(a), b.map_or(0, per_item));
    let (x, y) = (lab.upload(a), b.map(|b| lab.upload(b)));
    let (p, q) = (lab.buffer::<u64>((items * words) as usize), lab.buffer::<u64>((items * words) as usize));
    let operands: &[&Buffer<u64>] = if b.is_some() { &[&p, &q] } else { &[&p] };
    let (mut above, rest) = if odd > 1 {
        if let Some(y) = &y {
            Above::root(lab, odd, log, &q, Some((y, b_words, bits)));
        }
        (Above::root(lab, odd, log, &p, Some((&x, a_words, bits))), &passes[..])
    } else {
        let first = passes[0];
        let table = lab.upload(&inner(first.bits, Direction::Forward));
        let args = vec![
            Arg::write(&p),
            Arg::write(&q),
            Arg::read(&x),
            Arg::read(y.as_ref().unwrap_or(&x)),
            Arg::read(&table),
            items.into(),
            words.into(),
            first.stride.into(),
            a_words.into(),
            b_words.into(),
            bits.into(),
        ];
        let grid = [words / 4096, operands.len() as u32 * items];
        lab.run("solinas_digits", &format!("solinas_digit_columns_{}", first.bits), grid, 256, args);
        (Above::below(lab, first), &passes[1..])
    };
    for &pass in rest {
        above = above.columns(lab, pass, words, operands);
    }
    let (there, back) = (lab.upload(&inner(8, Direction::Forward)), lab.upload(&inner(8, Direction::Inverse(1))));
    let args = vec![
        Arg::write(&p),
        Arg::read(&p),
        Arg::read(if b.is_some() { &q } else { &p }),
        Arg::read(&there),
        Arg::read(&back),
        above.factors(),
        words.into(),
        above.mask.into(),
    ];
    lab.run("solinas_product", "solinas_product_rows", [words / 2048, items], 128, args);
    inverse_passes(lab, odd, log, &p, &passes);
    let out_words = (a.len() + b.unwrap_or(a).len()) as u32 / items;
    carry(lab, &p, items, bits, out_words)
}
