//! OpenFHE in a process of its own, started when an interpreter has its package.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::{Args, Error};

/// The running peer.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Of OpenFHE.
    pub version: String,
    /// Of its modulus.
    pub bits: String,
}

impl Peer {
    /// Starts it with the parameters of the run; in words why not.
    pub fn start(args: &Args, plaintext_modulus: u64) -> Result<Self, String> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peer.py");
        let install = "install it (pip install openfhe) and name the interpreter (--python)";
        let found = Command::new(&args.python).args(["-c", "import openfhe"]).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            return Err(format!("{} has no package openfhe; {install}", args.python.display()));
        }
        let numbers = [args.dimension as u64, u64::from(args.towers) - 1, args.bits.into(), plaintext_modulus];
        let mut child = Command::new(&args.python)
            .arg(script)
            .args(numbers.map(|number| number.to_string()))
            .env("OMP_NUM_THREADS", args.threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", args.python.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("no pipes".into()) };
        let mut peer =
            Self { child, input, output: BufReader::new(output), version: String::new(), bits: String::new() };
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
            _ => Err(Error::Wrong { who: "OpenFHE".into() }),
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
