//! Running a schedule.

use super::schedule::{ArithmeticStep, Schedule, Value};
use super::slots;
use crate::{Control, Error};
use rayon::prelude::*;
use solinas_schemes::{Evaluate, Level};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The amount of a run that is computed at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Concurrency {
    /// Number of instances that run side by side. More instances would take more memory and save no time.
    pub(crate) instances: usize,
    /// Largest number of products that [`Evaluate::multiply_batch`] takes. Such batches run one after the other. If it
    /// is `None`, products run side by side.
    pub(crate) multiply_batch: Option<usize>,
    /// Whether bootstraps run one after the other, because one bootstrap uses every thread and much memory.
    pub(crate) bootstrap_alone: bool,
}

/// The ciphertext of each value and instance. Each is kept until its last reader is done.
struct Values<B> {
    lanes: Vec<Vec<Option<Arc<B>>>>,
    /// Number of remaining readers of each value: steps and outputs.
    readers: Vec<u32>,
}

impl<B> Values<B> {
    fn get(&self, value: Value, lane: usize) -> Result<&B, Error> {
        // The operands of a step are earlier steps, so this error does not occur.
        let missing = || solinas_circuits::Error::NodeOutOfOrder { what: "a step".into(), node: value, limit: value };
        Ok(self.lanes[lane][value as usize].as_deref().ok_or_else(missing)?)
    }

    /// Sets the value of one instance, or of all instances if it is `shared`.
    fn set(&mut self, index: usize, lane: usize, value: Arc<B>, shared: bool) {
        if shared {
            self.lanes.iter_mut().for_each(|lane| lane[index] = Some(Arc::clone(&value)));
        } else {
            self.lanes[lane][index] = Some(value);
        }
    }

    /// Counts the operands of a step as read, and drops values without further readers.
    fn release(&mut self, step: ArithmeticStep) {
        for operand in step.operands() {
            let readers = &mut self.readers[operand as usize];
            *readers -= 1;
            if *readers == 0 {
                self.lanes.iter_mut().for_each(|lane| lane[operand as usize] = None);
            }
        }
    }
}

/// A schedule, the evaluator that computes it, and the inputs.
pub(crate) struct Run<'a, E: Evaluate> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) evaluator: &'a E,
    pub(crate) concurrency: Concurrency,
    /// The level to which the plan drops each input. An input without an entry keeps its level.
    pub(crate) levels: &'a [Level],
    /// Elements of the arrays that the instances hold.
    pub(crate) elements: usize,
}

impl<E: Evaluate> Run<'_, E> {
    /// Runs the schedule on instances, each of which has its own inputs. Returns the outputs of each. Runs on the current thread pool. Progress counts
    /// bootstraps. If there are none, it counts products and rotations of slots.
    pub(crate) fn run(&self, inputs: &[Vec<&E::Stored>], control: &Control<'_>) -> Result<Vec<Vec<E::Stored>>, Error> {
        let schedule = self.schedule;
        let counted = |step: &ArithmeticStep| match step {
            ArithmeticStep::Bootstrap(_) => true,
            ArithmeticStep::Multiply(..) => schedule.bootstraps == 0,
            _ => false,
        };
        let rotations = |step: &ArithmeticStep| match *step {
            ArithmeticStep::Slots(_, operation) if schedule.bootstraps == 0 => {
                slots::rotations(self.evaluator, operation, self.elements)
            }
            _ => 0,
        };
        let in_parts = |step: &ArithmeticStep| schedule.bootstraps == 0 && matches!(step, ArithmeticStep::Slots(..));
        let at_once = if schedule.crosses() { inputs.len() } else { self.concurrency.instances };
        let chunks = || inputs.chunks(at_once.max(1));
        let total = chunks().map(|instances| schedule.count(instances.len(), counted)).sum::<u64>()
            + schedule.steps.iter().map(rotations).sum::<u64>();
        let done = AtomicU64::new(0);
        control.report(0, total);
        let tick = |step: &ArithmeticStep| {
            if counted(step) || in_parts(step) {
                control.report(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            }
        };
        let mut outputs = Vec::with_capacity(inputs.len());
        for instances in chunks() {
            outputs.extend(self.run_instances(instances, control, &tick)?);
        }
        Ok(outputs)
    }

    fn run_instances(
        &self,
        inputs: &[Vec<&E::Stored>],
        control: &Control<'_>,
        tick: &(impl Fn(&ArithmeticStep) + Sync),
    ) -> Result<Vec<Vec<E::Stored>>, Error> {
        let Self { schedule, evaluator, concurrency, .. } = *self;
        let count = schedule.steps.len();
        let lanes = inputs.iter().map(|_| std::iter::repeat_with(|| None).take(count).collect()).collect();
        let mut values = Values { lanes, readers: readers(schedule) };
        let batch = concurrency.multiply_batch;
        let (kind, key) = keys(schedule, batch.is_some());
        for part in ordered(schedule, &key).chunk_by(|a, b| key(a) == key(b)) {
            if kind(part[0]) == Kind::Slots {
                for &index in part {
                    self.run_slots(index, &mut values, &|| {
                        tick(&schedule.steps[index]);
                        Ok(control.check()?)
                    })?;
                }
                continue;
            }
            // A step that all lanes share runs in the first lane.
            let lanes = |index: usize| if schedule.shared[index] { 0..1 } else { 0..inputs.len() };
            let jobs: Vec<(usize, usize)> =
                part.iter().flat_map(|&index| lanes(index).map(move |lane| (index, lane))).collect();
            let one = |values: &Values<E::Ciphertext>,
                       &(index, lane): &(usize, usize)|
             -> Result<Arc<E::Ciphertext>, Error> {
                let step = schedule.steps[index];
                control.check()?;
                let result = self.step(step, values, lane, &inputs[lane])?;
                tick(&step);
                Ok(Arc::new(result))
            };
            let many = |values: &Values<E::Ciphertext>, jobs: &[(usize, usize)]| -> Result<Vec<_>, Error> {
                control.check()?;
                let pairs = jobs.iter().map(|&(index, lane)| {
                    let [x, y] = schedule.steps[index].pair();
                    Ok((values.get(x, lane)?, values.get(y, lane)?))
                });
                let results = evaluator.multiply_batch(&pairs.collect::<Result<Vec<_>, Error>>()?, control)?;
                jobs.iter().for_each(|(index, _)| tick(&schedule.steps[*index]));
                Ok(results.into_iter().map(Arc::new).collect())
            };
            let alone = kind(part[0]) == Kind::Bootstrap && concurrency.bootstrap_alone;
            // A group of jobs that run together. If bootstraps run alone, it has the jobs of one step. The operands of
            // a group are dropped when all of its jobs are done.
            let groups: Vec<&[(usize, usize)]> = match kind(part[0]) {
                Kind::Batch => jobs.chunks(batch.unwrap_or(1)).collect(),
                _ => jobs.chunk_by(|a, b| !alone || a.0 == b.0).collect(),
            };
            for jobs in groups {
                let results: Vec<_> = if alone {
                    jobs.iter().map(|job| one(&values, job)).collect::<Result<_, _>>()?
                } else if kind(part[0]) == Kind::Batch {
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
        let output = |lane: usize, value: Value| Ok(evaluator.store(values.get(value, lane)?)?);
        (0..inputs.len()).map(|lane| schedule.outputs.iter().map(|&value| output(lane, value)).collect()).collect()
    }

    /// A step that takes its operand of all instances.
    fn run_slots(
        &self,
        index: usize,
        values: &mut Values<E::Ciphertext>,
        done: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        let step = self.schedule.steps[index];
        let ArithmeticStep::Slots(operand, operation) = step else { return Ok(()) };
        let array = (0..values.lanes.len()).map(|lane| values.get(operand, lane)).collect::<Result<Vec<_>, _>>()?;
        let results = slots::run(self.evaluator, operation, self.elements, &array, done)?;
        for (lane, result) in results.into_iter().enumerate() {
            values.set(index, lane, Arc::new(result), self.schedule.shared[index]);
        }
        values.release(step);
        Ok(())
    }

    fn step(
        &self,
        step: ArithmeticStep,
        values: &Values<E::Ciphertext>,
        lane: usize,
        inputs: &[&E::Stored],
    ) -> Result<E::Ciphertext, Error> {
        let at = |value| values.get(value, lane);
        let evaluator = self.evaluator;
        Ok(match step {
            ArithmeticStep::Input(index) => self.load(index, inputs)?,
            ArithmeticStep::Constant(value) => evaluator.constant(value)?,
            ArithmeticStep::AddConstant(x, constant) => evaluator.add_constant(at(x)?, constant)?,
            ArithmeticStep::MultiplyConstant(x, constant) => evaluator.multiply_constant(at(x)?, constant)?,
            ArithmeticStep::Add(x, y) => evaluator.add(at(x)?, at(y)?)?,
            ArithmeticStep::Subtract(x, y) => evaluator.sub(at(x)?, at(y)?)?,
            ArithmeticStep::Multiply(x, y) => evaluator.multiply(at(x)?, at(y)?)?,
            ArithmeticStep::MultiplyPublic(x, index) => match E::plaintext(inputs[index as usize]) {
                Some(plaintext) => evaluator.multiply_plain(at(x)?, plaintext)?,
                None => evaluator.multiply(at(x)?, &self.load(index, inputs)?)?,
            },
            ArithmeticStep::DropLevel(x) => evaluator.drop_level(at(x)?)?,
            ArithmeticStep::Bootstrap(x) => evaluator.bootstrap(at(x)?)?,
            // The operation takes all instances and never one alone.
            ArithmeticStep::Slots(_, operation) => return Err(operation.refused()),
        })
    }

    /// The input of this index, at the level at which the plan uses it. The elements of an array can be at different
    /// levels.
    fn load(&self, index: u32, inputs: &[&E::Stored]) -> Result<E::Ciphertext, Error> {
        let mut x = self.evaluator.load(inputs[index as usize])?;
        let level = self.levels.get(index as usize).copied();
        while level.is_some_and(|level| self.evaluator.level(&x) > level) {
            x = self.evaluator.drop_level(&x)?;
        }
        Ok(x)
    }
}

/// Number of readers of each value: steps and outputs.
fn readers(schedule: &Schedule) -> Vec<u32> {
    let mut readers = vec![0; schedule.steps.len()];
    schedule.steps.iter().flat_map(|step| step.operands()).for_each(|value| readers[value as usize] += 1);
    schedule.outputs.iter().for_each(|&output| readers[output as usize] += 1);
    readers
}

/// The kind of a step, and the key by which steps are ordered. Steps with one key run together. Within a wave, batches of
/// products run first, then steps of single instances, then steps that need all instances. Bootstraps run last, one after
/// the other if each uses all threads.
fn keys(schedule: &Schedule, batches: bool) -> (impl Fn(usize) -> Kind, impl Fn(&usize) -> (u32, Kind)) {
    let kind = move |index: usize| match schedule.steps[index] {
        ArithmeticStep::Bootstrap(_) => Kind::Bootstrap,
        ArithmeticStep::Slots(..) => Kind::Slots,
        ArithmeticStep::Multiply(..) if batches => Kind::Batch,
        _ => Kind::Instance,
    };
    (kind, move |index: &usize| (schedule.waves[*index], kind(*index)))
}

/// The steps in the order in which they run.
fn ordered(schedule: &Schedule, key: impl Fn(&usize) -> (u32, Kind)) -> Vec<usize> {
    let mut order: Vec<usize> = (0..schedule.steps.len()).collect();
    order.sort_by_key(key);
    order
}

/// The largest number of values of one instance that exist at a time.
pub(crate) fn most_live(schedule: &Schedule, batches: bool) -> usize {
    let (_, key) = keys(schedule, batches);
    let mut readers = readers(schedule);
    let (mut live, mut most) = (0, 0);
    for part in ordered(schedule, &key).chunk_by(|a, b| key(a) == key(b)) {
        live += part.len();
        most = most.max(live);
        for operand in part.iter().flat_map(|&index| schedule.steps[index].operands()) {
            let readers = &mut readers[operand as usize];
            *readers -= 1;
            live -= usize::from(*readers == 0);
        }
    }
    most
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Batch,
    Instance,
    Slots,
    Bootstrap,
}
