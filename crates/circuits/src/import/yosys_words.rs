//! Word-level cells of Yosys.

use super::yosys_cells::{Kind, choose};
use crate::build::{self, Multiplier, Style, reduce};
use crate::function::function;
use crate::{BinaryOp, Builder, Natural, NodeId};

/// Emits a cell. Returns one node for each output bit, pin after pin. The caller has checked the widths.
pub(super) fn word(b: &mut Builder, kind: &Kind, pins: &[&[NodeId]]) -> Vec<NodeId> {
    let none: &[NodeId] = &[];
    let pin = |k: usize| pins.get(k).copied().unwrap_or(none);
    let (x, y, s, out, signed) = (pin(0), pin(1), pin(2), kind.outputs[0], kind.signed);
    let style = Style::FewestBootstraps;
    // Bitwise and arithmetic cells extend their operands to the width of the result, comparisons to that of the wider operand.
    let wide = x.len().max(y.len());
    let to = |b: &mut Builder, bits: &[NodeId], width: usize| build::cast(b, bits, signed, width);
    let arithmetic = |b: &mut Builder| (to(b, x, out.max(wide)), to(b, y, out.max(wide)));
    let compared = |b: &mut Builder| (to(b, x, wide), to(b, y, wide));
    let any = |b: &mut Builder, bits: &[NodeId]| reduce(b, BinaryOp::Or, bits, false);
    let result = match &*kind.name {
        "$mux" => build::select(b, s[0], y, x),
        "$bwmux" => (0..out).map(|i| b.mux(s[i], y[i], x[i])).collect(),
        "$pmux" => {
            let cases = y.chunks_exact(out).zip(s);
            cases.fold(x.to_vec(), |result, (value, &sel)| build::select(b, sel, value, &result))
        }
        "$bmux" => {
            (0..out).map(|i| choose(b, &x.iter().skip(i).step_by(out).copied().collect::<Vec<_>>(), y)).collect()
        }
        "$lut" => vec![lut(b, &kind.table, x)],
        "$fa" => {
            let sums = (0..out).map(|i| b.xor3(x[i], y[i], s[i])).collect::<Vec<_>>();
            return sums.into_iter().chain((0..out).map(|i| b.maj(x[i], y[i], s[i])).collect::<Vec<_>>()).collect();
        }
        "$alu" => return alu(b, kind, x, y, s[0], pin(3)[0]),
        "$concat" => [x, y].concat(),
        "$slice" => x[kind.offset..kind.offset + out].to_vec(),
        "$pos" | "$buf" => to(b, x, out),
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
        "$add" | "$sub" | "$mul" | "$div" | "$mod" => {
            let (x, y) = arithmetic(b);
            match &*kind.name {
                "$add" => build::add(b, style.adder(), &x, &y),
                "$sub" => build::sub(b, style.adder(), &x, &y),
                "$mul" => build::mul(b, Multiplier::CarrySave(style.adder()), &x[..out], &y[..out]),
                "$div" => build::div(b, style, signed, &x, &y),
                _ => build::rem(b, style, signed, &x, &y),
            }
        }
        // The amount is unsigned; the value has the sign of its own operand.
        "$shl" | "$sshl" | "$shr" | "$sshr" | "$shiftx" => {
            let x = build::cast(b, x, kind.first_signed, out.max(x.len()));
            match &*kind.name {
                "$shl" | "$sshl" => build::shl_by(b, style, &x, y),
                name => build::shr_by(b, style, &x, name == "$sshr" && kind.first_signed, y),
            }
        }
        "$lt" | "$ge" => {
            let (x, y) = compared(b);
            let less = build::lt(b, style, signed, &x, &y);
            vec![b.not_if(&*kind.name == "$ge", less)]
        }
        "$gt" | "$le" => {
            let (x, y) = compared(b);
            let greater = build::lt(b, style, signed, &y, &x);
            vec![b.not_if(&*kind.name == "$le", greater)]
        }
        "$eq" | "$ne" | "$eqx" | "$nex" => {
            let (x, y) = compared(b);
            let equal = build::eq(b, &x, &y);
            vec![b.not_if(kind.name.starts_with("$ne"), equal)]
        }
        "$reduce_and" => vec![reduce(b, BinaryOp::And, x, true)],
        "$reduce_or" | "$reduce_bool" => vec![any(b, x)],
        "$reduce_xor" | "$reduce_xnor" => {
            let odd = reduce(b, BinaryOp::Xor, x, false);
            vec![b.not_if(&*kind.name == "$reduce_xnor", odd)]
        }
        "$logic_not" => vec![build::is_zero(b, x)],
        "$logic_and" | "$logic_or" => {
            let op = if &*kind.name == "$logic_and" { BinaryOp::And } else { BinaryOp::Or };
            let (x, y) = (any(b, x), any(b, y));
            vec![b.binary(op, x, y)]
        }
        // A constant.
        name => vec![b.constant(name == "1")],
    };
    // Zeros pad one-bit results.
    build::cast(b, &result, false, out)
}

/// A lookup table of at most 8 inputs, as one gate if one gate computes it.
fn lut(b: &mut Builder, table: &[bool], inputs: &[NodeId]) -> NodeId {
    if inputs.len() <= 3 {
        let table = (0..8).map(|i| u8::from(table[i % table.len()]) << i).sum();
        if let Some(gate) = b.verbatim_part(|b| function(b, table, inputs)) {
            return gate;
        }
    }
    let entries: Vec<Natural> = table.iter().map(|&bit| u128::from(bit).into()).collect();
    build::lookup(b, &entries, inputs, 1)[0]
}

/// The sum `x + (y ^ invert) + carry`, followed by the sums without carries and by the carries.
fn alu(b: &mut Builder, kind: &Kind, x: &[NodeId], y: &[NodeId], carry: NodeId, invert: NodeId) -> Vec<NodeId> {
    let out = kind.outputs[0];
    let (x, y) = (build::cast(b, x, kind.signed, out), build::cast(b, y, kind.signed, out));
    let y: Vec<_> = y.into_iter().map(|bit| b.xor(bit, invert)).collect();
    let halves: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.xor(x, y)).collect();
    let (mut sums, mut carries, mut carry) = (Vec::with_capacity(out), Vec::with_capacity(out), carry);
    for (&x, &y) in x.iter().zip(&y) {
        sums.push(b.xor3(x, y, carry));
        carry = b.maj(x, y, carry);
        carries.push(carry);
    }
    [sums, halves, carries].concat()
}
