//! Compiles the CUDA kernels of `cuda/` to the PTX of `crates/gpu/ptx`, which is committed.
//!
//! A build of the workspace needs no CUDA: it embeds the committed files. `crates/gpu/ptx/index.json` names the sources of
//! each file by their hash, so that a test finds a file that is older than its source.

mod index;
mod text;

use crate::Outcome;
use index::{FOLDER, Index};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler's version and hash, as `pip` reads them.
const REQUIREMENTS: &str = "cuda/requirements.txt";
/// Options of the compiler. No multiplication and addition become one operation, unless the source says so.
const OPTIONS: [&str; 3] = ["--gpu-architecture=compute_90", "-std=c++17", "--fmad=false"];

/// Compiles every `cuda/**/*.cu` and writes `crates/gpu/ptx`.
///
/// With `check`, it compares the new files with the existing ones, byte for byte. If the compiler cannot be installed,
/// the check prints a line and passes.
///
/// `ptxas` is the path of NVIDIA's assembler. It counts registers and spills for the index. Without it, the index
/// keeps the counts of files that did not change.
pub(crate) fn run(root: &Path, check: bool, ptxas: Option<&Path>) -> Outcome {
    let library = match install(root) {
        Ok(library) => library,
        Err(NoCompiler::Unreachable(why)) if check => {
            println!("ptx: not compared, since the compiler cannot be installed: {why}");
            return Ok(());
        }
        Err(NoCompiler::Unreachable(why) | NoCompiler::Fault(why)) => return Err(why),
    };
    let sources = index::sources(root)?;
    let made = compile(root, &library, &sources)?;
    for (name, program) in &made {
        text::lint(program).map_err(|fault| format!("{name}: {fault}"))?;
    }
    let old = Index::read(root).unwrap_or_default();
    let index = Index::new(root, &made, &sources, &old, ptxas)?;
    if check { compare(root, &made, &index) } else { write(root, &made, &index) }
}

/// The reason why there is no compiler.
enum NoCompiler {
    /// The package registry does not answer, or has no compiler for this machine.
    Unreachable(String),
    Fault(String),
}

/// Installs the compiler's wheel in `target/nvrtc`, unless it is there. Returns the path of its library.
fn install(root: &Path) -> Result<PathBuf, NoCompiler> {
    let requirements = fs::read_to_string(root.join(REQUIREMENTS))
        .map_err(|e| NoCompiler::Fault(format!("cannot read {REQUIREMENTS}: {e}")))?;
    let folder = root.join("target/nvrtc").join(index::compiler(&requirements).replace("==", "-"));
    let library = folder.join("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    if library.exists() {
        return Ok(library);
    }
    println!("pip install --requirement {REQUIREMENTS} --target {}", folder.display());
    let mut pip = Command::new(python(root));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--require-hashes", "--upgrade", "--requirement"]).arg(root.join(REQUIREMENTS)).arg("--target");
    let output = pip.arg(&folder).output().map_err(|e| NoCompiler::Unreachable(format!("cannot run pip: {e}")))?;
    if output.status.success() && library.exists() {
        return Ok(library);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("DO NOT MATCH THE HASHES") {
        return Err(NoCompiler::Fault(format!("the wheel is not the one of {REQUIREMENTS}:\n{errors}")));
    }
    Err(NoCompiler::Unreachable(errors.lines().last().unwrap_or("pip installed no library").to_owned()))
}

/// The interpreter of `make python` if it is there, else the one on the path.
fn python(root: &Path) -> PathBuf {
    let ours = root.join(".venv/bin/python");
    if ours.exists() { ours } else { "python3".into() }
}

/// Compiles `sources` (name to path below `cuda`). Returns the PTX of each.
fn compile(
    root: &Path,
    library: &Path,
    sources: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let out = tempfile::tempdir().map_err(|e| format!("cannot make a temporary folder: {e}"))?;
    let mut command = Command::new(python(root));
    command.args(["-c", include_str!("nvrtc.py")]).arg(library).arg(root.join("cuda")).arg(out.path());
    command.args(OPTIONS).arg("--").args(sources.iter().map(|(name, source)| format!("{source}={name}")));
    // The library loads a second one from its own folder.
    command.env("LD_LIBRARY_PATH", library.parent().unwrap_or(root));
    let status = command.status().map_err(|e| format!("cannot run Python: {e}"))?;
    if !status.success() {
        return Err("a kernel does not compile; the compiler's messages are above".into());
    }
    let read = |name: &String| {
        let program = fs::read_to_string(out.path().join(format!("{name}.ptx")));
        program.map(|program| (name.clone(), program)).map_err(|e| format!("{name}.ptx: {e}"))
    };
    sources.keys().map(read).collect()
}

/// Compares the files of `crates/gpu/ptx` with what was made now.
fn compare(root: &Path, made: &BTreeMap<String, String>, index: &Index) -> Outcome {
    let mut faults = Vec::new();
    for (name, program) in made {
        if fs::read_to_string(root.join(FOLDER).join(format!("{name}.ptx"))).ok().as_ref() != Some(program) {
            faults.push(format!("{FOLDER}/{name}.ptx is not what its source compiles to"));
        }
    }
    faults.extend(index::committed(root)?.into_iter().filter(|name| !made.contains_key(name)).map(unknown));
    if Index::read(root).ok().as_ref() != Some(index) {
        faults.push(format!("{FOLDER}/index.json is out of date"));
    }
    if faults.is_empty() {
        println!("ptx: {} files, all as compiled now", made.len());
        return Ok(());
    }
    faults.push("run `cargo xtask ptx` and commit the result".into());
    Err(faults.join("\n"))
}

fn unknown(name: String) -> String {
    format!("{FOLDER}/{name}.ptx has no source in cuda/")
}

/// Writes the files and the index. Removes files that have no source any more.
fn write(root: &Path, made: &BTreeMap<String, String>, index: &Index) -> Outcome {
    let folder = root.join(FOLDER);
    let error = |path: &Path| {
        let path = path.display().to_string();
        move |e: std::io::Error| format!("cannot write {path}: {e}")
    };
    fs::create_dir_all(&folder).map_err(error(&folder))?;
    for name in index::committed(root)?.iter().filter(|name| !made.contains_key(*name)) {
        let stale = folder.join(format!("{name}.ptx"));
        fs::remove_file(&stale).map_err(error(&stale))?;
    }
    for (name, program) in made {
        let path = folder.join(format!("{name}.ptx"));
        fs::write(&path, program).map_err(error(&path))?;
    }
    index.write(root)?;
    println!("ptx: wrote {} files to {FOLDER}", made.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn every_committed_file_passes_the_lints() {
        for name in index::committed(&root()).unwrap() {
            let program = fs::read_to_string(root().join(FOLDER).join(format!("{name}.ptx"))).unwrap();
            assert_eq!(text::lint(&program), Ok(()), "{name}");
        }
    }

    /// This finds a stale file without the compiler.
    #[test]
    fn the_index_is_that_of_the_sources_and_the_files() {
        let (root, sources) = (root(), index::sources(&root()).unwrap());
        let names = index::committed(&root).unwrap();
        assert!(names.iter().eq(sources.keys()), "cuda/**/*.cu and {FOLDER}/*.ptx differ; run `cargo xtask ptx`");
        let read = |name: &String| fs::read_to_string(root.join(FOLDER).join(format!("{name}.ptx"))).unwrap();
        let made = names.iter().map(|name| (name.clone(), read(name))).collect();
        let committed = Index::read(&root).unwrap();
        let now = Index::new(&root, &made, &sources, &committed, None).unwrap();
        assert!(committed == now, "{FOLDER}/index.json is out of date; run `cargo xtask ptx`");
    }

    #[test]
    fn no_kernel_spills_more_than_two_registers() {
        for (name, bytes) in Index::read(&root()).unwrap().spills() {
            assert!(bytes <= 8, "{name} spills {bytes} bytes; it needs fewer live values, or fewer threads a block");
        }
    }
}
