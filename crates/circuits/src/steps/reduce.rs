//! How reductions are computed: in levels of groups of neighbours.

use crate::Error;
use crate::program::{Function, How, Node, Op, Program, ProgramBuilder, Type, ValueId};

/// Neighbours that one level of a long reduction combines.
pub const FAN_IN: usize = 16;
/// The most elements that one kernel combines. A sum of them carries once.
pub const UNROLLED: usize = 256;
/// The most operations of a kernel of a function, and bits of a kernel of another reduction, so that a plan stays small.
const SIZE: (usize, usize) = (1 << 12, 1 << 14);

/// A level of a reduction. Elements that are in no group pass on unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Elements of a group.
    pub neighbours: usize,
    /// Number of groups.
    pub groups: usize,
    /// Elements that pass on.
    pub rest: usize,
}

/// The most elements of a type that one kernel combines.
#[must_use]
pub fn most(program: &Program, how: How, ty: Type) -> usize {
    match how {
        How::Sum => UNROLLED,
        How::Function(index) => match program.functions.get(index as usize) {
            Some(Function::Program(function)) => (SIZE.0 / function.nodes.len().max(1)).clamp(2, UNROLLED),
            _ => 2,
        },
        _ => (SIZE.1 / ty.width()).clamp(FAN_IN, UNROLLED),
    }
}

/// The levels of a reduction of `count` elements, of which one kernel combines at [`most`] `most`. The last ones are one group. Before that, groups are small, so
/// that they run side by side.
#[must_use]
pub fn levels(mut count: usize, most: usize) -> Vec<Level> {
    let mut levels = Vec::new();
    while count > 1 {
        let neighbours = if count <= most { count } else { FAN_IN.min(most).max(2) };
        let (groups, rest) = (count / neighbours, count % neighbours);
        levels.push(Level { neighbours, groups, rest });
        count = groups + rest;
    }
    levels
}

/// The kernel that combines neighbours: a tree of an operation or of a function, or one sum. Neighbours of another type are cast first.
///
/// # Errors
/// [`Error::OperandTypes`] for a type that the operation does not take.
pub fn kernel(program: &Program, how: How, (from, ty): (Type, Type), neighbours: usize) -> Result<Program, Error> {
    if let How::Function(index) = how
        && let Some(Function::Program(function)) = program.functions.get(index as usize)
    {
        return if neighbours == 2 { Ok(function.clone()) } else { tree_of(function, neighbours) };
    }
    let mut builder = ProgramBuilder::new();
    let input = |place| builder.input(format!("x{place}"), from);
    let mut values: Vec<ValueId> = (0..neighbours).map(input).collect::<Result<_, _>>()?;
    if from != ty {
        values = values.into_iter().map(|value| builder.cast(value, ty)).collect::<Result<_, _>>()?;
    }
    if how == How::Sum {
        values = vec![builder.sum(&values)?];
    }
    let value = tree(values, |a, b| builder.op(how.op(), &[a, b]))?;
    builder.output("result", value);
    builder.finish()
}

/// Combines neighbours until one is left.
fn tree<T: Clone>(mut row: Vec<T>, mut join: impl FnMut(T, T) -> Result<T, Error>) -> Result<T, Error> {
    while let [_, _, ..] = row[..] {
        let pair = |pair: &[T]| match pair {
            [a, b] => join(a.clone(), b.clone()),
            _ => Ok(pair[0].clone()),
        };
        row = row.chunks(2).map(pair).collect::<Result<_, _>>()?;
    }
    row.pop().ok_or(Error::WrongCount { what: "values", expected: 1, got: 0 })
}

/// The program that combines several elements by a function.
fn tree_of(function: &Program, neighbours: usize) -> Result<Program, Error> {
    let mut builder = ProgramBuilder::new();
    let types = function.output_types();
    let mut element = |place: usize| -> Result<Vec<ValueId>, Error> {
        types.iter().enumerate().map(|(k, &ty)| builder.input(format!("x{place}_{k}"), ty)).collect()
    };
    let row = (0..neighbours).map(&mut element).collect::<Result<Vec<_>, _>>()?;
    let mut joint = builder.unchecked();
    let values = tree(row, |left, right| {
        let args: Vec<ValueId> = left.into_iter().chain(right).collect();
        let mut values: Vec<ValueId> = Vec::with_capacity(function.nodes.len());
        for Node { op, args: of, ty } in &function.nodes {
            values.push(match op {
                Op::Input(index) => args[*index as usize],
                op => {
                    let args = of.iter().map(|arg| values[arg.0 as usize]).collect();
                    joint.nodes.push(Node { op: op.clone(), args, ty: *ty });
                    ValueId(joint.nodes.len() as u32 - 1)
                }
            });
        }
        Ok(function.outputs.iter().map(|output| values[output.value.0 as usize]).collect::<Vec<_>>())
    })?;
    for (value, output) in values.into_iter().zip(&function.outputs) {
        joint.outputs.push(crate::program::Output { name: output.name.clone(), value });
    }
    joint.validate()?;
    Ok(joint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_with_one_element() {
        let of = |count, most| -> Vec<(usize, usize)> {
            levels(count, most).into_iter().map(|level| (level.neighbours, level.groups)).collect()
        };
        assert_eq!(of(1, 16), []);
        assert_eq!(of(2, 16), [(2, 1)]);
        assert_eq!(of(17, 16), [(16, 1), (2, 1)]);
        assert_eq!(of(255, 16), [(16, 15), (16, 1), (15, 1)]);
        assert_eq!(of(4096, 16), [(16, 256), (16, 16), (16, 1)]);
        assert_eq!(of(5, 2), [(2, 2), (2, 1), (2, 1)]);
        assert_eq!(of(256, 256), [(256, 1)]);
        assert_eq!(of(1000, 256), [(16, 62), (70, 1)]);
    }

    #[test]
    fn a_kernel_of_a_function_keeps_the_order() {
        let ty = Type::Uint(8);
        let mut builder = ProgramBuilder::new();
        let [a, b] = ["a", "b"].map(|name| builder.input(name, ty).unwrap());
        let sum = builder.sum(&[a, a, b]).unwrap();
        builder.output("result", sum);
        let function = builder.finish().unwrap();
        let program = Program { functions: vec![Function::Program(function)], ..Program::default() };
        let kernel = kernel(&program, How::Function(0), (ty, ty), 5).unwrap();
        // ((a b) (c d)) e, with 2 x + y for x y.
        let [a, b, c, d, e] = [1u128, 2, 3, 4, 5];
        let want = 2 * (2 * (2 * a + b) + (2 * c + d)) + e;
        assert_eq!(kernel.evaluate(&[a, b, c, d, e]).unwrap(), [want]);
    }
}
