//! Runs the shell blocks of the README and the book as printed, in order, in one folder for each page.
//!
//! Each line of a `sh` block must succeed. The text after `# -> ` is the expected standard output, in which `..` stands for any text. A `console` block shows
//! commands after `$ ` and their complete output. A block that begins with `# Not run by the tests: ` and a reason is skipped. Rust blocks are documentation
//! tests of the crates, and Python blocks are tests of the package.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs};

const SKIP: &str = "# Not run by the tests: ";

macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        $(#[test] fn $name() { check($page); })*

        #[test]
        fn every_page_is_listed() {
            let folders = ["docs/book", "docs/book/guides"].map(|folder| fs::read_dir(root().join(folder)).unwrap());
            let book = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
            let book = book.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
            let book = book.map(|page| page.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
            let all: BTreeSet<String> = book.chain(["README.md".to_owned()]).collect();
            assert_eq!(all, BTreeSet::from([$($page.to_owned()),*]));
        }
    };
}

pages! {
    readme: "README.md",
    bgv: "docs/book/bgv.md",
    bigint: "docs/book/bigint.md",
    circuits: "docs/book/circuits.md",
    cli: "docs/book/cli.md",
    cluster: "docs/book/cluster.md",
    devices: "docs/book/devices.md",
    files: "docs/book/files.md",
    gh: "docs/book/gh.md",
    guides: "docs/book/guides.md",
    hardware: "docs/book/hardware.md",
    guide_compare_columns: "docs/book/guides/compare-columns.md",
    guide_jobs: "docs/book/guides/jobs.md",
    guide_lookup: "docs/book/guides/lookup.md",
    guide_passphrase: "docs/book/guides/passphrase.md",
    guide_plain_model: "docs/book/guides/plain-model.md",
    guide_statistics: "docs/book/guides/statistics.md",
    guide_two_machines: "docs/book/guides/two-machines.md",
    guide_two_parties: "docs/book/guides/two-parties.md",
    guide_yosys: "docs/book/guides/yosys.md",
    lwe: "docs/book/lwe.md",
    ntru_use: "docs/book/ntru-use.md",
    ntru: "docs/book/ntru.md",
    operate: "docs/book/operate.md",
    not_offered: "docs/book/not-offered.md",
    parameters: "docs/book/parameters.md",
    performance: "docs/book/performance.md",
    plans: "docs/book/plans.md",
    python: "docs/book/python.md",
    python_library: "docs/book/python-library.md",
    quickstart: "docs/book/quickstart.md",
    rsa: "docs/book/rsa.md",
    rust: "docs/book/rust.md",
    security: "docs/book/security.md",
    service: "docs/book/service.md",
    tfhe: "docs/book/tfhe.md",
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// Runs the shell blocks of a page. Every other block must be a block that other tests run, or not a program.
fn check(page: &str) {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut faults = Vec::new();
    for block in blocks(&text) {
        let result = match block.language {
            _ if block.code.starts_with(SKIP) => continue,
            "sh" => shell(folder.path(), &block),
            "console" => console(folder.path(), &block),
            "rust" => documentation_test(page),
            "python" | "toml" | "text" => continue,
            other => Err(format!("a block of {other:?}: take sh, console, rust, python, toml or text")),
        };
        faults.extend(result.err().map(|fault| format!("{page}:{}: {fault}", block.line)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A fenced block. `line` is the line of its fence.
struct Block<'a> {
    language: &'a str,
    line: usize,
    code: String,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut inside = false;
    for (line, number) in text.lines().zip(1..) {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                found.push(Block { language, line: number, code: String::new() });
            }
        } else if inside {
            let code = &mut found.last_mut().unwrap().code;
            code.push_str(line);
            code.push('\n');
        }
    }
    found
}

/// Runs one command line. `solinas` is the command under test and `folder` the home. `working` is the working directory; as in
/// a shell, it stays changed for the next line.
fn run(folder: &Path, working: &mut PathBuf, line: &str) -> Output {
    let solinas = assert_cmd::cargo::cargo_bin("solinas");
    let path = format!("{}:{}", solinas.parent().unwrap().display(), env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    let after = folder.join(".working");
    let script = format!("{line}\nstatus=$?; pwd > '{}'; exit $status", after.display());
    command.args(["-c", &script]).current_dir(&working).env("PATH", path).env("HOME", folder);
    let output = command.stdin(Stdio::null()).output().unwrap();
    *working = PathBuf::from(fs::read_to_string(after).unwrap().trim_end());
    output
}

fn shell(folder: &Path, block: &Block<'_>) -> Result<(), String> {
    let mut working = folder.to_path_buf();
    for line in block.code.replace("\\\n", " ").lines().filter(|line| !line.trim().is_empty()) {
        let (command, wanted) = match line.split_once("# -> ") {
            Some((command, wanted)) => (command, Some(wanted)),
            None => (line, None),
        };
        let output = run(folder, &mut working, command);
        let printed = words(&output.stdout);
        if !output.status.success() {
            return Err(format!("{line}\nfails: {}", String::from_utf8_lossy(&output.stderr)));
        }
        if wanted.is_some_and(|wanted| !matches(&printed, &words(wanted.as_bytes()))) {
            return Err(format!("{line}\nprints {printed}"));
        }
    }
    Ok(())
}

fn console(folder: &Path, block: &Block<'_>) -> Result<(), String> {
    let mut working = folder.to_path_buf();
    let sessions: Vec<&str> = block.code.split("$ ").collect();
    if sessions.len() < 2 || !sessions[0].is_empty() {
        return Err("a console block shows commands after `$ `".to_owned());
    }
    for session in &sessions[1..] {
        let (command, wanted) = session.split_once('\n').unwrap_or((session, ""));
        let output = run(folder, &mut working, &format!("{{ {command}; }} 2>&1"));
        let printed = words(&output.stdout);
        if !matches(&printed, &words(wanted.as_bytes())) {
            return Err(format!("{command}\nprints {printed}"));
        }
    }
    Ok(())
}

/// The words of a text, separated by single spaces.
fn words(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text matches the pattern, in which `..` stands for any text.
fn matches(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once("..") else { return text == pattern };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split("..").collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
}

/// Whether a crate includes the page as a documentation test.
fn documentation_test(page: &str) -> Result<(), String> {
    let included = |name| {
        let text = fs::read_to_string(root().join("crates").join(name).join("src/lib.rs")).unwrap();
        text.contains(&format!("#[doc = include_str!(\"../../../{page}\")]"))
    };
    if ["bigint", "circuits", "rsa", "schemes", "solinas"].into_iter().any(included) {
        Ok(())
    } else {
        Err(format!("no src/lib.rs has #[doc = include_str!(\"../../../{page}\")]"))
    }
}

#[test]
fn patterns_have_gaps() {
    assert!(matches("a b c", "a b c") && matches("a b c", "a .. c") && matches("a b c d", "a ..c.. d"));
    assert!(!matches("a b", "a") && !matches("a b", "..c..") && !matches("a b c", "a .. d"));
}
