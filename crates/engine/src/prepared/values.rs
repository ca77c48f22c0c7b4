//! What a batch of lanes reads, and what it gives.

use super::kernels::{Kernels, public_value};
use super::request::check_operand;
use crate::engine::{Batch, Element, OutputSpec};
use crate::{Ciphertext, Error, Server, Type};
use solinas_circuits::counted;
use solinas_circuits::program::{Shape, ValueType};
use solinas_circuits::steps::{self, Kernel, Port, SlotId};
use solinas_values::payload::sizes;
use std::sync::Arc;

/// What to do about results that are not those of a batch.
const HELP: &str = "give what `Server::run_batch` computes for the batch, with the parts of each result put together";

/// The inputs of a run, and what its ciphertexts have in common.
pub(super) struct Values<'a> {
    pub(super) server: &'a Server,
    pub(super) kernels: &'a Kernels,
    pub(super) given: &'a [Ciphertext],
}

impl Values<'_> {
    /// A ciphertext for each input of the kernel of a batch.
    pub(super) fn inputs(
        &self,
        batch: &steps::Batch,
        read: Vec<Vec<steps::Element<'_, Element>>>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let port = |(port, elements): (usize, Vec<_>)| self.port(batch.step, port, batch.lanes.start, &elements);
        read.into_iter().enumerate().map(port).collect()
    }

    /// The ciphertext of the elements that a port of a step reads, from a lane on.
    pub(super) fn port(
        &self,
        step: usize,
        port: usize,
        lane: usize,
        elements: &[steps::Element<'_, Element>],
    ) -> Result<Ciphertext, Error> {
        match (self.kernels.known.steps.steps[step].ports[port], elements) {
            (Port::Whole(slot), [whole]) => self.whole(slot, whole),
            (Port::Whole(_), _) => Err(Error::Internal("a packed kernel reads elements".into())),
            (Port::Lanes(layout), [first, others @ ..]) => {
                let (slot, _) = self.kernels.known.steps.layouts.at(layout, lane);
                let ty = self.kernels.known.types[slot.0 as usize].ty;
                // One value combines with all lanes.
                match others.iter().all(|other| is_same(first, other)) {
                    true => self.array(ty, None, &elements[..1]),
                    false => self.array(ty, Some(vec![elements.len()]), elements),
                }
            }
            (Port::Lanes(_), []) => Err(Error::Internal("a batch has no lanes".into())),
        }
    }

    /// The ciphertext of an output, from its elements.
    pub(super) fn output(
        &self,
        output: &steps::Output,
        elements: &[steps::Element<'_, Element>],
    ) -> Result<Ciphertext, Error> {
        let ValueType { ty, shape } = &output.ty;
        let shape = sizes(shape);
        match (output.port, elements) {
            (Port::Whole(slot), [whole]) => self.whole(slot, whole)?.reshape(shape),
            (_, []) => self.ciphertext(*ty, shape, self.server.engine.empty()),
            _ => self.array(*ty, shape, elements),
        }
    }

    /// The batch of an engine: the inputs of the kernel, and what it gives.
    pub(super) fn batch<'b>(
        &self,
        step: usize,
        lanes: usize,
        inputs: &'b [Ciphertext],
        outputs: &'b [OutputSpec],
        room: u64,
    ) -> Batch<'b> {
        let kernels = self.kernels;
        let instances = match kernels.known.steps.kernel(&kernels.known.steps.steps[step]) {
            Kernel::Packed(_) => kernels.all[step].instances,
            _ => lanes,
        };
        // A batch in which every ciphertext is one value gives values.
        let is_array =
            inputs.iter().any(|input| input.shape().is_some()) || outputs.iter().any(|output| !output.scalar);
        Batch { inputs, instances, shape: is_array.then(|| vec![instances]), outputs, room }
    }

    /// What the kernel of a step gives.
    pub(super) fn outputs(&self, step: usize) -> Vec<OutputSpec> {
        let kernels = self.kernels;
        let step = &kernels.known.steps.steps[step];
        let is_packed = matches!(kernels.known.steps.kernel(step), Kernel::Packed(_));
        let spec = |slot: &steps::SlotId| {
            let ValueType { ty, shape } = &kernels.known.types[slot.0 as usize];
            OutputSpec { ty: *ty, scalar: is_packed && shape.is_empty() }
        };
        step.out.iter().map(spec).collect()
    }

    /// Checks results that another machine computed for a batch.
    pub(super) fn check(&self, batch: &steps::Batch, results: &[Ciphertext]) -> Result<(), Error> {
        let (outputs, lanes, form) = (self.outputs(batch.step), batch.lanes.len(), self.server.engine.form());
        let wrong = |what: String| Err(Error::Request { what, help: HELP.into() });
        if results.len() != outputs.len() {
            return wrong(format!("the batch has {}, got {}", counted(outputs.len(), "result"), results.len()));
        }
        for (at, (result, output)) in results.iter().zip(&outputs).enumerate() {
            let name = format!("result {} of the batch", at + 1);
            check_operand(self.server, &name, result)?;
            if result.form() != form {
                return wrong(format!("{name} has the form {form}, got {}", result.form()));
            }
            if result.ty() != output.ty {
                return wrong(format!("{name} is {}, got {}", output.ty, result.ty()));
            }
            if result.len() != lanes {
                return wrong(format!("{name} has {}, got {}", counted(lanes, "element"), result.len()));
            }
        }
        Ok(())
    }

    /// The elements of what a batch gave, for each output one for each lane.
    pub(super) fn results(&self, batch: &steps::Batch, results: Vec<Ciphertext>) -> Result<Vec<Vec<Element>>, Error> {
        let step = &self.kernels.known.steps.steps[batch.step];
        let is_packed = matches!(self.kernels.known.steps.kernel(step), Kernel::Packed(_));
        let elements = |result: Ciphertext| match is_packed || batch.lanes.len() == 1 {
            true => Ok(vec![Arc::clone(result.elements())]),
            false => (0..result.len()).map(|lane| result.elements().get(lane)).collect(),
        };
        results.into_iter().map(elements).collect()
    }

    /// The ciphertext of elements, in this shape.
    fn array(
        &self,
        ty: Type,
        shape: Option<Vec<usize>>,
        elements: &[steps::Element<'_, Element>],
    ) -> Result<Ciphertext, Error> {
        // Elements that are one after the other in what they come from are one part.
        let part = |part: &[steps::Element<'_, Element>]| -> Result<Element, Error> {
            let (count, first) = (part.len(), |at: Option<usize>| at.unwrap_or(0));
            match part[0] {
                steps::Element::Input(input, at) => {
                    let (given, first) = (&self.given[input], first(at));
                    match (first, count) == (0, given.len()) {
                        true => Ok(Arc::clone(given.elements())),
                        false => given.elements().slice(first..first + count),
                    }
                }
                steps::Element::Public(plain, at) => {
                    let plain = &self.kernels.known.steps.public[plain];
                    let values = plain.values[first(at)..first(at) + count].to_vec();
                    let some = solinas_circuits::Plain { ty: plain.ty, shape: Shape::new([count])?, values };
                    Ok(Arc::clone(public_value(self.server, &some)?.elements()))
                }
                steps::Element::Value(value) => Ok(Arc::clone(value)),
            }
        };
        let payloads = elements.chunk_by(is_next).map(part).collect::<Result<Vec<_>, Error>>()?;
        let Some((first, others)) = payloads.split_first() else { return Err(Error::EmptyArray) };
        let elements = if others.is_empty() { Arc::clone(first) } else { first.concat(others)? };
        self.ciphertext(ty, shape, elements)
    }

    /// All elements that share ciphertexts.
    fn whole(&self, slot: SlotId, element: &steps::Element<'_, Element>) -> Result<Ciphertext, Error> {
        match *element {
            steps::Element::Input(input, _) => Ok(self.given[input].clone()),
            steps::Element::Public(plain, _) => public_value(self.server, &self.kernels.known.steps.public[plain]),
            steps::Element::Value(value) => {
                let ValueType { ty, shape } = &self.kernels.known.types[slot.0 as usize];
                self.ciphertext(*ty, sizes(shape), Arc::clone(value))
            }
        }
    }

    fn ciphertext(&self, ty: Type, shape: Option<Vec<usize>>, elements: Element) -> Result<Ciphertext, Error> {
        let engine = &self.server.engine;
        let (form, key_id, insecure) = (engine.form(), engine.key_id(), engine.is_insecure());
        Ciphertext::new(ty, shape, form, key_id, insecure, elements)
    }
}

/// Whether an element follows another one in what both come from.
fn is_next(a: &steps::Element<'_, Element>, b: &steps::Element<'_, Element>) -> bool {
    match (*a, *b) {
        (steps::Element::Input(a, Some(i)), steps::Element::Input(b, Some(j)))
        | (steps::Element::Public(a, Some(i)), steps::Element::Public(b, Some(j))) => a == b && i + 1 == j,
        _ => false,
    }
}

fn is_same(a: &steps::Element<'_, Element>, b: &steps::Element<'_, Element>) -> bool {
    match (a, b) {
        (steps::Element::Value(a), steps::Element::Value(b)) => std::ptr::eq(*a, *b),
        (steps::Element::Input(a, i), steps::Element::Input(b, j))
        | (steps::Element::Public(a, i), steps::Element::Public(b, j)) => (a, i) == (b, j),
        _ => false,
    }
}
