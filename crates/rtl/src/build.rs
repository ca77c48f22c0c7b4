//! Builds models: Verilator makes C++ of a design, the compiler makes a library of that and of a wrapper.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io, thread};

use crate::tools::{Tools, cache};
use crate::{Design, Error};

/// The wrapper's part that is the same for all designs.
const WRAPPER: &str = include_str!("wrapper.cpp");

/// A stage of a build, for progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildStage {
    /// Verilator makes C++ of the design.
    Translate,
    /// The compiler makes a library of it.
    Compile,
}

impl BuildStage {
    /// Name of the stage.
    pub fn name(self) -> &'static str {
        match self {
            Self::Translate => "translation",
            Self::Compile => "compilation",
        }
    }
}

/// Returns the library of a design and its key. Builds it unless it is in the cache and intact. A build that ends early
/// leaves no library.
pub(crate) fn library(design: &Design, progress: &mut dyn FnMut(BuildStage)) -> Result<(PathBuf, String), Error> {
    let tools = Tools::find()?;
    let folder = cache().ok_or(Error::NoCache)?;
    let key = key(design, &tools);
    let name = format!("{}-{key}", design.top());
    let path = folder.join(format!("{name}.so"));
    if is_intact(&path) {
        return Ok((path, key));
    }
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| Error::File { path, source }
    };
    if folder.to_string_lossy().contains(char::is_whitespace) {
        return Err(at(&folder)(io::Error::other("make cannot use a folder with a space in its path")));
    }
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    // A second build of the same model waits for this one and finds the library.
    let lock = folder.join(format!("{name}.lock"));
    let held = fs::File::create(&lock).and_then(|file| file.lock().map(|()| file)).map_err(at(&lock))?;
    if is_intact(&path) {
        return Ok((path, key));
    }
    remove_leftovers(&folder, &name);
    let work = tempfile::Builder::new().prefix(&format!("{name}{BUILD}")).tempdir_in(&folder).map_err(at(&folder))?;
    for (name, text) in design.sources() {
        let file = work.path().join(name);
        let folder = file.parent().unwrap_or(work.path());
        fs::create_dir_all(folder).and_then(|()| fs::write(&file, text)).map_err(at(&file))?;
    }

    progress(BuildStage::Translate);
    let mut verilator = tools.command("perl");
    verilator.arg(tools.root.join("bin/verilator")).args(VERILATOR).args([
        "--top-module",
        design.top(),
        "--prefix",
        "Vtop",
    ]);
    verilator.args(design.parameters().iter().map(|(name, value)| format!("-G{name}={value}")));
    verilator.args(design.is_traced().then_some("--trace")).args(design.sources().iter().map(|(name, _)| name));
    let header = work.path().join("obj/Vtop.h");
    run(design, BuildStage::Translate, verilator.current_dir(work.path()), &header)?;

    progress(BuildStage::Compile);
    let ports = ports(&fs::read_to_string(&header).map_err(at(&header))?);
    let wrapper = work.path().join("wrapper.cpp");
    let traced = if design.is_traced() { "#define TRACE 1\n" } else { "" };
    let clocked = if ports.contains("\"clk_i\"") { "#define CLOCK 1\n" } else { "" };
    let keyed = format!("#define KEY \"{key}\"\n");
    fs::write(&wrapper, format!("{traced}{clocked}{keyed}{WRAPPER}").replace("/* PORTS */", &ports))
        .map_err(at(&wrapper))?;
    make(design, &tools, work.path(), "Vtop__ALL.a")?;
    // The parts that all models share are kept, because they take longer to compile than a small model.
    let runtime = folder.join(format!("runtime-{}.a", runtime_key(&tools, design.is_traced())));
    if !is_intact(&runtime) {
        make(design, &tools, work.path(), "libverilated.a")?;
        keep(&work.path().join("obj/libverilated.a"), &runtime).map_err(at(&runtime))?;
    }
    let library = work.path().join("model.so");
    let include = tools.root.join("include");
    let mut link = tools.command("g++");
    link.args(LINK).arg("-I").arg(&include);
    link.arg("-I").arg(include.join("vltstd")).arg("-o").arg(&library);
    link.args(["wrapper.cpp", "obj/Vtop__ALL.a"]).arg(&runtime).arg("-lpthread");
    run(design, BuildStage::Compile, link.current_dir(work.path()), &library)?;
    keep(&library, &path).map_err(at(&path))?;
    // Other processes may wait for the lock and then find it released. The file itself is not needed.
    let _ = fs::remove_file(&lock);
    drop(held);
    Ok((path, key))
}

/// Options of Verilator. All warnings are errors.
const VERILATOR: [&str; 7] = ["--cc", "-O3", "-Wall", "--Mdir", "obj", "-CFLAGS", "-fPIC -march=native"];

/// The end of the name of a build's folder, in front of random letters.
const BUILD: &str = ".build-";

/// Options of make. Verilator's package for Python leaves the option of precompiled headers empty. The compiler is the one
/// of the library's key.
const MAKE: [&str; 10] = [
    "-s",
    "-C",
    "obj",
    "-f",
    "Vtop.mk",
    "CFG_CXXFLAGS_PCH_I=-include",
    "OPT_FAST=-O2",
    "OPT_SLOW=-O0",
    "OPT_GLOBAL=-O2",
    "CXX=g++",
];

/// Options of the compiler for the wrapper.
const LINK: [&str; 6] = ["-O2", "-march=native", "-fPIC", "-shared", "-std=c++20", "-Iobj"];

/// Removes the folders of builds that were killed. The caller holds the lock of the model `own`. The folder of another model
/// is in use if its lock is held.
fn remove_leftovers(folder: &Path, own: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some((model, _)) = name.to_str().and_then(|name| name.rsplit_once(BUILD)) else { continue };
        let lock = (model != own).then(|| fs::File::open(folder.join(format!("{model}.lock"))));
        if lock.is_none_or(|lock| lock.is_ok_and(|lock| lock.try_lock().is_ok())) {
            // A folder that cannot be removed takes space and does no other harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The file that holds the digest of a built file.
fn digest_of(path: &Path) -> PathBuf {
    path.with_extension("digest")
}

/// The digest of a file.
fn digest(path: &Path) -> io::Result<String> {
    Ok(blake3::hash(&fs::read(path)?).to_hex().to_string())
}

/// Whether a built file exists and is complete. Incomplete code must not run: it ends the process or computes wrong
/// results.
fn is_intact(path: &Path) -> bool {
    let kept = fs::read_to_string(digest_of(path));
    kept.is_ok_and(|kept| digest(path).is_ok_and(|digest| digest == kept))
}

/// Moves a built file to its place, beside its digest. The file is on the disk before it has its final name.
fn keep(built: &Path, path: &Path) -> io::Result<()> {
    fs::File::open(built)?.sync_all()?;
    let stated = digest_of(built);
    fs::write(&stated, digest(built)?)?;
    fs::rename(&stated, digest_of(path))?;
    fs::rename(built, path)
}

/// Makes a file of the translated model.
fn make(design: &Design, tools: &Tools, work: &Path, target: &str) -> Result<(), Error> {
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut make = tools.command("make");
    make.args(MAKE).args(optimization(design)).arg(format!("-j{jobs}")).arg(target).current_dir(work);
    run(design, BuildStage::Compile, &mut make, &work.join("obj").join(target))
}

/// The option of make that replaces that of [`MAKE`], if the model is for small simulations.
fn optimization(design: &Design) -> Option<&'static str> {
    design.is_light().then_some("OPT_FAST=-O1")
}

/// The key of the library of Verilator itself: a hash of everything on which it depends.
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

/// The key of a library: a hash of the sources, the parameters, the tools and the processor.
fn key(design: &Design, tools: &Tools) -> String {
    let mut fields: Vec<&str> = design.sources().iter().flat_map(|(name, text)| [name.as_str(), text]).collect();
    let parameters: Vec<String> = design.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
    fields.extend(parameters.iter().map(String::as_str));
    let options = [&VERILATOR[..], &MAKE, &LINK].concat().join(" ");
    let (traced, processor) = (if design.is_traced() { "trace" } else { "" }, processor());
    let light = optimization(design).unwrap_or_default();
    fields.extend([&tools.version, &tools.compiler, &options, light, WRAPPER, traced, &processor]);
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

/// Runs a command that makes a file. The first lines of its output become the error.
fn run(design: &Design, stage: BuildStage, command: &mut Command, made: &Path) -> Result<(), Error> {
    let failed = |output: String| Error::Build { stage: stage.name(), top: design.top().into(), output };
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| failed(format!("{program} cannot be started: {error}")))?;
    if output.status.success() && made.exists() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let (lines, name) = (text.lines().take(40), made.file_name().unwrap_or_default().to_string_lossy());
    let end = format!("{program} ended with {} and made no {name}", output.status);
    Err(failed(lines.chain([end.as_str()]).collect::<Vec<_>>().join("\n")))
}
