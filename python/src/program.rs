//! Programs: built operation by operation from Python, evaluated on plain integers, drawn, kept as JSON.

use num_bigint::BigUint;
use pyo3::prelude::*;
use solinas_circuits::build::Recipe;
use solinas_circuits::export::{write_dot, write_svg};
use solinas_circuits::program::{Node, Op, Program, ProgramBuilder, ProgramFile, Shape, Type, ValueId};
use solinas_circuits::{Error, GateCosts, Natural, Plain};

use crate::error::{Failure, circuit_error, guarded};
use crate::keys::numbers;

fn parse(ty: &str) -> PyResult<Type> {
    ty.parse().map_err(|error| circuit_error(&error))
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

    /// Adds the nodes of `program`, its inputs replaced by `args`; the values of its outputs.
    fn push_program(&mut self, program: &Program, args: &[ValueId]) -> Result<Vec<ValueId>, Error> {
        let (expected, got) = (program.inputs.len(), args.len());
        if expected != got {
            return Err(Error::WrongCount { what: "inputs", expected, got });
        }
        let mut values: Vec<ValueId> = Vec::with_capacity(program.nodes.len());
        for node in &program.nodes {
            let operands: Vec<_> = node.args.iter().map(|arg| values[arg.0 as usize]).collect();
            let value = match &node.op {
                Op::Input(index) => args[*index as usize],
                Op::Const(value) => self.builder.constant(value, node.ty)?,
                Op::Cast => self.push("cast", &operands, node.ty, Vec::new(), 0)?,
                Op::Lookup(table) => self.push("lookup", &operands, node.ty, table.clone(), 0)?,
                op => self.builder.op(op.clone(), &operands)?,
            };
            values.push(value);
        }
        Ok(program.outputs.iter().map(|output| values[output.value.0 as usize]).collect())
    }
}

fn entries(table: Option<Vec<BigUint>>) -> Vec<Natural> {
    table.into_iter().flatten().map(Natural::from).collect()
}

fn ids(args: &[u32]) -> Vec<ValueId> {
    args.iter().copied().map(ValueId).collect()
}

#[pymethods]
impl PyGraph {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds an input.
    fn input(&mut self, name: &str, ty: &str) -> PyResult<u32> {
        let ty = parse(ty)?;
        Ok(self.builder.input(name, ty).map_err(|error| circuit_error(&error))?.0)
    }

    /// Adds a constant, given as its bits.
    fn constant(&mut self, bits: BigUint, ty: &str) -> PyResult<u32> {
        let ty = parse(ty)?;
        Ok(self.builder.constant(bits, ty).map_err(|error| circuit_error(&error))?.0)
    }

    /// Adds an operation; `to` is the type of a cast or table lookup, `by` the places of a rotation of elements.
    #[pyo3(signature = (op, args, to, table=None, by=0))]
    fn apply(&mut self, op: &str, args: Vec<u32>, to: &str, table: Option<Vec<BigUint>>, by: i64) -> PyResult<u32> {
        let to = parse(to)?;
        let value = self.push(op, &ids(&args), to, entries(table), by);
        Ok(value.map_err(|error| circuit_error(&error))?.0)
    }

    /// Adds a whole program with the given values as its inputs.
    fn splice(&mut self, program: &PyProgram, args: Vec<u32>) -> PyResult<Vec<u32>> {
        let values = self.push_program(&program.program, &ids(&args)).map_err(|error| circuit_error(&error))?;
        Ok(values.into_iter().map(|value| value.0).collect())
    }

    /// Names an output.
    fn output(&mut self, name: &str, value: u32) {
        self.builder.output(name, ValueId(value));
    }

    /// The program.
    fn finish(&self) -> PyResult<PyProgram> {
        let program = self.builder.clone().finish().map_err(|error| circuit_error(&error))?;
        Ok(PyProgram { program })
    }
}

/// A typed program.
#[pyclass(module = "solinas._core", name = "Program", frozen)]
pub(crate) struct PyProgram {
    pub(crate) program: Program,
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

    /// The outputs on inputs, all as bits: each a single value or (`arrays`) a value for each element; so are the outputs, which say which of the two.
    fn evaluate_arrays(
        &self,
        py: Python<'_>,
        inputs: Vec<Vec<BigUint>>,
        arrays: Vec<bool>,
    ) -> PyResult<Vec<(bool, Vec<BigUint>)>> {
        let program = &self.program;
        guarded(py, move || {
            let plain = |((values, array), ty): ((Vec<BigUint>, bool), Type)| {
                let shape = Shape::new(array.then_some(values.len()))?;
                Plain::new(ty, shape, values)
            };
            let inputs = inputs.into_iter().zip(arrays).zip(program.input_types());
            let inputs: Vec<_> = inputs.map(plain).collect::<Result<_, _>>()?;
            let outputs = program.evaluate_arrays(&inputs)?.into_iter();
            Ok(outputs.map(|output| (!output.shape.is_empty(), numbers(output.values))).collect())
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
