//! The cost of a netlist.

use crate::counted;
use crate::{Gate, Netlist};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Number of bootstraps of each kind of gate in an engine. Inputs and constants need none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateCosts {
    /// [`Gate::Not`]
    pub not: u32,
    /// [`Gate::Binary`]
    pub binary: u32,
    /// [`Gate::Mux`]
    pub mux: u32,
    /// [`Gate::Xor3`]
    pub xor3: u32,
    /// [`Gate::Maj`]
    pub maj: u32,
}

impl Default for GateCosts {
    /// The costs of TFHE: NOT is free, MUX needs two parallel bootstraps, every other gate one.
    fn default() -> Self {
        Self { not: 0, binary: 1, mux: 2, xor3: 1, maj: 1 }
    }
}

impl GateCosts {
    /// Number of bootstraps of one gate.
    #[must_use]
    pub const fn bootstraps(&self, gate: &Gate) -> u32 {
        match gate {
            Gate::Input(_) | Gate::Const(_) => 0,
            Gate::Not(_) => self.not,
            Gate::Binary(..) => self.binary,
            Gate::Mux { .. } => self.mux,
            Gate::Xor3(_) => self.xor3,
            Gate::Maj(_) => self.maj,
        }
    }
}

/// Counts of a netlist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Input bits.
    pub input_bits: usize,
    /// Output bits.
    pub output_bits: usize,
    /// Gates other than inputs and constants.
    pub gates: usize,
    /// Nodes by [`Gate::kind`].
    pub by_kind: BTreeMap<String, usize>,
    /// Total number of bootstraps.
    pub bootstraps: u64,
    /// Bootstraps on the longest path.
    pub depth: usize,
    /// Number of bootstraps in each level that can run in parallel, if every gate runs as early as possible.
    pub width: Vec<u64>,
}

impl Netlist {
    /// Counts gates, bootstraps and depth.
    #[must_use]
    pub fn stats(&self, costs: &GateCosts) -> Stats {
        let mut by_kind = BTreeMap::new();
        for gate in self.gates() {
            *by_kind.entry(gate.kind().to_owned()).or_insert(0) += 1;
        }
        let mut width = Vec::new();
        for (gate, level) in self.gates().iter().zip(self.levels(costs)) {
            let cost = u64::from(costs.bootstraps(gate));
            if cost > 0 {
                let level = level as usize - 1;
                if width.len() <= level {
                    width.resize(level + 1, 0);
                }
                width[level] += cost;
            }
        }
        Stats {
            input_bits: self.input_bits(),
            output_bits: self.output_bits(),
            gates: self.gates().iter().filter(|gate| !matches!(gate, Gate::Input(_) | Gate::Const(_))).count(),
            by_kind,
            bootstraps: width.iter().sum(),
            depth: width.len(),
            width,
        }
    }

    /// Total number of bootstraps.
    #[must_use]
    pub fn bootstraps(&self, costs: &GateCosts) -> u64 {
        self.gates().iter().map(|gate| u64::from(costs.bootstraps(gate))).sum()
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input_bits, output_bits, gates, bootstraps, depth, .. } = self;
        let [inputs, outputs] = [input_bits, output_bits].map(|&bits| counted(bits, "bit"));
        writeln!(f, "inputs      {inputs}\noutputs     {outputs}")?;
        writeln!(f, "gates       {gates}\nbootstraps  {bootstraps}\ndepth       {}", counted(*depth, "bootstrap"))?;
        writeln!(f, "width       {} at most", self.width.iter().max().unwrap_or(&0))?;
        self.by_kind.iter().try_for_each(|(kind, count)| writeln!(f, "  {kind:<8}  {count}"))
    }
}
