//! Counts the crates that a build of each face compiles, so that a new dependency is a decision and not an accident.

use crate::{Outcome, cargo};
use std::collections::BTreeSet;

const LINUX: &str = "x86_64-unknown-linux-gnu";
const BROWSER: &str = "wasm32-unknown-unknown";

/// A face may exceed its count in the table by this much.
const SLACK: usize = 3;

/// What users build.
struct Face {
    package: &'static str,
    /// Without default features; or with them.
    bare: bool,
    target: &'static str,
    /// Crates to compile, its own included: ordinary dependencies and those of build scripts.
    crates: usize,
    /// Crates that it must not compile.
    never: &'static [&'static str],
}

const FACES: [Face; 7] = [
    face("solinas", true, 68, &["solinas-gpu", "solinas-ring", "solinas-rtl"]),
    face("solinas", false, 74, &[]),
    face("solinas-client", false, 85, &["solinas-engine", "solinas-gpu", "solinas-rtl"]),
    Face { target: BROWSER, ..face("solinas-web", false, 63, &["solinas-engine", "sysinfo", "tempfile"]) },
    face("solinas-server", false, 203, &["solinas-gpu", "solinas-rtl"]),
    // The command of `make demo`.
    face("solinas-cli", true, 105, OTHERS),
    face("solinas-cli", false, 279, &[]),
];

/// What a build with TFHE alone needs nothing of.
const OTHERS: &[&str] = &["solinas-bigint", "solinas-gpu", "solinas-ring", "solinas-rsa", "solinas-rtl"];

const fn face(package: &'static str, bare: bool, crates: usize, never: &'static [&'static str]) -> Face {
    Face { package, bare, target: LINUX, crates, never }
}

/// Prints the counts, and checks them against the table.
pub(crate) fn check() -> Outcome {
    let mut faults = Vec::new();
    for face in &FACES {
        let name = format!("{}{}", face.package, if face.bare { ", no default features" } else { "" });
        let crates = crates(face)?;
        println!("{name}, {}: {} crates (table: {})", face.target, crates.len(), face.crates);
        faults.extend(fault(face, &crates).map(|fault| format!("{name}: {fault}")));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// The crates that a build of a face compiles, as `name version`.
fn crates(face: &Face) -> Result<BTreeSet<String>, String> {
    let mut tree = cargo(&["tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    tree.args(["--package", face.package, "--target", face.target]);
    if face.bare {
        tree.arg("--no-default-features");
    }
    let output = tree.output().map_err(|e| format!("cannot run cargo tree: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    // A line such as `serde_derive v1.0.229 (proc-macro) (*)`.
    let line = |line: &str| Some(line.split(' ').take(2).collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty());
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(line).collect())
}

fn fault(face: &Face, crates: &BTreeSet<String>) -> Option<String> {
    let name = |entry: &str| entry.split(' ').next().unwrap_or_default().to_owned();
    let unwanted = crates.iter().map(|entry| name(entry)).find(|name| face.never.contains(&name.as_str()));
    if let Some(unwanted) = unwanted {
        return Some(format!("it compiles {unwanted}; make that dependency optional (see xtask/src/faces.rs)"));
    }
    (crates.len() > face.crates + SLACK).then(|| {
        format!(
            "{} crates in place of {}; drop a dependency, make it optional, or raise the count in xtask/src/faces.rs",
            crates.len(),
            face.crates
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_may_grow_a_little_and_has_no_unwanted_crate() {
        let limited = face("x", false, 1, &["bad"]);
        let crates = |names: &[&str]| names.iter().map(|name| format!("{name} v1.0.0")).collect::<BTreeSet<_>>();
        assert_eq!(fault(&limited, &crates(&["a", "b", "c", "d"])), None);
        assert!(fault(&limited, &crates(&["a", "b", "c", "d", "e"])).unwrap().contains("5 crates in place of 1"));
        assert!(fault(&limited, &crates(&["bad"])).unwrap().contains("compiles bad"));
    }
}
