//! Schedules: programs and circuits as waves of independent bootstraps.

use super::run::{Cursor, End, Inputs, Lanes, Position, Run};
use crate::need::Need;
use crate::{Control, Error};
use solinas_schemes::tfhe::{Backend, LookupTable, table_covariance};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::ops::Range;

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

    /// Noise weight of the sum, in variances of a bootstrap. The first `inputs` values have weight `input_weight`. The
    /// others have weight 1.
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
pub(crate) struct ScheduledBootstrap {
    pub(crate) argument: Linear,
    pub(crate) table: u32,
    pub(crate) first: u32,
    pub(crate) outputs: u32,
    pub(crate) wave: u32,
}

/// Waves of independent bootstraps over numbered values. The inputs are the first values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schedule {
    pub(crate) inputs: u32,
    /// Noise weight of the inputs: every sum of them has at most this many times the variance that the same sum of independent bootstraps has.
    input_weight: u64,
    values: u32,
    /// For each value, the wave from which it exists. It is 0 for inputs.
    born: Vec<u32>,
    pub(crate) bootstraps: Vec<ScheduledBootstrap>,
    tables: Vec<LookupTable>,
    table_ids: HashMap<Vec<u8>, u32>,
    pub(crate) outputs: Vec<Linear>,
}

impl Schedule {
    pub(crate) fn new(inputs: usize, input_weight: u64) -> Self {
        let (count, born) = (inputs as u32, vec![0; inputs]);
        Self { inputs: count, input_weight, values: count, born, ..Default::default() }
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
        self.bootstraps.push(ScheduledBootstrap { argument, table: id, first, outputs, wave });
        self.values += outputs;
        self.born.resize(self.values as usize, wave + 1);
        first
    }

    /// Adds an output.
    pub(crate) fn output(&mut self, linear: Linear) {
        self.outputs.push(linear);
    }

    /// The noise weight of some outputs: every sum of them has at most this many times the variance that the same sum of independent bootstraps has. It is the
    /// largest sum of absolute covariances of one output with all of them (Gershgorin's bound of the eigenvalues), in variances of a bootstrap.
    ///
    /// The weight is 1 only if each output is, up to its sign and a constant, a value of its own: an input of weight 1, or the table of a rotation with one
    /// table. The first words of its mask then identify its noise.
    pub(crate) fn joint_weight(&self, outputs: Range<usize>) -> u64 {
        // Values of different inputs and rotations are independent, or the weight of the inputs counts what they share.
        let mut terms: BTreeMap<u32, Vec<(usize, u32, i32)>> = BTreeMap::new();
        for (row, output) in self.outputs[outputs.clone()].iter().enumerate() {
            for &(value, c) in &output.terms {
                terms.entry(self.owner(value)).or_default().push((row, value, c));
            }
        }
        let mut covariances: HashMap<(usize, usize), i128> = HashMap::new();
        for terms in terms.values() {
            for &(row, a, c) in terms {
                for &(column, b, d) in terms {
                    let product = i128::from(c) * i128::from(d) * i128::from(self.covariance(a, b));
                    *covariances.entry((row, column)).or_default() += product;
                }
            }
        }
        let mut sums = vec![0; outputs.len()];
        covariances.into_iter().for_each(|((row, _), covariance)| sums[row] += covariance.unsigned_abs());
        let eighths = sums.into_iter().max().unwrap_or(0);
        u64::try_from(eighths.div_ceil(8)).unwrap_or(u64::MAX).max(1)
    }

    /// The inputs whose values some outputs have, up to their signs and constants. None if an output has another value, or two have the same one: a sum of them
    /// then has more noise than one of the inputs.
    pub(crate) fn passed(&self, outputs: Range<usize>) -> Option<Vec<u32>> {
        let mut passed = Vec::new();
        for output in &self.outputs[outputs] {
            match output.terms[..] {
                [] => {}
                [(value, 1 | -1)] if value < self.inputs && !passed.contains(&value) => passed.push(value),
                _ => return None,
            }
        }
        Some(passed)
    }

    /// Whether no input has any of the noise of some outputs.
    pub(crate) fn are_own(&self, outputs: Range<usize>) -> bool {
        self.outputs[outputs].iter().flat_map(|output| &output.terms).all(|&(value, _)| value >= self.inputs)
    }

    /// Whether no input and no other output has any of the noise of some outputs.
    pub(crate) fn are_apart(&self, outputs: Range<usize>) -> bool {
        let owners = |outputs: &[Linear]| -> BTreeSet<u32> {
            outputs.iter().flat_map(|output| &output.terms).map(|&(value, _)| self.owner(value)).collect()
        };
        let own = owners(&self.outputs[outputs.clone()]);
        let others = [&self.outputs[..outputs.start], &self.outputs[outputs.end..]];
        self.are_own(outputs) && others.into_iter().all(|others| owners(others).is_disjoint(&own))
    }

    /// The input or rotation that a value comes from, by the number of its first value.
    fn owner(&self, value: u32) -> u32 {
        match self.bootstraps.partition_point(|bootstrap| bootstrap.first <= value) {
            after if value >= self.inputs && after > 0 => self.bootstraps[after - 1].first,
            _ => value,
        }
    }

    /// The covariance of two values of one input or rotation, in eighths of the variance of a bootstrap.
    fn covariance(&self, a: u32, b: u32) -> i64 {
        if a < self.inputs {
            return i64::try_from(self.input_weight.saturating_mul(8)).unwrap_or(i64::MAX);
        }
        let first = self.owner(a);
        let bootstrap = self.bootstraps.partition_point(|bootstrap| bootstrap.first < first);
        match &self.tables[self.bootstraps[bootstrap].table as usize] {
            LookupTable::Entries(tables) if tables.len() > 1 => {
                table_covariance(&tables[(a - first) as usize], &tables[(b - first) as usize])
            }
            _ => 8,
        }
    }

    pub(crate) fn bootstraps(&self) -> usize {
        self.bootstraps.len()
    }

    /// Number of inputs and outputs of one instance.
    pub(crate) fn values_of_host(&self) -> usize {
        self.inputs as usize + self.outputs.len()
    }

    /// Number of bootstraps in each wave.
    pub(crate) fn waves(&self) -> Vec<usize> {
        let mut waves = Vec::new();
        for bootstrap in &self.bootstraps {
            let wave = bootstrap.wave as usize;
            if waves.len() <= wave {
                waves.resize(wave + 1, 0);
            }
            waves[wave] += 1;
        }
        waves
    }

    /// The memory of a run whose values take so many bytes each. A paused run holds the values of its lanes twice, and the results that
    /// it has. Results are held three times at the end: by the checkpoint, and while their bytes are made.
    pub(crate) fn need(&self, instances: usize, value: u64) -> Need {
        let results = (self.outputs.len() as u64).saturating_mul(instances as u64).saturating_mul(value);
        // The numbers of values and bootstraps: where they are, and when they are read.
        let numbers = 48 * u64::from(self.values) + 8 * self.bootstraps.len() as u64;
        Need { fixed: results.saturating_mul(3).saturating_add(numbers), lane: 2 * value * self.places().count as u64 }
    }

    /// Runs at most `lanes` instances side by side. Returns the outputs of each instance. Progress counts bootstraps.
    /// Between two waves, `pause` decides whether the run stops there.
    pub(crate) fn run(
        &self,
        target: &dyn Backend,
        inputs: &dyn Inputs,
        from: Option<&Cursor>,
        pause: &dyn Fn(Position) -> bool,
        lanes: usize,
        control: &Control<'_>,
    ) -> Result<End, Error> {
        let (places, instances) = (self.places(), inputs.instances());
        let most = self.waves().into_iter().chain([self.outputs.len()]).max().unwrap_or(1);
        let run = Run { schedule: self, places: &places, inputs, pause, control };
        let most_lanes = target.instances(places.count).min(lanes).max(1);
        let mut outputs = from.map_or_else(Vec::new, |cursor| cursor.outputs.clone());
        outputs.reserve(instances - outputs.len());
        let mut from = from.filter(|cursor| cursor.wave > 0);
        let started = outputs.len();
        while outputs.len() < instances {
            let (done, waves) = (outputs.len(), self.waves().len());
            if done > started && pause(Position { step: 0, done, lanes: instances, group: 0, wave: 0, waves }) {
                return Ok(End::Paused(Cursor { outputs, lanes: 0, wave: 0, live: Vec::new() }));
            }
            let resumed = from.take();
            let lanes = resumed.map_or_else(|| most_lanes.min(instances - done), |cursor| cursor.lanes);
            let mut slots = target.slots(places.count * lanes, most * lanes, &self.tables)?;
            match run.lanes(&mut *slots, lanes, done, resumed)? {
                Lanes::Done(more) => outputs.extend(more),
                Lanes::Paused(wave, live) => return Ok(End::Paused(Cursor { outputs, lanes, wave, live })),
            }
        }
        Ok(End::Done(outputs))
    }

    /// The values that exist before a wave and are read by this wave, by a later one or by an output.
    pub(crate) fn live(&self, wave: u32) -> Vec<u32> {
        let last = self.last_use();
        (0..self.values).filter(|&value| self.born[value as usize] <= wave && last[value as usize] > wave).collect()
    }

    /// Whether a run of `instances` instances can continue from a cursor: its numbers and its values fit this schedule.
    pub(crate) fn check_cursor(&self, cursor: &Cursor, instances: usize) -> bool {
        let waves = self.waves().len() as u32;
        let inside = cursor.wave == 0 && cursor.lanes == 0 && cursor.live.is_empty()
            || cursor.wave > 0
                && cursor.wave < waves
                && cursor.lanes > 0
                && Some(cursor.live.len()) == self.live(cursor.wave).len().checked_mul(cursor.lanes);
        let lanes = cursor.outputs.len().checked_add(cursor.lanes);
        inside
            && lanes.is_some_and(|lanes| lanes <= instances)
            && cursor.outputs.iter().all(|outputs| outputs.len() == self.outputs.len())
    }

    /// For each value, 1 plus the number of the last wave that reads it. A value that an output reads has the largest
    /// number, because outputs are read after the last wave.
    fn last_use(&self) -> Vec<u32> {
        // A value that is never read still takes its slot in the wave that writes it.
        let mut last_use = self.born.clone();
        for bootstrap in &self.bootstraps {
            for &(value, _) in &bootstrap.argument.terms {
                last_use[value as usize] = last_use[value as usize].max(bootstrap.wave + 1);
            }
        }
        for &(value, _) in self.outputs.iter().flat_map(|output| &output.terms) {
            last_use[value as usize] = u32::MAX;
        }
        last_use
    }

    /// Gives each value a slot from the wave that computes it to the last wave that reads it. Outputs are read after
    /// the last wave.
    fn places(&self) -> Places {
        let last_use = self.last_use();
        let mut order: Vec<usize> = (0..self.values as usize).collect();
        order.sort_by_key(|&value| self.born[value]);
        let mut places = Places { of: vec![0; self.values as usize], count: 0 };
        // The slots in use, ordered by the wave from which each of them is free.
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
pub(crate) struct Places {
    pub(crate) of: Vec<u32>,
    count: usize,
}
