//! Peers in processes of their own. They take orders line by line and measure by their own clock.
//!
//! The peer prints `ready VERSION BITS` when its keys are made; the bits are those of its modulus. The line `check` is answered by
//! `right` or `wrong`: whether its own results decrypt correctly. A line `OPERATION COUNT` runs the operation COUNT times and is answered
//! by the nanoseconds that this took.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Error;

/// A running peer with keys. It is killed on drop.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: String,
    /// Bits of its modulus.
    pub bits: String,
}

impl Peer {
    /// Starts the peer and waits until it is ready.
    ///
    /// # Errors
    /// [`Error::Peer`] if it does not start, or if its first line is another.
    pub fn start(name: &'static str, command: &mut Command) -> Result<Self, Error> {
        let failed = |problem: String| Error::Peer { name, problem };
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no pipes".into()));
        };
        let (version, bits) = (String::new(), String::new());
        let mut peer = Self { child, input, output: BufReader::new(output), name, version, bits };
        let ready = peer.line()?;
        let Some(["ready", version, bits]) = ready.split(' ').collect::<Vec<_>>().first_chunk().copied() else {
            return Err(failed(format!("its first line is {ready:?}")));
        };
        (peer.version, peer.bits) = (version.into(), bits.into());
        Ok(peer)
    }

    /// Checks that its own results decrypt correctly.
    ///
    /// # Errors
    /// [`Error::Decryption`] if they do not, [`Error::Peer`] if it stops answering.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.ask("check")?.as_str() {
            "right" => Ok(()),
            _ => Err(Error::Decryption { name: self.name.into() }),
        }
    }

    /// Microseconds of one operation, the mean of `count` in sequence.
    ///
    /// # Errors
    /// [`Error::Peer`] if it stops answering, or if the answer is not a number.
    pub fn time(&mut self, operation: &str, count: u32) -> Result<f64, Error> {
        let answer = self.ask(&format!("{operation} {count}"))?;
        let nanoseconds: f64 = answer.parse().map_err(|_| self.failed(format!("it answered {answer:?}")))?;
        Ok(nanoseconds / 1e3 / f64::from(count))
    }

    fn ask(&mut self, line: &str) -> Result<String, Error> {
        let sent = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        sent.map_err(|error| self.failed(error.to_string()))?;
        self.line()
    }

    fn line(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err(self.failed("it ended".into())),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(self.failed(error.to_string())),
        }
    }

    fn failed(&self, problem: String) -> Error {
        Error::Peer { name: self.name, problem }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It waits for lines, so nothing is lost. It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Peer, Error> {
        Peer::start("a peer", Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn a_peer_is_asked_line_by_line() {
        let script =
            "echo ready 1.2 300; while read what count; do [ $what = check ] && echo right || echo ${count}000; done";
        let mut peer = shell(script).unwrap();
        assert_eq!((peer.version.as_str(), peer.bits.as_str()), ("1.2", "300"));
        peer.check().unwrap();
        assert_eq!(peer.time("add", 40).unwrap(), 1.0);
    }

    #[test]
    fn a_peer_that_ends_or_is_wrong_is_an_error() {
        assert!(matches!(shell("echo hello"), Err(Error::Peer { .. })));
        assert!(matches!(shell("exit 3"), Err(Error::Peer { .. })));
        let mut peer = shell("echo ready 1 2; read x; echo wrong").unwrap();
        assert!(matches!(peer.check(), Err(Error::Decryption { .. })));
        assert!(matches!(peer.time("add", 1), Err(Error::Peer { .. })));
    }
}
