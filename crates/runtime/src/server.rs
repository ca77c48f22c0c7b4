//! The server: runs programs and circuits on ciphertexts with the public evaluation key.

use crate::ciphertext::Form;
use crate::circuit_ports::CircuitPorts;
use crate::engine::{Batch, Engine, Plan, Wanted, Work};
use crate::error::same_key;
use crate::process::Pool;
use crate::{Ciphertext, Control, Error, KeyId, ParamsInfo, Program, Scheme, ServerKey, Type, memory};
use serde::Serialize;
use solinas_circuits::{Netlist, program};
use std::fmt;

/// What running something costs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// The scheme.
    pub scheme: Scheme,
    /// Bootstraps in all (TFHE, NTRU).
    pub bootstraps: u64,
    /// Recryptions in all (Gentry-Halevi).
    pub recrypts: u64,
    /// Products in all (Gentry-Halevi, NTRU); sums are next to free.
    pub products: u64,
    /// Automorphisms in all, of rotations and sums of slots (NTRU, BGV).
    pub rotations: u64,
    /// On the longest path: bootstraps or recryptions, or the levels that products take (NTRU, BGV, LWE).
    pub depth: u64,
    /// Seconds expected, from this machine's measured times; 0 when nothing was measured.
    pub seconds: f64,
    /// Seconds of one bootstrap or recryption alone, measured.
    pub bootstrap_seconds: f64,
    /// Threads it would run on.
    pub threads: usize,
    /// Bytes of the key made ready, and of the products that are computed together where these are large.
    pub memory_bytes: u64,
}

impl Estimate {
    /// The counts without the depth: `40 bootstraps`, or `3 recrypts, 25 products`.
    pub fn counts(&self) -> String {
        self.scheme.roles().counts(self)
    }
}

/// The counts: `40 bootstraps, depth 7`, or `3 recrypts, 25 products, depth 1`.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, depth {}", self.counts(), self.depth)
    }
}

/// What a server may use. The default is everything the machine has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerOptions {
    /// Threads; as many as the machine has when none is said.
    pub threads: Option<usize>,
    /// Bytes that tables may take beside the key, where the scheme has a choice (Gentry-Halevi): by default `SOLINAS_MEMORY_MIB`, or three
    /// quarters of what is free.
    pub memory: Option<u64>,
}

/// More would wait for each other at every wave.
const MAX_THREADS: usize = 512;

/// A server that holds an evaluation key made ready and a pool of threads, and no secret.
pub struct Server {
    pub(crate) engine: Box<dyn Engine>,
    pool: Pool,
    threads: usize,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("engine", &self.engine).field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Server {
    /// Makes a key ready on `threads` threads, as many as the machine has when none is said.
    ///
    /// # Errors
    /// As [`Self::with_options`].
    pub fn new(key: &ServerKey, threads: Option<usize>) -> Result<Self, Error> {
        Self::with_options(key, &ServerOptions { threads, memory: None })
    }

    /// Makes a key ready.
    ///
    /// # Errors
    /// [`Error::Threads`]; [`Error::Memory`] when no method fits; an unknown `SOLINAS_BACKEND`.
    pub fn with_options(key: &ServerKey, options: &ServerOptions) -> Result<Self, Error> {
        let threads = options.threads.unwrap_or(0);
        if threads > MAX_THREADS {
            return Err(Error::Threads { threads, reason: format!("{MAX_THREADS} is the most a server runs on") });
        }
        let pool = Pool::new(threads)?;
        let engine = pool.get()?.install(|| key.0.engine(options))?;
        let threads = pool.get()?.current_num_threads();
        Ok(Self { engine, pool, threads })
    }

    /// Identity of the key.
    pub fn key_id(&self) -> KeyId {
        self.engine.key_id()
    }

    /// The parameter set.
    pub fn params(&self) -> ParamsInfo {
        self.engine.params()
    }

    /// Threads it runs on.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Bytes of the key made ready, and of the products that are computed together where these are large.
    pub fn memory_bytes(&self) -> usize {
        self.engine.memory_bytes()
    }

    /// Runs a program on one ciphertext for each of its inputs. Arrays run elementwise, scalars go with every element; of integers modulo a number, what no
    /// array goes into but by a sum comes out as a scalar.
    ///
    /// # Errors
    /// Inputs of a wrong number, type, key or shape; [`Error::Empty`]; [`Error::NoRotations`]; [`Error::Levels`]; [`Error::Cancelled`].
    pub fn run(
        &self,
        program: &Program,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        program.validate()?;
        let ports = program_ports(program);
        let shape = self.check_inputs(&ports, same_type, inputs)?;
        let outputs = wanted(program, inputs, shape.as_deref())?;
        self.check_memory(&outputs, shape.as_deref())?;
        let inputs = self.converted(inputs, control)?;
        let work = self.work(&inputs);
        let plan = self.engine.plan(program, &work, control)?;
        let batch = Batch { inputs: &inputs, lanes: work.lanes, shape, outputs: &outputs };
        self.pool.get()?.install(|| plan.run(&batch, control))
    }

    /// Runs a circuit on one ciphertext for each of its input ports: of any type of the port's width, or, for ports of any width, an array of
    /// bools whose last axis has the port's bits, the least significant first. Outputs of more than 128 bits are such arrays.
    ///
    /// # Errors
    /// As [`Self::run`]; [`Error::PortWidth`].
    pub fn run_circuit(
        &self,
        netlist: &Netlist,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.circuit(netlist, true, inputs, control)
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
        self.circuit(netlist, false, inputs, control)
    }

    fn circuit(
        &self,
        netlist: &Netlist,
        optimize: bool,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let ports = CircuitPorts::new(netlist, inputs)?;
        let shape = self.check_inputs(&ports.types(), same_width, &ports.inputs)?;
        let outputs = ports.wanted();
        self.check_memory(&outputs, shape.as_deref())?;
        let inputs = self.converted(&ports.inputs, control)?;
        let work = self.work(&inputs);
        let plan = self.engine.plan_circuit(&ports.netlist, optimize, &work, control)?;
        let batch = Batch { inputs: &inputs, lanes: work.lanes, shape, outputs: &outputs };
        ports.join(self.pool.get()?.install(|| plan.run(&batch, control))?)
    }

    /// What a program costs on `elements` fresh elements; where it goes across elements and `elements` is 1, on a polynomial full of them.
    ///
    /// The first estimate of a key measures its operations. `control` can stop that and the planning, here and in the estimates below.
    ///
    /// # Errors
    /// A program that is not valid; [`Error::Planning`]; [`Error::Cancelled`].
    pub fn estimate(&self, program: &Program, elements: usize, control: &Control<'_>) -> Result<Estimate, Error> {
        self.estimate_on(program, elements, self.threads(), control)
    }

    /// As [`Self::estimate`], for as many threads (at least 1), each as fast as one is here alone.
    ///
    /// # Errors
    /// As [`Self::estimate`].
    pub fn estimate_on(
        &self,
        program: &Program,
        elements: usize,
        threads: usize,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let work = Work { inputs: None, lanes: elements, threads: threads.max(1) };
        self.engine.plan(program, &work, control)?.estimate(&work, self.pool.get()?, control)
    }

    /// What a program costs on those ciphertexts, as many elements of as much noise as they have. What it costs to change their form is not counted.
    ///
    /// # Errors
    /// As [`Self::run`] and [`Self::estimate`].
    pub fn estimate_inputs(
        &self,
        program: &Program,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let (plan, work) = self.plan_inputs(program, inputs, control)?;
        plan.estimate(&work, self.pool.get()?, control)
    }

    /// The counts of a program on those ciphertexts: as [`Self::estimate_inputs`], but nothing is measured, so no seconds.
    ///
    /// # Errors
    /// As [`Self::estimate_inputs`].
    pub fn count_inputs(
        &self,
        program: &Program,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let (plan, work) = self.plan_inputs(program, inputs, control)?;
        plan.count(work.lanes)
    }

    /// The counts of a program on `elements` fresh elements: as [`Self::estimate`], but nothing is measured, so no seconds.
    ///
    /// # Errors
    /// As [`Self::estimate`].
    pub fn count(&self, program: &Program, elements: usize, control: &Control<'_>) -> Result<Estimate, Error> {
        let work = Work { inputs: None, lanes: elements, threads: self.threads() };
        self.engine.plan(program, &work, control)?.count(elements)
    }

    fn plan_inputs<'a>(
        &self,
        program: &Program,
        inputs: &'a [Ciphertext],
        control: &Control<'_>,
    ) -> Result<(Box<dyn Plan + '_>, Work<'a>), Error> {
        program.validate()?;
        self.check_inputs(&program_ports(program), same_type, inputs)?;
        let work = self.work(inputs);
        Ok((self.engine.plan(program, &work, control)?, work))
    }

    /// What a circuit costs on those ciphertexts, as [`Self::estimate_inputs`].
    ///
    /// # Errors
    /// As [`Self::run_circuit`] and [`Self::estimate`].
    pub fn estimate_circuit_inputs(
        &self,
        netlist: &Netlist,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let ports = CircuitPorts::new(netlist, inputs)?;
        let (plan, work) = self.plan_ports(&ports, control)?;
        plan.estimate(&work, self.pool.get()?, control)
    }

    /// The counts of a circuit on those ciphertexts, as [`Self::count_inputs`].
    ///
    /// # Errors
    /// As [`Self::estimate_circuit_inputs`].
    pub fn count_circuit_inputs(
        &self,
        netlist: &Netlist,
        inputs: &[Ciphertext],
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let ports = CircuitPorts::new(netlist, inputs)?;
        let (plan, work) = self.plan_ports(&ports, control)?;
        plan.count(work.lanes)
    }

    /// The counts of a circuit on one fresh element: as [`Self::estimate_circuit`], but nothing is measured, so no seconds.
    ///
    /// # Errors
    /// As [`Self::estimate_circuit`].
    pub fn count_circuit(&self, netlist: &Netlist, control: &Control<'_>) -> Result<Estimate, Error> {
        let work = Work { inputs: None, lanes: 1, threads: self.threads() };
        self.engine.plan_circuit(&CircuitPorts::fresh(netlist).netlist, true, &work, control)?.count(1)
    }

    fn plan_ports<'a>(
        &self,
        ports: &'a CircuitPorts<'_>,
        control: &Control<'_>,
    ) -> Result<(Box<dyn Plan + '_>, Work<'a>), Error> {
        self.check_inputs(&ports.types(), same_width, &ports.inputs)?;
        let work = self.work(&ports.inputs);
        Ok((self.engine.plan_circuit(&ports.netlist, true, &work, control)?, work))
    }

    /// What a circuit costs on one fresh element; `optimize` shrinks it first, as [`Self::run_circuit`] does.
    ///
    /// # Errors
    /// Of the plan: a set without the levels; [`Error::Planning`]; [`Error::Cancelled`].
    pub fn estimate_circuit(
        &self,
        netlist: &Netlist,
        optimize: bool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let work = Work { inputs: None, lanes: 1, threads: self.threads() };
        let ports = CircuitPorts::fresh(netlist);
        let plan = self.engine.plan_circuit(&ports.netlist, optimize, &work, control)?;
        plan.estimate(&work, self.pool.get()?, control)
    }

    /// The same values in another form.
    ///
    /// # Errors
    /// [`Error::Form`] when the key cannot hold it; [`Error::Cancelled`].
    pub fn convert(&self, ciphertext: &Ciphertext, form: Form, control: &Control<'_>) -> Result<Ciphertext, Error> {
        same_key(|| "the ciphertext".into(), ciphertext, self.key_id(), &self.params())?;
        if ciphertext.form() == form {
            return Ok(ciphertext.clone());
        }
        self.pool.get()?.install(|| self.engine.convert(ciphertext, form, control))
    }

    /// Checks inputs against ports. The shape is that of the first array.
    fn check_inputs(
        &self,
        ports: &[(String, Type)],
        fits: impl Fn(Type, Type) -> bool,
        inputs: &[Ciphertext],
    ) -> Result<Option<Vec<usize>>, Error> {
        if inputs.len() != ports.len() {
            let names: Vec<String> = ports.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            return Err(Error::InputCount { got: inputs.len(), want: ports.len(), names: names.join(", ") });
        }
        let mut shape: Option<Vec<usize>> = None;
        let (key_id, params) = (self.key_id(), self.params());
        for ((name, ty), input) in ports.iter().zip(inputs) {
            same_key(|| format!("input {name:?}"), input, key_id, &params)?;
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
        }
        Ok(shape)
    }

    /// That there is memory for the outputs.
    fn check_memory(&self, outputs: &[Wanted], shape: Option<&[usize]>) -> Result<(), Error> {
        let params = self.params();
        let bytes = |output: &Wanted| {
            let elements = shape.filter(|_| !output.scalar).map(|shape| shape.iter().product());
            params.encrypted_bytes(output.ty, elements)
        };
        memory::check("the result", &params, outputs.iter().map(bytes).fold(0, u64::saturating_add), memory::FEWER)
    }

    /// The inputs in the form in which programs run.
    fn converted(&self, inputs: &[Ciphertext], control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        let control = control.without_progress();
        inputs.iter().map(|input| self.convert(input, self.engine.form(), &control)).collect()
    }

    /// What the inputs ask for; they count as fresh where they are of another form, and would become so.
    fn work<'i>(&self, inputs: &'i [Ciphertext]) -> Work<'i> {
        // Elements the inputs run on.
        let lanes = inputs.iter().find(|input| input.shape().is_some()).map_or(1, Ciphertext::len);
        let ready = inputs.iter().all(|input| input.form() == self.engine.form());
        Work { inputs: ready.then_some(inputs), lanes, threads: self.threads() }
    }
}

/// Counts and depth of a program under a parameter set of any scheme, without a key: nothing is measured, so no seconds.
///
/// # Errors
/// An unknown set, or a program that is not valid.
pub fn cost(program: &Program, params: &str) -> Result<Estimate, Error> {
    cost_watched(None, program, params, &Control::default())
}

/// As [`cost`], of that scheme: sets of two may have one name.
///
/// # Errors
/// As [`cost`].
pub fn cost_under(scheme: Scheme, program: &Program, params: &str) -> Result<Estimate, Error> {
    cost_watched(scheme, program, params, &Control::default())
}

/// As [`cost_under`]; `control` can stop the planning. Without a scheme it is the first that has a set of that name.
///
/// # Errors
/// As [`cost`]; [`Error::Cancelled`].
pub fn cost_watched(
    scheme: impl Into<Option<Scheme>>,
    program: &Program,
    params: &str,
    control: &Control<'_>,
) -> Result<Estimate, Error> {
    let scheme = scheme.into().or_else(|| Scheme::of_params(params)).unwrap_or_default();
    scheme.roles().cost(program, params, control)
}

/// As [`cost_watched`], of a circuit on one element, under the first scheme that has a set of that name.
///
/// # Errors
/// An unknown set, or one that does not compute the circuit; [`Error::Cancelled`].
pub fn cost_circuit(netlist: &Netlist, params: &str, control: &Control<'_>) -> Result<Estimate, Error> {
    let scheme = Scheme::of_params(params).unwrap_or_default();
    scheme.roles().cost_circuit(&CircuitPorts::fresh(netlist).netlist, params, control)
}

/// The outputs of a program on those inputs: of integers modulo a number, which share ciphertexts, scalars stay so.
fn wanted(program: &Program, inputs: &[Ciphertext], shape: Option<&[usize]>) -> Result<Vec<Wanted>, Error> {
    let arrays = program.arrays(&inputs.iter().map(|input| input.shape().is_some()).collect::<Vec<_>>());
    let of_output = |output: &program::Output| {
        let (at, ty) = (output.value.0 as usize, program.nodes[output.value.0 as usize].ty);
        Wanted { ty, scalar: ty.modulus().is_some() && !arrays[at] }
    };
    let outputs: Vec<Wanted> = program.outputs.iter().map(of_output).collect();
    let empty = shape.is_some_and(|shape| shape.contains(&0));
    match outputs.iter().zip(&program.outputs).find(|(wanted, _)| wanted.scalar && empty) {
        Some((_, output)) => Err(Error::Empty { output: output.name.clone() }),
        None => Ok(outputs),
    }
}

pub(crate) fn program_ports(program: &Program) -> Vec<(String, Type)> {
    program.inputs.iter().map(|input| (input.name.clone(), input.ty)).collect()
}

/// A circuit knows bits, not signs.
fn same_width(a: Type, b: Type) -> bool {
    a.width() == b.width()
}

/// A bool and a one-bit unsigned integer are the same bit.
pub(crate) fn same_type(a: Type, b: Type) -> bool {
    let bit = |ty: Type| matches!(ty, Type::Bool | Type::Uint(1));
    a == b || (bit(a) && bit(b))
}
