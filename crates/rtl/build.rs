//! Makes the sources of the designs part of the crate.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=rtl");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("rtl");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut code = String::from("[\n");
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file);
        let _ = writeln!(code, "    ({:?}, include_str!({file:?})),", name.to_string_lossy().replace('\\', "/"));
    }
    code.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR").unwrap_or_default()).join("sources.rs"), code)
}

/// Collects the sources and the lists of files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Benches and proofs are no part of a design.
        if ["bench", "formal"].iter().any(|name| path.ends_with(name)) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "sv" || extension == "f") {
            files.push(path);
        }
    }
    Ok(())
}
