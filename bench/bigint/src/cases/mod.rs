//! What is measured: each module gives the rows of a table.

pub mod modular;
pub mod power;
pub mod products;

use crate::ours::Engine;
use crate::peers::Peers;
use crate::report::{Row, Target};
use bench_common::Error;
use bench_common::sample::{Contestant, Effort, contest};

/// Column of what our users call.
pub const OURS: &str = "ours";

/// What a case needs.
pub struct Bench<'a> {
    /// Those that were found.
    pub peers: &'a Peers,
    /// How long to measure.
    pub effort: Effort,
    /// Whether a row is wanted.
    pub wanted: &'a dyn Fn(&str) -> bool,
}

impl Bench<'_> {
    /// To be so many times as fast as every FLINT that was found.
    fn flint_targets(&self, faster: &str, at_least: f64) -> Vec<Target> {
        self.peers.flint.iter().map(|flint| Target::new(faster, &flint.column(), at_least)).collect()
    }

    /// A row, if it is wanted; `contestants` prepares who takes part.
    fn row<'a>(
        &self,
        id: String,
        contestants: impl FnOnce() -> Vec<Contestant<'a>>,
        targets: Vec<Target>,
    ) -> Result<Option<Row>, Error> {
        if !(self.wanted)(&id) {
            return Ok(None);
        }
        let figures = contest(&id, contestants(), self.effort)?;
        Ok(Some(Row { id, figures, targets }))
    }
}

/// Column of a plan on one thread or more.
fn column(engine: Engine, threads: usize) -> String {
    let name = match engine {
        Engine::Complex => "plan, complex",
        Engine::Solinas => "plan, Solinas",
    };
    on(name, threads)
}

/// A column's name with its number of threads, where that is more than one.
fn on(name: &str, threads: usize) -> String {
    if threads == 1 { name.into() } else { format!("{name} x{threads}") }
}
