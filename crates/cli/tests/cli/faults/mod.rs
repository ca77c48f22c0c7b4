//! Kills commands that write at random moments and at every call that changes the disk, and makes each of these calls fail. In every case, old files stay
//! complete, and a new file is complete or missing. After the next command, no temporary files are left.
//!
//! By default, a few of the cases run. `SOLINAS_LONG=1 cargo test --workspace --test cli faults -- --nocapture` runs 1000 kills and every call.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod memory;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_testing::is_long;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A verb that writes, with its arguments, and files that exist before in addition to [`START`].
struct Verb {
    name: &'static str,
    line: &'static str,
    /// Copies to make before the run: source, destination.
    before: &'static [(&'static str, &'static str)],
    /// Paths that the verb writes.
    writes: &'static [&'static str],
}

const fn verb(
    name: &'static str,
    line: &'static str,
    before: &'static [(&'static str, &'static str)],
    writes: &'static [&'static str],
) -> Verb {
    Verb { name, line, before, writes }
}

/// The verb that replaces keys of tfhe, which have a public key.
const FORCE_TFHE: &str = "keygen --force of tfhe";

/// The verb that takes a server key of tfhe.
const RANDOM: &str = "random";

const VERBS: [Verb; 17] = [
    verb(
        "keygen",
        "keygen --scheme lwe --params toy-256-8 --research --insecure-seed 2 --out new",
        &[],
        &["new/client.key", "new/server.key"],
    ),
    verb(
        "keygen --force",
        "keygen --scheme lwe --params toy-256-8 --research --insecure-seed 2 --out l --force",
        &[],
        &["l/client.key", "l/server.key"],
    ),
    verb(
        "keygen of a checkpoint",
        "keygen --scheme gh --params ci-15 --research --insecure-seed 2 --out new",
        &[],
        &["new/client.key", "new/server.key", "new/client.key.partial"],
    ),
    verb(
        "keygen of tfhe",
        "keygen --params gates-toy --research --insecure-seed 2 --out new",
        &[],
        &["new/client.key", "new/server.key", "new/public.key"],
    ),
    verb(
        FORCE_TFHE,
        "keygen --params gates-toy --research --insecure-seed 2 --out t --force",
        &[],
        &["t/client.key", "t/server.key", "t/public.key"],
    ),
    verb("encrypt", "encrypt --research --key l/client.key --type u4 9 -o l/new.ct", &[], &["l/new.ct"]),
    verb("encrypt over a file", "encrypt --research --key l/client.key --type u4 9 -o x.ct", &[], &["x.ct"]),
    verb("eval", "eval --key l/server.key not x.ct -o l/new.ct", &[], &["l/new.ct"]),
    verb("decrypt", "decrypt --key l/client.key x.ct -o values", &[("text", "values")], &["values"]),
    verb(RANDOM, "random --key t/server.key --type u2 --seed draw -o t/new.ct", &[], &["t/new.ct"]),
    verb("expand", "expand --key l/server.key -o matrix", &[("text", "matrix")], &["matrix"]),
    verb("circuit build", "circuit build mul --type u8 -o c.txt", &[("text", "c.txt")], &["c.txt"]),
    verb("bigint", "bigint square 123456789 -o square", &[], &["square"]),
    verb(
        "rsa keygen",
        "rsa keygen --bits 2048 --insecure-seed 4 --public new.pub -o new.pem",
        &[],
        &["new.pem", "new.pub"],
    ),
    verb("rsa decrypt", "rsa decrypt --key key.pem message.rsa -o plain", &[], &["plain"]),
    verb("rsa sign", "rsa sign --key key.pem text -o signature", &[("text", "signature")], &["signature"]),
    verb("demo", "demo --scheme ntru --params tight-64-20 --research --quick", &[], &[]),
];

/// Files that the commands after a fault write.
const NEXT: [&str; 3] = ["l/next.ct", "next.txt", "t/next.ct"];

/// Keys, a ciphertext, a text and an RSA key.
static START: LazyLock<TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("text"), "a text\n").unwrap();
    for line in [
        "keygen --scheme lwe --params toy-256-8 --research --insecure-seed 1 --out l",
        "encrypt --research --key l/client.key --type u4 5 -o x.ct",
        "rsa keygen --bits 2048 --insecure-seed 3 --public key.pub -o key.pem",
        "rsa encrypt --key key.pub text -o message.rsa",
    ] {
        let output = solinas(place.path(), line).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
    place
});

/// Keys of TFHE in the folder `t`.
static TFHE: LazyLock<TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().unwrap();
    let line = "keygen --params gates-toy --research --insecure-seed 1 --out t";
    assert!(solinas(place.path(), line).output().unwrap().status.success());
    place
});

static INJECT: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("inject");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/faults/inject.c");
    let built = Command::new("cc").arg("-O1").arg("-o").arg(&program).arg(source).status().unwrap();
    assert!(built.success(), "cc builds tests/cli/faults/inject.c");
    (place, program)
});

/// The command in a folder, which is also the folder for temporary files.
pub(crate) fn solinas(place: &Path, line: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("solinas"));
    command.args(line.split(' ')).current_dir(place).env("TMPDIR", place).env("RAYON_NUM_THREADS", "2");
    command
}

/// Contents and mode of every file below a folder, by its path.
fn files(place: &Path) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut files = BTreeMap::new();
    let mut folders = vec![place.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(place).unwrap().to_str().unwrap().to_owned();
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
                files.insert(name, (fs::read(path).unwrap(), mode));
            }
        }
    }
    files
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap().success());
}

/// A verb in a separate folder.
struct Trial<'a> {
    verb: &'a Verb,
    place: TempDir,
    old: BTreeMap<String, (Vec<u8>, u32)>,
}

impl<'a> Trial<'a> {
    fn new(verb: &'a Verb) -> Self {
        let place = tempfile::tempdir().unwrap();
        copy(&START.path().join("."), place.path());
        for (from, to) in verb.before {
            fs::copy(place.path().join(from), place.path().join(to)).unwrap();
        }
        match verb.name {
            FORCE_TFHE | RANDOM => copy(&TFHE.path().join("t"), place.path()),
            _ => {}
        }
        let old = files(place.path());
        Self { verb, place, old }
    }

    fn command(&self) -> Command {
        solinas(self.place.path(), self.verb.line)
    }

    /// Runs the command with a fault at a call. Returns its output, and the number of such calls.
    fn inject(&self, kind: &str, at: usize, action: &str) -> (Output, usize) {
        let (aside, program) = &*INJECT;
        let count = aside.path().join(format!("count-{:?}", std::thread::current().id()));
        let command = self.command();
        let mut injected = Command::new(program);
        injected.arg(kind).arg(at.to_string()).arg(action).arg(&count).arg(command.get_program());
        injected.args(command.get_args()).current_dir(self.place.path());
        injected.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = injected.output().unwrap();
        assert_ne!(output.status.code(), Some(120), "{output:?}");
        (output, fs::read_to_string(count).unwrap().trim().parse().unwrap())
    }

    /// Runs the command and sends it a signal after that time.
    fn signal(&self, after: Duration, signal: &str) -> Output {
        let child = self.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(after);
        assert!(Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().is_ok());
        child.wait_with_output().unwrap()
    }

    /// Checks the invariants that hold at any time: each file is old, or new and complete; only the owner can read secret files.
    fn check(&self, what: &str) {
        for (name, (bytes, mode)) in files(self.place.path()) {
            let secret = name.contains("client.key") || name.ends_with(".pem") || ["values", "plain"].contains(&&*name);
            let old = self.old.get(&name).is_some_and(|(old, _)| *old == bytes);
            assert!(!secret || mode == 0o600 || old, "{what}: {name} has mode {mode:o}");
            if old || name.contains(".solinas-") {
                continue;
            }
            assert!(self.verb.writes.contains(&&*name) || NEXT.contains(&&*name), "{what}: {name} was written");
            let whole = match name.rsplit_once('.').map_or("", |(_, end)| end) {
                "ct" | "key" | "partial" => self.prints(&format!("inspect {name}")).is_some(),
                _ if name == "matrix" => self.prints("inspect matrix").is_some(),
                "pem" | "pub" => self.prints(&format!("rsa inspect {name}")).is_some(),
                _ => match &*name {
                    "values" => bytes == b"5\n",
                    "plain" => bytes == b"a text\n",
                    "square" => bytes == b"15241578750190521\n",
                    "signature" => self.prints("rsa verify --key key.pub --signature signature text").is_some(),
                    _ => self.prints(&format!("circuit stats {name}")).is_some(),
                },
            };
            assert!(whole, "{what}: {name} is not whole");
        }
        for name in self.old.keys() {
            assert!(self.place.path().join(name).exists() || self.is_pair(name), "{what}: {name} is gone");
        }
    }

    /// Checks that the next command restores a pair of keys after a kill during its replacement.
    fn is_pair(&self, name: &str) -> bool {
        match self.verb.name {
            "keygen --force" => name == "l/server.key",
            FORCE_TFHE => ["t/server.key", "t/public.key"].contains(&name),
            _ => false,
        }
    }

    fn prints(&self, line: &str) -> Option<String> {
        let output = solinas(self.place.path(), line).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// Checks the state after the next commands in the folders: no temporary files are left, pairs of keys match, and the command does its work.
    fn check_next(&self, what: &str) {
        // Runs another command, which must restore a half-replaced pair.
        for line in [
            "encrypt --research --key l/client.key --type bool true -o l/next.ct",
            "circuit build add --type u4 -o next.txt",
        ] {
            let output = solinas(self.place.path(), line).output().unwrap();
            assert!(output.status.success(), "{what}, then {line}: {output:?}");
        }
        if self.verb.name == FORCE_TFHE {
            // The command also restores the pair, before it reads the public key.
            for line in [
                "encrypt --research --key t/client.key --type bool true -o t/next.ct",
                "encrypt --research --key t/public.key --type bool true -o t/next.ct",
                "eval --key t/server.key not t/next.ct -o t/next.ct --quiet",
                "decrypt --key t/client.key t/next.ct",
            ] {
                assert!(self.prints(line).is_some(), "{what}, then {line}: the keys in t do not belong together");
            }
        }
        let opened = self.prints("decrypt --key l/client.key l/next.ct");
        assert_eq!(opened.as_deref(), Some("true\n"), "{what}");
        let evaluated = self.prints("eval --key l/server.key not l/next.ct -o l/next.ct --quiet");
        assert!(evaluated.is_some(), "{what}: the pair of keys in l does not belong together");
        let output = self.command().output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || message.contains("already exists"), "{what}, then again: {message}");
        self.check(&format!("{what}, then again"));
        for name in files(self.place.path()).keys() {
            let left = name.contains(".solinas-") || name.contains(".partial");
            assert!(!left, "{what}: {name} is left after the next command");
        }
        // If only the private half of an RSA key is stored, `rsa public` gives the public half.
        for name in self.verb.writes.iter().filter(|name| !name.ends_with(".partial") && !name.ends_with(".pub")) {
            assert!(self.place.path().join(name).exists(), "{what}: {name} is not there after the next command");
        }
    }
}

/// Outcomes of the kills of a verb.
#[derive(Clone, Default)]
struct Tally {
    at_a_call: usize,
    at_a_time: usize,
    /// The command had finished before the signal took effect, so there was no kill.
    late: usize,
}

/// A clean run of a verb: its system calls in all threads, and its duration.
fn measure(verb: &Verb) -> (usize, Duration) {
    let (trial, begin) = (Trial::new(verb), Instant::now());
    let output = trial.command().output().unwrap();
    assert!(output.status.success(), "{}: {output:?}", verb.name);
    let duration = begin.elapsed();
    let (output, calls) = Trial::new(verb).inject("any", 0, "fail");
    assert!(output.status.success(), "{}: {output:?}", verb.name);
    (calls, duration)
}

/// Half of the kills come before a random system call, and half after a random part of the duration, since long computations make no calls. A command that
/// ends before the kill does not count, and runs again until the signal ends it.
#[test]
fn commands_that_are_killed_leave_whole_files_and_nothing_after_the_next() {
    let clean: Vec<(usize, Duration)> = VERBS.iter().map(measure).collect();
    let kills = solinas_testing::rounds(VERBS.len(), 1000);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut tallies = vec![Tally::default(); VERBS.len()];
    for kill in 0..kills {
        let index = kill % VERBS.len();
        let (verb, (calls, duration), tally) = (&VERBS[index], clean[index], &mut tallies[index]);
        let at_a_call = (index + kill / VERBS.len()).is_multiple_of(2);
        loop {
            let signal = ["KILL", "TERM", "INT"][random.random_range(0..3)];
            let trial = Trial::new(verb);
            let (output, moment) = if at_a_call {
                let at = random.random_range(1..=calls);
                (trial.inject("any", at, signal).0, format!("call {at} of {calls}"))
            } else {
                let after = random.random_range(0..duration.as_micros() as u64);
                (trial.signal(Duration::from_micros(after), signal), format!("{after} us"))
            };
            let what = format!("kill {kill}: {} by {signal} at {moment}", verb.name);
            match output.status.code() {
                Some(0) => tally.late += 1,
                // The signal itself ended the command, or `inject` reports it, or the command handled the signal.
                None | Some(130 | 137 | 143) => {
                    trial.check(&what);
                    trial.check_next(&what);
                    break;
                }
                code => panic!("{what}: {code:?}: {}", String::from_utf8_lossy(&output.stderr)),
            }
            assert!(tally.late < 20 + kills, "{what}: the command always ends before");
        }
        *if at_a_call { &mut tally.at_a_call } else { &mut tally.at_a_time } += 1;
    }
    for (verb, Tally { at_a_call, at_a_time, late }) in VERBS.iter().zip(tallies) {
        let name = verb.name;
        println!(
            "{name:24} killed {at_a_call} times at a call, {at_a_time} times at a time; ended {late} times before"
        );
    }
    println!("{kills} kills of running commands");
}

/// Tests every call of a kind in every verb, by a kill and by a failure. The short form tests one call of each verb, and of
/// calls other than renames, which decide whether a file is old or new, it tests one of the two.
fn inject_all(kind: &str) {
    let (mut failures, mut kills) = (0, 0);
    for (index, verb) in VERBS.iter().enumerate() {
        let (output, calls) = Trial::new(verb).inject(kind, 0, "fail");
        assert!(output.status.success(), "{}: {output:?}", verb.name);
        // Each verb gets another call.
        let is_tried = |at: &usize| is_long() || (at + index).is_multiple_of(calls);
        for at in (1..=calls).filter(is_tried) {
            let what = format!("{kind} {at} of {calls} of {}", verb.name);
            let [kill, fail] = [0, 1].map(|turn| is_long() || kind == "rename" || (index + kind.len()) % 2 == turn);
            if kill {
                let trial = Trial::new(verb);
                let (output, _) = trial.inject(kind, at, "KILL");
                assert!(output.status.code() == Some(128 + 9), "{what}: {output:?}");
                trial.check(&what);
                trial.check_next(&what);
                kills += 1;
            }
            if !fail {
                continue;
            }
            let what = format!("{what} that fails");
            let trial = Trial::new(verb);
            let (output, _) = trial.inject(kind, at, "fail");
            let message = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            let told =
                code == Some(0) || (code == Some(1) && message.contains("error: ") && !message.contains("panicked"));
            assert!(told, "{what}: {code:?}: {message}");
            trial.check(&what);
            trial.check_next(&what);
            failures += 1;
        }
    }
    println!("{kind}: {failures} calls that failed, {kills} at which the command was killed");
}

#[test]
fn every_rename_fails_and_kills() {
    inject_all("rename");
}

#[test]
fn every_sync_fails_and_kills() {
    inject_all("sync");
}

#[test]
fn every_unlink_fails_and_kills() {
    inject_all("unlink");
}

#[test]
fn every_write_fails_and_kills() {
    inject_all("write");
}

#[test]
fn every_creation_fails_and_kills() {
    inject_all("create");
}
