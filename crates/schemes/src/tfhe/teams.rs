//! The teams of threads of an evaluator.

use solinas_field::torus::{Team, TeamCounters};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Teams that no bootstrap uses at the moment. Their helpers stay awake for a short time, so that the next bootstrap of a
/// chain finds them.
#[derive(Debug, Default)]
pub(super) struct Teams(Mutex<Vec<Team>>);

impl Teams {
    fn idle(&self) -> MutexGuard<'_, Vec<Team>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with a team, the one that was used last if there is one. No thread needs a team alone.
    pub(super) fn with<T>(&self, members: usize, work: impl FnOnce(&mut Team) -> T) -> T {
        if members < 2 {
            return work(&mut Team::default());
        }
        let last = self.idle().pop();
        let mut team = last.unwrap_or_default();
        let done = work(&mut team);
        self.idle().push(team);
        done
    }

    /// Lets the helpers go, for work that occupies every thread.
    pub(super) fn dismiss(&self) {
        self.idle().iter().for_each(Team::dismiss);
    }

    /// The sum over all teams that are not in use.
    pub(super) fn counters(&self) -> TeamCounters {
        self.idle().iter().fold(TeamCounters::default(), |mut sum, team| {
            sum += team.counters();
            sum
        })
    }
}
