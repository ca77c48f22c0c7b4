//! Bootstrapping: keyswitch, modulus switch, blind rotation and sample extraction.

use super::modulus_switch::modulus_switch;
use super::params::Family;
use super::teams::Teams;
use super::{BOOL_TRUE, Error, LweCiphertext, Params, ServerKey, encode_value};
use crate::KeyId;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::torus::{BlindRotation, KeyswitchKey, Team, TeamCounters};
use std::sync::{Mutex, PoisonError};

/// The function that a bootstrap computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupTable {
    /// The sign: `1/8` of a turn if the phase is in the upper half turn (`0..1/2`), else `-1/8` (gates family).
    Sign,
    /// One or more tables (integers family). Entry `v` of a table is the result for the value `v` in `0..=15`.
    ///
    /// Range: entries in `0..=15`. The graphs of lookup tables in `solinas-circuits` refuse larger entries.
    /// [`Evaluator::bootstrap`] does not check entries. It accepts any entry and computes it modulo 32, but the failure
    /// probability of a parameter set holds for entries in `0..=15` only. Sixteen entries of 16 in a table alone raise
    /// the noise of the first block (`noise::first_block`) by 14 %. At the largest weight, a bootstrap of
    /// `integers-128` then fails with probability 2^-129.9 and not 2^-130.9.
    ///
    /// Several tables share one blind rotation by multi-value bootstrapping (Carpov, Izabachene, Mollimard, eprint
    /// 2018/622). Their outputs have more noise: see [`table_weight`].
    Entries(Vec<[u8; 16]>),
}

impl LookupTable {
    /// The table that returns its argument. A bootstrap with it refreshes a ciphertext.
    pub fn identity(family: Family) -> Self {
        match family {
            Family::Gates => Self::Sign,
            Family::Integers => Self::Entries(vec![std::array::from_fn(|value| value as u8)]),
        }
    }
}

/// Returns the noise variance of a table's output in multi-value bootstrapping, relative to a bootstrap with one table.
///
/// The output is a sum of 16 coefficients of the rotation, each multiplied by a step of the table. The steps include
/// the negacyclic one from the last entry to the first. The errors of the coefficients reach the phase through a binary
/// key. The mean of the key's bits correlates them: coefficients `d` boxes apart have correlation `(1 - d/8) / 2`. The
/// variance is therefore half the squared norm of the steps plus an eighth of the squared norm of the table.
/// Derivation: `docs/derivations/tfhe-parameters.md`, section 2.
pub fn table_weight(table: &[u8; 16]) -> f64 {
    table_covariance(table, table) as f64 / 8.0
}

/// Returns the noise covariance of the outputs of two tables of one rotation, in eighths of the variance of a bootstrap with one table. It is the bilinear
/// form of [`table_weight`].
pub fn table_covariance(a: &[u8; 16], b: &[u8; 16]) -> i64 {
    let entry = |table: &[u8; 16], index: usize| i64::from(table[index]);
    let step = |table, index| {
        if index == 0 { entry(table, 0) + entry(table, 15) } else { entry(table, index) - entry(table, index - 1) }
    };
    (0..16).map(|index| 4 * step(a, index) * step(b, index) + entry(a, index) * entry(b, index)).sum()
}

/// One bootstrap to compute.
#[derive(Debug, Clone)]
pub struct BootstrapTask<'a> {
    /// The argument. Shape: `k N + 1` words.
    pub input: LweCiphertext,
    /// The function to compute.
    pub table: &'a LookupTable,
}

/// An evaluation key that is ready for use: its masks are regenerated and its polynomials are transformed.
pub struct Evaluator {
    params: Params,
    id: KeyId,
    insecure: bool,
    rotation: BlindRotation,
    bootstrapping_key: AlignedVec<f64>,
    keyswitch_key: KeyswitchKey,
    pub(super) teams: Teams,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("params", &self.params.name()).field("id", &self.id).finish_non_exhaustive()
    }
}

/// Largest number of bootstraps that one thread runs in one pass over the key. A larger batch reads the key less often;
/// above this size the accumulators no longer fit the cache.
const BATCH: usize = 16;

/// Largest number of threads that compute a rotation together. They meet twice for each block of the key, and one rotation
/// of integers has only two polynomials to share between the meetings.
const LARGEST_TEAM: usize = 4;

/// A split of bootstraps over threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Bootstraps of a batch, which share the key; at least 1.
    pub batch: usize,
    /// Threads that compute a batch together; at least 1.
    pub members: usize,
}

/// Boxes of a test polynomial: the values of the integers family.
pub(super) const BOXES: usize = 16;

impl Evaluator {
    /// Prepares a key on the current thread pool, with the fastest back end of this CPU.
    ///
    /// # Errors
    /// [`Error::Field`] if `SOLINAS_BACKEND` names an unknown back end.
    pub fn new(key: &ServerKey) -> Result<Self, Error> {
        Self::with_backend(key, Backend::detect()?)
    }

    /// Prepares a key for a given back end. Results do not depend on the back end.
    ///
    /// # Errors
    /// [`Error::Field`] if the kernels do not support the parameters.
    pub fn with_backend(key: &ServerKey, backend: Backend) -> Result<Self, Error> {
        let params = key.params().clone();
        let p = params.literal();
        let n = p.ring_dimension;
        let rotation = BlindRotation::new(n, p.glwe_dimension, params.decomposition(), p.block_bits, backend)?;
        let block_len = rotation.block_len();
        let mut bootstrapping_key = AlignedVec::zeroed(p.lwe_dimension / p.block_bits * block_len);
        let fft = rotation.fft();
        bootstrapping_key.par_chunks_mut(block_len).enumerate().for_each(|(number, block)| {
            let (mut turns, mut transformed) = (vec![0.0; n], vec![0.0; n]);
            for bit in 0..p.block_bits {
                key.ggsw_rows(number * p.block_bits + bit, |row, words| {
                    for (output, words) in words.chunks_exact(n).enumerate() {
                        for (turns, &word) in turns.iter_mut().zip(words) {
                            // In turns, multiplied by 2/N for the inverse transform.
                            *turns = word as i64 as f64 * (2f64.powi(-63) / n as f64);
                        }
                        fft.forward(&turns, &mut transformed);
                        rotation.place(block, bit, row, output, &transformed);
                    }
                });
            }
        });
        let mut keyswitch_key = KeyswitchKey::new(params.big_dimension(), p.lwe_dimension, params.keyswitch(), backend);
        for j in 0..params.big_dimension() {
            key.keyswitch_rows(j, |level, words| keyswitch_key.place(j, level, words));
        }
        Ok(Self {
            id: key.id(),
            insecure: key.is_insecure(),
            params,
            rotation,
            bootstrapping_key,
            keyswitch_key,
            teams: Teams::default(),
        })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Identity of the key.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The plan of the blind rotations.
    pub fn rotation(&self) -> &BlindRotation {
        &self.rotation
    }

    /// The transformed bootstrapping key: the blocks of GGSW ciphertexts of the bits of the LWE key, in the order of
    /// [`BlindRotation`].
    pub fn bootstrapping_key(&self) -> &[f64] {
        &self.bootstrapping_key
    }

    /// The keyswitch key.
    pub fn keyswitch_key(&self) -> &KeyswitchKey {
        &self.keyswitch_key
    }

    /// Returns the bytes of memory that a prepared key of these parameters takes.
    pub fn size_of(params: &Params) -> usize {
        let p = params.literal();
        let bootstrap = p.lwe_dimension * params.ggsw_rows() * (p.glwe_dimension + 1) * p.ring_dimension * 8;
        let keyswitch = KeyswitchKey::size_of(params.big_dimension(), p.lwe_dimension, params.keyswitch());
        bootstrap + keyswitch
    }

    /// Returns the bytes of memory that the key takes.
    pub fn size(&self) -> usize {
        self.bootstrapping_key.len() * 8 + self.keyswitch_key.size()
    }

    /// Bootstraps independent tasks on the current thread pool. Returns the outputs of each task: one for
    /// [`LookupTable::Sign`], else one for each table.
    ///
    /// The result depends neither on the number of threads nor on the batches.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if an input does not have `k N + 1` words. [`Error::Table`] if a table belongs to the other
    /// family, or if [`LookupTable::Entries`] is empty.
    pub fn bootstrap(&self, tasks: &[BootstrapTask<'_>]) -> Result<Vec<Vec<LweCiphertext>>, Error> {
        let want = self.params.big_dimension() + 1;
        if let Some(task) = tasks.iter().find(|task| task.input.0.len() != want) {
            return Err(Error::CiphertextLength { got: task.input.0.len(), want });
        }
        let of_this_family = |table: &LookupTable| match table {
            LookupTable::Sign => self.params.family() == Family::Gates,
            LookupTable::Entries(tables) => self.params.family() == Family::Integers && !tables.is_empty(),
        };
        if !tasks.iter().all(|task| of_this_family(task.table)) {
            return Err(Error::Table { params: self.params.name().into() });
        }
        let Split { batch, members } = self.split_of_pool(tasks.len());
        Ok(tasks.par_chunks(batch).flat_map_iter(|tasks| self.bootstrap_batch(tasks, members)).collect())
    }

    /// The split of `tasks` bootstraps over the threads of the current pool. If each thread gets a batch of its own, the
    /// helpers of teams go back to the pool.
    pub(super) fn split_of_pool(&self, tasks: usize) -> Split {
        let split = self.split(tasks, rayon::current_num_threads());
        if split.members == 1 {
            self.teams.dismiss();
        }
        split
    }

    /// What the teams of threads did so far, without those at work at this moment.
    pub fn team_counters(&self) -> TeamCounters {
        self.teams.counters()
    }

    /// The split of `tasks` bootstraps over `threads` threads. Fewer bootstraps than threads are computed by teams, and more
    /// in equal batches.
    pub fn split(&self, tasks: usize, threads: usize) -> Split {
        let threads = threads.max(1);
        // With a bootstrap for each thread, teams are no faster: 5.5 ms for two integers on two threads both ways.
        if (1..threads).contains(&tasks) {
            // As many teams as there are threads to fill them. But a team reads the key once for a whole group of
            // accumulators, so fewer threads than that make one team for each group.
            let teams = (threads / LARGEST_TEAM).clamp(tasks.div_ceil(self.rotation.group()), tasks);
            let members = (threads / teams).min(self.rotation.largest_team()).min(LARGEST_TEAM);
            if members > 1 {
                return Split { batch: tasks.div_ceil(teams), members };
            }
        }
        let share = tasks.div_ceil(threads);
        // Batches of equal size: 17 tasks become 9 and 8, not 16 and 1.
        Split { batch: share.div_ceil(share.div_ceil(BATCH).max(1)).max(1), members: 1 }
    }

    /// Computes the first step of a bootstrap alone: switches ciphertexts to dimension `n`, under the LWE key.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if an input does not have `k N + 1` words.
    pub fn keyswitch(&self, inputs: &[LweCiphertext]) -> Result<Vec<LweCiphertext>, Error> {
        let want = self.params.big_dimension() + 1;
        if let Some(input) = inputs.iter().find(|input| input.0.len() != want) {
            return Err(Error::CiphertextLength { got: input.0.len(), want });
        }
        let words: Vec<u32> = inputs.iter().flat_map(|input| input.0.iter().copied()).collect();
        let small = self.params.literal().lwe_dimension + 1;
        let mut switched = vec![0u32; inputs.len() * small];
        self.keyswitch_key.keyswitch(&words, &mut switched);
        Ok(switched.chunks_exact(small).map(|words| LweCiphertext(words.to_vec())).collect())
    }

    /// Computes the second step of a bootstrap alone: rounds an output of [`Self::keyswitch`] to multiples of `1/2N`
    /// turn.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if the input does not have `n + 1` words.
    pub fn modulus_switch(&self, switched: &LweCiphertext) -> Result<LweCiphertext, Error> {
        let p = self.params.literal();
        if switched.0.len() != p.lwe_dimension + 1 {
            return Err(Error::CiphertextLength { got: switched.0.len(), want: p.lwe_dimension + 1 });
        }
        let mut exponents = Vec::with_capacity(p.lwe_dimension);
        let body = modulus_switch(&switched.0, p, 0, &mut exponents) as u32;
        let unit = u32::MAX / (2 * p.ring_dimension as u32) + 1;
        Ok(LweCiphertext(exponents.iter().map(|&e| u32::from(e)).chain([body]).map(|e| e.wrapping_mul(unit)).collect()))
    }

    fn bootstrap_batch(&self, tasks: &[BootstrapTask<'_>], members: usize) -> Vec<Vec<LweCiphertext>> {
        let accumulators = self.teams.with(members, |team| self.blind_rotate(tasks, (team, members)));
        let len = self.rotation.accumulator_len();
        tasks
            .iter()
            .zip(accumulators.chunks_exact(len))
            .map(|(task, accumulator)| match task.table {
                LookupTable::Entries(tables) if tables.len() > 1 => {
                    tables.iter().map(|table| self.sample_extract_table(accumulator, table)).collect()
                }
                _ => vec![self.sample_extract(accumulator)],
            })
            .collect()
    }

    /// Runs keyswitch, modulus switch to `2N`, and blind rotation of each task's test polynomial by its phase.
    fn blind_rotate(&self, tasks: &[BootstrapTask<'_>], (team, members): (&mut Team, usize)) -> AlignedVec<u32> {
        let p = self.params.literal();
        let small = p.lwe_dimension + 1;
        let inputs: Vec<u32> = tasks.iter().flat_map(|task| task.input.0.iter().copied()).collect();
        let switched = self.keyswitch_words(&inputs, (&mut *team, members));
        let mut exponents = Vec::with_capacity(tasks.len() * p.lwe_dimension);
        let start = |(task, switched): (&BootstrapTask<'_>, &[u32])| {
            (task.table.boxes(), modulus_switch(switched, p, task.table.offset(), &mut exponents))
        };
        let starts: Vec<_> = tasks.iter().zip(switched.chunks_exact(small)).map(start).collect();
        self.rotate(&starts, &exponents, (team, members))
    }

    /// The keyswitch of ciphertexts by the threads of a team, each with its columns of the key.
    fn keyswitch_words(&self, inputs: &[u32], (team, members): (&mut Team, usize)) -> Vec<u32> {
        let small = self.params.literal().lwe_dimension + 1;
        let batch = inputs.len() / (self.params.big_dimension() + 1);
        let mut switched = vec![0u32; batch * small];
        if members == 1 {
            self.keyswitch_key.keyswitch(inputs, &mut switched);
            return switched;
        }
        let parts = Mutex::new(Vec::new());
        team.each(members, &|member, members| {
            let runs = small.div_ceil(KeyswitchKey::COLUMNS);
            let end_of = |member: usize| small.min(runs * member / members * KeyswitchKey::COLUMNS);
            let columns = end_of(member)..end_of(member + 1);
            let mut words = vec![0u32; batch * columns.len()];
            if !columns.is_empty() {
                self.keyswitch_key.keyswitch_columns(inputs, columns.clone(), &mut words);
                parts.lock().unwrap_or_else(PoisonError::into_inner).push((columns, words));
            }
        });
        for (columns, words) in parts.into_inner().unwrap_or_else(PoisonError::into_inner) {
            for (switched, words) in switched.chunks_exact_mut(small).zip(words.chunks_exact(columns.len())) {
                switched[columns.clone()].copy_from_slice(words);
            }
        }
        switched
    }

    /// Rotates test polynomials by the phases of LWE ciphertexts at modulus `2N`. Each has its boxes, the body of its
    /// ciphertext, and `n` exponents, which are the mask. Up to `members` threads of a team compute them. Returns the
    /// accumulators.
    pub(super) fn rotate(
        &self,
        starts: &[([u32; BOXES], usize)],
        exponents: &[u16],
        (team, members): (&mut Team, usize),
    ) -> AlignedVec<u32> {
        let p = self.params.literal();
        let len = self.rotation.accumulator_len();
        let mut accumulators = AlignedVec::<u32>::zeroed(starts.len() * len);
        for ((boxes, body), accumulator) in starts.iter().zip(accumulators.chunks_exact_mut(len)) {
            rotated(boxes, *body, &mut accumulator[p.glwe_dimension * p.ring_dimension..]);
        }
        let mut scratch = self.rotation.scratch();
        let key = &self.bootstrapping_key;
        self.rotation.blind_rotate_together(key, exponents, &mut accumulators, &mut scratch, (team, members));
        accumulators
    }

    /// Extracts coefficient 0 of a GLWE accumulator as an LWE ciphertext of dimension `k N`.
    pub(super) fn sample_extract(&self, accumulator: &[u32]) -> LweCiphertext {
        let n = self.params.literal().ring_dimension;
        let (masks, body) = accumulator.split_at(self.params.big_dimension());
        let mut words = Vec::with_capacity(masks.len() + 1);
        for mask in masks.chunks_exact(n) {
            // a_0, then -a_{N-1}, .., -a_1.
            words.push(mask[0]);
            words.extend(mask[1..].iter().rev().map(|word| word.wrapping_neg()));
        }
        words.push(body[0]);
        LweCiphertext(words)
    }

    /// Extracts coefficient 0 of the accumulator times the steps of `table`. The steps stand at multiples of `N/16`.
    fn sample_extract_table(&self, accumulator: &[u32], table: &[u8; 16]) -> LweCiphertext {
        let n = self.params.literal().ring_dimension;
        let mut sum = vec![0u32; accumulator.len()];
        for (value, step) in steps(table).into_iter().enumerate() {
            if step == 0 {
                continue;
            }
            let step = step as u32;
            // Coefficient j of X^s a is a_(j - s), or -a_(N + j - s) for j < s.
            let shift = value * n / 16;
            for (sum, a) in sum.chunks_exact_mut(n).zip(accumulator.chunks_exact(n)) {
                let (wrapped, rest) = sum.split_at_mut(shift);
                let add = |sum: &mut [u32], a: &[u32], step: u32| {
                    sum.iter_mut().zip(a).for_each(|(sum, a)| *sum = sum.wrapping_add(step.wrapping_mul(*a)));
                };
                add(wrapped, &a[n - shift..], step.wrapping_neg());
                add(rest, a, step);
            }
        }
        self.sample_extract(&sum)
    }
}

/// The steps of a table: each entry minus the one before it. The entry before the first one is the negated last one.
fn steps(table: &[u8; 16]) -> [i32; 16] {
    std::array::from_fn(|value| {
        let previous = if value == 0 { -i32::from(table[15]) } else { i32::from(table[value - 1]) };
        i32::from(table[value]) - previous
    })
}

impl LookupTable {
    /// For each output, the sum `sum_v steps[v] X^(v N/16)` by which the rotated test polynomial is multiplied before its
    /// coefficient 0 is extracted.
    pub fn steps(&self) -> Vec<[i32; 16]> {
        match self {
            Self::Entries(tables) if tables.len() > 1 => tables.iter().map(steps).collect(),
            _ => vec![std::array::from_fn(|value| i32::from(value == 0))],
        }
    }

    /// Half a box, in units of `2^-32` turn. Adding it moves the phase of a value to the middle of its box.
    pub fn offset(&self) -> u32 {
        match self {
            Self::Sign => 0,
            Self::Entries(_) => encode_value(1) / 2,
        }
    }

    /// The coefficients of the test polynomial, which are equal within each of 16 boxes of `N/16` coefficients.
    pub fn boxes(&self) -> [u32; 16] {
        match self {
            Self::Sign => [BOOL_TRUE; BOXES],
            Self::Entries(tables) => match tables.as_slice() {
                [table] => table.map(|entry| encode_value(entry.into())),
                // Half a unit in every coefficient: its product with the steps of a table is the table.
                _ => [encode_value(1) / 2; BOXES],
            },
        }
    }
}

/// Writes the test polynomial with these boxes times `X^-rotation`.
fn rotated(boxes: &[u32; BOXES], rotation: usize, out: &mut [u32]) {
    let n = out.len();
    // Coefficient j of X^-r v is coefficient j + r of the period-2N sequence (v, -v).
    for (j, out) in out.iter_mut().enumerate() {
        let at = (j + rotation) % (2 * n);
        let value = boxes[at % n * BOXES / n];
        *out = if at < n { value } else { value.wrapping_neg() };
    }
}
