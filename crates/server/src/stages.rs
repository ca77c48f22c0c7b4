//! The stages of a job: programs that run one after the other. A job without a reduction has one. A reduction has one for each level, after that of its
//! program. If its results hide the program, a reduction has a last stage for that, and other work does it in its only stage.

use crate::error::Problem;
use crate::task::Task;
use solinas_runtime::{
    self as runtime, Ciphertext, Control, Input, Inputs, Level, Plan, Prepared, Reduced, Server, Type,
};

impl Task {
    fn levels(&self) -> &[Level] {
        self.reduction.as_ref().map_or(&[], |reduction| &reduction.levels)
    }

    /// Number of stages before the first level.
    fn before_levels(&self) -> usize {
        usize::from(self.source.is_some())
    }

    /// Plans all stages. Only the first one can run now.
    pub(crate) fn plan(&self, control: &Control<'_>) -> Result<Vec<Prepared>, Problem> {
        let first = self.source.as_ref().map(|source| self.prepare(source, None, control)).transpose()?;
        let levels = match (&first, &self.inputs[..]) {
            (Some(first), _) => self.server.prepare_levels(self.levels(), Reduced::Result(first), control)?,
            (None, [Input::Encrypted(array), ..]) => {
                self.server.prepare_levels(self.levels(), Reduced::Array(array), control)?
            }
            (None, _) => Vec::new(),
        };
        let stages = first.into_iter().chain(levels).collect();
        let reduced = self.reduction.as_ref().map(|reduction| reduction.ty);
        if self.private_program { hidden(&self.server, stages, reduced, control) } else { Ok(stages) }
    }

    /// The array from which a run begins: that of an earlier run, with the number of its stage, or the only input. None if a program comes first.
    pub(crate) fn start(&self, kept: Option<Ciphertext>) -> (usize, Option<Ciphertext>) {
        // Each level takes fewer elements than the one before, so their number tells the level.
        let hides = |array: &Ciphertext| (self.private_program && array.len() == 1).then_some(self.levels().len());
        let level = |array: &Ciphertext| {
            self.levels().iter().position(|level| level.elements() == array.len()).or_else(|| hides(array))
        };
        if let Some((level, array)) = kept.and_then(|array| Some((level(&array)?, array))) {
            return (self.before_levels() + level, Some(array));
        }
        match (&self.source, &self.inputs[..]) {
            (None, [Input::Encrypted(array), ..]) => (0, Some(array.clone())),
            _ => (0, None),
        }
    }

    /// Plans a stage on the array of the stage before, or takes a plan.
    pub(crate) fn prepare_stage(
        &self,
        number: usize,
        array: Option<&Ciphertext>,
        plan: Option<&Plan>,
        control: &Control<'_>,
    ) -> Result<Prepared, Problem> {
        let level = number.checked_sub(self.before_levels()).and_then(|level| self.levels().get(level));
        match (&self.source, level, array) {
            (Some(source), None, _) if number == 0 => {
                let prepared = self.prepare(source, plan, control)?;
                Ok(prepared.private_program(self.private_program && self.reduction.is_none())?)
            }
            (_, None, Some(array)) if self.private_program && number == self.before_levels() + self.levels().len() => {
                Ok(self.server.prepare_private(array.ty(), std::slice::from_ref(array), control)?)
            }
            (_, Some(level), Some(array)) => Ok(self.server.prepare_level(level, array, plan, control)?),
            _ => Err(runtime::Error::Internal("a job has a stage too many".into()).into()),
        }
    }

    /// The array that the next stage takes. None if there is no reduction.
    pub(crate) fn next(
        &self,
        number: usize,
        array: Option<&Ciphertext>,
        results: &[Ciphertext],
    ) -> Result<Option<Ciphertext>, Problem> {
        let level = number.checked_sub(self.before_levels()).and_then(|level| self.levels().get(level));
        Ok(match (level, array, results) {
            (Some(level), Some(array), _) => Some(level.next(array, results.to_vec())?),
            (None, _, [mapped]) if self.reduction.is_some() => Some(mapped.slice(0..mapped.len())?),
            _ => None,
        })
    }
}

/// The stages with what hides the program. `reduced` is the type of the only result of a reduction.
///
/// # Errors
/// For a key whose results cannot hide the program.
pub(crate) fn hidden(
    server: &Server,
    mut stages: Vec<Prepared>,
    reduced: Option<Type>,
    control: &Control<'_>,
) -> Result<Vec<Prepared>, Problem> {
    match reduced {
        Some(ty) => stages.push(server.prepare_private(ty, Inputs::Fresh { instances: 1 }, control)?),
        None => {
            stages = stages.into_iter().map(|stage| stage.private_program(true)).collect::<Result<_, _>>()?;
        }
    }
    Ok(stages)
}
