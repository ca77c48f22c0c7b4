//! The server: runs programs and circuits on ciphertexts with the public evaluation key.

use crate::ciphertext::Form;
use crate::error::same_key;
use crate::schedule::Schedule;
use crate::{Ciphertext, Control, Error, KeyId, ParamsInfo, Program, ServerKey, Type, gates, tables};
use serde::Serialize;
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::{GateCosts, Netlist, Port, radix};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{Evaluator, Job, LweCiphertext, Params, Table};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Instant;

/// What running something costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Bootstraps in all.
    pub bootstraps: u64,
    /// Bootstraps on the longest path.
    pub depth: u64,
    /// Seconds expected, from this machine's measured times; 0 when nothing was measured.
    pub seconds: f64,
    /// Seconds of one bootstrap alone, measured.
    pub bootstrap_seconds: f64,
    /// Threads it would run on.
    pub threads: usize,
    /// Bytes of the key made ready.
    pub memory_bytes: u64,
}

/// Measured seconds of a bootstrap: alone, and each of a batch on one thread.
#[derive(Debug, Clone, Copy)]
struct Speed {
    alone: f64,
    batched: f64,
}

/// More would wait for each other at every wave.
const MAX_THREADS: usize = 512;

/// A server that holds an evaluation key made ready and a pool of threads, and no secret.
pub struct Server {
    evaluator: Evaluator,
    pool: rayon::ThreadPool,
    speed: OnceLock<Speed>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("evaluator", &self.evaluator)
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Makes a key ready on `threads` threads, as many as the machine has when none is said.
    ///
    /// # Errors
    /// [`Error::Threads`]; an unknown `SOLINAS_BACKEND`.
    pub fn new(key: &ServerKey, threads: Option<usize>) -> Result<Self, Error> {
        let threads = threads.unwrap_or(0);
        if threads > MAX_THREADS {
            return Err(Error::Threads { threads, reason: format!("{MAX_THREADS} is the most a server runs on") });
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })?;
        let evaluator = pool.install(|| Evaluator::new(&key.key))?;
        Ok(Self { evaluator, pool, speed: OnceLock::new() })
    }

    /// Identity of the key.
    pub fn key_id(&self) -> KeyId {
        KeyId(self.evaluator.id().0)
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.evaluator.params().into()
    }

    /// Threads it runs on.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Bytes of the key made ready.
    pub fn memory_bytes(&self) -> usize {
        self.evaluator.size()
    }

    /// Runs a program on one ciphertext for each of its inputs. Arrays run elementwise, scalars go with every element.
    ///
    /// # Errors
    /// Inputs of a wrong number, type, key or shape; [`Error::Cancelled`].
    pub fn run(
        &self,
        program: &Program,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let ports: Vec<(String, Type)> = program.inputs.iter().map(|input| (input.name.clone(), input.ty)).collect();
        let (inputs, shape) = self.check_inputs(&ports, same_type, inputs, control)?;
        let lanes = lanes(&inputs);
        let schedule = self.plan(program, lanes, self.threads(), weight(&inputs))?;
        let outputs: Vec<Type> =
            program.outputs.iter().map(|output| program.nodes[output.value.0 as usize].ty).collect();
        self.execute(&schedule, &inputs, lanes, shape, &outputs, control)
    }

    /// Runs a circuit on one ciphertext for each of its input ports, of any type of the port's width.
    ///
    /// # Errors
    /// As [`Self::run`]; [`Error::PortWidth`].
    pub fn run_circuit(
        &self,
        netlist: &Netlist,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.run_circuit_as_is(&netlist.optimize(&self.gate_costs()), inputs, control)
    }

    /// As [`Self::run_circuit`], but gate for gate, without shrinking the circuit first: what a construction itself costs.
    ///
    /// # Errors
    /// As [`Self::run_circuit`].
    pub fn run_circuit_as_is(
        &self,
        netlist: &Netlist,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let ports = netlist
            .inputs()
            .iter()
            .map(|port| Ok((port.name.clone(), port_type(port)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        let outputs = netlist.outputs().iter().map(port_type).collect::<Result<Vec<_>, Error>>()?;
        // A circuit knows bits, not signs.
        let (inputs, shape) = self.check_inputs(&ports, |a, b| a.width() == b.width(), inputs, control)?;
        let lanes = lanes(&inputs);
        let schedule = self.plan_circuit(netlist, weight(&inputs))?;
        self.execute(&schedule, &inputs, lanes, shape, &outputs, control)
    }

    /// What a program costs on `elements` elements.
    ///
    /// # Errors
    /// A program that is not valid.
    pub fn estimate(&self, program: &Program, elements: usize) -> Result<Estimate, Error> {
        self.estimate_on(program, elements, self.threads())
    }

    /// As [`Self::estimate`], for as many threads (at least 1), each as fast as one is here alone.
    ///
    /// # Errors
    /// As [`Self::estimate`].
    pub fn estimate_on(&self, program: &Program, elements: usize, threads: usize) -> Result<Estimate, Error> {
        let threads = threads.max(1);
        let schedule = self.plan(program, elements, threads, 1)?;
        Ok(self.price(&schedule, elements, threads))
    }

    /// What a circuit costs.
    ///
    /// # Errors
    /// [`Error::PortWidth`].
    pub fn estimate_circuit(&self, netlist: &Netlist) -> Result<Estimate, Error> {
        let schedule = self.plan_circuit(&netlist.optimize(&self.gate_costs()), 1)?;
        Ok(self.price(&schedule, 1, self.threads()))
    }

    /// The same values in another form.
    ///
    /// # Errors
    /// [`Error::Form`] when the key cannot hold it; [`Error::Cancelled`].
    pub fn convert(&self, ciphertext: &Ciphertext, form: Form, control: &Control<'_>) -> Result<Ciphertext, Error> {
        same_key(|| "the ciphertext".into(), ciphertext.key_id(), self.key_id())?;
        if ciphertext.form() == form {
            return Ok(ciphertext.clone());
        }
        if self.evaluator.params().family() == Family::Gates {
            return Err(Error::Form { params: self.evaluator.params().name().into(), form: "radix" });
        }
        let width = ciphertext.ty().width() as u8;
        let graph = match form {
            Form::Bits => tables::radix_to_bits(width, ciphertext.weight())?,
            Form::Radix => {
                // Two bits may come from one rotation: twice the variance they would add up to otherwise.
                tables::bits_to_radix(width, ciphertext.weight().saturating_mul(2))?
            }
        };
        let lanes: Vec<Vec<&LweCiphertext>> =
            ciphertext.elements().iter().map(|element| element.iter().collect()).collect();
        let schedule = tables::schedule(&graph);
        let elements = self.pool.install(|| schedule.run(&self.evaluator, &lanes, control))?;
        Ciphertext { form, weight: schedule.output_weight(), elements, ..ciphertext.clone() }.checked()
    }

    /// Checks inputs against ports and brings them to the form programs use. The shape is that of the first array.
    fn check_inputs(
        &self,
        ports: &[(String, Type)],
        fits: impl Fn(Type, Type) -> bool,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<(Vec<Ciphertext>, Option<Vec<usize>>), Error> {
        if inputs.len() != ports.len() {
            let names: Vec<String> = ports.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            return Err(Error::InputCount { got: inputs.len(), want: ports.len(), names: names.join(", ") });
        }
        let mut shape: Option<Vec<usize>> = None;
        let mut checked = Vec::with_capacity(inputs.len());
        for ((name, ty), input) in ports.iter().zip(inputs) {
            same_key(|| format!("input {name:?}"), input.key_id(), self.key_id())?;
            if !fits(*ty, input.ty()) {
                return Err(Error::InputType { name: name.clone(), want: *ty, got: input.ty() });
            }
            if let Some(of_input) = input.shape() {
                match &shape {
                    Some(shape) if shape != of_input => {
                        return Err(Error::Broadcast { lhs: shape.iter().product(), rhs: input.len() });
                    }
                    _ => shape = Some(of_input.to_vec()),
                }
            }
            checked.push(self.convert(
                input,
                Form::of(self.evaluator.params()),
                &Control { progress: None, ..*control },
            )?);
        }
        Ok((checked, shape))
    }

    fn execute(
        &self,
        schedule: &Schedule,
        inputs: &[Ciphertext],
        lanes: usize,
        shape: Option<Vec<usize>>,
        outputs: &[Type],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let element = |input: &'_ Ciphertext, lane: usize| if input.shape().is_some() { lane } else { 0 };
        let blocks: Vec<Vec<&LweCiphertext>> = (0..lanes)
            .map(|lane| inputs.iter().flat_map(|input| &input.elements()[element(input, lane)]).collect())
            .collect();
        let results = self.pool.install(|| schedule.run(&self.evaluator, &blocks, control))?;
        let form = Form::of(self.evaluator.params());
        let mut results: Vec<_> = results.into_iter().map(Vec::into_iter).collect();
        outputs
            .iter()
            .map(|&ty| {
                let elements = results.iter_mut().map(|lane| lane.by_ref().take(form.blocks(ty)).collect()).collect();
                let (params, key_id, shape) = (self.evaluator.params().clone(), self.key_id(), shape.clone());
                let (insecure, weight) = (self.evaluator.is_insecure(), schedule.output_weight());
                Ciphertext { ty, shape, form, params, key_id, insecure, weight, elements }.checked()
            })
            .collect()
    }

    /// The schedule of a program that is expected to end first on that many threads.
    fn plan(&self, program: &Program, lanes: usize, threads: usize, weight: u64) -> Result<Schedule, Error> {
        let fewest = plan(program, self.evaluator.params(), weight, false)?;
        if lanes == 0 || lanes >= threads {
            // There is work for every thread in the least work.
            return Ok(fewest);
        }
        let shallow = plan(program, self.evaluator.params(), weight, true)?;
        // By fixed relative times, not measured ones: the same program on as many threads gives the same ciphertexts each time.
        let speed = Speed { alone: 1.0, batched: 0.75 };
        Ok(if seconds(&shallow, lanes, threads, speed) < seconds(&fewest, lanes, threads, speed) {
            shallow
        } else {
            fewest
        })
    }

    fn plan_circuit(&self, netlist: &Netlist, weight: u64) -> Result<Schedule, Error> {
        match self.evaluator.params().family() {
            Family::Gates => gates::schedule(netlist, weight),
            Family::Integers => {
                let forms = vec![Form::Radix; netlist.inputs().len()];
                Ok(tables::schedule(&tables::lower_netlist(netlist, &forms, weight)?))
            }
        }
    }

    fn gate_costs(&self) -> GateCosts {
        gate_costs(self.evaluator.params())
    }

    fn price(&self, schedule: &Schedule, lanes: usize, threads: usize) -> Estimate {
        let speed = self.speed();
        Estimate {
            seconds: seconds(schedule, lanes, threads, speed),
            bootstrap_seconds: speed.alone,
            threads,
            ..count(schedule, lanes, self.evaluator.params())
        }
    }

    /// Measured once: the second of two runs, when the key is warm.
    fn speed(&self) -> Speed {
        *self.speed.get_or_init(|| {
            let table = match self.evaluator.params().family() {
                Family::Gates => Table::Sign,
                Family::Integers => Table::Entries(vec![[0; 16]]),
            };
            let dimension = self.evaluator.params().big_dimension();
            let time = |count: usize| {
                // Words that are not 0, so that no step of a rotation is skipped.
                let words = (0..=dimension as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
                let job = Job { input: LweCiphertext::from_words(words), table: &table };
                let jobs = vec![job; count];
                let start = Instant::now();
                // Errors cannot happen for a ciphertext of the right dimension; if they did, the time would only be small.
                let _ = self.evaluator.bootstrap(&jobs);
                start.elapsed().as_secs_f64() / count as f64
            };
            let single = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            match single {
                Ok(pool) => pool.install(|| {
                    time(1);
                    Speed { alone: time(1), batched: time(8) }
                }),
                Err(_) => Speed { alone: time(1), batched: time(1) },
            }
        })
    }
}

/// Bootstraps and depth of a program under a parameter set, without a key: nothing is measured, so no seconds.
///
/// # Errors
/// An unknown set, or a program that is not valid.
pub fn cost(program: &Program, params: &str) -> Result<Estimate, Error> {
    let params = Params::named(params)?;
    Ok(count(&plan(program, &params, 1, false)?, 1, &params))
}

fn count(schedule: &Schedule, lanes: usize, params: &Params) -> Estimate {
    Estimate {
        bootstraps: (schedule.bootstraps() * lanes) as u64,
        depth: schedule.waves().len() as u64,
        seconds: 0.0,
        bootstrap_seconds: 0.0,
        threads: 0,
        memory_bytes: Evaluator::size_of(params) as u64,
    }
}

fn gate_costs(params: &Params) -> GateCosts {
    let mux = match params.family() {
        Family::Gates => 2,
        Family::Integers => 1,
    };
    GateCosts { mux, ..Default::default() }
}

fn plan(program: &Program, params: &Params, weight: u64, shallow: bool) -> Result<Schedule, Error> {
    program.validate()?;
    match params.family() {
        Family::Gates => {
            let style = if shallow { Style::LowestDepth } else { Style::FewestBootstraps };
            gates::schedule(&program.lower(Recipe::from(style))?.optimize(&gate_costs(params)), weight)
        }
        Family::Integers => {
            let style = if shallow { radix::Style::LowestDepth } else { radix::Style::FewestRotations };
            Ok(tables::schedule(&radix::lower(program, style, tables::budget(weight))?.graph))
        }
    }
}

/// Waves one after the other, each shared evenly by the threads.
fn seconds(schedule: &Schedule, lanes: usize, threads: usize, speed: Speed) -> f64 {
    let wave = |jobs: usize| match (jobs * lanes).div_ceil(threads) {
        0 => 0.0,
        1 => speed.alone,
        share => share as f64 * speed.batched,
    };
    schedule.waves().into_iter().map(wave).sum()
}

/// Weight to plan the inputs with: the greatest of theirs, times how often one block comes among them. Blocks that are the same carry the
/// same noise; a sum of `m` of them with any coefficients has at most `m` times the variance it would have were they independent.
fn weight(inputs: &[Ciphertext]) -> u64 {
    let elements = inputs.iter().map(Ciphertext::len).max().unwrap_or(0);
    let repeated = |element: usize| {
        let mut counts: HashMap<&[u32], u64> = HashMap::new();
        let of_element = |input: &'_ Ciphertext| if input.shape().is_some() { element } else { 0 };
        for block in inputs.iter().filter_map(|input| input.elements().get(of_element(input))).flatten() {
            // Masks are uniform: two of the same beginning are one ciphertext. Without a mask there is no noise.
            let words = &block.words()[..8.min(block.words().len())];
            if words.iter().any(|&word| word != 0) {
                *counts.entry(words).or_default() += 1;
            }
        }
        counts.into_values().max().unwrap_or(1)
    };
    let most = (0..elements).map(repeated).max().unwrap_or(1);
    inputs.iter().map(Ciphertext::weight).max().unwrap_or(1).saturating_mul(most)
}

/// Elements the inputs run on.
fn lanes(inputs: &[Ciphertext]) -> usize {
    inputs.iter().find(|input| input.shape().is_some()).map_or(1, Ciphertext::len)
}

/// A bool and a one-bit unsigned integer are the same bit.
fn same_type(a: Type, b: Type) -> bool {
    let bit = |ty: Type| matches!(ty, Type::Bool | Type::Uint(1));
    a == b || (bit(a) && bit(b))
}

fn port_type(port: &Port) -> Result<Type, Error> {
    match (port.bits.len(), port.signed) {
        (1, false) => Ok(Type::Bool),
        (width @ 1..=128, false) => Ok(Type::Uint(width as u8)),
        (width @ 1..=128, true) => Ok(Type::Int(width as u8)),
        (width, _) => Err(Error::PortWidth { name: port.name.clone(), width }),
    }
}
