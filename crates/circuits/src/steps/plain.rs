//! Steps on public values.

use super::{Element, Kernel, Machine, Steps};
use crate::program::{Shape, Type, ValueType};
use crate::{Error, Natural, Plain};

/// A result of a step on public values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// One element.
    One(Natural),
    /// All elements of a packed array, or a packed scalar.
    All(Vec<Natural>),
}

impl Value {
    fn elements(&self) -> &[Natural] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::All(values) => values,
        }
    }
}

impl Steps {
    /// Computes the outputs on public inputs, `batch` lanes at a time. With more than `budget` elements, values are used up before others are made.
    ///
    /// # Errors
    /// [`Error::WrongCount`] or [`Error::InputType`] for other inputs than those of the steps; the errors of [`Plain::new`].
    pub fn evaluate(&self, inputs: &[Plain], batch: usize, budget: usize) -> Result<Vec<Plain>, Error> {
        self.check(inputs)?;
        let mut machine = Machine::new(self, budget, None)?;
        while let Some(next) = machine.next(batch) {
            let results = self.compute(next.step, next.lanes.len(), &machine.inputs(&next), inputs)?;
            machine.finish(&next, results);
        }
        Ok(self.results(&machine, inputs))
    }

    /// Checks that inputs have the types and shapes of the steps.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    fn check(&self, inputs: &[Plain]) -> Result<(), Error> {
        if inputs.len() != self.inputs.len() {
            return Err(Error::WrongCount { what: "inputs", expected: self.inputs.len(), got: inputs.len() });
        }
        match self.inputs.iter().zip(inputs).position(|(want, input)| *want != input.value_type()) {
            Some(at) => Err(Error::InputType {
                name: format!("{at}"),
                wanted: self.inputs[at].clone(),
                got: inputs[at].value_type(),
            }),
            None => inputs.iter().try_for_each(Plain::check),
        }
    }

    /// Computes lanes of a step: for each output of its kernel, one value for each lane.
    ///
    /// # Errors
    /// None for elements that a [`Machine`] of these steps gave.
    pub fn compute(
        &self,
        step: usize,
        lanes: usize,
        elements: &[Vec<Element<'_, Value>>],
        inputs: &[Plain],
    ) -> Result<Vec<Vec<Value>>, Error> {
        let step = &self.steps[step];
        let case = |lane: usize| {
            elements.iter().flat_map(move |port| self.values(&port[lane], inputs).iter().cloned()).collect::<Vec<_>>()
        };
        let mut results = vec![Vec::with_capacity(lanes); step.out.len()];
        let mut take = |values: Vec<Natural>| {
            results.iter_mut().zip(values).for_each(|(all, value)| all.push(Value::One(value)));
        };
        match self.kernel(step) {
            Kernel::Program(program) => (0..lanes).for_each(|lane| take(program.run(&case(lane)))),
            Kernel::Circuit { netlist, .. } => {
                for lane in 0..lanes {
                    take(netlist.evaluate(&case(lane))?);
                }
            }
            Kernel::Packed(program) => {
                let whole = |(port, input): (&Vec<Element<'_, Value>>, &crate::program::Input)| Plain {
                    ty: input.ty,
                    shape: input.shape.clone().unwrap_or_default(),
                    values: self.values(&port[0], inputs).to_vec(),
                };
                let whole: Vec<Plain> = elements.iter().zip(&program.inputs).map(whole).collect();
                let outputs = program.evaluate_arrays(&whole)?;
                return Ok(outputs.into_iter().map(|output| vec![Value::All(output.values)]).collect());
            }
        }
        Ok(results)
    }

    /// The outputs of a machine that has finished.
    #[must_use]
    pub fn results(&self, machine: &Machine<'_, Value>, inputs: &[Plain]) -> Vec<Plain> {
        let plain = |(index, ty, shape): (usize, Type, &Shape)| {
            let values = machine.output(index).flat_map(|element| self.values(&element, inputs).to_vec()).collect();
            Plain { ty, shape: shape.clone(), values }
        };
        let types = self.outputs.iter().map(|output| &output.ty).enumerate();
        types.map(|(index, ValueType { ty, shape })| plain((index, *ty, shape))).collect()
    }

    fn values<'v>(&'v self, element: &Element<'v, Value>, inputs: &'v [Plain]) -> &'v [Natural] {
        let part = |values: &'v [Natural], at: Option<usize>| match at {
            Some(at) => std::slice::from_ref(&values[at]),
            None => values,
        };
        match *element {
            Element::Input(input, at) => part(&inputs[input].values, at),
            Element::Public(array, at) => part(&self.public[array].values, at),
            Element::Value(value) => value.elements(),
        }
    }
}
