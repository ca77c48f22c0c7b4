//! Running a schedule.

use super::schedule::{Across, Schedule, Step, Value};
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

    /// How many products of a wave [`Self::multiply_all`] takes at a time, one time after the other; without it they run side by side.
    fn multiplies_together(&self) -> Option<usize> {
        None
    }

    /// The ciphertext of the input of that index, as the plan expects it.
    fn load(&self, input: u32, stored: &Self::Stored) -> Result<Self::Ciphertext, Error>;

    fn store(&self, x: &Self::Ciphertext) -> Self::Stored;

    fn constant(&self, value: u64) -> Result<Self::Ciphertext, Error>;

    fn add_constant(&self, x: &Self::Ciphertext, constant: u64) -> Result<Self::Ciphertext, Error>;

    fn scale(&self, x: &Self::Ciphertext, constant: u64) -> Result<Self::Ciphertext, Error>;

    fn add(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn subtract(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn multiply(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// The product with a public input.
    fn multiply_public(
        &self,
        x: &Self::Ciphertext,
        input: u32,
        public: &Self::Stored,
    ) -> Result<Self::Ciphertext, Error> {
        self.multiply(x, &self.load(input, public)?)
    }

    /// The products of pairs, [`Self::multiplies_together`] of them at most.
    fn multiply_all(
        &self,
        pairs: &[(&Self::Ciphertext, &Self::Ciphertext)],
        _control: &Control<'_>,
    ) -> Result<Vec<Self::Ciphertext>, Error> {
        pairs.iter().map(|(x, y)| self.multiply(x, y)).collect()
    }

    fn lower(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    fn refresh(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// Of an array of so many elements, in those ciphertexts: a ciphertext for each, of a sum one. `done` is to be called once for each of
    /// [`Self::parts`], from any thread, and stops the work by its error. On the current thread pool. Bits have no slots.
    fn across(
        &self,
        across: Across,
        _elements: usize,
        _lanes: &[&Self::Ciphertext],
        _done: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Vec<Self::Ciphertext>, Error> {
        Err(across.refused())
    }

    /// Parts of that work, for progress: automorphisms.
    fn parts(&self, _across: Across, _elements: usize) -> u64 {
        0
    }
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

    /// The value of a lane, or of all of them.
    fn set(&mut self, index: usize, lane: usize, value: Arc<B>, shared: bool) {
        if shared {
            self.lanes.iter_mut().for_each(|lane| lane[index] = Some(Arc::clone(&value)));
        } else {
            self.lanes[lane][index] = Some(value);
        }
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

/// Runs a schedule on lanes, sets of inputs side by side, which hold so many elements of arrays; returns each lane's outputs. On the current thread pool;
/// progress counts refreshes, or products and automorphisms where there are none.
pub(crate) fn run<R: Runner>(
    schedule: &Schedule,
    runner: &R,
    inputs: &[Vec<&R::Stored>],
    elements: usize,
    control: &Control<'_>,
) -> Result<Vec<Vec<R::Stored>>, Error> {
    let counted = |step: &Step| match step {
        Step::Refresh(_) => true,
        Step::Multiply(..) => schedule.refreshes == 0,
        _ => false,
    };
    let parts = |step: &Step| match *step {
        Step::Across(_, across) if schedule.refreshes == 0 => runner.parts(across, elements),
        _ => 0,
    };
    let in_parts = |step: &Step| schedule.refreshes == 0 && matches!(step, Step::Across(..));
    let together = if schedule.crosses() { inputs.len() } else { runner.together() };
    let chunks = || inputs.chunks(together.max(1));
    let total = chunks().map(|lanes| schedule.count(lanes.len(), counted)).sum::<u64>()
        + schedule.steps.iter().map(parts).sum::<u64>();
    let done = AtomicU64::new(0);
    control.report(0, total);
    let tick = |step: &Step| {
        if counted(step) || in_parts(step) {
            control.report(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        }
    };
    let mut outputs = Vec::with_capacity(inputs.len());
    for lanes in chunks() {
        outputs.extend(run_lanes(schedule, runner, lanes, elements, control, &tick)?);
    }
    Ok(outputs)
}

fn run_lanes<R: Runner>(
    schedule: &Schedule,
    runner: &R,
    inputs: &[Vec<&R::Stored>],
    elements: usize,
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
    // Sums and products of a wave first, of these those that are better taken together, then what takes all lanes; refreshes last, one after the other where each
    // fills the machine.
    let together = runner.multiplies_together();
    let kind = |index: usize| match schedule.steps[index] {
        Step::Refresh(_) => Kind::Refresh,
        Step::Across(..) => Kind::Across,
        Step::Multiply(..) if together.is_some() => Kind::Together,
        _ => Kind::Lane,
    };
    let key = |index: &usize| (schedule.waves[*index], kind(*index));
    order.sort_by_key(key);
    for part in order.chunk_by(|a, b| key(a) == key(b)) {
        if kind(part[0]) == Kind::Across {
            for &index in part {
                run_across(schedule, runner, index, elements, &mut values, &|| {
                    tick(&schedule.steps[index]);
                    Ok(control.check()?)
                })?;
            }
            continue;
        }
        // What all lanes share is done in the first.
        let lanes = |index: usize| if schedule.shared[index] { 0..1 } else { 0..inputs.len() };
        let jobs: Vec<(usize, usize)> =
            part.iter().flat_map(|&index| lanes(index).map(move |lane| (index, lane))).collect();
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
            let results = runner.multiply_all(&pairs.collect::<Result<Vec<_>, Error>>()?, control)?;
            jobs.iter().for_each(|(index, _)| tick(&schedule.steps[*index]));
            Ok(results.into_iter().map(Arc::new).collect())
        };
        let alone = kind(part[0]) == Kind::Refresh && runner.refreshes_alone();
        // Jobs that run together, where alone those of one step; their operands go when all of them are done.
        let groups: Vec<&[(usize, usize)]> = match kind(part[0]) {
            Kind::Together => jobs.chunks(together.unwrap_or(1)).collect(),
            _ => jobs.chunk_by(|a, b| !alone || a.0 == b.0).collect(),
        };
        for jobs in groups {
            let results: Vec<_> = if alone {
                jobs.iter().map(|job| one(&values, job)).collect::<Result<_, _>>()?
            } else if kind(part[0]) == Kind::Together {
                many(&values, jobs)?
            } else {
                jobs.par_iter().map(|job| one(&values, job)).collect::<Result<_, _>>()?
            };
            for (&(index, lane), result) in jobs.iter().zip(results) {
                values.set(index, lane, result, schedule.shared[index]);
            }
            // The last lane of a step is its last reader.
            let last = |&&(index, lane): &&(usize, usize)| lane + 1 == lanes(index).end;
            jobs.iter().filter(last).for_each(|&(index, _)| values.release(schedule.steps[index]));
        }
    }
    let output = |lane: usize, value: Value| Ok(runner.store(values.get(value, lane)?));
    (0..inputs.len()).map(|lane| schedule.outputs.iter().map(|&value| output(lane, value)).collect()).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Together,
    Lane,
    Across,
    Refresh,
}

/// A step that takes the operand of all lanes.
fn run_across<R: Runner>(
    schedule: &Schedule,
    runner: &R,
    index: usize,
    elements: usize,
    values: &mut Values<R::Ciphertext>,
    done: &(dyn Fn() -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    let step = schedule.steps[index];
    let Step::Across(operand, across) = step else { return Ok(()) };
    let lanes = (0..values.lanes.len()).map(|lane| values.get(operand, lane)).collect::<Result<Vec<_>, _>>()?;
    for (lane, result) in runner.across(across, elements, &lanes, done)?.into_iter().enumerate() {
        values.set(index, lane, Arc::new(result), schedule.shared[index]);
    }
    values.release(step);
    Ok(())
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
        Step::Input(index) => runner.load(index, inputs[index as usize]),
        Step::Constant(value) => runner.constant(value),
        Step::AddConstant(x, constant) => runner.add_constant(at(x)?, constant),
        Step::Scale(x, constant) => runner.scale(at(x)?, constant),
        Step::Add(x, y) => runner.add(at(x)?, at(y)?),
        Step::Subtract(x, y) => runner.subtract(at(x)?, at(y)?),
        Step::Multiply(x, y) => runner.multiply(at(x)?, at(y)?),
        Step::MultiplyPublic(x, index) => runner.multiply_public(at(x)?, index, inputs[index as usize]),
        Step::Lower(x) => runner.lower(at(x)?),
        Step::Refresh(x) => runner.refresh(at(x)?),
        // Not of one lane.
        Step::Across(_, across) => Err(across.refused()),
    }
}
