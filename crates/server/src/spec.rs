//! What the record of a job says: its key, its program, its inputs, and its stages.

use crate::error::Problem;
use crate::id::Digest;
use serde::{Deserialize, Serialize};
use solinas_runtime::{self as runtime, Estimate, Plan, Prepared};

/// An input of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum InputSpec {
    /// A ciphertext that was uploaded.
    Blob(Digest),
    /// The elements of an array that was uploaded, each as an input of its own.
    Elements(Digest),
    /// Values that the service sees.
    Constant(Constant),
}

/// Values that the service sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Constant {
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The elements, row by row, as texts.
    pub(crate) values: Vec<String>,
    /// The shape of an array. Without it, there is one value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shape: Option<Vec<usize>>,
}

impl InputSpec {
    /// The digest of an uploaded ciphertext.
    pub(crate) fn digest(&self) -> Option<&Digest> {
        match self {
            Self::Blob(digest) | Self::Elements(digest) => Some(digest),
            Self::Constant(_) => None,
        }
    }
}

/// What a job computes, without its inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Computation {
    /// The program or circuit. Of a reduction, it is that of each element, if there is one.
    pub(crate) program: Option<Digest>,
    /// How the elements of the only result of the program, or of the only input, are combined.
    pub(crate) reduce: Option<ReduceSpec>,
}

/// What a worker reads of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) computation: Computation,
    pub(crate) inputs: Vec<InputSpec>,
    /// Whether the results are compact.
    pub(crate) compact: bool,
    /// Whether the results hide the program.
    pub(crate) private_program: bool,
    /// Whether the results name their plan.
    pub(crate) auditable: bool,
    /// The stages, in order.
    pub(crate) stages: Vec<Stage>,
    /// What [`App::effort`](crate::app::App::effort) said of all stages.
    pub(crate) effort: f64,
}

impl Spec {
    /// The expected work. It is positive.
    pub(crate) fn effort(&self) -> f64 {
        let steps = || self.stages.iter().map(Stage::steps).sum::<u64>().max(1) as f64;
        if self.effort > 0.0 { self.effort } else { steps() }
    }
}

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
            Some(_) => (prepared.elements() as u64, prepared.waves()),
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

impl TryFrom<String> for ReduceSpec {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some(reduction) = runtime::Reduction::named(&text) {
            return Ok(Self::Named(reduction));
        }
        let wrong = |_| "`reduce` is sum, min, max, any, all, or the digest of a program".to_owned();
        text.parse().map(Self::Program).map_err(wrong)
    }
}

impl From<ReduceSpec> for String {
    fn from(spec: ReduceSpec) -> Self {
        match spec {
            ReduceSpec::Program(digest) => digest.to_string(),
            // Programs are not named.
            ReduceSpec::Named(reduction) => reduction.name().unwrap_or_default().to_owned(),
        }
    }
}

/// The number of operations that take time.
pub(crate) fn steps(count: &Estimate) -> f64 {
    let steps = count.bootstraps + count.recrypts + count.products + count.rotations;
    steps.max(1) as f64
}
