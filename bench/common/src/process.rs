//! Peers in processes of their own. They take orders line by line and measure by their own clock.
//!
//! The peer prints `ready VERSION BITS BUILD` when its keys are made. The bits are those of its modulus, and the build has the compiler and its
//! flags. The line `check` is answered by `right` or `wrong`: whether its own results decrypt correctly. A line `OPERATION COUNT` runs the
//! operation COUNT times and is answered by the nanoseconds that this took.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Error;

/// A running peer with keys. It is killed on drop.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Bits of its modulus.
    pub bits: String,
    /// How it was built.
    pub build: String,
}

/// Starts the programs of a folder whose names begin with `prefix`, in the order of their names, and checks their results. A folder that is
/// missing has no programs.
///
/// # Errors
/// [`Error::Peer`] and [`Error::Decryption`] if a peer fails or is wrong.
pub fn start_all(folder: &Path, prefix: &str, arguments: &[String], threads: usize) -> Result<Vec<Peer>, Error> {
    let entries = folder.read_dir().map(|entries| entries.flatten().collect()).unwrap_or_else(|_| Vec::new());
    let mut programs: Vec<_> =
        entries.iter().map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect();
    programs.retain(|(name, path)| name.starts_with(prefix) && path.is_file());
    programs.sort();
    let start = |(name, path): (String, _)| {
        let mut command = Command::new(path);
        // The threads of OpenMP that have no work sleep, and leave the cores to ours.
        command.args(arguments).env("OMP_NUM_THREADS", threads.to_string()).env("OMP_WAIT_POLICY", "passive");
        let mut peer = Peer::start(&name, command.env("GOMAXPROCS", threads.to_string()))?;
        peer.check()?;
        Ok(peer)
    };
    programs.into_iter().map(start).collect()
}

impl Peer {
    /// Starts the peer and waits until it is ready.
    ///
    /// # Errors
    /// [`Error::Peer`] if it does not start, or if its first line is another.
    pub fn start(name: &str, command: &mut Command) -> Result<Self, Error> {
        let failed = |problem: String| Error::Peer { name: name.into(), problem };
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no pipes".into()));
        };
        let [version, bits, build] = [const { String::new() }; 3];
        let mut peer = Self { child, input, output: BufReader::new(output), name: name.into(), version, bits, build };
        let ready = peer.line()?;
        let Some(["ready", version, bits, build]) = ready.splitn(4, ' ').collect::<Vec<_>>().first_chunk().copied()
        else {
            return Err(failed(format!("its first line is {ready:?}")));
        };
        (peer.version, peer.bits, peer.build) = (version.into(), bits.into(), build.into());
        Ok(peer)
    }

    /// Its name, version, build and modulus in one line.
    pub fn describe(&self) -> String {
        format!("{} {} ({}), modulus of {} bits", self.name, self.version, self.build, self.bits)
    }

    /// Checks that its own results decrypt correctly.
    ///
    /// # Errors
    /// [`Error::Decryption`] if they do not, [`Error::Peer`] if it stops answering.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.ask("check")?.as_str() {
            "right" => Ok(()),
            _ => Err(Error::Decryption { name: self.name.clone() }),
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
        Error::Peer { name: self.name.clone(), problem }
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
        let script = "echo ready 1.2 300 a compiler; while read what count; do [ $what = check ] && echo right || echo ${count}000; done";
        let mut peer = shell(script).unwrap();
        assert_eq!(peer.describe(), "a peer 1.2 (a compiler), modulus of 300 bits");
        peer.check().unwrap();
        assert_eq!(peer.time("add", 40).unwrap(), 1.0);
    }

    #[test]
    fn a_peer_that_ends_or_is_wrong_is_an_error() {
        assert!(matches!(shell("echo hello"), Err(Error::Peer { .. })));
        assert!(matches!(shell("exit 3"), Err(Error::Peer { .. })));
        assert!(start_all(Path::new("/no/such/folder"), "", &[], 1).unwrap().is_empty());
        let mut peer = shell("echo ready 1 2 3; read x; echo wrong").unwrap();
        assert!(matches!(peer.check(), Err(Error::Decryption { .. })));
        assert!(matches!(peer.time("add", 1), Err(Error::Peer { .. })));
    }
}
