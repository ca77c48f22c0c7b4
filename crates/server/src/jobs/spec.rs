//! What the record of a job says: its key, its program, its inputs, and its steps.

use crate::id::Digest;
use serde::{Deserialize, Serialize};
use solinas_engine::StepSchedule;

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
    /// The steps, in order. Without a plan, all operations are one.
    pub(crate) steps: Vec<StepSchedule>,
    /// What [`App::effort`](crate::jobs::app::App::effort) said of all steps.
    pub(crate) effort: f64,
}

impl Spec {
    /// All bootstraps.
    pub(crate) fn bootstraps(&self) -> u64 {
        self.steps.iter().map(StepSchedule::bootstraps).sum()
    }

    /// The expected work. It is positive.
    pub(crate) fn effort(&self) -> f64 {
        if self.effort > 0.0 { self.effort } else { self.bootstraps().max(1) as f64 }
    }
}
