//! The only loop over steps: it takes batches of lanes from a [`Machine`], computes them, and hands the results back.

use super::kernels::{Kernels, Known, PlannedKernel};
use super::no_pause;
use super::values::Values;
use crate::engine::{Blockwise, Element, Facts, Operand, Operands, Part, PlannedWork, Stopped};
use crate::plans::{Cursor, Position, Ran, RunId};
use crate::{Ciphertext, Control, Error, Progress, RunState, Server, Type};
use solinas_circuits::program::ValueType;
use solinas_circuits::steps::{self, Batch, Machine, Output, Port, SlotId, Source, Step};
use solinas_values::payload::sizes;

/// A run of planned steps on inputs.
pub(super) struct Run<'a> {
    pub(super) server: &'a Server,
    pub(super) kernels: &'a Kernels,
    pub(super) given: &'a [Ciphertext],
    /// Bytes that the run may take beside the key and the inputs.
    pub(super) room: u64,
    pub(super) control: &'a Control<'a>,
}

/// What a batch of lanes reads.
pub(super) struct LaneInputs {
    pub(super) values: Vec<Ciphertext>,
    /// The plan of the batch, if that of its step is not for these values.
    pub(super) replanned: Option<Box<dyn PlannedWork>>,
}

/// How a run in parts begins and stops.
pub(super) struct Parts<'a> {
    pub(super) id: RunId,
    pub(super) from: Option<&'a RunState>,
    pub(super) pause: &'a (dyn Fn(Position) -> bool + Sync),
}

/// Where a run begins: the batch that an earlier one had begun, and its position in the kernel.
struct Start<'a> {
    machine: Machine<'a, Element>,
    batch: Option<Batch>,
    cursor: Option<Cursor>,
}

impl Run<'_> {
    /// Computes the outputs, in parts if the caller asks for them.
    pub(super) fn run(&self, parts: Option<&Parts<'_>>) -> Result<Ran, Error> {
        let steps = &self.kernels.known.steps;
        let values = self.values();
        let is_single = steps.steps.len() == 1;
        let Start { mut machine, batch: mut next, mut cursor } = self.start(parts)?;
        let (size, costs) = (self.batch(), self.costs()?);
        let total: u64 =
            costs.iter().zip(&steps.steps).map(|(cost, step)| cost.saturating_mul(step.lanes as u64)).sum();
        let mut last: Option<Batch> = None;
        while let Some(batch) = next.take().or_else(|| machine.next(size)) {
            let done = machine.progress(|step| costs[step]).done;
            // Between two batches, a run of several steps has nothing of a kernel to keep.
            let pauses = |parts: &&Parts<'_>| last.as_ref().is_some_and(|last| (parts.pause)(self.between(last)));
            if let Some(parts) = parts.filter(pauses) {
                return self.paused(parts, Cursor::default(), None, &machine);
            }
            let inputs = self.lanes(&batch, machine.inputs(&batch))?;
            let work = costs[batch.step].saturating_mul(batch.lanes.len() as u64);
            let report = |now: Progress| match is_single {
                true => self.control.report(now.done, now.total),
                false => {
                    let part = u128::from(now.done) * u128::from(work) / u128::from(now.total.max(1));
                    self.control.report(done + part as u64, total);
                }
            };
            let control = Control { progress: self.control.progress.is_some().then_some(&report), ..*self.control };
            let results = match self.part(&batch, &inputs, cursor.take().as_ref(), parts, &control)? {
                Part::Done(results) => results,
                Part::Paused(cursor) => {
                    let itself = || Error::Internal("a run paused by itself".into());
                    return self.paused(parts.ok_or_else(itself)?, cursor, Some(batch), &machine);
                }
            };
            match self.direct(&batch, results) {
                Ok(results) => return results.map(Ran::Done),
                Err(results) => machine.finish(&batch, values.results(&batch, results)?),
            }
            last = Some(batch);
        }
        self.outputs(&values, &machine).map(Ran::Done)
    }

    pub(super) fn values(&self) -> Values<'_> {
        Values { server: self.server, kernels: self.kernels, given: self.given }
    }

    /// The machine at the beginning, or in a state.
    pub(super) fn machine(&self, state: Option<steps::Cursor<Element>>) -> Result<Machine<'_, Element>, Error> {
        Ok(Machine::new(&self.kernels.known.steps, self.budget(), state)?)
    }

    /// What a batch reads, and its plan if that of its step is not for these inputs.
    pub(super) fn lanes(
        &self,
        batch: &Batch,
        read: Vec<Vec<steps::Element<'_, Element>>>,
    ) -> Result<LaneInputs, Error> {
        let (values, control) = (self.values(), self.control.without_progress());
        let weight = self.more_noise(&values, batch, &read)?;
        let values = values.inputs(batch, read)?;
        let planned = &self.kernels.all[batch.step];
        let replanned = match weight {
            Some(weight) => Some(Kernels::anew(self.server, planned, (None, weight), &control)?),
            None if !planned.is_final => Some(Kernels::anew(self.server, planned, (Some(&values), 1), &control)?),
            None => None,
        };
        Ok(LaneInputs { values, replanned })
    }

    /// The results of a batch that reads nothing.
    pub(super) fn constants(&self, batch: &Batch, nothing: &LaneInputs) -> Result<Vec<Vec<Element>>, Error> {
        let part = || self.part(batch, nothing, None, None, self.control);
        match self.server.pool.get()?.install(part)? {
            Part::Done(results) => self.values().results(batch, results),
            Part::Paused(_) => Err(Error::Internal("a run paused by itself".into())),
        }
    }

    /// The machine at the beginning, or where the state of an earlier run left it.
    fn start(&self, parts: Option<&Parts<'_>>) -> Result<Start<'_>, Error> {
        let Known { steps, types, facts } = &self.kernels.known;
        let Some((parts, state)) = parts.and_then(|parts| Some((parts, parts.from?))) else {
            return Ok(Start { machine: self.machine(None)?, batch: None, cursor: None });
        };
        let slots: Vec<(Type, Facts)> = types.iter().map(|ty| ty.ty).zip(facts.iter().copied()).collect();
        let stopped = self.pauses()?.stopped(parts.id, state, &slots)?;
        let (batch, state) = match stopped.steps {
            Some((batch, state)) => (batch, Some(state)),
            None => (None, None),
        };
        let other = || Error::OtherRun { what: "of other steps".into() };
        // Between two batches of several steps, no kernel has a state.
        let cursor = Some(stopped.cursor).filter(|cursor| cursor != &Cursor::default());
        let is_single = steps.steps.len() == 1;
        if is_single != state.is_none() || cursor.is_some() && !is_single && batch.is_none() {
            return Err(other());
        }
        let mut machine = self.machine(state).map_err(|_| other())?;
        batch.iter().try_for_each(|batch| machine.resume(batch)).map_err(|_| other())?;
        Ok(Start { machine, batch, cursor })
    }

    /// The engine, if its runs can pause.
    fn pauses(&self) -> Result<&dyn Blockwise, Error> {
        self.server.engine.blockwise().ok_or_else(|| no_pause(self.server))
    }

    /// The state of a run that stops in a batch, or between two.
    fn paused(
        &self,
        parts: &Parts<'_>,
        cursor: Cursor,
        batch: Option<Batch>,
        machine: &Machine<'_, Element>,
    ) -> Result<Ran, Error> {
        let steps = (self.kernels.all.len() != 1).then(|| (batch, machine.checkpoint()));
        let state = self.pauses()?.state(parts.id, Stopped { cursor, steps })?;
        Ok(Ran::Paused(Box::new(state)))
    }

    /// Computes a batch, by the plan of its step or by another one.
    fn part(
        &self,
        batch: &Batch,
        inputs: &LaneInputs,
        from: Option<&Cursor>,
        parts: Option<&Parts<'_>>,
        control: &Control<'_>,
    ) -> Result<Part, Error> {
        let work: &dyn PlannedWork = inputs.replanned.as_deref().unwrap_or(&*self.kernels.all[batch.step].work);
        let values = self.values();
        let outputs = values.outputs(batch.step);
        let room = if self.is_whole() { self.room } else { self.room / 4 };
        let of_engine = values.batch(batch.step, batch.lanes.len(), &inputs.values, &outputs, room);
        match parts {
            None => work.run(&of_engine, control).map(Part::Done),
            Some(parts) => {
                let (step, lanes) = (batch.step, self.kernels.known.steps.steps[batch.step].lanes);
                let pause = |inner: Position| {
                    (parts.pause)(Position { step, lanes, done: batch.lanes.start + inner.done, ..inner })
                };
                let work = work.pausing().ok_or_else(|| no_pause(self.server))?;
                work.run_until(&of_engine, from, &pause, control)
            }
        }
    }

    /// A plan takes results of different lanes to have independent noise. They have the same if all their operands were equal. Returns the noise weight of a
    /// batch that reads such results together.
    fn more_noise(
        &self,
        values: &Values<'_>,
        batch: &Batch,
        read: &[Vec<steps::Element<'_, Element>>],
    ) -> Result<Option<u64>, Error> {
        let known = &self.kernels.known;
        let Some(blocks) = self.server.engine.blockwise() else { return Ok(None) };
        if self.kernels.all.len() == 1 || !self.kernels.all[batch.step].is_final {
            return Ok(None);
        }
        let ports = &known.steps.steps[batch.step].ports;
        let is_computed = |slot: SlotId| matches!(known.steps.source(slot), Source::Step(_));
        let slots = || ports.iter().flat_map(|port| known.steps.slots_of(*port));
        if ports.len() < 2 || !slots().any(is_computed) {
            return Ok(None);
        }
        let operand = |port: usize, lane: usize| known.operand(ports[port], batch.lanes.start + lane, Some(self.given));
        let valued = |lane: usize| {
            let one = |(port, elements): (usize, &Vec<steps::Element<'_, Element>>)| {
                let operand = operand(port, lane)?;
                let element = elements.get(lane)?;
                let value = values.port(batch.step, port, batch.lanes.start + lane, std::slice::from_ref(element));
                Some(value.map(|value| (operand, value)))
            };
            read.iter().enumerate().filter_map(one).collect::<Result<Vec<_>, Error>>()
        };
        if !blocks.are_equal(batch.lanes.len(), &valued)? {
            return Ok(None);
        }
        let shared = |lane: usize| {
            let shared = |port: usize| {
                Some(match operand(port, lane)? {
                    Operand::Computed(step, slot, at, facts) => {
                        Operand::Computed(step, slot, at, Facts { is_own: false, is_apart: false, ..facts })
                    }
                    given @ Operand::Given(..) => given,
                })
            };
            (0..ports.len()).filter_map(shared).collect()
        };
        self.server.engine.weight(&Operands { lanes: batch.lanes.len(), of: &shared }, self.control)
    }

    /// The position after a batch.
    fn between(&self, batch: &Batch) -> Position {
        let (step, waves) = (batch.step, self.kernels.all[batch.step].work.waves().len());
        let lanes = self.kernels.known.steps.steps[step].lanes;
        Position { step, done: batch.lanes.end, lanes, group: 0, wave: 0, waves }
    }

    /// The results, if the batch is the only one and they are what it gave.
    fn direct(
        &self,
        batch: &Batch,
        results: Vec<Ciphertext>,
    ) -> Result<Result<Vec<Ciphertext>, Error>, Vec<Ciphertext>> {
        let steps = &self.kernels.known.steps;
        let [step] = &steps.steps[..] else { return Err(results) };
        let place = |output: &Output| match output.port {
            Port::Whole(slot) => step.out.iter().position(|out| *out == slot),
            Port::Lanes(layout) => step.out.iter().position(|slot| {
                output.ty.shape.size() == step.lanes
                    && (0..step.lanes).all(|lane| steps.layouts.at(layout, lane) == (*slot, lane))
            }),
        };
        let places: Option<Vec<usize>> = steps.outputs.iter().map(place).collect();
        match places {
            Some(places) if batch.lanes == (0..step.lanes) => {
                let shaped = |(output, &at): (&Output, &usize)| {
                    let shape = &output.ty.shape;
                    results[at].reshape(sizes(shape))
                };
                Ok(steps.outputs.iter().zip(&places).map(shaped).collect())
            }
            _ => Err(results),
        }
    }

    /// For each step, the operations that take time of a lane. It is 1 if no step has any.
    fn costs(&self) -> Result<Vec<u64>, Error> {
        let cost = |(kernel, step): (&PlannedKernel, &Step)| {
            let each = kernel.instances / step.lanes.max(1);
            let cost = kernel.work.count(each)?;
            Ok(cost.operations())
        };
        let steps = self.kernels.all.iter().zip(&self.kernels.known.steps.steps);
        let costs = steps.map(cost).collect::<Result<Vec<u64>, Error>>()?;
        Ok(if costs.iter().all(|&cost| cost == 0) { vec![1; costs.len()] } else { costs })
    }

    /// Bytes of the largest value of a slot that a step fills: of an element, or of all that share ciphertexts.
    fn value_bytes(&self) -> u64 {
        let steps = &self.kernels.known.steps;
        let params = self.server.params();
        let bytes = |slot: &SlotId| {
            let ValueType { ty, shape } = &self.kernels.known.types[slot.0 as usize];
            let elements = if ty.is_packed() && !shape.is_empty() { Some(shape.size()) } else { None };
            params.encrypted_bytes(*ty, elements)
        };
        steps.steps.iter().flat_map(|step| &step.out).map(bytes).max().unwrap_or(1).max(1)
    }

    /// Whether each step is one batch: there is one step, or a kernel is planned on all that it reads.
    fn is_whole(&self) -> bool {
        self.kernels.all.len() == 1 || self.kernels.all.iter().any(|kernel| !kernel.is_final)
    }

    /// The most lanes of a batch. What they read and give takes a quarter of the memory of the run.
    pub(super) fn batch(&self) -> usize {
        if self.is_whole() {
            return usize::MAX;
        }
        let steps = &self.kernels.known.steps.steps;
        let values = steps.iter().map(|step| step.ports.len() + step.out.len()).max().unwrap_or(1) as u64;
        let lanes = self.room / 4 / self.value_bytes().saturating_mul(values.max(1));
        usize::try_from(lanes).unwrap_or(usize::MAX).max(1)
    }

    /// The number of values above which they are used up before others are made. They take half of the memory of the run.
    fn budget(&self) -> usize {
        usize::try_from(self.room / 2 / self.value_bytes()).unwrap_or(usize::MAX)
    }

    pub(super) fn outputs(
        &self,
        values: &Values<'_>,
        machine: &Machine<'_, Element>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let output = |(index, output): (usize, &Output)| {
            let elements: Vec<_> = machine.output(index).collect();
            values.output(output, &elements)
        };
        self.kernels.known.steps.outputs.iter().enumerate().map(output).collect()
    }
}
