//! What the record of a job says: its key, its program, its inputs, and its steps.

use crate::id::Digest;
use serde::{Deserialize, Serialize};
use solinas_runtime::{Estimate, Prepared, StepSchedule};

/// An input of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum InputSpec {
    /// A ciphertext that was uploaded.
    Blob(Digest),
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
            Self::Blob(digest) => Some(digest),
            Self::Constant(_) => None,
        }
    }
}

/// What a worker reads of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) key: String,
    /// The program or circuit.
    pub(crate) program: Digest,
    pub(crate) inputs: Vec<InputSpec>,
    /// Whether the results are compact.
    pub(crate) compact: bool,
    /// Whether the results hide the program.
    pub(crate) private_program: bool,
    /// Whether the results name their plan.
    pub(crate) auditable: bool,
    /// The plan, which is fixed when the job is accepted. None for schemes without plans, and for inputs that are converted first.
    pub(crate) plan: Option<Digest>,
    /// The steps, in order.
    pub(crate) steps: Vec<Step>,
    /// What [`App::effort`](crate::app::App::effort) said of all steps.
    pub(crate) effort: f64,
}

impl Spec {
    /// All bootstraps.
    pub(crate) fn bootstraps(&self) -> u64 {
        self.steps.iter().map(Step::bootstraps).sum()
    }

    /// The expected work. It is positive.
    pub(crate) fn effort(&self) -> f64 {
        if self.effort > 0.0 { self.effort } else { self.bootstraps().max(1) as f64 }
    }
}

/// A step, as the record of a job has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// Elements that run side by side.
    pub(crate) lanes: u64,
    /// Bootstraps of each wave, for one lane. Without a plan, all operations of a job are one wave of one lane.
    pub(crate) waves: Vec<u64>,
}

impl Step {
    /// The steps of prepared work with a plan.
    pub(crate) fn of(prepared: &Prepared) -> Vec<Self> {
        let of = |StepSchedule { lanes, waves }| Self { lanes: lanes as u64, waves };
        prepared.schedule().into_iter().map(of).collect()
    }

    /// The only step of work without a plan.
    pub(crate) fn whole(count: &Estimate) -> Self {
        Self { lanes: 1, waves: vec![count.operations().max(1)] }
    }

    /// All bootstraps.
    pub(crate) fn bootstraps(&self) -> u64 {
        self.waves.iter().sum::<u64>() * self.lanes
    }
}
