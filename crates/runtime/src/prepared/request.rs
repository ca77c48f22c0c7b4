//! Requests for work as steps, with the values on which they run.

use super::MOST_JOINED;
use crate::ciphertext::same_key;
use crate::{Ciphertext, Control, Error, Form, Input, Inputs, Netlist, Plain, Program, Server, Type, Work};
use crate::{memory, planning, program};
use solinas_circuits::program::Shape;
use solinas_circuits::steps::{Kernel, Port, Source, Steps, split};
use solinas_circuits::{Port as CircuitPort, counted};
use std::collections::HashMap;
use std::sync::Arc;

/// The most elements of fresh inputs. Counts of operations on them stay below 2^64.
const MOST_ELEMENTS: u64 = 1 << 36;

/// The steps of work, and its inputs.
pub(super) struct Request {
    pub(super) steps: Arc<Steps>,
    /// Names of the inputs with their types or widths.
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
            Work::Circuit { netlist, optimize, inputs } => Self::circuit(server, netlist, optimize, inputs, control),
            Work::Convert { ciphertext, form } => Self::convert(server, ciphertext, form),
        }
    }

    fn program(
        server: &Server,
        program: &Program,
        inputs: Inputs<Input>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        program.validate()?;
        let names = program.inputs.iter().map(|input| format!("{}: {}", input.name, input.ty)).collect();
        let inputs = match inputs {
            Inputs::Given(inputs) => inputs,
            // Without inputs there is nothing to assume, and the program can run.
            Inputs::Fresh { .. } if program.inputs.is_empty() => Vec::new(),
            Inputs::Fresh { instances } => {
                let any = fresh_shape(instances)?;
                let shape = |input: &program::Input| input.shape.clone().unwrap_or_else(|| any.clone());
                let shapes: Vec<Shape> = program.inputs.iter().map(shape).collect();
                let steps = steps(server, program.clone(), &shapes, control)?;
                return Ok(Self { steps: Arc::new(steps), names, values: None, conversion: None });
            }
        };
        if inputs.len() != program.inputs.len() {
            return Err(input_count(inputs.len(), &names));
        }
        let (mut public, mut values, mut shapes) = (HashMap::new(), Vec::new(), Vec::new());
        for ((index, input), declared) in (0u32..).zip(inputs).zip(&program.inputs) {
            let got = match &input {
                Input::Public(plain) => plain.ty,
                Input::Encrypted(ciphertext) => ciphertext.ty(),
            };
            if !same_type(declared.ty, got) {
                return Err(Error::InputType { name: declared.name.clone(), want: declared.ty, got });
            }
            match input {
                Input::Public(plain) => {
                    public.insert(index, public_value(server, declared.ty, plain)?);
                }
                Input::Encrypted(ciphertext) => {
                    check_input(server, &declared.name, &ciphertext)?;
                    shapes.push(shape_of(ciphertext.shape())?);
                    values.push(ciphertext);
                }
            }
        }
        let program = if public.is_empty() { program.clone() } else { program.with_public(&public)? };
        let steps = steps(server, program, &shapes, control)?;
        check_scalars(&steps)?;
        Ok(Self { steps: Arc::new(steps), names, values: Some(values), conversion: None })
    }

    fn circuit(
        server: &Server,
        netlist: &Netlist,
        optimize: bool,
        inputs: Inputs<Ciphertext>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let ports = netlist.inputs();
        let names: Vec<String> =
            ports.iter().map(|port| format!("{}: {}", port.name, counted(port.bits.len(), "bit"))).collect();
        let (mut types, mut shapes) = (Vec::new(), Vec::new());
        let values = match inputs {
            Inputs::Fresh { instances } if !ports.is_empty() => {
                let any = fresh_shape(instances)?;
                for port in ports {
                    let bits = port.ty().is_none().then_some(port.bits.len());
                    types.push(port.element_type());
                    shapes.push(Shape::new(any.iter().copied().chain(bits))?);
                }
                None
            }
            Inputs::Fresh { .. } => Some(Vec::new()),
            Inputs::Given(values) => {
                if values.len() != ports.len() {
                    return Err(input_count(values.len(), &names));
                }
                for (port, value) in ports.iter().zip(&values) {
                    check_input(server, &port.name, value)?;
                    types.push(port_type(port, value)?);
                    shapes.push(shape_of(value.shape())?);
                }
                Some(values)
            }
        };
        let steps = steps(server, call(netlist, optimize, &types)?, &shapes, control)?;
        Ok(Self { steps: Arc::new(steps), names, values, conversion: None })
    }

    fn convert(server: &Server, ciphertext: &Ciphertext, form: Form) -> Result<Self, Error> {
        check_input(server, "the ciphertext", ciphertext)?;
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

/// The steps of work on fresh inputs of any scheme. A program has one element where a shape is not declared.
///
/// # Errors
/// A program that is not valid; [`Error::Request`] for a conversion.
pub(crate) fn fresh_steps(work: Work<'_>, control: &Control<'_>) -> Result<Steps, Error> {
    let program = match work {
        Work::Program { program, .. } => program.clone(),
        Work::Circuit { netlist, optimize, inputs } => {
            let any = match inputs {
                Inputs::Fresh { instances } => fresh_shape(instances)?,
                Inputs::Given(_) => Shape::scalar(),
            };
            let types: Vec<Type> = netlist.inputs().iter().map(CircuitPort::element_type).collect();
            let mut program = call(netlist, optimize, &types)?;
            for (input, port) in program.inputs.iter_mut().zip(netlist.inputs()) {
                let bits = port.ty().is_none().then_some(port.bits.len());
                input.shape = Some(Shape::new(any.iter().copied().chain(bits))?);
            }
            program
        }
        Work::Convert { .. } => {
            return Err(Error::Request {
                what: "a conversion has no cost without a key".into(),
                help: "prepare it on a server, and ask for its estimate".into(),
            });
        }
    };
    program.validate()?;
    let shapes: Vec<Shape> = program.inputs.iter().map(|input| input.shape.clone().unwrap_or_default()).collect();
    let steps = split(&Arc::new(program).at(&shapes)?)?.with_copies(|_| false)?;
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
    if server.engine.takes_public() || !read.any(|slot| matches!(steps.source(slot), Source::Public(_))) {
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

/// The program that calls a circuit.
pub(super) fn call(netlist: &Netlist, optimize: bool, types: &[Type]) -> Result<Program, Error> {
    let mut builder = program::ProgramBuilder::new();
    let args = netlist.inputs().iter().zip(types).map(|(port, &ty)| builder.input(&port.name, ty));
    let args = args.collect::<Result<Vec<_>, _>>()?;
    let results = builder.call(netlist.clone(), optimize, &args)?;
    netlist.outputs().iter().zip(results).for_each(|(port, value)| builder.output(&port.name, value));
    Ok(builder.finish()?)
}

/// The type of the input for a port: that of the ciphertext, of the width of the port, or bools whose last dimension holds its bits.
///
/// # Errors
/// [`Error::PortWidth`] for a wide port without an array of bools; [`Error::InputType`].
fn port_type(port: &CircuitPort, value: &Ciphertext) -> Result<Type, Error> {
    let (name, width) = (port.name.clone(), port.bits.len());
    let by_bits = width > 1 && value.ty() == Type::Bool && value.shape().and_then(<[usize]>::last) == Some(&width);
    match port.ty() {
        _ if by_bits => Ok(Type::Bool),
        None => {
            let got = match value.shape() {
                None => format!("one {}", value.ty()),
                Some(shape) => format!("an array of {} of shape {shape:?}", value.ty()),
            };
            Err(Error::PortWidth { name, width, got })
        }
        // A circuit has bits without signs.
        Some(want) if want.width() != value.ty().width() => Err(Error::InputType { name, want, got: value.ty() }),
        Some(_) => Ok(value.ty()),
    }
}

/// A public value as one of the input's type.
fn public_value(server: &Server, ty: Type, plain: Plain) -> Result<solinas_circuits::Plain, Error> {
    if server.engine.form() == Form::Slots && plain.shape.is_some() {
        // A plaintext, and the polynomials that hold it.
        let params = server.params();
        let need = params.encrypted_bytes(ty, Some(plain.values.len())).saturating_mul(2);
        memory::check_within(server.room()?, "the public inputs", &params, need, memory::FEWER)?;
    }
    Ok(solinas_circuits::Plain { ty, shape: shape_of(plain.shape.as_deref())?, values: plain.values })
}

fn check_input(server: &Server, name: &str, ciphertext: &Ciphertext) -> Result<(), Error> {
    let what = || if name == "the ciphertext" { name.to_owned() } else { format!("input {name:?}") };
    same_key(what, ciphertext, server.key_id(), &server.params())?;
    if ciphertext.is_compact() { Err(Error::Compact { what: what() }) } else { Ok(()) }
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
