//! Programs: built operation by operation from Python, evaluated on plain integers, drawn, kept as JSON.

use std::sync::Arc;

use num_bigint::BigUint;
use pyo3::prelude::*;
use serde::Serialize;
use solinas_circuits::build::Recipe;
use solinas_circuits::export::{write_dot, write_svg};
use solinas_circuits::program::{
    Axes, Function, How, Node, Op, Program, ProgramBuilder, ProgramFile, ResultType, Shape, Type, ValueId,
};
use solinas_circuits::{Error, GateCosts, Natural, Plain};

use crate::circuit::PyCircuit;
use crate::error::{Failure, circuit_error, guarded};
use crate::keys::numbers;

fn parse(ty: &str) -> PyResult<Type> {
    ty.parse().map_err(|error| circuit_error(&error))
}

/// A built-in reduction, or a function of two elements.
#[derive(FromPyObject)]
enum PyHow<'py> {
    Named(String),
    Function(PyRef<'py, PyProgram>),
}

/// The built-in reduction of this name.
fn named(how: &str) -> PyResult<How> {
    serde_json::from_value(how.into())
        .map_err(|error| Failure::from(solinas_engine::Error::Internal(error.to_string())).into())
}

/// A program being traced.
#[pyclass(module = "solinas._core", name = "Graph")]
#[derive(Default)]
pub(crate) struct PyGraph {
    builder: ProgramBuilder,
}

impl PyGraph {
    fn push(&mut self, op: &str, args: &[ValueId], to: Type, table: Vec<Natural>, by: i64) -> Result<ValueId, Error> {
        match op {
            "rotate_elements" => self.builder.op(Op::RotateElements(by), args),
            "sum_elements" => self.builder.op(Op::SumElements, args),
            "sum" => self.builder.sum(args),
            "index" => self.builder.op(Op::Index, args),
            "cast" => match args {
                [arg] => self.builder.cast(*arg, to),
                _ => Err(Error::Arity { op: "cast", at: String::new(), expected: 1, got: args.len() }),
            },
            "lookup" => match args {
                [arg] => self.builder.lookup(table, *arg, to),
                _ => Err(Error::Arity { op: "lookup", at: String::new(), expected: 1, got: args.len() }),
            },
            _ => match Op::from_name(op) {
                Some(op) => self.builder.op(op, args),
                None => {
                    Err(Error::UnknownOperation { name: op.to_owned(), known: "those of solinas.Value".to_owned() })
                }
            },
        }
    }
}

fn entries(table: Option<Vec<BigUint>>) -> Vec<Natural> {
    table.into_iter().flatten().map(Natural::from).collect()
}

fn ids(args: &[u32]) -> Vec<ValueId> {
    args.iter().copied().map(ValueId).collect()
}

fn number(value: Result<ValueId, Error>) -> PyResult<u32> {
    value.map(|value| value.0).map_err(|error| circuit_error(&error))
}

fn all_numbers(values: Result<Vec<ValueId>, Error>) -> PyResult<Vec<u32>> {
    let values = values.map_err(|error| circuit_error(&error))?;
    Ok(values.into_iter().map(|value| value.0).collect())
}

#[pymethods]
impl PyGraph {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds an input of this shape, or of any shape.
    #[pyo3(signature = (name, ty, shape=None))]
    fn input(&mut self, name: &str, ty: &str, shape: Option<Vec<usize>>) -> PyResult<u32> {
        let ty = parse(ty)?;
        number(match shape {
            None => self.builder.input(name, ty),
            Some(shape) => Shape::new(shape).and_then(|shape| self.builder.array_input(name, ty, shape)),
        })
    }

    /// Adds a constant, given as its bits.
    fn constant(&mut self, bits: BigUint, ty: &str) -> PyResult<u32> {
        let ty = parse(ty)?;
        number(self.builder.constant(bits, ty))
    }

    /// Adds an operation; `to` is the type of a cast or table lookup, `by` the places of a rotation of elements.
    #[pyo3(signature = (op, args, to, table=None, by=0))]
    fn apply(&mut self, op: &str, args: Vec<u32>, to: &str, table: Option<Vec<BigUint>>, by: i64) -> PyResult<u32> {
        let to = parse(to)?;
        number(self.push(op, &ids(&args), to, entries(table), by))
    }

    /// Adds a whole program with the given values as its inputs.
    fn splice(&mut self, program: &PyProgram, args: Vec<u32>) -> PyResult<Vec<u32>> {
        all_numbers(self.builder.inline(&program.program, &ids(&args)))
    }

    /// Calls a circuit, and returns its outputs.
    fn call(&mut self, circuit: &PyCircuit, args: Vec<u32>) -> PyResult<Vec<u32>> {
        all_numbers(self.builder.call(circuit.netlist.clone(), true, &ids(&args)))
    }

    /// The elements with these flat indices of an array of shape `from`, in the shape `to`.
    fn elements(&mut self, array: u32, from_: Vec<usize>, indices: Vec<u64>, to: Vec<usize>) -> PyResult<u32> {
        let shapes = Shape::new(from_).and_then(|from| Ok((from, Shape::new(to)?)));
        number(shapes.and_then(|(from, to)| self.builder.elements(ValueId(array), &from, indices, &to)))
    }

    /// Values, each given with its shape, one after the other in the shape `to`.
    fn stack(&mut self, parts: Vec<(u32, Vec<usize>)>, to: Vec<usize>) -> PyResult<u32> {
        let parts = parts.into_iter().map(|(value, shape)| Ok((ValueId(value), Shape::new(shape)?)));
        let parts: Result<Vec<_>, Error> = parts.collect();
        number(parts.and_then(|parts| self.builder.stack(&parts, &Shape::new(to)?)))
    }

    /// Combines the elements along the last axes, or all, by a built-in reduction or a function of two elements. An element is a value of each array.
    #[pyo3(signature = (how, arrays, axes=None))]
    fn reduce(&mut self, how: PyHow<'_>, arrays: Vec<u32>, axes: Option<u32>) -> PyResult<Vec<u32>> {
        let how = match how {
            PyHow::Function(program) => {
                How::Function(self.builder.function(Function::Program(program.program.clone())))
            }
            PyHow::Named(name) => named(&name)?,
        };
        let axes = axes.map_or(Axes::All, Axes::Last);
        let count = arrays.len() as u32;
        let first = self.builder.op(Op::Reduce { how, axes }, &ids(&arrays));
        all_numbers(first.and_then(|first| {
            let rest = (1..count).map(|index| self.builder.op(Op::Result(index), &[first]));
            std::iter::once(Ok(first)).chain(rest).collect()
        }))
    }

    /// Names an output.
    fn output(&mut self, name: &str, value: u32) {
        self.builder.output(name, ValueId(value));
    }

    /// The program.
    fn finish(&self) -> PyResult<PyProgram> {
        let program = self.builder.clone().finish().map_err(|error| circuit_error(&error))?;
        Ok(program.into())
    }
}

/// Whether each input is one array. Arrays of integers modulo a number whose elements are used are lists of arrays.
fn is_whole(program: &Program) -> bool {
    let shapes: Vec<_> = program.inputs.iter().map(|input| input.shape.clone().unwrap_or_default()).collect();
    !matches!(Arc::new(program.clone()).at(&shapes), Err(Error::Packed { .. }))
}

/// A program of the elements of these parameters as one of the parameters.
fn grouped(
    program: &Program,
    name: &str,
    parameters: Vec<(String, String)>,
    result: &str,
) -> Result<ProgramFile, Failure> {
    let typed = |(name, ty): (String, String)| Ok((name, ty.parse()?));
    let parameters = parameters.into_iter().map(typed).collect::<Result<Vec<_>, Error>>()?;
    Ok(ProgramFile::grouped(name, program, parameters, parsed(result)?)?)
}

fn parsed(result: &str) -> Result<ResultType, Failure> {
    serde_json::from_str(result).map_err(|error| Failure::Format(error.to_string()))
}

fn json<T: Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| solinas_engine::Error::Internal(format!("it cannot be written as JSON: {error}")).into())
}

/// A typed program.
#[pyclass(module = "solinas._core", name = "Program", frozen)]
pub(crate) struct PyProgram {
    pub(crate) program: Program,
}

impl From<Program> for PyProgram {
    fn from(program: Program) -> Self {
        Self { program }
    }
}

#[pymethods]
impl PyProgram {
    /// Reads a program from JSON and checks it.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Ok(Self { program: Program::from_json(text).map_err(|error| circuit_error(&error))? })
    }

    /// Reads a program file of version 2: the name, the program, its result as JSON, and whether its inputs and outputs are elements of those of the file.
    #[staticmethod]
    fn from_file(py: Python<'_>, text: &str) -> PyResult<(String, Self, String, bool)> {
        guarded(py, || {
            let ProgramFile { name, program, result } = ProgramFile::read(text)?;
            // Arrays of integers modulo a number whose elements are used are lists of arrays.
            let of_elements = !is_whole(&program);
            let program = if of_elements { program.scalars()? } else { program };
            Ok((name, program.into(), json(&result)?, of_elements))
        })
    }

    /// The program whose inputs are these parameters, by their types, in place of the elements of them; `None` if the elements are arrays of their own.
    fn grouped(&self, py: Python<'_>, parameters: Vec<(String, String)>, result: &str) -> PyResult<Option<Self>> {
        guarded(py, || {
            let program = grouped(&self.program, "program", parameters, result)?.program;
            Ok(is_whole(&program).then(|| program.into()))
        })
    }

    /// The text of a program file. With `of_elements`, the inputs and outputs are the elements of those in the file.
    fn to_file(
        &self,
        py: Python<'_>,
        name: &str,
        parameters: Vec<(String, String)>,
        result: &str,
        of_elements: bool,
    ) -> PyResult<String> {
        let program = &self.program;
        guarded(py, || {
            if of_elements {
                return Ok(grouped(program, name, parameters, result)?.write()?);
            }
            Ok(ProgramFile { name: name.to_owned(), program: program.clone(), result: parsed(result)? }.write()?)
        })
    }

    /// The shape of each input; `None` for any shape.
    #[getter]
    fn shapes(&self) -> Vec<Option<Vec<usize>>> {
        self.program.inputs.iter().map(|input| input.shape.as_ref().map(|shape| shape.to_vec())).collect()
    }

    /// Whether the program computes on single values, element by element.
    #[getter]
    fn is_of_scalars(&self) -> bool {
        self.program.is_of_scalars()
    }

    /// The program of single values: each element of an input or output is one of its own.
    fn scalars(&self, py: Python<'_>) -> PyResult<Self> {
        guarded(py, || Ok(self.program.scalars()?.into()))
    }

    /// The program on inputs of these shapes, and the shapes of its outputs. It runs over the leading dimensions `outer`, which the inputs that are `batched`
    /// have before their shapes.
    fn at(
        &self,
        py: Python<'_>,
        shapes: Vec<Vec<usize>>,
        outer: Vec<usize>,
        batched: Vec<bool>,
    ) -> PyResult<(Self, Vec<Vec<usize>>)> {
        guarded(py, || {
            let mut program = self.program.clone();
            if program.is_of_scalars() {
                program.inputs.iter_mut().for_each(|input| input.shape = None);
            }
            let shapes = shapes.into_iter().map(Shape::new).collect::<Result<Vec<_>, _>>()?;
            let outer = Shape::new(outer)?;
            let program = Arc::new(program);
            let shaped = program.at(&shapes)?;
            let outputs = shaped.outputs().into_iter();
            let outputs = outputs.map(|output| Ok::<_, Error>(output.shape.under(&outer)?.to_vec()));
            let outputs = outputs.collect::<Result<_, _>>()?;
            if !outer.is_empty() {
                return Ok((shaped.lift(&outer, &batched)?.into(), outputs));
            }
            drop(shaped);
            Ok((Arc::unwrap_or_clone(program).into(), outputs))
        })
    }

    /// The program as JSON.
    fn to_json(&self) -> PyResult<String> {
        Ok(json(&self.program)?)
    }

    /// Names and types of the inputs.
    #[getter]
    fn inputs(&self) -> Vec<(String, String)> {
        self.program.inputs.iter().map(|input| (input.name.clone(), input.ty.to_string())).collect()
    }

    /// Names and types of the outputs.
    #[getter]
    fn outputs(&self) -> Vec<(String, String)> {
        let ty = |value: ValueId| self.program.nodes[value.0 as usize].ty.to_string();
        self.program.outputs.iter().map(|output| (output.name.clone(), ty(output.value))).collect()
    }

    /// Operations as (name, operands, type, detail), for pictures and listings; detail is an input's name, a constant or a rotation.
    #[getter]
    fn nodes(&self) -> Vec<(&'static str, Vec<u32>, String, String)> {
        let detail = |node: &Node| match &node.op {
            Op::Input(index) => self.program.inputs.get(*index as usize).map(|i| i.name.clone()).unwrap_or_default(),
            Op::Const(bits) => node.ty.decimal(bits),
            Op::RotateElements(by) | Op::Roll { by, .. } => format!("rotate {by}"),
            Op::Reduce { how: How::Sum, .. } => "Σ".to_owned(),
            _ => String::new(),
        };
        let describe = |node: &Node| {
            let args = node.args.iter().map(|arg| arg.0).collect();
            (node.op.name(), args, node.ty.to_string(), detail(node))
        };
        self.program.nodes.iter().map(describe).collect()
    }

    /// Index of the node of each output.
    #[getter]
    fn output_nodes(&self) -> Vec<u32> {
        self.program.outputs.iter().map(|output| output.value.0).collect()
    }

    /// The outputs on inputs of these shapes, all as bits, with the shapes of the outputs.
    fn evaluate(
        &self,
        py: Python<'_>,
        inputs: Vec<Vec<BigUint>>,
        shapes: Vec<Vec<usize>>,
    ) -> PyResult<Vec<(Vec<usize>, Vec<BigUint>)>> {
        let program = &self.program;
        guarded(py, move || {
            let plain =
                |((values, shape), ty): ((Vec<BigUint>, Vec<usize>), Type)| Plain::new(ty, Shape::new(shape)?, values);
            let inputs = inputs.into_iter().zip(shapes).zip(program.input_types());
            let inputs: Vec<_> = inputs.map(plain).collect::<Result<_, _>>()?;
            let outputs = program.evaluate_arrays(&inputs)?.into_iter();
            Ok(outputs.map(|output| (output.shape.to_vec(), numbers(output.values))).collect())
        })
    }

    /// A picture of the program's gates.
    fn gates_svg(&self, py: Python<'_>) -> PyResult<String> {
        let program = &self.program;
        guarded(py, || {
            let netlist = program.scalars()?.lower(Recipe::default())?;
            Ok(write_svg(&netlist, &GateCosts::default()))
        })
    }

    /// The program's gates in the DOT language.
    fn gates_dot(&self, py: Python<'_>) -> PyResult<String> {
        let program = &self.program;
        guarded(py, || {
            let netlist = program.scalars()?.lower(Recipe::default())?;
            Ok(write_dot(&netlist))
        })
    }
}

/// One operation on plain values, all as bits.
#[pyfunction]
#[pyo3(signature = (op, types, values, to, table=None))]
pub(crate) fn evaluate(
    op: &str,
    types: Vec<String>,
    values: Vec<BigUint>,
    to: &str,
    table: Option<Vec<BigUint>>,
) -> PyResult<BigUint> {
    let to = parse(to)?;
    let types = types.iter().map(|ty| parse(ty)).collect::<PyResult<Vec<_>>>()?;
    let run = || -> Result<BigUint, Error> {
        let mut graph = PyGraph::default();
        let args = types
            .iter()
            .zip(values)
            .map(|(&ty, bits)| graph.builder.constant(bits, ty))
            .collect::<Result<Vec<_>, _>>()?;
        let result = graph.push(op, &args, to, entries(table), 0)?;
        graph.builder.output("result", result);
        let outputs = graph.builder.finish()?.evaluate::<Natural>(&[])?;
        outputs.into_iter().next().map(BigUint::from).ok_or(Error::NoOutputs)
    };
    run().map_err(|error| circuit_error(&error))
}
