//! Programs on arrays as programs of single values, for what runs single values.

use super::arrays::moved;
use super::{Axes, How, Input, Node, Op, Output, Program, Shape, Type, ValueId};
use crate::Error;

/// The most values of all nodes together, so that a short file with large arrays takes little memory.
const MAX_VALUES: usize = 1 << 20;

impl Program {
    /// The shape of each node where inputs of any shape are scalars. Packed values may be moved as wholes.
    pub(super) fn declared_shapes(&self) -> Result<Vec<Shape>, Error> {
        let shapes: Vec<Shape> = self.inputs.iter().map(|input| input.shape.clone().unwrap_or_default()).collect();
        self.shapes_of_wholes(&shapes)
    }

    /// The program of single values: each element of an input of a given shape is an input, each element of an output is an output, and each operation on
    /// arrays is one for each element. Inputs of any shape stay as they are.
    ///
    /// # Errors
    /// [`Error::NotScalar`] for calls and for reductions of other than packed values; the errors of [`Program::at`].
    pub fn scalars(&self) -> Result<Self, Error> {
        self.validate()?;
        let shapes = self.declared_shapes()?;
        let all = shapes.iter().fold(0usize, |sum, shape| sum.saturating_add(shape.size()));
        if all > MAX_VALUES {
            return Err(Error::TooLarge { what: "single values of arrays", got: all as u64, limit: MAX_VALUES as u64 });
        }
        let mut flat = Self::default();
        let mut first = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            first.push(flat.inputs.len());
            match &input.shape {
                Some(shape) if !shape.is_empty() => {
                    let name = |at| format!("{}[{at}]", input.name);
                    flat.inputs.extend((0..shape.size()).map(|at| Input { name: name(at), ty: input.ty, shape: None }));
                }
                _ => flat.inputs.push(Input { shape: None, ..input.clone() }),
            }
        }
        // The values of the elements of each node.
        let mut values: Vec<Vec<ValueId>> = Vec::with_capacity(self.nodes.len());
        for (index, (node, shape)) in self.nodes.iter().zip(&shapes).enumerate() {
            let args: Vec<(&Shape, &[ValueId])> =
                node.args.iter().map(|arg| (&shapes[arg.0 as usize], &values[arg.0 as usize][..])).collect();
            let operands = |lane: usize| args.iter().map(move |(own, all)| all[own.index_in(shape, lane)]).collect();
            let packed = node.ty.is_packed() && args.iter().all(|(shape, _)| shape.is_empty());
            let found = match &node.op {
                Op::Input(input) => {
                    let at = first[*input as usize];
                    (at..at + shape.size()).map(|at| flat.add(Op::Input(at as u32), Vec::new(), node.ty)).collect()
                }
                Op::Array { values, .. } => {
                    values.iter().map(|value| flat.add(Op::Const(value.clone()), Vec::new(), node.ty)).collect()
                }
                op if op.is_move() => moved(op, &args, shape),
                Op::Reduce { how: How::Sum, axes: Axes::All } if packed => {
                    vec![flat.add(Op::SumElements, operands(0), node.ty)]
                }
                Op::Roll { by, axes: Axes::All } if packed => {
                    vec![flat.add(Op::RotateElements(*by), operands(0), node.ty)]
                }
                op if op.is_elementwise() || matches!(op, Op::Const(_) | Op::SumElements | Op::RotateElements(_)) => {
                    (0..shape.size()).map(|lane| flat.add(op.clone(), operands(lane), node.ty)).collect()
                }
                op => return Err(Error::NotScalar { op: op.name(), node: index }),
            };
            values.push(found);
        }
        for output in &self.outputs {
            let at = output.value.0 as usize;
            let name =
                |place| if shapes[at].is_empty() { output.name.clone() } else { format!("{}[{place}]", output.name) };
            flat.outputs
                .extend(values[at].iter().enumerate().map(|(place, &value)| Output { name: name(place), value }));
        }
        flat.validate()?;
        Ok(flat)
    }

    fn add(&mut self, op: Op, args: Vec<ValueId>, ty: Type) -> ValueId {
        self.nodes.push(Node { op, args, ty });
        ValueId(self.nodes.len() as u32 - 1)
    }
}
