//! A run of a schedule, which can stop between two waves and go on later.

use super::schedule::{Linear, Places, Schedule, ScheduledBootstrap};
use crate::{Control, Error};
use rayon::prelude::*;
use solinas_schemes::tfhe::{self, LweCiphertext, Slots, Sum};
use std::borrow::Cow;

/// Number of inputs that are made and written at a time.
const WRITTEN: usize = 1 << 10;

/// The position of a run between two waves.
///
/// A lane is the computation of a step for one element of its inputs. A wave is a set of bootstraps of a lane that need
/// the results of earlier waves only. The lanes run in groups, one group after the other. The lanes of a group run wave
/// by wave together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The step of the computation, in the order of [`Prepared::schedule`](crate::Prepared::schedule).
    pub step: usize,
    /// Number of lanes that are complete.
    pub done: usize,
    /// Number of all lanes.
    pub lanes: usize,
    /// Number of lanes in the running group. It is 0 between two groups.
    pub group: usize,
    /// Number of waves that the running group has completed. It is 0 between two groups.
    pub wave: usize,
    /// Number of waves of a lane.
    pub waves: usize,
}

/// The input values of the instances of a run. Each is made when its group of instances begins, so a run holds those of one group.
pub(crate) trait Inputs: Sync {
    /// Number of instances.
    fn instances(&self) -> usize;

    /// The input value of that number of an instance.
    ///
    /// # Errors
    /// For a ciphertext that a run cannot take.
    fn value(&self, instance: usize, value: usize) -> Result<Cow<'_, LweCiphertext>, Error>;
}

/// A run that stopped before a wave.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cursor {
    /// The outputs of the instances that are complete. These are the first ones.
    pub(crate) outputs: Vec<Vec<LweCiphertext>>,
    /// Number of instances of the group that has begun. They follow the complete ones.
    pub(crate) lanes: usize,
    /// The next wave of this group, at least 1. It is 0 if no group has begun.
    pub(crate) wave: u32,
    /// The values that later waves read, in the order of [`Schedule::live`]. Each value has a ciphertext for each lane.
    pub(crate) live: Vec<LweCiphertext>,
}

/// The end of a run.
pub(crate) enum End {
    /// The outputs of each instance.
    Done(Vec<Vec<LweCiphertext>>),
    Paused(Cursor),
}

/// The end of a run of one group.
pub(crate) enum Lanes {
    Done(Vec<Vec<LweCiphertext>>),
    /// The next wave, and the live values.
    Paused(u32, Vec<LweCiphertext>),
}

/// A run of all instances.
pub(crate) struct Run<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) places: &'a Places,
    pub(crate) inputs: &'a dyn Inputs,
    pub(crate) pause: &'a dyn Fn(Position) -> bool,
    pub(crate) control: &'a Control<'a>,
}

impl Run<'_> {
    /// Reports the number of bootstraps that are done.
    fn report(&self, done: usize) {
        self.control.report(done as u64, (self.schedule.bootstraps.len() * self.inputs.instances()) as u64);
    }

    /// Runs a group of `lanes` instances after `finished` instances are complete. It starts at the wave of `from`, or at
    /// the first.
    pub(crate) fn lanes(
        &self,
        slots: &mut dyn Slots,
        lanes: usize,
        finished: usize,
        from: Option<&Cursor>,
    ) -> Result<Lanes, Error> {
        let schedule = self.schedule;
        let slot = |value: u32, lane: usize| self.places.of[value as usize] * lanes as u32 + lane as u32;
        let sum = |linear: &Linear, lane: usize| Sum {
            terms: linear.terms.iter().map(|&(value, c)| (slot(value, lane), c)).collect(),
            constant: linear.constant,
        };
        let slots_of = |live: &[u32]| -> Vec<u32> {
            live.iter().flat_map(|&value| (0..lanes).map(move |lane| slot(value, lane))).collect()
        };
        let start = from.map_or(0, |cursor| cursor.wave);
        match from {
            Some(cursor) => {
                slots.write(&slots_of(&schedule.live(start)).into_iter().zip(&cursor.live).collect::<Vec<_>>())?;
            }
            None => {
                let each = schedule.inputs as usize;
                for begin in (0..lanes * each).step_by(WRITTEN) {
                    let made = (begin..(begin + WRITTEN).min(lanes * each)).into_par_iter().map(|at| {
                        let (lane, value) = (at / each, at % each);
                        Ok((slot(value as u32, lane), self.inputs.value(finished + lane, value)?))
                    });
                    let made = made.collect::<Result<Vec<_>, Error>>()?;
                    slots.write(&made.iter().map(|(slot, value)| (*slot, &**value)).collect::<Vec<_>>())?;
                }
            }
        }
        let mut order: Vec<&ScheduledBootstrap> =
            schedule.bootstraps.iter().filter(|bootstrap| bootstrap.wave >= start).collect();
        order.sort_by_key(|bootstrap| bootstrap.wave);
        let mut done = schedule.bootstraps.len() * finished + (schedule.bootstraps.len() - order.len()) * lanes;
        self.report(done);
        let waves = schedule.waves().len();
        for wave in order.chunk_by(|a, b| a.wave == b.wave) {
            let number = wave[0].wave;
            let here = Position {
                step: 0,
                done: finished,
                lanes: self.inputs.instances(),
                group: lanes,
                wave: number as usize,
                waves,
            };
            if number > start && (self.pause)(here) {
                let one = |slot| Sum { terms: vec![(slot, 1)], constant: 0 };
                let live = slots.read(&slots_of(&schedule.live(number)).into_iter().map(one).collect::<Vec<_>>())?;
                return Ok(Lanes::Paused(number, live));
            }
            // Each bootstrap runs on every lane.
            let jobs = wave.len() * lanes;
            // Batches have equal sizes, so that no thread idles during a small last one.
            let size = jobs.div_ceil(jobs.div_ceil(slots.batch()).max(1)).max(1);
            for begin in (0..jobs).step_by(size) {
                self.control.check()?;
                let jobs = begin..(begin + size).min(jobs);
                let job = |job: usize| {
                    let (bootstrap, lane) = (wave[job / lanes], job % lanes);
                    tfhe::SlotBootstrap {
                        argument: sum(&bootstrap.argument, lane),
                        table: bootstrap.table as usize,
                        outputs: (bootstrap.first..bootstrap.first + bootstrap.outputs)
                            .map(|value| slot(value, lane))
                            .collect(),
                    }
                };
                slots.bootstrap(&jobs.clone().map(job).collect::<Vec<_>>())?;
                done += jobs.len();
                self.report(done);
            }
        }
        let outputs = |lane| schedule.outputs.iter().map(move |output| sum(output, lane));
        let mut all = slots.read(&(0..lanes).flat_map(outputs).collect::<Vec<_>>())?.into_iter();
        Ok(Lanes::Done((0..lanes).map(|_| all.by_ref().take(schedule.outputs.len()).collect()).collect()))
    }
}
