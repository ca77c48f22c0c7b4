//! Keys, ciphertexts and results of fixed seeds keep their bytes, on every back end.
//!
//! `cargo xtask golden` runs every command of `cases.txt` on every back end; the ordinary test runs them on the fastest one.
//! A change of bytes that is meant is stored by `cargo xtask golden --save`, and its commit says why.
//! `cargo xtask golden --target x86_64-unknown-linux-musl` runs the same comparison with another C library.

#![allow(clippy::unwrap_used, reason = "tests")]

use assert_cmd::Command;
use solinas_field::Backend;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CASES: &str = include_str!("cases.txt");
/// If it is set, the whole run stores the hashes instead of comparing them.
const SAVE: &str = "SOLINAS_GOLDEN_SAVE";

/// The commands of one section, which share a folder.
struct Section {
    name: &'static str,
    lines: Vec<&'static str>,
}

fn sections() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => sections.push(Section { name, lines: Vec::new() }),
            None => sections.last_mut().unwrap().lines.push(line),
        }
    }
    sections
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden")
}

/// A folder in which commands run on one back end, and what they made.
struct Run {
    place: TempDir,
    backend: &'static str,
    hashes: String,
}

impl Run {
    fn new(backend: &'static str) -> Self {
        let place = tempfile::tempdir().unwrap();
        for name in ["gh-a.ct", "gh-b.ct", "program.json", "circuit.txt"] {
            std::fs::copy(folder().join(name), place.path().join(name)).unwrap();
        }
        Self { place, backend, hashes: String::new() }
    }

    /// Returns the output of a command.
    fn output(&self, line: &str) -> Vec<u8> {
        let mut command = Command::cargo_bin("solinas").unwrap();
        command.current_dir(&self.place).env("SOLINAS_BACKEND", self.backend).arg("--quiet");
        let output = command.args(line.split_whitespace()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "solinas {line}, back end {}: {error}", self.backend);
        output.stdout
    }

    fn hash(&mut self, what: &str, bytes: &[u8]) {
        writeln!(self.hashes, "{}  {what}", blake3::hash(bytes).to_hex()).unwrap();
    }

    fn hash_file(&mut self, what: &str, file: &str) {
        let bytes = std::fs::read(self.place.path().join(file)).unwrap();
        self.hash(what, &bytes);
    }

    fn line(&mut self, section: &str, line: &str) {
        let what = format!("{section} {line}");
        match line.split_once(' ').unwrap() {
            ("keygen", _) => {
                self.output(&format!("{line} --research --insecure-seed 1 --out ."));
                for file in ["client.key", "server.key"] {
                    self.hash_file(&format!("{what}: {file}"), file);
                }
            }
            ("encrypt" | "expand", arguments) => {
                let research = if line.starts_with("encrypt") { "--research" } else { "" };
                self.output(&format!("{line} --key client.key {research}"));
                self.hash_file(&what, arguments.rsplit(' ').next().unwrap());
            }
            ("eval" | "random", _) => {
                // TFHE schedules by the number of threads: results of one and of two may differ.
                for threads in [1, 2] {
                    let result = format!("result-{threads}.ct");
                    self.output(&format!("{line} --key server.key --research --threads {threads} -o {result}"));
                    let printed = self.output(&format!("decrypt --key client.key {result}"));
                    let values = String::from_utf8(printed).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
                    self.hash_file(&format!("{what} = {values}: threads {threads}"), &result);
                    std::fs::remove_file(self.place.path().join(result)).unwrap();
                }
            }
            _ => {
                let printed = self.output(line);
                self.hash(&what, &printed);
            }
        }
    }
}

/// A line for each file: its hash, the command that makes it, and the values of a result.
fn hashes(backend: &'static str) -> String {
    let run = move |section: Section| {
        let mut run = Run::new(backend);
        section.lines.iter().for_each(|line| run.line(section.name, line));
        run.hashes
    };
    let runs: Vec<_> = sections().into_iter().map(|section| std::thread::spawn(move || run(section))).collect();
    runs.into_iter().map(|run| run.join().unwrap()).collect()
}

fn compare(backend: &'static str) {
    let got = hashes(backend);
    let want = std::fs::read_to_string(folder().join("hashes.txt")).unwrap();
    let changed: Vec<_> = got.lines().filter(|line| !want.lines().any(|known| known == *line)).collect();
    assert!(
        changed.is_empty(),
        "back end {backend}: bytes changed; if that is meant, run `cargo xtask golden --save`\n{}",
        changed.join("\n")
    );
    assert!(got == want, "back end {backend}: cases.txt and hashes.txt differ; run `cargo xtask golden --save`");
}

#[test]
fn files_of_fixed_seeds_keep_their_bytes() {
    compare(Backend::detect().unwrap().name());
}

// All back ends take four times as long as the fastest one, and other tests compare their kernels.
#[test]
#[ignore = "slow: `cargo xtask golden` runs it"]
fn files_of_fixed_seeds_keep_their_bytes_on_every_back_end() {
    let mut backends = solinas_testing::back_ends(Backend::available());
    if std::env::var_os(SAVE).is_some() {
        let fastest = backends.pop().unwrap();
        std::fs::write(folder().join("hashes.txt"), hashes(fastest.name())).unwrap();
    }
    backends.iter().for_each(|backend| compare(backend.name()));
}
