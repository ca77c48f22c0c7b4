//! Programs and circuits of jobs.

use crate::error::{Code, Error, Problem};
use crate::id::{Digest, Tenant};
use crate::shelf::Files;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use solinas_circuits::program::Shape;
use solinas_runtime::{Inputs, Netlist, Program, Work, import};

/// A file of Yosys, without its contents.
#[derive(Deserialize)]
struct Modules {
    #[allow(dead_code, reason = "it is there or not")]
    modules: IgnoredAny,
}

/// A program or a circuit.
#[derive(Debug)]
pub(crate) enum Source {
    Program(Program),
    Circuit(Netlist),
}

impl Source {
    /// Reads a program or circuit of a tenant.
    ///
    /// # Errors
    /// What is missing, or no program.
    pub(crate) fn load(files: &dyn Files, tenant: &Tenant, digest: &Digest) -> Result<Self, Problem> {
        let path = files.program(tenant, digest)?;
        Self::parse(&std::fs::read_to_string(&path).map_err(Error::io("read", &path))?)
    }

    /// Reads a program in JSON, or a circuit in Bristol, BLIF or JSON of Yosys.
    ///
    /// # Errors
    /// [`Code::BadProgram`] with the place of the mistake.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let is_circuit = |error: &solinas_circuits::Error| {
            // Both a program and a circuit of Yosys begin with a brace.
            matches!(error, solinas_circuits::Error::NotAProgram { .. })
                && serde_json::from_str::<Modules>(text).is_ok()
        };
        match text.trim_start().starts_with('{') {
            false => Ok(Self::Circuit(import::read(text)?)),
            true => match Program::from_json(text) {
                Ok(program) => Ok(Self::Program(program)),
                Err(error) if is_circuit(&error) => Ok(Self::Circuit(import::read(text)?)),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Checks that a job can have the inputs, and refuses as many outputs: each has a description and a file.
    ///
    /// # Errors
    /// [`Code::BadProgram`].
    pub(crate) fn check_ports(&self, most: usize) -> Result<(), Problem> {
        let outputs = match self {
            Self::Program(program) => program.outputs.len(),
            Self::Circuit(netlist) => netlist.outputs().len(),
        };
        match [(self.inputs(), "inputs"), (outputs, "outputs")].into_iter().find(|&(count, _)| count > most) {
            Some((count, what)) => {
                let what = format!("the program has {count} {what}, and at most {most} are allowed");
                let fix = "put values together in arrays or wider ports; the operator's setting is `inputs`";
                Err(Problem::new(Code::BadProgram, what, fix))
            }
            None => Ok(()),
        }
    }

    /// Inputs and outputs, for callers.
    pub(crate) fn facts(&self) -> Value {
        match self {
            Self::Program(program) => {
                let inputs = program
                    .inputs
                    .iter()
                    .map(|input| json!({ "name": input.name, "type": input.ty.to_string(), "shape": input.shape }));
                let types = program.output_types();
                let outputs = program.outputs.iter().zip(types);
                let outputs = outputs.map(|(output, ty)| json!({ "name": output.name, "type": ty.to_string() }));
                json!({
                    "form": "program",
                    "inputs": inputs.collect::<Vec<_>>(),
                    "outputs": outputs.collect::<Vec<_>>(),
                })
            }
            Self::Circuit(netlist) => {
                let ports = |ports: &[solinas_circuits::Port]| -> Vec<Value> {
                    ports.iter().map(|port| json!({ "name": port.name, "bits": port.bits.len() })).collect()
                };
                json!({ "form": "circuit", "inputs": ports(netlist.inputs()), "outputs": ports(netlist.outputs()) })
            }
        }
    }

    /// The number of inputs.
    pub(crate) fn inputs(&self) -> usize {
        match self {
            Self::Program(program) => program.inputs.len(),
            Self::Circuit(netlist) => netlist.inputs().len(),
        }
    }

    /// Names of the outputs.
    pub(crate) fn outputs(&self) -> Vec<&str> {
        match self {
            Self::Program(program) => program.outputs.iter().map(|output| output.name.as_str()).collect(),
            Self::Circuit(netlist) => netlist.outputs().iter().map(|port| port.name.as_str()).collect(),
        }
    }

    /// The source on fresh inputs of these shapes, for an estimate. Without shapes, an input of any shape is one value.
    ///
    /// # Errors
    /// [`Code::WrongShape`].
    pub(crate) fn fresh(mut self, shapes: Option<Vec<Shape>>) -> Result<Fresh, Problem> {
        let wrong = |what: String, fix: &str| Err(Problem::new(Code::WrongShape, what, fix));
        let Some(shapes) = shapes else { return Ok(Fresh { source: self, instances: 1 }) };
        if shapes.len() != self.inputs() {
            let what =
                format!("the program has {} inputs, and the estimate gives {} shapes", self.inputs(), shapes.len());
            return wrong(what, "give one for each input, and [] for a single value");
        }
        let mut instances = 1;
        match &mut self {
            Self::Program(program) => {
                for (input, shape) in program.inputs.iter_mut().zip(shapes) {
                    match &input.shape {
                        Some(declared) if *declared != shape => {
                            let what =
                                format!("input {:?} has shape {declared}, and the estimate gives {shape}", input.name);
                            return wrong(what, "give the shape of the program");
                        }
                        _ => input.shape = Some(shape),
                    }
                }
            }
            Self::Circuit(_) => {
                let mut arrays = shapes.iter().filter(|shape| !shape.is_empty());
                if let Some(first) = arrays.next() {
                    if arrays.any(|shape| shape != first) {
                        let fix = "give one shape for all arrays among them, and [] for a single value";
                        return wrong("the ports of a circuit have several shapes".into(), fix);
                    }
                    instances = first.size();
                }
            }
        }
        Ok(Fresh { source: self, instances })
    }
}

/// A source on fresh inputs.
pub(crate) struct Fresh {
    source: Source,
    /// Times that a circuit runs.
    instances: usize,
}

impl Fresh {
    /// The work.
    pub(crate) fn work(&self) -> Work<'_> {
        match &self.source {
            // Its inputs have their shapes.
            Source::Program(program) => Work::from(program),
            Source::Circuit(netlist) => Work::circuit(netlist, Inputs::Fresh { instances: self.instances }),
        }
    }
}
