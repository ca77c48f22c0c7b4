//! Builds netlists gate by gate. Shares equal gates and folds constants and complements.

use crate::limits::{Limits, Meter};
use crate::{BinaryOp, Error, Gate, MAX_NODES, Natural, Netlist, NodeId, Port};
use std::collections::HashMap;

/// Builds a [`Netlist`]. The builder hash-conses gates, folds constants and complements, and never adds a gate that already exists.
///
/// A simplification never needs more bootstraps than the requested gate. Two-input gates absorb complemented operands. If the complement of a gate
/// exists, the gate becomes a (free) NOT. NOTs move through XOR3, MAJ and MUX.
///
/// The builder records mistakes of the caller: a node of another builder, operands of different widths, too many gates. [`Builder::finish`] returns
/// the first.
#[derive(Debug, Clone, Default)]
pub struct Builder<'a> {
    gates: Vec<Gate>,
    levels: Vec<u32>,
    /// Its hash has a random seed, since circuits come from anyone.
    seen: HashMap<Gate, NodeId>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    input_bits: u32,
    verbatim: bool,
    error: Option<Error>,
    meter: Meter<'a>,
}

impl<'a> Builder<'a> {
    /// An empty builder that simplifies gates.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty builder that shares equal gates but does not rewrite gates.
    #[must_use]
    pub fn verbatim() -> Self {
        Self { verbatim: true, ..Self::default() }
    }

    /// The same builder within limits. If a limit stops the builder, it adds no more gates, and [`Builder::finish`] returns the reason.
    #[must_use]
    pub fn within(mut self, limits: Limits<'a>) -> Self {
        self.meter = Meter::new(limits);
        self
    }

    /// Reports the first mistake so far, or the limit that stopped the builder.
    ///
    /// # Errors
    /// The first mistake, or the limit.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Counts one step of work against the limits. Returns whether the builder may continue: there is no mistake, and no limit is reached.
    pub(crate) fn step(&mut self) -> bool {
        if let Err(stop) = self.meter.step(self.gates.len()) {
            self.fail(stop.into());
        }
        self.error.is_none()
    }

    /// Whether `bytes` may be allocated at once. If not, the builder records it.
    pub(crate) fn may_take(&mut self, bytes: u64) -> bool {
        self.meter.limits.check_bytes(bytes).map_err(|stop| self.fail(stop.into())).is_ok()
    }

    /// Builds a part without rewriting gates.
    pub(crate) fn verbatim_part<R>(&mut self, part: impl FnOnce(&mut Self) -> R) -> R {
        let verbatim = std::mem::replace(&mut self.verbatim, true);
        let made = part(self);
        self.verbatim = verbatim;
        made
    }

    /// Records a mistake for [`Builder::finish`], which returns the first.
    pub(crate) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// A new input port of `width` bits, least significant first.
    pub fn input(&mut self, name: impl Into<String>, width: usize, signed: bool) -> Vec<NodeId> {
        let width = self.capped(width);
        let bits: Vec<_> = (0..width)
            .map(|_| {
                self.input_bits += 1;
                self.push(Gate::Input(self.input_bits - 1))
            })
            .collect();
        self.inputs.push(Port { name: name.into(), bits: bits.clone(), signed });
        bits
    }

    fn capped(&mut self, width: usize) -> usize {
        let room = MAX_NODES - self.gates.len().min(MAX_NODES);
        if width > room {
            self.fail(Error::TooLarge { what: "gates", got: width as u64, limit: MAX_NODES as u64 });
        }
        width.min(room)
    }

    /// Names output bits, least significant first.
    pub fn output(&mut self, name: impl Into<String>, bits: &[NodeId], signed: bool) {
        self.outputs.push(Port { name: name.into(), bits: bits.to_vec(), signed });
    }

    /// Returns the netlist. It still contains gates that no output needs (see [`Netlist::optimize`]).
    ///
    /// # Errors
    /// The first mistake during building, or an error of [`Netlist::new`].
    pub fn finish(self) -> Result<Netlist, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Netlist::new(self.gates, self.inputs, self.outputs),
        }
    }

    /// Number of gates so far.
    pub(crate) const fn len(&self) -> usize {
        self.gates.len()
    }

    /// Bootstraps on the longest path to a node. Each gate other than NOT counts as one.
    #[must_use]
    pub fn level(&self, id: NodeId) -> u32 {
        self.levels.get(id.index()).copied().unwrap_or(0)
    }

    /// The value of a node that is a constant.
    #[must_use]
    pub fn constant_value(&self, id: NodeId) -> Option<bool> {
        match self.gates.get(id.index()) {
            Some(Gate::Const(value)) => Some(*value),
            _ => None,
        }
    }

    /// If a node is a NOT, its operand and `true`; otherwise the node and `false`.
    fn strip(&self, id: NodeId) -> (NodeId, bool) {
        match self.gates.get(id.index()) {
            Some(Gate::Not(inner)) => (*inner, true),
            _ => (id, false),
        }
    }

    /// Whether `a == !b` follows directly from the gates.
    fn complementary(&self, a: NodeId, b: NodeId) -> bool {
        let ((a, na), (b, nb)) = (self.strip(a), self.strip(b));
        a == b && na != nb
    }

    fn push(&mut self, gate: Gate) -> NodeId {
        if !self.step() {
            return NodeId(0);
        }
        if let Some(&id) = self.seen.get(&gate) {
            return id;
        }
        let limit = self.gates.len();
        if let Some(bad) = gate.operands().find(|id| id.index() >= limit) {
            let what = format!("a {} gate being built", gate.kind());
            self.fail(Error::NodeOutOfOrder { what, node: bad.0, limit: limit as u32 });
            return bad;
        }
        if limit >= MAX_NODES {
            self.fail(Error::TooLarge { what: "gates", got: limit as u64 + 1, limit: MAX_NODES as u64 });
            return NodeId(0);
        }
        let cost = match gate {
            Gate::Input(_) | Gate::Const(_) | Gate::Not(_) => 0,
            _ => 1,
        };
        let level = gate.operands().map(|id| self.levels[id.index()] + cost).max().unwrap_or(0);
        let id = NodeId(limit as u32);
        self.gates.push(gate);
        self.levels.push(level);
        self.seen.insert(gate, id);
        id
    }

    /// Adds any gate on nodes of this builder.
    pub fn gate(&mut self, gate: Gate) -> NodeId {
        match gate {
            Gate::Input(_) | Gate::Const(_) => self.push(gate),
            _ if self.verbatim => self.push(gate),
            Gate::Not(a) => self.not(a),
            Gate::Binary(op, a, b) => self.function2(op.truth_table(), a, b),
            Gate::Mux { sel, if_true, if_false } => self.mux(sel, if_true, if_false),
            Gate::Xor3([a, b, c]) => self.xor3(a, b, c),
            Gate::Maj([a, b, c]) => self.maj(a, b, c),
        }
    }

    /// A public constant.
    pub fn constant(&mut self, value: bool) -> NodeId {
        self.push(Gate::Const(value))
    }

    /// The low `width` bits of a public constant, least significant first.
    pub fn constant_bits(&mut self, value: impl Into<Natural>, width: usize) -> Vec<NodeId> {
        let (value, width) = (value.into(), self.capped(width));
        (0..width).map(|i| self.constant(value.bit(i))).collect()
    }

    /// `!a`
    pub fn not(&mut self, a: NodeId) -> NodeId {
        if !self.verbatim {
            match self.gates.get(a.index()) {
                Some(Gate::Not(inner)) => return *inner,
                Some(Gate::Const(value)) => return self.constant(!value),
                _ => {}
            }
        }
        self.push(Gate::Not(a))
    }

    pub(crate) fn not_if(&mut self, negate: bool, a: NodeId) -> NodeId {
        if negate { self.not(a) } else { a }
    }

    /// A two-input gate.
    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        self.gate(Gate::Binary(op, a, b))
    }

    /// `a & b`
    pub fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryOp::And, a, b)
    }

    /// `a | b`
    pub fn or(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryOp::Or, a, b)
    }

    /// `a ^ b`
    pub fn xor(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryOp::Xor, a, b)
    }

    /// `!(a ^ b)`
    pub fn xnor(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryOp::Xnor, a, b)
    }

    /// Any function of two bits. Bit `a + 2b` of `table` is its value at `(a, b)`.
    pub(crate) fn function2(&mut self, table: u8, a: NodeId, b: NodeId) -> NodeId {
        let at = |a: bool, b: bool| table >> (u8::from(a) + 2 * u8::from(b)) & 1 == 1;
        // The function of one operand, given by its values at 0 and 1.
        if let Some(value) = self.constant_value(a) {
            return self.function1(at(value, false), at(value, true), b);
        }
        if let Some(value) = self.constant_value(b) {
            return self.function1(at(false, value), at(true, value), a);
        }
        let ((x, nx), (y, ny)) = (self.strip(a), self.strip(b));
        let value = |x: bool, y: bool| at(x ^ nx, y ^ ny);
        if x == y {
            return self.function1(value(false, false), value(true, true), x);
        }
        let (x, y, swap) = if x < y { (x, y, false) } else { (y, x, true) };
        let entry = |i: u8| {
            let (p, q) = (i & 1 == 1, i >> 1 == 1);
            u8::from(if swap { value(q, p) } else { value(p, q) }) << i
        };
        let table = (0..4).map(entry).sum();
        match BinaryOp::from_truth_table(table) {
            Some(op) => {
                let complement = Gate::Binary(op.complement(), x, y);
                match self.seen.get(&complement) {
                    Some(&id) => self.not(id),
                    None => self.push(Gate::Binary(op, x, y)),
                }
            }
            None if table & 1 == table >> 1 & 1 => self.function1(table & 1 == 1, table >> 2 & 1 == 1, y),
            None => self.function1(table & 1 == 1, table >> 1 & 1 == 1, x),
        }
    }

    /// The function of one bit with the given values at 0 and 1.
    fn function1(&mut self, at0: bool, at1: bool, a: NodeId) -> NodeId {
        if at0 == at1 { self.constant(at0) } else { self.not_if(at0, a) }
    }

    /// `sel ? if_true : if_false`
    pub fn mux(&mut self, sel: NodeId, if_true: NodeId, if_false: NodeId) -> NodeId {
        if self.verbatim {
            return self.push(Gate::Mux { sel, if_true, if_false });
        }
        if let Some(sel) = self.constant_value(sel) {
            return if sel { if_true } else { if_false };
        }
        let (sel, negated) = self.strip(sel);
        let (t, f) = if negated { (if_false, if_true) } else { (if_true, if_false) };
        if t == f {
            return t;
        }
        if self.complementary(t, f) {
            return self.function2(BinaryOp::Xor.truth_table(), sel, f);
        }
        let ((ts, tn), (fs, fnot)) = (self.strip(t), self.strip(f));
        let t_const = if ts == sel { Some(!tn) } else { self.constant_value(t) };
        let f_const = if fs == sel { Some(fnot) } else { self.constant_value(f) };
        match (t_const, f_const) {
            (Some(t), Some(f)) => return self.function1(f, t, sel),
            (Some(true), None) => return self.function2(BinaryOp::Or.truth_table(), sel, f),
            (Some(false), None) => return self.function2(BinaryOp::AndNY.truth_table(), sel, f),
            (None, Some(true)) => return self.function2(BinaryOp::OrNY.truth_table(), sel, t),
            (None, Some(false)) => return self.function2(BinaryOp::And.truth_table(), sel, t),
            (None, None) => {}
        }
        if tn && fnot {
            let inner = self.push(Gate::Mux { sel, if_true: ts, if_false: fs });
            return self.not(inner);
        }
        self.push(Gate::Mux { sel, if_true: t, if_false: f })
    }

    /// `a ^ b ^ c` as one gate.
    pub fn xor3(&mut self, a: NodeId, b: NodeId, c: NodeId) -> NodeId {
        if self.verbatim {
            return self.push(Gate::Xor3([a, b, c]));
        }
        let mut negate = false;
        let mut rest = Vec::with_capacity(3);
        for id in [a, b, c] {
            let (id, negated) = self.strip(id);
            negate ^= negated;
            match self.constant_value(id) {
                Some(value) => negate ^= value,
                None => rest.push(id),
            }
        }
        rest.sort_unstable();
        let cancel = rest.windows(2).position(|pair| pair[0] == pair[1]);
        if let Some(at) = cancel {
            rest.drain(at..at + 2);
        }
        match rest[..] {
            [] => self.constant(negate),
            [a] => self.not_if(negate, a),
            [a, b] if negate => self.xnor(a, b),
            [a, b] => self.xor(a, b),
            _ => {
                let id = self.push(Gate::Xor3([rest[0], rest[1], rest[2]]));
                self.not_if(negate, id)
            }
        }
    }

    /// The majority of three bits as one gate.
    pub fn maj(&mut self, a: NodeId, b: NodeId, c: NodeId) -> NodeId {
        if self.verbatim {
            return self.push(Gate::Maj([a, b, c]));
        }
        let mut all = [a, b, c];
        for i in 0..3 {
            let (x, y, z) = (all[i], all[(i + 1) % 3], all[(i + 2) % 3]);
            match self.constant_value(x) {
                Some(true) => return self.or(y, z),
                Some(false) => return self.and(y, z),
                None => {}
            }
            if y == z {
                return y;
            }
            if self.complementary(y, z) {
                return x;
            }
        }
        // MAJ is self-dual: keep at most one complemented operand.
        let negate = all.iter().filter(|id| self.strip(**id).1).count() >= 2;
        if negate {
            all = all.map(|id| self.not(id));
        }
        all.sort_unstable();
        let id = self.push(Gate::Maj(all));
        self.not_if(negate, id)
    }
}
