//! How reductions are computed: in levels of small groups of neighbours.

use crate::Error;
use crate::program::{Function, How, Program, ProgramBuilder, Type, ValueId};

/// Neighbours that one level of a built-in reduction combines.
pub const FAN_IN: usize = 16;
/// The most numbers that one kernel sums. Such a sum carries once.
pub const UNROLLED: usize = 256;

/// A level of a reduction: the number of neighbours in a group, and the number of groups. Elements that are in no group pass on unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) neighbours: usize,
    pub(super) groups: usize,
    pub(super) rest: usize,
}

/// The levels of a reduction of `count` elements.
pub(super) fn levels(how: How, mut count: usize) -> Vec<Level> {
    let mut levels = Vec::new();
    while count > 1 {
        let neighbours = match how {
            How::Function(_) => 2,
            How::Sum if count <= UNROLLED => count,
            _ => FAN_IN.min(count),
        };
        let (groups, rest) = (count / neighbours, count % neighbours);
        levels.push(Level { neighbours, groups, rest });
        count = groups + rest;
    }
    levels
}

/// The kernel that combines neighbours: a tree of an operation, one sum, or a function.
pub(super) fn kernel(program: &Program, how: How, ty: Type, neighbours: usize) -> Result<Program, Error> {
    if let How::Function(index) = how
        && let Some(Function::Program(function)) = program.functions.get(index as usize)
    {
        return Ok(function.clone());
    }
    let mut builder = ProgramBuilder::new();
    let input = |place| builder.input(format!("x{place}"), ty);
    let mut values: Vec<ValueId> = (0..neighbours).map(input).collect::<Result<_, _>>()?;
    if how == How::Sum {
        values = vec![builder.sum(&values)?];
    }
    while let [_, _, ..] = values[..] {
        let pair = |pair: &[ValueId]| match *pair {
            [a, b] => builder.op(how.op(), &[a, b]),
            _ => Ok(pair[0]),
        };
        values = values.chunks(2).map(pair).collect::<Result<_, _>>()?;
    }
    builder.output("result", values[0]);
    builder.finish()
}
