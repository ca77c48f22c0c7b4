//! What schemes share that add and multiply encrypted numbers modulo `p`: schedules of sums and products, and running them. Of bits, with `p = 2`, exclusive
//! or is a sum, and `and` a product.

mod run;
mod schedule;

pub(crate) use run::{Runner, run};
pub(crate) use schedule::{Across, Arrays, Planner, Schedule, Slots, Step, Value, plan, plan_program};
