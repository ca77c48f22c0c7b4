//! The cells of Yosys: their pins, checks of their widths and parameters, and the gates among them.

use super::yosys::FORMAT;
use super::yosys_macc::{self, Term};
use super::yosys_parameters::Parameters;
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
    pub(super) a_signed: bool,
    pub(super) b_signed: bool,
    /// The truth table of a lookup table, entry 0 first, or the literals of a sum of products.
    pub(super) table: Vec<bool>,
    /// The first bit of a slice.
    pub(super) offset: usize,
    /// The number of products in a sum of products.
    pub(super) depth: usize,
    /// The terms of a sum of products of integers.
    pub(super) terms: Vec<Term>,
}

/// The pins and the parameters of a kind of cell.
#[derive(Default)]
pub(super) struct Pins {
    pub(super) inputs: &'static [&'static str],
    pub(super) outputs: &'static [&'static str],
    /// Parameters that repeat the width of a pin.
    pub(super) widths: &'static [(&'static str, &'static str)],
    /// Other parameters.
    pub(super) parameters: &'static [&'static str],
}

const WIDE_MUX: &[&str] =
    &["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "S", "T", "U", "V"];
const MUX8: &[&str] = &["A", "B", "C", "D", "E", "F", "G", "H", "S", "T", "U"];

impl Pins {
    /// The pins of a kind of cell; `None` if it is not supported.
    pub(super) fn of(name: &str) -> Option<Self> {
        let y: &[&str] = &["Y"];
        let gate = |inputs| Self { inputs, outputs: y, ..Self::default() };
        let unary = Self {
            inputs: &["A"],
            outputs: y,
            widths: &[("A_WIDTH", "A"), ("Y_WIDTH", "Y")],
            parameters: &["A_SIGNED"],
        };
        let binary = Self {
            inputs: &["A", "B"],
            outputs: y,
            widths: &[("A_WIDTH", "A"), ("B_WIDTH", "B"), ("Y_WIDTH", "Y")],
            parameters: &["A_SIGNED", "B_SIGNED"],
        };
        // Bit by bit: all pins have the same width.
        let bits = |inputs| Self { inputs, outputs: y, widths: &[("WIDTH", "Y")], parameters: &[] };
        let chosen = |inputs, width| Self { inputs, outputs: y, widths: width, parameters: &[] };
        Some(match name {
            "$_BUF_" | "$_NOT_" => gate(&["A"]),
            "$_AND_" | "$_NAND_" | "$_OR_" | "$_NOR_" | "$_XOR_" | "$_XNOR_" | "$_ANDNOT_" | "$_ORNOT_" => {
                gate(&["A", "B"])
            }
            "$_MUX_" | "$_NMUX_" => gate(&["A", "B", "S"]),
            "$_AOI3_" | "$_OAI3_" => gate(&["A", "B", "C"]),
            "$_AOI4_" | "$_OAI4_" => gate(&["A", "B", "C", "D"]),
            "$_MUX4_" => gate(&["A", "B", "C", "D", "S", "T"]),
            "$_MUX8_" => gate(MUX8),
            "$_MUX16_" => gate(WIDE_MUX),
            "$not" | "$pos" | "$neg" | "$logic_not" | "$reduce_and" | "$reduce_or" | "$reduce_xor" | "$reduce_xnor"
            | "$reduce_bool" => unary,
            "$and" | "$or" | "$xor" | "$xnor" | "$add" | "$sub" | "$mul" | "$div" | "$mod" | "$divfloor"
            | "$modfloor" | "$lt" | "$le" | "$gt" | "$ge" | "$eq" | "$ne" | "$eqx" | "$nex" | "$logic_and"
            | "$logic_or" | "$shl" | "$sshl" | "$shr" | "$sshr" | "$shift" | "$shiftx" => binary,
            "$buf" | "$barrier" => bits(&["A"]),
            "$bweqx" => bits(&["A", "B"]),
            "$mux" | "$bwmux" => bits(&["A", "B", "S"]),
            "$pmux" => chosen(&["A", "B", "S"], &[("WIDTH", "Y"), ("S_WIDTH", "S")]),
            "$bmux" => chosen(&["A", "S"], &[("WIDTH", "Y"), ("S_WIDTH", "S")]),
            "$demux" => chosen(&["A", "S"], &[("WIDTH", "A"), ("S_WIDTH", "S")]),
            "$slice" => Self { parameters: &["OFFSET"], ..unary },
            "$concat" => Self { widths: &[("A_WIDTH", "A"), ("B_WIDTH", "B")], parameters: &[], ..binary },
            "$lut" => Self { widths: &[("WIDTH", "A")], parameters: &["LUT"], ..unary },
            "$sop" => Self { widths: &[("WIDTH", "A")], parameters: &["DEPTH", "TABLE"], ..unary },
            "$fa" => Self { outputs: &["Y", "X"], ..bits(&["A", "B", "C"]) },
            "$lcu" => Self { outputs: &["CO"], widths: &[("WIDTH", "CO")], ..bits(&["P", "G", "CI"]) },
            "$alu" => Self { inputs: &["A", "B", "CI", "BI"], outputs: &["Y", "X", "CO"], ..binary },
            "$macc" => Self { parameters: &["CONFIG", "CONFIG_WIDTH"], ..binary },
            "$macc_v2" => Self {
                inputs: &["A", "B", "C"],
                outputs: y,
                widths: &[("Y_WIDTH", "Y")],
                parameters: yosys_macc::PARAMETERS,
            },
            _ => return None,
        })
    }
}

impl Kind {
    pub(super) fn constant(value: bool) -> Self {
        let name = if value { "1" } else { "0" }.into();
        let (widths, table, terms) = Default::default();
        Self { name, widths, outputs: vec![1], a_signed: false, b_signed: false, table, offset: 0, depth: 0, terms }
    }

    /// Checks the widths of the pins and reads the parameters.
    ///
    /// # Errors
    /// [`Error::Parse`] if the widths of a cell's pins are inconsistent. [`Error::Unsupported`] for a parameter that cannot be obeyed, for arithmetic cells of
    /// more than 128 bits, and for lookup tables of more than 8 inputs.
    pub(super) fn new(
        name: &str,
        pins: &Pins,
        widths: Vec<usize>,
        outputs: Vec<usize>,
        parameters: &Parameters<'_>,
    ) -> Result<Self, Error> {
        let place = parameters.place;
        parameters.check(pins, &widths, &outputs)?;
        let all = || widths.iter().chain(&outputs);
        let out = outputs[0];
        let offset = parameters.number("OFFSET")?.unwrap_or(0);
        let depth = parameters.number("DEPTH")?.unwrap_or(0);
        let shifted = |width: usize, by: usize| u32::try_from(by).ok().filter(|by| *by < 32).map(|by| width << by);
        let good = match name {
            _ if name.starts_with("$_") => all().all(|width| *width == 1),
            "$mux" => widths == [out, out, 1],
            "$buf" | "$barrier" | "$bweqx" | "$bwmux" | "$fa" => all().all(|width| *width == out),
            "$pmux" => widths[0] == out && widths[2].checked_mul(out) == Some(widths[1]),
            "$bmux" => shifted(out, widths[1]) == Some(widths[0]),
            "$demux" => shifted(widths[0], widths[1]) == Some(out),
            "$lcu" => widths == [out, out, 1],
            "$alu" => widths[2..] == [1, 1] && outputs.iter().all(|width| *width == out),
            "$concat" => widths[0] + widths[1] == out,
            "$slice" => offset.checked_add(out).is_some_and(|end| end <= widths[0]),
            "$lut" | "$sop" => out == 1,
            _ => true,
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
            "$neg" | "$add" | "$sub" | "$mul" | "$div" | "$mod" | "$divfloor" | "$modfloor" | "$lt" | "$le" | "$gt"
            | "$ge" | "$shl" | "$sshl" | "$shr" | "$sshr" | "$shift" | "$shiftx" | "$alu" => MAX_WIDTH,
            _ => usize::MAX,
        };
        let too_wide = |width: usize| Error::Unsupported {
            format: FORMAT,
            place: place.to_owned(),
            what: format!("a cell of {width} bits"),
            fix: "map the design to gates (Yosys: synth; write_json), or keep arithmetic cells within 128 bits and $lut within 8",
        };
        if let Some(width) = all().find(|width| **width > limit) {
            return Err(too_wide(*width));
        }
        let table = match name {
            "$lut" => parameters.table("LUT", 1 << widths[0])?,
            "$sop" => parameters.table_up_to("TABLE", depth.saturating_mul(2 * widths[0]))?,
            _ => Vec::new(),
        };
        let terms = match name {
            "$macc" => yosys_macc::read(parameters, &widths)?,
            "$macc_v2" => yosys_macc::read_v2(parameters, &widths)?,
            _ => Vec::new(),
        };
        let sums = terms.iter().flat_map(|term| [term.x, term.y.unwrap_or(0)]).chain(terms.first().map(|_| out));
        if let Some(width) = sums.into_iter().find(|width| *width > MAX_WIDTH) {
            return Err(too_wide(width));
        }
        let [a_signed, b_signed] = match name {
            "$macc_v2" => [false; 2],
            _ => [parameters.flag("A_SIGNED")?, parameters.flag("B_SIGNED")?],
        };
        // Yosys has one sign for the whole cell. It reads the amount of a shift as unsigned, except for $shift and $shiftx.
        let free = ["$shl", "$sshl", "$shr", "$sshr", "$shift", "$shiftx", "$logic_and", "$logic_or"];
        if a_signed != b_signed && pins.parameters.contains(&"B_SIGNED") && !free.contains(&name) {
            return Err(Error::Unsupported {
                format: FORMAT,
                place: place.to_owned(),
                what: "a signed beside an unsigned operand".to_owned(),
                fix: "set A_SIGNED and B_SIGNED to the same value, as Yosys does",
            });
        }
        Ok(Self { name: name.into(), widths, outputs, a_signed, b_signed, table, offset, depth, terms })
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
