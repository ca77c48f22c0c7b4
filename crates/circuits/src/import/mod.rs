//! Reads netlists from files. Input is untrusted: an error names the place and the problem. The size of the file, or a limit, bounds the memory.

mod assemble;
mod blif;
mod blif_models;
mod bristol;
mod ports;
mod yosys;
mod yosys_cells;
mod yosys_macc;
mod yosys_parameters;
mod yosys_words;

pub(crate) use ports::indexed;

pub use blif::read_blif;
pub use bristol::read_bristol;
pub use yosys::read_yosys_json;

use crate::{Error, Netlist};

/// Largest number of input bits, and of output bits, of an imported circuit: `2^20`.
pub const MAX_PORT_BITS: usize = 1 << 20;

/// A format of circuit files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Bristol Fashion, or the older Bristol format.
    Bristol,
    /// Berkeley Logic Interchange Format, combinational.
    Blif,
    /// JSON of Yosys (`write_json`).
    YosysJson,
}

impl Format {
    /// Detects the format of a file by its text.
    ///
    /// # Errors
    /// [`Error::Parse`] if it is none of the formats.
    pub fn detect(text: &str) -> Result<Self, Error> {
        let mut lines = without_mark(text).lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        match lines.find(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            Some((_, line)) if line.starts_with('{') => Ok(Self::YosysJson),
            Some((_, line)) if line.starts_with('.') => Ok(Self::Blif),
            Some((_, line)) if line.starts_with(|c: char| c.is_ascii_digit()) => Ok(Self::Bristol),
            found => Err(Error::Parse {
                format: "circuit file",
                line: found.map_or(0, |(line, _)| line),
                problem: "this is not Bristol, BLIF or Yosys JSON".to_owned(),
                fix: "begin a Bristol file with two counts, a BLIF file with .model, or a Yosys JSON file with {",
            }),
        }
    }

    /// Reads a circuit.
    ///
    /// # Errors
    /// The problem of the file, with its place.
    pub fn read(self, text: &str) -> Result<Netlist, Error> {
        match self {
            Self::Bristol => read_bristol(text),
            Self::Blif => read_blif(text),
            Self::YosysJson => read_yosys_json(text),
        }
    }
}

/// Reads a circuit of any format.
///
/// # Errors
/// The problem of the file, with its place.
pub fn read(text: &str) -> Result<Netlist, Error> {
    Format::detect(text)?.read(text)
}

/// The text without the byte-order mark with which some editors begin a file.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The fix for a register, in every format.
const UNROLL: &str = "unroll the registers, since only combinational circuits can be evaluated";

/// Whether a cell has the name of a register: a flip-flop or a latch, as in Yosys and in libraries.
fn is_register(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain = lower.trim_start_matches(['$', '_', '\\']);
    let of_yosys =
        ["ff_", "sr_"].iter().any(|start| plain.starts_with(start)) || ["ff", "sr", "fsm", "anyinit"].contains(&plain);
    let kinds = ["dff", "sdff", "adff", "aldff", "dlatch", "adlatch", "latch"];
    name.starts_with('$') && of_yosys || kinds.iter().any(|start| plain.starts_with(start))
}
