//! Functions of up to three bits as one gate, up to complements.

use crate::{BinaryOp, Builder, NodeId};
use std::sync::LazyLock;

/// Truth tables of three variables: bit `i` of entry `k` is bit `k` of `i`.
pub(crate) const VARIABLE: [u8; 3] = [0b1010_1010, 0b1100_1100, 0b1111_0000];

/// A gate of three inputs, some of them complemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Parity { negate: bool },
    Majority { negate: [bool; 3] },
    Mux { order: [usize; 3], negate_true: bool, negate_false: bool },
}

static SHAPES: LazyLock<[Option<Shape>; 256]> = LazyLock::new(|| {
    let mut shapes = [None; 256];
    for [s, t, f] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for (negate_true, negate_false) in [(false, false), (false, true), (true, false), (true, true)] {
            let flip = |negate: bool, table: u8| if negate { !table } else { table };
            let (if_true, if_false) = (flip(negate_true, VARIABLE[t]), flip(negate_false, VARIABLE[f]));
            let table = VARIABLE[s] & if_true | !VARIABLE[s] & if_false;
            shapes[usize::from(table)] = Some(Shape::Mux { order: [s, t, f], negate_true, negate_false });
        }
    }
    for mask in 0..8 {
        let negate = [0, 1, 2].map(|k| mask >> k & 1 == 1);
        let [a, b, c] = [0, 1, 2].map(|k| if negate[k] { !VARIABLE[k] } else { VARIABLE[k] });
        shapes[usize::from(a & b | c & (a ^ b))] = Some(Shape::Majority { negate });
    }
    let parity = VARIABLE[0] ^ VARIABLE[1] ^ VARIABLE[2];
    shapes[usize::from(parity)] = Some(Shape::Parity { negate: false });
    shapes[usize::from(!parity)] = Some(Shape::Parity { negate: true });
    shapes
});

impl Shape {
    /// The gate with that truth table; `None` if no single gate has it. Bit `a + 2b + 4c` is the value at `(a, b, c)`.
    pub(crate) fn from_truth_table(table: u8) -> Option<Self> {
        SHAPES[usize::from(table)]
    }

    fn build(self, b: &mut Builder, leaves: [NodeId; 3]) -> NodeId {
        match self {
            Self::Parity { negate } => {
                let [x, y, z] = leaves;
                let id = b.xor3(x, y, z);
                b.not_if(negate, id)
            }
            Self::Majority { negate } => {
                let [x, y, z] = [0, 1, 2].map(|k| b.not_if(negate[k], leaves[k]));
                b.maj(x, y, z)
            }
            Self::Mux { order: [s, t, f], negate_true, negate_false } => {
                let (t, f) = (b.not_if(negate_true, leaves[t]), b.not_if(negate_false, leaves[f]));
                b.mux(leaves[s], t, f)
            }
        }
    }
}

/// Whether a truth table of three variables depends on variable `k`.
pub(crate) fn depends_on(table: u8, k: usize) -> bool {
    (table & VARIABLE[k]) >> (1 << k) != table & !VARIABLE[k]
}

/// One gate, with NOTs if needed, that computes a truth table of at most three inputs. Bit `a + 2b + 4c` is the value at `(a, b, c)`; the table does not
/// depend on missing inputs. `None` if no single gate computes it.
pub(crate) fn function(b: &mut Builder, table: u8, inputs: &[NodeId]) -> Option<NodeId> {
    let needed: Vec<usize> = (0..3).filter(|&k| depends_on(table, k)).collect();
    let at = |index: usize| table >> index & 1;
    match needed[..] {
        [] => Some(b.constant(at(0) == 1)),
        [k] => {
            let input = *inputs.get(k)?;
            Some(b.not_if(at(0) == 1, input))
        }
        [j, k] => {
            let pairs = [0, 1 << j, 1 << k, 1 << j | 1 << k];
            let op = BinaryOp::from_truth_table(pairs.iter().enumerate().map(|(i, &index)| at(index) << i).sum())?;
            Some(b.binary(op, *inputs.get(j)?, *inputs.get(k)?))
        }
        _ => Some(Shape::from_truth_table(table)?.build(b, inputs.try_into().ok()?)),
    }
}
