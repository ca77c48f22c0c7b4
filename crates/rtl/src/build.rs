//! Builds models: Verilator makes C++ of a design, the compiler makes a library of that and of a wrapper.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io, thread};

use crate::tools::{Tools, cache};
use crate::{Design, Error};

/// The wrapper's part that is the same for all designs.
const WRAPPER: &str = include_str!("wrapper.cpp");

/// A step of a build, for progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Verilator makes C++ of the design.
    Translate,
    /// The compiler makes a library of it.
    Compile,
}

impl Step {
    /// Name of the step.
    pub fn name(self) -> &'static str {
        match self {
            Self::Translate => "translation",
            Self::Compile => "compilation",
        }
    }
}

/// Returns the library of a design and its key. Builds it unless it is in the cache. A build that ends early leaves no
/// library.
pub(crate) fn library(design: &Design, progress: &mut dyn FnMut(Step)) -> Result<(PathBuf, String), Error> {
    let tools = Tools::find()?;
    let folder = cache();
    let key = key(design, &tools);
    let name = format!("{}-{key}", design.top());
    let path = folder.join(format!("{name}.so"));
    if path.exists() {
        return Ok((path, key));
    }
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| Error::File { path, source }
    };
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    // A second build of the same model waits for this one and finds the library.
    let lock = folder.join(format!("{name}.lock"));
    let held = fs::File::create(&lock).and_then(|file| file.lock().map(|()| file)).map_err(at(&lock))?;
    if path.exists() {
        return Ok((path, key));
    }
    let prefix = format!("{name}.build-");
    remove_leftovers(&folder, &prefix);
    let work = tempfile::Builder::new().prefix(&prefix).tempdir_in(&folder).map_err(at(&folder))?;
    for (name, text) in design.sources() {
        let file = work.path().join(name);
        let folder = file.parent().unwrap_or(work.path());
        fs::create_dir_all(folder).and_then(|()| fs::write(&file, text)).map_err(at(&file))?;
    }

    progress(Step::Translate);
    let mut verilator = tools.command("perl");
    verilator.arg(tools.root.join("bin/verilator")).args(VERILATOR).args([
        "--top-module",
        design.top(),
        "--prefix",
        "Vtop",
    ]);
    verilator.args(design.parameters().iter().map(|(name, value)| format!("-G{name}={value}")));
    verilator.args(design.is_traced().then_some("--trace")).args(design.sources().iter().map(|(name, _)| name));
    run(design, Step::Translate, verilator.current_dir(work.path()))?;

    progress(Step::Compile);
    let header = work.path().join("obj/Vtop.h");
    let ports = ports(&fs::read_to_string(&header).map_err(at(&header))?);
    let wrapper = work.path().join("wrapper.cpp");
    let traced = if design.is_traced() { "#define TRACE 1\n" } else { "" };
    let clocked = if ports.contains("\"clk_i\"") { "#define CLOCK 1\n" } else { "" };
    let keyed = format!("#define KEY \"{key}\"\n");
    fs::write(&wrapper, format!("{traced}{clocked}{keyed}{WRAPPER}").replace("/* PORTS */", &ports))
        .map_err(at(&wrapper))?;
    make(design, &tools, work.path(), "Vtop__ALL.a")?;
    // What all models share is kept, because it takes longer to compile than a small model.
    let runtime = folder.join(format!("runtime-{}.a", runtime_key(&tools, design.is_traced())));
    if !runtime.exists() {
        make(design, &tools, work.path(), "libverilated.a")?;
        fs::rename(work.path().join("obj/libverilated.a"), &runtime).map_err(at(&runtime))?;
    }
    let library = work.path().join("model.so");
    let include = tools.root.join("include");
    let mut link = tools.command("g++");
    link.args(LINK).arg("-I").arg(&include);
    link.arg("-I").arg(include.join("vltstd")).arg("-o").arg(&library);
    link.args(["wrapper.cpp", "obj/Vtop__ALL.a"]).arg(&runtime).arg("-lpthread");
    run(design, Step::Compile, link.current_dir(work.path()))?;
    fs::rename(&library, &path).map_err(at(&path))?;
    // Others may wait for the lock, which they then find released; the file itself is not needed.
    let _ = fs::remove_file(&lock);
    drop(held);
    Ok((path, key))
}

/// Options of Verilator. All warnings are errors.
const VERILATOR: [&str; 7] = ["--cc", "-O3", "-Wall", "--Mdir", "obj", "-CFLAGS", "-fPIC -march=native"];

/// Options of make. Verilator's package for Python leaves the option of precompiled headers empty.
const MAKE: [&str; 9] = [
    "-s",
    "-C",
    "obj",
    "-f",
    "Vtop.mk",
    "CFG_CXXFLAGS_PCH_I=-include",
    "OPT_FAST=-O2",
    "OPT_SLOW=-O0",
    "OPT_GLOBAL=-O2",
];

/// Options of the compiler for the wrapper.
const LINK: [&str; 6] = ["-O2", "-march=native", "-fPIC", "-shared", "-std=c++20", "-Iobj"];

/// Removes the folders of builds of a model that were killed. The caller holds the lock, so none is in use.
fn remove_leftovers(folder: &Path, prefix: &str) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)) {
        // One that cannot be removed takes space and does no other harm.
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Makes a file of the translated model.
fn make(design: &Design, tools: &Tools, work: &Path, target: &str) -> Result<(), Error> {
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut make = tools.command("make");
    run(design, Step::Compile, make.args(MAKE).arg(format!("-j{jobs}")).arg(target).current_dir(work))
}

/// What the library of Verilator itself depends on.
fn runtime_key(tools: &Tools, traced: bool) -> String {
    let options = [&VERILATOR[..], &MAKE].concat().join(" ");
    hash(&[&tools.version, &tools.compiler, &options, if traced { "trace" } else { "" }, &processor()])
}

/// The instructions of this processor, which the compiler uses.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines().find(|line| line.starts_with("flags")).unwrap_or_default().into()
}

fn hash(fields: &[&str]) -> String {
    let mut hash = blake3::Hasher::new();
    for text in fields {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().to_hex()[..24].into()
}

/// What a library depends on: the sources, the parameters, the tools and the processor.
fn key(design: &Design, tools: &Tools) -> String {
    let mut fields: Vec<&str> = design.sources().iter().flat_map(|(name, text)| [name.as_str(), text]).collect();
    let parameters: Vec<String> = design.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
    fields.extend(parameters.iter().map(String::as_str));
    let options = [&VERILATOR[..], &MAKE, &LINK].concat().join(" ");
    let (traced, processor) = (if design.is_traced() { "trace" } else { "" }, processor());
    fields.extend([&tools.version, &tools.compiler, &options, WRAPPER, traced, &processor]);
    hash(&fields)
}

/// The wrapper's table of ports, from the declarations `VL_IN8(&name,msb,lsb);` and the like of Verilator's header.
fn ports(header: &str) -> String {
    let mut table = String::new();
    for line in header.lines().map(str::trim) {
        let input = line.starts_with("VL_IN");
        if !input && !line.starts_with("VL_OUT") {
            continue;
        }
        let fields: Vec<&str> = line.split(['(', ',', ')']).collect();
        let [_, name, msb, lsb, ..] = fields[..] else { continue };
        let bits = msb.parse::<u32>().unwrap_or(0) + 1 - lsb.parse::<u32>().unwrap_or(0);
        let name = name.trim_start_matches('&');
        let _ = writeln!(table, "    {{\"{name}\", &top.{name}, {bits}, {}}},", u8::from(input));
    }
    table
}

/// Runs a command. Its last lines of output become the error.
fn run(design: &Design, step: Step, command: &mut Command) -> Result<(), Error> {
    let failed = |output: String| Error::Build { step: step.name(), top: design.top().into(), output };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().take(40).collect();
    Err(failed(lines.join("\n")))
}
