//! What a scheme is to the server: it plans programs and circuits, prices plans and runs them.

use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo, Plain, Program, Type};
use solinas_circuits::Netlist;

/// A scheme's evaluation under one key.
pub(crate) trait Engine: Send + Sync + std::fmt::Debug {
    /// Identity of the key.
    fn key_id(&self) -> KeyId;

    /// The parameter set.
    fn params(&self) -> ParamsInfo;

    /// Bytes of the key made ready.
    fn memory_bytes(&self) -> usize;

    /// The form in which it computes.
    fn form(&self) -> Form;

    /// The plan of a program for that work, within the limits of planning.
    fn plan(&self, program: &Program, work: &Work<'_>, control: &Control<'_>) -> Result<Box<dyn Plan + '_>, Error>;

    /// The plan of a circuit; `optimize` shrinks it first.
    fn plan_circuit(
        &self,
        netlist: &Netlist,
        optimize: bool,
        work: &Work<'_>,
        control: &Control<'_>,
    ) -> Result<Box<dyn Plan + '_>, Error>;

    /// Public values as inputs of a run, where it takes them whole; none where each is a constant of its element's operations.
    fn public(&self, _plain: &Plain) -> Result<Option<Ciphertext>, Error> {
        Ok(None)
    }

    /// The same values in another form.
    fn convert(&self, ciphertext: &Ciphertext, form: Form, control: &Control<'_>) -> Result<Ciphertext, Error>;
}

/// What a plan is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    /// The inputs, checked; none for an estimate, which takes fresh ones.
    pub(crate) inputs: Option<&'a [Ciphertext]>,
    /// Elements that run side by side.
    pub(crate) lanes: usize,
    pub(crate) threads: usize,
}

/// What is done, in which order.
pub(crate) trait Plan: Sync {
    /// The counts on as many elements: nothing is measured, so no seconds.
    fn count(&self, lanes: usize) -> Result<Estimate, Error>;

    /// What it costs as that work. Measures once on the pool, outside of which it is called; where that takes long `control` can stop it.
    fn estimate(&self, work: &Work<'_>, pool: &rayon::ThreadPool, control: &Control<'_>) -> Result<Estimate, Error>;

    /// Does it, on the current thread pool.
    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error>;
}

/// An output that is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) ty: Type,
    /// Whether it is one value, whatever the arrays' shape: no array goes into it but by a sum.
    pub(crate) scalar: bool,
}

impl Wanted {
    /// An array where any input is.
    pub(crate) fn of(ty: Type) -> Self {
        Self { ty, scalar: false }
    }
}

/// The inputs of a run, and the outputs that are wanted.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) inputs: &'a [Ciphertext],
    pub(crate) lanes: usize,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) outputs: &'a [Wanted],
}

impl Batch<'_> {
    /// For each lane its input blocks, in order; `blocks` gives those of a ciphertext. Scalars go with every lane.
    pub(crate) fn blocks<'c, B>(
        &'c self,
        blocks: impl Fn(&'c Ciphertext) -> Result<&'c [Vec<B>], Error>,
    ) -> Result<Vec<Vec<&'c B>>, Error> {
        let all = self.inputs.iter().map(|input| Ok((input.shape().is_some(), blocks(input)?)));
        let all = all.collect::<Result<Vec<_>, Error>>()?;
        let lane = |lane: usize| {
            all.iter().flat_map(|&(array, elements)| &elements[if array { lane } else { 0 }]).collect::<Vec<_>>()
        };
        Ok((0..self.lanes).map(lane).collect())
    }

    /// The results of each lane, cut into outputs by their types: for each output its type, shape and blocks. Of a scalar those of the first lane.
    pub(crate) fn outputs<B>(
        &self,
        form: Form,
        results: Vec<Vec<B>>,
    ) -> impl Iterator<Item = (Type, Option<Vec<usize>>, Vec<Vec<B>>)> {
        let mut results: Vec<_> = results.into_iter().map(Vec::into_iter).collect();
        self.outputs.iter().map(move |&Wanted { ty, scalar }| {
            let mut elements: Vec<Vec<B>> =
                results.iter_mut().map(|lane| lane.by_ref().take(form.blocks(ty)).collect()).collect();
            if scalar {
                elements.truncate(1);
            }
            (ty, self.shape.clone().filter(|_| !scalar), elements)
        })
    }
}
