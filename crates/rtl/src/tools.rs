//! The programs that build models: Verilator, a C++ compiler, make and Perl.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::Error;

/// How to get Verilator.
const INSTALL: &str =
    "run tools/install_rtl_tools.sh of the repository, or set VERILATOR_ROOT to an installation of version 5";

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

/// The folder of built models and of installed tools: `SOLINAS_RTL_CACHE`, or `solinas` in the user's cache folder.
pub fn cache() -> PathBuf {
    let own = env::var_os("SOLINAS_RTL_CACHE").filter(|path| !path.is_empty()).map(PathBuf::from);
    own.unwrap_or_else(|| dirs::cache_dir().unwrap_or_else(env::temp_dir).join("solinas").join("rtl"))
}

/// The version of Verilator that builds models.
///
/// # Errors
/// [`Error::Tool`] names what is missing and how to get it.
pub fn available() -> Result<String, Error> {
    Tools::find().map(|tools| tools.version)
}

impl Tools {
    /// Finds the tools: in `VERILATOR_ROOT`, in the folder of `tools/install_rtl_tools.sh`, or on the path.
    ///
    /// # Errors
    /// [`Error::Tool`] names the first one that is missing and how to get it.
    pub(crate) fn find() -> Result<Self, Error> {
        let fix = "install a C++ compiler (Debian: apt-get install g++)";
        let compiler = output(Path::new("g++"), &["--version"]).ok_or(Error::Tool { tool: "g++", fix })?;
        for (tool, fix) in [
            ("make", "install it (Debian: apt-get install make)"),
            ("perl", "install it (Debian: apt-get install perl)"),
        ] {
            output(Path::new(tool), &["--version"]).ok_or(Error::Tool { tool, fix })?;
        }
        let own = env::var_os("VERILATOR_ROOT").filter(|path| !path.is_empty()).map(PathBuf::from);
        let roots = own.into_iter().chain(installed()).chain(on_path());
        let mut found = roots.filter_map(|root| {
            let version = output(&root.join("bin/verilator"), &["--version"])?;
            Some(Self { root, version, compiler: compiler.clone() })
        });
        found.next().ok_or(Error::Tool { tool: "Verilator", fix: INSTALL })
    }

    /// A command of the tools.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("VERILATOR_ROOT", &self.root);
        command
    }
}

/// The Verilator of the folder in which `tools/install_rtl_tools.sh` makes a Python environment.
fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir(cache().join("tools/lib")).ok()?;
    let packages = versions.filter_map(|version| Some(version.ok()?.path().join("site-packages/verilator")));
    packages.into_iter().find(|package| package.is_dir())
}

fn on_path() -> Option<PathBuf> {
    output(Path::new("verilator"), &["--getenv", "VERILATOR_ROOT"]).map(PathBuf::from)
}

/// The output of a program, if it can be run.
fn output(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
