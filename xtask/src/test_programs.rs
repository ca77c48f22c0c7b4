//! Checks that each crate has one test program, and that every file of tests is in it. A program of its own for each file takes minutes to compile, and a file
//! that no program names would never run.

use std::fs;
use std::path::Path;

use crate::Outcome;

/// The test program of a crate, beside programs whose entries in `Cargo.toml` say why they are apart.
const MAIN: &str = "main";

pub(crate) fn check(root: &Path) -> Outcome {
    let crates = fs::read_dir(root.join("crates")).map_err(|e| format!("cannot list crates: {e}"))?;
    let mut crates: Vec<_> = crates.filter_map(|entry| Some(entry.ok()?.path())).collect();
    crates.sort();
    let mut faults = Vec::new();
    for folder in crates {
        let tests = names(&folder.join("tests"));
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let main = fs::read_to_string(folder.join("tests/main.rs")).unwrap_or_default();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        faults.extend(faults_of(&tests, &manifest, &main).into_iter().map(|fault| format!("crates/{name}: {fault}")));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// The modules of a folder of tests, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let of_file = |path: &Path| {
        let is_module = path.extension().is_some_and(|e| e == "rs") || path.join("mod.rs").exists();
        (is_module || path.join("main.rs").exists())
            .then(|| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
    };
    let mut names: Vec<_> = entries.filter_map(|path| of_file(&path)).collect();
    names.sort();
    names
}

fn faults_of(tests: &[String], manifest: &str, main: &str) -> Vec<String> {
    if tests.len() > 1 && !tests.iter().any(|name| name == MAIN) {
        return vec![format!("{} are programs of their own; make them modules of tests/main.rs", tests.join(", "))];
    }
    let is_known = |name: &String| {
        name == MAIN
            || tests.len() == 1
            || main.lines().any(|line| line.trim() == format!("mod {name};"))
            || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"))
    };
    let unknown = tests.iter().filter(|name| !is_known(name));
    unknown.map(|name| format!("no test program has tests/{name}: add `mod {name};` to tests/main.rs")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(tests: &[&str], manifest: &str, main: &str) -> usize {
        let tests: Vec<String> = tests.iter().map(|&name| name.into()).collect();
        faults_of(&tests, manifest, main).len()
    }

    #[test]
    fn every_file_of_tests_is_in_a_program() {
        let stack = "[[test]]\nname = \"stack\"\n";
        assert_eq!(faults(&[], "", ""), 0);
        assert_eq!(faults(&["api"], "", ""), 0);
        assert_eq!(faults(&["fft", "ntt"], "", ""), 1);
        assert_eq!(faults(&["fft", "main", "ntt", "stack"], stack, "mod fft;\nmod ntt;\n"), 0);
        assert_eq!(faults(&["fft", "main", "ntt", "stack"], "", "mod fft;\n"), 2);
    }
}
