//! The plans of the kernels of all steps, made before the first one runs.

use super::no_plan;
use super::request::Request;
use crate::engine::{Facts, Operand, Operands, PlanRequest, PlannedWork};
use crate::planning::KernelSource;
use crate::plans::Plan;
use crate::{Ciphertext, Control, CostModel, Error, Estimate, Plain, PrepareOptions, Server};
use solinas_circuits::program::ValueType;
use solinas_circuits::steps::{Kernel, KernelId, Port, Source, Step, Steps};
use solinas_values::payload::sizes;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Steps, and what is known of their values.
pub(crate) struct Known {
    pub(crate) steps: Arc<Steps>,
    /// The types and shapes of the slots.
    pub(crate) types: Vec<ValueType>,
    /// What is known of the values in the slots.
    pub(crate) facts: Vec<Facts>,
}

impl Known {
    /// Steps on fresh inputs.
    pub(crate) fn new(steps: Arc<Steps>) -> Result<Self, Error> {
        let types = steps.slot_types()?;
        let facts = vec![Facts::FRESH; types.len()];
        Ok(Self { steps, types, facts })
    }

    /// Calls `f` with the operands of a step. `values` are the inputs, if they are given.
    pub(crate) fn with_operands<T>(
        &self,
        step: &Step,
        values: Option<&[Ciphertext]>,
        f: impl FnOnce(&Operands<'_>) -> T,
    ) -> T {
        let of = |lane: usize| step.ports.iter().filter_map(|port| self.operand(*port, lane, values)).collect();
        f(&Operands { lanes: if self.are_apart(step, values) { 0 } else { step.lanes }, of: &of })
    }

    /// Notes what is known of the results of a step.
    pub(crate) fn note(&mut self, index: usize, facts: &[Facts]) {
        let out = &self.steps.steps[index].out;
        out.iter().zip(facts).for_each(|(slot, facts)| self.facts[slot.0 as usize] = *facts);
    }

    pub(super) fn operand<'v>(
        &'v self,
        port: Port,
        lane: usize,
        values: Option<&'v [Ciphertext]>,
    ) -> Option<Operand<'v>> {
        let (mut port, mut lane) = (port, lane);
        loop {
            let (slot, at) = match port {
                Port::Lanes(layout) => self.steps.layouts.at(layout, lane),
                Port::Whole(slot) => (slot, 0),
            };
            let facts = self.facts[slot.0 as usize];
            match (self.steps.source(slot), values) {
                (Source::Public(_), _) => return None,
                (Source::Input(input), Some(values)) => return Some(Operand::Given(&values[input], at)),
                // It has the noise of what the kernel read.
                (Source::Step(step), _) if facts.passes.is_some() => {
                    port = self.steps.steps[step].ports[facts.passes.unwrap_or_default()];
                    lane = at;
                }
                (Source::Step(step), _) => return Some(Operand::Computed(Some(step), slot, at, facts)),
                (Source::Input(_), None) => return Some(Operand::Computed(None, slot, at, facts)),
            }
        }
    }

    /// Whether no lane of a step reads an element twice, and each element has noise of its own.
    fn are_apart(&self, step: &Step, values: Option<&[Ciphertext]>) -> bool {
        let mut seen = HashSet::new();
        step.ports.iter().flat_map(|port| self.steps.slots_of(*port)).all(|slot| {
            let is_given = matches!(self.steps.source(slot), Source::Input(_)) && values.is_some();
            !is_given && self.facts[slot.0 as usize] == Facts::FRESH && seen.insert(slot)
        })
    }
}

/// The planned kernels of steps.
pub(super) struct Kernels {
    pub(super) known: Known,
    /// The kernel of each step.
    pub(super) all: Vec<PlannedKernel>,
}

/// The planned kernel of a step.
pub(super) struct PlannedKernel {
    pub(super) work: Box<dyn PlannedWork>,
    pub(super) source: Arc<KernelSource>,
    /// Elements that run side by side: lanes, or elements that share ciphertexts.
    pub(super) instances: usize,
    /// Whether its results hide the program.
    pub(super) hides: bool,
    /// The model by which it was planned: that of the plan, if the caller gave one.
    model: CostModel,
    /// Whether it is planned for good. Otherwise an engine plans by inputs that do not exist yet.
    pub(super) is_final: bool,
}

/// How kernels are planned.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    /// The plan that the caller gave.
    pub(super) pinned: Option<&'a Plan>,
    /// Whether that plan is for the noise of the inputs, which its maker knows better than this server.
    pub(super) is_for_inputs: bool,
    pub(super) threads: usize,
    pub(super) model: CostModel,
    /// Whether results hide the program.
    pub(super) is_private: bool,
}

impl<'a> Choice<'a> {
    /// As the options say, on that many threads.
    pub(super) fn new(server: &Server, options: PrepareOptions<'a>, threads: usize) -> Self {
        let PrepareOptions { plan: pinned, private_program: is_private } = options;
        Self { pinned, is_for_inputs: false, threads, model: server.model_on(threads), is_private }
    }
}

impl Kernels {
    /// Plans all steps. Steps that hide the program copy the outputs, unless there is only one step, which hides itself. `values` are the inputs, if they are
    /// given in the form of the engine.
    pub(super) fn new(
        server: &Server,
        request: &Request,
        values: Option<&[Ciphertext]>,
        choice: Choice<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let steps = &request.steps;
        let copies = choice.is_private && !is_alone(steps);
        let hidden_from = if copies { steps.steps.len() } else { 0 };
        let steps = if copies { Arc::new(Steps::clone(steps).with_copies(|_| true)?) } else { Arc::clone(steps) };
        let mut kernels = Self { known: Known::new(steps)?, all: Vec::new() };
        let mut sources: HashMap<KernelId, Arc<KernelSource>> = HashMap::new();
        for index in 0..kernels.known.steps.steps.len() {
            let step = &kernels.known.steps.steps[index];
            let source = sources.entry(step.kernel).or_insert_with(|| {
                Arc::new(match (request.conversion, kernels.known.steps.kernel(step)) {
                    (Some(form), _) => KernelSource::Convert(form),
                    (None, Kernel::Program(program) | Kernel::Packed(program)) => {
                        KernelSource::Program(program.clone())
                    }
                    (None, Kernel::Circuit { netlist, optimize }) => KernelSource::Circuit(netlist.clone(), *optimize),
                })
            });
            let source = Arc::clone(source);
            let hides = choice.is_private && index >= hidden_from;
            let planned = kernels.plan(server, index, source, values, (choice, hides), control)?;
            let facts = planned.work.facts(kernels.known.steps.kernel(&kernels.known.steps.steps[index]));
            kernels.known.note(index, &facts);
            kernels.all.push(planned);
        }
        Ok(kernels)
    }

    fn plan(
        &self,
        server: &Server,
        index: usize,
        source: Arc<KernelSource>,
        values: Option<&[Ciphertext]>,
        (choice, hides): (Choice<'_>, bool),
        control: &Control<'_>,
    ) -> Result<PlannedKernel, Error> {
        let step = &self.known.steps.steps[index];
        let instances = self.instances(step);
        let weight = match choice.is_for_inputs {
            true => Some(1),
            false => self.known.with_operands(step, values, |operands| server.engine.weight(operands, control))?,
        };
        // An engine that plans by the operands themselves has those of a step that reads each port from one input.
        let inputs = match (weight, &*source) {
            (Some(_), KernelSource::Program(_) | KernelSource::Circuit(..)) => None,
            _ => self.whole_inputs(server, step, values)?,
        };
        let Choice { threads, model, .. } = choice;
        let (weight, is_known) = (weight.unwrap_or(1), weight.is_some());
        let request =
            PlanRequest { source: &source, inputs: inputs.as_deref(), weight, instances, threads, model, hides };
        // A plan has the kernels of the program. Those that hide it always are the same.
        let is_copy = hides && index > 0;
        let (work, model) = match choice.pinned.filter(|_| !is_copy) {
            Some(plan) => (pinned(server, plan, &request)?, plan.model().parse()?),
            None => (Arc::clone(&server.engine).plan(&request, control)?, model),
        };
        let is_final = is_known || inputs.is_some() || values.is_none();
        Ok(PlannedKernel { work, source, instances, hides, model, is_final })
    }

    /// Plans a step again: on its inputs, or for operands of this noise weight.
    pub(super) fn anew(
        server: &Server,
        planned: &PlannedKernel,
        (inputs, weight): (Option<&[Ciphertext]>, u64),
        control: &Control<'_>,
    ) -> Result<Box<dyn PlannedWork>, Error> {
        let &PlannedKernel { ref source, instances, hides, model, .. } = planned;
        let threads = server.threads();
        let request = PlanRequest { source, inputs, weight, instances, threads, model, hides };
        Arc::clone(&server.engine).plan(&request, control)
    }

    /// The elements that run side by side in a step.
    fn instances(&self, step: &Step) -> usize {
        let Kernel::Packed(_) = self.known.steps.kernel(step) else { return step.lanes };
        let read = step.ports.iter().filter_map(|port| if let Port::Whole(slot) = port { Some(slot) } else { None });
        let shapes = read.chain(&step.out).map(|slot| &self.known.types[slot.0 as usize].shape);
        shapes.filter(|shape| !shape.is_empty()).map(|shape| shape.size()).max().unwrap_or(1)
    }

    /// For each port of a step, the input that it reads. None if one reads something else.
    fn whole_inputs(
        &self,
        server: &Server,
        step: &Step,
        values: Option<&[Ciphertext]>,
    ) -> Result<Option<Vec<Ciphertext>>, Error> {
        let Some(values) = values else { return Ok(None) };
        let mut all = Vec::with_capacity(step.ports.len());
        for port in &step.ports {
            all.push(match self.known.steps.slots_of(*port)[..] {
                [slot] => match self.known.steps.source(slot) {
                    Source::Input(input) => values[input].clone(),
                    Source::Public(public) => public_value(server, &self.known.steps.public[public])?,
                    Source::Step(_) => return Ok(None),
                },
                _ => return Ok(None),
            });
        }
        Ok(Some(all))
    }

    /// The counts of all steps, one level after the other.
    pub(super) fn count(&self, server: &Server) -> Result<Estimate, Error> {
        self.total(server, |kernel| kernel.work.count(kernel.instances))
    }

    /// The cost of all steps, one level after the other.
    pub(super) fn estimate(&self, server: &Server, threads: usize, control: &Control<'_>) -> Result<Estimate, Error> {
        let pool = server.pool.get()?;
        self.total(server, |kernel| kernel.work.estimate(kernel.instances, threads, pool, control))
    }

    fn total(
        &self,
        server: &Server,
        cost: impl Fn(&PlannedKernel) -> Result<Estimate, Error>,
    ) -> Result<Estimate, Error> {
        let levels = self.known.steps.steps.iter().zip(&self.all).map(|(step, kernel)| Ok((step.level, cost(kernel)?)));
        let sum = level_sums(levels.collect::<Result<Vec<_>, Error>>()?);
        Ok(sum.unwrap_or_else(|| server.no_cost()))
    }
}

/// Whether all outputs are results of the only step.
fn is_alone(steps: &Steps) -> bool {
    let mut slots = steps.outputs.iter().flat_map(|output| steps.slots_of(output.port));
    steps.steps.len() == 1 && slots.all(|slot| matches!(steps.source(slot), Source::Step(_)))
}

/// The cost of steps, each given with its level. Those of one level are beside each other. None for no steps.
pub(crate) fn level_sums(steps: Vec<(u32, Estimate)>) -> Option<Estimate> {
    let mut levels: Vec<(u32, Estimate)> = Vec::new();
    for (level, cost) in steps {
        match levels.last_mut() {
            Some((last, sum)) if *last == level => *sum = sum.beside(&cost),
            _ => levels.push((level, cost)),
        }
    }
    levels.into_iter().map(|(_, cost)| cost).reduce(|sum, next| sum.followed_by(&next))
}

/// Public values as a ciphertext without noise.
pub(super) fn public_value(server: &Server, plain: &solinas_circuits::Plain) -> Result<Ciphertext, Error> {
    let none = || Error::Internal("the scheme takes public values as constants alone".into());
    let values = server.engine.public_values().ok_or_else(none)?;
    values.public(&Plain::new(plain.ty, sizes(&plain.shape), plain.values.clone())?)
}

/// The work of the one of the plans that is for this request.
fn pinned(server: &Server, plan: &Plan, request: &PlanRequest<'_>) -> Result<Box<dyn PlannedWork>, Error> {
    let kernels = plan.of_source(request.source)?;
    let engine = Arc::clone(&server.engine).pinning().ok_or_else(|| no_plan(server))?;
    let mut result = Err(Error::Internal("a plan has no kernel".into()));
    for kernel in kernels {
        result = Arc::clone(&engine).pinned(kernel, request);
        // Two steps may have one kernel, and operands of different noise.
        if !matches!(result, Err(Error::OtherPlan { .. })) {
            break;
        }
    }
    result
}
