//! Plans of bootstraps (TFHE): as values, as schedules of waves, and as runs that can pause.

mod gates;
mod kernel_plan;
mod plan;
mod ran;
mod run;
mod schedule;
mod state;
pub(crate) mod tables;

pub use plan::Plan;
pub(crate) use plan::joint_id;
pub use ran::Ran;
pub use run::Position;
pub use state::RunState;

pub(crate) use kernel_plan::{Body, KernelPlan, id, planned_weight, source_id};
pub(crate) use run::{Cursor, End, Inputs};
pub(crate) use schedule::Schedule;
pub(crate) use state::{RunId, StepsState, inputs_id};
