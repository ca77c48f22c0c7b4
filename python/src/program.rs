//! Programs: built operation by operation from Python, evaluated on plain integers, drawn, kept as JSON.

use std::sync::Arc;

use num_bigint::BigUint;
use pyo3::prelude::*;
use serde::Serialize;
use solinas_circuits::build::Recipe;
use solinas_circuits::export::{write_dot, write_svg};
use solinas_circuits::program::{
    How, Node, Op, Program, ProgramBuilder, ProgramFile, ResultType, Shape, Type, ValueId,
};
use solinas_circuits::{Error, GateCosts, Natural, Plain};

use crate::error::{Failure, circuit_error, guarded};
use crate::expr::operation;
use crate::keys::numbers;

fn parse(ty: &str) -> PyResult<Type> {
    ty.parse().map_err(|error| circuit_error(&error))
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
    pub(crate) program: Arc<Program>,
}

impl From<Program> for PyProgram {
    fn from(program: Program) -> Self {
        Arc::new(program).into()
    }
}

impl From<Arc<Program>> for PyProgram {
    fn from(program: Arc<Program>) -> Self {
        Self { program }
    }
}

#[pymethods]
impl PyProgram {
    /// Reads a program from JSON and checks it.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Ok(Program::from_json(text).map_err(|error| circuit_error(&error))?.into())
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
            Ok(ProgramFile { name: name.to_owned(), program: (**program).clone(), result: parsed(result)? }.write()?)
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
            let mut program = Arc::clone(&self.program);
            if program.is_of_scalars() && program.inputs.iter().any(|input| input.shape.is_some()) {
                Arc::make_mut(&mut program).inputs.iter_mut().for_each(|input| input.shape = None);
            }
            let shapes = shapes.into_iter().map(Shape::new).collect::<Result<Vec<_>, _>>()?;
            let outer = Shape::new(outer)?;
            let shaped = program.at(&shapes)?;
            let outputs = shaped.outputs().into_iter();
            let outputs = outputs.map(|output| Ok::<_, Error>(output.shape.under(&outer)?.to_vec()));
            let outputs = outputs.collect::<Result<_, _>>()?;
            if !outer.is_empty() {
                return Ok((shaped.lift(&outer, &batched)?.into(), outputs));
            }
            Ok((program.into(), outputs))
        })
    }

    /// The program as JSON.
    fn to_json(&self) -> PyResult<String> {
        Ok(json(&*self.program)?)
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
        let mut builder = ProgramBuilder::new();
        let constants = types.iter().zip(values).map(|(&ty, bits)| builder.constant(bits, ty));
        let args = constants.collect::<Result<Vec<_>, _>>()?;
        let result = builder.typed(operation(op, table, 0)?, &args, to)?;
        builder.output("result", result);
        let outputs = builder.finish()?.evaluate::<Natural>(&[])?;
        outputs.into_iter().next().map(BigUint::from).ok_or(Error::NoOutputs)
    };
    run().map_err(|error| circuit_error(&error))
}
