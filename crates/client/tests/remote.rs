//! The client with a service in this process.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_client::{Error, Input, JobRequest, Remote, Trust};
use solinas_engine::{ClientKey, Control, KeygenOptions, Plain, Program, ServerKey, ServerOptions, Type, keygen};
use solinas_server::{Config, Service};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const U8: Type = Type::Uint(8);

fn keys() -> (ClientKey, ServerKey) {
    let options = KeygenOptions {
        params: Some("integers-toy".into()),
        research: true,
        insecure_seed: Some(3),
        ..KeygenOptions::default()
    };
    keygen(&options, &Control::default()).unwrap()
}

fn service(folder: &Path, port: u16) -> Service {
    let mut config = Config::new(folder.to_path_buf());
    config.address.set_port(port);
    config.research = true;
    config.threads = Some(2);
    config.limits.disk_reserve_bytes = 0;
    Service::start(config).unwrap()
}

fn request(op: &str, ty: Type) -> JobRequest {
    JobRequest::new(Program::from_op(op, &[ty, ty]).unwrap().to_json(op).unwrap())
}

fn inputs(client: &ClientKey, ty: Type, values: [u64; 2]) -> [Input; 2] {
    values.map(|value| client.encrypt(&Plain::scalar(ty, value).unwrap()).unwrap().to_bytes().unwrap().into())
}

#[test]
fn jobs_give_the_results_and_bytes_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path(), 0);
    let url = format!("http://{}", service.address());
    let remote = Remote::connect(&url, service.first_token().unwrap().secret(), &Trust::default()).unwrap();
    let (client, server_key) = keys();
    let (bytes, id) = (server_key.to_bytes().unwrap(), server_key.key_id().to_string());
    let operands = inputs(&client, U8, [12, 20]);

    // The first run finds the key missing, and sends it.
    let error = remote.submit(&request("mul", U8), &id, &operands).unwrap_err();
    assert_eq!(error.code(), Some("key_missing"));
    let first = request("mul", U8).named("first");
    let key = || Ok::<_, Error>(bytes.clone());
    let job = remote.with_key(key, || remote.submit(&first, &id, &operands)).unwrap();
    let unused = || -> Result<Vec<u8>, Error> { panic!("the service has the key") };
    assert!(remote.with_key(unused, || remote.estimate(&first, &id, None)).unwrap().bootstraps > 0);
    let results = job.ciphertexts(&Control::default()).unwrap();
    assert_eq!(client.decrypt(&results[0]).unwrap().to_strings(), ["240"]);
    // The bytes of a large file of the key lie at other places than those in memory.
    let file = folder.path().join("server.key");
    server_key.save(&file, false).unwrap();
    for bytes in [bytes.clone(), std::fs::read(&file).unwrap()] {
        assert_eq!(remote.register(&bytes).unwrap().sent, 0, "already there");
    }

    // One plan gives the same bytes here.
    let options = ServerOptions { threads: Some(2), ..ServerOptions::default() };
    let local = solinas_engine::Server::with_options(&server_key, &options).unwrap();
    let source = Program::from_op("mul", &[U8, U8]).unwrap();
    let ciphertexts = operands.each_ref().map(|input| match input {
        Input::Encrypted(bytes) => solinas_engine::Ciphertext::from_bytes(bytes).unwrap(),
        Input::Public(_) => unreachable!(),
    });
    let here = local.run(solinas_engine::Work::program(&source, &ciphertexts), &Control::default()).unwrap();
    assert_eq!(here[0].to_bytes().unwrap(), job.wait(&Control::default()).unwrap()[0].bytes);

    let public = Input::Public(Plain::scalar(U8, 5).unwrap());
    let [a, _] = operands;
    let job = remote.submit(&request("add", U8).compact(true), &id, &[a, public]).unwrap();
    let results = remote.job(job.id()).ciphertexts(&Control::default()).unwrap();
    assert_eq!(client.decrypt(&results[0]).unwrap().to_strings(), ["17"]);
    assert!(results[0].is_compact());
    assert!(remote.estimate(&request("add", U8), &id, Some(&[vec![3], vec![3]])).unwrap().bootstraps > 0);
    assert_eq!(remote.jobs(None, 100).unwrap().len(), 2);
    assert_eq!(remote.jobs(Some("succeeded"), 5000).unwrap()[1]["name"], "first");
    assert_eq!((remote.jobs(None, 1).unwrap().len(), remote.jobs(Some("running"), 9).unwrap().len()), (1, 0));
    assert_eq!(remote.jobs(Some("a&b"), 1).unwrap_err().code(), Some("bad_request"));
    job.remove().unwrap();
    assert_eq!(job.state(0).unwrap_err().code(), Some("not_found"));
    remote.remove_key(&id).unwrap();
    assert_eq!(remote.keys().unwrap().as_array().unwrap().len(), 0);
    assert!(matches!(remote.register(&client.to_bytes().unwrap()), Err(Error::Secret)));
    service.stop();
}

#[test]
fn requests_outlive_a_restart_and_waits_can_be_left() {
    let folder = tempfile::tempdir().unwrap();
    let first = service(folder.path(), 0);
    let (url, port) = (format!("http://{}", first.address()), first.address().port());
    let remote = Remote::connect(&url, first.first_token().unwrap().secret(), &Trust::default()).unwrap();
    let (client, server_key) = keys();
    let ty = Type::Uint(16);
    let id = remote.register(&server_key.to_bytes().unwrap()).unwrap().key_id;
    let job = remote.submit(&request("mul", ty), &id, &inputs(&client, ty, [300, 70])).unwrap();
    let leave = AtomicBool::new(true);
    let control = Control { progress: None, cancel: Some(&leave) };
    assert!(matches!(job.wait(&control), Err(Error::Values(solinas_engine::Error::Cancelled))));
    // The client waits while the service stops and starts again.
    let waits = std::thread::spawn({
        let job = job.clone();
        move || job.ciphertexts(&Control::default()).unwrap()
    });
    first.stop();
    std::thread::sleep(Duration::from_millis(300));
    let second = service(folder.path(), port);
    assert_eq!(client.decrypt(&waits.join().unwrap()[0]).unwrap().to_strings(), ["21000"]);
    job.cancel().unwrap();
    assert_eq!(job.state(0).unwrap().name(), "succeeded", "a job that has ended stays as it is");
    second.stop();
}

#[test]
fn errors_name_the_address_and_the_fix() {
    let message = |result: Result<Remote, Error>| result.unwrap_err().to_string();
    assert!(message(Remote::connect("ftp://x", "t", &Trust::default())).contains("give http://HOST:PORT"));
    for url in
        ["http://fhe.example.org", "http://10.0.0.7:7470", "http://localhost.example.org", "HTTP://[2001:db8::1]:1"]
    {
        let refused = message(Remote::connect(url, "t", &Trust::default()));
        assert!(refused.contains("give an address with https://"), "{url}: {refused}");
    }
    assert!(message(Remote::connect("nonsense", "t", &Trust::default())).contains("give http://HOST:PORT"));
    // Nothing listens on the port of a listener that is gone.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = message(Remote::connect(&format!("http://127.0.0.1:{port}"), "t", &Trust::default()));
    assert!(error.contains("cannot reach") && error.contains("solinas serve"), "{error}");
}

/// An address that is none of a service does not fill the memory of its client.
#[test]
fn an_answer_without_end_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while stream.write_all(&[b' '; 1 << 16]).is_ok() {}
    });
    let error = Remote::connect(&url, "slk_x", &Trust::default()).unwrap_err().to_string();
    assert!(error.contains("an answer of more than 67108864 bytes"), "{error}");
}
