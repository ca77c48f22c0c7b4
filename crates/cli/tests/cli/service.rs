//! `solinas serve`, and what its clients and its operator call.

use crate::common::Place;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A service in a process of its own. It is killed on drop.
pub(crate) struct Service {
    process: Child,
    stdout: BufReader<ChildStdout>,
    url: String,
    /// The address for workers.
    pub(crate) work_url: Option<String>,
    pub(crate) token: Option<String>,
}

impl Service {
    /// Starts a service on the folder `store` of a place, with more arguments.
    fn start(place: &Place, more: &[&str]) -> Self {
        Self::limited(place, "", more)
    }

    /// Starts a service with limits in TOML.
    pub(crate) fn limited(place: &Place, limits: &str, more: &[&str]) -> Self {
        // The disk of the machine that tests may be nearly full.
        std::fs::write(place.path("test-limits.toml"), format!("disk_reserve_bytes = 0\n{limits}")).unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("solinas"));
        command.args(["serve", "--json", "--addr", "127.0.0.1:0", "--research", "--store"]).arg(place.path("store"));
        command.arg("--config").arg(place.path("test-limits.toml"));
        let mut process = command.args(more).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut text = String::new();
        while !text.ends_with("}\n") {
            assert!(stdout.read_line(&mut text).unwrap() > 0, "it ended: {text}");
        }
        let started: Value = serde_json::from_str(&text).unwrap();
        let token = started["token"].as_str().map(str::to_owned);
        let text = |field: &str| started[field].as_str().map(str::to_owned);
        Self { process, stdout, url: text("address").unwrap(), work_url: text("work_address"), token }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Runs the command as a client, with a token.
    pub(crate) fn command(&self, place: &Place, token: &str, line: &str) -> assert_cmd::Command {
        let mut command = place.command(line);
        command.env("SOLINAS_SERVER", &self.url).env("SOLINAS_TOKEN", token);
        command
    }

    pub(crate) fn run(&self, place: &Place, token: &str, line: &str) -> String {
        let output = self.command(place, token, line).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    }

    fn fail(&self, place: &Place, token: &str, line: &str) -> String {
        let output = self.command(place, token, line).assert().failure();
        String::from_utf8(output.get_output().stderr.clone()).unwrap()
    }

    /// Asks it to stop, and waits.
    #[cfg(unix)]
    fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.process.wait().unwrap().success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_client_computes_on_the_service_as_it_does_here() {
    let place = Place::new();
    let service = Service::start(&place, &["--threads", "2", "--verify-fraction", "0.001"]);
    let token = service.token.clone().unwrap();
    let run = |line: &str| service.run(&place, &token, line);
    let first = run("remote register SERVER");
    assert!(first.starts_with("registered key ") && first.contains("bytes sent"), "{first}");
    assert!(run("remote register SERVER").starts_with("already there"));
    place.encrypt("u8", "12", "a.ct");
    place.encrypt("u8", "20", "b.ct");
    place.encrypt("u8", "5 40 7", "many.ct");
    let estimate = run("eval --server mul a.ct b.ct --estimate");
    assert!(estimate.contains("bootstraps, depth") && estimate.contains("in its queue"), "{estimate}");
    run("eval --server mul a.ct b.ct -o c.ct");
    place.run("eval --key SERVER mul a.ct b.ct -o local.ct");
    assert_eq!(place.run("decrypt --key CLIENT c.ct"), place.run("decrypt --key CLIENT local.ct"));
    run("eval --server add many.ct 3 -o more.ct");
    run("eval --server max many.ct -o most.ct --compact");
    assert_eq!(place.run("decrypt --key CLIENT more.ct").split_whitespace().collect::<Vec<_>>(), ["8", "43", "10"]);
    assert_eq!(place.run("decrypt --key CLIENT most.ct").trim(), "40");
    place.run("circuit build add --type u8 -o add8.txt");
    run("eval --server --circuit add8.txt --inputs a.ct b.ct -o sum.ct");
    assert_eq!(place.run("decrypt --key CLIENT sum.ct").trim(), "32");

    let jobs: Value = serde_json::from_str(&run("remote jobs --json")).unwrap();
    let id = jobs[0]["id"].as_str().unwrap();
    assert!(run("remote jobs").contains(id) && run("remote keys").contains("last used"));
    assert!(run(&format!("remote watch {id}")).contains("has succeeded"));
    run(&format!("remote result {id} -o again.ct"));
    assert_eq!(place.run("decrypt --key CLIENT again.ct").trim(), "32");
    run(&format!("remote cancel {id}"));
    run(&format!("remote rm {id}"));
    assert!(service.fail(&place, &token, &format!("remote watch {id}")).contains("check the identity"));
    let usage = run("remote usage");
    assert!(usage.contains("limits queue_seconds 600") && usage.contains("limits verify_fraction 0.001"), "{usage}");
    #[cfg(unix)]
    service.stop();
}

#[test]
fn a_missing_key_is_sent_again_and_mistakes_name_their_fix() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let token = service.token.clone().unwrap();
    place.encrypt("u8", "1", "a.ct");
    for (line, part) in [
        ("eval --server add a.ct a.ct -o c.ct", "solinas remote register server.key"),
        ("remote register CLIENT", "name server.key"),
        ("remote register a.ct", "a.ct"),
        ("eval --server to_bits a.ct -o c.ct", "without --server"),
        ("eval --server add a.ct a.ct -o c.ct --threads 2", "cannot be used with"),
        ("remote watch nothing", "check the identity"),
    ] {
        let message = service.fail(&place, &token, line);
        assert!(
            message.contains(part) && message.contains("help: ") || message.contains("cannot be used"),
            "{line}: {message}"
        );
    }
    service.run(&place, &token, "eval --server --key SERVER add a.ct a.ct -o c.ct");
    assert_eq!(place.run("decrypt --key CLIENT c.ct").trim(), "2");
    assert!(service.fail(&place, "slk_wrong", "remote keys").contains("the token is unknown"));
    let message = place.fail("remote keys", 2);
    assert!(message.contains("SOLINAS_SERVER is not set"), "{message}");
    for line in ["serve --addr 0.0.0.0:0", "serve --work-addr 0.0.0.0:0"] {
        let message = place.fail(line, 2);
        assert!(message.contains("--insecure-http"), "{message}");
    }
    assert!(place.fail("serve --verify-fraction 1.1", 2).contains("a number from 0 to 1"));
    let store = place.path("store");
    let line = format!("serve --addr 127.0.0.1:0 --store {}", store.display());
    assert!(place.fail(&line, 1).contains("another process serves the store"));
    place.write("limits.toml", "colour = 3");
    let message = place.fail("serve --config limits.toml --store other", 1);
    assert!(message.contains("limits.toml, line 1") && message.contains("colour"), "{message}");
    for limit in [
        "verify_fraction = 2",
        "lease_seconds = 0",
        "connections = 0",
        "uploads = 9223372036854775807",
        "queue_seconds = nan",
    ] {
        place.write("limits.toml", limit);
        let message = place.fail("serve --config limits.toml --store other", 1);
        assert!(message.contains("limits.toml") && message.contains(&limit[..7]), "{message}");
    }
    place.write("limits.toml", "inputs = 5\n[oidc]\nissuer = 'https://issuer.example'\naudience = 'a'\ncolour = 3");
    let message = place.fail("serve --config limits.toml --store other", 1);
    assert!(message.contains("limits.toml, line 5") && message.contains("colour"), "{message}");
    place.write("limits.toml", "[mutual_tls]\nclient_ca = 'ca.pem'");
    let message = place.fail("serve --config limits.toml --store other", 2);
    assert!(message.contains("needs HTTPS") && message.contains("--tls"), "{message}");
    let message = place.fail("admin token list --store nowhere", 1);
    assert!(message.contains("there is no store in"), "{message}");
    let message = place.fail("admin tenant local --stored-bytes nan --store store", 2);
    assert!(message.contains("give a number from 0 on"), "{message}");
}

#[test]
fn the_operator_makes_and_revokes_tokens() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let token = place.run("admin token create --tenant lab --scope read --store store");
    let token = token.trim();
    assert_eq!(service.run(&place, token, "remote keys --json").trim(), "[]");
    let message = service.fail(&place, token, "remote register SERVER");
    assert!(message.contains("lacks the scope"), "{message}");
    let tokens: Value = serde_json::from_str(&place.run("admin token list --store store --json")).unwrap();
    let of_lab = tokens.as_array().unwrap().iter().find(|token| token["tenant"] == "lab").unwrap();
    place.run("admin tenant lab --live-jobs 5 --store store");
    place.run(&format!("admin token revoke {} --store store", of_lab["id"].as_str().unwrap()));
    assert!(service.fail(&place, token, "remote keys").contains("revoked"));
    let written = place.run("admin backup backup.tar --store store");
    assert!(written.starts_with("backup.tar has the database and "), "{written}");
    place.run("admin restore backup.tar --store copy");
    assert_eq!(place.run("admin check --store copy"), place.run("admin check --store store"));
    for (line, part) in [
        ("admin backup backup.tar --store store", "exist"),
        ("admin restore backup.tar --store copy", "is not empty"),
        ("admin restore test-limits.toml --store new", "test-limits.toml"),
        ("admin check --store nowhere", "there is no store in"),
        ("admin move --to postgres:///solinas --store store", "another process serves"),
        ("admin move --to s3cret --store copy", "is malformed"),
        ("admin move --to postgres://solinas:s3cret@127.0.0.1:1/solinas --store copy", "cannot be used now"),
        ("serve --addr 127.0.0.1:0 --database postgres:///solinas --store copy", "are in SQLite"),
    ] {
        let message = place.fail(line, 1);
        assert!(message.contains(part) && message.contains("help: "), "{line}: {message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
    assert!(place.fail("admin move --store copy", 2).contains("--to"));
    assert!(place.fail("admin tenant nobody --store store", 1).contains("admin tenant NAME --create"));
    place.run("admin tenant nobody --create --store store");
    place.run("admin tenant nobody --live-jobs 5 --store store");
    assert!(place.fail("admin token create --tenant A/B --store store", 1).contains("lower-case"));
}

#[test]
fn a_service_speaks_https_to_clients_that_trust_its_certificate() {
    let place = Place::new();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    place.write("cert.pem", certified.cert.pem());
    place.write("key.pem", certified.signing_key.serialize_pem());
    let (certificate, key) = (place.path("cert.pem"), place.path("key.pem"));
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let mut service = Service::start(&place, &["--tls", certificate, key]);
    let token = service.token.clone().unwrap();
    let port = service.url.rsplit_once(':').unwrap().1.to_owned();
    assert!(service.url.starts_with("https://127.0.0.1:"), "{}", service.url);
    service.url = format!("https://localhost:{port}");
    let usage = |trusted: &str| {
        let mut command = service.command(&place, &token, "remote usage");
        command.env("SSL_CERT_FILE", trusted).assert()
    };
    usage(certificate).success();
    // The key is no certificate, so the client trusts none.
    let refused = usage(key).failure();
    let message = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(message.contains("cannot trust the certificate") && message.contains("SSL_CERT_FILE"), "{message}");
    let line = format!("serve --addr 127.0.0.1:0 --store other --tls {key} {certificate}");
    let message = place.fail(&line, 1);
    assert!(message.contains("key.pem") && message.contains("both in PEM"), "{message}");
}
