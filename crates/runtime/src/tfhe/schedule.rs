//! Schedules: programs and circuits as waves of independent bootstraps.

use super::values::{Target, Values};
use crate::{Control, Error};
use solinas_gpu::tfhe::{self, Sum};
use solinas_schemes::tfhe::{LookupTable, LweCiphertext};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// `constant + sum of c_i x_i` over values of a schedule. The constant is a torus word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Linear {
    pub(crate) terms: Vec<(u32, i32)>,
    pub(crate) constant: u32,
}

impl Linear {
    pub(crate) fn value(id: u32) -> Self {
        Self { terms: vec![(id, 1)], constant: 0 }
    }

    /// Noise weight of the sum, in variances of a bootstrap. The first `inputs` values have weight `input_weight`, the
    /// others 1.
    pub(crate) fn weight(&self, inputs: usize, input_weight: u64) -> u64 {
        let one = |&(id, c): &(u32, i32)| {
            let weight = if (id as usize) < inputs { input_weight } else { 1 };
            weight.saturating_mul(u64::from(c.unsigned_abs()).pow(2))
        };
        self.terms.iter().map(one).sum()
    }

    /// Returns `constant + sum of factor * part`.
    pub(crate) fn sum(parts: &[(i32, &Self)], constant: u32) -> Self {
        let mut sum = Self { terms: Vec::new(), constant };
        for &(factor, part) in parts {
            sum.constant = sum.constant.wrapping_add((factor as u32).wrapping_mul(part.constant));
            for &(id, c) in &part.terms {
                match sum.terms.iter_mut().find(|(other, _)| *other == id) {
                    Some((_, total)) => *total += factor * c,
                    None => sum.terms.push((id, factor * c)),
                }
            }
        }
        sum.terms.retain(|&(_, c)| c != 0);
        sum
    }
}

/// One bootstrap. Its outputs, one for each table, are the values from `first` on.
#[derive(Debug, Clone)]
struct Task {
    argument: Linear,
    table: u32,
    first: u32,
    outputs: u32,
    wave: u32,
}

/// Waves of independent bootstraps over numbered values. The inputs are the first values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schedule {
    inputs: u32,
    values: u32,
    /// The wave after which each value exists; 0 for inputs.
    born: Vec<u32>,
    tasks: Vec<Task>,
    tables: Vec<LookupTable>,
    table_ids: HashMap<Vec<u8>, u32>,
    outputs: Vec<Linear>,
    output_weight: u64,
}

impl Schedule {
    pub(crate) fn new(inputs: usize) -> Self {
        Self { inputs: inputs as u32, values: inputs as u32, born: vec![0; inputs], ..Default::default() }
    }

    /// Adds a bootstrap. Returns the number of its first output.
    pub(crate) fn bootstrap(&mut self, argument: Linear, table: &LookupTable) -> u32 {
        let outputs = match table {
            LookupTable::Sign => 1,
            LookupTable::Entries(tables) => tables.len() as u32,
        };
        let key = match table {
            LookupTable::Sign => Vec::new(),
            LookupTable::Entries(tables) => tables.concat(),
        };
        let next = self.tables.len() as u32;
        let id = *self.table_ids.entry(key).or_insert(next);
        if id == next {
            self.tables.push(table.clone());
        }
        let wave = argument.terms.iter().map(|&(value, _)| self.born[value as usize]).max().unwrap_or(0);
        let first = self.values;
        self.tasks.push(Task { argument, table: id, first, outputs, wave });
        self.values += outputs;
        self.born.resize(self.values as usize, wave + 1);
        first
    }

    /// Adds an output with this noise weight.
    pub(crate) fn output(&mut self, linear: Linear, weight: u64) {
        self.output_weight = self.output_weight.max(weight);
        self.outputs.push(linear);
    }

    /// Largest noise weight of an output, in variances of a bootstrap.
    pub(crate) fn output_weight(&self) -> u64 {
        self.output_weight
    }

    pub(crate) fn bootstraps(&self) -> usize {
        self.tasks.len()
    }

    /// Number of inputs and outputs of one instance.
    pub(crate) fn values_of_host(&self) -> usize {
        self.inputs as usize + self.outputs.len()
    }

    /// Number of bootstraps in each wave.
    pub(crate) fn waves(&self) -> Vec<usize> {
        let mut waves = Vec::new();
        for task in &self.tasks {
            let wave = task.wave as usize;
            if waves.len() <= wave {
                waves.resize(wave + 1, 0);
            }
            waves[wave] += 1;
        }
        waves
    }

    /// Runs on instances side by side: `inputs[lane]` holds the inputs of one instance, in order. Returns the outputs
    /// of each instance. Progress counts bootstraps.
    pub(crate) fn run(
        &self,
        target: Target<'_>,
        inputs: &[Vec<&LweCiphertext>],
        control: &Control<'_>,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let places = self.places();
        let mut done = Done { bootstraps: 0, total: (self.tasks.len() * inputs.len()) as u64, control };
        done.add(0);
        let most = self.waves().into_iter().chain([self.outputs.len()]).max().unwrap_or(1);
        let mut outputs = Vec::with_capacity(inputs.len());
        for inputs in inputs.chunks(target.instances(places.count)) {
            let lanes = inputs.len();
            let mut values = target.values(places.count * lanes, most * lanes, &self.tables)?;
            outputs.extend(self.run_lanes(&mut *values, &places, inputs, &mut done)?);
        }
        Ok(outputs)
    }

    fn run_lanes(
        &self,
        values: &mut dyn Values,
        places: &Places,
        inputs: &[Vec<&LweCiphertext>],
        done: &mut Done<'_>,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let lanes = inputs.len();
        let slot = |value: u32, lane: usize| places.of[value as usize] * lanes as u32 + lane as u32;
        let sum = |linear: &Linear, lane: usize| Sum {
            terms: linear.terms.iter().map(|&(value, c)| (slot(value, lane), c)).collect(),
            constant: linear.constant,
        };
        for (lane, inputs) in inputs.iter().enumerate() {
            for (value, input) in (0..self.inputs).zip(inputs) {
                values.write(slot(value, lane), input)?;
            }
        }
        let mut order: Vec<&Task> = self.tasks.iter().collect();
        order.sort_by_key(|task| task.wave);
        for wave in order.chunk_by(|a, b| a.wave == b.wave) {
            let jobs: Vec<(&Task, usize)> =
                wave.iter().flat_map(|task| (0..lanes).map(move |lane| (*task, lane))).collect();
            // Batches of equal size, so that no thread idles on a small last one.
            let size = jobs.len().div_ceil(jobs.len().div_ceil(values.batch()).max(1)).max(1);
            for jobs in jobs.chunks(size) {
                done.control.check()?;
                let job = |&(task, lane): &(&Task, usize)| tfhe::Task {
                    argument: sum(&task.argument, lane),
                    table: task.table as usize,
                    outputs: (task.first..task.first + task.outputs).map(|value| slot(value, lane)).collect(),
                };
                values.bootstrap(&jobs.iter().map(job).collect::<Vec<_>>())?;
                done.add(jobs.len());
            }
        }
        let outputs = |lane| self.outputs.iter().map(move |output| sum(output, lane));
        let mut all = values.read(&(0..lanes).flat_map(outputs).collect::<Vec<_>>())?.into_iter();
        Ok((0..lanes).map(|_| all.by_ref().take(self.outputs.len()).collect()).collect())
    }

    /// Gives each value a slot from the wave that computes it to the last wave that reads it. Outputs are read at the end.
    fn places(&self) -> Places {
        // A value that is never read still takes its slot in the wave that writes it.
        let mut last_use = self.born.clone();
        for task in &self.tasks {
            for &(value, _) in &task.argument.terms {
                last_use[value as usize] = last_use[value as usize].max(task.wave + 1);
            }
        }
        for &(value, _) in self.outputs.iter().flat_map(|output| &output.terms) {
            last_use[value as usize] = u32::MAX;
        }
        let mut order: Vec<usize> = (0..self.values as usize).collect();
        order.sort_by_key(|&value| self.born[value]);
        let mut places = Places { of: vec![0; self.values as usize], count: 0 };
        // Slots in use, by the wave from which on they are free.
        let mut used: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
        for value in order {
            let free = used.peek().filter(|Reverse((until, _))| *until < self.born[value]).copied();
            let slot = match free {
                Some(Reverse((_, slot))) => {
                    used.pop();
                    slot
                }
                None => {
                    places.count += 1;
                    places.count as u32 - 1
                }
            };
            places.of[value] = slot;
            used.push(Reverse((last_use[value], slot)));
        }
        places
    }
}

/// The slot of each value, and the number of slots.
struct Places {
    of: Vec<u32>,
    count: usize,
}

/// Bootstraps that are done.
struct Done<'a> {
    bootstraps: u64,
    total: u64,
    control: &'a Control<'a>,
}

impl Done<'_> {
    fn add(&mut self, bootstraps: usize) {
        self.bootstraps += bootstraps as u64;
        self.control.report(self.bootstraps, self.total);
    }
}
