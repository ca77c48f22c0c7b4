//! The work of an evaluation: a program, a circuit, or a conversion.

use crate::error::{Error, Result, input, usage};
use crate::files::{read_circuit, read_text};
use solinas_circuits::counted;
use solinas_circuits::program::{Program, Type};
use solinas_runtime::{Ciphertext, Control, Estimate, Form, Netlist, Server};
use std::path::{Path, PathBuf};

/// A ciphertext and its file.
pub(super) type Loaded = (PathBuf, Ciphertext);

/// The work on the loaded ciphertexts.
pub(super) enum Work {
    /// One input for each ciphertext.
    Program { name: String, program: Program },
    /// One input for each element of the only ciphertext.
    Reduction { name: String, program: Program },
    /// One port for each ciphertext.
    Circuit { file: PathBuf, netlist: Netlist },
    /// Converts the only ciphertext.
    Convert { name: String, form: Form },
}

/// Reads ciphertext files.
pub(super) fn load(files: &[PathBuf]) -> Result<Vec<Loaded>> {
    files.iter().map(|file| Ok((file.clone(), Ciphertext::load(file)?))).collect()
}

/// Reads the file of a circuit or program.
pub(super) fn of_file(circuit_file: Option<&Path>, program_file: Option<&Path>) -> Result<Work> {
    match (circuit_file, program_file) {
        (Some(file), _) => circuit(file),
        (_, Some(file)) => program(file),
        _ => Err(usage("the operation is missing", "`solinas eval --list` prints all operations")),
    }
}

/// Reads a circuit.
fn circuit(file: &Path) -> Result<Work> {
    Ok(Work::Circuit { file: file.to_path_buf(), netlist: read_circuit(file)? })
}

/// Reads a program.
fn program(file: &Path) -> Result<Work> {
    let place = file.display().to_string();
    let program = Program::from_json(&read_text(file)?).map_err(Error::circuit(&place))?;
    Ok(Work::Program { name: place, program })
}

impl Work {
    /// Loads one ciphertext for each input of a circuit or program.
    pub(super) fn load(&self, inputs: &[PathBuf]) -> Result<Vec<Loaded>> {
        let wanted: Vec<String> = match self {
            Self::Circuit { netlist, .. } => netlist
                .inputs()
                .iter()
                .map(|port| format!("{} ({})", port.name, counted(port.bits.len(), "bit")))
                .collect(),
            Self::Program { program, .. } | Self::Reduction { program, .. } => {
                program.inputs.iter().map(|input| format!("{} ({})", input.name, input.ty)).collect()
            }
            Self::Convert { .. } => Vec::new(),
        };
        if wanted.len() != inputs.len() {
            let (inputs, files) = (counted(wanted.len(), "input"), counted(inputs.len(), "file"));
            let what = format!("{} takes {inputs}, but got {files}", self.label());
            return Err(usage(what, format!("after --inputs, give one file for each of {}", wanted.join(", "))));
        }
        load(inputs)
    }

    /// Estimates the cost on fresh ciphertexts of one element.
    pub(super) fn estimate_fresh(&self, server: &Server, control: &Control<'_>) -> Result<Estimate> {
        match self {
            Self::Program { program, .. } | Self::Reduction { program, .. } => {
                Ok(server.estimate(program, 1, control)?)
            }
            Self::Circuit { netlist, .. } => Ok(server.estimate_circuit(netlist, true, control)?),
            Self::Convert { name, .. } => Err(not_estimated(name)),
        }
    }

    /// Counts the operations on one element under a parameter set, without a key.
    pub(super) fn cost(&self, params: &str, control: &Control<'_>) -> Result<Estimate> {
        match self {
            Self::Program { program, .. } | Self::Reduction { program, .. } => {
                Ok(solinas_runtime::cost_watched(None, program, params, control)?)
            }
            Self::Circuit { netlist, .. } => Ok(solinas_runtime::cost_circuit(netlist, params, control)?),
            Self::Convert { name, .. } => Err(not_estimated(name)),
        }
    }

    /// Short description for messages.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Program { name, .. } | Self::Reduction { name, .. } | Self::Convert { name, .. } => name.clone(),
            Self::Circuit { file, .. } => file.display().to_string(),
        }
    }

    /// Names of the outputs.
    pub(super) fn output_names(&self) -> Vec<String> {
        match self {
            Self::Program { program, .. } | Self::Reduction { program, .. } => {
                program.outputs.iter().map(|output| output.name.clone()).collect()
            }
            Self::Circuit { netlist, .. } => netlist.outputs().iter().map(|port| port.name.clone()).collect(),
            Self::Convert { .. } => vec!["result".to_owned()],
        }
    }

    /// Checks that each file has the type of its input, and that all arrays have the same shape.
    pub(super) fn check_types(&self, files: &[Loaded]) -> Result<()> {
        let wanted: Vec<(&str, Option<Type>, usize)> = match self {
            Self::Program { program, .. } => {
                program.inputs.iter().map(|i| (i.name.as_str(), Some(i.ty), i.ty.width())).collect()
            }
            Self::Circuit { netlist, .. } => {
                netlist.inputs().iter().map(|port| (port.name.as_str(), None, port.bits.len())).collect()
            }
            Self::Reduction { .. } | Self::Convert { .. } => return Ok(()),
        };
        let bits = |ct: &Ciphertext, width: usize| {
            ct.ty() == Type::Bool && width > 1 && ct.shape().and_then(<[usize]>::last) == Some(&width)
        };
        if matches!(self, Self::Circuit { .. })
            && files.iter().zip(&wanted).any(|((_, ct), (.., width))| bits(ct, *width))
        {
            // The server checks operations that work bit by bit.
            return Ok(());
        }
        for ((file, ct), (name, ty, width)) in files.iter().zip(wanted) {
            if ct.ty().width() != width || ty.is_some_and(|ty| ty != ct.ty()) {
                let wanted = ty.map_or_else(|| counted(width, "bit"), |ty| ty.to_string());
                let what =
                    format!("{} is {}, but input '{name}' of {} is {wanted}", file.display(), ct.ty(), self.label());
                let help = match ty {
                    None if width > 1 => format!("encrypt it with a type of {width} bits, or with --bits {width}"),
                    _ => "encrypt it with that type, or convert it with an operation such as to_u8".to_owned(),
                };
                return Err(input(what, help));
            }
        }
        let mut arrays = files.iter().filter(|(_, ct)| ct.shape().is_some());
        let Some((first, ct)) = arrays.next() else { return Ok(()) };
        match arrays.find(|(_, other)| other.shape() != ct.shape()) {
            None => Ok(()),
            Some((file, other)) => Err(input(
                format!(
                    "{} has {}, but {} has {}",
                    first.display(),
                    counted(ct.len(), "value"),
                    file.display(),
                    other.len()
                ),
                "give arrays of the same shape",
            )),
        }
    }

    /// Estimates the cost on those ciphertexts.
    pub(super) fn estimate(&self, server: &Server, files: &[Loaded], control: &Control<'_>) -> Result<Estimate> {
        let inputs: Vec<Ciphertext> = files.iter().map(|(_, ciphertext)| ciphertext.clone()).collect();
        match self {
            Self::Program { program, .. } => Ok(server.estimate_inputs(program, &inputs, control)?),
            Self::Reduction { program, .. } => Ok(server.estimate_inputs(program, &elements(&inputs)?, control)?),
            Self::Circuit { netlist, .. } => Ok(server.estimate_circuit_inputs(netlist, &inputs, control)?),
            Self::Convert { name, .. } => Err(not_estimated(name)),
        }
    }

    /// Counts the operations; all counts are 0 for a conversion.
    pub(super) fn count(&self, server: &Server, files: &[Loaded], control: &Control<'_>) -> Result<Estimate> {
        let inputs: Vec<Ciphertext> = files.iter().map(|(_, ciphertext)| ciphertext.clone()).collect();
        Ok(match self {
            Self::Program { program, .. } => server.count_inputs(program, &inputs, control)?,
            Self::Reduction { program, .. } => server.count_inputs(program, &elements(&inputs)?, control)?,
            Self::Circuit { netlist, .. } => server.count_circuit_inputs(netlist, &inputs, control)?,
            Self::Convert { .. } => Estimate::default(),
        })
    }

    /// Does the work.
    pub(super) fn run(&self, server: &Server, files: &[Loaded], control: &Control<'_>) -> Result<Vec<Ciphertext>> {
        let inputs: Vec<Ciphertext> = files.iter().map(|(_, ciphertext)| ciphertext.clone()).collect();
        Ok(match self {
            Self::Program { program, .. } => server.run(program, &inputs, control)?,
            Self::Circuit { file, netlist } => {
                let silent = control.without_progress();
                // A port takes bits, whether they were encrypted as signed or unsigned.
                let ports = inputs.into_iter().zip(netlist.inputs()).map(|(ciphertext, port)| {
                    let width = ciphertext.ty().width() as u8;
                    // An array of bools stands for the bits of a wide port.
                    if usize::from(width) != port.bits.len() {
                        return Ok(ciphertext);
                    }
                    let ty = if port.signed { Type::Int(width) } else { Type::Uint(width) };
                    if ciphertext.ty() == ty {
                        return Ok(ciphertext);
                    }
                    let cast = Program::from_op(&format!("to_{ty}"), &[ciphertext.ty()])
                        .map_err(Error::circuit(file.display()))?;
                    Ok(server.run(&cast, std::slice::from_ref(&ciphertext), &silent)?.pop().unwrap_or(ciphertext))
                });
                server.run_circuit(netlist, &ports.collect::<Result<Vec<_>>>()?, control)?
            }
            Self::Reduction { program, .. } => server.run(program, &elements(&inputs)?, control)?,
            Self::Convert { form, .. } => inputs
                .iter()
                .map(|ciphertext| Ok(server.convert(ciphertext, *form, control)?))
                .collect::<Result<_>>()?,
        })
    }
}

fn not_estimated(name: &str) -> Error {
    usage(format!("there is no estimate for {name}"), "run it: it needs a few bootstraps for each value")
}

/// The elements of all arrays, in order.
fn elements(arrays: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
    arrays.iter().flat_map(|array| (0..array.len()).map(|index| Ok(array.get(index)?))).collect()
}
