//! Programs in files: JSON that the Python package, the Rust crate and the command line write and read.

use super::{Program, Type};
use crate::Error;
use serde::{Deserialize, Serialize};

/// The name of the format, and its newest version.
const FORMAT: (&str, u64) = ("solinas-program", 1);

/// The fields that tell whether the rest can be read. A graph alone has none of them.
#[derive(Deserialize)]
#[serde(expecting = "the JSON object of a program")]
struct Envelope {
    format: Option<String>,
    version: Option<u64>,
}

/// The part of a document that programs of this crate read. It is read from the text: the values that serde keeps for a second attempt hold no numbers of 128 bits.
#[derive(Deserialize)]
struct Content {
    program: Program,
}

/// A document as the Python package reads it.
#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u64,
    name: &'a str,
    parameters: Vec<Parameter<'a>>,
    result: Results,
    program: &'a Program,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    r#type: String,
}

/// The type of the result: one type, or several.
#[derive(Serialize)]
#[serde(untagged)]
enum Results {
    One(String),
    Several { tuple: Vec<String> },
}

impl Program {
    /// Reads the text of a program file, or of a graph alone, and checks the program.
    ///
    /// # Errors
    /// [`Error::NotAProgram`]; [`Error::NewerProgram`]; the errors of [`Program::validate`].
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let bad = |error: serde_json::Error| Error::NotAProgram { problem: error.to_string() };
        let (name, newest) = FORMAT;
        let program: Self = match serde_json::from_str(text).map_err(bad)? {
            Envelope { format: None, .. } => serde_json::from_str(text).map_err(bad)?,
            Envelope { format: Some(format), .. } if format != name => {
                return Err(Error::NotAProgram { problem: format!("its format is {format:?}") });
            }
            Envelope { version: Some(version), .. } if version > newest => {
                return Err(Error::NewerProgram { version, newest });
            }
            Envelope { .. } => serde_json::from_str::<Content>(text).map_err(bad)?.program,
        };
        program.validate()?;
        Ok(program)
    }

    /// The text of a program file with that name for the program.
    ///
    /// # Errors
    /// The errors of [`Program::validate`].
    pub fn to_json(&self, name: &str) -> Result<String, Error> {
        self.validate()?;
        let text = |ty: Type| ty.to_string();
        let mut results: Vec<_> = self.output_types().into_iter().map(text).collect();
        let result = match (results.len(), results.pop()) {
            (1, Some(only)) => Results::One(only),
            (_, last) => Results::Several { tuple: results.into_iter().chain(last).collect() },
        };
        let parameters =
            self.inputs.iter().map(|input| Parameter { name: &input.name, r#type: text(input.ty) }).collect();
        let (format, version) = FORMAT;
        let document = Document { format, version, name, parameters, result, program: self };
        serde_json::to_string(&document).map_err(|error| Error::NotAProgram { problem: error.to_string() })
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_graphs_are_read_and_others_named() {
        let program = Program::from_op("add", &[Type::Uint(128); 2]).unwrap();
        let mut large = program.clone();
        large.nodes[0].op = super::super::Op::Const(u128::MAX);
        for program in [program, large] {
            let text = program.to_json("sum").unwrap();
            assert!(text.contains(r#""result":"u128""#) && text.contains(r#"{"name":"a","type":"u128"}"#), "{text}");
            assert_eq!(Program::from_json(&text).unwrap(), program);
            assert_eq!(Program::from_json(&serde_json::to_string(&program).unwrap()).unwrap(), program);
            let newer = text.replace(r#""version":1"#, r#""version":2"#);
            assert_eq!(Program::from_json(&newer), Err(Error::NewerProgram { version: 2, newest: 1 }));
            let other = text.replace("solinas-program", "other");
            assert!(
                matches!(Program::from_json(&other), Err(Error::NotAProgram { problem }) if problem.contains("other"))
            );
            assert!(matches!(Program::from_json(&text[1..]), Err(Error::NotAProgram { .. })));
        }
    }
}
