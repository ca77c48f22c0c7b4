//! The cells `$macc` and `$macc_v2` of Yosys: sums of integers and of products of two integers.

use super::yosys::FORMAT;
use super::yosys_parameters::Parameters;
use crate::build::{self, Multiplier, Style};
use crate::{Builder, Error, NodeId};

/// The parameters of `$macc_v2`.
pub(super) const PARAMETERS: &[&str] = &[
    "NPRODUCTS",
    "NADDENDS",
    "A_WIDTHS",
    "B_WIDTHS",
    "C_WIDTHS",
    "PRODUCT_NEGATED",
    "ADDEND_NEGATED",
    "A_SIGNED",
    "B_SIGNED",
    "C_SIGNED",
];

/// A term of a sum: `x`, or `x y`.
pub(super) struct Term {
    /// Bits of `x`.
    pub(super) x: usize,
    /// Bits of `y`.
    pub(super) y: Option<usize>,
    signed: bool,
    negated: bool,
}

fn inconsistent(place: &str) -> Error {
    Error::Parse {
        format: FORMAT,
        line: 0,
        problem: format!("the parameters of {place} do not fit its pins"),
        fix: "write the netlist with Yosys: write_json",
    }
}

/// The number of `count` bits from bit `from` on. Bits beyond the end are 0.
fn field(bits: &[bool], from: usize, count: usize) -> usize {
    let bit = |i: usize| bits.get(from + i).copied().unwrap_or(false);
    (0..count).map(|i| usize::from(bit(i)) << i).sum()
}

/// The terms of `$macc`. Its pin A holds the operands of one term after the other. Each bit of its pin B is a term too.
///
/// The lowest four bits of CONFIG are the size of a length. For each term follow a sign bit, a bit for subtraction, and the lengths of both factors. A second
/// factor of no bits stands for 1.
///
/// # Errors
/// [`Error::Parse`] if the terms do not fill the pins. [`Error::Unsupported`] for a parameter that cannot be read.
pub(super) fn read(parameters: &Parameters<'_>, widths: &[usize]) -> Result<Vec<Term>, Error> {
    let wrong = || inconsistent(parameters.place);
    let config = parameters.bits("CONFIG")?;
    let size = field(&config, 0, 4).max(1);
    let each = 2 + 2 * size;
    // The description of a term is not 0, so without its highest zeros it ends in the same term.
    let count = config.len().saturating_sub(4).div_ceil(each);
    let announced = parameters.number("CONFIG_WIDTH")?.unwrap_or(4 + count * each);
    // Each term takes at least one bit of pin A.
    if announced != 4 + count * each || count > widths[0] {
        return Err(wrong());
    }
    let mut terms: Vec<Term> = (0..count)
        .map(|i| {
            let at = 4 + i * each;
            let y = field(&config, at + 2 + size, size);
            Term {
                x: field(&config, at + 2, size),
                y: (y > 0).then_some(y),
                signed: field(&config, at, 1) == 1,
                negated: field(&config, at + 1, 1) == 1,
            }
        })
        .collect();
    let filled: usize = terms.iter().map(|term| term.x + term.y.unwrap_or(0)).sum();
    if filled != widths[0] || terms.iter().any(|term| term.x == 0) {
        return Err(wrong());
    }
    terms.extend((0..widths[1]).map(|_| Term { x: 1, y: None, signed: false, negated: false }));
    Ok(terms)
}

/// The terms of `$macc_v2`. Its pins A and B hold the factors of the products, and pin C the other terms.
///
/// # Errors
/// [`Error::Parse`] if the terms do not fill the pins. [`Error::Unsupported`] for a parameter that cannot be read.
pub(super) fn read_v2(parameters: &Parameters<'_>, widths: &[usize]) -> Result<Vec<Term>, Error> {
    let wrong = || inconsistent(parameters.place);
    let [products, addends] =
        [parameters.number("NPRODUCTS")?.unwrap_or(0), parameters.number("NADDENDS")?.unwrap_or(0)];
    // A term of no bits adds nothing, but a file could announce 2^31 of them.
    if products > widths[0].min(widths[1]) || addends > widths[2] {
        return Err(wrong());
    }
    // Yosys writes an undefined bit where there are no terms.
    let table = |name: &str, count: usize| if count == 0 { Ok(Vec::new()) } else { parameters.table(name, count) };
    let lengths = |name: &str, count: usize, total: usize| {
        let bits = table(name, 16 * count)?;
        let lengths: Vec<usize> = (0..count).map(|i| field(&bits, 16 * i, 16)).collect();
        if lengths.iter().sum::<usize>() == total { Ok(lengths) } else { Err(wrong()) }
    };
    let (signed, y_signed) = (table("A_SIGNED", products)?, table("B_SIGNED", products)?);
    if signed != y_signed {
        return Err(wrong());
    }
    let negated = table("PRODUCT_NEGATED", products)?;
    let (x, y) = (lengths("A_WIDTHS", products, widths[0])?, lengths("B_WIDTHS", products, widths[1])?);
    let mut terms: Vec<Term> =
        (0..products).map(|i| Term { x: x[i], y: Some(y[i]), signed: signed[i], negated: negated[i] }).collect();
    let (signed, negated) = (table("C_SIGNED", addends)?, table("ADDEND_NEGATED", addends)?);
    let x = lengths("C_WIDTHS", addends, widths[2])?;
    terms.extend((0..addends).map(|i| Term { x: x[i], y: None, signed: signed[i], negated: negated[i] }));
    Ok(terms)
}

/// The sum of the terms, in `out` bits. `x` holds the first factors and `y` the second ones, in the order of the terms. Without `y`, the second factor of a
/// term follows its first one in `x`.
pub(super) fn emit<'a>(
    b: &mut Builder,
    terms: &[Term],
    out: usize,
    mut x: &'a [NodeId],
    mut y: Option<&'a [NodeId]>,
) -> Vec<NodeId> {
    let adder = Style::FewestBootstraps.adder();
    let multiplier = Multiplier::CarrySave(adder);
    let operand = |b: &mut Builder, from: &mut &'a [NodeId], count: usize, signed: bool| {
        let (bits, rest) = from.split_at(count);
        *from = rest;
        build::cast(b, bits, signed, out)
    };
    let mut rows = Vec::with_capacity(terms.len() + 1);
    let mut negated = 0u128;
    for term in terms {
        let mut row = operand(b, &mut x, term.x, term.signed);
        if let Some(count) = term.y {
            let factor = operand(b, y.as_mut().unwrap_or(&mut x), count, term.signed);
            row = build::mul(b, multiplier, &row, &factor);
        }
        // -row is !row + 1.
        if term.negated {
            negated += 1;
            row = build::not(b, &row);
        }
        rows.push(row);
    }
    rows.push(b.constant_bits(negated, out));
    let rows: Vec<&[NodeId]> = rows.iter().map(Vec::as_slice).collect();
    build::sum(b, multiplier, adder, &rows)
}
