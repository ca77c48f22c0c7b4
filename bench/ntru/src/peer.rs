//! OpenFHE's BGV in a process of its own, that does an operation when told to and says how long it took.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Error;

/// The program: where the environment says, or where `openfhe.sh` leaves it.
pub fn program() -> Option<PathBuf> {
    let here = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/openfhe-bgv"));
    std::env::var_os("SOLINAS_OPENFHE").map_or(Some(here), |path| Some(path.into())).filter(|path| path.is_file())
}

/// A context with keys.
pub struct Peer {
    path: PathBuf,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Version and bits of its modulus.
    pub name: String,
}

impl Peer {
    /// In ring dimension `n`, with `depth + 1` primes of those bits; none if the program is not there.
    ///
    /// # Errors
    /// [`Error::Peer`].
    pub fn start(n: usize, depth: usize, bits: u32, threads: usize) -> Result<Option<Self>, Error> {
        let Some(path) = program() else { return Ok(None) };
        let problem = |problem: String| Error::Peer { path: path.clone(), problem };
        let mut child = Command::new(&path)
            .args([n.to_string(), depth.to_string(), bits.to_string()])
            .env("OMP_NUM_THREADS", threads.to_string())
            // Threads that are done sleep, and leave the cores to us.
            .env("OMP_WAIT_POLICY", "passive")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| problem(error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(problem("no pipes".into()));
        };
        let mut peer = Self { path, child, input, output: BufReader::new(output), name: String::new() };
        let ready = peer.line()?;
        let Some(["ready", version, bits]) = ready.split(' ').collect::<Vec<_>>().first_chunk().copied() else {
            return Err(peer.problem(format!("it began with {ready:?}")));
        };
        peer.name = format!("OpenFHE {version}, {bits} bits");
        match peer.ask("check")?.as_str() {
            "right" => Ok(Some(peer)),
            other => Err(peer.problem(format!("its own result is {other}"))),
        }
    }

    /// Microseconds of one operation.
    ///
    /// # Errors
    /// [`Error::Peer`].
    pub fn time(&mut self, operation: &str) -> Result<f64, Error> {
        let answer = self.ask(operation)?;
        answer
            .parse::<f64>()
            .map(|nanoseconds| nanoseconds / 1e3)
            .map_err(|_| self.problem(format!("it said {answer:?}")))
    }

    fn ask(&mut self, line: &str) -> Result<String, Error> {
        writeln!(self.input, "{line}")
            .and_then(|()| self.input.flush())
            .map_err(|error| self.problem(error.to_string()))?;
        self.line()
    }

    fn line(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err(self.problem("it ended".into())),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(self.problem(error.to_string())),
        }
    }

    fn problem(&self, problem: String) -> Error {
        Error::Peer { path: self.path.clone(), problem }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It waits for lines: nothing is lost. It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
