//! Builds programs from operations on files and constants, and from reductions of arrays.

use super::work::{Loaded, Work, load};
use crate::error::{Error, Result, input, usage};
use crate::names::unknown_operation;
use crate::values::{Literal, constant_text};
use solinas_circuits::counted;
use solinas_circuits::program::{Axes, How, Op, Program, ProgramBuilder, Shape, Type, ValueId};
use solinas_engine::{Form, Plain};
use std::path::PathBuf;

/// Operations that reduce one array to one value.
pub(super) const REDUCTIONS: [(&str, &str); 5] = [
    ("sum", "sum of an array, wrapping, or in the type of --type; the sum of bools counts the true ones"),
    ("max", "the largest value of an array"),
    ("min", "the smallest value of an array"),
    ("argmax", "index of the first largest value of an array"),
    ("argmin", "index of the first smallest value of an array"),
];

/// Operations across the slots of vectors of integers modulo a number, in addition to `sum`.
pub(super) const SLOT_OPERATIONS: [(&str, usize, &str); 2] = [
    ("rotate", 1, "an array of integers modulo a number, rotated to the left by the number of places in --by"),
    ("dot", 2, "dot product of two arrays of integers modulo a number"),
];

/// An operation that is made of several.
pub(super) const ABS_DIFF: (&str, &str) = ("abs_diff", "the distance of two integers, without a sign");

enum Operand {
    File(usize),
    Constant(Literal),
}

/// Options of an operation.
pub(super) struct Details<'a> {
    /// Number of places of a rotation to the left.
    pub(super) by: Option<i64>,
    /// Entries of a table.
    pub(super) table: &'a [String],
    /// Type of the entries.
    pub(super) ty: Option<Type>,
}

/// Parses an operation of the command line.
pub(super) fn parse(name: &str, operands: &[String], details: &Details<'_>) -> Result<(Work, Vec<Loaded>)> {
    let &Details { by, table, ty: table_type } = details;
    let mut files = Vec::new();
    let operands = operands.iter().map(|text| {
        Ok(match constant_text(text)?.and_then(Literal::parse) {
            Some(literal) => Operand::Constant(literal),
            None => {
                files.push(PathBuf::from(text));
                Operand::File(files.len() - 1)
            }
        })
    });
    let operands = operands.collect::<Result<Vec<_>>>()?;
    if let Some(bad) = files.iter().find(|file| file.as_os_str().to_string_lossy().starts_with('#')) {
        return Err(usage(
            format!("{} is not a constant", bad.display()),
            "after #, give a number such as 5, -3 or 5u8",
        ));
    }
    let across = SLOT_OPERATIONS.iter().find(|(known, ..)| *known == name);
    match (name, by) {
        ("rotate", None) => {
            return Err(usage(
                "rotate needs a number of places",
                "add --by N to rotate to the left, or --by -N to the right",
            ));
        }
        ("rotate", Some(_)) | (_, None) => {}
        _ => return Err(usage(format!("--by applies to rotate, not to {name}"), "leave it out")),
    }
    match (name, table) {
        ("lookup", []) => {
            return Err(usage("lookup needs a table", "add --table V0,V1,.. with an entry for each value"));
        }
        ("lookup", _) | (_, []) => {}
        _ => return Err(usage(format!("--table applies to lookup, not to {name}"), "leave it out")),
    }
    if table_type.is_some() && !matches!(name, "lookup" | "sum") {
        return Err(usage(format!("--type applies to lookup and sum, not to {name}"), "leave it out"));
    }
    if let Some(ty) = table_type.filter(|ty| name == "sum" && !matches!(ty, Type::Uint(_) | Type::Int(_))) {
        return Err(usage(format!("a sum of type {ty} is not offered"), "give an integer type, such as --type u32"));
    }
    let form = match name {
        "to_bits" => Some(Form::Bits),
        "to_radix" => Some(Form::Radix),
        _ => None,
    };
    let reduces = operands.len() == 1 && REDUCTIONS.iter().any(|(known, _)| *known == name);
    if (reduces || form.is_some()) && (operands.len() != 1 || files.len() != 1) {
        return Err(usage(format!("{name} takes one ciphertext file"), "give one file"));
    }
    let operation = Op::from_name(name);
    let cast = name.strip_prefix("to_").map(str::parse::<Type>).and_then(std::result::Result::ok);
    if operation.is_none()
        && cast.is_none()
        && form.is_none()
        && across.is_none()
        && !matches!(name, "lookup" | "abs_diff")
        && !REDUCTIONS.iter().any(|(known, _)| *known == name)
    {
        let others: Vec<_> = REDUCTIONS
            .iter()
            .map(|(name, _)| *name)
            .chain(SLOT_OPERATIONS.map(|(name, ..)| name))
            .chain(["lookup", ABS_DIFF.0])
            .collect();
        return Err(unknown_operation(name, &others));
    }
    let arity = operation.as_ref().and_then(Op::arity).or(across.map(|(_, arity, _)| *arity));
    let arity = arity.or((name == ABS_DIFF.0).then_some(2)).unwrap_or(1);
    if !reduces && operands.len() != arity {
        let what = format!("{name} takes {}, but got {}", counted(arity, "operand"), operands.len());
        return Err(usage(what, "give a ciphertext file or a constant for each"));
    }
    if files.is_empty() {
        return Err(usage("every operand is a constant", "give at least one ciphertext file"));
    }
    let loaded = load(&files)?;
    let name = name.to_owned();
    if let Some(form) = form {
        return Ok((Work::Convert { name, form }, loaded));
    }
    let ty = loaded[0].1.ty();
    if across.is_some() || reduces && name == "sum" && ty.modulus().is_some() {
        let (program, public) = slot_program(&name, &operands, &loaded, by)?;
        return Ok((Work::Program { name, program, public }, loaded));
    }
    if reduces {
        let program = reduction(&name, &loaded[0], table_type)?;
        return Ok((Work::Program { name, program, public: Vec::new() }, loaded));
    }
    if name == "lookup" {
        let program = lookup(&loaded[0], table, table_type.unwrap_or(ty))?;
        return Ok((Work::Program { name, program, public: Vec::new() }, loaded));
    }
    let (program, public) = match operation {
        Some(op @ (Op::Div | Op::Rem | Op::DivFloor | Op::RemFloor | Op::DivEuclid | Op::RemEuclid)) if matches!(&operands[1], Operand::Constant(divisor) if divisor.has_zero()) =>
        {
            let (quotient, remainder) = ("all ones", "the dividend");
            let result = if name.starts_with("div") { quotient } else { remainder };
            crate::output::warn(&format!("{name} by 0 gives {result}"));
            elementwise(&op, &operands, &loaded, |builder, args| builder.op(op.clone(), args))?
        }
        None if name == ABS_DIFF.0 => elementwise(&Op::Sub, &operands, &loaded, abs_diff)?,
        Some(op) => elementwise(&op, &operands, &loaded, |builder, args| builder.op(op.clone(), args))?,
        None => (Program::from_op(&name, &[loaded[0].1.ty()]).map_err(Error::circuit(&name))?, Vec::new()),
    };
    Ok((Work::Program { name, program, public }, loaded))
}

/// The distance of two integers, as an unsigned integer of the same number of bits.
fn abs_diff(builder: &mut ProgramBuilder, args: &[ValueId]) -> Built<ValueId> {
    let &[a, b] = args else { return builder.op(Op::Sub, args) };
    let ordered = builder.op(Op::Ge, &[a, b])?;
    let (down, up) = (builder.op(Op::Sub, &[a, b])?, builder.op(Op::Sub, &[b, a])?);
    let distance = builder.op(Op::Select, &[ordered, down, up])?;
    match builder.ty(distance)? {
        Type::Int(width) => builder.cast(distance, Type::Uint(width)),
        _ => Ok(distance),
    }
}

/// A program, and the public arrays among its inputs with their places.
type WithPublic = (Program, Vec<(usize, Plain)>);

/// The program that computes one value from the operands. `op` decides the types of constants, and a list of constants is a public array.
fn elementwise(
    op: &Op,
    operands: &[Operand],
    files: &[Loaded],
    make: impl FnOnce(&mut ProgramBuilder, &[ValueId]) -> Built<ValueId>,
) -> Result<WithPublic> {
    let names = if *op == Op::Select { ["c", "a", "b"] } else { ["a", "b", "c"] };
    let shifts = matches!(op, Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight);
    // Constants take the type of the other values. The condition of a selection does not count.
    let values = if *op == Op::Select { &operands[1..] } else { operands };
    let suggested = values.iter().find_map(|operand| match operand {
        Operand::File(index) => Some(files[*index].1.ty()),
        Operand::Constant(literal) => literal.ty(None, false).ok(),
    });
    let (mut described, mut public, mut inputs) = (Vec::new(), Vec::new(), 0);
    let mut builder = ProgramBuilder::new();
    let (mut args, mut types) = (Vec::new(), Vec::new());
    for (position, (operand, name)) in operands.iter().zip(names).enumerate() {
        let (ty, value) = match operand {
            Operand::File(index) => {
                let (file, ciphertext) = &files[*index];
                described.push(format!("{} ({})", file.display(), ciphertext.ty()));
                inputs += 1;
                (ciphertext.ty(), builder.input(name, ciphertext.ty()))
            }
            Operand::Constant(literal) => {
                let suggested = if *op == Op::Select && position == 0 { Some(Type::Bool) } else { suggested };
                let ty = literal.ty(suggested, shifts && position == 1)?;
                let plain = literal.plain(ty)?;
                match &plain.values[..] {
                    [value] => {
                        described.push(format!("a constant ({ty})"));
                        (ty, builder.constant(value.clone(), ty))
                    }
                    values => {
                        described.push(format!("a list of {} constants ({ty})", values.len()));
                        public.push((inputs, plain));
                        inputs += 1;
                        (ty, builder.input(name, ty))
                    }
                }
            }
        };
        args.push(value.map_err(Error::circuit(ty))?);
        types.push(ty);
    }
    let place = described.join(", ");
    let result = make(&mut builder, &args).map_err(|error| {
        let help = matches!(error, solinas_circuits::Error::OperandTypes { .. }).then(|| cast(operands, &types, files));
        let error = Error::circuit(&place)(error);
        match help.flatten() {
            Some(help) => input(error.parts().0, help),
            None => error,
        }
    })?;
    builder.output("result", result);
    Ok((builder.finish().map_err(Error::circuit(place))?, public))
}

/// How to make operands of two types one type: the operand that loses nothing, by its name. None if the types are not to blame.
fn cast(operands: &[Operand], types: &[Type], files: &[Loaded]) -> Option<String> {
    let pairs: Vec<_> = operands.iter().zip(types.iter().copied()).collect();
    let [.., (a, first), (b, second)] = pairs[..] else { return None };
    if first == second || first.modulus().is_some() || second.modulus().is_some() {
        return None;
    }
    if first.signed() != second.signed() {
        // The unsigned type needs a bit for the sign.
        let of = |ty: Type| ty.width() + usize::from(!ty.signed());
        let width = of(first).max(of(second)).next_power_of_two();
        return Some(format!("cast both to i{width}, which holds all values of {first} and {second}"));
    }
    let (narrow, wide) = if first.width() < second.width() { (a, second) } else { (b, first) };
    Some(match narrow {
        Operand::Constant(_) => format!("write the constant as a {wide}, as in 1{wide}"),
        Operand::File(index) => {
            let file = files[*index].0.display();
            format!("cast {file} first: `solinas eval --key KEY to_{wide} {file} -o cast.ct`")
        }
    })
}

/// The program that reads a public table at an encrypted index.
fn lookup((file, index): &Loaded, table: &[String], ty: Type) -> Result<Program> {
    let wanted = 1usize.checked_shl(index.ty().width() as u32).filter(|_| index.ty().width() <= 8);
    if wanted != Some(table.len()) {
        let entries = match table {
            [one] if one.is_empty() => "is empty".to_owned(),
            [_] => "has 1 entry".to_owned(),
            table => format!("has {} entries", table.len()),
        };
        let what = format!("{} is {}, but --table {entries}", file.display(), index.ty());
        let help = match wanted {
            Some(wanted) => format!("give {wanted} entries, one for each value of its type in the order of the bits"),
            None => "convert it to a type of at most 8 bits, for example with to_u8".to_owned(),
        };
        return Err(usage(what, help));
    }
    let entries = Plain::parse(ty, table, Some(vec![table.len()])).map_err(|e| Error::from(e).with_place("--table"))?;
    let mut builder = ProgramBuilder::new();
    let mut make = || {
        let index = builder.input("index", index.ty())?;
        builder.lookup(entries.values.clone(), index, ty)
    };
    let place = format!("{} ({})", file.display(), index.ty());
    let result = make().map_err(Error::circuit(&place))?;
    builder.output("result", result);
    builder.finish().map_err(Error::circuit(place))
}

/// A program of an operation across the slots of vectors.
fn slot_program(name: &str, operands: &[Operand], files: &[Loaded], by: Option<i64>) -> Result<WithPublic> {
    let (file, array) = &files[0];
    if files.iter().all(|(_, ciphertext)| ciphertext.shape().is_none()) {
        let what = format!("{} holds one value, but {name} takes arrays", file.display());
        return Err(input(what, "encrypt several values"));
    }
    if array.ty().modulus().is_none() {
        let what = format!(
            "{} holds values of type {}, but {name} takes integers modulo a number",
            file.display(),
            array.ty()
        );
        return Err(input(
            what,
            "use a key whose plaintexts are vectors, such as one of scheme bgv (`sum` also takes integers)",
        ));
    }
    elementwise(&Op::Mul, operands, files, |builder, args| match (by, args) {
        (Some(by), _) => builder.rotate_elements(args[0], by),
        (None, &[a, b]) => builder.dot(a, b),
        _ => builder.sum_elements(args[0]),
    })
}

fn reduction(name: &str, (file, array): &Loaded, wanted: Option<Type>) -> Result<Program> {
    let (ty, place) = (array.ty(), file.display());
    // A sum of bools counts, so its type holds the number of elements.
    let count = Type::Uint((usize::BITS - array.len().leading_zeros()).max(1) as u16);
    let counts = name == "sum" && ty == Type::Bool;
    if array.shape().is_none() {
        return Err(input(
            format!("{place} holds one value, but {name} of one file takes an array"),
            "encrypt several values",
        ));
    }
    if ty == Type::Bool && !counts {
        return Err(input(format!("{place} holds bools, but {name} takes integers"), "convert it with to_u8"));
    }
    let build = || {
        let mut builder = ProgramBuilder::new();
        let values = builder.input("a", ty)?;
        let all = |how| Op::Reduce { how, axes: Axes::All };
        let result = match name {
            "argmax" | "argmin" => {
                let shape = Shape::new(array.shape().unwrap_or(&[]).iter().copied())?;
                builder.arg_reduce(values, &shape, name == "argmax")?.1
            }
            "sum" => {
                let wanted = wanted.or(counts.then_some(count)).filter(|&wanted| wanted != ty);
                let values = wanted.map_or(Ok(values), |wanted| builder.cast(values, wanted))?;
                builder.op(all(How::Sum), &[values])?
            }
            "max" => builder.op(all(How::Max), &[values])?,
            _ => builder.op(all(How::Min), &[values])?,
        };
        builder.output("result", result);
        builder.finish()
    };
    build().map_err(Error::circuit(place))
}

type Built<T> = std::result::Result<T, solinas_circuits::Error>;
