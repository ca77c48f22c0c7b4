//! The work of an evaluation: a program, a circuit, or a conversion.

use crate::error::{Error, Result, input, usage};
use crate::files::{read_circuit, read_text};
use crate::values::constant_text;
use solinas_circuits::program::{Program, Type};
use solinas_circuits::{bits, counted};
use solinas_runtime::{
    self as runtime, Ciphertext, Control, Estimate, Form, Input, Inputs, Netlist, Plain, Plan, Prepared, Scheme, Server,
};
use std::path::{Path, PathBuf};

/// A ciphertext and its file.
pub(super) type Loaded = (PathBuf, Ciphertext);

/// The work on the loaded ciphertexts.
pub(super) enum Work {
    /// One input for each ciphertext, and the public arrays with their places among the inputs.
    Program { name: String, program: Program, public: Vec<(usize, Plain)> },
    /// One input for each element of the only ciphertext.
    Reduction { name: String, program: Program },
    /// One port for each ciphertext. The other inputs of the file have been replaced by public values if `bound` is set.
    Circuit { file: PathBuf, netlist: Netlist, bound: bool },
    /// Converts the only ciphertext.
    Convert { name: String, form: Form },
}

/// Reads ciphertext files.
pub(super) fn load(files: &[PathBuf]) -> Result<Vec<Loaded>> {
    files.iter().map(|file| Ok((file.clone(), Ciphertext::load(file)?))).collect()
}

/// Reads one file for each parameter of a program. An array of the length of its parameter gives the elements of that.
fn load_elements(files: &[PathBuf], lengths: &[usize]) -> Result<Vec<Loaded>> {
    let mut all = Vec::new();
    for ((file, ciphertext), &length) in load(files)?.into_iter().zip(lengths) {
        if length == 1 {
            all.push((file, ciphertext));
            continue;
        }
        if ciphertext.shape() != Some(&[length]) {
            let holds =
                if ciphertext.shape().is_some() { counted(ciphertext.len(), "value") } else { "no array".into() };
            let what = format!("{} holds {holds}, but its input is an array of {length} values", file.display());
            return Err(input(what, format!("encrypt {length} values to the file")));
        }
        let named = |element: Ciphertext| match ciphertext.name() {
            Some(name) => element.named(name),
            None => element,
        };
        let elements = (0..length).map(|index| Ok((file.clone(), named(ciphertext.get(index)?))));
        all.extend(elements.collect::<Result<Vec<_>>>()?);
    }
    Ok(all)
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
    Ok(Work::Circuit { file: file.to_path_buf(), netlist: read_circuit(file)?, bound: false })
}

/// Reads a program.
fn program(file: &Path) -> Result<Work> {
    let place = file.display().to_string();
    let program = Program::from_json(&read_text(file)?).and_then(|program| program.scalars());
    let program = program.map_err(Error::circuit(&place))?;
    Ok(Work::Program { name: place, program, public: Vec::new() })
}

impl Work {
    /// The files in the order of the inputs. `NAME=FILE` gives a file to the input of this name; either all files are given so, or none is.
    fn in_order(&self, files: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let names = self.parameters();
        let named = |file: &PathBuf| -> Option<(usize, PathBuf)> {
            let (name, file) = file.to_str()?.split_once('=')?;
            Some((names.iter().position(|known| known == name)?, PathBuf::from(file)))
        };
        let given: Vec<_> = files.iter().map(named).collect();
        if given.iter().all(Option::is_none) {
            return Ok(files.to_vec());
        }
        let mut ordered = vec![None; names.len()];
        for (file, given) in files.iter().zip(given) {
            let help = format!("give each of {} once, as in {}=FILE", names.join(", "), names[0]);
            let Some((at, path)) = given else {
                return Err(usage(format!("{} has no name of an input, but others have one", file.display()), help));
            };
            if ordered[at].replace(path).is_some() {
                return Err(usage(format!("the input {} has two files", names[at]), help));
            }
        }
        match ordered.iter().position(Option::is_none) {
            Some(at) => Err(usage(format!("the input {} has no file", names[at]), format!("add {}=FILE", names[at]))),
            None => Ok(ordered.into_iter().flatten().collect()),
        }
    }

    /// Names of the parameters. An array of a program is one of them.
    fn parameters(&self) -> Vec<String> {
        let inputs: Vec<&str> = match self {
            Self::Circuit { netlist, .. } => netlist.inputs().iter().map(|port| port.name.as_str()).collect(),
            Self::Program { program, .. } | Self::Reduction { program, .. } => {
                program.inputs.iter().map(|input| input.name.as_str()).collect()
            }
            Self::Convert { .. } => Vec::new(),
        };
        let lengths = self.lengths().unwrap_or_else(|| vec![1; inputs.len()]);
        let mut at = 0;
        let parameter = |length: usize| {
            let name = inputs[at];
            at += length;
            if length == 1 { name } else { name.trim_end_matches("[0]") }.to_owned()
        };
        lengths.into_iter().map(parameter).collect()
    }

    /// Loads one ciphertext for each input of a circuit or program. A circuit also takes public values, which become a part of it.
    pub(super) fn load(self, inputs: &[PathBuf]) -> Result<(Self, Vec<Loaded>)> {
        let ordered = self.in_order(inputs)?;
        let names = match &self {
            // A file for each element of an array is one for each input.
            Self::Program { program, .. } if program.inputs.len() == ordered.len() => {
                program.inputs.iter().map(|input| input.name.clone()).collect()
            }
            _ => self.parameters(),
        };
        // NAME=FILE says what each file is for.
        let check = |loaded: &[Loaded]| if ordered == inputs { check_names(&names, &ordered, loaded) } else { Ok(()) };
        let inputs = &ordered[..];
        let wanted: Vec<String> = match &self {
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
        if let Some(lengths) =
            self.lengths().filter(|lengths| lengths.len() == inputs.len() && inputs.len() < wanted.len())
        {
            let loaded = load_elements(inputs, &lengths)?;
            check(&loaded)?;
            return Ok((self, loaded));
        }
        if wanted.len() != inputs.len() {
            let (inputs, files) = (counted(wanted.len(), "input"), counted(inputs.len(), "file"));
            let what = format!("{} takes {inputs}, but got {files}", self.label());
            let help = match &wanted[..] {
                [] => "leave --inputs out".to_owned(),
                _ => format!("after --inputs, give one file for each of {}", wanted.join(", ")),
            };
            return Err(usage(what, help));
        }
        let (work, loaded) = match self {
            Self::Circuit { file, netlist, .. } => bind(file, &netlist, inputs)?,
            work => (work, load(inputs)?),
        };
        check(&loaded)?;
        Ok((work, loaded))
    }

    /// The number of elements of each parameter of a program. The inputs `x[0]`, `x[1]`, .. are the elements of an array.
    fn lengths(&self) -> Option<Vec<usize>> {
        let Self::Program { program, .. } = self else { return None };
        let mut lengths: Vec<usize> = Vec::new();
        let mut array = "";
        for input in &program.inputs {
            let element = input.name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
            let element = element.and_then(|(array, index)| Some((array, index.parse::<usize>().ok()?)));
            match (element, lengths.last_mut()) {
                (Some((name, index)), Some(last)) if index > 0 && index == *last && name == array => *last += 1,
                _ => lengths.push(1),
            }
            array = element.map_or("", |(array, _)| array);
        }
        Some(lengths)
    }

    /// Plans the work: on those ciphertexts, or without them on fresh ones of one element. If a plan is given, the work runs by it.
    pub(super) fn prepare(
        &self,
        server: &Server,
        files: Option<&[Loaded]>,
        plan: Option<&Plan>,
        control: &Control<'_>,
    ) -> Result<Prepared> {
        let ciphertexts = || -> Option<Vec<Ciphertext>> {
            files.map(|files| files.iter().map(|(_, ciphertext)| ciphertext.clone()).collect())
        };
        let work = match self {
            Self::Program { program, public, .. } => match files {
                Some(files) => runtime::Work::program(program, Inputs::Given(with_public(files, public))),
                None => program.into(),
            },
            Self::Reduction { program, .. } => {
                runtime::Work::program(program, inputs(ciphertexts().map(elements).transpose()?))
            }
            Self::Circuit { netlist, .. } => runtime::Work::circuit(netlist, inputs(ciphertexts())),
            Self::Convert { name, form } => match files {
                Some([(_, ciphertext)]) => runtime::Work::Convert { ciphertext, form: *form },
                _ => return Err(not_estimated(name)),
            },
        };
        Ok(match plan {
            Some(plan) => server.prepare_pinned(work, plan, control)?,
            None => server.prepare(work, control)?,
        })
    }

    /// Counts the operations on one element under a parameter set of the scheme, without a key. If no scheme is given, the name of the set decides.
    pub(super) fn cost(&self, scheme: Option<Scheme>, params: &str, control: &Control<'_>) -> Result<Estimate> {
        match self {
            Self::Program { program, .. } | Self::Reduction { program, .. } => {
                Ok(solinas_runtime::cost_under(scheme, program, params, control)?)
            }
            Self::Circuit { netlist, .. } => Ok(solinas_runtime::cost_under(scheme, netlist, params, control)?),
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
            Self::Program { program, public, .. } => {
                let encrypted = program.inputs.iter().enumerate().filter(|(at, _)| public.iter().all(|(p, _)| p != at));
                encrypted.map(|(_, i)| (i.name.as_str(), Some(i.ty), i.ty.width())).collect()
            }
            Self::Circuit { netlist, .. } => {
                netlist.inputs().iter().map(|port| (port.name.as_str(), None, port.bits.len())).collect()
            }
            Self::Reduction { .. } | Self::Convert { .. } => return Ok(()),
        };
        let holds_bits = |ct: &Ciphertext, width: usize| {
            ct.ty() == Type::Bool && width > 1 && ct.shape().and_then(<[usize]>::last) == Some(&width)
        };
        if matches!(self, Self::Circuit { .. })
            && files.iter().zip(&wanted).any(|((_, ct), (.., width))| holds_bits(ct, *width))
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
}

/// Checks that no file was made for another input than that in whose place it is given: swapped files of one type would run otherwise.
fn check_names(names: &[String], files: &[PathBuf], loaded: &[Loaded]) -> Result<()> {
    for (name, file) in names.iter().zip(files) {
        let made_for = loaded.iter().find(|(path, _)| path == file).and_then(|(_, ciphertext)| ciphertext.name());
        if let Some(other) = made_for.filter(|made_for| made_for != name && names.iter().any(|name| name == made_for)) {
            let file = file.display();
            return Err(usage(
                format!("{file} was made for the input {other}, and it is given for {name}"),
                format!(
                    "name the inputs, as in `--inputs {other}={file} ..`; to use this file for {name} all the same, write {name}={file}"
                ),
            ));
        }
    }
    Ok(())
}

/// Reads the inputs of a circuit: files of ciphertexts, and public values, which become a part of the circuit.
fn bind(file: PathBuf, netlist: &Netlist, inputs: &[PathBuf]) -> Result<(Work, Vec<Loaded>)> {
    let (mut files, mut values) = (Vec::new(), Vec::new());
    for (input, port) in inputs.iter().zip(netlist.inputs()) {
        let value = input.to_str().map(constant_text).transpose()?.flatten();
        if value.is_none() {
            files.push(input.clone());
        }
        let place = || format!("input '{}'", port.name);
        let bits = |text| bits::parse(text, port.bits.len(), port.signed).map_err(Error::circuit(place()));
        values.push(value.map(bits).transpose()?);
    }
    if files.is_empty() && !values.is_empty() {
        let help = "give at least one ciphertext file, or compute it by `solinas circuit run`";
        return Err(usage(format!("every input of {} is a public value", file.display()), help));
    }
    let bound = files.len() < values.len();
    let netlist = if bound { netlist.bind(&values).map_err(Error::circuit(file.display()))? } else { netlist.clone() };
    Ok((Work::Circuit { file, netlist, bound }, load(&files)?))
}

fn not_estimated(name: &str) -> Error {
    usage(format!("there is no estimate for {name}"), "run it: it needs a few bootstraps for each value")
}

/// The inputs of a program: the ciphertexts in order, with the public arrays in their places.
pub(super) fn with_public(files: &[Loaded], public: &[(usize, Plain)]) -> Vec<Input> {
    let mut all: Vec<Input> = files.iter().map(|(_, ciphertext)| ciphertext.clone().into()).collect();
    for (at, plain) in public {
        all.insert(*at, plain.clone().into());
    }
    all
}

/// The given inputs, or fresh ones of one element.
fn inputs<T>(given: Option<Vec<Ciphertext>>) -> Inputs<T>
where
    Ciphertext: Into<T>,
{
    match given {
        Some(given) => Inputs::from(&given),
        None => Inputs::Fresh { instances: 1 },
    }
}

/// The elements of all arrays, in order.
fn elements(arrays: Vec<Ciphertext>) -> Result<Vec<Ciphertext>> {
    arrays.iter().flat_map(|array| (0..array.len()).map(|index| Ok(array.get(index)?))).collect()
}
