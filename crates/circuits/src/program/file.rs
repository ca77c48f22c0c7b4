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

/// The part of a document that programs of this crate read.
#[derive(Deserialize)]
struct Content {
    parameters: Vec<Declared>,
    result: Spec,
    program: Program,
}

/// The type of a parameter.
#[derive(Deserialize)]
struct Declared {
    r#type: Spec,
}

/// A document as the Python package reads it.
#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u64,
    name: &'a str,
    parameters: Vec<Parameter<'a>>,
    result: Spec,
    program: &'a Program,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    r#type: String,
}

/// The type of a parameter or of the result: one type, an array, or several types.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spec {
    One(String),
    /// The type of the elements, and the sizes of the dimensions.
    Array(Vec<Part>),
    Several {
        tuple: Vec<Self>,
    },
}

/// A part of the type of an array.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Part {
    Element(String),
    Size(usize),
}

impl Spec {
    /// Takes the types of the spec from `types`. Returns whether they are those of the spec.
    fn take(&self, types: &mut impl Iterator<Item = Type>) -> bool {
        let mut take = |name: &str| types.next().is_some_and(|ty| ty.to_string() == name);
        match self {
            Self::One(name) => take(name),
            Self::Array(parts) => {
                let Some((Part::Element(name), sizes)) = parts.split_first() else { return false };
                let sizes = sizes.iter().map(|part| if let Part::Size(size) = part { *size } else { 0 });
                // More elements than the graph has end the loop early.
                let len = sizes.fold(1, usize::saturating_mul);
                len > 0 && (0..len).all(|_| take(name))
            }
            Self::Several { tuple } => tuple.iter().all(|part| part.take(types)),
        }
    }
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
            Envelope { .. } => {
                let Content { parameters, result, program } = serde_json::from_str(text).map_err(bad)?;
                program.validate()?;
                let (mut inputs, mut outputs) = (program.input_types().into_iter(), program.output_types().into_iter());
                let declared = parameters.iter().all(|parameter| parameter.r#type.take(&mut inputs));
                if !declared || !result.take(&mut outputs) || inputs.next().or_else(|| outputs.next()).is_some() {
                    let problem = "its parameters or its result are not those of its graph".into();
                    return Err(Error::NotAProgram { problem });
                }
                return Ok(program);
            }
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
            (1, Some(only)) => Spec::One(only),
            (_, last) => Spec::Several { tuple: results.into_iter().chain(last).map(Spec::One).collect() },
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
        large.nodes[0].op = super::super::Op::Const(u128::MAX.into());
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
            let parameters = r#"{"name":"a","type":"u128"},{"name":"b","type":"u128"}"#;
            let array = text.replace(parameters, r#"{"name":"a","type":["u128",2,1]}"#);
            assert_eq!(Program::from_json(&array).unwrap(), program);
            let contradictions = [
                text.replace(r#""result":"u128""#, r#""result":"u64""#),
                text.replace(r#""result":"u128""#, r#""result":{"tuple":["u128","u128"]}"#),
                text.replace(parameters, r#"{"name":"a","type":"u128"}"#),
                text.replace(parameters, r#"{"name":"a","type":["u128",3]}"#),
                text.replace(parameters, r#"{"name":"a","type":["u128",18446744073709551615,3]}"#),
            ];
            for text in contradictions {
                let error = Program::from_json(&text).unwrap_err().to_string();
                assert!(error.contains("not those of its graph"), "{error}");
            }
        }
    }
}
