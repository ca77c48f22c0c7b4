//! The cells of Yosys: their pins, checks of their widths, and their gates.

use super::yosys::FORMAT;
use super::yosys_words::word;
use crate::{BinaryOp, Builder, Error, Gate, NodeId};

/// Largest width of an operand or a result of an arithmetic cell.
const MAX_WIDTH: usize = 128;
/// Largest number of inputs of a lookup table.
const MAX_LUT: usize = 8;

/// A cell's function.
pub(super) struct Kind {
    pub(super) name: Box<str>,
    /// Bits of each input pin.
    widths: Vec<usize>,
    /// Bits of each output pin.
    pub(super) outputs: Vec<usize>,
    /// Whether all operands are signed.
    pub(super) signed: bool,
    /// Whether the first operand is signed.
    pub(super) first_signed: bool,
    /// The truth table of a lookup table, entry 0 first.
    pub(super) table: Vec<bool>,
    /// The first bit of a slice.
    pub(super) offset: usize,
}

/// Names of the input pins and of the output pins.
type Pins = (&'static [&'static str], &'static [&'static str]);

const WIDE_MUX: &[&str] =
    &["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "S", "T", "U", "V"];
const MUX8: &[&str] = &["A", "B", "C", "D", "E", "F", "G", "H", "S", "T", "U"];

/// Parameters of a cell.
#[derive(Default)]
pub(super) struct Parameters {
    pub(super) a_signed: bool,
    pub(super) b_signed: bool,
    pub(super) table: Vec<bool>,
    pub(super) offset: usize,
}

impl Kind {
    pub(super) fn constant(value: bool) -> Self {
        let name = if value { "1" } else { "0" }.into();
        let (widths, table) = Default::default();
        Self { name, widths, outputs: vec![1], signed: false, first_signed: false, table, offset: 0 }
    }

    /// The pins of a cell type; `None` if it is not supported.
    pub(super) fn pins(name: &str) -> Option<Pins> {
        let inputs: &[&str] = match name {
            "$_BUF_" | "$_NOT_" | "$not" | "$pos" | "$buf" | "$neg" | "$logic_not" | "$reduce_and" | "$reduce_or"
            | "$reduce_xor" | "$reduce_xnor" | "$reduce_bool" | "$lut" | "$slice" => &["A"],
            "$_AND_" | "$_NAND_" | "$_OR_" | "$_NOR_" | "$_XOR_" | "$_XNOR_" | "$_ANDNOT_" | "$_ORNOT_" | "$and"
            | "$or" | "$xor" | "$xnor" | "$add" | "$sub" | "$mul" | "$div" | "$mod" | "$lt" | "$le" | "$gt" | "$ge"
            | "$eq" | "$ne" | "$eqx" | "$nex" | "$logic_and" | "$logic_or" | "$shl" | "$sshl" | "$shr" | "$sshr"
            | "$shiftx" | "$concat" => &["A", "B"],
            "$_MUX_" | "$_NMUX_" | "$mux" | "$pmux" | "$bwmux" => &["A", "B", "S"],
            "$bmux" => &["A", "S"],
            "$_AOI3_" | "$_OAI3_" => &["A", "B", "C"],
            "$_AOI4_" | "$_OAI4_" => &["A", "B", "C", "D"],
            "$_MUX4_" => &["A", "B", "C", "D", "S", "T"],
            "$_MUX8_" => MUX8,
            "$_MUX16_" => WIDE_MUX,
            "$fa" => return Some((&["A", "B", "C"], &["Y", "X"])),
            "$alu" => return Some((&["A", "B", "CI", "BI"], &["Y", "X", "CO"])),
            _ => return None,
        };
        Some((inputs, &["Y"]))
    }

    /// Checks the widths of the pins.
    ///
    /// # Errors
    /// [`Error::Parse`] if the widths of a cell's pins are inconsistent. [`Error::Unsupported`] for arithmetic cells of more than 128 bits, and for lookup
    /// tables of more than 8 inputs.
    pub(super) fn new(
        name: &str,
        widths: Vec<usize>,
        outputs: Vec<usize>,
        parameters: Parameters,
        place: &str,
    ) -> Result<Self, Error> {
        let Parameters { a_signed, b_signed, table, offset } = parameters;
        let all = || widths.iter().chain(&outputs);
        let (out, has_zero) = (outputs[0], all().any(|width| *width == 0));
        let good = match name {
            _ if name.starts_with("$_") => all().all(|width| *width == 1),
            "$mux" => !has_zero && widths == [out, out, 1],
            "$bwmux" => !has_zero && widths == [out; 3],
            "$pmux" => !has_zero && widths[0] == out && widths[2].checked_mul(out) == Some(widths[1]),
            "$bmux" => {
                out > 0
                    && u32::try_from(widths[1]).ok().and_then(|bits| out.checked_shl(bits)) == Some(widths[0])
                    && widths[1] < 32
            }
            "$fa" => !has_zero && all().all(|width| *width == out),
            "$alu" => !has_zero && widths[2..] == [1, 1] && outputs.iter().all(|width| *width == out),
            "$concat" => widths[0] + widths[1] == out,
            "$slice" => offset.checked_add(out).is_some_and(|end| end <= widths[0]),
            "$lut" => out == 1 && (widths[0] > MAX_LUT || table.len() == 1 << widths[0]),
            _ => !has_zero,
        };
        if !good {
            return Err(Error::Parse {
                format: FORMAT,
                line: 0,
                problem: format!("{place} has pins of {widths:?} and {outputs:?} bits, which are inconsistent"),
                fix: "write the netlist with Yosys: write_json",
            });
        }
        // Other cells have a few gates for each pin.
        let limit = match name {
            "$lut" => MAX_LUT,
            "$neg" | "$add" | "$sub" | "$mul" | "$div" | "$mod" | "$lt" | "$le" | "$gt" | "$ge" | "$shl" | "$sshl"
            | "$shr" | "$sshr" | "$shiftx" | "$alu" => MAX_WIDTH,
            _ => usize::MAX,
        };
        if let Some(width) = all().find(|width| **width > limit) {
            return Err(Error::Unsupported {
                format: FORMAT,
                place: place.to_owned(),
                what: format!("a cell of {width} bits"),
                fix: "map the design to gates (Yosys: synth; write_json), or keep arithmetic cells within 128 bits and $lut within 8",
            });
        }
        // Yosys computes with signs only if both operands are signed.
        let signed = a_signed && (b_signed || widths.len() == 1);
        Ok(Self { name: name.into(), widths, outputs, signed, first_signed: a_signed, table, offset })
    }
}

/// Emits a cell. Returns one node for each output bit, pin after pin.
pub(super) fn emit(b: &mut Builder, kind: &Kind, operands: &[NodeId]) -> Vec<NodeId> {
    let mut rest = operands;
    let mut pins: Vec<&[NodeId]> = Vec::with_capacity(kind.widths.len());
    for width in &kind.widths {
        let (pin, others) = rest.split_at(*width);
        pins.push(pin);
        rest = others;
    }
    if kind.name.starts_with("$_") {
        vec![b.verbatim_part(|b| gate(b, &kind.name, operands))]
    } else {
        word(b, kind, &pins)
    }
}

/// Emits a cell of one-bit pins.
fn gate(b: &mut Builder, name: &str, pins: &[NodeId]) -> NodeId {
    let op = match (name, pins) {
        ("$_NOT_", &[x]) => return b.not(x),
        ("$_MUX_", &[x, y, s]) => return b.gate(Gate::Mux { sel: s, if_true: y, if_false: x }),
        ("$_NMUX_", &[x, y, s]) => {
            let mux = b.mux(s, y, x);
            return b.not(mux);
        }
        ("$_MUX4_", pins) => return choose(b, &pins[..4], &pins[4..]),
        ("$_MUX8_", pins) => return choose(b, &pins[..8], &pins[8..]),
        ("$_MUX16_", pins) => return choose(b, &pins[..16], &pins[16..]),
        ("$_AOI3_" | "$_AOI4_", &[x, y, z, ref more @ ..]) => {
            let first = b.and(x, y);
            let second = more.first().map_or(z, |&w| b.and(z, w));
            return b.binary(BinaryOp::Nor, first, second);
        }
        ("$_OAI3_" | "$_OAI4_", &[x, y, z, ref more @ ..]) => {
            let first = b.or(x, y);
            let second = more.first().map_or(z, |&w| b.or(z, w));
            return b.binary(BinaryOp::Nand, first, second);
        }
        ("$_AND_", _) => BinaryOp::And,
        ("$_NAND_", _) => BinaryOp::Nand,
        ("$_OR_", _) => BinaryOp::Or,
        ("$_NOR_", _) => BinaryOp::Nor,
        ("$_XOR_", _) => BinaryOp::Xor,
        ("$_XNOR_", _) => BinaryOp::Xnor,
        ("$_ANDNOT_", _) => BinaryOp::AndYN,
        ("$_ORNOT_", _) => BinaryOp::OrYN,
        // A buffer.
        _ => return pins[0],
    };
    b.binary(op, pins[0], pins[1])
}

/// `values[select]`. The lowest bit of `select` comes first.
pub(super) fn choose(b: &mut Builder, values: &[NodeId], select: &[NodeId]) -> NodeId {
    let mut level = values.to_vec();
    for &sel in select {
        level = level.chunks_exact(2).map(|pair| b.mux(sel, pair[1], pair[0])).collect();
    }
    level[0]
}
