//! The steps of a program, for machines that compute parts of the lanes of a step.

use num_bigint::BigUint;
use pyo3::prelude::*;
use solinas_circuits::Natural;
use solinas_circuits::steps::{Batch, Cursor, Element, Kernel, Machine, Steps, split};
use solinas_runtime::{Ciphertext, Error, Type};
use std::sync::Arc;

use crate::ciphertext::PyCiphertext;
use crate::error::{Failure, guarded};
use crate::keys::numbers;
use crate::program::PyProgram;
use crate::server::{PyInput, owned, shape_of, with_constants};

/// A computed element: an array that holds it, and its place there.
type Place = (Arc<Ciphertext>, usize);

/// What a program of single values reads, for all lanes.
#[derive(IntoPyObject)]
enum Read {
    Encrypted(PyCiphertext),
    Public((String, Option<Vec<usize>>, Vec<BigUint>)),
}

/// The steps of a program on inputs, and how far they are.
#[pyclass(module = "solinas._core", name = "Batches")]
pub(crate) struct PyBatches {
    steps: Steps,
    inputs: Vec<Ciphertext>,
    cursor: Option<Cursor<Place>>,
    /// The lanes that were handed out.
    batch: Option<Batch>,
}

#[pymethods]
impl PyBatches {
    #[new]
    fn new(py: Python<'_>, inputs: Vec<PyInput<'_>>, program: &PyProgram) -> PyResult<Self> {
        let (given, program) = (owned(inputs)?, &program.program);
        guarded(py, move || {
            let (program, inputs) = with_constants(program, given)?;
            let shapes = inputs.iter().map(shape_of).collect::<Result<Vec<_>, _>>()?;
            let program = Arc::new(program);
            let steps = split(&program.at(&shapes)?)?.with_copies(|_| false)?;
            Ok(Self { steps, inputs, cursor: None, batch: None })
        })
    }

    /// The program of the next lanes, and what it reads: an array with an element for each lane, or one value for all. None after the last lanes.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<(PyProgram, Vec<Read>)>> {
        guarded(py, || {
            let mut machine = self.machine()?;
            let Some(mut batch) = machine.next(usize::MAX) else { return Ok(None) };
            let Kernel::Program(program) = self.steps.kernel(&self.steps.steps[batch.step]) else {
                return Err(Failure::from(Error::Request {
                    what: "a cluster computes programs, not circuits".into(),
                    help: "run the circuit by server.run".into(),
                }));
            };
            let mut program = program.clone();
            program.inputs.iter_mut().for_each(|input| input.shape = None);
            // An array is encrypted or public as a whole.
            let ports = machine.inputs(&batch);
            let alike = |port: &Vec<Element<'_, Place>>| {
                port.iter().take_while(|element| is_public(element) == is_public(&port[0])).count()
            };
            let lanes = ports.iter().map(alike).min().unwrap_or(batch.lanes.len());
            let read = ports.iter().map(|port| self.read(&port[..lanes])).collect::<Result<Vec<_>, _>>()?;
            batch.lanes.end = batch.lanes.start + lanes;
            self.batch = Some(batch);
            Ok(Some((program.into(), read)))
        })
    }

    /// Takes the results of the lanes that `next` handed out, one array for each output of their program.
    fn finish(&mut self, py: Python<'_>, results: Vec<PyRef<'_, PyCiphertext>>) -> PyResult<()> {
        let results: Vec<_> = results.iter().map(|result| Arc::new(result.inner.clone())).collect();
        guarded(py, || {
            let none = || Error::Internal("no lanes were handed out".into());
            let batch = self.batch.take().ok_or_else(none)?;
            let places = |array: Arc<Ciphertext>| {
                let place = |lane| (Arc::clone(&array), if array.shape().is_some() { lane } else { 0 });
                (0..batch.lanes.len()).map(place).collect()
            };
            let mut machine = self.machine()?;
            machine.resume(&batch)?;
            machine.finish(&batch, results.into_iter().map(places).collect());
            self.cursor = Some(machine.checkpoint());
            Ok(())
        })
    }

    /// The outputs of the program, after the last lanes.
    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<PyCiphertext>> {
        guarded(py, || {
            let machine = self.machine()?;
            let output = |index: usize| {
                let shape = &self.steps.outputs[index].ty.shape;
                let elements: Vec<_> = machine.output(index).collect();
                Ok(self.array(&elements, (!shape.is_empty()).then(|| shape.to_vec()))?.into())
            };
            (0..self.steps.outputs.len()).map(output).collect()
        })
    }
}

impl PyBatches {
    fn machine(&self) -> Result<Machine<'_, Place>, Failure> {
        Ok(Machine::new(&self.steps, usize::MAX, self.cursor.clone())?)
    }

    /// The elements that lanes read at one input of a program: one value if they are the same.
    fn read(&self, elements: &[Element<'_, Place>]) -> Result<Read, Failure> {
        let is_one = elements.iter().all(|element| distance(&elements[0], element) == Some(0));
        let (elements, shape) = if is_one { (&elements[..1], None) } else { (elements, Some(vec![elements.len()])) };
        let public: Vec<(Type, &Natural)> = elements.iter().filter_map(|element| self.public(element)).collect();
        Ok(match public.first() {
            Some((ty, _)) => {
                let values = public.iter().map(|(_, value)| (*value).clone()).collect();
                Read::Public((ty.to_string(), shape, numbers(values)))
            }
            None => Read::Encrypted(self.array(elements, shape)?.into()),
        })
    }

    fn public(&self, element: &Element<'_, Place>) -> Option<(Type, &Natural)> {
        let Element::Public(array, at) = *element else { return None };
        let plain = &self.steps.public[array];
        Some((plain.ty, &plain.values[at.unwrap_or(0)]))
    }

    /// The ciphertext of elements, in this shape.
    fn array(&self, elements: &[Element<'_, Place>], shape: Option<Vec<usize>>) -> Result<Ciphertext, Failure> {
        let place = |element: &Element<'_, Place>| match *element {
            Element::Input(input, at) => Ok((self.inputs[input].clone(), at.unwrap_or(0))),
            Element::Value((array, at)) => Ok((Ciphertext::clone(array), *at)),
            Element::Public(..) => Err(Failure::from(Error::Internal("a public value is no ciphertext".into()))),
        };
        // Elements that are one after the other in what holds them are one part.
        let part = |part: &[Element<'_, Place>]| {
            let (array, start) = place(&part[0])?;
            let indices: Vec<usize> = (start..start + part.len()).collect();
            PyCiphertext::part(&array, &indices, Some(vec![part.len()]))
        };
        let mut parts = elements.chunk_by(|a, b| distance(a, b) == Some(1)).map(part).collect::<Result<Vec<_>, _>>()?;
        let array = if parts.len() == 1 { parts.remove(0) } else { Ciphertext::stack(parts)? };
        Ok(array.reshape(shape)?)
    }
}

/// How many places an element comes after another one in what holds both.
fn distance(a: &Element<'_, Place>, b: &Element<'_, Place>) -> Option<usize> {
    match (*a, *b) {
        (Element::Input(a, i), Element::Input(b, j)) | (Element::Public(a, i), Element::Public(b, j)) if a == b => {
            j.unwrap_or(0).checked_sub(i.unwrap_or(0))
        }
        (Element::Value((a, i)), Element::Value((b, j))) if Arc::ptr_eq(a, b) => j.checked_sub(*i),
        _ => None,
    }
}

fn is_public(element: &Element<'_, Place>) -> bool {
    matches!(element, Element::Public(..))
}
