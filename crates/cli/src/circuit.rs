//! `solinas circuit`: works on netlists without encryption.

use crate::error::{Error, Result, usage};
use crate::files::{read_circuit, read_text, write_text};
use crate::names::{parse_type, unknown_operation};
use crate::output::Output;
use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use solinas_circuits::build::{Adder, Multiplier, Prefix, Recipe, Style};
use solinas_circuits::counted;
use solinas_circuits::program::{Op, Program, Type};
use solinas_circuits::{Features, GateCosts, Netlist, Stats, bits, export, import};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas circuit build mul --type u8 -o mul8.txt
  solinas circuit stats mul8.txt
  solinas circuit draw mul8.txt -o mul8.svg
  solinas circuit optimize mul8.txt -o small.blif
  solinas circuit convert mul8.txt --to yosys -o mul8.json
  solinas circuit run mul8.txt 12 13

Files are Bristol Fashion, BLIF or Yosys JSON. The command recognizes the format by the contents; `-` is standard input.
BLIF and Yosys JSON keep every gate. Bristol Fashion has AND, XOR and NOT only, so the command splits other gates into these. \
The printed counts are those of the written file. The server optimizes each circuit that it reads: `circuit stats --optimize` counts the circuit that it will run.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Count gates, bootstraps and depth
    #[command(after_help = "Example:\n  solinas circuit stats adder64.txt --json")]
    Stats {
        /// The circuit
        file: PathBuf,
        /// Optimize the circuit first, as the server does
        #[arg(long)]
        optimize: bool,
    },
    /// Draw the circuit as SVG or Graphviz DOT
    #[command(
        after_help = "Examples:\n  solinas circuit draw adder.txt -o adder.svg\n  solinas circuit draw adder.txt --to dot | dot -Tpdf -o adder.pdf"
    )]
    Draw {
        /// The circuit
        file: PathBuf,
        /// Format of the picture; defaults to the one that the name of the output implies, else SVG
        #[arg(long)]
        to: Option<Picture>,
        /// Output file; defaults to standard output
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Write an equivalent circuit that needs fewer bootstraps
    #[command(after_help = "Example:\n  solinas circuit optimize adder64.txt -o small.blif")]
    Optimize {
        #[command(flatten)]
        change: Change,
    },
    /// Write the same circuit in another format
    #[command(after_help = "Example:\n  solinas circuit convert adder64.txt --to blif -o adder64.blif")]
    Convert {
        #[command(flatten)]
        change: Change,
    },
    /// Write an equivalent circuit that uses fewer kinds of gates
    #[command(after_help = "Example:\n  solinas circuit lower adder.blif --gates and-xor -o adder.txt")]
    Lower {
        #[command(flatten)]
        change: Change,
        /// The gates that the result may use
        #[arg(long, default_value = "two-input")]
        gates: Gates,
    },
    /// Build the circuit of an operation
    #[command(
        after_help = "Examples:\n  solinas circuit build add --type u16 --recipe oh2018 -o add16.txt\n  solinas circuit build lt --type i32 --recipe lowest-depth --to blif"
    )]
    Build {
        /// The operation; `solinas eval --list` prints all
        operation: String,
        /// Type of the operands
        #[arg(long = "type", value_parser = parse_type)]
        ty: Type,
        /// The constructions to use
        #[arg(long, default_value = "fewest-bootstraps")]
        recipe: RecipeName,
        /// Use this adder instead of the recipe's
        #[arg(long)]
        adder: Option<AdderName>,
        /// Optimize the circuit
        #[arg(long)]
        optimize: bool,
        /// Format; defaults to the one that the name of the output implies, else Bristol
        #[arg(long)]
        to: Option<FormatName>,
        /// Output file; defaults to standard output
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Evaluate a circuit on plain values
    #[command(
        after_help = "Examples:\n  solinas circuit run mul8.txt 12 13\n  solinas circuit run mul8.txt 0x0c 0b1101 --hex"
    )]
    Run {
        /// The circuit
        file: PathBuf,
        /// One value for each input port: a number, 0x and hexadecimal digits, or 0b and bits
        #[arg(allow_negative_numbers = true)]
        values: Vec<String>,
        /// Print hexadecimal digits; values of more than 2048 bits are always printed in this form
        #[arg(long)]
        hex: bool,
    },
}

#[derive(clap::Args)]
struct Change {
    /// The circuit
    file: PathBuf,
    /// Format; defaults to the one that the name of the output implies, else that of the input
    #[arg(long)]
    to: Option<FormatName>,
    /// Output file; defaults to standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Picture {
    Svg,
    Dot,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    Bristol,
    Blif,
    Yosys,
}

#[derive(Clone, Copy, ValueEnum)]
enum Gates {
    /// NOT, AND, XOR
    AndXor,
    /// Every gate of two inputs
    TwoInput,
    /// Two inputs and MUX
    Mux,
}

#[derive(Clone, Copy, ValueEnum)]
enum RecipeName {
    /// Least work
    FewestBootstraps,
    /// Least latency with enough threads
    LowestDepth,
    /// Ripple carry, shift and add
    Serial,
    /// The circuits of oh2018, sections 3.1 and 3.2
    Oh2018,
}

#[derive(Clone, Copy, ValueEnum)]
enum AdderName {
    /// Two-input gates only
    Serial,
    /// XOR and MUX in parallel
    Oh2018,
    /// XOR3 and MAJ
    Ripple,
    Sklansky,
    KoggeStone,
    BrentKung,
}

impl From<AdderName> for Adder {
    fn from(name: AdderName) -> Self {
        match name {
            AdderName::Serial => Self::Serial,
            AdderName::Oh2018 => Self::Oh2018,
            AdderName::Ripple => Self::Ripple,
            AdderName::Sklansky => Self::Prefix(Prefix::Sklansky),
            AdderName::KoggeStone => Self::Prefix(Prefix::KoggeStone),
            AdderName::BrentKung => Self::Prefix(Prefix::BrentKung),
        }
    }
}

impl RecipeName {
    fn recipe(self, adder: Option<AdderName>) -> Recipe {
        let mut recipe = match self {
            Self::FewestBootstraps => Style::FewestBootstraps.into(),
            Self::LowestDepth => Style::LowestDepth.into(),
            Self::Serial => Recipe::serial(),
            Self::Oh2018 => Recipe::oh2018(),
        };
        if let Some(adder) = adder {
            recipe.adder = adder.into();
            recipe.multiplier = match recipe.multiplier {
                Multiplier::ShiftAndAdd(_) => Multiplier::ShiftAndAdd(recipe.adder),
                Multiplier::CarrySave(_) => Multiplier::CarrySave(recipe.adder),
                other => other,
            };
        }
        recipe
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    match args.verb {
        Verb::Stats { file, optimize } => {
            let costs = GateCosts::default();
            let netlist = read_circuit(&file)?;
            let stats = if optimize { netlist.optimize(&costs).stats(&costs) } else { netlist.stats(&costs) };
            out.result(&stats, || stats.to_string())
        }
        Verb::Draw { file, to, output } => draw(&file, to, output.as_deref(), out),
        Verb::Optimize { change } => change.apply(out, |netlist| Ok(netlist.optimize(&GateCosts::default()))),
        Verb::Convert { change } => change.apply(out, |netlist| Ok(netlist.clone())),
        Verb::Lower { change, gates } => {
            let features = match gates {
                Gates::AndXor => Features::AND_XOR,
                Gates::TwoInput => Features::TWO_INPUT,
                Gates::Mux => Features { mux: true, ..Features::TWO_INPUT },
            };
            change.apply(out, |netlist| netlist.lower(features))
        }
        Verb::Build { operation, ty, recipe, adder, optimize, to, output } => {
            let mut netlist = operation_program(&operation, ty)?
                .lower(recipe.recipe(adder))
                .map_err(Error::circuit(format!("{operation} on {ty}")))?;
            if optimize {
                netlist = netlist.optimize(&GateCosts::default());
            }
            let format = to.or_else(|| by_name(output.as_deref())).unwrap_or(FormatName::Bristol);
            save(&netlist, format, output.as_deref(), out)
        }
        Verb::Run { file, values, hex } => evaluate(&file, &values, hex, out),
    }
}

/// The program of an operation on operands of one type. Exceptions: shift amounts are unsigned, and the first operand of `select` is a bool.
fn operation_program(name: &str, ty: Type) -> Result<Program> {
    let types = match Op::from_name(name) {
        Some(Op::Select) => vec![Type::Bool, ty, ty],
        Some(Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight) => {
            vec![ty, Type::Uint(((ty.width() - 1).max(1).ilog2() + 1) as u16)]
        }
        Some(op) => vec![ty; op.arity().unwrap_or(1)],
        None if name.starts_with("to_") => vec![ty],
        None => return Err(unknown_operation(name, &["to_u8"])),
    };
    Program::from_op(name, &types).map_err(Error::circuit(format!("{name} on {ty}")))
}

fn by_name(path: Option<&Path>) -> Option<FormatName> {
    match path?.extension()?.to_str()? {
        "txt" | "bristol" => Some(FormatName::Bristol),
        "blif" => Some(FormatName::Blif),
        "json" => Some(FormatName::Yosys),
        _ => None,
    }
}

/// Report of a command that writes a circuit.
#[derive(Serialize)]
struct Report<'a> {
    output: Option<&'a Path>,
    /// The circuit itself, if it is not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Counts of the written text, equal to those of `circuit stats`.
    gates: usize,
    bootstraps: u64,
    depth: usize,
}

fn save(netlist: &Netlist, format: FormatName, path: Option<&Path>, out: &Output) -> Result<()> {
    let place = path.unwrap_or(Path::new("standard output")).display();
    let text = match format {
        FormatName::Bristol => export::write_bristol(netlist).map_err(Error::circuit(&place))?,
        FormatName::Blif => export::write_blif(netlist),
        FormatName::Yosys => export::write_yosys_json(netlist),
    };
    let path = path.filter(|path| *path != Path::new("-"));
    let costs = GateCosts::default();
    let before = netlist.prune().stats(&costs);
    let stats = import::read(&text).map_err(Error::circuit(place))?.stats(&costs);
    let report =
        |text| Report { output: path, text, gates: stats.gates, bootstraps: stats.bootstraps, depth: stats.depth };
    let Some(path) = path else { return out.result(&report(Some(&text)), || text.clone()) };
    write_text(Some(path), &text, out)?;
    let report = report(None);
    out.report(&report, || {
        let counts = |stats: &Stats| {
            let (gates, bootstraps) = (counted(stats.gates, "gate"), counted(stats.bootstraps, "bootstrap"));
            format!("{gates}, {bootstraps}, depth {}", stats.depth)
        };
        let split = match before.bootstraps < stats.bootstraps {
            true => format!("; in BLIF or Yosys JSON {}", counts(&before)),
            false => String::new(),
        };
        format!("{}: {}{split}\n", path.display(), counts(&stats))
    })
}

impl Change {
    fn apply(
        self,
        out: &Output,
        change: impl FnOnce(&Netlist) -> std::result::Result<Netlist, solinas_circuits::Error>,
    ) -> Result<()> {
        let place = self.file.display();
        let text = read_text(&self.file)?;
        let format = import::Format::detect(&text).map_err(Error::circuit(place.to_string()))?;
        let netlist = format.read(&text).map_err(Error::circuit(place.to_string()))?;
        let same = match format {
            import::Format::Bristol => FormatName::Bristol,
            import::Format::Blif => FormatName::Blif,
            import::Format::YosysJson => FormatName::Yosys,
        };
        let format = self.to.or_else(|| by_name(self.output.as_deref())).unwrap_or(same);
        save(&change(&netlist).map_err(Error::circuit(place))?, format, self.output.as_deref(), out)
    }
}

fn draw(file: &Path, to: Option<Picture>, output: Option<&Path>, out: &Output) -> Result<()> {
    let extension = output.and_then(Path::extension).and_then(|extension| extension.to_str());
    let picture = match (to, extension) {
        (Some(picture), _) => picture,
        (None, Some("dot" | "gv")) => Picture::Dot,
        (None, Some("svg") | None) => Picture::Svg,
        (None, Some(other)) => {
            return Err(usage(
                format!("pictures of kind .{other} are not supported"),
                "name the output .svg or .dot, or add --to svg",
            ));
        }
    };
    let netlist = read_circuit(file)?;
    let text = match picture {
        Picture::Svg => export::write_svg(&netlist, &GateCosts::default()),
        Picture::Dot => export::write_dot(&netlist),
    };
    match output.filter(|path| *path != Path::new("-")) {
        Some(path) => {
            write_text(Some(path), &text, out)?;
            out.report(&serde_json::json!({ "output": path }), || format!("{}: written\n", path.display()))
        }
        None => out.result(&serde_json::json!({ "output": null, "text": text }), || text.clone()),
    }
}

/// The plain value of one output port.
#[derive(Serialize)]
struct PortValue<'a> {
    port: &'a str,
    value: String,
}

fn evaluate(file: &Path, values: &[String], hex: bool, out: &Output) -> Result<()> {
    let netlist = read_circuit(file)?;
    let ports = netlist.inputs();
    if values.len() != ports.len() {
        let names: Vec<_> =
            ports.iter().map(|port| format!("{} ({})", port.name, counted(port.bits.len(), "bit"))).collect();
        let (inputs, values) = (counted(ports.len(), "input"), counted(values.len(), "value"));
        let what = format!("{} takes {inputs}, but got {values}", file.display());
        let help = match &names[..] {
            [] => "leave the values out".to_owned(),
            _ => format!("give one value for each of {}", names.join(", ")),
        };
        return Err(usage(what, help));
    }
    let mut inputs = Vec::with_capacity(netlist.input_bits());
    for (port, text) in ports.iter().zip(values) {
        let place = format!("input '{}'", port.name);
        inputs.extend(bits::parse(text, port.bits.len(), port.signed).map_err(Error::circuit(place))?);
    }
    let results = netlist.evaluate_bits(&inputs).map_err(Error::circuit(file.display()))?;
    let mut rest = &results[..];
    let ports = netlist.outputs().iter().map(|port| {
        let (of_port, others) = rest.split_at(port.bits.len());
        rest = others;
        let value = if hex { bits::to_hex(of_port) } else { bits::to_number(of_port, port.signed) };
        PortValue { port: &port.name, value }
    });
    let ports: Vec<_> = ports.collect();
    out.result(&ports, || ports.iter().map(|PortValue { port, value }| format!("{port}: {value}\n")).collect())
}
