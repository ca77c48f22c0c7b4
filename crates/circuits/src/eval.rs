//! Plain evaluation of netlists, and the wavefronts that a scheduler runs.

use crate::{Error, Gate, GateCosts, Natural, Netlist, NodeId, Port};

/// One step of a schedule: first the free gates in order, then independent gates that bootstrap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wavefront {
    /// Inputs, constants and other gates of cost 0, in topological order.
    pub free: Vec<NodeId>,
    /// Gates that cost bootstraps, independent of each other.
    pub gates: Vec<NodeId>,
}

impl Netlist {
    /// Evaluates 64 cases at once: lane `l` of `inputs[k]` is input bit `k` of case `l`. Returns the output bits of all ports in the same form.
    ///
    /// # Errors
    /// [`Error::WrongCount`] unless there is one word for each input bit.
    pub fn evaluate_lanes(&self, inputs: &[u64]) -> Result<Vec<u64>, Error> {
        let nodes = self.node_values(inputs)?;
        Ok(self.output_nodes().map(|id| nodes[id.index()]).collect())
    }

    /// As [`Netlist::evaluate_lanes`], but returns the value of every node.
    ///
    /// # Errors
    /// [`Error::WrongCount`] unless there is one word for each input bit.
    pub fn node_values(&self, inputs: &[u64]) -> Result<Vec<u64>, Error> {
        let expected = self.input_bits();
        if inputs.len() != expected {
            return Err(Error::WrongCount { what: "input bits", expected, got: inputs.len() });
        }
        let mut nodes: Vec<u64> = Vec::with_capacity(self.gates().len());
        for gate in self.gates() {
            let v = |id: NodeId| nodes[id.index()];
            let value = match *gate {
                Gate::Input(k) => inputs[k as usize],
                Gate::Const(value) => u64::from(value).wrapping_neg(),
                Gate::Not(a) => !v(a),
                Gate::Binary(op, a, b) => op.apply(v(a), v(b)),
                Gate::Mux { sel, if_true, if_false } => v(if_false) ^ (v(sel) & (v(if_true) ^ v(if_false))),
                Gate::Xor3([a, b, c]) => v(a) ^ v(b) ^ v(c),
                Gate::Maj([a, b, c]) => (v(a) & v(b)) | (v(c) & (v(a) ^ v(b))),
            };
            nodes.push(value);
        }
        Ok(nodes)
    }

    /// Evaluates one case on bits, over all ports in order.
    ///
    /// # Errors
    /// [`Error::WrongCount`] unless there is one bit for each input bit.
    pub fn evaluate_bits(&self, inputs: &[bool]) -> Result<Vec<bool>, Error> {
        let lanes: Vec<_> = inputs.iter().map(|&bit| u64::from(bit)).collect();
        Ok(self.evaluate_lanes(&lanes)?.into_iter().map(|lane| lane & 1 == 1).collect())
    }

    /// Evaluates one case on integers, one for each port, given by their bits (two's complement if signed).
    ///
    /// # Errors
    /// [`Error::WrongCount`] or [`Error::ValueOutOfRange`] for inputs that do not fit the ports.
    pub fn evaluate<V: Clone + Into<Natural>>(&self, inputs: &[V]) -> Result<Vec<Natural>, Error> {
        let many = self.evaluate_many(&[inputs])?;
        Ok(many.into_iter().next().unwrap_or_default())
    }

    /// As [`Netlist::evaluate`], for many sets of inputs, 64 at a time.
    ///
    /// # Errors
    /// As [`Netlist::evaluate`].
    pub fn evaluate_many<V: Clone + Into<Natural>>(
        &self,
        cases: &[impl AsRef<[V]>],
    ) -> Result<Vec<Vec<Natural>>, Error> {
        let mut results = Vec::with_capacity(cases.len());
        for chunk in cases.chunks(64) {
            let mut lanes = vec![0u64; self.input_bits()];
            for (lane, case) in chunk.iter().enumerate() {
                self.spread(case.as_ref(), lane, &mut lanes)?;
            }
            let out = self.evaluate_lanes(&lanes)?;
            results.extend((0..chunk.len()).map(|lane| self.gather(&out, lane)));
        }
        Ok(results)
    }

    fn spread<V: Clone + Into<Natural>>(&self, values: &[V], lane: usize, lanes: &mut [u64]) -> Result<(), Error> {
        if values.len() != self.inputs().len() {
            return Err(Error::WrongCount { what: "inputs", expected: self.inputs().len(), got: values.len() });
        }
        let mut next = 0;
        for (Port { name, bits, .. }, value) in self.inputs().iter().zip(values) {
            let (width, value) = (bits.len(), value.clone().into());
            if value.bit_length() > width {
                return Err(Error::ValueOutOfRange { name: name.clone(), width, value });
            }
            for bit in 0..width {
                lanes[next] |= u64::from(value.bit(bit)) << lane;
                next += 1;
            }
        }
        Ok(())
    }

    fn gather(&self, lanes: &[u64], lane: usize) -> Vec<Natural> {
        let mut lanes = lanes.iter();
        let port =
            |port: &Port| Natural::from_bits(lanes.by_ref().take(port.bits.len()).map(|word| word >> lane & 1 == 1));
        self.outputs().iter().map(port).collect()
    }

    /// The schedule with the fewest steps: every gate runs as early as possible.
    #[must_use]
    pub fn wavefronts(&self, costs: &GateCosts) -> Vec<Wavefront> {
        let levels = self.levels(costs);
        let depth = levels.iter().max().map_or(0, |level| *level as usize);
        let mut fronts = vec![Wavefront::default(); depth + 1];
        for (index, (gate, &level)) in self.gates().iter().zip(&levels).enumerate() {
            let id = NodeId(index as u32);
            // A gate of level l runs in step l - 1. Free gates of level l thus follow in step l.
            match costs.bootstraps(gate) {
                0 => fronts[level as usize].free.push(id),
                _ => fronts[level as usize - 1].gates.push(id),
            }
        }
        if fronts.last().is_some_and(|last| last.free.is_empty() && last.gates.is_empty()) {
            fronts.pop();
        }
        fronts
    }

    /// For each node, the bootstraps on the longest path to it. A gate with several bootstraps in parallel, such as MUX, counts once.
    #[must_use]
    pub fn levels(&self, costs: &GateCosts) -> Vec<u32> {
        let mut levels: Vec<u32> = Vec::with_capacity(self.gates().len());
        for gate in self.gates() {
            let below = gate.operands().map(|id| levels[id.index()]).max().unwrap_or(0);
            levels.push(below + u32::from(costs.bootstraps(gate) > 0));
        }
        levels
    }
}
