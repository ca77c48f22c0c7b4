//! The server's side of a scheme: an engine makes plans, and a plan predicts its cost and runs.

use crate::memory::Need;
use crate::planning::Source;

use crate::plans::{Plan, Position, Ran, RunState};
use crate::{Ciphertext, Control, CostModel, Error, Estimate, Form, KeyId, ParamsInfo, Plain, Type};
use std::sync::Arc;

/// A scheme's evaluation under one key.
pub(crate) trait Engine: Send + Sync + std::fmt::Debug {
    /// Identity of the key.
    fn key_id(&self) -> KeyId;

    /// The parameter set.
    fn params(&self) -> ParamsInfo;

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

    /// The work of a plan that was made before, for the source and the inputs of the request.
    fn pinned(self: Arc<Self>, _plan: &Plan, _request: &PlanRequest<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        Err(Error::NoPlan { scheme: self.params().scheme })
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

    /// The compact form of a result of this key, on the current thread pool.
    fn compact(&self, ciphertext: &Ciphertext) -> Result<Ciphertext, Error> {
        Err(Error::NoCompact { scheme: ciphertext.scheme() })
    }

    /// Encrypted random values from a public seed, on the current thread pool.
    fn random(&self, _request: &RandomRequest<'_>, _control: &Control<'_>) -> Result<Ciphertext, Error> {
        Err(Error::NoRandom { scheme: self.params().scheme })
    }

    /// Public values as an input of a run. None if the engine takes each value as a constant of the operations on its element.
    fn public(&self, _plain: &Plain) -> Result<Option<Ciphertext>, Error> {
        Ok(None)
    }
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
    pub(crate) source: &'a Arc<Source>,
    /// The inputs, checked and in the engine's form. A conversion takes its only input in the form that it has. None for fresh inputs.
    pub(crate) inputs: Option<&'a [Ciphertext]>,
    /// The noise weight to assume of inputs that are not given ([`PlannedWork::noise`]). It is 1 for fresh ones.
    pub(crate) noise: u64,
    /// Elements that run side by side.
    pub(crate) instances: usize,
    /// Threads that compute.
    pub(crate) threads: usize,
    /// The model by which the plan is chosen (TFHE).
    pub(crate) model: CostModel,
}

/// The operations of a computation, in order, on an engine.
pub(crate) trait PlannedWork: Send + Sync {
    /// The plan as a value. None if the scheme has no such values.
    fn plan(&self) -> Result<Option<Plan>, Error> {
        Ok(None)
    }

    /// Lets the results hide the program.
    fn hide(&mut self) -> Result<(), Error> {
        Err(Error::NoPrivateProgram { scheme: self.count(1)?.scheme })
    }

    /// The bootstraps of each wave of one element, if the scheme has waves.
    fn waves(&self) -> Vec<u64> {
        Vec::new()
    }

    /// The noise weight of the results: a bound of their variance, in variances of a bootstrap. It is 1 where plans do not depend on it.
    fn noise(&self) -> u64 {
        1
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

    /// Computes the outputs from a paused run on, if one is given, and stops between two waves where `pause` says so. On the current thread pool.
    fn run_until(
        &self,
        _batch: &Batch<'_>,
        _from: Option<&RunState>,
        _pause: &dyn Fn(Position) -> bool,
        _control: &Control<'_>,
    ) -> Result<Ran, Error> {
        Err(Error::NoPause { scheme: self.count(1)?.scheme })
    }

    /// Computes the outputs, on the current thread pool.
    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error>;
}

/// An output of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputSpec {
    pub(crate) ty: Type,
    /// Whether it is one value, whatever the shape of the arrays: arrays reach it through sums alone.
    pub(crate) scalar: bool,
}

impl OutputSpec {
    /// An array, if any input is one.
    pub(crate) fn array(ty: Type) -> Self {
        Self { ty, scalar: false }
    }
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
