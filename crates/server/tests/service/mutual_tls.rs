//! Clients that identify themselves by a certificate.

use crate::harness::{Client, Harness};
use crate::tenants::sees_nothing;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use solinas_server::{Config, Error, MutualTls, Scope, Service, Store, TlsFiles};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

/// An authority that signs certificates of clients.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let (mut params, key) = (CertificateParams::new([]).unwrap(), KeyPair::generate().unwrap());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate with these DNS names.
    fn sign(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> ClientCert {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let (mut params, key) = (CertificateParams::new(names).unwrap(), KeyPair::generate().unwrap());
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        let key = PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap();
        ClientCert::new_with_certs(&[Certificate::from_pem(certificate.as_bytes()).unwrap()], key)
    }
}

/// A service with HTTPS that knows two clients, its certificate, and the authority of the clients.
fn service() -> (Harness, String, Authority) {
    // Another test may have done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authority = Authority::new();
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let certificates = write("cert.pem", &certified.cert.pem());
    let key = write("key.pem", &certified.signing_key.serialize_pem());
    let client_ca = write("ca.pem", &authority.pem);
    let text = format!(
        "[mutual_tls]\nclient_ca = {:?}\n\
         [mutual_tls.clients.'alice.lab.test']\ntenant = 'lab'\n\
         [mutual_tls.clients.'watch.test']\ntenant = 'operator'\nscopes = ['admin']\n\
         [mutual_tls.clients.'lost.test']\ntenant = 'missing'",
        client_ca.to_str().unwrap()
    );
    let mut harness = Harness::with(|config| {
        config.read(&text).unwrap();
        config.limits.disk_reserve_bytes = 0;
        config.tls = Some(TlsFiles { certificates, key });
    });
    let store = Store::open(harness.folder.path()).unwrap();
    store.create_tenant("lab").unwrap();
    store.create_tenant("operator").unwrap();
    let root = certified.cert.pem();
    harness.client = client(&harness.client.url.replace("http:", "https:"), &root, None, &harness.client.token);
    (harness, root, authority)
}

/// A client that trusts the certificate of the service, and may have one of its own.
fn client(url: &str, root: &str, own: Option<ClientCert>, token: &str) -> Client {
    let roots = RootCerts::from([Certificate::from_pem(root.as_bytes()).unwrap()].into_iter());
    let tls = TlsConfig::builder().root_certs(roots).client_cert(own).build();
    let agent = ureq::Agent::config_builder().http_status_as_error(false).tls_config(tls).build().into();
    Client { agent, ..Client::new(url, token) }
}

#[test]
fn a_certificate_identifies_a_client_that_sends_no_token() {
    let (harness, root, authority) = service();
    let with =
        |names: &[&str], token: &str| client(&harness.client.url, &root, Some(authority.sign(names, |_| {})), token);
    let alice = with(&["alice.lab.test"], "");
    assert_eq!(alice.get("/v1/usage").ok()["tenant"], "lab");
    alice.get("/metrics").refused(403, "forbidden");
    assert_eq!(with(&["x.test", "Watch.TEST"], "").get("/metrics").status, 200);
    // A token counts more, also a wrong one.
    assert_eq!(with(&["alice.lab.test"], &harness.client.token).get("/v1/usage").ok()["tenant"], "local");
    with(&["alice.lab.test"], "slk_wrong").get("/v1/usage").refused(401, "unauthorized");
    alice.send("GET", "/v1/usage", &[("authorization", "Basic eDp5")], &[]).refused(401, "unauthorized");
    // A page of another site could use the certificate that a browser has.
    for header in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "none")] {
        let problem = alice.send("GET", "/v1/usage", &[header], &[]).refused(401, "unauthorized");
        assert!(problem["detail"].as_str().unwrap().contains("browser"), "{problem}");
    }
    // Without a certificate.
    assert_eq!(harness.client.get("/v1/usage").ok()["tenant"], "local");
    let nobody = client(&harness.client.url, &root, None, "");
    nobody.get("/v1/version").ok();
    let problem = nobody.get("/v1/usage").refused(401, "unauthorized");
    assert!(problem["detail"].as_str().unwrap().contains("has no token"), "{problem}");
}

#[test]
fn other_certificates_are_refused() {
    let (harness, root, authority) = service();
    let with = |own: ClientCert, token: &str| client(&harness.client.url, &root, Some(own), token);
    let forbidden = |names: &[&str], part: &str| {
        let problem = with(authority.sign(names, |_| {}), "").get("/v1/usage").refused(403, "forbidden");
        assert!(problem["detail"].as_str().unwrap().contains(part), "{problem}");
    };
    forbidden(&["bob.lab.test"], "no client has a DNS name of the certificate: bob.lab.test");
    forbidden(&["*.lab.test"], "no client has a DNS name");
    forbidden(&["alice.lab.test", "watch.test"], "several clients");
    forbidden(&["lost.test"], "no tenant \"missing\"");
    // The common name does not count.
    let named = authority.sign(&["bob.lab.test"], |params| {
        params.distinguished_name.push(rcgen::DnType::CommonName, "alice.lab.test");
    });
    with(named, "").get("/v1/usage").refused(403, "forbidden");
    // The connection itself fails, also with a token.
    let expired = authority.sign(&["alice.lab.test"], |params| params.not_after = date_time_ymd(2020, 1, 1));
    let for_servers = authority.sign(&["alice.lab.test"], |params| {
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    });
    for own in [Authority::new().sign(&["alice.lab.test"], |_| {}), expired, for_servers] {
        let refused = with(own, &harness.client.token);
        let answer = refused.agent.get(format!("{}/v1/version", refused.url)).call();
        assert!(answer.is_err(), "{answer:?}");
    }
}

#[test]
fn a_tenant_with_a_certificate_sees_nothing_of_another() {
    let (harness, root, authority) = service();
    let own = authority.sign(&["alice.lab.test"], |_| {});
    let lab = client(&harness.client.url, &root, Some(own), "");
    sees_nothing(&lab, &harness.client);
    let stranger = harness.other("stranger", &[Scope::Jobs, Scope::Keys]);
    let stranger = client(&harness.client.url, &root, None, &stranger.token);
    sees_nothing(&stranger, &lab);
}

/// Files of a new certificate for `localhost`.
fn self_signed(folder: &Path) -> TlsFiles {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles { certificates: folder.join("cert.pem"), key: folder.join("key.pem") };
    std::fs::write(&files.certificates, certified.cert.pem()).unwrap();
    std::fs::write(&files.key, certified.signing_key.serialize_pem()).unwrap();
    files
}

#[test]
fn requests_without_encryption_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(folder.path().join("store"));
    config.address.set_port(0);
    config.tls = Some(self_signed(folder.path()));
    let service = Service::start(config).unwrap();
    let send = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(service.address()).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        // The service may end the connection before it has read everything.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let answer = send(b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("\"bad_request\"") && answer.contains("https://"), "{answer}");
    assert!(!answer.contains(env!("CARGO_PKG_VERSION")), "{answer}");
    for other in [b"\x16\x03\x01\x00\x01x".as_slice(), b"\x00\xff\xff\xff\xff\xff"] {
        assert!(!send(other).contains("HTTP"), "{other:?}");
    }
    service.stop();
}

#[test]
fn a_wrong_file_of_authorities_ends_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let files = self_signed(folder.path());
    let start = |client_ca: &Path| {
        let mut config = Config::new(folder.path().join("store"));
        config.address.set_port(0);
        config.tls = Some(files.clone());
        config.mutual_tls = Some(MutualTls { client_ca: client_ca.to_path_buf(), clients: Default::default() });
        Service::start(config)
    };
    for file in [folder.path().join("missing.pem"), files.key.clone()] {
        let error = start(&file).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::ClientAuthority { .. }), "{text}");
        assert!(text.contains(file.to_str().unwrap()) && text.contains("client_ca"), "{text}");
    }
}
