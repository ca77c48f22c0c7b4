//! Reductions: an associative operation on all elements of an array.

use crate::{Ciphertext, Control, Error, Plan, Prepared, Progress, Server, Type, Work, memory};
use solinas_circuits::program::{Function, How, Program};
use solinas_circuits::steps;
use solinas_circuits::steps::reduce::{kernel, levels, most};
use std::sync::Arc;

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

impl Reduction<'static> {
    /// The built-in reductions.
    const BUILT_IN: [Self; 5] = [Self::Sum, Self::Min, Self::Max, Self::Any, Self::All];

    /// The built-in reduction of this name: `sum`, `min`, `max`, `any` or `all`.
    pub fn named(name: &str) -> Option<Self> {
        Self::BUILT_IN.into_iter().find(|reduction| reduction.name() == Some(name))
    }
}

impl Reduction<'_> {
    /// The name. None for a program.
    pub const fn name(&self) -> Option<&'static str> {
        match self {
            Self::Sum => Some("sum"),
            Self::Min => Some("min"),
            Self::Max => Some("max"),
            Self::Any => Some("any"),
            Self::All => Some("all"),
            Self::Program(_) => None,
        }
    }

    /// How a program names it.
    const fn how(&self) -> How {
        match self {
            Self::Sum => How::Sum,
            Self::Min => How::Min,
            Self::Max => How::Max,
            Self::Any => How::Or,
            Self::All => How::And,
            Self::Program(_) => How::Function(0),
        }
    }

    /// The functions of a program that it names.
    fn holder(&self) -> Program {
        let function = match self {
            Self::Program(program) => Some(Function::Program((*program).clone())),
            _ => None,
        };
        Program { functions: function.into_iter().collect(), ..Program::default() }
    }

    /// The program that combines neighbours.
    fn program(&self, ty: Type, count: usize) -> Result<Program, Error> {
        Ok(kernel(&self.holder(), self.how(), (ty, ty), count)?)
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

/// A level of a reduction: a program that combines each group of neighbours in an array into one element.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Shared by the levels of one kind: a short array has few, but their number is not bounded by the size of a request.
    program: Arc<Program>,
    neighbours: usize,
    groups: usize,
    elements: usize,
}

impl Level {
    /// Number of elements of the array that the level takes. Every level takes fewer than the one before.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The array of the first neighbours of all groups, that of the second ones, and so on.
    fn columns(&self, array: &Ciphertext) -> Result<Vec<Ciphertext>, Error> {
        let column = |place: usize| {
            let elements = (0..self.groups)
                .map(|group| array.get(group * self.neighbours + place))
                .collect::<Result<Vec<_>, _>>()?;
            Ciphertext::stack(elements)
        };
        (0..self.neighbours).map(column).collect()
    }

    /// Returns the array that the next level takes, from the array of this level and the results of its program. After
    /// the last level it holds one element.
    ///
    /// # Errors
    /// [`Error::Index`] for an array of another length; those of [`Ciphertext::stack`].
    pub fn next(&self, array: &Ciphertext, mut results: Vec<Ciphertext>) -> Result<Ciphertext, Error> {
        let combined = self.groups * self.neighbours;
        if combined < self.elements {
            results.push(array.slice(combined..self.elements)?);
        }
        Ciphertext::stack(results)
    }
}

/// What a reduction combines.
#[derive(Debug, Clone, Copy)]
pub enum Reduced<'a> {
    /// An array.
    Array(&'a Ciphertext),
    /// The only result of work that has not run.
    Result(&'a Prepared),
}

impl Reduction<'_> {
    /// Returns the levels of the reduction of an array of `len` elements of a type. An array of one element has none.
    ///
    /// # Errors
    /// [`Error::Request`] for another type, and for a program that does not take two elements and return one element of
    /// the same type.
    pub fn levels(&self, ty: Type, len: usize) -> Result<Vec<Level>, Error> {
        self.check(ty)?;
        let mut elements = len;
        let mut last: Option<(usize, Arc<Program>)> = None;
        let level = |steps::reduce::Level { neighbours, groups, .. }| {
            let program = match &last {
                Some((count, program)) if *count == neighbours => Arc::clone(program),
                _ => Arc::new(self.program(ty, neighbours)?),
            };
            last = Some((neighbours, Arc::clone(&program)));
            let level = Level { program, neighbours, groups, elements };
            elements = groups + elements % neighbours;
            Ok(level)
        };
        levels(len, most(&self.holder(), self.how(), ty)).into_iter().map(level).collect()
    }
}

impl Server {
    /// Plans the levels of a reduction before the first one runs. The plans are those of [`Self::prepare_level`], unless
    /// the array holds a ciphertext several times. Only the first level of a given array can run.
    ///
    /// # Errors
    /// Those of [`Self::prepare`].
    pub fn prepare_levels(
        &self,
        levels: &[Level],
        reduced: Reduced<'_>,
        control: &Control<'_>,
    ) -> Result<Vec<Prepared>, Error> {
        let mut all: Vec<Prepared> = Vec::new();
        let mut weight = match reduced {
            Reduced::Array(array) => array.elements.noise(),
            Reduced::Result(prepared) => prepared.weight(),
        };
        for level in levels {
            let prepared = match reduced {
                Reduced::Array(array) if all.is_empty() => self.prepare_level(level, array, None, control)?,
                _ => Prepared::expected(self, &level.program, level.groups, weight, control)?,
            };
            // Elements that pass to the next level keep their noise.
            let passes = level.groups * level.neighbours < level.elements;
            weight = prepared.weight().max(if passes { weight } else { 0 });
            all.push(prepared);
        }
        Ok(all)
    }

    /// Plans a level of a reduction on its array, or takes a plan of [`Self::prepare_levels`] if it allows the noise of
    /// the array. [`Level::next`] takes the results of [`Prepared::run`].
    ///
    /// # Errors
    /// [`Error::Request`] for an array of another length; those of [`Self::prepare_pinned`] and [`Self::prepare`].
    pub fn prepare_level(
        &self,
        level: &Level,
        array: &Ciphertext,
        plan: Option<&Plan>,
        control: &Control<'_>,
    ) -> Result<Prepared, Error> {
        if array.len() != level.elements {
            return Err(Error::Request {
                what: format!("a level of {} elements got an array of {}", level.elements, array.len()),
                help: "run the levels in order".into(),
            });
        }
        // The columns hold full ciphertexts, and the array beside them.
        let params = self.params();
        let need = params.encrypted_bytes(array.ty(), Some(array.len()));
        memory::check_within(self.room()?, "the columns of a reduction", &params, need, memory::FEWER)?;
        let columns = level.columns(array)?;
        let work = Work::program(&level.program, &columns);
        match plan.map(|plan| self.prepare_pinned(work.clone(), plan, control)) {
            None | Some(Err(Error::OtherPlan { .. })) => self.prepare(work, control),
            Some(prepared) => prepared,
        }
    }

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
        let levels = reduction.levels(array.ty(), array.len())?;
        if array.shape().is_none() {
            return Err(Error::Request {
                what: "a reduction takes an array, and this is one value".into(),
                help: "encrypt several values as an array".into(),
            });
        }
        let mut row = array.slice(0..array.len())?;
        let expected = self.prepare_levels(&levels, Reduced::Array(&row), &control.without_progress())?;
        let steps = |prepared: &Prepared| {
            let cost = prepared.count()?;
            Ok(cost.bootstraps + cost.recrypts + cost.products)
        };
        let steps = expected.iter().map(steps).collect::<Result<Vec<u64>, Error>>()?;
        let total: u64 = steps.iter().sum();
        let mut done = 0;
        for (level, steps) in levels.iter().zip(steps) {
            let report = |part: Progress| control.report(done + part.done.saturating_mul(steps) / part.total, total);
            let of_level = Control { progress: control.progress.is_some().then_some(&report), ..*control };
            row = level.next(&row, self.prepare_level(level, &row, None, control)?.run(&of_level)?)?;
            done += steps;
        }
        row.get(0)
    }
}
