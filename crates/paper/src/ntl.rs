//! NTL, a library that products of matrices of large numbers are held to, if the system has it: a small program is compiled and run beside ours. Nothing of NTL is linked
//! in or shipped.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use solinas_bigint::Natural;
use tempfile::TempDir;

/// The compiled program, in a folder that is removed with it.
#[derive(Debug)]
pub struct Ntl {
    folder: TempDir,
}

/// NTL's figures, on one thread.
#[derive(Debug, Clone)]
pub struct Times {
    /// NTL's version.
    pub version: String,
    /// Dimension and seconds.
    pub sizes: Vec<(usize, f64)>,
}

impl Times {
    /// The power of the dimension by which the time grows, between the two largest sizes.
    pub fn exponent(&self) -> f64 {
        match self.sizes[..] {
            [.., (n, s), (m, t)] => (t / s).ln() / (m as f64 / n as f64).ln(),
            _ => 2.0,
        }
    }

    /// Seconds at another dimension, by the square of the dimension from the largest size measured.
    pub fn scaled(&self, dimension: usize) -> f64 {
        self.sizes.last().map_or(f64::NAN, |&(n, time)| time * (dimension as f64 / n as f64).powi(2))
    }
}

impl Ntl {
    /// Compiles it, by the compiler that `CXX` names (`c++` by default) with `CXXFLAGS`.
    ///
    /// # Errors
    /// Why that cannot be done, and what to install.
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
        let built = built.map_err(|error| format!("no compiler {compiler}: {error} (Debian: g++ libntl-dev)"))?;
        if built.status.success() {
            Ok(ntl)
        } else {
            Err("it is not installed with its headers (Debian: libntl-dev)".into())
        }
    }

    fn program(&self) -> std::path::PathBuf {
        self.folder.path().join("ntl")
    }

    /// `A^T x` modulo `modulus`, of a square matrix, row by row.
    ///
    /// # Errors
    /// Why the program failed.
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
        child.stdin.take().ok_or("it takes no input")?.write_all(input.as_bytes()).map_err(text)?;
        let output = child.wait_with_output().map_err(text)?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        lines.lines().map(|line| Natural::from_decimal(line).map_err(|error| error.to_string())).collect()
    }

    /// Times products of square matrices of some dimensions: the least CPU time of five.
    ///
    /// # Errors
    /// Why the program failed.
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
            let seconds = lines.next().and_then(|line| line.parse().ok()).ok_or("it gave no time")?;
            times.sizes.push((n, seconds));
        }
        Ok(times)
    }
}
