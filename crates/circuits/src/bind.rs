//! Public values in place of inputs.

use crate::{Builder, Error, Gate, Netlist, NodeId};

impl Netlist {
    /// The circuit with constants in place of the input ports that have a value. `values` has an entry for each input port: its bits, least significant
    /// first, or `None` for a port that remains.
    ///
    /// # Errors
    /// [`Error::WrongCount`] unless there is an entry for each port and a bit for each bit of the port.
    pub fn bind(&self, values: &[Option<Vec<bool>>]) -> Result<Self, Error> {
        let wrong = |what, expected, got| Err(Error::WrongCount { what, expected, got });
        if values.len() != self.inputs().len() {
            return wrong("inputs", self.inputs().len(), values.len());
        }
        let mut b = Builder::new();
        let mut inputs = Vec::with_capacity(self.input_bits());
        for (port, value) in self.inputs().iter().zip(values) {
            match value {
                None => inputs.extend(b.input(&port.name, port.bits.len(), port.signed)),
                Some(bits) if bits.len() != port.bits.len() => return wrong("input bits", port.bits.len(), bits.len()),
                Some(bits) => inputs.extend(bits.iter().map(|&bit| b.constant(bit))),
            }
        }
        let mut nodes: Vec<NodeId> = Vec::with_capacity(self.gates().len());
        for gate in self.gates() {
            let node = match *gate {
                Gate::Input(at) => inputs[at as usize],
                gate => b.gate(gate.map(|id| nodes[id.index()])),
            };
            nodes.push(node);
        }
        for port in self.outputs() {
            let bits: Vec<_> = port.bits.iter().map(|bit| nodes[bit.index()]).collect();
            b.output(&port.name, &bits, port.signed);
        }
        b.finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::build::Recipe;
    use crate::program::{Program, Type};

    #[test]
    fn a_bound_circuit_computes_as_with_the_value() {
        let add = Program::from_op("add", &[Type::Uint(4); 2]).unwrap().lower(Recipe::default()).unwrap();
        let bits = |value: u32| Some((0..4).map(|i| value >> i & 1 == 1).collect());
        for (x, y) in [(3u128, 9u32), (15, 15), (0, 7)] {
            let bound = add.bind(&[None, bits(y)]).unwrap();
            assert_eq!(bound.inputs().len(), 1);
            assert_eq!(bound.evaluate(&[x]).unwrap(), add.evaluate(&[x, y.into()]).unwrap());
            let all = add.bind(&[bits(x as u32), bits(y)]).unwrap();
            assert_eq!(all.evaluate(&[] as &[u128]).unwrap(), add.evaluate(&[x, y.into()]).unwrap());
        }
        assert!(add.bind(&[None]).is_err() && add.bind(&[None, Some(vec![true])]).is_err());
    }
}
