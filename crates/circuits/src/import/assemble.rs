//! Sorts the cells on which the outputs depend, which may come in any order, to a netlist in topological order.

use crate::{Builder, Error, Netlist, NodeId};
use std::borrow::Cow;
use std::collections::HashMap;

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

/// The drivers of all wires.
struct Drivers {
    first: Vec<Driver>,
    /// The wires with more than one driver, each with the line of the second.
    twice: HashMap<u32, usize>,
}

impl Drivers {
    fn new<K>(circuit: &Circuit<'_, K>) -> Self {
        let mut this = Self { first: vec![Driver::None; circuit.wire_names.len()], twice: HashMap::new() };
        for wire in circuit.inputs.iter().flat_map(|port| &port.wires) {
            this.add(*wire, Driver::Input, 0);
        }
        for (index, cell) in circuit.cells.iter().enumerate() {
            for wire in &cell.outputs {
                this.add(*wire, Driver::Cell(index as u32), cell.line);
            }
        }
        this
    }

    fn add(&mut self, wire: u32, driver: Driver, line: usize) {
        match &mut self.first[wire as usize] {
            slot @ Driver::None => *slot = driver,
            _ => drop(self.twice.entry(wire).or_insert(line)),
        }
    }

    fn cell(&self, wire: u32) -> Option<usize> {
        match self.first[wire as usize] {
            Driver::Cell(index) => Some(index as usize),
            _ => None,
        }
    }
}

impl<K> Circuit<'_, K> {
    /// Adds cells whose file does not tell inputs from outputs. Each drives those of its wires that nothing else drives.
    pub(super) fn add_undirected(&mut self, cells: Vec<Cell<K>>) {
        let drivers = Drivers::new(self);
        let mut free: Vec<bool> = drivers.first.iter().map(|driver| *driver == Driver::None).collect();
        for mut cell in cells {
            cell.outputs.retain(|wire| std::mem::take(&mut free[*wire as usize]));
            self.cells.push(cell);
        }
    }

    /// Orders the cells on which the outputs depend (Kahn's algorithm) and emits each into an empty builder as soon as its inputs are known. `emit` returns
    /// one node for each output wire. Other cells are left out, whatever is wrong with them.
    ///
    /// # Errors
    /// [`Error::Parse`] for a wire with two drivers, [`Error::Undriven`], [`Error::Cycle`], and errors of `emit`.
    pub(super) fn assemble(
        self,
        mut b: Builder<'_>,
        mut emit: impl FnMut(&mut Builder, &Cell<K>, &[NodeId]) -> Result<Vec<NodeId>, Error>,
    ) -> Result<Netlist, Error> {
        let drivers = Drivers::new(&self);
        let used = self.cone(&drivers)?;
        let order = self.topological_order(&drivers, &used)?;
        let Self { wire_names, inputs, outputs, cells, .. } = self;
        let mut nodes = vec![NodeId(0); wire_names.len()];
        for port in &inputs {
            let bits = b.input(&port.name, port.wires.len(), port.signed);
            port.wires.iter().zip(bits).for_each(|(wire, bit)| nodes[*wire as usize] = bit);
        }
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

    /// For each cell, whether an output depends on it.
    fn cone(&self, drivers: &Drivers) -> Result<Vec<bool>, Error> {
        let name = |wire: u32| self.wire_names[wire as usize].to_string();
        let mut used = vec![false; self.cells.len()];
        let mut wires: Vec<u32> = self.outputs.iter().rev().flat_map(|port| port.wires.iter().rev()).copied().collect();
        while let Some(wire) = wires.pop() {
            if let Some(&line) = drivers.twice.get(&wire) {
                return Err(Error::Parse {
                    format: self.format,
                    line,
                    problem: format!("wire '{}' is driven twice", name(wire)),
                    fix: "leave exactly one driver for each wire",
                });
            }
            match drivers.first[wire as usize] {
                Driver::None => return Err(Error::Undriven { format: self.format, wire: name(wire) }),
                Driver::Input => {}
                Driver::Cell(index) => {
                    if !std::mem::replace(&mut used[index as usize], true) {
                        wires.extend(&self.cells[index as usize].inputs);
                    }
                }
            }
        }
        Ok(used)
    }

    /// The used cells, each after the cells that drive its inputs.
    fn topological_order(&self, drivers: &Drivers, used: &[bool]) -> Result<Vec<u32>, Error> {
        // The readers of all cells, in one array with offsets.
        let cells = &self.cells;
        let used = || cells.iter().enumerate().filter(|(index, _)| used[*index]);
        let mut offsets = vec![0usize; cells.len() + 1];
        let mut waiting = vec![0u32; cells.len()];
        for (index, cell) in used() {
            for from in cell.inputs.iter().filter_map(|wire| drivers.cell(*wire)) {
                offsets[from + 1] += 1;
                waiting[index] += 1;
            }
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut readers = vec![0u32; offsets[cells.len()]];
        for (index, cell) in used() {
            for from in cell.inputs.iter().filter_map(|wire| drivers.cell(*wire)) {
                readers[next[from]] = index as u32;
                next[from] += 1;
            }
        }
        let mut order: Vec<u32> =
            used().filter(|(index, _)| waiting[*index] == 0).map(|(index, _)| index as u32).collect();
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
        if order.len() == used().count() {
            return Ok(order);
        }
        // A walk backwards along waiting cells reaches a cycle.
        let mut seen = vec![false; cells.len()];
        let stuck = |index: &usize| waiting[*index] > 0;
        let mut at = (0..cells.len()).find(stuck).unwrap_or(0);
        while !seen[at] {
            seen[at] = true;
            at = cells[at].inputs.iter().filter_map(|wire| drivers.cell(*wire)).find(stuck).unwrap_or(at);
        }
        let wire = cells[at].outputs.first().map_or("", |wire| &*self.wire_names[*wire as usize]);
        Err(Error::Cycle { format: self.format, wire: wire.to_owned() })
    }
}
