//! Running a schedule.

use super::elements::Bit;
use super::schedule::{Schedule, Step, Value};
use crate::{Control, Error};
use rayon::prelude::*;
use solinas_schemes::gh::{Ciphertext, Evaluator, PublicKey};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a ciphertext from which on a recryption keeps every thread busy by itself, and takes memory that is better not taken twice.
const LARGE: usize = 1 << 12;

/// What steps need.
pub(super) struct Runner<'a> {
    pub(super) evaluator: &'a Evaluator<'static>,
    pub(super) public: &'a PublicKey,
    pub(super) control: &'a Control<'a>,
}

/// For each value of a schedule and each lane the ciphertext, until its last reader has had it.
struct Values {
    lanes: Vec<Vec<Option<Arc<Ciphertext>>>>,
    /// Steps and outputs that are still to read each value.
    readers: Vec<u32>,
}

impl Values {
    fn get(&self, value: Value, lane: usize) -> Result<&Ciphertext, Error> {
        // A schedule's operands are earlier steps, so that this does not happen.
        let missing = || solinas_circuits::Error::NodeOutOfOrder { what: "a step".into(), node: value, limit: value };
        Ok(self.lanes[lane][value as usize].as_deref().ok_or_else(missing)?)
    }

    /// One reader less for each operand of a step; what nobody is to read goes.
    fn release(&mut self, step: Step) {
        for operand in step.operands() {
            let readers = &mut self.readers[operand as usize];
            *readers -= 1;
            if *readers == 0 {
                self.lanes.iter_mut().for_each(|lane| lane[operand as usize] = None);
            }
        }
    }
}

/// Runs a schedule on lanes, sets of input bits side by side; returns each lane's outputs. On the current thread pool; progress counts
/// recryptions, or products where there are none.
pub(super) fn run(
    schedule: &Schedule,
    runner: &Runner<'_>,
    inputs: &[Vec<&Arc<Bit>>],
) -> Result<Vec<Vec<Arc<Bit>>>, Error> {
    let counted = |step: &Step| match step {
        Step::Recrypt(_) => true,
        Step::Multiply(..) => schedule.recrypts == 0,
        _ => false,
    };
    let total = (schedule.steps.iter().filter(|step| counted(step)).count() * inputs.len()) as u64;
    let done = AtomicU64::new(0);
    runner.control.report(0, total);
    let tick = |step: &Step| {
        if counted(step) {
            runner.control.report(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        }
    };
    let mut outputs = Vec::with_capacity(inputs.len());
    // As many lanes at once as give every thread some work: more would only hold more values in memory.
    let together = if runner.public.words() < LARGE { 4 * rayon::current_num_threads() } else { 1 };
    for lanes in inputs.chunks(together) {
        outputs.extend(run_lanes(schedule, runner, lanes, &tick)?);
    }
    Ok(outputs)
}

fn run_lanes(
    schedule: &Schedule,
    runner: &Runner<'_>,
    inputs: &[Vec<&Arc<Bit>>],
    tick: &(impl Fn(&Step) + Sync),
) -> Result<Vec<Vec<Arc<Bit>>>, Error> {
    let count = schedule.steps.len();
    let mut readers = vec![0; count];
    schedule.steps.iter().flat_map(|step| step.operands()).for_each(|value| readers[value as usize] += 1);
    schedule.outputs.iter().for_each(|&output| readers[output as usize] += 1);
    let mut values = Values { lanes: vec![vec![None; count]; inputs.len()], readers };
    let mut order: Vec<usize> = (0..count).collect();
    // Sums and products of a wave first; recryptions last, one after the other where each fills the machine.
    let recrypts = |index: usize| matches!(schedule.steps[index], Step::Recrypt(_));
    let key = |index: &usize| (schedule.waves[*index], recrypts(*index));
    order.sort_by_key(key);
    for part in order.chunk_by(|a, b| key(a) == key(b)) {
        let jobs: Vec<(usize, usize)> =
            part.iter().flat_map(|&index| (0..inputs.len()).map(move |lane| (index, lane))).collect();
        let one = |values: &Values, &(index, lane): &(usize, usize)| -> Result<Arc<Ciphertext>, Error> {
            let step = schedule.steps[index];
            runner.control.check()?;
            let result = runner.step(step, values, lane, &inputs[lane])?;
            tick(&step);
            Ok(Arc::new(result))
        };
        let alone = recrypts(part[0]) && runner.public.words() >= LARGE;
        // Jobs that run together; their operands go when all of them are done.
        for jobs in jobs.chunks(if alone { inputs.len() } else { jobs.len() }) {
            let results: Vec<_> = if alone {
                jobs.iter().map(|job| one(&values, job)).collect::<Result<_, _>>()?
            } else {
                jobs.par_iter().map(|job| one(&values, job)).collect::<Result<_, _>>()?
            };
            for (&(index, lane), result) in jobs.iter().zip(results) {
                values.lanes[lane][index] = Some(result);
            }
            jobs.iter().filter(|(_, lane)| *lane == 0).for_each(|&(index, _)| values.release(schedule.steps[index]));
        }
    }
    let output = |lane: usize, value: Value| Ok(Bit::of(values.get(value, lane)?));
    (0..inputs.len()).map(|lane| schedule.outputs.iter().map(|&value| output(lane, value)).collect()).collect()
}

impl Runner<'_> {
    fn step(&self, step: Step, values: &Values, lane: usize, inputs: &[&Arc<Bit>]) -> Result<Ciphertext, Error> {
        let at = |value| values.get(value, lane);
        Ok(match step {
            Step::Input(index) => inputs[index as usize].ciphertext(self.public)?,
            Step::Constant(bit) => Ciphertext::trivial(self.public, bit),
            Step::Not(x) => self.evaluator.not(at(x)?)?,
            Step::Add(x, y) => self.evaluator.add(at(x)?, at(y)?)?,
            Step::Multiply(x, y) => self.evaluator.multiply(at(x)?, at(y)?)?,
            Step::Recrypt(x) => self.evaluator.recrypt(at(x)?)?,
        })
    }
}
