//! Running a schedule.

use super::schedule::{Schedule, Step, Value};
use crate::{Control, Error};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The operations of a scheme on encrypted numbers.
pub(crate) trait Runner: Sync {
    /// A ciphertext as inputs and outputs hold it.
    type Stored: Sync;
    /// A ciphertext in work.
    type Ciphertext: Send + Sync;

    /// Whether a refresh keeps every thread busy by itself, and takes memory that is better not taken twice.
    fn refreshes_alone(&self) -> bool;

    /// How many sets of inputs run side by side: more would only hold more values in memory.
    fn together(&self) -> usize;

    /// How many products of a wave [`Self::multiply_all`] takes at a time; with 1 they run side by side.
    fn multiplies_together(&self) -> usize {
        1
    }

    fn load(&self, stored: &Self::Stored) -> Result<Self::Ciphertext, Error>;

    fn store(&self, x: &Self::Ciphertext) -> Self::Stored;

    fn constant(&self, value: u64) -> Result<Self::Ciphertext, Error>;

    fn add_constant(&self, x: &Self::Ciphertext, constant: u64) -> Result<Self::Ciphertext, Error>;

    fn scale(&self, x: &Self::Ciphertext, constant: u64) -> Result<Self::Ciphertext, Error>;

    fn add(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn subtract(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn multiply(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// The products of pairs, [`Self::multiplies_together`] of them at most.
    fn multiply_all(&self, pairs: &[(&Self::Ciphertext, &Self::Ciphertext)]) -> Result<Vec<Self::Ciphertext>, Error> {
        pairs.iter().map(|(x, y)| self.multiply(x, y)).collect()
    }

    fn lower(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn refresh(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;
}

/// For each value of a schedule and each lane the ciphertext, until its last reader has had it.
struct Values<B> {
    lanes: Vec<Vec<Option<Arc<B>>>>,
    /// Steps and outputs that are still to read each value.
    readers: Vec<u32>,
}

impl<B> Values<B> {
    fn get(&self, value: Value, lane: usize) -> Result<&B, Error> {
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

/// Runs a schedule on lanes, sets of inputs side by side; returns each lane's outputs. On the current thread pool; progress counts
/// refreshes, or products where there are none.
pub(crate) fn run<R: Runner>(
    schedule: &Schedule,
    runner: &R,
    inputs: &[Vec<&R::Stored>],
    control: &Control<'_>,
) -> Result<Vec<Vec<R::Stored>>, Error> {
    let counted = |step: &Step| match step {
        Step::Refresh(_) => true,
        Step::Multiply(..) => schedule.refreshes == 0,
        _ => false,
    };
    let total = (schedule.steps.iter().filter(|step| counted(step)).count() * inputs.len()) as u64;
    let done = AtomicU64::new(0);
    control.report(0, total);
    let tick = |step: &Step| {
        if counted(step) {
            control.report(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        }
    };
    let mut outputs = Vec::with_capacity(inputs.len());
    for lanes in inputs.chunks(runner.together().max(1)) {
        outputs.extend(run_lanes(schedule, runner, lanes, control, &tick)?);
    }
    Ok(outputs)
}

fn run_lanes<R: Runner>(
    schedule: &Schedule,
    runner: &R,
    inputs: &[Vec<&R::Stored>],
    control: &Control<'_>,
    tick: &(impl Fn(&Step) + Sync),
) -> Result<Vec<Vec<R::Stored>>, Error> {
    let count = schedule.steps.len();
    let mut readers = vec![0; count];
    schedule.steps.iter().flat_map(|step| step.operands()).for_each(|value| readers[value as usize] += 1);
    schedule.outputs.iter().for_each(|&output| readers[output as usize] += 1);
    let lanes = inputs.iter().map(|_| std::iter::repeat_with(|| None).take(count).collect()).collect();
    let mut values = Values { lanes, readers };
    let mut order: Vec<usize> = (0..count).collect();
    // Sums and products of a wave first; refreshes last, one after the other where each fills the machine.
    let refreshes = |index: usize| matches!(schedule.steps[index], Step::Refresh(_));
    // Products that are better taken together come before the others of their wave.
    let together = runner.multiplies_together();
    let shared = |index: usize| together > 1 && matches!(schedule.steps[index], Step::Multiply(..));
    let key = |index: &usize| (schedule.waves[*index], refreshes(*index), !shared(*index));
    order.sort_by_key(key);
    for part in order.chunk_by(|a, b| key(a) == key(b)) {
        let jobs: Vec<(usize, usize)> =
            part.iter().flat_map(|&index| (0..inputs.len()).map(move |lane| (index, lane))).collect();
        let one =
            |values: &Values<R::Ciphertext>, &(index, lane): &(usize, usize)| -> Result<Arc<R::Ciphertext>, Error> {
                let step = schedule.steps[index];
                control.check()?;
                let result = take(runner, step, values, lane, &inputs[lane])?;
                tick(&step);
                Ok(Arc::new(result))
            };
        let many = |values: &Values<R::Ciphertext>, jobs: &[(usize, usize)]| -> Result<Vec<_>, Error> {
            control.check()?;
            let pairs = jobs.iter().map(|&(index, lane)| {
                let [x, y] = schedule.steps[index].pair();
                Ok((values.get(x, lane)?, values.get(y, lane)?))
            });
            let results = runner.multiply_all(&pairs.collect::<Result<Vec<_>, Error>>()?)?;
            jobs.iter().for_each(|(index, _)| tick(&schedule.steps[*index]));
            Ok(results.into_iter().map(Arc::new).collect())
        };
        let alone = refreshes(part[0]) && runner.refreshes_alone();
        let size = match (alone, shared(part[0])) {
            (true, _) => inputs.len(),
            (_, true) => together,
            _ => jobs.len(),
        };
        // Jobs that run together; their operands go when all of them are done.
        for jobs in jobs.chunks(size) {
            let results: Vec<_> = if alone {
                jobs.iter().map(|job| one(&values, job)).collect::<Result<_, _>>()?
            } else if shared(part[0]) {
                many(&values, jobs)?
            } else {
                jobs.par_iter().map(|job| one(&values, job)).collect::<Result<_, _>>()?
            };
            for (&(index, lane), result) in jobs.iter().zip(results) {
                values.lanes[lane][index] = Some(result);
            }
            // The last lane of a step is its last reader.
            let last = inputs.len() - 1;
            jobs.iter().filter(|(_, lane)| *lane == last).for_each(|&(index, _)| values.release(schedule.steps[index]));
        }
    }
    let output = |lane: usize, value: Value| Ok(runner.store(values.get(value, lane)?));
    (0..inputs.len()).map(|lane| schedule.outputs.iter().map(|&value| output(lane, value)).collect()).collect()
}

fn take<R: Runner>(
    runner: &R,
    step: Step,
    values: &Values<R::Ciphertext>,
    lane: usize,
    inputs: &[&R::Stored],
) -> Result<R::Ciphertext, Error> {
    let at = |value| values.get(value, lane);
    match step {
        Step::Input(index) => runner.load(inputs[index as usize]),
        Step::Constant(value) => runner.constant(value),
        Step::AddConstant(x, constant) => runner.add_constant(at(x)?, constant),
        Step::Scale(x, constant) => runner.scale(at(x)?, constant),
        Step::Add(x, y) => runner.add(at(x)?, at(y)?),
        Step::Subtract(x, y) => runner.subtract(at(x)?, at(y)?),
        Step::Multiply(x, y) => runner.multiply(at(x)?, at(y)?),
        Step::Lower(x) => runner.lower(at(x)?),
        Step::Refresh(x) => runner.refresh(at(x)?),
    }
}
