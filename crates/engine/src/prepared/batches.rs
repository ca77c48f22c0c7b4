//! Batches of lanes for several machines: one plans and hands out what others compute.

use super::kernels::{Choice, Kernels};
use super::run::{LaneInputs, Run};
use super::{Prepared, input_count, no_plan};
use crate::engine::{Element, PlannedWork};
use crate::plans::KernelPlan;
use crate::{Ciphertext, Control, Error, Plan, PrepareOptions, Program, Server, Work};
use solinas_circuits::steps::{Batch, Cursor, Kernel};

/// What a machine computes for a batch of lanes: [`Server::run_batch`] takes it, on any server with the same key.
#[derive(Debug)]
pub struct LaneBatch {
    /// A program of single values, which runs once for each lane.
    pub program: Program,
    /// Its plan. It holds for the noise of the inputs, which the planning machine knows.
    pub plan: Plan,
    /// What the lanes read: an array with an element for each lane, or one value for all. If there are several lanes, one input is an array.
    pub inputs: Vec<Ciphertext>,
    /// Whether the results hide the program.
    pub hides: bool,
}

/// Planned work of which other machines compute the batches (TFHE): [`Self::next`] hands one out, and [`Self::finish`] takes its results. The outputs
/// have the bytes that [`Prepared::run`] computes, unless they hide the program.
pub struct Batches {
    prepared: Prepared,
    /// The plans for inputs that were converted first.
    converted: Option<Kernels>,
    given: Vec<Ciphertext>,
    cursor: Option<Cursor<Element>>,
    /// The batch that was handed out.
    batch: Option<Batch>,
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("prepared", &self.prepared).finish_non_exhaustive()
    }
}

impl Prepared {
    /// Lets other machines compute the batches of the work. Inputs in another form than that of the plan are converted here.
    ///
    /// # Errors
    /// As [`Self::run`], before its first step; [`Error::NoPlan`] for a scheme without plans; [`Error::Request`] for a conversion.
    pub fn batches(self, control: &Control<'_>) -> Result<Batches, Error> {
        if self.request.conversion.is_some() {
            return Err(Error::Request {
                what: "a conversion has no batches".into(),
                help: "run it, or give the ciphertext to a program, whose batches convert it first".into(),
            });
        }
        let given = self.request.values.as_ref().ok_or_else(|| input_count(0, &self.request.names))?;
        let (given, converted) = match self.ready() {
            Some(given) => (given.to_vec(), None),
            None => {
                let (given, kernels) = self.in_form(given, control)?;
                (given, Some(kernels))
            }
        };
        let batches = Batches { prepared: self, converted, given, cursor: None, batch: None };
        batches.kernels().all.iter().try_for_each(|kernel| batches.plan(&*kernel.work).map(drop))?;
        Ok(batches)
    }
}

impl Batches {
    fn kernels(&self) -> &Kernels {
        self.converted.as_ref().unwrap_or(&self.prepared.kernels)
    }

    fn run<'a>(&'a self, control: &'a Control<'a>) -> Result<Run<'a>, Error> {
        let server = &self.prepared.server;
        Ok(Run { server, kernels: self.kernels(), given: &self.given, room: server.room()?, control })
    }

    fn plan(&self, work: &dyn PlannedWork) -> Result<KernelPlan, Error> {
        work.plan()?.ok_or_else(|| no_plan(&self.prepared.server))
    }

    /// The next batch. None after the last one. Batches of constants alone, which read nothing, are computed here.
    ///
    /// # Errors
    /// [`Error::Request`] before the results of the last batch are there; [`Error::Planning`]; [`Error::Cancelled`].
    pub fn next(&mut self, control: &Control<'_>) -> Result<Option<LaneBatch>, Error> {
        if self.batch.is_some() {
            return Err(order("the results of the last batch are not there", "give them to `finish` first"));
        }
        let run = self.run(control)?;
        let mut machine = run.machine(self.cursor.clone())?;
        let (batch, LaneInputs { values: mut inputs, replanned }) = loop {
            let Some(batch) = machine.next(run.batch()) else {
                self.cursor = Some(machine.checkpoint());
                return Ok(None);
            };
            let inputs = run.lanes(&batch, machine.inputs(&batch))?;
            if !inputs.values.is_empty() {
                break (batch, inputs);
            }
            let results = run.constants(&batch, &inputs)?;
            machine.finish(&batch, results);
        };
        let cursor = machine.checkpoint();
        if inputs.iter().all(|input| input.shape().is_none()) && batch.lanes.len() > 1 {
            inputs[0] = Ciphertext::stack(vec![inputs[0].clone(); batch.lanes.len()])?;
        }
        let kernels = self.kernels();
        let planned = &kernels.all[batch.step];
        let steps = &kernels.known.steps;
        let mut program = match steps.kernel(&steps.steps[batch.step]) {
            Kernel::Program(program) | Kernel::Packed(program) => program.clone(),
            Kernel::Circuit { netlist, optimize } => Program::of_circuit(netlist.clone(), *optimize)?,
        };
        program.inputs.iter_mut().for_each(|input| input.shape = None);
        let plan = Plan::new([self.plan(replanned.as_deref().unwrap_or(&*planned.work))?])?;
        let lanes = LaneBatch { program, plan, inputs, hides: planned.hides };
        (self.batch, self.cursor) = (Some(batch), Some(cursor));
        Ok(Some(lanes))
    }

    /// Takes the results of the batch that [`Self::next`] handed out, one for each output of its program. After an error, the batch is still handed out.
    ///
    /// # Errors
    /// [`Error::Request`] without such a batch, and for results of another number, type, form or number of elements; [`Error::KeyMismatch`];
    /// [`Error::Compact`].
    pub fn finish(&mut self, results: Vec<Ciphertext>) -> Result<(), Error> {
        let none = || order("no batch was handed out", "ask `next` for one first");
        let batch = self.batch.as_ref().ok_or_else(none)?;
        let control = Control::default();
        let run = self.run(&control)?;
        let values = run.values();
        values.check(batch, &results)?;
        let mut machine = run.machine(self.cursor.clone())?;
        machine.resume(batch)?;
        machine.finish(batch, values.results(batch, results)?);
        self.cursor = Some(machine.checkpoint());
        self.batch = None;
        Ok(())
    }

    /// The outputs, after the last batch.
    ///
    /// # Errors
    /// [`Error::Request`] before that.
    pub fn outputs(&self) -> Result<Vec<Ciphertext>, Error> {
        let control = Control::default();
        let run = self.run(&control)?;
        let machine = run.machine(self.cursor.clone())?;
        let progress = machine.progress(|_| 1);
        if progress.done < progress.total {
            return Err(order("batches are left", "compute those that `next` gives first"));
        }
        run.outputs(&run.values(), &machine)
    }
}

impl Server {
    /// Computes a batch of lanes that another server with the same key has planned ([`Batches`]).
    ///
    /// # Errors
    /// Inputs of a wrong number, type, key or shape; [`Error::OtherPlan`]; as [`Prepared::run`].
    pub fn run_batch(&self, batch: &LaneBatch, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        let options = PrepareOptions { plan: Some(&batch.plan), private_program: batch.hides };
        let work = Work::program(&batch.program, &batch.inputs);
        let choice = Choice { is_for_inputs: true, ..Choice::new(self, options, self.threads()) };
        Prepared::new(self, work, choice, control)?.run(control)
    }
}

fn order(what: &str, help: &str) -> Error {
    Error::Request { what: what.into(), help: help.into() }
}
