//! Reductions of jobs.

use crate::error::{Code, Problem};
use crate::id::Tenant;
use crate::shelf::Files;
use crate::source::Source;
use crate::spec::ReduceSpec;
use solinas_runtime::{self as runtime, Input, Level, Type};

/// A reduction of elements of a type.
pub(crate) struct Reduction {
    pub(crate) levels: Vec<Level>,
    pub(crate) ty: Type,
}

impl Reduction {
    /// The reduction of the result of a program, or of the only input.
    pub(crate) fn of(
        files: &dyn Files,
        tenant: &Tenant,
        how: &ReduceSpec,
        source: Option<&Source>,
        inputs: &[Input],
    ) -> Result<Self, Problem> {
        let length = |input: &Input| match input {
            Input::Encrypted(ciphertext) => ciphertext.shape().map(|_| ciphertext.len()),
            Input::Public(plain) => plain.shape.as_ref().map(|_| plain.values.len()),
        };
        let (ty, length) = match (source, inputs) {
            (Some(source), _) => (only_output(source)?, inputs.iter().find_map(length)),
            (None, [Input::Encrypted(array)]) => (array.ty(), length(&inputs[0])),
            (None, _) => return Err(no_array()),
        };
        let length = length.ok_or_else(|| {
            Problem::new(
                Code::WrongShape,
                "a reduction takes an array, and the inputs are single values",
                "send an array",
            )
        })?;
        Ok(Self { levels: levels(files, tenant, how, ty, length)?, ty })
    }
}

/// The levels of the reduction of an array of `length` elements.
pub(crate) fn levels(
    files: &dyn Files,
    tenant: &Tenant,
    how: &ReduceSpec,
    ty: Type,
    length: usize,
) -> Result<Vec<Level>, Problem> {
    if ty.modulus().is_some() {
        let what = format!("elements of type {ty} share ciphertexts, so they cannot be combined by a reduction");
        return Err(Problem::new(Code::WrongType, what, "write a program that sums the array"));
    }
    let own = match how {
        ReduceSpec::Program(digest) => Some(match Source::load(files, tenant, digest)? {
            Source::Program(program) => program,
            Source::Circuit(_) => return Err(no_program("reduce")),
        }),
        ReduceSpec::Named(_) => None,
    };
    let reduction = match (how, &own) {
        (ReduceSpec::Named(reduction), _) => *reduction,
        (_, Some(program)) => runtime::Reduction::Program(program),
        (_, None) => return Err(no_program("reduce")),
    };
    reduction.levels(ty, length).map_err(|error| match error {
        runtime::Error::Request { what, help } => Problem::new(Code::WrongType, what, help),
        other => other.into(),
    })
}

/// The problem of a reduction without a program whose inputs are not one array.
pub(crate) fn no_array() -> Problem {
    let fix = "name one uploaded array, or a program `map` of several inputs";
    Problem::new(Code::WrongType, "a reduction takes one encrypted array", fix)
}

fn no_program(field: &str) -> Problem {
    Problem::new(Code::BadProgram, format!("`{field}` is a circuit, and a reduction takes programs"), "send a program")
}

/// The type of the only output of a program.
pub(crate) fn only_output(source: &Source) -> Result<Type, Problem> {
    let Source::Program(program) = source else { return Err(no_program("map")) };
    match program.output_types()[..] {
        [ty] => Ok(ty),
        ref types => {
            let what = format!("the program `map` has {} outputs, and a reduction combines one", types.len());
            Err(Problem::new(Code::WrongType, what, "write a program with one output"))
        }
    }
}
