//! The server's side of a scheme: an engine makes plans, and a plan predicts its cost and runs.

use crate::need::Need;
use crate::planning::KernelSource;
use crate::plans::{Cursor, KernelPlan, Position, RunId, RunState};
use crate::{Ciphertext, Control, CostModel, Error, Estimate, Form, KeyId, ParamsInfo, Plain, Type};
use solinas_circuits::steps;
use solinas_values::payload::Payload;
use std::sync::Arc;

/// A scheme's evaluation under one key.
pub(crate) trait Engine: Send + Sync + std::fmt::Debug {
    /// Identity of the key.
    fn key_id(&self) -> KeyId;

    /// The parameter set.
    fn params(&self) -> ParamsInfo;

    /// Whether the key was made from a chosen seed.
    fn is_insecure(&self) -> bool;

    /// The contents of an array without elements.
    fn empty(&self) -> Element;

    /// Bytes of the key in memory.
    fn memory_bytes(&self) -> usize;

    /// Approximate bytes of the plans that it keeps for later requests.
    fn plan_bytes(&self) -> usize {
        0
    }

    /// The ciphertext form in which it computes.
    fn form(&self) -> Form;

    /// The plan of a program, circuit or conversion, within the limits of planning.
    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn PlannedWork>, Error>;

    /// Itself, if it computes by plans that were made before (TFHE).
    fn pinning(self: Arc<Self>) -> Option<Arc<dyn Pinning>> {
        None
    }

    /// The engine of the same key on the current thread pool, if it shares the memory of this engine of a device.
    fn on_host(&self) -> Option<Arc<dyn Engine>> {
        None
    }

    /// Cycles of a simulated circuit so far.
    fn simulated_cycles(&self) -> Option<u64> {
        None
    }

    /// The error of the device after which this engine went on without it (`auto`).
    fn device_failure(&self) -> Option<&str> {
        None
    }

    /// Public values as inputs of kernels, if kernels can read them. Otherwise they are constants of kernels.
    fn public_values(&self) -> Option<&dyn PublicValues> {
        None
    }

    /// What else the engine can do if its values are blocks with noise of their own (TFHE).
    fn blockwise(&self) -> Option<&dyn Blockwise> {
        None
    }

    /// The noise weight of the operands of a kernel, from which alone it is planned: every sum of the operands of a lane has at most this many times the
    /// variance that the same sum of independent bootstraps has. None for an engine that plans by the operands themselves.
    fn weight(&self, _operands: &Operands<'_>, _control: &Control<'_>) -> Result<Option<u64>, Error> {
        Ok(None)
    }
}

/// An engine that computes by plans that were made before.
pub(crate) trait Pinning: Send + Sync {
    /// The work of a plan, for the source and the inputs of the request.
    fn pinned(self: Arc<Self>, plan: &KernelPlan, request: &PlanRequest<'_>) -> Result<Box<dyn PlannedWork>, Error>;
}

/// An engine whose kernels read public values.
pub(crate) trait PublicValues {
    /// Public values as a ciphertext without noise.
    fn public(&self, plain: &Plain) -> Result<Ciphertext, Error>;
}

/// An engine whose values are blocks with noise of their own.
pub(crate) trait Blockwise: Sync {
    /// The compact form of a result of this key, on the current thread pool.
    fn compact(&self, ciphertext: &Ciphertext) -> Result<Ciphertext, Error>;

    /// Encrypted random values from a public seed, on the current thread pool.
    fn random(&self, request: &RandomRequest<'_>, control: &Control<'_>) -> Result<Ciphertext, Error>;

    /// Whether two operands of a lane have equal noise, though they are results of different lanes. `of` gives the operands of a lane with their values.
    fn are_equal(&self, lanes: usize, of: Valued<'_>) -> Result<bool, Error>;

    /// The state of a run that stopped.
    fn state(&self, id: RunId, stopped: Stopped) -> Result<RunState, Error>;

    /// The position from which a run goes on. `slots` has the types of the slots of its steps, and what is known of their values.
    fn stopped(&self, id: RunId, state: &RunState, slots: &[(Type, Facts)]) -> Result<Stopped, Error>;
}

/// What a run of several steps keeps for later steps: an element, or all elements that share ciphertexts.
pub(crate) type Element = Arc<dyn Payload>;

/// An operand of a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operand<'a> {
    /// An element of a given ciphertext.
    Given(&'a Ciphertext, usize),
    /// A result of a step, or an input that does not exist yet: the step, its slot, its place, and what is known of it.
    Computed(Option<usize>, steps::SlotId, usize, Facts),
}

/// The operands of a lane, with their values.
pub(crate) type Valued<'a> = &'a dyn Fn(usize) -> Result<Vec<(Operand<'a>, Ciphertext)>, Error>;

/// The operands of the lanes of a kernel.
pub(crate) struct Operands<'a> {
    pub(crate) lanes: usize,
    /// The operands of a lane, one for each input of the kernel that is not public.
    pub(crate) of: &'a dyn Fn(usize) -> Vec<Operand<'a>>,
}

/// What is known of a result of a kernel before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The noise weight, as [`Engine::weight`] has it.
    pub(crate) weight: u64,
    /// Whether no input of the kernel has any of its noise. Results of other lanes then have none of it either, unless their operands are equal.
    pub(crate) is_own: bool,
    /// Whether it is own, and no other result of the lane has any of its noise.
    pub(crate) is_apart: bool,
    /// The input of the kernel, by its number, whose blocks it has, with either sign.
    pub(crate) passes: Option<usize>,
}

impl Facts {
    /// Those of a fresh ciphertext.
    pub(crate) const FRESH: Self = Self { weight: 1, is_own: true, is_apart: true, passes: None };

    /// Those of the results of a kernel, where costs do not depend on them.
    pub(crate) fn fresh(kernel: &steps::Kernel) -> Vec<Self> {
        vec![Self::FRESH; kernel.result_types().len()]
    }
}

/// Where a run stopped.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    /// The position in the kernel that runs.
    pub(crate) cursor: Cursor,
    /// The kernel that runs, and the state of the steps. None if there is one step.
    pub(crate) steps: Option<(Option<steps::Batch>, steps::Cursor<Element>)>,
}

/// A request for encrypted random values.
#[derive(Debug, Clone)]
pub(crate) struct RandomRequest<'a> {
    pub(crate) ty: Type,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) seed: &'a [u8],
}

/// A request for a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanRequest<'a> {
    /// The program, circuit or conversion.
    pub(crate) source: &'a Arc<KernelSource>,
    /// The inputs, checked and in the engine's form, for an engine that plans by them. A conversion takes its only input in the form that it has. None if they
    /// do not exist yet.
    pub(crate) inputs: Option<&'a [Ciphertext]>,
    /// The noise weight of the inputs ([`Engine::weight`]). It is 1 for fresh ones.
    pub(crate) weight: u64,
    /// Elements that run side by side.
    pub(crate) instances: usize,
    /// Threads that compute.
    pub(crate) threads: usize,
    /// The model by which the plan is chosen (TFHE).
    pub(crate) model: CostModel,
    /// Whether the results hide the program. Only schemes with private programs get such a request.
    pub(crate) hides: bool,
}

/// The end of a run in parts.
#[derive(Debug)]
pub(crate) enum Part {
    Done(Vec<Ciphertext>),
    Paused(Cursor),
}

/// The operations of a kernel, in order, on an engine.
pub(crate) trait PlannedWork: Send + Sync {
    /// The plan as a value. None if the scheme has no such values.
    fn plan(&self) -> Result<Option<KernelPlan>, Error> {
        Ok(None)
    }

    /// The identity of the plan. None if the scheme has no such values.
    fn id(&self) -> Result<Option<KeyId>, Error> {
        Ok(None)
    }

    /// The bootstraps of each wave of one element, if the scheme has waves.
    fn waves(&self) -> Vec<u64> {
        Vec::new()
    }

    /// What is known of each result of the kernel.
    fn facts(&self, kernel: &steps::Kernel) -> Vec<Facts> {
        Facts::fresh(kernel)
    }

    /// The memory of a run on a given number of elements and threads, beside the key and the inputs.
    fn need(&self, _instances: usize, _threads: usize) -> Need {
        Need::default()
    }

    /// The counts on a given number of elements. It measures nothing, so there are no seconds.
    fn count(&self, instances: usize) -> Result<Estimate, Error>;

    /// The cost on a given number of elements and threads. It is called outside of the pool. The first call for a key measures on the pool, which `control` can stop.
    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        pool: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error>;

    /// Itself, if its runs can pause (TFHE).
    fn pausing(&self) -> Option<&dyn Pausing> {
        None
    }

    /// Computes the outputs, on the current thread pool.
    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error>;
}

/// Work that can stop between two waves.
pub(crate) trait Pausing {
    /// Computes the outputs from a paused run on, if one is given, and stops between two waves where `pause` says so. On the current thread pool.
    fn run_until(
        &self,
        batch: &Batch<'_>,
        from: Option<&Cursor>,
        pause: &dyn Fn(Position) -> bool,
        control: &Control<'_>,
    ) -> Result<Part, Error>;
}

/// An output of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputSpec {
    pub(crate) ty: Type,
    /// Whether it is one value, whatever the shape of the arrays: arrays reach it through sums alone.
    pub(crate) scalar: bool,
}

/// The inputs of a run, and its outputs.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) inputs: &'a [Ciphertext],
    pub(crate) instances: usize,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) outputs: &'a [OutputSpec],
    /// Bytes that the run may take beside the key and the inputs.
    pub(crate) room: u64,
}

impl Batch<'_> {
    /// The input blocks of each instance, in order. `blocks` gives those of a ciphertext. A scalar combines with every instance.
    pub(crate) fn blocks<'c, B>(
        &'c self,
        blocks: impl Fn(&'c Ciphertext) -> Result<&'c [Vec<B>], Error>,
    ) -> Result<Vec<Vec<&'c B>>, Error> {
        let one = |input: &'c Ciphertext| Ok((input.shape().is_some(), blocks(input)?));
        let all = self.inputs.iter().map(one).collect::<Result<Vec<_>, Error>>()?;
        let blocks_of = |instance: usize| {
            all.iter().flat_map(|&(array, elements)| &elements[if array { instance } else { 0 }]).collect::<Vec<_>>()
        };
        Ok((0..self.instances).map(blocks_of).collect())
    }

    /// Splits the result blocks of each instance into outputs: for each output its type, its shape and the blocks of its elements. A scalar has the blocks of
    /// the first instance.
    pub(crate) fn outputs<B>(
        &self,
        form: Form,
        results: Vec<Vec<B>>,
    ) -> impl Iterator<Item = (Type, Option<Vec<usize>>, Vec<Vec<B>>)> {
        let mut results: Vec<_> = results.into_iter().map(Vec::into_iter).collect();
        self.outputs.iter().map(move |&OutputSpec { ty, scalar }| {
            let mut elements: Vec<Vec<B>> =
                results.iter_mut().map(|blocks| blocks.by_ref().take(form.blocks(ty)).collect()).collect();
            if scalar {
                elements.truncate(1);
            }
            (ty, self.shape.clone().filter(|_| !scalar), elements)
        })
    }
}
