//! The cases. Each module gives the rows of a table.

pub mod modular;
pub mod power;
pub mod products;

use crate::ours::Engine;
use crate::peers::Peers;
use crate::report::{Row, Target};
use bench_common::Error;
use bench_common::sample::{Contestant, Effort, contest};

/// Column of the function that our users call.
pub const OURS: &str = "ours";

/// The peers and options of the run.
pub struct Bench<'a> {
    /// The peers that were found.
    pub peers: &'a Peers,
    /// Samples of each row.
    pub effort: Effort,
    /// Whether the filters keep a row.
    pub wanted: &'a dyn Fn(&str) -> bool,
}

impl Bench<'_> {
    /// Targets of the ratio to each FLINT that was found.
    fn flint_targets(&self, faster: &str, at_least: f64) -> Vec<Target> {
        self.peers.flint.iter().map(|flint| Target::new(faster, &flint.column(), at_least)).collect()
    }

    /// The row of that id, unless a filter leaves it out. `contestants` prepares its columns.
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

/// Column of a plan with this number of threads.
fn column(engine: Engine, threads: usize) -> String {
    let name = match engine {
        Engine::Complex => "plan, complex",
        Engine::Solinas => "plan, Solinas",
    };
    on(name, threads)
}

/// Name of a column, with the number of threads if there are several.
fn on(name: &str, threads: usize) -> String {
    if threads == 1 { name.into() } else { format!("{name} x{threads}") }
}
