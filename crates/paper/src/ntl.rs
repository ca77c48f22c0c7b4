//! NTL, the peer for products of matrices of large numbers. If the system has NTL, a small program that uses it is compiled and run beside our code. This
//! crate neither links NTL nor ships any part of it.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use solinas_bigint::Natural;
use tempfile::TempDir;

/// The compiled program, in a temporary folder that is removed on drop.
#[derive(Debug)]
pub struct Ntl {
    folder: TempDir,
}

/// NTL's figures, on one thread.
#[derive(Debug, Clone)]
pub struct Times {
    /// NTL's version.
    pub version: String,
    /// Dimensions and times in seconds.
    pub sizes: Vec<(usize, f64)>,
}

impl Times {
    /// The exponent with which the time grows in the dimension, between the two largest sizes.
    pub fn exponent(&self) -> f64 {
        match self.sizes[..] {
            [.., (n, s), (m, t)] => (t / s).ln() / (m as f64 / n as f64).ln(),
            _ => 2.0,
        }
    }

    /// Predicted seconds at another dimension: the time of the largest measured size, scaled by the square of the dimension.
    pub fn scaled(&self, dimension: usize) -> f64 {
        self.sizes.last().map_or(f64::NAN, |&(n, time)| time * (dimension as f64 / n as f64).powi(2))
    }
}

impl Ntl {
    /// Compiles the program by the compiler in `CXX`, with the flags in `CXXFLAGS`. `CXX` defaults to `c++`.
    ///
    /// # Errors
    /// The reason for a failure, and the packages to install.
    pub fn find() -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let ntl = Self { folder: tempfile::Builder::new().prefix("solinas-ntl-").tempdir().map_err(text)? };
        let source = ntl.folder.path().join("ntl.cpp");
        fs::write(&source, include_str!("ntl.cpp")).map_err(text)?;
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let flags = std::env::var("CXXFLAGS").unwrap_or_default();
        let mut command = Command::new(&compiler);
        command.args(["-O2", "-o"]).arg(ntl.program()).arg(&source).args(flags.split_whitespace());
        let built = command.args(["-lntl", "-lgmp", "-lpthread"]).output();
        let built =
            built.map_err(|error| format!("cannot run the compiler {compiler}: {error} (Debian: g++ libntl-dev)"))?;
        if built.status.success() {
            Ok(ntl)
        } else {
            Err("the library or its headers are missing (Debian: libntl-dev)".into())
        }
    }

    fn program(&self) -> std::path::PathBuf {
        self.folder.path().join("ntl")
    }

    /// `A^T x` modulo `modulus`, for a square matrix that is given row by row.
    ///
    /// # Errors
    /// The reason for which the program failed.
    pub fn product(&self, modulus: &Natural, entries: &[Natural], x: &[Natural]) -> Result<Vec<Natural>, String> {
        let text = |error: std::io::Error| error.to_string();
        let mut child = Command::new(self.program())
            .arg("check")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let mut input = format!("{} {}\n", x.len(), modulus.to_decimal());
        entries.iter().chain(x).for_each(|number| input += &format!("{}\n", number.to_decimal()));
        child.stdin.take().ok_or("the program takes no input")?.write_all(input.as_bytes()).map_err(text)?;
        let output = child.wait_with_output().map_err(text)?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        lines.lines().map(|line| Natural::from_decimal(line).map_err(|error| error.to_string())).collect()
    }

    /// Times products of square matrices of some dimensions. Each time is the least CPU time of five runs.
    ///
    /// # Errors
    /// The reason for which the program failed.
    pub fn time(&self, modulus: &Natural, dimensions: &[usize]) -> Result<Times, String> {
        let mut times = Times { version: String::new(), sizes: Vec::new() };
        for &n in dimensions {
            let output = Command::new(self.program())
                .args(["time", &modulus.to_decimal(), &n.to_string()])
                .output()
                .map_err(|error| error.to_string())?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let mut lines = text.lines();
            times.version = lines.next().unwrap_or("?").into();
            let seconds = lines.next().and_then(|line| line.parse().ok()).ok_or("the program printed no time")?;
            times.sizes.push((n, seconds));
        }
        Ok(times)
    }
}
