//! Version 1: programs of single values. An array parameter is a list of inputs, and an array of the result a list of outputs.

use super::{ProgramFile, ResultType, bad, current, parsed};
use crate::Error;
use crate::program::{Input, Node, Op, Output, Program, Range, Shape, Type, ValueId, ValueType};
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Document {
    name: Option<String>,
    parameters: Vec<Parameter>,
    result: Spec,
    program: Program,
}

#[derive(Deserialize)]
struct Parameter {
    name: Option<String>,
    r#type: Spec,
}

/// The type of a parameter or of the result: one type, an array, or several types.
#[derive(Deserialize)]
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
#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Element(String),
    Size(usize),
}

impl Spec {
    /// The type and shape of one value or array.
    fn value(&self) -> Result<ValueType, Error> {
        match self {
            Self::One(name) => Ok(ValueType { ty: name.parse()?, shape: Shape::scalar() }),
            Self::Array(parts) => {
                let Some((Part::Element(name), sizes)) = parts.split_first() else {
                    return Err(bad("the type of an array names the type of its elements first"));
                };
                let size = |part: &Part| if let Part::Size(size) = part { *size } else { 0 };
                let shape = Shape::new(sizes.iter().map(size)).map_err(|_| contradiction())?;
                // Version 1 has no empty arrays, and more elements than inputs are no arrays of them.
                if shape.size() == 0 { Err(contradiction()) } else { Ok(ValueType { ty: name.parse()?, shape }) }
            }
            Self::Several { .. } => Err(bad("a parameter is a tuple")),
        }
    }

    /// The result that this is the type of.
    fn result(&self) -> Result<ResultType, Error> {
        Ok(match self {
            Self::Several { tuple } => {
                ResultType::Several { tuple: tuple.iter().map(Self::result).collect::<Result<_, _>>()? }
            }
            one => ResultType::One(one.value()?.to_string()),
        })
    }
}

fn contradiction() -> Error {
    bad("its parameters or its result are not those of its graph")
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<ProgramFile, Error> {
    let Document { name, parameters, result, program, .. } = parsed(text)?;
    let parameter = |parameter: Parameter| Ok((parameter.name, parameter.r#type.value()?));
    let parameters = parameters.into_iter().map(parameter).collect::<Result<Vec<_>, Error>>()?;
    grouped(name.unwrap_or_else(|| "program".into()), &program, &parameters, result.result()?)
}

/// A program of single values whose inputs are the elements of these parameters, and whose outputs are those of the result.
pub(super) fn grouped(
    name: String,
    flat: &Program,
    parameters: &[(Option<String>, ValueType)],
    result: ResultType,
) -> Result<ProgramFile, Error> {
    flat.validate()?;
    let mut reader = Reader::default();
    let results = result.values().into_iter().map(str::parse).collect::<Result<Vec<ValueType>, Error>>()?;
    // Beside arrays, a single value is one: a program of single values alone takes any shape.
    let of_arrays = parameters.iter().map(|(_, ty)| ty).chain(&results).any(|ty| !ty.shape.is_empty());
    let elements = reader.parameters(flat, parameters, of_arrays)?;
    for node in &flat.nodes {
        let value = match node.op {
            Op::Input(index) => reader.element(&elements[index as usize], node.ty),
            _ => {
                let args = node.args.iter().map(|arg| reader.values[arg.0 as usize]).collect();
                reader.push(current(node.op.clone()), args, node.ty)
            }
        };
        reader.values.push(value);
    }
    let mut outputs = flat.outputs.iter();
    for value in &results {
        reader.result(value, flat, &mut outputs)?;
    }
    if outputs.next().is_some() {
        return Err(contradiction());
    }
    Ok(ProgramFile { name, program: reader.program, result })
}

/// What an input of version 1 is: an input, or an element of one.
struct Element {
    input: u32,
    place: Option<(Shape, usize)>,
}

#[derive(Default)]
struct Reader {
    program: Program,
    /// The new value of each node.
    values: Vec<ValueId>,
    /// The value of each input that is an array.
    arrays: HashMap<u32, ValueId>,
}

impl Reader {
    fn push(&mut self, op: Op, args: Vec<ValueId>, ty: Type) -> ValueId {
        self.program.nodes.push(Node { op, args, ty });
        ValueId(self.program.nodes.len() as u32 - 1)
    }

    /// Adds the inputs. Returns the element that each input of the file is.
    fn parameters(
        &mut self,
        flat: &Program,
        parameters: &[(Option<String>, ValueType)],
        of_arrays: bool,
    ) -> Result<Vec<Element>, Error> {
        let mut elements = Vec::with_capacity(flat.inputs.len());
        for (own, ValueType { ty, shape }) in parameters {
            let ty = *ty;
            let inputs = flat.inputs.get(elements.len()..).and_then(|rest| rest.get(..shape.size()));
            let Some(inputs) = inputs.filter(|inputs| inputs.iter().all(|input| input.ty == ty)) else {
                return Err(contradiction());
            };
            let is_array = !shape.is_empty();
            let own = own.clone().filter(|_| is_array);
            let name = own.unwrap_or_else(|| inputs[0].name.clone());
            let index = self.program.inputs.len() as u32;
            let is_fixed = is_array || of_arrays && !ty.is_packed();
            self.program.inputs.push(Input { name, ty, shape: is_fixed.then(|| shape.clone()) });
            let place = |place| is_array.then(|| (shape.clone(), place));
            elements.extend((0..shape.size()).map(|at| Element { input: index, place: place(at) }));
        }
        if elements.len() == flat.inputs.len() { Ok(elements) } else { Err(contradiction()) }
    }

    /// The value of an input of version 1.
    fn element(&mut self, element: &Element, ty: Type) -> ValueId {
        let op = Op::Input(element.input);
        let Some((shape, place)) = &element.place else { return self.push(op, Vec::new(), ty) };
        let array = match self.arrays.get(&element.input) {
            Some(&array) => array,
            None => self.push(op, Vec::new(), ty),
        };
        self.arrays.insert(element.input, array);
        let mut rest = *place;
        let part = |stride: i64| {
            let start = rest / stride as usize;
            rest %= stride as usize;
            Range { start, step: 1, len: 1 }
        };
        let ranges = shape.strides().into_iter().map(part).collect();
        let part = self.push(Op::Slice(ranges), vec![array], ty);
        self.push(Op::Reshape { rank: shape.len() as u32, to: Shape::scalar() }, vec![part], ty)
    }

    /// Adds the output of one value or array of the result.
    fn result<'a>(
        &mut self,
        value: &ValueType,
        flat: &Program,
        outputs: &mut impl Iterator<Item = &'a Output>,
    ) -> Result<(), Error> {
        let mut parts = Vec::new();
        let mut name = None;
        for _ in 0..value.shape.size() {
            let output = outputs.next().ok_or_else(contradiction)?;
            let of = output.value.0 as usize;
            if flat.nodes[of].ty != value.ty {
                return Err(contradiction());
            }
            parts.push(self.values[of]);
            name.get_or_insert_with(|| output.name.clone());
        }
        let name = name.unwrap_or_default();
        let (name, result) = match parts[..] {
            [one] if value.shape.is_empty() => (name, one),
            _ => {
                let line = |this: &mut Self, part| {
                    let to = Shape::new([1])?;
                    Ok::<_, Error>(this.push(Op::Reshape { rank: 0, to }, vec![part], value.ty))
                };
                let parts = parts.into_iter().map(|part| line(self, part)).collect::<Result<Vec<_>, _>>()?;
                let joined = self.push(Op::Join(0), parts, value.ty);
                let shaped = self.push(Op::Reshape { rank: 1, to: value.shape.clone() }, vec![joined], value.ty);
                (name.strip_suffix("[0]").map_or(name.clone(), str::to_owned), shaped)
            }
        };
        self.program.outputs.push(Output { name, value: result });
        Ok(())
    }
}
