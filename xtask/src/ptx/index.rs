//! The index of the compiled kernels, `crates/gpu/ptx/index.json`.

use super::text::{self, Kernel};
use super::{OPTIONS, REQUIREMENTS};
use crate::Outcome;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Folder of the compiled kernels.
pub(super) const FOLDER: &str = "crates/gpu/ptx";

/// The compiled files, the compiler with its options, and the needs of each kernel.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    compiler: String,
    options: Vec<String>,
    files: BTreeMap<String, File>,
}

/// One compiled file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct File {
    source: String,
    /// SHA-256 of the source followed by the headers that it includes, in the order of their names.
    sha256: String,
    kernels: Vec<Kernel>,
}

/// Name and version of the compiler's package.
pub(super) fn compiler(requirements: &str) -> String {
    let lines = requirements.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).next().unwrap_or_default().to_owned()
}

/// The sources below `cuda`: the name of the compiled file, and the path. The name of `a/b.cu` is `a_b`.
pub(super) fn sources(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    collect(&root.join("cuda"), "", &mut found).map_err(|e| format!("cannot read cuda/: {e}"))?;
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found)?;
        } else if let Some(stem) = path.strip_suffix(".cu") {
            found.insert(stem.replace('/', "_"), path);
        }
    }
    Ok(())
}

/// Names of the compiled files that are there.
pub(super) fn committed(root: &Path) -> Result<BTreeSet<String>, String> {
    let folder = root.join(FOLDER);
    if !folder.exists() {
        return Ok(BTreeSet::new());
    }
    let entries = fs::read_dir(&folder).map_err(|e| format!("cannot read {FOLDER}: {e}"))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.strip_suffix(".ptx").map(str::to_owned)).collect())
}

impl Index {
    /// The names of the kernels and the bytes of their spills, where `ptxas` has counted them.
    #[cfg(test)]
    pub(super) fn spills(&self) -> impl Iterator<Item = (&str, u32)> {
        let kernels = self.files.values().flat_map(|file| &file.kernels);
        kernels.filter_map(|kernel| Some((kernel.name.as_str(), kernel.spills?)))
    }

    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(FOLDER).join("index.json");
        let text = fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    pub(super) fn write(&self, root: &Path) -> Outcome {
        let path = root.join(FOLDER).join("index.json");
        let text = serde_json::to_string_pretty(self).map_err(|e| format!("index: {e}"))?;
        fs::write(&path, text + "\n").map_err(|e| format!("cannot write {}: {e}", path.display()))
    }

    /// The index of the files `made` (name to PTX) from `sources` (name to path). Registers come from `ptxas`, or from
    /// `old` for a file of the same source.
    pub(super) fn new(
        root: &Path,
        made: &BTreeMap<String, String>,
        sources: &BTreeMap<String, String>,
        old: &Self,
        ptxas: Option<&Path>,
    ) -> Result<Self, String> {
        let requirements = fs::read_to_string(root.join(REQUIREMENTS)).map_err(|e| format!("{REQUIREMENTS}: {e}"))?;
        let compiler = compiler(&requirements);
        let mut files = BTreeMap::new();
        for (name, source) in sources {
            let program = made.get(name).ok_or_else(|| format!("{FOLDER}/{name}.ptx is missing"))?;
            let sha256 = hash(&root.join("cuda"), source)?;
            let mut kernels = text::kernels(program);
            match (ptxas, old.files.get(name)) {
                (Some(ptxas), _) => assemble(ptxas, program, &mut kernels)?,
                (None, Some(old)) if old.sha256 == sha256 => keep(&old.kernels, &mut kernels),
                (None, _) => {}
            }
            files.insert(name.clone(), File { source: source.clone(), sha256, kernels });
        }
        Ok(Self { compiler, options: OPTIONS.map(str::to_owned).into(), files })
    }
}

/// SHA-256 of a source below `folder` and of the headers that it includes, directly or not.
fn hash(folder: &Path, source: &str) -> Result<String, String> {
    let mut headers = BTreeSet::new();
    let mut hasher = Sha256::new();
    hasher.update(read(folder, source, &mut headers)?);
    let mut next = headers.clone();
    while let Some(header) = next.pop_first() {
        let mut more = BTreeSet::new();
        read(folder, &header, &mut more)?;
        next.extend(more.into_iter().filter(|header| headers.insert(header.clone())));
    }
    for header in &headers {
        hasher.update(read(folder, header, &mut BTreeSet::new())?);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Reads a file below `folder` and adds the names that it includes to `headers`.
fn read(folder: &Path, name: &str, headers: &mut BTreeSet<String>) -> Result<String, String> {
    let text = fs::read_to_string(folder.join(name)).map_err(|e| format!("cannot read cuda/{name}: {e}"))?;
    let quoted = text.lines().filter_map(|line| line.trim().strip_prefix("#include \"")?.split('"').next());
    headers.extend(quoted.map(str::to_owned));
    Ok(text)
}

/// Copies the registers of kernels that did not change.
fn keep(old: &[Kernel], kernels: &mut [Kernel]) {
    for kernel in kernels {
        if let Some(old) = old.iter().find(|old| old.name == kernel.name) {
            (kernel.registers, kernel.spills) = (old.registers, old.spills);
        }
    }
}

/// Assembles a program and reads the registers and the spills from what `ptxas` prints.
fn assemble(ptxas: &Path, program: &str, kernels: &mut [Kernel]) -> Outcome {
    let folder = tempfile::tempdir().map_err(|e| format!("cannot make a temporary folder: {e}"))?;
    let path = folder.path().join("kernel.ptx");
    fs::write(&path, program).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    let mut command = Command::new(ptxas);
    command.args(["-arch=sm_90", "-v", "-o"]).arg(folder.path().join("kernel.cubin")).arg(&path);
    let output = command.output().map_err(|e| format!("cannot run {}: {e}", ptxas.display()))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("ptxas: {log}"));
    }
    for kernel in kernels {
        let named = format!("'{}'", kernel.name);
        let Some(part) = log.split("Compiling entry function ").find(|part| part.starts_with(&named)) else {
            return Err(format!("ptxas says nothing of {}", kernel.name));
        };
        kernel.registers = number_before(part, " registers");
        kernel.spills = number_before(part, " bytes spill stores");
    }
    Ok(())
}

/// The number that stands before `words`.
fn number_before(text: &str, words: &str) -> Option<u32> {
    text.split(words).next()?.split(' ').next_back()?.parse().ok()
}
