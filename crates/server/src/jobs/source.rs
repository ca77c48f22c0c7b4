//! Programs and circuits of jobs. A circuit is a program of one call.

use crate::error::{Code, Error, Problem};
use crate::id::{Digest, Tenant};
use crate::jobs::storage::Files;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use solinas_circuits::program::Shape;
use solinas_engine::{Program, import};

/// A file of Yosys, without its contents.
#[derive(Deserialize)]
struct Modules {
    #[allow(dead_code, reason = "it is there or not")]
    modules: IgnoredAny,
}

/// Reads a program or circuit of a tenant.
///
/// # Errors
/// What is missing, or no program.
pub(crate) fn load(files: &dyn Files, tenant: &Tenant, digest: &Digest) -> Result<Program, Problem> {
    let path = files.program(tenant, digest)?;
    parse(&std::fs::read_to_string(&path).map_err(Error::io("read", &path))?)
}

/// Reads a program in JSON, or a circuit in Bristol, BLIF or JSON of Yosys.
///
/// # Errors
/// [`Code::BadProgram`] with the place of the mistake.
pub(crate) fn parse(text: &str) -> Result<Program, Problem> {
    let is_circuit = |error: &solinas_circuits::Error| {
        // Both a program and a circuit of Yosys begin with a brace.
        matches!(error, solinas_circuits::Error::NotAProgram { .. }) && serde_json::from_str::<Modules>(text).is_ok()
    };
    if text.trim_start().starts_with('{') {
        match Program::from_json(text) {
            Err(error) if is_circuit(&error) => {}
            program => return Ok(program?),
        }
    }
    Ok(Program::of_circuit(import::read(text)?, true)?)
}

/// Checks that a job can have the inputs, and refuses as many outputs: each has a description and a file.
///
/// # Errors
/// [`Code::BadProgram`].
pub(crate) fn check_ports(program: &Program, most: usize) -> Result<(), Problem> {
    let counts = [(program.inputs.len(), "inputs"), (program.outputs.len(), "outputs")];
    match counts.into_iter().find(|&(count, _)| count > most) {
        Some((count, what)) => {
            let what = format!("the program has {count} {what}, and at most {most} are allowed");
            let fix = "put values together in arrays or wider ports; the operator's setting is `inputs`";
            Err(Problem::new(Code::BadProgram, what, fix))
        }
        None => Ok(()),
    }
}

/// Inputs and outputs, for callers. Those of a circuit have bits.
pub(crate) fn facts(program: &Program) -> Value {
    let (inputs, outputs) = (program.inputs.iter(), program.outputs.iter());
    let (form, inputs, outputs): (_, Vec<Value>, Vec<Value>) = if let Some(netlist) = program.circuit() {
        let port = |name: &str, port: &solinas_circuits::Port| json!({ "name": name, "bits": port.bits.len() });
        let inputs = inputs.zip(netlist.inputs()).map(|(input, of)| port(&input.name, of));
        let outputs = outputs.zip(netlist.outputs()).map(|(output, of)| port(&output.name, of));
        ("circuit", inputs.collect(), outputs.collect())
    } else {
        let inputs =
            inputs.map(|input| json!({ "name": input.name, "type": input.ty.to_string(), "shape": input.shape }));
        let outputs = outputs.zip(program.output_types());
        let outputs = outputs.map(|(output, ty)| json!({ "name": output.name, "type": ty.to_string() }));
        ("program", inputs.collect(), outputs.collect())
    };
    json!({ "form": form, "inputs": inputs, "outputs": outputs })
}

/// The program on fresh inputs of these shapes, for an estimate.
///
/// # Errors
/// [`Code::WrongShape`].
pub(crate) fn fresh(mut program: Program, shapes: Vec<Shape>) -> Result<Program, Problem> {
    let wrong = |what: String, fix: &str| Err(Problem::new(Code::WrongShape, what, fix));
    let (count, given) = (program.inputs.len(), shapes.len());
    if given != count {
        let what = format!("the program has {count} inputs, and the estimate gives {given} shapes");
        return wrong(what, "give one for each input, and [] for a single value");
    }
    for (input, shape) in program.inputs.iter_mut().zip(shapes) {
        match &input.shape {
            Some(declared) if *declared != shape => {
                let what = format!("input {:?} has shape {declared}, and the estimate gives {shape}", input.name);
                return wrong(what, "give the shape of the program");
            }
            _ => input.shape = Some(shape),
        }
    }
    Ok(program)
}
