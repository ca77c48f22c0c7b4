//! The programs that build models: Verilator, a C++ compiler, make and Perl.

use etcetera::BaseStrategy;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::Error;

/// Instructions to get Verilator.
const INSTALL: &str =
    "run tools/install_rtl_tools.sh of the repository, or set VERILATOR_ROOT to an installation of version 5.048";
/// The last version that is known to refuse the designs.
const TOO_OLD: (u32, u32) = (5, 6);

/// Verilator, and what identifies its models.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    /// The installation folder.
    pub root: PathBuf,
    /// Its version.
    pub version: String,
    /// The version of the C++ compiler.
    pub compiler: String,
}

/// The folder of built models and of installed tools: `SOLINAS_RTL_CACHE`, or `solinas/rtl` in the user's cache folder.
/// `None` for a user without such a folder. Models are code, so they never lie in a folder that others can write.
pub fn cache() -> Option<PathBuf> {
    let default = || {
        let folders = etcetera::base_strategy::choose_native_strategy().ok()?;
        Some(folders.cache_dir().join("solinas").join("rtl"))
    };
    let folder = variable("SOLINAS_RTL_CACHE").or_else(default);
    folder.map(absolute)
}

/// A path in a variable of the environment.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A path for programs that run in another folder.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The version of Verilator that builds models.
///
/// # Errors
/// [`Error::Tool`] names what is missing and how to get it.
pub fn available() -> Result<String, Error> {
    let version = Tools::find()?.version;
    Ok(if version.starts_with("Verilator") { version } else { format!("Verilator {version}") })
}

impl Tools {
    /// Finds the tools: in `VERILATOR_ROOT`, in the folder of `tools/install_rtl_tools.sh`, or on the path.
    ///
    /// # Errors
    /// [`Error::Tool`] names the first one that is missing and how to get it. [`Error::Verilator`] for a Verilator that
    /// cannot be used.
    pub(crate) fn find() -> Result<Self, Error> {
        let fix = "install a C++ compiler (Debian: apt-get install g++)";
        let compiler = output(Command::new("g++").arg("--version")).ok_or(Error::Tool { tool: "g++", fix })?;
        for (tool, fix) in [
            ("make", "install it (Debian: apt-get install make)"),
            ("perl", "install it (Debian: apt-get install perl)"),
        ] {
            output(Command::new(tool).arg("--version")).ok_or(Error::Tool { tool, fix })?;
        }
        // The script of Verilator obeys the variable even if it is empty.
        let version =
            |root: &Path| output(Command::new(root.join("bin/verilator")).env("VERILATOR_ROOT", root).arg("--version"));
        let (root, version) = match variable("VERILATOR_ROOT").map(absolute) {
            // An installation that was asked for is not replaced by another one.
            Some(root) => match version(&root) {
                Some(version) => (root, version),
                None => return Err(unusable(root, "has no bin/verilator that runs")),
            },
            None => {
                let mut found = installed().into_iter().chain(on_path()).filter_map(|root| {
                    let version = version(&root)?;
                    Some((root, version))
                });
                found.next().ok_or(Error::Tool { tool: "Verilator", fix: INSTALL })?
            }
        };
        if is_too_old(&version) {
            return Err(unusable(root, &format!("is {version}, which is too old")));
        }
        if root.to_string_lossy().contains(char::is_whitespace) {
            let problem = "is in a folder with a space in its path, which make cannot use".into();
            let fix = "name one without by SOLINAS_RTL_CACHE, and run tools/install_rtl_tools.sh of the repository";
            return Err(Error::Verilator { root, problem, fix });
        }
        Ok(Self { root, version, compiler })
    }

    /// A command of the tools.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // The options of a make that started this process are not those of the build.
        command.env("VERILATOR_ROOT", &self.root).env_remove("MAKEFLAGS").env_remove("MFLAGS");
        command
    }
}

fn unusable(root: PathBuf, problem: &str) -> Error {
    Error::Verilator { root, problem: problem.into(), fix: INSTALL }
}

/// Whether a version, such as `Verilator 5.006 2023-01-22`, is too old. The package for Python states no number.
fn is_too_old(version: &str) -> bool {
    let number = version.strip_prefix("Verilator ").and_then(|rest| rest.split_whitespace().next());
    let number = number.and_then(|number| number.split_once('.'));
    let number = number.and_then(|(major, minor)| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?)));
    number.is_some_and(|number| number <= TOO_OLD)
}

/// The Verilator of the folder in which `tools/install_rtl_tools.sh` makes a Python environment.
fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir(cache()?.join("tools/lib")).ok()?;
    let packages = versions.filter_map(|version| Some(version.ok()?.path().join("site-packages/verilator")));
    packages.into_iter().find(|package| package.is_dir())
}

fn on_path() -> Option<PathBuf> {
    let mut verilator = Command::new("verilator");
    output(verilator.args(["--getenv", "VERILATOR_ROOT"]).env_remove("VERILATOR_ROOT")).map(PathBuf::from)
}

/// The output of a program, if it can be run.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_are_refused_and_unnumbered_ones_are_not() {
        for (version, old) in [
            ("Verilator 4.038 2020-07-11 rev v4.036", true),
            ("Verilator 5.006 2023-01-22 rev (Debian 5.006-3)", true),
            ("Verilator 5.048 2026-05-16", false),
            ("Verilator 6.000", false),
            ("rev vUNKNOWN-built20260516-4e853d8", false),
        ] {
            assert_eq!(is_too_old(version), old, "{version}");
        }
    }
}
