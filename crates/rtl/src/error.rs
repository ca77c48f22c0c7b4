//! Errors of simulations.

use std::path::PathBuf;

use thiserror::Error;

/// An error of a simulated design.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A program that builds models is missing.
    #[error("the simulation needs {tool}, which was not found; {fix}")]
    Tool {
        /// The program.
        tool: &'static str,
        /// Instructions to get it.
        fix: &'static str,
    },
    /// The Verilator that was found cannot be used.
    #[error("the Verilator in {} {problem}; {fix}", root.display())]
    Verilator {
        /// Its folder.
        root: PathBuf,
        /// The reason.
        problem: String,
        /// Instructions to get another one.
        fix: &'static str,
    },
    /// There is no folder for models.
    #[error("the user has no cache folder for models; name a folder with SOLINAS_RTL_CACHE")]
    NoCache,
    /// A program that builds models failed.
    #[error(
        "{stage} of the model of {top} failed: {output}; see that the disk has room and that the tools are those of \
         tools/install_rtl_tools.sh, or compute it on the device cpu"
    )]
    Build {
        /// The stage.
        stage: &'static str,
        /// The top module.
        top: String,
        /// The first lines of its output.
        output: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}; choose another folder for models with SOLINAS_RTL_CACHE", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A built model could not be loaded.
    #[error("the model {} cannot be loaded ({problem}); delete it, so that it is built again", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// A list of sources names a file that does not exist.
    #[error("there is no source {name}")]
    NoSource {
        /// The name.
        name: String,
    },
    /// The design has no port of this name.
    #[error("{top} has no port {name}; its ports are {ports}")]
    NoPort {
        /// The top module.
        top: String,
        /// The name.
        name: String,
        /// All ports.
        ports: String,
    },
    /// An operand does not fit.
    #[error("{what} has {bits} bits, but the design takes at most {most}; compute it on the device cpu")]
    TooLong {
        /// The operand.
        what: &'static str,
        /// Its bits.
        bits: usize,
        /// The most that fit.
        most: usize,
    },
    /// The design did not answer in the cycles that it may take.
    #[error("the simulated {top} gave no result in {cycles} cycles; please report this")]
    Stuck {
        /// The top module.
        top: &'static str,
        /// The cycles.
        cycles: u64,
    },
    /// The design refused a command.
    #[error("the simulated {top} refused a command: {problem}")]
    Refused {
        /// The top module.
        top: &'static str,
        /// The reason.
        problem: String,
    },
}

impl solinas_schemes::DeviceFault for Error {
    fn kind(&self) -> solinas_schemes::DeviceErrorKind {
        use solinas_schemes::DeviceErrorKind;
        match self {
            // The caller installs a tool, names a folder, or gives a shorter operand.
            Self::Tool { .. } | Self::Verilator { .. } | Self::NoCache | Self::TooLong { .. } => {
                DeviceErrorKind::Request
            }
            Self::NoSource { .. } | Self::NoPort { .. } => DeviceErrorKind::Internal,
            _ => DeviceErrorKind::Failure,
        }
    }
}
