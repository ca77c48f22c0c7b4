//! Parcels of a launch: blocks that one thread of the host runs, one parcel after another.
//!
//! How a launch is cut does not depend on the number of threads. So neither do its results, counters and faults.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::shadow::Pages;
use crate::counters::Counters;
use crate::error::{Fault, FaultKind};

/// The effects of blocks that ran to their end.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) counters: Counters,
    /// Executions of each instruction, summed over the threads.
    pub(super) counts: Vec<u64>,
    pub(super) pages: Pages,
}

/// A place of global memory: the slot of the allocation, and the number of its cell.
pub(super) type Place = (usize, usize);

/// A sum of parcels, and the lowest place that two of them touched and one of them wrote.
#[derive(Default)]
struct Sum {
    done: Option<Done>,
    race: Option<Place>,
}

impl Sum {
    fn add(&mut self, other: Done) {
        let Some(done) = &mut self.done else {
            self.done = Some(other);
            return;
        };
        done.counters.add(&other.counters);
        done.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        let race = done.pages.merge(other.pages);
        self.race = self.race.into_iter().chain(race).min();
    }
}

/// Runs all parcels on some threads. Returns their sum, or the lowest place of a race between parcels.
///
/// # Errors
/// The fault of the first parcel that has one.
pub(super) fn run(
    parcels: u32,
    threads: usize,
    run_parcel: impl Fn(u32) -> Result<Done, Fault> + Sync,
) -> Result<Result<Done, Place>, Fault> {
    let next = AtomicU32::new(0);
    let work = || {
        let (mut sum, mut first_fault) = (Sum::default(), None);
        loop {
            let parcel = next.fetch_add(1, Relaxed);
            if parcel >= parcels {
                return (sum, first_fault);
            }
            match run_parcel(parcel) {
                Ok(done) => sum.add(done),
                Err(fault) => {
                    first_fault.get_or_insert((parcel, fault));
                }
            }
        }
    };
    let parts = std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads.min(parcels as usize)).map(|_| scope.spawn(work)).collect();
        let mut parts = vec![work()];
        parts.extend(helpers.into_iter().map(|helper| helper.join().unwrap_or_else(|panic| resume_unwind(panic))));
        parts
    });
    let (mut sum, mut faults) = (Sum::default(), Vec::new());
    for (part, fault) in parts {
        sum.race = sum.race.into_iter().chain(part.race).min();
        part.done.into_iter().for_each(|done| sum.add(done));
        faults.extend(fault);
    }
    match (faults.into_iter().min_by_key(|&(parcel, _)| parcel), sum) {
        (Some((_, fault)), _) => Err(fault),
        (None, Sum { race: Some(place), .. }) => Ok(Err(place)),
        (None, Sum { done, .. }) => {
            done.map(Ok).ok_or_else(|| Fault::new(FaultKind::Launch, "a launch without blocks"))
        }
    }
}
