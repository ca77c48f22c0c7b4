//! Sorts cells, which may come in any order, to a netlist in topological order.

use crate::{Builder, Error, Netlist, NodeId};
use std::borrow::Cow;

/// A cell, which drives output wires from input wires.
pub(super) struct Cell<K> {
    pub(super) kind: K,
    pub(super) inputs: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    /// Line, from 1; 0 if the format has no lines.
    pub(super) line: usize,
}

/// A port as a list of wires.
pub(super) struct WirePort {
    pub(super) name: String,
    pub(super) wires: Vec<u32>,
    pub(super) signed: bool,
}

/// The contents of a circuit file. Wires are numbered from 0.
pub(super) struct Circuit<'a, K> {
    pub(super) format: &'static str,
    pub(super) wire_names: Vec<Cow<'a, str>>,
    pub(super) inputs: Vec<WirePort>,
    pub(super) outputs: Vec<WirePort>,
    pub(super) cells: Vec<Cell<K>>,
}

/// The driver of a wire.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    None,
    Input,
    Cell(u32),
}

impl<K> Circuit<'_, K> {
    /// Orders the cells (Kahn's algorithm) and emits each into an empty builder as soon as its inputs are known. `emit` returns one node for each output
    /// wire.
    ///
    /// # Errors
    /// [`Error::Parse`] for a wire with two drivers, [`Error::Undriven`], [`Error::Cycle`], and errors of `emit`.
    pub(super) fn assemble(
        self,
        mut b: Builder<'_>,
        mut emit: impl FnMut(&mut Builder, &Cell<K>, &[NodeId]) -> Result<Vec<NodeId>, Error>,
    ) -> Result<Netlist, Error> {
        let Self { format, wire_names, inputs, outputs, cells } = self;
        let mut drivers = vec![Driver::None; wire_names.len()];
        let mut drive = |wire: u32, driver: Driver, line: usize| {
            let slot = &mut drivers[wire as usize];
            if *slot != Driver::None {
                return Err(Error::Parse {
                    format,
                    line,
                    problem: format!("wire '{}' is driven twice", wire_names[wire as usize]),
                    fix: "leave exactly one driver for each wire",
                });
            }
            *slot = driver;
            Ok(())
        };
        for wire in inputs.iter().flat_map(|port| &port.wires) {
            drive(*wire, Driver::Input, 0)?;
        }
        for (index, cell) in cells.iter().enumerate() {
            for wire in &cell.outputs {
                drive(*wire, Driver::Cell(index as u32), cell.line)?;
            }
        }
        let undriven = |wire: &&u32| drivers[**wire as usize] == Driver::None;
        let mut read = cells.iter().flat_map(|cell| &cell.inputs).chain(outputs.iter().flat_map(|port| &port.wires));
        if let Some(wire) = read.find(undriven) {
            return Err(Error::Undriven { format, wire: wire_names[*wire as usize].to_string() });
        }

        let mut nodes = vec![NodeId(0); wire_names.len()];
        for port in &inputs {
            let bits = b.input(&port.name, port.wires.len(), port.signed);
            port.wires.iter().zip(bits).for_each(|(wire, bit)| nodes[*wire as usize] = bit);
        }
        let order = topological_order(format, &wire_names, &drivers, &cells)?;
        let mut operands = Vec::new();
        for index in order {
            let cell = &cells[index as usize];
            operands.clear();
            operands.extend(cell.inputs.iter().map(|wire| nodes[*wire as usize]));
            let made = emit(&mut b, cell, &operands)?;
            debug_assert_eq!(made.len(), cell.outputs.len());
            cell.outputs.iter().zip(made).for_each(|(wire, node)| nodes[*wire as usize] = node);
        }
        for port in &outputs {
            let bits: Vec<_> = port.wires.iter().map(|wire| nodes[*wire as usize]).collect();
            b.output(&port.name, &bits, port.signed);
        }
        b.finish()
    }
}

fn topological_order<K>(
    format: &'static str,
    names: &[Cow<'_, str>],
    drivers: &[Driver],
    cells: &[Cell<K>],
) -> Result<Vec<u32>, Error> {
    // The readers of all cells, in one array with offsets.
    let driver_of = |wire: &u32| match drivers[*wire as usize] {
        Driver::Cell(index) => Some(index as usize),
        _ => None,
    };
    let mut offsets = vec![0usize; cells.len() + 1];
    let mut waiting = vec![0u32; cells.len()];
    for (index, cell) in cells.iter().enumerate() {
        for from in cell.inputs.iter().filter_map(driver_of) {
            offsets[from + 1] += 1;
            waiting[index] += 1;
        }
    }
    for i in 1..offsets.len() {
        offsets[i] += offsets[i - 1];
    }
    let mut next = offsets.clone();
    let mut readers = vec![0u32; offsets[cells.len()]];
    for (index, cell) in cells.iter().enumerate() {
        for from in cell.inputs.iter().filter_map(driver_of) {
            readers[next[from]] = index as u32;
            next[from] += 1;
        }
    }
    let mut order: Vec<u32> = (0..cells.len() as u32).filter(|index| waiting[*index as usize] == 0).collect();
    let mut done = 0;
    while let Some(&index) = order.get(done) {
        done += 1;
        for &reader in &readers[offsets[index as usize]..offsets[index as usize + 1]] {
            waiting[reader as usize] -= 1;
            if waiting[reader as usize] == 0 {
                order.push(reader);
            }
        }
    }
    if order.len() == cells.len() {
        return Ok(order);
    }
    // A walk backwards along waiting cells reaches a cycle.
    let mut seen = vec![false; cells.len()];
    let stuck = |index: &usize| waiting[*index] > 0;
    let mut at = (0..cells.len()).find(stuck).unwrap_or(0);
    while !seen[at] {
        seen[at] = true;
        at = cells[at].inputs.iter().filter_map(driver_of).find(stuck).unwrap_or(at);
    }
    let wire = cells[at].outputs.first().map_or_else(String::new, |wire| names[*wire as usize].to_string());
    Err(Error::Cycle { format, wire })
}
