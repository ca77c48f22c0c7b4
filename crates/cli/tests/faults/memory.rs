//! Every verb with less and less memory (`ulimit -v`): it does its work or ends with exit code 1 and a message, never by a signal.

use crate::{long, solinas};
use std::process::Command;

/// Commands that make what later ones read.
const START: [&str; 11] = [
    "keygen --params gates-40 --insecure-seed 1 --out k",
    "keygen --scheme lwe --params toy-256-8 --research --insecure-seed 1 --out l",
    "keygen --scheme gh --params ci-15 --research --insecure-seed 1 --out g",
    "keygen --scheme ntru --params tight-512-12 --research --insecure-seed 1 --out n",
    "keygen --scheme bgv --params bits-512-20 --research --insecure-seed 1 --out b",
    "encrypt --key k/client.key --type u4 3 -o k.ct",
    "encrypt --key l/client.key --type u4 3 -o l.ct",
    "encrypt --key n/client.key --type u4 3 -o n.ct",
    "encrypt --key b/client.key --type u4 3 -o b.ct",
    "rsa keygen --bits 2048 --insecure-seed 3 --public key.pub -o key.pem",
    "circuit build mul --type u8 -o c.txt",
];

/// Every verb; `OUT` is a new file or folder each time.
const LINES: [&str; 32] = [
    "keygen --params gates-40 --insecure-seed 1 --out OUT",
    "keygen --out OUT",
    "keygen --scheme bgv --out OUT",
    "keygen --scheme bgv --params boot128-16384-8 --out OUT",
    "keygen --scheme ntru --params secure-16384-2 --out OUT",
    "keygen --scheme lwe --out OUT",
    "keygen --scheme gh --params toy --research --out OUT",
    "keygen --scheme gh --params ci-15 --research --insecure-seed 1 --out OUT",
    "encrypt --key k/client.key --type u8 3 -o OUT",
    "encrypt --key l/client.key --type u8 3 -o OUT",
    "encrypt --key n/client.key --type u8 3 -o OUT",
    "encrypt --key b/client.key --type u8 3 -o OUT",
    "encrypt --key g/server.key --type bool true -o OUT",
    "eval --key k/server.key add k.ct k.ct -o OUT",
    "eval --key l/server.key not l.ct -o OUT",
    "eval --key n/server.key add n.ct n.ct -o OUT",
    "eval --key b/server.key add b.ct b.ct -o OUT",
    "decrypt --key k/client.key k.ct",
    "decrypt --key l/client.key l.ct -o OUT",
    "expand --key l/server.key -o OUT",
    "inspect k/client.key k/server.key l.ct",
    "circuit build mul --type u32 -o OUT",
    "circuit stats c.txt",
    "params",
    "params find --scheme bgv --security 128 --depth 3",
    "bigint powm 3 0xffffffffffffffffffffffffffffffff 0xfffffffffffffffffffffffffffffffffffffff1",
    "rsa keygen --bits 2048 --insecure-seed 3 -o OUT",
    "rsa sign --key key.pem c.txt -o OUT",
    "rsa inspect key.pem",
    "paper --list",
    "bench --help",
    "demo --params gates-40 --quick",
];

/// Limits in MiB, from what holds the program alone to what holds every verb.
fn limits() -> Vec<u64> {
    match long() {
        Some(_) => (0..20).map(|i| (24.0 * f64::powf(2000.0 / 24.0, f64::from(i) / 19.0)) as u64).collect(),
        None => vec![24, 200],
    }
}

#[test]
fn a_verb_without_memory_says_so() {
    let place = tempfile::tempdir().unwrap();
    for line in START {
        let output = solinas(place.path(), line).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
    let (mut done, mut refused, mut aborted) = (0, 0, 0);
    for (i, limit) in limits().into_iter().enumerate() {
        for (j, line) in LINES.into_iter().enumerate() {
            let line = line.replace("OUT", &format!("out-{i}-{j}"));
            let command = solinas(place.path(), &line);
            let mut limited = Command::new("sh");
            limited.args(["-c", "ulimit -c 0; ulimit -v $0; exec \"$@\"", &(limit << 10).to_string()]);
            limited.arg(command.get_program()).args(command.get_args()).current_dir(place.path());
            limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let output = limited.output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            let what = format!("{line} in {limit} MiB");
            match output.status.code() {
                Some(0) => done += 1,
                Some(1) if message.contains("error: ") => refused += 1,
                Some(1) if message.contains("memory allocation of") => {
                    println!("{what}: {message}");
                    aborted += 1;
                }
                code => panic!("{what}: {code:?} {message}"),
            }
        }
    }
    println!("{done} did their work, {refused} were refused, {aborted} ended by an allocation that failed");
}
