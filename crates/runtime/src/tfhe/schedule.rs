//! Schedules: programs and circuits as waves of independent bootstraps.

use crate::{Control, Error};
use solinas_schemes::tfhe::{BootstrapTask, Evaluator, LookupTable, LweCiphertext};
use std::collections::HashMap;

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
        self.tasks.push(Task { argument, table: id, first, wave });
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
    /// of each instance.
    ///
    /// Runs on the current thread pool. Progress counts bootstraps. At a time it runs as many instances as fill the
    /// batches of all threads. More would only hold more values in memory.
    pub(crate) fn run(
        &self,
        evaluator: &Evaluator,
        inputs: &[Vec<&LweCiphertext>],
        control: &Control<'_>,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let total = (self.tasks.len() * inputs.len()) as u64;
        let mut done = 0;
        control.report(0, total);
        let mut outputs = Vec::with_capacity(inputs.len());
        for inputs in inputs.chunks(batch()) {
            outputs.extend(self.run_lanes(evaluator, inputs, control, &mut done, total)?);
        }
        Ok(outputs)
    }

    fn run_lanes(
        &self,
        evaluator: &Evaluator,
        inputs: &[Vec<&LweCiphertext>],
        control: &Control<'_>,
        done: &mut u64,
        total: u64,
    ) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let dimension = evaluator.params().big_dimension();
        let lanes = inputs.len();
        // A value is dropped after the last wave that reads it. Outputs are read at the end.
        let mut last_use = vec![0u32; self.values as usize];
        for task in &self.tasks {
            for &(value, _) in &task.argument.terms {
                last_use[value as usize] = last_use[value as usize].max(task.wave + 1);
            }
        }
        for &(value, _) in self.outputs.iter().flat_map(|output| &output.terms) {
            last_use[value as usize] = u32::MAX;
        }
        let mut values: Vec<Vec<LweCiphertext>> = vec![Vec::new(); self.values as usize];
        for (value, slot) in values.iter_mut().take(self.inputs as usize).enumerate() {
            *slot = inputs.iter().map(|lane| lane[value].clone()).collect();
        }
        let linear = |values: &[Vec<LweCiphertext>], linear: &Linear, lane: usize| {
            let terms: Vec<(i32, &LweCiphertext)> =
                linear.terms.iter().map(|&(value, c)| (c, &values[value as usize][lane])).collect();
            LweCiphertext::linear(dimension, &terms, linear.constant)
        };
        let mut order: Vec<&Task> = self.tasks.iter().collect();
        order.sort_by_key(|task| task.wave);
        for wave in order.chunk_by(|a, b| a.wave == b.wave) {
            let jobs: Vec<(&Task, usize)> =
                wave.iter().flat_map(|task| (0..lanes).map(move |lane| (*task, lane))).collect();
            // Batches of equal size, so that no thread idles on a small last one.
            let size = jobs.len().div_ceil(jobs.len().div_ceil(batch()).max(1)).max(1);
            for jobs in jobs.chunks(size) {
                control.check()?;
                let arguments: Vec<BootstrapTask<'_>> = jobs
                    .iter()
                    .map(|(task, lane)| {
                        Ok(BootstrapTask {
                            input: linear(&values, &task.argument, *lane)?,
                            table: &self.tables[task.table as usize],
                        })
                    })
                    .collect::<Result<_, Error>>()?;
                for ((task, _), outputs) in jobs.iter().zip(evaluator.bootstrap(&arguments)?) {
                    for (i, output) in outputs.into_iter().enumerate() {
                        values[task.first as usize + i].push(output);
                    }
                }
                *done += jobs.len() as u64;
                control.report(*done, total);
            }
            let wave = wave[0].wave;
            for (slot, &last) in values.iter_mut().zip(&last_use) {
                if last <= wave + 1 && !slot.is_empty() {
                    *slot = Vec::new();
                }
            }
        }
        (0..lanes).map(|lane| self.outputs.iter().map(|output| Ok(linear(&values, output, lane)?)).collect()).collect()
    }
}

/// Number of bootstraps in flight. It is large enough for every thread to share passes over the key, and small enough
/// for frequent progress reports and quick cancellation.
fn batch() -> usize {
    32 * rayon::current_num_threads()
}
