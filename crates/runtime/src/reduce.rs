//! Reductions: an associative operation on all elements of an array.

use crate::{Ciphertext, Control, Error, Inputs, Progress, Server, Type, Work};
use solinas_circuits::program::{Op, Program, ProgramBuilder, ValueId};

/// Neighbours that one level of a built-in reduction combines. A sum of these few numbers carries once.
const FAN_IN: usize = 16;

/// An associative operation on the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Reduction<'a> {
    /// The sum of integers, wrapping.
    Sum,
    /// The smallest integer.
    Min,
    /// The largest integer.
    Max,
    /// Whether any bool is true.
    Any,
    /// Whether every bool is true.
    All,
    /// A program of two values of one type, whose result has their type. It is associative: `f(f(a, b), c)` is `f(a, f(b, c))`.
    Program(&'a Program),
}

impl Reduction<'_> {
    /// Neighbours that one level combines.
    const fn fan_in(&self) -> usize {
        if matches!(self, Self::Program(_)) { 2 } else { FAN_IN }
    }

    /// The program that combines neighbours.
    fn program(&self, ty: Type, count: usize) -> Result<Program, Error> {
        let op = match self {
            Self::Program(program) => return Ok((*program).clone()),
            Self::Sum => None,
            Self::Min => Some(Op::Min),
            Self::Max => Some(Op::Max),
            Self::Any => Some(Op::Or),
            Self::All => Some(Op::And),
        };
        let mut builder = ProgramBuilder::new();
        let mut values: Vec<ValueId> =
            (0..count).map(|place| builder.input(format!("x{place}"), ty)).collect::<Result<_, _>>()?;
        let result = match op {
            None => builder.sum(&values)?,
            Some(op) => {
                while let [_, _, ..] = values[..] {
                    let pair = |pair: &[ValueId]| match *pair {
                        [a, b] => builder.op(op.clone(), &[a, b]),
                        _ => Ok(pair[0]),
                    };
                    values = values.chunks(2).map(pair).collect::<Result<_, _>>()?;
                }
                values[0]
            }
        };
        builder.output("result", result);
        Ok(builder.finish()?)
    }

    /// Checks that the operation takes elements of a type.
    fn check(&self, ty: Type) -> Result<(), Error> {
        let takes = |want: &str, what: &str| Error::Request {
            what: format!("{what} takes an array of {want}, and this one holds {ty}"),
            help: "convert the elements first".into(),
        };
        match self {
            Self::Any | Self::All if ty != Type::Bool => Err(takes("bool", "any or all")),
            Self::Sum | Self::Min | Self::Max if !matches!(ty, Type::Uint(_) | Type::Int(_)) => {
                Err(takes("integers", "a sum, a minimum or a maximum"))
            }
            Self::Program(program) => {
                program.validate()?;
                let (inputs, outputs) = (program.input_types(), program.output_types());
                if inputs == [ty; 2] && outputs == [ty] {
                    return Ok(());
                }
                let list = |types: &[Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                Err(Error::Request {
                    what: format!(
                        "the program of a reduction takes ({}) and returns ({}), and the array holds {ty}",
                        list(&inputs),
                        list(&outputs)
                    ),
                    help: format!("give a program of ({ty}, {ty}) that returns {ty}"),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the levels of a reduction of `len` elements, as pairs of the number of neighbours in a group and the number
/// of groups. A level combines each group into one element. Elements that are in no group pass to the next level
/// unchanged.
fn levels(mut len: usize, fan_in: usize) -> Vec<(usize, usize)> {
    let mut levels = Vec::new();
    while len > 1 {
        let neighbours = fan_in.min(len);
        let groups = len / neighbours;
        levels.push((neighbours, groups));
        len = groups + len % neighbours;
    }
    levels
}

impl Server {
    /// Combines all elements of an array by an associative operation, in row order. Returns a scalar. Neighbours are
    /// combined level by level, so the work consists of a few programs. Their size does not depend on the length of the
    /// array.
    ///
    /// # Errors
    /// [`Error::Request`] for a scalar, for another type, and for a program that does not take two elements and return
    /// one element of the same type. [`Error::Packed`] if elements share ciphertexts. The errors of [`Self::run`].
    pub fn reduce(
        &self,
        reduction: Reduction<'_>,
        array: &Ciphertext,
        control: &Control<'_>,
    ) -> Result<Ciphertext, Error> {
        let ty = array.ty();
        reduction.check(ty)?;
        if array.shape().is_none() {
            return Err(Error::Request {
                what: "a reduction takes an array, and this is one value".into(),
                help: "encrypt several values as an array".into(),
            });
        }
        let levels = levels(array.len(), reduction.fan_in());
        let programs =
            levels.iter().map(|&(count, _)| reduction.program(ty, count)).collect::<Result<Vec<_>, Error>>()?;
        let mut steps = Vec::new();
        for (program, &(_, groups)) in programs.iter().zip(&levels) {
            let work = Work::program(program, Inputs::Fresh { instances: groups });
            let cost = self.prepare(work, &control.without_progress())?.count()?;
            steps.push(cost.bootstraps + cost.recrypts + cost.products);
        }
        let total: u64 = steps.iter().sum();
        let mut row = array.slice(0..array.len())?;
        let mut done = 0;
        for ((program, (count, groups)), steps) in programs.iter().zip(levels).zip(steps) {
            let column = |place: usize| {
                let elements =
                    (0..groups).map(|group| row.get(group * count + place)).collect::<Result<Vec<_>, _>>()?;
                Ciphertext::stack(elements)
            };
            let columns = (0..count).map(column).collect::<Result<Vec<_>, Error>>()?;
            let report = |part: Progress| control.report(done + part.done.saturating_mul(steps) / part.total, total);
            let level = Control { progress: control.progress.is_some().then_some(&report), ..*control };
            let mut parts = self.run(Work::program(program, &columns), &level)?;
            if groups * count < row.len() {
                parts.push(row.slice(groups * count..row.len())?);
            }
            row = Ciphertext::stack(parts)?;
            done += steps;
        }
        row.get(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_with_one_element() {
        assert_eq!(levels(1, 16), []);
        assert_eq!(levels(2, 16), [(2, 1)]);
        assert_eq!(levels(16, 16), [(16, 1)]);
        assert_eq!(levels(17, 16), [(16, 1), (2, 1)]);
        assert_eq!(levels(255, 16), [(16, 15), (16, 1), (15, 1)]);
        assert_eq!(levels(4096, 16), [(16, 256), (16, 16), (16, 1)]);
        assert_eq!(levels(5, 2), [(2, 2), (2, 1), (2, 1)]);
    }
}
