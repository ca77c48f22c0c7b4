//! Word-level cells of Yosys.

use super::blif::Cover;
use super::yosys_cells::{Kind, choose};
use super::yosys_macc as macc;
use crate::build::{self, Multiplier, Rounding, Style, reduce};
use crate::function::function;
use crate::{BinaryOp, Builder, Natural, NodeId};

/// Emits a cell. Returns one node for each output bit, pin after pin. The caller has checked the widths.
pub(super) fn word(b: &mut Builder, kind: &Kind, pins: &[&[NodeId]]) -> Vec<NodeId> {
    let none: &[NodeId] = &[];
    let pin = |k: usize| pins.get(k).copied().unwrap_or(none);
    let (x, y, s, out, signed) = (pin(0), pin(1), pin(2), kind.outputs[0], kind.a_signed);
    let style = Style::FewestBootstraps;
    // Bitwise and arithmetic cells extend their operands to the width of the result, comparisons to that of the wider operand. An operand without bits is 0.
    let wide = x.len().max(y.len()).max(1);
    let to = |b: &mut Builder, bits: &[NodeId], width: usize| build::cast(b, bits, signed, width);
    let arithmetic = |b: &mut Builder| (to(b, x, out.max(wide)), to(b, y, out.max(wide)));
    let compared = |b: &mut Builder| (to(b, x, wide), to(b, y, wide));
    let any = |b: &mut Builder, bits: &[NodeId]| reduce(b, BinaryOp::Or, bits, false);
    let result = match &*kind.name {
        "$mux" => build::select(b, s[0], y, x),
        "$bweqx" => build::bitwise(b, BinaryOp::Xnor, x, y),
        "$bwmux" => (0..out).map(|i| b.mux(s[i], y[i], x[i])).collect(),
        "$pmux" => {
            let cases = y.chunks_exact(out).zip(s);
            cases.fold(x.to_vec(), |result, (value, &sel)| build::select(b, sel, value, &result))
        }
        "$bmux" => {
            (0..out).map(|i| choose(b, &x.iter().skip(i).step_by(out).copied().collect::<Vec<_>>(), y)).collect()
        }
        "$demux" => demux(b, x, y),
        "$lut" => vec![lut(b, &kind.table, x)],
        "$sop" => vec![sum_of_products(b, kind, x)],
        "$fa" => {
            let sums = (0..out).map(|i| b.xor3(x[i], y[i], s[i])).collect::<Vec<_>>();
            return sums.into_iter().chain((0..out).map(|i| b.maj(x[i], y[i], s[i])).collect::<Vec<_>>()).collect();
        }
        "$lcu" => carries(b, x, y, s[0]),
        "$macc" => macc::emit(b, &kind.terms, out, &[x, y].concat(), None),
        "$macc_v2" => macc::emit(b, &kind.terms, out, &[x, s].concat(), Some(y)),
        "$alu" => return alu(b, kind, x, y, s[0], pin(3)[0]),
        "$concat" => [x, y].concat(),
        "$slice" => x[kind.offset..kind.offset + out].to_vec(),
        "$pos" | "$buf" | "$barrier" => to(b, x, out),
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
        "$add" | "$sub" | "$mul" | "$div" | "$mod" | "$divfloor" | "$modfloor" => {
            let (x, y) = arithmetic(b);
            match &*kind.name {
                "$add" => build::add(b, style.adder(), &x, &y),
                "$sub" => build::sub(b, style.adder(), &x, &y),
                "$mul" => build::mul(b, Multiplier::CarrySave(style.adder()), &x[..out], &y[..out]),
                "$divfloor" if signed => build::div_rem_rounded(b, style, Rounding::Floor, &x, &y).0,
                "$modfloor" if signed => build::div_rem_rounded(b, style, Rounding::Floor, &x, &y).1,
                "$div" | "$divfloor" => build::div(b, style, signed, &x, &y),
                _ => build::rem(b, style, signed, &x, &y),
            }
        }
        // The amount is unsigned, whatever B_SIGNED says.
        "$shl" | "$sshl" | "$shr" | "$sshr" => {
            let x = to(b, x, out.max(x.len()));
            match &*kind.name {
                "$shl" | "$sshl" => build::shl_by(b, style, &x, y),
                name => build::shr_by(b, style, &x, name == "$sshr" && signed, y),
            }
        }
        "$shift" => {
            let x = to(b, x, out.max(x.len()));
            part_select(b, &x, y, kind.b_signed, out)
        }
        // Bits outside of the operand are undefined. Here they are 0.
        "$shiftx" => part_select(b, x, y, kind.b_signed, out),
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

/// The sum of products. The literals of a product are two bits for each input: whether it must be 0, and whether it must be 1.
fn sum_of_products(b: &mut Builder, kind: &Kind, inputs: &[NodeId]) -> NodeId {
    let products: Vec<&[bool]> = kind.table.chunks((2 * inputs.len()).max(1)).collect();
    // The table ends with its last literal, and a product without literals is 1.
    if products.len() < kind.depth {
        return b.constant(true);
    }
    let mut cubes: Vec<Box<[u8]>> = Vec::with_capacity(products.len());
    for product in products {
        let needs = |at: usize| product.get(at).copied().unwrap_or(false);
        let literal = |i: usize| match (needs(2 * i), needs(2 * i + 1)) {
            (true, true) => None,
            (true, false) => Some(b'0'),
            (false, true) => Some(b'1'),
            (false, false) => Some(b'-'),
        };
        // A product that needs both values of an input is 0.
        cubes.extend((0..inputs.len()).map(literal).collect::<Option<Box<[u8]>>>());
    }
    let cover = Cover { cubes, off_set: false };
    b.verbatim_part(|b| cover.emit(b, inputs))
}

/// `x` at the place that `select` names, and zeros at the others. Place 0 comes first.
fn demux(b: &mut Builder, x: &[NodeId], select: &[NodeId]) -> Vec<NodeId> {
    let mut places = vec![x.to_vec()];
    for &bit in select.iter().rev() {
        let halves = |b: &mut Builder, op, place: &[NodeId]| place.iter().map(|&x| b.binary(op, x, bit)).collect();
        places =
            places.iter().flat_map(|place| [BinaryOp::AndYN, BinaryOp::And].map(|op| halves(b, op, place))).collect();
    }
    places.concat()
}

/// The bits of `x` from bit `from` on; zeros below and above `x`.
///
/// The lowest bits of `from` shift to the right, each by a power of two. The highest one of a signed number shifts to the left, by as much as the others can
/// shift to the right and one more.
fn part_select(b: &mut Builder, x: &[NodeId], from: &[NodeId], signed: bool, out: usize) -> Vec<NodeId> {
    let zero = b.constant(false);
    let signed = signed && !from.is_empty();
    // With this many bits, a shift moves everything out, in both directions.
    let most = (usize::BITS - x.len().max(out).leading_zeros()) as usize + usize::from(signed);
    let (low, high) = from.split_at(most.min(from.len()));
    let beyond: Vec<NodeId> = match low.last() {
        Some(&sign) if signed => high.iter().map(|&bit| b.xor(bit, sign)).collect(),
        _ => high.to_vec(),
    };
    let beyond = reduce(b, BinaryOp::Or, &beyond, false);
    let (right, left) = low.split_at(low.len() - usize::from(signed));
    let at = |bits: &[NodeId], i: usize| bits.get(i).copied().unwrap_or(zero);
    let mut bits = x.to_vec();
    for &sign in left {
        let distance = 1 << right.len();
        bits = (0..out + distance)
            .map(|i| {
                let moved = i.checked_sub(distance).map_or(zero, |i| at(&bits, i));
                b.mux(sign, moved, at(&bits, i))
            })
            .collect();
    }
    for (k, &bit) in right.iter().enumerate().rev() {
        // The stages below move by less than 2^k.
        let needed = out + (1 << k) - 1;
        bits = (0..needed).map(|i| b.mux(bit, at(&bits, i + (1 << k)), at(&bits, i))).collect();
    }
    (0..out).map(|i| b.binary(BinaryOp::AndYN, at(&bits, i), beyond)).collect()
}

/// The carries of a carry-lookahead unit: a bit generates one, or propagates that of the bit below.
fn carries(b: &mut Builder, propagate: &[NodeId], generate: &[NodeId], carry: NodeId) -> Vec<NodeId> {
    let step = |carry: &mut NodeId, (&p, &g): (&NodeId, &NodeId)| {
        let propagated = b.and(p, *carry);
        *carry = b.or(g, propagated);
        Some(*carry)
    };
    propagate.iter().zip(generate).scan(carry, step).collect()
}

/// The sum `x + (y ^ invert) + carry`, followed by the sums without carries and by the carries.
fn alu(b: &mut Builder, kind: &Kind, x: &[NodeId], y: &[NodeId], carry: NodeId, invert: NodeId) -> Vec<NodeId> {
    let out = kind.outputs[0];
    let (x, y) = (build::cast(b, x, kind.a_signed, out), build::cast(b, y, kind.a_signed, out));
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
