//! The stages of a job: programs that run one after the other. A job without a reduction has one. A reduction has one for each level, after that of its
//! program.

use crate::app::App;
use crate::error::{Code, Problem};
use crate::id::{Digest, Tenant};
use crate::task::{Source, Task, steps};
use serde::{Deserialize, Serialize};
use solinas_runtime::{self as runtime, Ciphertext, Control, Input, Level, Plan, Prepared, Reduced, Type};

/// A stage, as the record of a job has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stage {
    /// The plan, which is fixed when the job is accepted. None for schemes without plans, and for inputs that are converted first.
    pub(crate) plan: Option<Digest>,
    /// Elements that run side by side.
    pub(crate) elements: u64,
    /// Bootstraps of each wave, for one element. Without a plan, all steps are one wave of one element.
    pub(crate) waves: Vec<u64>,
}

impl Stage {
    /// The stage of prepared work, and its plan.
    pub(crate) fn of(prepared: &Prepared, has_plan: bool) -> Result<(Self, Option<Plan>), Problem> {
        // Inputs that are converted first are planned when they run.
        let plan = if has_plan { prepared.plan().ok() } else { None };
        let (elements, waves) = match &plan {
            Some(plan) => (prepared.elements() as u64, plan.waves()),
            None => (1, vec![steps(&prepared.count()?) as u64]),
        };
        Ok((Self { plan: None, elements, waves }, plan))
    }

    /// All bootstraps.
    pub(crate) fn steps(&self) -> u64 {
        self.waves.iter().sum::<u64>() * self.elements
    }
}

/// How elements are combined, as callers name it: `sum`, `min`, `max`, `any`, `all`, or the digest of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum ReduceSpec {
    Named(runtime::Reduction<'static>),
    Program(Digest),
}

/// The reductions that have names.
const NAMED: [(&str, runtime::Reduction<'static>); 5] = [
    ("sum", runtime::Reduction::Sum),
    ("min", runtime::Reduction::Min),
    ("max", runtime::Reduction::Max),
    ("any", runtime::Reduction::Any),
    ("all", runtime::Reduction::All),
];

impl TryFrom<String> for ReduceSpec {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some((_, reduction)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(Self::Named(*reduction));
        }
        let wrong = |_| "`reduce` is sum, min, max, any, all, or the digest of a program".to_owned();
        text.parse().map(Self::Program).map_err(wrong)
    }
}

impl From<ReduceSpec> for String {
    fn from(spec: ReduceSpec) -> Self {
        match spec {
            ReduceSpec::Program(digest) => digest.to_string(),
            ReduceSpec::Named(reduction) => {
                NAMED.iter().find(|(_, other)| *other == reduction).map_or("sum", |(name, _)| name).to_owned()
            }
        }
    }
}

/// The levels of a reduction.
pub(crate) struct Reduction(Vec<Level>);

impl App {
    /// The reduction of the result of a program, or of the only input.
    pub(crate) fn reduction(
        &self,
        tenant: &Tenant,
        how: &ReduceSpec,
        source: Option<&Source>,
        inputs: &[Input],
    ) -> Result<Reduction, Problem> {
        let length = |input: &Input| match input {
            Input::Encrypted(ciphertext) => ciphertext.shape().map(|_| ciphertext.len()),
            Input::Public(plain) => plain.shape.as_ref().map(|_| plain.values.len()),
        };
        let (ty, length) = match (source, inputs) {
            (Some(source), _) => (only_output(source)?, inputs.iter().find_map(length)),
            (None, [Input::Encrypted(array)]) => (array.ty(), length(&inputs[0])),
            (None, _) => {
                let fix = "name one uploaded array, or a program `map` of several inputs";
                return Err(Problem::new(Code::WrongType, "a reduction takes one encrypted array", fix));
            }
        };
        let length = length.ok_or_else(|| {
            Problem::new(
                Code::WrongShape,
                "a reduction takes an array, and the inputs are single values",
                "send an array",
            )
        })?;
        Ok(Reduction(self.levels(tenant, how, ty, length)?))
    }

    /// The levels of the reduction of an array of `length` elements.
    pub(crate) fn levels(
        &self,
        tenant: &Tenant,
        how: &ReduceSpec,
        ty: Type,
        length: usize,
    ) -> Result<Vec<Level>, Problem> {
        if ty.modulus().is_some() {
            let what = format!("elements of type {ty} share ciphertexts, so they cannot be combined by a reduction");
            return Err(Problem::new(Code::WrongType, what, "write a program that sums the array"));
        }
        let own = match how {
            ReduceSpec::Program(digest) => Some(match self.source(tenant, digest)? {
                Source::Program(program) => program,
                Source::Circuit(_) => return Err(no_program("reduce")),
            }),
            ReduceSpec::Named(_) => None,
        };
        let reduction = match (how, &own) {
            (ReduceSpec::Named(reduction), _) => *reduction,
            (_, Some(program)) => runtime::Reduction::Program(program),
            (_, None) => return Err(no_program("reduce")),
        };
        reduction.levels(ty, length).map_err(|error| match error {
            runtime::Error::Request { what, help } => Problem::new(Code::WrongType, what, help),
            other => other.into(),
        })
    }
}

fn no_program(field: &str) -> Problem {
    Problem::new(Code::BadProgram, format!("`{field}` is a circuit, and a reduction takes programs"), "send a program")
}

/// The type of the only output of a program.
pub(crate) fn only_output(source: &Source) -> Result<Type, Problem> {
    let Source::Program(program) = source else { return Err(no_program("map")) };
    match program.output_types()[..] {
        [ty] => Ok(ty),
        ref types => {
            let what = format!("the program `map` has {} outputs, and a reduction combines one", types.len());
            Err(Problem::new(Code::WrongType, what, "write a program with one output"))
        }
    }
}

impl Task {
    fn levels(&self) -> &[Level] {
        self.reduction.as_ref().map_or(&[], |reduction| &reduction.0)
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
        Ok(first.into_iter().chain(levels).collect())
    }

    /// The array from which a run begins: that of an earlier run, with the number of its stage, or the only input. None if a program comes first.
    pub(crate) fn start(&self, kept: Option<Ciphertext>) -> (usize, Option<Ciphertext>) {
        // Each level takes fewer elements than the one before, so their number tells the level.
        let level = |array: &Ciphertext| self.levels().iter().position(|level| level.elements() == array.len());
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
            (Some(source), None, _) if number == 0 => self.prepare(source, plan, control),
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
