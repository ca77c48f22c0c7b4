//! Bristol Fashion circuits (`nigel.smart/bristol-fashion`), and the older Bristol format of two parties.

use super::assemble::{Cell, Circuit, WirePort};
use super::{MAX_PORT_BITS, without_mark};
use crate::{BinaryOp, Builder, Error, Gate, MAX_NODES, Netlist, NodeId};

const FORMAT: &str = "Bristol circuit";

enum Kind {
    /// A gate of an unknown name, which is an error only if an output depends on it.
    Unknown(Box<Error>),
    Wire,
    Not,
    Const(bool),
    Binary(BinaryOp),
    /// Several ANDs: inputs `a_0 .. a_k-1, b_0 .. b_k-1`.
    ManyAnd,
}

fn error(line: usize, problem: impl Into<String>, fix: &'static str) -> Error {
    Error::Parse { format: FORMAT, line, problem: problem.into(), fix }
}

/// Reads a Bristol Fashion circuit, or a circuit in the old Bristol format, whose third line is a gate. Inputs are named `in0`, `in1`, ..., and outputs
/// `out0`, `out1`, ... The first wire of each is the least significant bit.
///
/// # Errors
/// [`Error::Parse`] with the line, [`Error::Unsupported`] for an unknown gate, [`Error::Undriven`], [`Error::Cycle`].
pub fn read_bristol(text: &str) -> Result<Netlist, Error> {
    let mut lines =
        without_mark(text).lines().enumerate().map(|(i, line)| (i + 1, line.trim())).filter(|(_, l)| !l.is_empty());
    let mut header =
        |what: &'static str| lines.next().ok_or_else(|| error(0, format!("the {what} is missing"), HEADER));
    let (at, counts) = header("line of gate and wire counts")?;
    let (&[gates, wires], _) = numbers(at, counts)?.split_first_chunk().ok_or_else(|| {
        error(at, format!("expected the numbers of gates and wires, got '{}'", short(counts)), HEADER)
    })?;
    let (inputs_at, inputs_line) = header("line of inputs")?;
    let (third_at, third) = header("line of outputs")?;
    let (input_widths, output_widths, first_gate) = if third.ends_with(|c: char| c.is_ascii_alphabetic()) {
        // Old format: the bits of the first party, of the second party and of the output; then the gates.
        match numbers(inputs_at, inputs_line)?[..] {
            [first, second, out] => {
                let inputs: Vec<_> = [first, second].into_iter().filter(|w| *w > 0).collect();
                check_total(inputs_at, &inputs)?;
                check_total(inputs_at, &[out])?;
                (inputs, vec![out], Some((third_at, third)))
            }
            _ => return Err(error(inputs_at, "expected the bits of two inputs and of the output", HEADER)),
        }
    } else {
        (widths(inputs_at, inputs_line)?, widths(third_at, third)?, None)
    };
    let (input_bits, output_bits): (usize, usize) = (input_widths.iter().sum(), output_widths.iter().sum());
    // Every wire is an input or a number in the line of a gate.
    if wires > MAX_NODES || wires > input_bits + text.len() {
        return Err(error(at, format!("the inputs and gates cannot drive {wires} wires"), HEADER));
    }
    if input_bits > wires || output_bits > wires {
        return Err(error(
            at,
            format!("{wires} wires cannot hold {input_bits} input and {output_bits} output bits"),
            HEADER,
        ));
    }
    let mut cells = Vec::new();
    for (at, line) in first_gate.into_iter().chain(lines) {
        cells.push(gate(at, line, wires)?);
    }
    if cells.len() != gates {
        let problem = format!("the header announces {gates} gates, but the file has {}", cells.len());
        return Err(error(at, problem, "correct the count, or get the complete file"));
    }
    let circuit = Circuit {
        format: FORMAT,
        wire_names: (0..wires).map(|wire| wire.to_string().into()).collect(),
        inputs: ports("in", 0, &input_widths),
        outputs: ports("out", wires - output_bits, &output_widths),
        cells,
    };
    circuit.assemble(Builder::verbatim(), |b, cell, operands| emit(b, &cell.kind, operands))
}

const HEADER: &str = "a circuit begins with the counts of gates and wires, then the number of inputs and their bits, then the same for outputs";

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

fn numbers(at: usize, line: &str) -> Result<Vec<usize>, Error> {
    let parse = |word: &str| {
        word.parse().map_err(|_| error(at, format!("'{}' is not a number", short(word)), "use plain decimal numbers"))
    };
    line.split_whitespace().map(parse).collect()
}

/// Parses a count, followed by that number of widths.
fn widths(at: usize, line: &str) -> Result<Vec<usize>, Error> {
    let all = numbers(at, line)?;
    let Some((&count, widths)) = all.split_first() else { return Err(error(at, "the line is empty", HEADER)) };
    if widths.len() != count || widths.contains(&0) {
        let problem = format!("expected {count} widths of at least one bit, got {}", widths.len());
        return Err(error(at, problem, HEADER));
    }
    check_total(at, widths)?;
    Ok(widths.to_vec())
}

fn check_total(at: usize, widths: &[usize]) -> Result<(), Error> {
    let total = widths.iter().try_fold(0usize, |sum, width| sum.checked_add(*width));
    match total.filter(|total| *total <= MAX_PORT_BITS) {
        Some(_) => Ok(()),
        None => Err(error(at, format!("more than {MAX_PORT_BITS} bits"), "split the circuit")),
    }
}

fn ports(prefix: &str, first: usize, widths: &[usize]) -> Vec<WirePort> {
    let mut next = first as u32;
    let port = |(i, &width): (usize, &usize)| {
        let wires = (next..next + width as u32).collect();
        next += width as u32;
        WirePort { name: format!("{prefix}{i}"), wires, signed: false }
    };
    widths.iter().enumerate().map(port).collect()
}

/// `inputs outputs in.. out.. NAME`
fn gate(line: usize, text: &str, wires: usize) -> Result<Cell<Kind>, Error> {
    const FIX: &str = "a gate is its numbers of inputs and outputs, its wires, and its name, such as '2 1 0 1 2 AND'";
    let (rest, name) = text.rsplit_once(char::is_whitespace).ok_or_else(|| error(line, "this is not a gate", FIX))?;
    let all = numbers(line, rest)?;
    let (&[ins, outs], pins) = all.split_first_chunk().ok_or_else(|| error(line, "this is not a gate", FIX))?;
    if ins.checked_add(outs) != Some(pins.len()) || outs == 0 {
        let problem = format!("the line announces {ins} inputs and {outs} outputs, but has {} wires", pins.len());
        return Err(error(line, problem, FIX));
    }
    let (inputs, outputs) = pins.split_at(ins);
    let binary = |op| (Kind::Binary(op), 2, 1);
    let (kind, want_in, want_out) = match name {
        "XOR" => binary(BinaryOp::Xor),
        "AND" => binary(BinaryOp::And),
        "OR" => binary(BinaryOp::Or),
        "NAND" => binary(BinaryOp::Nand),
        "NOR" => binary(BinaryOp::Nor),
        "XNOR" => binary(BinaryOp::Xnor),
        "INV" | "NOT" => (Kind::Not, 1, 1),
        "EQW" => (Kind::Wire, 1, 1),
        "EQ" if inputs.len() == 1 && inputs[0] <= 1 => (Kind::Const(inputs[0] == 1), 1, 1),
        "EQ" => return Err(error(line, "EQ takes one constant, 0 or 1", FIX)),
        "MAND" => (Kind::ManyAnd, 2 * outs, outs),
        _ => {
            let unknown = Error::Unsupported {
                format: FORMAT,
                place: format!("line {line}"),
                what: format!("gate '{}'", short(name)),
                fix: "the gates are AND, XOR, INV, EQ, EQW, MAND, OR, NAND, NOR, XNOR",
            };
            (Kind::Unknown(Box::new(unknown)), ins, outs)
        }
    };
    if ins != want_in || outs != want_out {
        let problem = format!("{name} takes {want_in} inputs and {want_out} outputs, got {ins} and {outs}");
        return Err(error(line, problem, FIX));
    }
    let inputs = if matches!(kind, Kind::Const(_) | Kind::Unknown(_)) { &[] } else { inputs };
    if let Some(wire) = inputs.iter().chain(outputs).find(|wire| **wire >= wires) {
        let problem = format!("wire {wire} is outside the {wires} wires of the header");
        return Err(error(line, problem, "number wires from 0, or correct the header"));
    }
    let narrow = |pins: &[usize]| pins.iter().map(|wire| *wire as u32).collect();
    Ok(Cell { kind, inputs: narrow(inputs), outputs: narrow(outputs), line })
}

fn emit(b: &mut Builder, kind: &Kind, operands: &[NodeId]) -> Result<Vec<NodeId>, Error> {
    Ok(match (kind, operands) {
        (Kind::Unknown(error), _) => return Err((**error).clone()),
        (Kind::Const(value), _) => vec![b.constant(*value)],
        (Kind::Not, &[a]) => vec![b.not(a)],
        (Kind::Binary(op), &[x, y]) => vec![b.gate(Gate::Binary(*op, x, y))],
        (Kind::ManyAnd, both) => {
            let (x, y) = both.split_at(both.len() / 2);
            x.iter().zip(y).map(|(&x, &y)| b.and(x, y)).collect()
        }
        (_, same) => same.to_vec(),
    })
}
