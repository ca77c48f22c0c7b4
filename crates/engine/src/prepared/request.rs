//! Requests for work as steps, with the values on which they run.

use super::MOST_JOINED;
use crate::{Ciphertext, Control, Error, Form, Input, Inputs, Netlist, Plain, Program, Server, Type, Work};
use crate::{planning, program};
use solinas_circuits::Port as CircuitPort;
use solinas_circuits::program::{Shape, ValueType};
use solinas_circuits::steps::{Kernel, Port, Source, Steps, split};
use solinas_values::memory;
use std::collections::HashMap;
use std::sync::Arc;

/// The most elements of fresh inputs. Counts of operations on them stay below 2^64.
const MOST_ELEMENTS: u64 = 1 << 36;

/// The steps of work, and its inputs.
pub(super) struct Request {
    pub(super) steps: Arc<Steps>,
    /// Names of the inputs with their types.
    pub(super) names: Vec<String>,
    /// The encrypted inputs. None for fresh ones.
    pub(super) values: Option<Vec<Ciphertext>>,
    /// The form to which the only input is converted.
    pub(super) conversion: Option<Form>,
}

impl Request {
    pub(super) fn new(server: &Server, work: Work<'_>, control: &Control<'_>) -> Result<Self, Error> {
        match work {
            Work::Program { program, inputs } => Self::program(server, program, inputs, control),
            Work::Convert { ciphertext, form } => Self::convert(server, ciphertext, form),
        }
    }

    fn program(server: &Server, program: &Program, inputs: Inputs, control: &Control<'_>) -> Result<Self, Error> {
        program.validate()?;
        let names = program.inputs.iter().map(|input| format!("{}: {}", input.name, input.ty)).collect();
        let inputs = match inputs {
            Inputs::Given(inputs) => inputs,
            // Without inputs there is nothing to assume, and the program can run.
            Inputs::Fresh { .. } if program.inputs.is_empty() => Vec::new(),
            Inputs::Fresh { instances } => {
                let shapes = program.fresh_shapes(&fresh_shape(instances)?)?;
                let steps = steps(server, program.clone(), &shapes, control)?;
                return Ok(Self { steps: Arc::new(steps), names, values: None, conversion: None });
            }
        };
        if inputs.len() != program.inputs.len() {
            return Err(input_count(inputs.len(), &names));
        }
        let (mut public, mut values, mut shapes, mut types) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
        let ports = program.circuit().map(Netlist::inputs);
        for (index, input) in inputs.into_iter().enumerate() {
            let (declared, port) = (&program.inputs[index], ports.map(|ports| &ports[index]));
            let (ty, shape) = match &input {
                Input::Public(plain) => (plain.ty, plain.shape.as_deref()),
                Input::Encrypted(ciphertext) => (ciphertext.ty(), ciphertext.shape()),
            };
            let value = ValueType { ty, shape: shape_of(shape)? };
            let ty = input_type(declared, port, &value)?;
            types.push(ty);
            match input {
                Input::Public(plain) => {
                    public.insert(index as u32, public_value(server, ty, plain)?);
                }
                Input::Encrypted(ciphertext) => {
                    check_operand(server, &format!("input {:?}", declared.name), &ciphertext)?;
                    shapes.push(value.shape);
                    values.push(ciphertext);
                }
            }
        }
        let mut program = program.clone().with_input_types(&types);
        if !public.is_empty() {
            program = program.with_public(&public)?;
        }
        let steps = steps(server, program, &shapes, control)?;
        check_scalars(&steps)?;
        Ok(Self { steps: Arc::new(steps), names, values: Some(values), conversion: None })
    }

    fn convert(server: &Server, ciphertext: &Ciphertext, form: Form) -> Result<Self, Error> {
        check_operand(server, "the ciphertext", ciphertext)?;
        let mut builder = program::ProgramBuilder::new();
        let value = builder.input("x", ciphertext.ty())?;
        builder.output("result", value);
        let steps = split(&Arc::new(builder.finish()?).at(&[shape_of(ciphertext.shape())?])?)?;
        Ok(Self {
            steps: Arc::new(steps),
            names: Vec::new(),
            values: Some(vec![ciphertext.clone()]),
            conversion: Some(form),
        })
    }
}

/// The steps of a program on fresh inputs of any scheme, of one element where a shape is not declared.
///
/// # Errors
/// A program that is not valid, or has too many lanes.
pub(crate) fn fresh_steps(program: &Program, control: &Control<'_>) -> Result<Steps, Error> {
    program.validate()?;
    let shapes = program.fresh_shapes(&Shape::scalar())?;
    let steps = split(&Arc::new(program.clone()).at(&shapes)?)?.with_copies(|_| false)?;
    check_lanes(&steps, control)?;
    Ok(steps.with_constants(MOST_JOINED)?)
}

/// Operands of lanes for which a plan may look once, for each operation that it may have.
const READS: u64 = 16;

/// Checks that steps have few enough lanes: a plan looks at each operand of each lane. A short program may name large arrays.
fn check_lanes(steps: &Steps, control: &Control<'_>) -> Result<(), Error> {
    let reads = steps.steps.iter().map(|step| (step.lanes as u64).saturating_mul(step.ports.len().max(1) as u64));
    Ok(planning::limits(control)?.check_size(reads.fold(0, u64::saturating_add) / READS)?)
}

/// The steps of a program. Their kernels have public values as constants, and each output is a result of a step or an input.
fn steps(server: &Server, program: Program, inputs: &[Shape], control: &Control<'_>) -> Result<Steps, Error> {
    let steps = split(&Arc::new(program).at(inputs)?)?.with_copies(|_| false)?;
    check_lanes(&steps, control)?;
    let lanes = steps.steps.iter().map(|step| match steps.kernel(step) {
        Kernel::Program(program) => program.nodes.len().saturating_mul(step.lanes.min(MOST_JOINED)),
        _ => 0,
    });
    let joined = lanes.fold(0usize, usize::saturating_add);
    let reads = steps.public.iter().any(|plain| !plain.shape.is_empty());
    if reads {
        planning::limits(control)?.check_size(joined as u64)?;
    }
    let steps = steps.with_constants(MOST_JOINED)?;
    let mut read = steps.steps.iter().flat_map(|step| &step.ports).flat_map(|port| steps.slots_of(*port));
    if server.engine.public_values().is_some() || !read.any(|slot| matches!(steps.source(slot), Source::Public(_))) {
        return Ok(steps);
    }
    Err(Error::Request {
        what: format!("a public array has more than {MOST_JOINED} elements with values that few others have"),
        help: format!(
            "split the array, since scheme {} takes public values as constants alone",
            server.params().scheme
        ),
    })
}

/// The type of an input for a value: that which the program declares, or at a port of a circuit that of the value.
///
/// # Errors
/// [`Error::PortWidth`] for a wide port without an array of bools; [`Error::InputType`].
fn input_type(declared: &program::Input, port: Option<&CircuitPort>, value: &ValueType) -> Result<Type, Error> {
    let (want, got) = (declared.ty, value.ty);
    let ty = port.map_or(same_type(want, got).then_some(want), |port| port.input_type(value));
    ty.ok_or_else(|| match port.filter(|port| port.ty().is_none()) {
        Some(port) => {
            let got = match &value.shape[..] {
                [] => format!("one {got}"),
                shape => format!("an array of {got} of shape {shape:?}"),
            };
            Error::PortWidth { name: declared.name.clone(), width: port.bits.len(), got }
        }
        None => Error::InputType { name: declared.name.clone(), want, got },
    })
}

/// A public value as one of the input's type.
fn public_value(server: &Server, ty: Type, plain: Plain) -> Result<solinas_circuits::Plain, Error> {
    if server.engine.form() == Form::Slots && plain.shape.is_some() {
        // A plaintext, and the polynomials that hold it.
        let params = server.params();
        let need = params.encrypted_bytes(ty, Some(plain.values.len())).saturating_mul(2);
        memory::check_within(server.room()?, "the public inputs", &params, need, memory::FEWER)?;
    }
    Ok(solinas_circuits::Plain { ty, ..plain.try_into()? })
}

/// Checks that a server can compute with a ciphertext.
///
/// # Errors
/// [`Error::SchemeMismatch`], [`Error::KeyMismatch`] or [`Error::ForeignParams`]; [`Error::Compact`].
pub(super) fn check_operand(server: &Server, what: &str, ciphertext: &Ciphertext) -> Result<(), Error> {
    ciphertext.check_key(|| what.to_owned(), server.key_id(), &server.params())?;
    if ciphertext.is_compact() { Err(Error::Compact { what: what.to_owned() }) } else { Ok(()) }
}

/// Checks that no sum of integers modulo a number is over an empty array: elements that share ciphertexts have no ciphertext then.
fn check_scalars(steps: &Steps) -> Result<(), Error> {
    let types = steps.slot_types()?;
    for step in steps.steps.iter().filter(|step| matches!(steps.kernel(step), Kernel::Packed(_))) {
        let read = |port: &Port| matches!(port, Port::Whole(slot) if types[slot.0 as usize].shape.contains(&0));
        let scalar = step.out.iter().position(|slot| types[slot.0 as usize].shape.is_empty());
        if let (true, Some(at), Kernel::Packed(program)) = (step.ports.iter().any(read), scalar, steps.kernel(step)) {
            let output = steps.outputs.iter().find(|output| output.port == Port::Whole(step.out[at]));
            let name = output.map_or_else(|| program.outputs[at].name.clone(), |output| output.name.clone());
            return Err(Error::Empty { output: name });
        }
    }
    Ok(())
}

fn shape_of(shape: Option<&[usize]>) -> Result<Shape, Error> {
    Ok(Shape::new(shape.unwrap_or(&[]).iter().copied())?)
}

fn fresh_shape(instances: usize) -> Result<Shape, Error> {
    if instances as u64 > MOST_ELEMENTS {
        let expected = format!("at most {MOST_ELEMENTS}");
        return Err(Error::Value { text: instances.to_string(), ty: "a number of elements".into(), expected });
    }
    Ok(Shape::new((instances != 1).then_some(instances))?)
}

/// The error for a wrong number of inputs.
pub(super) fn input_count(got: usize, names: &[String]) -> Error {
    Error::InputCount { got, want: names.len(), names: names.join(", ") }
}

/// Whether two types are equal. A bool and a one-bit unsigned integer are the same bit.
fn same_type(a: Type, b: Type) -> bool {
    let bit = |ty: Type| matches!(ty, Type::Bool | Type::Uint(1));
    a == b || (bit(a) && bit(b))
}
