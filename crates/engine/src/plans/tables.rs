//! Lookup-table graphs for the integers family, and gate circuits as such graphs.

use super::schedule::{Linear, Schedule};
use crate::Error;
use solinas_circuits::lut::{self, Budget, LutGraph, ValueRef};
use solinas_circuits::radix::Radix;
use solinas_circuits::{BinaryOp, Gate, Limits, Netlist};
use solinas_schemes::tfhe::params::INTEGERS_WEIGHT;
use solinas_schemes::tfhe::{LookupTable, encode_value};

/// The noise that the parameter sets of the family allow, and the noise of the inputs.
///
/// A single input never exceeds the allowed noise. A larger weight comes from inputs that repeat a ciphertext, and
/// matters for sums of these only. If the input weight equals the allowed noise, a graph refreshes every input before
/// it enters a sum.
pub(crate) fn budget(input_weight: u64) -> Budget {
    let max_weight = INTEGERS_WEIGHT as u64;
    Budget { max_weight, input_weight: input_weight.min(max_weight) }
}

/// Converts a graph to a schedule.
pub(crate) fn schedule(graph: &LutGraph) -> Schedule {
    let mut schedule = Schedule::new(graph.inputs().len(), graph.budget().input_weight);
    let mut firsts: Vec<u32> = Vec::with_capacity(graph.luts().len());
    let linear = |firsts: &[u32], terms: &[(ValueRef, i32)], constant: i32| Linear {
        terms: terms
            .iter()
            .map(|&(value, c)| match value {
                ValueRef::Input(index) => (index, c),
                ValueRef::Lut { node, table } => (firsts[node as usize] + table, c),
            })
            .collect(),
        constant: encode_value(constant as u32),
    };
    for lut in graph.luts() {
        let argument = linear(&firsts, &lut.terms, lut.constant);
        firsts.push(schedule.bootstrap(argument, &LookupTable::Entries(lut.tables.clone())));
    }
    for output in graph.outputs() {
        schedule.output(linear(&firsts, &output.terms, output.constant));
    }
    schedule
}

/// Converts a gate circuit to lookup tables. Every gate of up to three inputs is one rotation. Ports are in radix form.
pub(crate) fn lower_netlist(netlist: &Netlist, input_weight: u64, limits: &Limits<'_>) -> Result<LutGraph, Error> {
    let style = solinas_circuits::radix::Style::FewestRotations;
    let mut radix = Radix::new(style, budget(input_weight)).within(*limits);
    let mut bits: Vec<lut::Linear> = Vec::with_capacity(netlist.input_bits());
    for port in netlist.inputs() {
        let value = radix.input(port.bits.len() as u16);
        bits.extend(radix.bits(&value)?);
    }
    let mut nodes: Vec<lut::Linear> = Vec::with_capacity(netlist.gates().len());
    for gate in netlist.gates() {
        let at = |id: solinas_circuits::NodeId| &nodes[id.index()];
        let node = match *gate {
            Gate::Input(index) => bits[index as usize].clone(),
            Gate::Const(bit) => lut::Linear::constant(bit.into()),
            Gate::Not(a) => lut::Linear::constant(1).minus(at(a)),
            Gate::Binary(op, a, b) => radix.builder.boolean(&[at(a), at(b)], truth2(op))?,
            Gate::Mux { sel, if_true, if_false } => {
                radix.builder.boolean(&[at(sel), at(if_true), at(if_false)], 0b1101_1000)?
            }
            Gate::Xor3([a, b, c]) => radix.builder.boolean(&[at(a), at(b), at(c)], 0b1001_0110)?,
            Gate::Maj([a, b, c]) => radix.builder.boolean(&[at(a), at(b), at(c)], 0b1110_1000)?,
        };
        nodes.push(node);
    }
    let mut outputs = Vec::new();
    for port in netlist.outputs() {
        let bits: Vec<lut::Linear> = port.bits.iter().map(|bit| nodes[bit.index()].clone()).collect();
        outputs.extend(joined(&mut radix, &bits)?);
    }
    Ok(radix.builder.finish(&outputs)?.optimize_within(limits)?)
}

/// Blocks of two bits each, lowest first. Bits are refreshed if their sum would be too noisy.
fn joined(radix: &mut Radix<'_>, bits: &[lut::Linear]) -> Result<Vec<lut::Linear>, lut::Error> {
    let builder = &mut radix.builder;
    let mut blocks = Radix::from_bits(bits).blocks;
    for (block, bits) in blocks.iter_mut().zip(bits.chunks(2)) {
        if builder.weight(block) > builder.budget().max_weight {
            *block = builder.argument(&bits.iter().zip([1, 2]).collect::<Vec<_>>(), 0)?;
        }
    }
    Ok(blocks)
}

/// Truth table of a gate: bit `b0 + 2 b1` is its value.
fn truth2(op: BinaryOp) -> u16 {
    (0..4u16).map(|i| u16::from(op.apply(u64::from(i & 1), u64::from(i >> 1)) & 1 == 1) << i).sum()
}

/// Splits blocks of radix form into bits: one rotation for each block.
pub(crate) fn radix_to_bits(width: u16, input_weight: u64) -> Result<LutGraph, Error> {
    let mut radix = Radix::new(solinas_circuits::radix::Style::FewestRotations, budget(input_weight));
    let value = radix.input(width);
    let bits = radix.bits(&value)?;
    Ok(radix.builder.finish(&bits)?.optimize())
}

/// Joins bits to blocks of radix form. Takes no rotation, unless the bits are too noisy.
pub(crate) fn bits_to_radix(width: u16, input_weight: u64) -> Result<LutGraph, Error> {
    let mut radix = Radix::new(solinas_circuits::radix::Style::FewestRotations, budget(input_weight));
    let bits: Vec<lut::Linear> = (0..width).map(|_| radix.builder.input(1)).collect();
    let blocks = joined(&mut radix, &bits)?;
    Ok(radix.builder.finish(&blocks)?)
}
