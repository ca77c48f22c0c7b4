//! `solinas work`: workers in processes of their own, which are killed, frozen and stopped.
#![cfg(unix)]

use crate::common::Place;
use crate::service::Service;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(240);

/// A worker in a process of its own. It is killed on drop.
struct Worker {
    process: Child,
    /// What it prints on standard error.
    lines: Receiver<String>,
}

impl Worker {
    /// Starts a worker with a cache of its own.
    fn start(place: &Place, service: &Service, cache: &str) -> Self {
        if !place.path("worker.token").exists() {
            place.write("worker.token", place.run("admin token create --scope work --store store"));
        }
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("solinas"));
        command.current_dir(place.path("")).args(["work", "--threads", "1", "--token-file", "worker.token"]);
        command.args(["--server", service.work_url.as_ref().unwrap(), "--cache", cache]);
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(process.stderr.take().unwrap());
        let (give, lines) = channel();
        std::thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| give.send(line)));
        Self { process, lines }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits for a line with this part.
    fn says(&self, part: &str) {
        let end = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if line.contains(part) {
                return;
            }
        }
        panic!("it does not say {part:?}");
    }

    /// Asks it to stop, and waits.
    fn stop(mut self) {
        self.signal(Signal::TERM);
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A service that computes nothing itself, whose leases hold for two seconds.
fn service(place: &Place) -> Service {
    let more = ["--work-addr", "127.0.0.1:0", "--no-local-worker", "--checkpoint-every", "86400"];
    Service::limited(place, "lease_seconds = 2\n", &more)
}

/// Begins products that take some seconds, whose result is c.ct.
fn begin(place: &Place, service: &Service) -> Child {
    place.encrypt("u64", "3 5 7 9", "a.ct");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("solinas"));
    command.current_dir(place.path("")).args(["eval", "--server", "--key", &crate::common::key("k/server.key")]);
    command.args(["mul", "a.ct", "a.ct", "-o", "c.ct"]);
    command.env("SOLINAS_SERVER", service.url()).env("SOLINAS_TOKEN", service.token.as_ref().unwrap());
    command.spawn().unwrap()
}

/// Waits until the newest job has come so far.
fn until(place: &Place, service: &Service, done: impl Fn(&Value) -> bool) {
    let start = Instant::now();
    loop {
        let jobs = service.run(place, service.token.as_ref().unwrap(), "remote jobs --json");
        let jobs: Value = serde_json::from_str(&jobs).unwrap();
        if done(&jobs[0]) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{jobs}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checks the result of [`begin`].
fn ends(place: &Place, mut eval: Child) {
    assert!(eval.wait().unwrap().success());
    assert_eq!(place.run("decrypt --key CLIENT c.ct").split_whitespace().collect::<Vec<_>>(), ["9", "25", "49", "81"]);
}

#[test]
fn a_job_outlives_a_killed_worker() {
    let place = Place::new();
    let service = service(&place);
    let first = Worker::start(&place, &service, "first");
    let eval = begin(&place, &service);
    first.says("begins");
    until(&place, &service, |job| job["progress"]["done"].as_u64() > Some(0));
    // This is SIGKILL.
    drop(first);
    let second = Worker::start(&place, &service, "second");
    second.says("begins");
    ends(&place, eval);
    until(&place, &service, |job| job["attempts"] == 2 && job["state"] == "succeeded");
    second.stop();
}

#[test]
fn a_frozen_worker_is_refused_and_goes_on() {
    let place = Place::new();
    let service = service(&place);
    let frozen = Worker::start(&place, &service, "first");
    let eval = begin(&place, &service);
    frozen.says("begins");
    until(&place, &service, |job| job["progress"]["done"].as_u64() > Some(0));
    frozen.signal(Signal::STOP);
    let second = Worker::start(&place, &service, "second");
    second.says("begins");
    ends(&place, eval);
    second.stop();
    frozen.signal(Signal::CONT);
    frozen.says("has ended before its work");
    let run = |line: &str| service.run(&place, service.token.as_ref().unwrap(), line);
    let digest =
        || -> Value { serde_json::from_str::<Value>(&run("remote jobs --json")).unwrap()[0]["results"][0].clone() };
    let result = digest();
    assert!(result["digest"].is_string(), "{result}");
    run("eval --server add a.ct 1 -o d.ct");
    assert_eq!(place.run("decrypt --key CLIENT d.ct").split_whitespace().collect::<Vec<_>>(), ["4", "6", "8", "10"]);
    let jobs: Value = serde_json::from_str(&run("remote jobs --json")).unwrap();
    assert_eq!(jobs[1]["results"][0], result, "the first result stays");
    frozen.stop();
}

#[test]
fn mistakes_of_workers_name_their_fix() {
    let place = Place::new();
    let service = service(&place);
    let url = service.work_url.clone().unwrap();
    let token = service.token.as_ref().unwrap();
    place.write("client.token", token);
    place.write("wrong.token", "slw_wrong");
    place.write("worker.token", place.run("admin token create --scope work --store store"));
    for (line, code, part) in [
        (format!("work --server {url} --token-file client.token --cache c"), 2, "--scope work"),
        (format!("work --server {url} --token-file nothing --cache c"), 1, "nothing"),
        ("work --server nowhere --token-file worker.token --cache c".to_owned(), 1, "give http://HOST:PORT"),
        (format!("work --server {url} --token-file worker.token --cache worker.token"), 1, "worker.token"),
        (
            "work --server https://localhost:1 --token-file worker.token --cache c --cafile worker.token".to_owned(),
            1,
            "PEM",
        ),
        ("admin token create --store store".to_owned(), 2, "--tenant"),
        ("admin token create --scope work,read --store store".to_owned(), 1, "belongs to no tenant"),
        ("admin token create --tenant lab --scope work --store store".to_owned(), 1, "belongs to no tenant"),
        ("serve --no-local-worker".to_owned(), 2, "--work-addr"),
    ] {
        let output = place.command(&line).assert().code(code);
        let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(message.contains(part), "{line}: {message}");
    }
    // This is found when the service answers.
    let line = format!("work --server {url} --token-file wrong.token --cache c");
    let output = place.command(&line).assert().code(1);
    let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(message.contains("none of workers") && message.contains("help: "), "{message}");
    let first = Worker::start(&place, &service, "c");
    first.says("has answered");
    let line = format!("work --server {url} --token-file worker.token --cache c");
    let message = String::from_utf8(place.command(&line).assert().code(1).get_output().stderr.clone()).unwrap();
    assert!(message.contains("name another folder with --cache"), "{message}");
    assert!(place.run("admin token list --store store").contains("work"));
    first.stop();
}
