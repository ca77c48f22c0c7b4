//! Checks the direction of dependencies:
//!
//! ```text
//! field <- {bigint, ring} <- schemes <- formats <- values <- {engine, client, web}    schemes <- {gpu, rtl} <- engine <- {paper, solinas}
//! {engine, client} <- server <- {cli, python, fuzz}    ptx <- gpu <- gpu-lab    circuits <- values    schemes <- rsa <- {rtl, solinas, cli, fuzz}
//! ```
//!
//! A crate may use crates below it, but none beside or above it. `circuits` and `ptx` use no other crate. Dependencies of
//! tests and benchmarks are exempt.

use std::path::Path;

use serde_json::Value;

use crate::{Outcome, cargo};

/// Layers from the bottom.
const LAYERS: [&[&str]; 10] = [
    &["field"],
    &["bigint", "ring"],
    &["schemes", "ptx"],
    &["rsa"],
    &["formats", "gpu", "rtl", "circuits"],
    &["values", "gpu-lab"],
    &["engine", "client", "web"],
    &["paper", "solinas"],
    &["server"],
    &["cli", "python", "fuzz"],
];

/// Crates that use no other crate of ours.
const ALONE: [&str; 2] = ["circuits", "ptx"];

const PREFIX: &str = "solinas-";

pub(crate) fn check(root: &Path) -> Outcome {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let edges = edges(&metadata);
    let faults: Vec<String> = edges.iter().filter_map(|(from, to)| fault(from, to)).collect();
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    println!("deps: {} edges between the crates, all downwards", edges.len());
    Ok(())
}

/// Pairs of a crate and one of our crates on which its build depends. Names omit the prefix `solinas-`.
fn edges(metadata: &Value) -> Vec<(String, String)> {
    let list = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let mut edges = Vec::new();
    for package in list(metadata, "packages") {
        for dependency in list(&package, "dependencies") {
            // The kind is "dev" for tests, "build" for build scripts, and null for ordinary dependencies.
            let ours = dependency["path"].is_string() && dependency["kind"] != "dev";
            if ours {
                edges.push((short(&name(&package)), short(&name(&dependency))));
            }
        }
    }
    edges
}

fn short(name: &str) -> String {
    name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

/// The error if `from` must not depend on `to`; `None` if it may.
fn fault(from: &str, to: &str) -> Option<String> {
    let missing = [from, to].into_iter().find(|name| layer(name).is_none());
    if let Some(name) = missing {
        return Some(format!("{from} -> {to}: {name} has no layer yet; give it one in xtask/src/deps.rs"));
    }
    if ALONE.contains(&from) {
        return Some(format!(
            "{from} -> {to}: {from} uses no other crate; move the code that needs both to a crate above"
        ));
    }
    (layer(from) <= layer(to))
        .then(|| format!("{from} -> {to}: a crate may only use crates below it; move the code (see xtask/src/deps.rs)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directions_of_the_design_hold() {
        for (from, to) in [
            ("bigint", "field"),
            ("schemes", "field"),
            ("formats", "schemes"),
            ("values", "circuits"),
            ("engine", "values"),
            ("engine", "gpu"),
            ("client", "values"),
            ("gpu", "field"),
            ("gpu", "bigint"),
            ("gpu", "ring"),
            ("gpu", "schemes"),
            ("gpu", "ptx"),
            ("values", "formats"),
            ("server", "engine"),
            ("cli", "paper"),
            ("python", "engine"),
            ("rtl", "rsa"),
        ] {
            assert_eq!(fault(from, to), None);
        }
        for (from, to) in [
            ("field", "ring"),
            ("bigint", "ring"),
            ("schemes", "formats"),
            ("schemes", "circuits"),
            ("circuits", "field"),
            ("formats", "circuits"),
            ("gpu", "formats"),
            ("engine", "cli"),
            ("gpu", "values"),
            ("values", "engine"),
            ("client", "engine"),
            ("web", "engine"),
            ("ptx", "field"),
            ("schemes", "gpu"),
            ("schemes", "ptx"),
            ("schemes", "rsa"),
            ("cli", "python"),
            ("cli", "unheard-of"),
            ("xtask", "field"),
        ] {
            assert!(fault(from, to).is_some_and(|message| message.starts_with(&format!("{from} -> {to}"))));
        }
    }

    #[test]
    fn only_builds_count() {
        let metadata = serde_json::json!({"packages": [{"name": "solinas-field", "dependencies": [
            {"name": "solinas-ring", "path": "/ring", "kind": "dev"},
            {"name": "solinas-cli", "path": "/cli", "kind": "build"},
            {"name": "solinas-engine", "path": "/engine", "kind": null},
            {"name": "serde", "kind": null},
        ]}]});
        let edge = |to: &str| ("field".to_owned(), to.to_owned());
        assert_eq!(edges(&metadata), [edge("cli"), edge("engine")]);
    }
}
