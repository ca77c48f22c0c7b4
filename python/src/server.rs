//! The server, and the plans that it computes.

use std::sync::Arc;

use num_bigint::BigUint;
use pyo3::prelude::*;
use solinas_circuits::Netlist;
use solinas_runtime::{
    Ciphertext, Control, Error, Estimate, Form, Input, Inputs, Job, Plan, Prepared, Program, ProgressParts, Reduction,
    Server, ServerOptions, Type, Work,
};

use crate::ciphertext::PyCiphertext;
use crate::circuit::PyCircuit;
use crate::error::{Failure, circuit_error, guarded};
use crate::job::{PyJob, wait};
use crate::keys::{PyServerKey, plain};
use crate::params::estimate_dict;
use crate::plan::PyPlan;
use crate::program::PyProgram;

/// A server: an evaluation key that is ready for work, and threads.
#[pyclass(module = "solinas._core", name = "Server", frozen)]
pub(crate) struct PyServer {
    server: Arc<Server>,
}

/// A value that a plan starts from: a ciphertext, or the type, shape and bits of public values.
#[derive(FromPyObject)]
pub(crate) enum PyInput<'py> {
    Encrypted(PyRef<'py, PyCiphertext>),
    Public((String, Option<Vec<usize>>, Vec<BigUint>)),
}

impl PyInput<'_> {
    pub(crate) fn owned(self) -> PyResult<Input> {
        match self {
            Self::Encrypted(ciphertext) => Ok(ciphertext.inner.clone().into()),
            Self::Public((ty, shape, values)) => Ok(plain(&ty, shape, values)?.into()),
        }
    }
}

/// One step of a plan. A number stands for a value: the inputs of the plan come first, then the results of its steps, in order.
#[derive(FromPyObject)]
pub(crate) enum PyStep<'py> {
    /// The plan is optional.
    Program(PyRef<'py, PyProgram>, Vec<usize>, Option<PyRef<'py, PyPlan>>),
    Circuit(PyRef<'py, PyCircuit>, Vec<usize>, Option<PyRef<'py, PyPlan>>),
    /// The elements with these flat indices, in a shape.
    Take(usize, Vec<usize>, Option<Vec<usize>>),
    /// Scalars and arrays one after the other, in a shape.
    Stack(Vec<usize>, Vec<usize>),
    /// The elements of the result of a program on values, or of a value, combined by a reduction: its name, or its own program.
    Reduce(String, Option<PyRef<'py, PyProgram>>, Option<PyRef<'py, PyProgram>>, Vec<usize>),
}

impl PyStep<'_> {
    pub(crate) fn owned(self) -> Step {
        match self {
            Self::Program(program, values, plan) => Step::Program(program.program.clone(), values, pinned(plan)),
            Self::Circuit(circuit, values, plan) => Step::Circuit(circuit.netlist.clone(), values, pinned(plan)),
            Self::Take(value, indices, shape) => Step::Take(value, indices, shape),
            Self::Stack(values, shape) => Step::Stack(values, shape),
            Self::Reduce(name, own, map, args) => {
                let program = |program: Option<PyRef<'_, PyProgram>>| program.map(|program| program.program.clone());
                Step::Reduce(Reduce { name, own: program(own), map: program(map), args })
            }
        }
    }
}

fn pinned(plan: Option<PyRef<'_, PyPlan>>) -> Option<Plan> {
    plan.map(|plan| plan.inner.clone())
}

pub(crate) enum Step {
    Program(Program, Vec<usize>, Option<Plan>),
    Circuit(Netlist, Vec<usize>, Option<Plan>),
    Take(usize, Vec<usize>, Option<Vec<usize>>),
    Stack(Vec<usize>, Vec<usize>),
    Reduce(Reduce),
}

/// A reduction of the result of a program, or of a value.
pub(crate) struct Reduce {
    /// The name of the reduction. It does not matter if there is a program of its own.
    pub(crate) name: String,
    pub(crate) own: Option<Program>,
    pub(crate) map: Option<Program>,
    pub(crate) args: Vec<usize>,
}

impl Reduce {
    fn run(&self, server: &Server, values: &[Input], control: &Control<'_>) -> Result<Vec<Ciphertext>, Failure> {
        let reduction = match &self.own {
            Some(program) => Reduction::Program(program),
            None => Reduction::named(&self.name)
                .ok_or_else(|| Error::Internal(format!("there is no reduction {:?}", self.name)))?,
        };
        let parts = ProgressParts::new(control, 1 + usize::from(self.map.is_some()));
        let array = match &self.map {
            Some(program) => {
                let inputs = self.args.iter().map(|&at| value(values, at).cloned()).collect::<Result<Vec<_>, _>>()?;
                ciphertext_of(parts.run(0, |control| server.run(Work::program(program, &inputs), control))?)?
            }
            None => ciphertexts(values, &self.args)?.into_iter().next().ok_or_else(no_array)?,
        };
        let last = usize::from(self.map.is_some());
        Ok(vec![parts.run(last, |control| server.reduce(reduction, &array, control))?])
    }
}

fn no_array() -> Failure {
    Error::Internal("a reduction has no array".into()).into()
}

impl Step {
    /// Whether the step takes time.
    const fn computes(&self) -> bool {
        matches!(self, Self::Program(..) | Self::Circuit(..) | Self::Reduce(..))
    }

    /// The planned work of a step that takes time.
    fn prepare(&self, server: &Server, values: &[Input], control: &Control<'_>) -> Result<Option<Prepared>, Failure> {
        let (work, plan) = match self {
            Self::Program(program, args, plan) => {
                let inputs = args.iter().map(|&at| value(values, at).cloned()).collect::<Result<Vec<_>, _>>()?;
                (Work::program(program, &inputs), plan)
            }
            Self::Circuit(netlist, args, plan) => (Work::circuit(netlist, &ciphertexts(values, args)?), plan),
            Self::Take(..) | Self::Stack(..) | Self::Reduce(..) => return Ok(None),
        };
        Ok(Some(match plan {
            Some(plan) => server.prepare_pinned(work, plan, control)?,
            None => server.prepare(work, control)?,
        }))
    }

    fn run(
        &self,
        server: &Server,
        values: &[Input],
        auditable: bool,
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Failure> {
        match self {
            Self::Program(..) | Self::Circuit(..) => match self.prepare(server, values, control)? {
                Some(prepared) => Ok(prepared.auditable(auditable).run(control)?),
                None => Ok(Vec::new()),
            },
            Self::Reduce(reduce) => reduce.run(server, values, control),
            Self::Take(..) | Self::Stack(..) => self.arrange(values),
        }
    }

    /// The result of a step that takes no time: other elements, in another shape.
    pub(crate) fn arrange(&self, values: &[Input]) -> Result<Vec<Ciphertext>, Failure> {
        match self {
            Self::Program(..) | Self::Circuit(..) | Self::Reduce(..) => Ok(Vec::new()),
            Self::Take(array, indices, shape) => {
                Ok(vec![PyCiphertext::part(ciphertext(values, *array)?, indices, shape.clone())?])
            }
            Self::Stack(parts, shape) => {
                Ok(vec![Ciphertext::stack(ciphertexts(values, parts)?)?.reshape(Some(shape.clone()))?])
            }
        }
    }
}

pub(crate) fn value(values: &[Input], at: usize) -> Result<&Input, Failure> {
    values.get(at).ok_or_else(|| Error::Internal(format!("the plan has no value {at}")).into())
}

fn ciphertext(values: &[Input], at: usize) -> Result<&Ciphertext, Failure> {
    match value(values, at)? {
        Input::Encrypted(ciphertext) => Ok(ciphertext),
        Input::Public(_) => Err(Error::Internal(format!("value {at} of the plan is not encrypted")).into()),
    }
}

/// The only result of a conversion.
fn ciphertext_of(results: Vec<Ciphertext>) -> Result<Ciphertext, Failure> {
    results.into_iter().next().ok_or_else(|| Error::Internal("the conversion has no result".into()).into())
}

fn ciphertexts(values: &[Input], at: &[usize]) -> Result<Vec<Ciphertext>, Failure> {
    at.iter().map(|&at| ciphertext(values, at).cloned()).collect()
}

/// Runs the steps in order and returns the values with the numbers `outputs`.
pub(crate) fn compute(
    mut values: Vec<Input>,
    steps: &[Step],
    outputs: &[usize],
    control: &Control<'_>,
    run: impl Fn(&Step, &[Input], &Control<'_>) -> Result<Vec<Ciphertext>, Failure>,
) -> Result<Vec<Ciphertext>, Failure> {
    let (count, mut done) = (steps.iter().filter(|step| step.computes()).count(), 0);
    let parts = ProgressParts::new(control, count);
    for step in steps {
        let results = match count {
            0 | 1 => run(step, &values, control)?,
            _ => parts.run(done, |control| run(step, &values, control))?,
        };
        values.extend(results.into_iter().map(Input::from));
        done += usize::from(step.computes());
    }
    ciphertexts(&values, outputs)
}

/// The results as those of a private program.
fn hidden(server: &Server, results: &[Ciphertext], control: &Control<'_>) -> Result<Vec<Ciphertext>, Failure> {
    let parts = ProgressParts::new(control, results.len());
    let one = |(number, result): (usize, &Ciphertext)| {
        let work = |control: &Control<'_>| {
            server.prepare_private(result.ty(), std::slice::from_ref(result), control)?.run(control)
        };
        ciphertext_of(parts.run(number, work)?)
    };
    results.iter().enumerate().map(one).collect()
}

/// A program or a circuit, whose cost is to be estimated.
#[derive(FromPyObject)]
enum PyTask<'py> {
    Program(PyRef<'py, PyProgram>),
    Circuit(PyRef<'py, PyCircuit>),
}

enum Task {
    Program(Program),
    Circuit(Netlist),
}

impl PyTask<'_> {
    fn owned(self) -> Task {
        match self {
            Self::Program(program) => Task::Program(program.program.clone()),
            Self::Circuit(circuit) => Task::Circuit(circuit.netlist.clone()),
        }
    }
}

impl Task {
    /// The work on fresh inputs. A circuit runs once.
    fn fresh(&self, elements: usize) -> Work<'_> {
        match self {
            Self::Program(program) => Work::program(program, Inputs::Fresh { instances: elements }),
            Self::Circuit(netlist) => Work::circuit(netlist, Inputs::Fresh { instances: 1 }),
        }
    }
}

#[pymethods]
impl PyServer {
    /// Loads a key into memory and starts threads. `None` stands for the default of a limit.
    #[new]
    fn new(
        py: Python<'_>,
        key: &PyServerKey,
        threads: Option<usize>,
        memory: Option<u64>,
        device: Option<&str>,
        model: Option<&str>,
    ) -> PyResult<Self> {
        let key = Arc::clone(&key.key);
        let device = device.map(str::parse).transpose().map_err(|error| Failure::from(Error::from(error)))?;
        let model = model.map(str::parse).transpose().map_err(|error| Failure::from(Error::Model(error)))?;
        let options = ServerOptions { threads, memory, device, model, ..ServerOptions::default() };
        let job: Job<_, Failure> = Job::start(move |_| Ok(Server::with_options(&key, &options)?))?;
        wait(&job, py, None, None)?;
        Ok(Self { server: Arc::new(job.take()?) })
    }

    /// The number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.server.threads()
    }

    /// The device that computes.
    #[getter]
    fn device(&self) -> String {
        self.server.device().to_string()
    }

    /// The rule by which plans are chosen.
    #[getter]
    fn model(&self) -> String {
        self.server.model().to_string()
    }

    /// The error of the GPU after which a server on `auto` computed on the processor.
    #[getter]
    fn device_failure(&self) -> Option<&str> {
        self.server.device_failure()
    }

    /// The bytes of the key in memory.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.server.memory_bytes()
    }

    /// Starts the steps of a plan. The job's result is the values with the numbers `outputs`.
    #[pyo3(signature = (inputs, steps, outputs, auditable=false, private_program=false))]
    fn start(
        &self,
        inputs: Vec<PyInput<'_>>,
        steps: Vec<PyStep<'_>>,
        outputs: Vec<usize>,
        auditable: bool,
        private_program: bool,
    ) -> PyResult<PyJob> {
        let inputs = inputs.into_iter().map(PyInput::owned).collect::<PyResult<Vec<_>>>()?;
        let steps: Vec<Step> = steps.into_iter().map(PyStep::owned).collect();
        let server = Arc::clone(&self.server);
        let work = move |control: &Control<'_>| {
            let run =
                |step: &Step, values: &[Input], control: &Control<'_>| step.run(&server, values, auditable, control);
            let hides = usize::from(private_program);
            let parts = ProgressParts::new(control, 1 + hides);
            let computed = |control: &Control<'_>| compute(inputs, &steps, &outputs, control, run);
            let results = if private_program { parts.run(0, computed) } else { computed(control) }?;
            if private_program { parts.run(1, |control| hidden(&server, &results, control)) } else { Ok(results) }
        };
        Ok(PyJob::new(Job::start(work)?))
    }

    /// The plan of the first step that takes time. Ctrl-C stops the planning.
    fn plan(&self, py: Python<'_>, inputs: Vec<PyInput<'_>>, steps: Vec<PyStep<'_>>) -> PyResult<PyPlan> {
        let mut values = inputs.into_iter().map(PyInput::owned).collect::<PyResult<Vec<_>>>()?;
        let steps: Vec<Step> = steps.into_iter().map(PyStep::owned).collect();
        let server = Arc::clone(&self.server);
        let job: Job<Plan, Failure> = Job::start(move |control| {
            for step in &steps {
                match step.prepare(&server, &values, control)? {
                    Some(prepared) => return Ok(prepared.plan()?),
                    None => values.extend(step.run(&server, &values, false, control)?.into_iter().map(Input::from)),
                }
            }
            Err(Error::Internal("there is no step to plan".into()).into())
        })?;
        wait(&job, py, None, None)?;
        Ok(job.take()?.into())
    }

    /// The plan of a program or circuit on fresh inputs.
    fn plan_fresh(&self, py: Python<'_>, work: PyTask<'_>, elements: usize) -> PyResult<PyPlan> {
        let task = work.owned();
        let server = Arc::clone(&self.server);
        let job: Job<Plan, Failure> =
            Job::start(move |control| Ok(server.prepare(task.fresh(elements), control)?.plan()?))?;
        wait(&job, py, None, None)?;
        Ok(job.take()?.into())
    }

    /// Converts a ciphertext to the form `bits` or `radix`. Ctrl-C stops it.
    fn convert(&self, py: Python<'_>, ciphertext: &PyCiphertext, form: &str) -> PyResult<PyCiphertext> {
        let form = match form {
            "bits" => Form::Bits,
            "radix" => Form::Radix,
            _ => return Err(Failure::Format(format!("there is no form {form:?}; choose bits or radix")).into()),
        };
        let (server, ciphertext) = (Arc::clone(&self.server), ciphertext.inner.clone());
        let job: Job<_, Failure> = Job::start(move |control| {
            let converted = server.run(Work::Convert { ciphertext: &ciphertext, form }, control)?;
            ciphertext_of(converted)
        })?;
        wait(&job, py, None, None)?;
        Ok(job.take()?.into())
    }

    /// Returns the compact form of a result.
    fn compact(&self, py: Python<'_>, ciphertext: &PyCiphertext) -> PyResult<PyCiphertext> {
        let ciphertext = &ciphertext.inner;
        guarded(py, || Ok(self.server.compact(ciphertext)?.into()))
    }

    /// Starts the making of encrypted random values from a public seed. The job has one result.
    fn random(&self, ty: &str, shape: Option<Vec<usize>>, seed: Vec<u8>) -> PyResult<PyJob> {
        let ty: Type = ty.parse().map_err(|error| circuit_error(&error))?;
        let server = Arc::clone(&self.server);
        let work = move |control: &Control<'_>| Ok(vec![server.random(ty, shape, &seed, control)?]);
        Ok(PyJob::new(Job::start(work)?))
    }

    /// Predicts the cost of programs and circuits that run one after the other. Each comes with its number of elements. `hidden` has the type and the number
    /// of elements of each result that hides the program.
    /// Ctrl-C stops the measurement.
    #[pyo3(signature = (works, hidden=None))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        works: Vec<(PyTask<'py>, usize)>,
        hidden: Option<Vec<(String, usize)>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let works: Vec<_> = works.into_iter().map(|(work, elements)| (work.owned(), elements)).collect();
        let server = Arc::clone(&self.server);
        let job: Job<Estimate, Failure> = Job::start(move |control| {
            let cost =
                |(task, elements): &(Task, usize)| server.prepare(task.fresh(*elements), control)?.estimate(control);
            let of_hidden = |(ty, elements): &(String, usize)| {
                let fresh = Inputs::Fresh { instances: *elements };
                server.prepare_private(ty.parse().map_err(Error::from)?, fresh, control)?.estimate(control)
            };
            Ok(server.total_cost(works.iter().map(cost).chain(hidden.iter().flatten().map(of_hidden)))?)
        })?;
        wait(&job, py, None, None)?;
        estimate_dict(py, &job.take()?)
    }
}
