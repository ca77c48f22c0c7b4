//! Rewrites netlists for engines that have fewer kinds of gates.

use crate::{BinaryOp, Builder, Error, Gate, Netlist, NodeId};

/// The gates that an engine evaluates, in addition to constants, NOT, AND and XOR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// The other two-input gates: OR, NAND, NOR, XNOR and those with a complemented operand.
    pub all_binary: bool,
    /// [`Gate::Mux`]
    pub mux: bool,
    /// [`Gate::Xor3`]
    pub xor3: bool,
    /// [`Gate::Maj`]
    pub maj: bool,
}

impl Features {
    /// All gates.
    pub const ALL: Self = Self { all_binary: true, mux: true, xor3: true, maj: true };
    /// Gates of at most two inputs.
    pub const TWO_INPUT: Self = Self { all_binary: true, mux: false, xor3: false, maj: false };
    /// NOT, AND and XOR: additions and multiplications modulo 2.
    pub const AND_XOR: Self = Self { all_binary: false, mux: false, xor3: false, maj: false };
}

impl Netlist {
    /// An equivalent netlist that uses only gates of the engine.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the rewritten netlist has too many gates.
    pub fn lower(&self, features: Features) -> Result<Self, Error> {
        let b = Builder::verbatim();
        self.rebuild(b, |b, index, map| features.rewrite(b, self.gates()[index].map(|id| map[id.index()])))
    }

    /// Rebuilds the netlist with the same ports in an empty builder, and prunes it. `make` returns the new node of the gate at an index; the new nodes of
    /// all earlier gates are known.
    pub(crate) fn rebuild(
        &self,
        mut b: Builder<'_>,
        mut make: impl FnMut(&mut Builder, usize, &[NodeId]) -> NodeId,
    ) -> Result<Self, Error> {
        for port in self.inputs() {
            b.input(&port.name, port.bits.len(), port.signed);
        }
        let mut map: Vec<NodeId> = Vec::with_capacity(self.gates().len());
        for (index, gate) in self.gates().iter().enumerate() {
            let id = match *gate {
                // Input ports come first, so that the input bit of index k is node k.
                Gate::Input(k) => NodeId(k),
                _ => make(&mut b, index, &map),
            };
            map.push(id);
        }
        for port in self.outputs() {
            let bits: Vec<_> = port.bits.iter().map(|id| map[id.index()]).collect();
            b.output(&port.name, &bits, port.signed);
        }
        Ok(b.finish()?.prune())
    }
}

impl Features {
    fn rewrite(self, b: &mut Builder, gate: Gate) -> NodeId {
        match gate {
            Gate::Xor3([x, y, z]) if !self.xor3 => {
                let first = b.xor(x, y);
                b.xor(first, z)
            }
            Gate::Maj([x, y, z]) if !self.maj => {
                // At most one of the two terms is 1, so XOR may replace OR.
                let (generated, either) = (b.and(x, y), b.xor(x, y));
                let propagated = b.and(either, z);
                self.join(b, generated, propagated)
            }
            Gate::Mux { sel, if_true, if_false } if !self.mux && self.all_binary => {
                let (t, f) = (b.and(sel, if_true), b.binary(BinaryOp::AndNY, sel, if_false));
                b.or(t, f)
            }
            Gate::Mux { sel, if_true, if_false } if !self.mux => {
                let differ = b.xor(if_true, if_false);
                let flip = b.and(sel, differ);
                b.xor(if_false, flip)
            }
            Gate::Binary(op, x, y) if !self.all_binary => and_xor(b, op, x, y),
            _ => b.gate(gate),
        }
    }

    fn join(self, b: &mut Builder, x: NodeId, y: NodeId) -> NodeId {
        if self.all_binary { b.or(x, y) } else { b.xor(x, y) }
    }
}

/// A two-input gate from NOT, AND and XOR.
fn and_xor(b: &mut Builder, op: BinaryOp, x: NodeId, y: NodeId) -> NodeId {
    match op {
        BinaryOp::And | BinaryOp::Xor => b.binary(op, x, y),
        BinaryOp::Nand | BinaryOp::Xnor | BinaryOp::OrNY | BinaryOp::OrYN => {
            let complement = and_xor(b, op.complement(), x, y);
            b.not(complement)
        }
        BinaryOp::AndNY => {
            let x = b.not(x);
            b.and(x, y)
        }
        BinaryOp::AndYN => {
            let y = b.not(y);
            b.and(x, y)
        }
        BinaryOp::Nor => {
            let (x, y) = (b.not(x), b.not(y));
            b.and(x, y)
        }
        BinaryOp::Or => {
            let neither = and_xor(b, BinaryOp::Nor, x, y);
            b.not(neither)
        }
    }
}
