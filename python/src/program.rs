//! Programs: built operation by operation from Python, evaluated on plain integers, drawn, kept as JSON.

use num_bigint::BigUint;
use pyo3::prelude::*;
use solinas_circuits::build::Recipe;
use solinas_circuits::export::{write_dot, write_svg};
use solinas_circuits::program::{
    Axes, Function, How, Node, Op, Program, ProgramBuilder, ProgramFile, Shape, Type, ValueId,
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
        .map_err(|error| Failure::from(solinas_runtime::Error::Internal(error.to_string())).into())
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
        let program = Program::from_json(text).and_then(|program| program.scalars());
        Ok(Self { program: program.map_err(|error| circuit_error(&error))? })
    }

    /// The text of a program file in the form of version 1, which this package reads.
    #[staticmethod]
    fn file_v1(text: &str) -> PyResult<String> {
        let file = ProgramFile::read(text).and_then(|file| file.write_v1());
        file.map_err(|error| circuit_error(&error))
    }

    /// The program as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.program).map_err(|error| {
            Failure::from(solinas_runtime::Error::Internal(format!("the program cannot be written as JSON: {error}")))
                .into()
        })
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
            Op::RotateElements(by) => format!("rotate {by}"),
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

    /// Whether each output is an array, if those inputs are arrays.
    fn output_arrays(&self, inputs: Vec<bool>) -> Vec<bool> {
        let arrays = self.program.arrays(&inputs);
        self.program.outputs.iter().map(|output| arrays[output.value.0 as usize]).collect()
    }

    /// The outputs on each row of inputs, all as bits.
    fn evaluate(&self, py: Python<'_>, rows: Vec<Vec<BigUint>>) -> PyResult<Vec<Vec<BigUint>>> {
        let program = &self.program;
        guarded(py, move || rows.iter().map(|row| Ok(numbers(program.evaluate(row)?))).collect::<Result<_, Failure>>())
    }

    /// The outputs on inputs of these shapes, all as bits, with the shapes of the outputs.
    fn evaluate_arrays(
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
            let netlist = program.lower(Recipe::default())?;
            Ok(write_svg(&netlist, &GateCosts::default()))
        })
    }

    /// The program's gates in the DOT language.
    fn gates_dot(&self, py: Python<'_>) -> PyResult<String> {
        let program = &self.program;
        guarded(py, || {
            let netlist = program.lower(Recipe::default())?;
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
