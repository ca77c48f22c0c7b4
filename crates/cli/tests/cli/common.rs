//! Shared keys, and functions to run the command.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// A folder with the keys `k` (seed 1) and `other` (seed 2) of the set gates-toy, and `packs` (seed 1) of gates-40, whose results
/// are smaller if they are packed. All tests share them, and leave them unchanged.
static KEYS: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    for (name, seed, params) in [("k", "1", "gates-toy"), ("other", "2", "gates-toy"), ("packs", "1", "gates-40")] {
        let arguments = ["keygen", "--params", params, "--research", "--insecure-seed", seed, "--out", name];
        Command::cargo_bin("solinas").unwrap().current_dir(&dir).args(arguments).assert().success();
    }
    dir
});

pub(crate) fn key(name: &str) -> String {
    KEYS.path().join(name).to_str().unwrap().to_owned()
}

/// A folder to work in.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A command. Most keys of the tests are of sets for research only, so `encrypt` has the option that allows them.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.bare(line);
        let has = |wanted: &str| line.split_whitespace().any(|word| word == wanted);
        if has("encrypt") && !has("rsa") && !has("--research") && !has("--") {
            command.arg("--research");
        }
        command
    }

    /// A command with these arguments alone.
    pub(crate) fn bare(&self, line: &str) -> Command {
        let mut command = Command::cargo_bin("solinas").unwrap();
        command.current_dir(self.0.path()).args(line.split_whitespace().map(|word| match word {
            "CLIENT" => key("k/client.key"),
            "SERVER" => key("k/server.key"),
            "PACKS-CLIENT" => key("packs/client.key"),
            "PACKS-SERVER" => key("packs/server.key"),
            "OTHER-CLIENT" => key("other/client.key"),
            "OTHER-SERVER" => key("other/server.key"),
            word => word.to_owned(),
        }));
        command
    }

    /// Output of a command that must succeed.
    pub(crate) fn run(&self, line: &str) -> String {
        let output = self.command(line).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    }

    /// Standard error of a command that must fail with that exit code. It must name the fix and print no result.
    pub(crate) fn fail(&self, line: &str, code: i32) -> String {
        let output = self.command(line).assert().code(code);
        let output = output.get_output();
        let message = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(message.contains("error: ") && !message.contains("panicked"), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}: {:?}", output.stdout);
        message
    }

    pub(crate) fn encrypt(&self, ty: &str, values: &str, file: &str) {
        self.run(&format!("encrypt --key CLIENT --type {ty} {values} -o {file}"));
    }

    /// Names of the existing files.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Whether a path is a file with these permissions.
#[cfg(unix)]
pub(crate) fn mode(path: impl AsRef<Path>) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
