//! Answers that every route has.

use crate::harness::{Client, Harness};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

#[test]
fn every_route_but_health_and_version_needs_a_token() {
    let harness = Harness::new();
    let nobody = Client::new(&harness.client.url, "slk_wrong");
    let document = nobody.get("/v1/openapi.json").ok();
    assert_eq!(document["openapi"], "3.1.0");
    let (id, digest) = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", crate::harness::digest(b""));
    let mut open = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{job}", id).replace("{digest}", &digest).replace("{index}", "0").replace("{key}", "k");
        let path = path.replace("{upload}", id);
        for (method, operation) in methods.as_object().unwrap() {
            let answer = nobody.send(&method.to_uppercase(), &path, &[], &[]);
            match operation["security"].as_array().unwrap().is_empty() {
                true => {
                    assert_eq!(answer.status, 200, "{method} {path}");
                    open.push(path.clone());
                }
                false => drop(answer.refused(401, "unauthorized")),
            }
        }
    }
    assert_eq!(open, ["/healthz", "/readyz", "/v1/openapi.json", "/v1/version"]);
    nobody.get("/v2").refused(404, "not_found");
    nobody.get("/page/%ff").refused(404, "not_found");
    for path in ["/v1/jobs/%ff", "/v1/jobs/%ff/results/0", "/v1/keys/%ff"] {
        harness.client.get(path).refused(404, "not_found");
    }
    let worker = harness.client.get("/internal/leases").refused(404, "not_found");
    assert!(worker["fix"].as_str().unwrap().contains("--work-addr"), "{worker}");
    nobody.delete("/v1/usage").refused(405, "method_not_allowed");
}

#[test]
fn answers_have_headers_for_safety_and_hosts_are_checked() {
    let harness = Harness::new();
    let client = &harness.client;
    let answer = client.get("/v1/version");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "default-src 'none'"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    assert_eq!(answer.header("access-control-allow-origin"), None);
    client.send("GET", "/v1/version", &[("host", "evil.example")], &[]).refused(421, "unknown_host");
    for host in ["localhost:1", "LOCALHOST", "localhost.", "127.0.0.1", "[::1]:7470"] {
        client.send("GET", "/v1/version", &[("host", host)], &[]).ok();
    }
    assert_eq!(client.send("OPTIONS", "/v1/version", &[], &[]).status, 204);
    assert_eq!(client.send("OPTIONS", "/", &[], &[]).status, 204);
}

/// The status of the answer to these lines of a request.
fn status_of(address: std::net::SocketAddr, lines: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{lines}\r\n\r\n").as_bytes()).unwrap();
    let mut first = String::new();
    BufReader::new(stream).read_line(&mut first).unwrap();
    first.split(' ').nth(1).unwrap_or_else(|| panic!("{first:?} to {lines:?}")).parse().unwrap()
}

#[test]
fn requests_with_no_host_pass_and_those_with_two_do_not() {
    let harness = Harness::new();
    let address = harness.service.as_ref().unwrap().address();
    for (lines, status) in [
        ("GET /healthz HTTP/1.0", 200),
        ("OPTIONS / HTTP/1.0", 204),
        ("GET /healthz HTTP/1.1\r\nHost:", 200),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", 400),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost", 400),
        ("GET /healthz HTTP/1.1\r\nHost: evil.example", 421),
        ("GET http://evil.example/healthz HTTP/1.0", 421),
        ("GET http://localhost/healthz HTTP/1.0", 200),
    ] {
        assert_eq!(status_of(address, lines), status, "{lines}");
    }
}

#[test]
fn bodies_with_an_encoding_are_refused_on_every_route() {
    let harness = Harness::new();
    let client = &harness.client;
    for (method, path) in
        [("POST", "/v1/jobs"), ("POST", "/v1/programs"), ("PUT", "/v1/blobs/b3-00"), ("POST", "/v1/uploads")]
    {
        for encoding in ["gzip", "br", "identity, gzip"] {
            let answer = client.send(method, path, &[("content-encoding", encoding)], b"{}");
            answer.refused(415, "wrong_media_type");
        }
        assert_ne!(client.send(method, path, &[("content-encoding", "identity")], b"{}").status, 415, "{path}");
    }
}

#[test]
fn a_prefix_of_a_proxy_is_removed() {
    let mut harness = Harness::new();
    harness.client.get("/fhe/v1/version").refused(404, "not_found");
    harness.restart(|config| config.path_prefix = "/fhe".into());
    for path in ["/fhe/v1/version", "/v1/version", "/fhe/", "/fhe/healthz"] {
        assert_eq!(harness.client.get(path).status, 200, "{path}");
    }
    harness.client.get("/fhe2/v1/version").refused(404, "not_found");
}

#[test]
fn reports_are_shown_from_their_folder_alone() {
    let mut harness = Harness::new();
    harness.client.get("/reports/").refused(404, "not_found");
    assert_eq!(harness.client.get("/v1/version").ok()["reports"], false);
    let folder = tempfile::tempdir().unwrap();
    let reports = folder.path().join("report");
    std::fs::create_dir(&reports).unwrap();
    std::fs::write(folder.path().join("secret"), "x").unwrap();
    std::fs::write(reports.join("index.html"), "<p>all").unwrap();
    std::fs::write(reports.join("gh.html"), "<p>one").unwrap();
    harness.restart(|config| config.reports = Some(reports));
    let nobody = Client::new(&harness.client.url, "slk_wrong");
    assert_eq!(nobody.get("/v1/version").ok()["reports"], true);
    for (path, text) in [("/reports", "<p>all"), ("/reports/", "<p>all"), ("/reports/gh.html", "<p>one")] {
        let answer = nobody.get(path);
        assert_eq!((answer.status, &answer.bytes[..]), (200, text.as_bytes()), "{path}");
        assert!(answer.header("content-security-policy").unwrap().contains("style-src 'unsafe-inline'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    for path in ["/reports/other.html", "/reports/../secret", "/reports/%2e%2e/secret", "/reports/..%2fsecret"] {
        assert_ne!(nobody.get(path).status, 200, "{path}");
    }
}
