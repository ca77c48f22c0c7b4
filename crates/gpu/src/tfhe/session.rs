//! The values of a program on a device.

use super::Engine;
use super::kernels::Wave;
use crate::{Buffer, Error, Graph, Stream};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{LookupTable, LweCiphertext, Params, SlotBootstrap, Sum};
use std::collections::BTreeMap;

/// Largest number of outputs of a graph: CUDA allows no more blocks in this direction.
const OUTPUTS: usize = 65_535;

/// Largest number of ciphertexts of one copy to a device.
const WRITTEN: usize = 256;

/// The values of a program on a device, in slots. A slot holds one ciphertext of `k N + 1` words.
#[derive(Debug)]
pub struct Session<'a> {
    engine: &'a Engine,
    stream: Stream,
    slots: usize,
    /// For each table, the numbers of the steps of its outputs.
    steps: Vec<Vec<u32>>,
    wave: Wave,
    /// Graphs of waves, by numbers of jobs and outputs. They refer to the buffers of `wave`. The first wave of a shape runs
    /// without a graph, because its recording takes longer than the launches of one wave.
    graphs: BTreeMap<(usize, usize), Option<Graph>>,
}

impl<'a> Session<'a> {
    /// Largest number of bootstraps of a graph, and of sums that are read at once. A GPU runs such a wave in about 20
    /// ms. A run therefore reports progress often and stops quickly.
    pub const MAX_JOBS: usize = 1024;

    /// Makes empty slots for values, and room for waves of at most `jobs` bootstraps and for these tables.
    ///
    /// # Errors
    /// [`solinas_schemes::Error::Table`] if a table belongs to the other family or is empty; [`Error::Memory`]; the errors
    /// of the device.
    pub fn new(engine: &'a Engine, slots: usize, jobs: usize, tables: &[LookupTable]) -> Result<Self, Error> {
        let params = &engine.params;
        let of_this_family = |table: &LookupTable| match table {
            LookupTable::Sign => params.family() == Family::Gates,
            LookupTable::Entries(tables) => params.family() == Family::Integers && !tables.is_empty(),
        };
        if !tables.iter().all(of_this_family) {
            return Err(solinas_schemes::Error::Table { params: params.name().into() }.into());
        }
        let mut sets: Vec<[i32; 16]> = Vec::new();
        let mut number = |steps: [i32; 16]| {
            let known = sets.iter().position(|known| *known == steps);
            known.unwrap_or_else(|| {
                sets.push(steps);
                sets.len() - 1
            }) as u32
        };
        let steps = tables.iter().map(|table| table.steps().into_iter().map(&mut number).collect()).collect();
        let sets: Vec<u32> = sets.concat().into_iter().map(|step| step as u32).collect();
        let boxes: Vec<u32> = tables.iter().flat_map(LookupTable::boxes).collect();
        let (words, small) = (engine.words(), params.literal().lwe_dimension + 1);
        let jobs = jobs.clamp(1, engine.batch());
        let stream = Stream::new(&engine.device)?;
        let new = |words: usize, what: &str| stream.buffer::<u32>(words, what);
        let wave = Wave {
            values: new(slots * words, "the values of a program")?,
            starts: new(jobs + 1, "a wave")?,
            terms: new(2 * jobs, "a wave")?,
            constants: new(jobs, "a wave")?,
            tables: new(jobs, "a wave")?,
            outputs: new(3 * jobs, "a wave")?,
            boxes: stream.buffer_of(&boxes, "lookup tables")?,
            steps: stream.buffer_of(&sets, "lookup tables")?,
            arguments: new(jobs * words, "the arguments of a wave")?,
            switched: new(jobs * small, "the arguments of a wave")?,
            exponents: new(jobs * small, "the arguments of a wave")?,
            accumulators: new(jobs * (words - 1 + params.literal().ring_dimension), "the accumulators of a wave")?,
        };
        Ok(Self { engine, stream, slots, steps, wave, graphs: BTreeMap::new() })
    }

    /// Bytes that each bootstrap of a wave takes.
    pub(super) fn job_bytes(params: &Params) -> u64 {
        let p = params.literal();
        // A bootstrap has an argument, an accumulator, a switched argument with its exponents, and a value.
        let words = 3 * params.big_dimension() + p.ring_dimension + 2 * p.lwe_dimension + 16;
        4 * words as u64
    }

    /// Largest number of bootstraps of a wave.
    pub fn jobs(&self) -> usize {
        self.wave.constants.len()
    }

    /// Copies ciphertexts to their slots. Neighbouring slots go to the device as one array.
    ///
    /// # Errors
    /// [`solinas_schemes::Error::CiphertextLength`] unless each has `k N + 1` words; [`Error::Launch`] if there is no such
    /// slot; the errors of the device.
    pub fn write(&self, values: &[(u32, &LweCiphertext)]) -> Result<(), Error> {
        let want = self.engine.words();
        let mut values = values.to_vec();
        values.sort_by_key(|&(slot, _)| slot);
        for run in values.chunk_by(|a, b| a.0 + 1 == b.0) {
            for part in run.chunks(WRITTEN) {
                let mut words = Vec::with_capacity(part.len() * want);
                for &(slot, value) in part {
                    self.check(slot)?;
                    if value.words().len() != want {
                        return Err(solinas_schemes::Error::CiphertextLength { got: value.words().len(), want }.into());
                    }
                    words.extend_from_slice(value.words());
                }
                self.stream.write(&self.wave.values, part[0].0 as usize * want, &words)?;
            }
        }
        Ok(())
    }

    /// Computes independent bootstraps: none reads an output of another one. Returns when they are done.
    ///
    /// # Errors
    /// [`Error::Launch`] for a slot or table that does not exist, or a wrong number of outputs; the errors of the device.
    pub fn bootstrap(&mut self, bootstraps: &[SlotBootstrap]) -> Result<(), Error> {
        self.submit(bootstraps)?;
        self.synchronize()
    }

    /// Waits for all bootstraps.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize()
    }

    /// Gives independent bootstraps to the device. Does not wait for them.
    pub(super) fn submit(&mut self, bootstraps: &[SlotBootstrap]) -> Result<(), Error> {
        for bootstraps in bootstraps.chunks(self.jobs()) {
            self.arguments(bootstraps.iter().map(|bootstrap| &bootstrap.argument))?;
            let (mut tables, mut outputs) = (Vec::new(), Vec::new());
            for (job, bootstrap) in bootstraps.iter().enumerate() {
                let steps = self.steps.get(bootstrap.table).filter(|steps| steps.len() == bootstrap.outputs.len());
                let steps = steps.ok_or_else(|| misfit("a task does not fit its table"))?;
                tables.push(bootstrap.table as u32);
                for (&slot, &steps) in bootstrap.outputs.iter().zip(steps) {
                    self.check(slot)?;
                    outputs.extend([job as u32, slot, steps]);
                }
            }
            if outputs.len() > 3 * OUTPUTS {
                return Err(misfit("a wave has too many outputs"));
            }
            self.stream.write(&self.wave.tables, 0, &tables)?;
            if outputs.len() > self.wave.outputs.len() {
                self.wave.outputs = self.grown(outputs.len())?;
            }
            self.stream.write(&self.wave.outputs, 0, &outputs)?;
            let shape = (bootstraps.len(), outputs.len() / 3);
            let launches = || self.engine.kernels.wave(&self.wave, self.engine, shape.0 as u32, shape.1 as u32);
            match self.graphs.get(&shape) {
                Some(Some(graph)) => self.stream.replay(graph)?,
                Some(None) => {
                    let graph = Graph::new(&self.engine.device, &launches())?;
                    self.stream.replay(&graph)?;
                    self.graphs.insert(shape, Some(graph));
                }
                None => {
                    launches().iter().try_for_each(|launch| self.stream.launch(launch))?;
                    self.graphs.insert(shape, None);
                }
            }
        }
        Ok(())
    }

    /// Computes sums of values and reads them.
    ///
    /// # Errors
    /// [`Error::Launch`] for a slot that does not exist; the errors of the device.
    pub fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error> {
        let mut results = Vec::with_capacity(sums.len());
        let words = self.engine.words();
        for sums in sums.chunks(self.jobs()) {
            self.arguments(sums.iter())?;
            self.stream.launch(&self.engine.kernels.linear(&self.wave, sums.len() as u32))?;
            let mut all = vec![0; sums.len() * words];
            self.stream.read(&self.wave.arguments, 0, &mut all)?;
            results.extend(all.chunks_exact(words).map(|words| LweCiphertext::from_words(words.to_vec())));
        }
        Ok(results)
    }

    /// Writes sums to the device, at most [`Self::jobs`] of them.
    fn arguments<'s>(&mut self, sums: impl Iterator<Item = &'s Sum>) -> Result<(), Error> {
        let (mut starts, mut terms, mut constants) = (vec![0], Vec::new(), Vec::new());
        for sum in sums {
            for &(slot, coefficient) in &sum.terms {
                self.check(slot)?;
                terms.extend([slot, coefficient as u32]);
            }
            starts.push(terms.len() as u32 / 2);
            constants.push(sum.constant);
        }
        if terms.len() > self.wave.terms.len() {
            self.wave.terms = self.grown(terms.len())?;
        }
        self.stream.write(&self.wave.starts, 0, &starts)?;
        self.stream.write(&self.wave.terms, 0, &terms)?;
        self.stream.write(&self.wave.constants, 0, &constants)
    }

    /// Replaces a buffer of a wave by one of at least `words` words. Graphs refer to the old buffer, so they are
    /// dropped.
    fn grown(&mut self, words: usize) -> Result<Buffer<u32>, Error> {
        self.graphs.clear();
        self.stream.buffer(words.next_power_of_two(), "a wave")
    }

    fn check(&self, slot: u32) -> Result<(), Error> {
        if slot as usize >= self.slots { Err(misfit("a slot does not exist")) } else { Ok(()) }
    }
}

/// The error for a wave that does not fit its session.
fn misfit(problem: &str) -> Error {
    Error::Launch { kernel: "of a wave of bootstraps".into(), problem: problem.into() }
}
