//! What the cells of Yosys compute.

use super::yosys::FORMAT;
use crate::build::{self, Multiplier, Style, reduce};
use crate::{BinaryOp, Builder, Error, NodeId};

/// Most bits of an operand or a result of a word-level cell.
const MAX_WIDTH: usize = 128;

/// A cell's function.
pub(super) struct Kind {
    name: Box<str>,
    /// Bits of each input pin.
    widths: Vec<usize>,
    signed: bool,
}

impl Kind {
    pub(super) fn constant(value: bool) -> Self {
        Self { name: if value { "1" } else { "0" }.into(), widths: Vec::new(), signed: false }
    }

    /// Names of the input pins of a cell type; `None` where it is not supported.
    pub(super) fn pins(name: &str) -> Option<&'static [&'static str]> {
        Some(match name {
            "$_BUF_" | "$_NOT_" | "$not" | "$pos" | "$neg" | "$logic_not" | "$reduce_and" | "$reduce_or"
            | "$reduce_xor" | "$reduce_xnor" | "$reduce_bool" => &["A"],
            "$_AND_" | "$_NAND_" | "$_OR_" | "$_NOR_" | "$_XOR_" | "$_XNOR_" | "$_ANDNOT_" | "$_ORNOT_" | "$and"
            | "$or" | "$xor" | "$xnor" | "$add" | "$sub" | "$mul" | "$lt" | "$le" | "$gt" | "$ge" | "$eq" | "$ne"
            | "$logic_and" | "$logic_or" => &["A", "B"],
            "$_MUX_" | "$_NMUX_" | "$mux" => &["A", "B", "S"],
            "$_AOI3_" | "$_OAI3_" => &["A", "B", "C"],
            "$_AOI4_" | "$_OAI4_" => &["A", "B", "C", "D"],
            _ => return None,
        })
    }

    /// Checks the widths of pins.
    ///
    /// # Errors
    /// [`Error::Parse`] where gate-level pins do not have one bit or a multiplexer's operands differ, [`Error::Unsupported`] for word-level
    /// cells of more than 128 bits.
    pub(super) fn new(name: &str, widths: Vec<usize>, signed: bool, out: usize, place: &str) -> Result<Self, Error> {
        let all = || widths.iter().chain(std::iter::once(&out));
        let bad = if name.starts_with("$_") {
            all().any(|width| *width != 1)
        } else if name == "$mux" {
            widths[0] != out || widths[1] != out || widths[2] != 1 || out == 0
        } else {
            all().any(|width| *width == 0)
        };
        if bad {
            return Err(Error::Parse {
                format: FORMAT,
                line: 0,
                problem: format!("{place} has pins of {widths:?} and {out} bits"),
                fix: "write the netlist with Yosys: write_json",
            });
        }
        if let Some(width) = all().find(|width| **width > MAX_WIDTH) {
            return Err(Error::Unsupported {
                format: FORMAT,
                place: place.to_owned(),
                what: format!("a cell of {width} bits"),
                fix: "word-level cells have at most 128 bits; map the design to gates (Yosys: synth; write_json)",
            });
        }
        Ok(Self { name: name.into(), widths, signed })
    }
}

/// One node for each of `out` output bits.
pub(super) fn emit(b: &mut Builder, kind: &Kind, operands: &[NodeId], out: usize) -> Result<Vec<NodeId>, Error> {
    let mut rest = operands;
    let mut pins: [&[NodeId]; 4] = [&[]; 4];
    for (pin, width) in pins.iter_mut().zip(&kind.widths) {
        (*pin, rest) = rest.split_at(*width);
    }
    let [x, y, s, d] = pins;
    if kind.name.starts_with("$_") {
        let second = y.first().unwrap_or(&x[0]);
        return Ok(vec![gate(
            b,
            &kind.name,
            [x[0], *second, *s.first().unwrap_or(second), *d.first().unwrap_or(second)],
        )]);
    }
    let signed = kind.signed;
    // Bitwise and arithmetic cells extend to the result, comparisons to the wider operand.
    let wide = x.len().max(y.len());
    let to = |b: &mut Builder, bits: &[NodeId], width: usize| build::cast(b, bits, signed, width);
    let style = Style::FewestBootstraps;
    let arithmetic = |b: &mut Builder| (to(b, x, out.max(wide)), to(b, y, out.max(wide)));
    let compared = |b: &mut Builder| (to(b, x, wide), to(b, y, wide));
    let any = |b: &mut Builder, bits: &[NodeId]| reduce(b, BinaryOp::Or, bits, false);
    let result = match &*kind.name {
        "0" | "1" => vec![b.constant(&*kind.name == "1")],
        "$mux" => build::select(b, s[0], y, x),
        "$pos" => to(b, x, out),
        "$not" => {
            let x = to(b, x, out);
            build::not(b, &x)
        }
        "$neg" => {
            let x = to(b, x, out);
            build::neg(b, style, &x)
        }
        "$and" | "$or" | "$xor" | "$xnor" => {
            let op = match &*kind.name {
                "$and" => BinaryOp::And,
                "$or" => BinaryOp::Or,
                "$xor" => BinaryOp::Xor,
                _ => BinaryOp::Xnor,
            };
            let (x, y) = arithmetic(b);
            build::bitwise(b, op, &x, &y)
        }
        "$add" | "$sub" | "$mul" => {
            let (x, y) = arithmetic(b);
            match &*kind.name {
                "$add" => build::add(b, style.adder(), &x, &y),
                "$sub" => build::sub(b, style.adder(), &x, &y),
                _ => build::mul(b, Multiplier::CarrySave(style.adder()), &x[..out.max(1)], &y[..out.max(1)]),
            }
        }
        "$lt" | "$ge" => {
            let (x, y) = compared(b);
            let less = build::lt(b, style, signed, &x, &y);
            vec![if &*kind.name == "$lt" { less } else { b.not(less) }]
        }
        "$gt" | "$le" => {
            let (x, y) = compared(b);
            let greater = build::lt(b, style, signed, &y, &x);
            vec![if &*kind.name == "$gt" { greater } else { b.not(greater) }]
        }
        "$eq" | "$ne" => {
            let (x, y) = compared(b);
            vec![if &*kind.name == "$eq" { build::eq(b, &x, &y) } else { build::ne(b, &x, &y) }]
        }
        "$reduce_and" => vec![reduce(b, BinaryOp::And, x, true)],
        "$reduce_or" | "$reduce_bool" => vec![any(b, x)],
        "$reduce_xor" | "$reduce_xnor" => {
            let odd = reduce(b, BinaryOp::Xor, x, false);
            vec![if &*kind.name == "$reduce_xor" { odd } else { b.not(odd) }]
        }
        "$logic_not" => vec![build::is_zero(b, x)],
        "$logic_and" | "$logic_or" => {
            let op = if &*kind.name == "$logic_and" { BinaryOp::And } else { BinaryOp::Or };
            let (x, y) = (any(b, x), any(b, y));
            vec![b.binary(op, x, y)]
        }
        other => {
            return Err(Error::Unsupported {
                format: FORMAT,
                place: "a cell".to_owned(),
                what: other.to_owned(),
                fix: "map the design to gates first",
            });
        }
    };
    // One-bit results are padded with zeros.
    Ok(build::cast(b, &result, false, out))
}

fn gate(b: &mut Builder, name: &str, [x, y, z, w]: [NodeId; 4]) -> NodeId {
    let op = match name {
        "$_BUF_" => return x,
        "$_NOT_" => return b.not(x),
        "$_MUX_" => return b.gate(crate::Gate::Mux { sel: z, if_true: y, if_false: x }),
        "$_NMUX_" => {
            let mux = b.mux(z, y, x);
            return b.not(mux);
        }
        "$_AOI3_" | "$_AOI4_" => {
            let first = b.and(x, y);
            let second = if name == "$_AOI3_" { z } else { b.and(z, w) };
            return b.binary(BinaryOp::Nor, first, second);
        }
        "$_OAI3_" | "$_OAI4_" => {
            let first = b.or(x, y);
            let second = if name == "$_OAI3_" { z } else { b.or(z, w) };
            return b.binary(BinaryOp::Nand, first, second);
        }
        "$_AND_" => BinaryOp::And,
        "$_NAND_" => BinaryOp::Nand,
        "$_OR_" => BinaryOp::Or,
        "$_NOR_" => BinaryOp::Nor,
        "$_XOR_" => BinaryOp::Xor,
        "$_XNOR_" => BinaryOp::Xnor,
        "$_ANDNOT_" => BinaryOp::AndYN,
        _ => BinaryOp::OrYN,
    };
    b.binary(op, x, y)
}
