//! Programs and circuits as sums and products of encrypted numbers modulo `p`: schedules, and the loop that runs them.
//!
//! For bits, `p` is 2: their exclusive or is a sum, and their conjunction a product.

mod schedule;
mod slots;
mod waves;

pub(crate) use schedule::{
    ArithmeticStep, Arrays, Planner, Schedule, SlotContent, SlotOperation, Value, plan, plan_program,
};
pub(crate) use slots::masked_rotations;
pub(crate) use waves::{Concurrency, Run, most_live};
