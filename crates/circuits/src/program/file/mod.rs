//! Programs in files: JSON that the Python package, the Rust crate and the command line write and read.

mod v1;
mod v2;

use super::{Axes, How, Node, Op, Program, Shape, Type, ValueType};
use crate::Error;
use serde::{Deserialize, Serialize};

/// The name of the format, and its newest version.
const FORMAT: (&str, u64) = ("solinas-program", 2);
/// The most nodes of a program in a file.
const MAX_FILE_NODES: usize = 1 << 22;

/// The fields that tell whether the rest can be read. A graph alone has none of them.
#[derive(Deserialize)]
#[serde(expecting = "the JSON object of a program")]
struct Envelope {
    format: Option<String>,
    version: Option<u64>,
}

/// A program with what a file says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its name.
    pub name: String,
    /// The program.
    pub program: Program,
    /// How its outputs make up its result.
    pub result: ResultType,
}

/// The type of a result: one value or array, or several results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResultType {
    /// The text of a [`ValueType`].
    One(String),
    /// Results in order.
    Several {
        /// The results.
        tuple: Vec<Self>,
    },
}

impl ResultType {
    /// The texts of its values, in order.
    fn values(&self) -> Vec<&str> {
        match self {
            Self::One(text) => vec![text],
            Self::Several { tuple } => tuple.iter().flat_map(Self::values).collect(),
        }
    }

    /// The result of these values: one, or a tuple.
    fn of(values: &[ValueType]) -> Self {
        match values {
            [one] => Self::One(one.to_string()),
            _ => Self::Several { tuple: values.iter().map(|value| Self::One(value.to_string())).collect() },
        }
    }
}

/// What files call an operation: engines have names of their own for sums and rotations of whole arrays.
fn current(op: Op) -> Op {
    match op {
        Op::SumElements => Op::Reduce { how: How::Sum, axes: Axes::All },
        Op::RotateElements(by) => Op::Roll { by, axes: Axes::All },
        op => op,
    }
}

fn bad(problem: impl Into<String>) -> Error {
    Error::NotAProgram { problem: problem.into() }
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| {
        let (text, at) = (error.to_string(), format!("line {} column {}", error.line(), error.column()));
        // The names of our own types say nothing to a reader.
        match text.contains("untagged enum") {
            true => bad(format!(
                "at {at} stands no operation of the format, or its fields are not those of the operation; constants are the bits of a value, so they are not negative"
            )),
            false => bad(text),
        }
    })
}

impl ProgramFile {
    /// A program with a name.
    ///
    /// # Errors
    /// The errors of [`Program::validate`].
    pub fn new(name: impl Into<String>, mut program: Program) -> Result<Self, Error> {
        program.validate()?;
        let nodes = std::mem::take(&mut program.nodes).into_iter();
        program.nodes = nodes.map(|node| Node { op: current(node.op), ..node }).collect();
        let result = ResultType::of(&program.declared_outputs());
        Ok(Self { name: name.into(), program, result })
    }

    /// A program of single values as one with arrays: its inputs are the elements of these parameters, row by row, and its outputs those of the result.
    ///
    /// # Errors
    /// [`Error::NotAProgram`] if they are not; the errors of [`Program::validate`].
    pub fn grouped(
        name: impl Into<String>,
        flat: &Program,
        parameters: Vec<(String, ValueType)>,
        result: ResultType,
    ) -> Result<Self, Error> {
        let parameters: Vec<_> = parameters.into_iter().map(|(name, ty)| (Some(name), ty)).collect();
        v1::grouped(name.into(), flat, &parameters, result)
    }

    /// Reads the text of a program file of any version, or of a graph alone, and checks the program.
    ///
    /// # Errors
    /// [`Error::NotAProgram`]; [`Error::NewerProgram`]; the errors of [`Program::validate`].
    pub fn read(text: &str) -> Result<Self, Error> {
        let (name, newest) = FORMAT;
        let file = match parsed(text)? {
            Envelope { format: None, .. } => return Self::new("program", parsed(text)?),
            Envelope { format: Some(format), .. } if format != name => {
                return Err(bad(format!("its format is {format:?}")));
            }
            Envelope { version: Some(version), .. } if version > newest => {
                return Err(Error::NewerProgram { version, newest });
            }
            Envelope { version: Some(2), .. } => v2::read(text)?,
            Envelope { .. } => v1::read(text)?,
        };
        let nodes = file.program.nodes.len();
        if nodes > MAX_FILE_NODES {
            return Err(Error::TooLarge { what: "operations", got: nodes as u64, limit: MAX_FILE_NODES as u64 });
        }
        file.program.validate()?;
        file.check_result()?;
        Ok(file)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// The errors of [`Program::validate`].
    pub fn write(&self) -> Result<String, Error> {
        self.program.validate()?;
        v2::write(self)
    }

    /// Checks that the result has the types of the outputs, and their shapes where the inputs tell them.
    fn check_result(&self) -> Result<(), Error> {
        let (outputs, values) = (self.program.declared_outputs(), self.result.values());
        let is_exact = self.program.inputs.iter().all(|input| input.shape.is_some());
        let is_same = |(output, text): (&ValueType, &&str)| {
            text.parse::<ValueType>().is_ok_and(|value| value.ty == output.ty && (!is_exact || value == *output))
        };
        if outputs.len() == values.len() && outputs.iter().zip(&values).all(is_same) {
            return Ok(());
        }
        Err(bad("its parameters or its result are not those of its graph"))
    }
}

impl Program {
    /// Reads the text of a program file of any version, or of a graph alone, and checks the program.
    ///
    /// # Errors
    /// As [`ProgramFile::read`].
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Ok(ProgramFile::read(text)?.program)
    }

    /// The text of a program file with that name for the program.
    ///
    /// # Errors
    /// The errors of [`Program::validate`].
    pub fn to_json(&self, name: &str) -> Result<String, Error> {
        ProgramFile::new(name, self.clone())?.write()
    }

    /// The types of the inputs, in order.
    #[must_use]
    pub fn input_types(&self) -> Vec<Type> {
        self.inputs.iter().map(|input| input.ty).collect()
    }

    /// The types of the outputs of a valid program, in order.
    #[must_use]
    pub fn output_types(&self) -> Vec<Type> {
        self.outputs.iter().map(|output| self.nodes[output.value.0 as usize].ty).collect()
    }

    /// The types and shapes of the outputs where inputs of any shape are scalars; scalars if the program needs arrays there.
    fn declared_outputs(&self) -> Vec<ValueType> {
        let shapes = self.declared_shapes();
        let shape = |at: usize| shapes.as_ref().map_or_else(|_| Shape::scalar(), |shapes| shapes[at].clone());
        let of = |output: &super::Output| ValueType {
            ty: self.nodes[output.value.0 as usize].ty,
            shape: shape(output.value.0 as usize),
        };
        self.outputs.iter().map(of).collect()
    }
}
