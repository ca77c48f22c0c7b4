//! Gate circuits for the gates family. Each gate is the sign of a linear combination of bits at `+-1/8` of a turn.

use super::schedule::{Linear, Schedule};
use solinas_circuits::{BinaryOp, Gate, Netlist};
use solinas_schemes::tfhe::params::GATES_WEIGHT;
use solinas_schemes::tfhe::{LookupTable, encode_bool};

/// Largest noise weight of a gate's output: that of a MUX, which is a sum of two bootstraps.
const OUTPUT_WEIGHT: u64 = 2;

/// The noise weight from which on inputs are refreshed before they enter a gate.
pub(crate) const REFRESHED: u64 = OUTPUT_WEIGHT + 1;

/// `1/8` of a turn.
const EIGHTH: u32 = 1 << 29;

/// Plans a circuit: one bootstrap for each gate, two for a MUX, none for NOT. If repeated operands add up too much
/// noise, a gate takes one more bootstrap for each operand. Optimized circuits have no such gates.
pub(crate) fn schedule(netlist: &Netlist, input_weight: u64) -> Schedule {
    let inputs = netlist.input_bits();
    let mut schedule = Schedule::new(inputs, input_weight);
    // Inputs with more noise than the outputs of gates are first refreshed, each bit by one bootstrap.
    let refresh = input_weight >= REFRESHED;
    let mut nodes: Vec<Linear> = Vec::with_capacity(netlist.gates().len());
    for gate in netlist.gates() {
        let at = |id: solinas_circuits::NodeId| &nodes[id.index()];
        let mut sign = |parts: &[(i32, &Linear)], constant: u32| {
            let mut argument = Linear::sum(parts, constant);
            // A parity has coefficients 2 and twice the margin.
            let margin = if parts.iter().all(|(c, _)| c.abs() == 2) { 4 } else { 1 };
            let alone = matches!(argument.terms[..], [(_, 1 | -1)]);
            if !alone && argument.weight(inputs, input_weight) > GATES_WEIGHT as u64 * margin {
                argument = Linear::sum(&[(1, &copies(&mut schedule, parts))], constant);
            }
            Linear::value(schedule.bootstrap(argument, &LookupTable::Sign))
        };
        let node = match *gate {
            Gate::Input(index) if refresh => sign(&[(1, &Linear::value(index))], 0),
            Gate::Input(index) => Linear::value(index),
            Gate::Const(bit) => Linear { terms: Vec::new(), constant: encode_bool(bit) },
            Gate::Not(a) => Linear::sum(&[(-1, at(a))], 0),
            Gate::Binary(op, a, b) => {
                let (ca, cb, constant) = combination(op);
                sign(&[(ca, at(a)), (cb, at(b))], constant)
            }
            // Parity: 2 (a + b + c) is +-1/4 or +-3/4 of a turn. Its negation has the sign of the parity.
            Gate::Xor3([a, b, c]) => sign(&[(-2, at(a)), (-2, at(b)), (-2, at(c))], 0),
            Gate::Maj([a, b, c]) => sign(&[(1, at(a)), (1, at(b)), (1, at(c))], 0),
            Gate::Mux { sel, if_true, if_false } => {
                let taken = sign(&[(1, at(sel)), (1, at(if_true))], EIGHTH.wrapping_neg());
                let other = sign(&[(-1, at(sel)), (1, at(if_false))], EIGHTH.wrapping_neg());
                // At most one of the two is 1.
                Linear::sum(&[(1, &taken), (1, &other)], EIGHTH)
            }
        };
        nodes.push(node);
    }
    for port in netlist.outputs() {
        for bit in &port.bits {
            schedule.output(nodes[bit.index()].clone());
        }
    }
    schedule
}

/// Returns the sum of parts after one more bootstrap of each. Equal parts become values with independent noise.
fn copies(schedule: &mut Schedule, parts: &[(i32, &Linear)]) -> Linear {
    let mut copies: Vec<Linear> = Vec::with_capacity(parts.len());
    for (i, (_, part)) in parts.iter().enumerate() {
        // A second bootstrap of the same ciphertext would give the same noise. A bootstrap of its copy does not.
        let equal = (0..i).rev().find(|&j| parts[j].1 == *part).map(|j| copies[j].clone());
        let source = equal.unwrap_or_else(|| (*part).clone());
        copies.push(if source.terms.is_empty() {
            source
        } else {
            Linear::value(schedule.bootstrap(source, &LookupTable::Sign))
        });
    }
    let parts: Vec<(i32, &Linear)> = parts.iter().zip(&copies).map(|(&(c, _), copy)| (c, copy)).collect();
    Linear::sum(&parts, 0)
}

/// Returns the coefficients of the operands and the constant. The gate is the sign of this combination.
fn combination(op: BinaryOp) -> (i32, i32, u32) {
    let (plus, minus) = (EIGHTH, EIGHTH.wrapping_neg());
    match op {
        BinaryOp::And => (1, 1, minus),
        BinaryOp::Or => (1, 1, plus),
        BinaryOp::Nand => (-1, -1, plus),
        BinaryOp::Nor => (-1, -1, minus),
        BinaryOp::Xor => (2, 2, 2 * EIGHTH),
        BinaryOp::Xnor => (-2, -2, (2 * EIGHTH).wrapping_neg()),
        BinaryOp::AndNY => (-1, 1, minus),
        BinaryOp::AndYN => (1, -1, minus),
        BinaryOp::OrNY => (-1, 1, plus),
        BinaryOp::OrYN => (1, -1, plus),
    }
}
