//! Peers in processes of their own, started when the system has them: OpenFHE by an interpreter with its package, SEAL by a program that is compiled for the run.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::{Args, Error};

/// The running peer.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Whose it is.
    pub name: &'static str,
    /// Its version.
    pub version: String,
    /// Bits of its modulus.
    pub bits: String,
}

impl Peer {
    /// OpenFHE with the parameters of the run; in words why not.
    pub fn openfhe(args: &Args, plaintext_modulus: u64) -> Result<Self, String> {
        let install = "install it (pip install openfhe) and name the interpreter (--python)";
        let found = Command::new(&args.python).args(["-c", "import openfhe"]).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            return Err(format!("{} has no package openfhe; {install}", args.python.display()));
        }
        let mut command = Command::new(&args.python);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/peer_openfhe.py"));
        command.env("OMP_NUM_THREADS", args.threads.to_string());
        Self::start("OpenFHE", command, args, plaintext_modulus)
    }

    /// SEAL with the parameters of the run; in words why not. One thread.
    pub fn seal(args: &Args, plaintext_modulus: u64) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let missing = "pkg-config finds no library seal; install it and name its folder by PKG_CONFIG_PATH";
        let flags = Command::new("pkg-config").args(["--cflags", "--libs", "seal"]).output();
        let flags = flags.ok().filter(|output| output.status.success()).ok_or(missing)?;
        let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
        let folder = tempfile::tempdir().map_err(text)?;
        let (source, program) = (folder.path().join("seal.cpp"), folder.path().join("seal"));
        fs::write(&source, include_str!("peer_seal.cpp")).map_err(text)?;
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let mut command = Command::new(&compiler);
        command.args(["-O3", "-std=c++17", "-o"]).arg(&program).arg(&source).args(flags.split_whitespace());
        let built = command.output().map_err(|error| format!("{compiler}: {error}"))?;
        if !built.status.success() {
            return Err(format!("{compiler} cannot build it: {}", String::from_utf8_lossy(&built.stderr).trim()));
        }
        // The program is in memory once it has said that it is ready.
        Self::start("SEAL", Command::new(program), args, plaintext_modulus)
    }

    fn start(name: &'static str, mut command: Command, args: &Args, plaintext_modulus: u64) -> Result<Self, String> {
        let numbers = [args.dimension as u64, u64::from(args.towers) - 1, args.bits.into(), plaintext_modulus];
        let mut child = command
            .args(numbers.map(|number| number.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("no pipes".into()) };
        let (version, bits) = (String::new(), String::new());
        let mut peer = Self { child, input, output: BufReader::new(output), name, version, bits };
        let ready = peer.line().map_err(|error| error.to_string())?;
        let mut words = ready.split_whitespace().skip(1).map(String::from);
        (peer.version, peer.bits) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        Ok(peer)
    }

    fn line(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err(Error::Peer("it ended".into())),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(error) => Err(Error::Peer(error.to_string())),
        }
    }

    fn ask(&mut self, what: &str) -> Result<String, Error> {
        writeln!(self.input, "{what}").map_err(|error| Error::Peer(error.to_string()))?;
        self.line()
    }

    /// That its products are right.
    ///
    /// # Errors
    /// [`Error::Wrong`], [`Error::Peer`].
    pub fn check(&mut self) -> Result<(), Error> {
        match self.ask("check")?.as_str() {
            "right" => Ok(()),
            _ => Err(Error::Wrong { who: self.name.into() }),
        }
    }

    /// Milliseconds of one operation, of `repeat` in sequence, by its own clock.
    ///
    /// # Errors
    /// [`Error::Peer`].
    pub fn time(&mut self, operation: &str, repeat: u32) -> Result<f64, Error> {
        let answer = self.ask(&format!("{operation} {repeat}"))?;
        answer
            .parse::<f64>()
            .map(|nanos| nanos / 1e6 / f64::from(repeat))
            .map_err(|_| Error::Peer(format!("it answered {answer:?}")))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends with its input; what is left of it is not ours to report.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
