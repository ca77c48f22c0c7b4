//! A service that is killed again and again.

use crate::harness::{Client, U8, keys};
use serde_json::json;
use solinas_engine::Type;
use solinas_server::{Config, Service, Token};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A service in a process of its own.
pub(crate) struct Process(Child);

impl Process {
    /// Whether it has not ended.
    pub(crate) fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL. It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The variable that names the store of [`child_that_serves`].
pub(crate) const STORE: &str = "SOLINAS_TEST_STORE";

/// The smallest service: it takes keys for trials, prints its address and the token of a new store, and runs until it is killed. Other tests start it as a
/// process of its own.
#[test]
fn child_that_serves() {
    let Some(store) = std::env::var_os(STORE) else { return };
    let mut config = Config::new(PathBuf::from(store));
    config.address.set_port(0);
    config.research = true;
    config.checkpoint = Duration::ZERO;
    config.limits.attempts = 1000;
    config.limits.disk_reserve_bytes = 0;
    let service = Service::start(config).unwrap();
    println!("\nhttp://{} {}", service.address(), service.first_token().map_or("-", Token::secret));
    loop {
        std::thread::park();
    }
}

/// The arguments with which this executable runs [`child_that_serves`].
pub(crate) const CHILD: [&str; 3] = ["--exact", "kills::child_that_serves", "--nocapture"];

/// Starts the smallest service on a store. Returns its address, and its token if the store is new.
pub(crate) fn start(store: &Path) -> (Process, String, String) {
    run(Command::new(std::env::current_exe().unwrap()).args(CHILD).env(STORE, store))
}

/// As [`start`], with the command of the service.
pub(crate) fn run(command: &mut Command) -> (Process, String, String) {
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    // The frame of the tests prints lines of its own first.
    let line = lines.find(|line| line.starts_with("http://")).expect("the service prints its address");
    // After a minute the frame prints that the test still runs, and it ends when nobody reads that.
    std::thread::spawn(move || lines.for_each(drop));
    let (url, token) = line.split_once(' ').unwrap_or_else(|| panic!("it said {line:?}"));
    (Process(process), url.to_owned(), token.to_owned())
}

/// As [`run`], with a command `solinas serve --json`.
pub(crate) fn run_command(command: &mut Command) -> (Process, String, String) {
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = serde_json::Deserializer::from_reader(process.stdout.take().unwrap()).into_iter();
    let said: serde_json::Value = said.next().unwrap().unwrap();
    let text = |name: &str| said[name].as_str().unwrap_or_else(|| panic!("it said {said}")).to_owned();
    (Process(process), text("address"), text("token"))
}

#[test]
fn kills_lose_no_job_and_change_no_result() {
    let store = tempfile::tempdir().unwrap();
    crate::cluster::prepare(store.path());
    let (mut process, url, token) = start(store.path());
    let mut client = Client::new(&url, &token);
    let key = client.register();
    // A job of 6049 bootstraps, so that kills hit it.
    let ty = Type::Uint(64);
    let inputs = [client.input(ty, 1234), client.input(ty, 53)];
    let body = json!({ "key": key, "program": client.program("mul", &[ty, ty]), "inputs": inputs });
    let (mut ids, mut running) = (Vec::new(), 0);
    let rounds = solinas_testing::rounds(4, 20) as u64;
    for round in 0..rounds {
        ids.push(client.submit(&format!("kill {round}"), &body).ok()["id"].as_str().unwrap().to_owned());
        // A blob that was acknowledged is there after the kill.
        let blob = client.input(U8, round)["blob"].as_str().unwrap().to_owned();
        std::thread::sleep(Duration::from_millis(20 + 97 * round % 150));
        drop(process);
        let (next, url, _) = start(store.path());
        process = next;
        client = Client::new(&url, &token);
        assert_eq!(client.get(&format!("/v1/blobs/{blob}")).status, 200);
        running +=
            usize::from(client.get("/v1/jobs?state=succeeded").ok()["jobs"].as_array().unwrap().len() < ids.len());
        // The same request again is the same job.
        assert_eq!(client.submit(&format!("kill {round}"), &body).ok()["id"], *ids.last().unwrap());
    }
    let digests: Vec<_> = ids.iter().map(|id| client.wait(id)["results"][0]["digest"].clone()).collect();
    assert!(digests.iter().all(|digest| digest.is_string() && *digest == digests[0]), "{digests:?}");
    assert_eq!(client.result(&ids[0]), (1234 * 53).to_string());
    assert!(running > 0, "no kill hit a job");
    let periods: Vec<_> = ids.iter().flat_map(|id| client.periods(id)).collect();
    assert!(periods.iter().any(|(_, _, _, state)| state == "lost"), "{periods:?}");
    assert_eq!(periods.iter().filter(|(_, _, _, state)| state == "succeeded").count(), ids.len());
    assert_eq!(keys().2, key);
    println!("{rounds} kills, {running} of them in the middle of jobs");
    assert_eq!(std::fs::read_dir(store.path().join("checkpoints")).unwrap().count(), 0);
}
