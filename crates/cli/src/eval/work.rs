//! The work of an evaluation: a program or a conversion. A circuit is a program of one call.

use crate::error::{Error, Result, input, usage};
use crate::files::{read_circuit, read_text};
use crate::values::constant_text;
use solinas_circuits::program::{self, Program, Shape, Type};
use solinas_circuits::{Port, bits, counted};
use solinas_engine::{
    self as engine, Ciphertext, Control, Estimate, Form, Input, Inputs, Plain, PrepareOptions, Prepared, Scheme, Server,
};
use std::path::{Path, PathBuf};

/// A ciphertext and its file.
pub(super) type Loaded = (PathBuf, Ciphertext);

/// The work on the loaded ciphertexts.
pub(super) enum Work {
    /// One input for each ciphertext, and the public arrays with their places among the inputs.
    Program { name: String, program: Program, public: Vec<(usize, Plain)> },
    /// Converts the only ciphertext.
    Convert { name: String, form: Form },
}

/// Reads ciphertext files.
pub(super) fn load(files: &[PathBuf]) -> Result<Vec<Loaded>> {
    files.iter().map(|file| Ok((file.clone(), Ciphertext::load(file)?))).collect()
}

/// A ciphertext for an input of a declared shape. Its elements may lie in a row, as `encrypt` writes them.
fn in_shape((file, ciphertext): Loaded, input: &program::Input) -> Result<Loaded> {
    let Some(shape) = &input.shape else { return Ok((file, ciphertext)) };
    let own = ciphertext.shape().unwrap_or(&[]);
    if own == &shape[..] {
        return Ok((file, ciphertext));
    }
    // A value is not an array of one dimension or more, so that it would combine with every element.
    let in_a_row = own.len() <= 1 && ciphertext.len() == shape.size() && !(shape.is_empty() && own.len() == 1);
    if !in_a_row {
        let holds = match own {
            [] => "one value".to_owned(),
            [_] => counted(ciphertext.len(), "value"),
            own => format!("an array of shape {own:?}"),
        };
        let (name, wanted) =
            (&input.name, if shape.is_empty() { "one value".into() } else { format!("an array of shape {shape}") });
        let what = format!("{} holds {holds}, but the input '{name}' is {wanted}", file.display());
        return Err(crate::error::input(what, format!("encrypt {} to the file", counted(shape.size(), "value"))));
    }
    let name = ciphertext.name().map(str::to_owned);
    let shaped = ciphertext.reshape(if shape.is_empty() { None } else { Some(shape.to_vec()) })?;
    Ok((
        file,
        match name {
            Some(name) => shaped.named(&name),
            None => shaped,
        },
    ))
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
    let name = file.display().to_string();
    let program = Program::of_circuit(read_circuit(file)?, true).map_err(Error::circuit(&name))?;
    Ok(Work::Program { name, program, public: Vec::new() })
}

/// Reads a program.
fn program(file: &Path) -> Result<Work> {
    let place = file.display().to_string();
    let program = Program::from_json(&read_text(file)?);
    let program = program.map_err(Error::circuit(&place))?;
    Ok(Work::Program { name: place, program, public: Vec::new() })
}

impl Work {
    /// The files in the order of the inputs. `NAME=FILE` gives a file to the input of this name; either all files are given so, or none is.
    fn in_order(&self, files: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let names = self.inputs();
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

    /// Names of the inputs.
    fn inputs(&self) -> Vec<String> {
        match self {
            Self::Program { program, .. } => program.inputs.iter().map(|input| input.name.clone()).collect(),
            Self::Convert { .. } => Vec::new(),
        }
    }

    /// Loads one ciphertext for each input of a circuit or program. A circuit also takes public values, which become a part of it.
    pub(super) fn load(self, inputs: &[PathBuf]) -> Result<(Self, Vec<Loaded>)> {
        let ordered = self.in_order(inputs)?;
        let names = self.inputs();
        // NAME=FILE says what each file is for.
        let check = |loaded: &[Loaded]| if ordered == inputs { check_names(&names, &ordered, loaded) } else { Ok(()) };
        let inputs = &ordered[..];
        let wanted: Vec<String> = match &self {
            Self::Program { program, .. } => match program.circuit() {
                Some(netlist) => netlist.inputs().iter().map(described_port).collect(),
                None => program.inputs.iter().map(described).collect(),
            },
            Self::Convert { .. } => Vec::new(),
        };
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
            Self::Program { name, program, public } => {
                let (program, inputs) = bind(&name, program, inputs)?;
                let loaded = load(&inputs)?.into_iter().zip(&program.inputs);
                let loaded = loaded.map(|(loaded, input)| in_shape(loaded, input)).collect::<Result<Vec<_>>>()?;
                (Self::Program { name, program, public }, loaded)
            }
            work => (work, load(inputs)?),
        };
        check(&loaded)?;
        Ok((work, loaded))
    }

    /// Plans the work: on those ciphertexts, or without them on fresh ones of one element.
    pub(super) fn prepare(
        &self,
        server: &Server,
        files: Option<&[Loaded]>,
        options: PrepareOptions<'_>,
        control: &Control<'_>,
    ) -> Result<Prepared> {
        if files.is_none() {
            self.check_estimated()?;
        }
        let work = match self {
            Self::Program { program, public, .. } => match files {
                Some(files) => engine::Work::program(program, Inputs::Given(with_public(files, public))),
                None => program.into(),
            },
            Self::Convert { name, form } => match files {
                Some([(_, ciphertext)]) => engine::Work::Convert { ciphertext, form: *form },
                _ => return Err(not_estimated(name)),
            },
        };
        Ok(server.prepare_with(work, options, control)?)
    }

    /// Checks that an estimate without inputs knows the shapes of arrays.
    fn check_estimated(&self) -> Result<()> {
        let Self::Program { name, program, .. } = self else { return Ok(()) };
        match program.inputs.iter().find(|input| input.shape.is_none()) {
            Some(input) if !is_elementwise(program) && !program.crosses_slots() => {
                let what =
                    format!("{name} combines elements of arrays, and the input '{}' may have any shape", input.name);
                Err(usage(what, "give --inputs, or a shape in the program's file"))
            }
            _ => Ok(()),
        }
    }

    /// Counts the operations on one element under a parameter set of the scheme, without a key. If no scheme is given, the name of the set decides.
    pub(super) fn cost(&self, scheme: Option<Scheme>, params: &str, control: &Control<'_>) -> Result<Estimate> {
        self.check_estimated()?;
        match self {
            Self::Program { program, .. } => Ok(solinas_engine::cost_under(scheme, program, params, control)?),
            Self::Convert { name, .. } => Err(not_estimated(name)),
        }
    }

    /// The shapes of the inputs, for the estimate of a service.
    #[cfg(feature = "service")]
    pub(super) fn shapes(&self, files: &[Loaded]) -> Vec<Vec<usize>> {
        let of = |ciphertext: &Ciphertext| ciphertext.shape().map_or_else(Vec::new, <[usize]>::to_vec);
        let mut shapes: Vec<Vec<usize>> = files.iter().map(|(_, ciphertext)| of(ciphertext)).collect();
        if let Self::Program { program, public, .. } = self {
            let ports = program.circuit().map(engine::Netlist::inputs).unwrap_or_default();
            for ((shape, port), (_, ciphertext)) in shapes.iter_mut().zip(ports).zip(files) {
                // The program names integers there.
                if port.ty().is_some() && holds_bits(ciphertext, port.bits.len()) {
                    shape.pop();
                }
            }
            public.iter().for_each(|(at, plain)| shapes.insert(*at, plain.shape.clone().unwrap_or_default()));
        }
        shapes
    }

    /// Short description for messages.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Program { name, .. } | Self::Convert { name, .. } => name.clone(),
        }
    }

    /// Names of the outputs.
    pub(super) fn output_names(&self) -> Vec<String> {
        match self {
            Self::Program { program, .. } => program.outputs.iter().map(|output| output.name.clone()).collect(),
            Self::Convert { .. } => vec!["result".to_owned()],
        }
    }

    /// Checks that each file has the type of its input, and that all arrays have the same shape.
    pub(super) fn check_types(&self, files: &[Loaded]) -> Result<()> {
        let Self::Program { program, public, .. } = self else { return Ok(()) };
        let wanted: Vec<(&str, Option<Type>, usize)> = if let Some(netlist) = program.circuit() {
            netlist.inputs().iter().map(|port| (port.name.as_str(), None, port.bits.len())).collect()
        } else {
            let encrypted = program.inputs.iter().enumerate().filter(|(at, _)| public.iter().all(|(p, _)| p != at));
            encrypted.map(|(_, i)| (i.name.as_str(), Some(i.ty), i.ty.width())).collect()
        };
        if files.iter().zip(&wanted).any(|((_, ct), (_, ty, width))| ty.is_none() && holds_bits(ct, *width)) {
            // The server checks operations that work bit by bit.
            return Ok(());
        }
        for ((file, ct), (name, ty, width)) in files.iter().zip(wanted) {
            if ct.ty().width() != width || ty.is_some_and(|ty| ty != ct.ty()) {
                let wanted = ty.map_or_else(|| counted(width, "bit"), |ty| ty.to_string());
                let what =
                    format!("{} is {}, but input '{name}' of {} is {wanted}", file.display(), ct.ty(), self.label());
                let help = match ty {
                    None if width > usize::from(program::MAX_WIDTH) => format!("encrypt it with --bits {width}"),
                    None if width > 1 => format!("encrypt it with a type of {width} bits, or with --bits {width}"),
                    _ => "encrypt it with that type, or convert it with an operation such as to_u8".to_owned(),
                };
                return Err(input(what, help));
            }
        }
        // Operations on single elements broadcast. Others have rules of their own, which the server knows.
        if !is_elementwise(program) {
            return Ok(());
        }
        let lists = public.iter().map(|(_, plain)| ("the list".to_owned(), plain.shape.clone()));
        let files = files.iter().map(|(file, ct)| (file.display().to_string(), ct.shape().map(<[usize]>::to_vec)));
        check_shapes(files.chain(lists))
    }
}

/// Whether a program computes element by element.
fn is_elementwise(program: &Program) -> bool {
    program.is_of_scalars() || program.circuit().is_some()
}

/// Whether the last dimension of an array holds the bits of a port of that width.
fn holds_bits(ciphertext: &Ciphertext, width: usize) -> bool {
    ciphertext.ty() == Type::Bool && width > 1 && ciphertext.shape().and_then(<[usize]>::last) == Some(&width)
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

/// Puts the public values among the inputs of a circuit into it. Returns the files of the other inputs. Another program stays as it is.
fn bind(name: &str, program: Program, inputs: &[PathBuf]) -> Result<(Program, Vec<PathBuf>)> {
    let Some(netlist) = program.circuit() else { return Ok((program, inputs.to_vec())) };
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
        return Err(usage(format!("every input of {name} is a public value"), help));
    }
    if files.len() == values.len() {
        return Ok((program, files));
    }
    let optimize = matches!(program.functions[..], [program::Function::Circuit { optimize: true, .. }]);
    let bound = netlist.bind(&values).and_then(|netlist| Program::of_circuit(netlist, optimize));
    Ok((bound.map_err(Error::circuit(name))?, files))
}

/// Checks that arrays broadcast to one shape.
fn check_shapes(arrays: impl Iterator<Item = (String, Option<Vec<usize>>)>) -> Result<()> {
    let mut all: Option<(String, Vec<usize>, Shape)> = None;
    for (name, sizes) in arrays.filter_map(|(name, sizes)| Some((name, sizes?))) {
        let shape = Shape::new(sizes.iter().copied()).map_err(Error::circuit(&name))?;
        let Some((first, own, common)) = &mut all else {
            all = Some((name, sizes, shape));
            continue;
        };
        match common.broadcast(&shape).map_err(Error::circuit(&name))? {
            Some(shape) => *common = shape,
            None => {
                let holds = |sizes: &[usize]| counted(sizes.iter().product::<usize>(), "value");
                let what = format!("{first} has {}, but {name} has {}", holds(own), holds(&sizes));
                return Err(input(what, "give arrays of the same shape"));
            }
        }
    }
    Ok(())
}

/// Name, type and shape of an input.
fn described(input: &program::Input) -> String {
    match &input.shape {
        Some(shape) if !shape.is_empty() => format!("{} ({}{shape})", input.name, input.ty),
        _ => format!("{} ({})", input.name, input.ty),
    }
}

/// Name and width of a port.
fn described_port(port: &Port) -> String {
    format!("{} ({})", port.name, counted(port.bits.len(), "bit"))
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
