//! Checks the licences of all packages that a build of ours contains against the list in `deny.toml`, which `cargo deny` reads too.
//! Packages of tests alone are exempt.

use crate::{Outcome, cargo};
use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
struct Deny {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: BTreeSet<String>,
}

pub(crate) fn check(root: &Path) -> Outcome {
    let file = root.join("deny.toml");
    let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let deny: Deny = toml::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let metadata = cargo(&["metadata", "--locked", "--all-features", "--format-version", "1"]);
    let output = { metadata }.current_dir(root).output().map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let built = built(&metadata);
    let packages = list(&metadata, "packages");
    let built = packages.iter().filter(|package| built.contains(text_of(package, "id")));
    let faults: Vec<String> = built.clone().filter_map(|package| fault(package, &deny.licenses)).collect();
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    println!("licences: {} packages, all permissive", built.count());
    Ok(())
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn text_of<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Identities of the packages that are compiled without tests, on any platform.
fn built(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<_, _> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (text_of(node, "id"), node)).collect();
    let mut open: Vec<&str> = list(metadata, "workspace_members").iter().filter_map(Value::as_str).collect();
    let mut built = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !built.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).map_or(&[][..], |node| list(node, "deps"));
        // The kind is "dev" for tests, "build" for build scripts, and null for ordinary dependencies.
        let is_built = |dependency: &&Value| list(dependency, "dep_kinds").iter().any(|kind| kind["kind"] != "dev");
        open.extend(dependencies.iter().filter(is_built).map(|dependency| text_of(dependency, "pkg")));
    }
    built
}

/// What is wrong with the licence of a package.
fn fault(package: &Value, licences: &Licences) -> Option<String> {
    let (name, licence) = (text_of(package, "name"), text_of(package, "license"));
    let exception = licences.exceptions.iter().find(|exception| exception.package == name);
    let is_allowed =
        |term: &str| licences.allow.contains(term) || exception.is_some_and(|exception| exception.allow.contains(term));
    match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) if expression.evaluate(|term| is_allowed(&term.to_string())) => None,
        Ok(_) => Some(format!("{name} has the licence {licence}, which deny.toml does not allow; use another package")),
        Err(error) => Some(format!("{name} has no licence that can be read ({error}); use another package")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn licences_are_compared_by_their_terms() {
        let set = |terms: &[&str]| terms.iter().map(|term| (*term).to_owned()).collect();
        let exceptions = vec![Exception { package: "fuzzer".into(), allow: set(&["NCSA"]) }];
        let licences = Licences { allow: set(&["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]), exceptions };
        let fault = |name: &str, licence: &str| fault(&json!({ "name": name, "license": licence }), &licences);
        for allowed in ["MIT", "MIT OR MPL-2.0", "MIT/Apache-2.0", "MIT AND Apache-2.0 WITH LLVM-exception"] {
            assert_eq!(fault("any", allowed), None);
        }
        for refused in ["MPL-2.0", "MIT AND MPL-2.0", "GPL-3.0-only", "Apache-2.0 WITH Classpath-exception-2.0", ""] {
            assert!(fault("any", refused).is_some(), "{refused}");
        }
        assert_eq!(fault("fuzzer", "MIT AND NCSA"), None);
        assert!(fault("other", "MIT AND NCSA").is_some());
    }

    #[test]
    fn packages_of_tests_are_not_built() {
        let dependency = |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "workspace_members": ["ours"],
            "resolve": { "nodes": [
                { "id": "ours", "deps": [dependency("a", Value::Null), dependency("b", json!("dev")), dependency("c", json!("build"))] },
                { "id": "a", "deps": [dependency("d", Value::Null)] },
                { "id": "b", "deps": [dependency("e", Value::Null)] },
            ] },
        });
        assert_eq!(built(&metadata), BTreeSet::from(["a", "c", "d", "ours"]));
    }
}
