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

/// The passes over columns of a transform of `2^log` points, from the root down. Below 2^13 points there are none.
fn passes(log: u32) -> Vec<Pass> {
    match log {
        0..=12 => vec![],
        13..=16 => vec![Pass { bits: log - ROWS, stride: ROWS }],
        _ => {
            let below = (log - ROWS) / 2;
            vec![Pass { bits: log - ROWS - below, stride: ROWS + below }, Pass { bits: below, stride: ROWS }]
        }
    }
}

/// A transform of `odd 2^log` points, in place, of all items of a buffer.
pub(crate) fn forward(lab: &Lab, odd: usize, log: u32, data: &Buffer<u64>) {
    let (words, passes) = ((odd << log) as u32, passes(log));
    let items = data.len() as u32 / words;
    // The factors that the next pass applies, and the words of their node less 1.
    let (mut factors, mut mask) = (None, u32::MAX);
    if odd > 1 {
        let (kernel, stride) = (lab.upload(&rader(odd)), 1u32 << log);
        let args = vec![Arg::write(data), 0u64.into(), Arg::read(&kernel), stride.into(), 0u32.into(), 0u32.into()];
        lab.run("solinas_root", &format!("solinas_forward_root_{odd}"), [stride.div_ceil(128), items], 128, args);
        factors = Some(lab.upload(&below_root(odd, log, Direction::Forward)));
    }
    let outer_of = |factors: &Option<Buffer<Twiddle>>| factors.as_ref().map_or(0u64.into(), Arg::read);
    for &Pass { bits, stride } in &passes {
        let table = lab.upload(&inner(bits, Direction::Forward));
        let args = vec![Arg::write(data), Arg::read(&table), outer_of(&factors), words.into(), stride.into()];
        lab.run("solinas_columns", &format!("solinas_forward_columns_{bits}"), [words / 4096, items], 256, args);
        factors = Some(lab.upload(&outer(bits + stride, bits, Direction::Forward)));
        mask = (1 << (bits + stride)) - 1;
    }
    let (file, bits) = rows_of(log);
    let table = lab.upload(&inner(bits, Direction::Forward));
    let args = vec![Arg::write(data), Arg::read(&table), outer_of(&factors), words.into(), mask.into()];
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

/// Returns the products of `items` pairs of numbers, by transforms of `2^log` points of `bits` bits. `None` for `b`
/// squares `a`.
pub(crate) fn product(lab: &Lab, a: &[u64], b: Option<&[u64]>, items: u32, log: u32, bits: u32) -> Vec<u64> {
    let words = 1u32 << log;
    let columns = log - ROWS;
    let per_item = |x: &[u64]| 2 * x.len() as u32 / items;
    let (a_words, b_words) = (per_item(a), b.map_or(0, per_item));
    let (x, y) = (lab.upload(a), b.map(|b| lab.upload(b)));
    let (p, q) = (lab.buffer::<u64>((items * words) as usize), lab.buffer::<u64>((items * words) as usize));
    let table = lab.upload(&inner(columns, Direction::Forward));
    let args = vec![
        Arg::write(&p),
        Arg::write(&q),
        Arg::read(&x),
        Arg::read(y.as_ref().unwrap_or(&x)),
        Arg::read(&table),
        items.into(),
        words.into(),
        ROWS.into(),
        a_words.into(),
        b_words.into(),
        bits.into(),
    ];
    let operands = if b.is_some() { 2 } else { 1 };
    lab.run("solinas_digits", &format!("solinas_digit_columns_{columns}"), [words / 4096, operands * items], 256, args);

    let (there, back) = (lab.upload(&inner(8, Direction::Forward)), lab.upload(&inner(8, Direction::Inverse(1))));
    let factors = lab.upload(&outer(log, columns, Direction::Forward));
    let args = vec![
        Arg::write(&p),
        Arg::read(&p),
        Arg::read(if b.is_some() { &q } else { &p }),
        Arg::read(&there),
        Arg::read(&back),
        Arg::read(&factors),
        words.into(),
        (words - 1).into(),
    ];
    lab.run("solinas_product", "solinas_product_rows", [words / 2048, items], 128, args);
    inverse_passes(lab, 1, log, &p, &[Pass { bits: columns, stride: ROWS }]);
    let out_words = a.len() as u32 / items + b.map_or(a.len(), <[u64]>::len) as u32 / items;
    carry(lab, &p, items, bits, out_words)
}
