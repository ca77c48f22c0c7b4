//! A service in this process, keys, and requests.

use crate::cluster;
use serde_json::{Value, json};
use solinas_engine::program::{Axes, How, Op};
use solinas_engine::{
    Ciphertext, ClientKey, Control, KeygenOptions, Plain, Program, ProgramBuilder, ServerKey, Type, keygen,
};
use solinas_server::{Config, Scope, Service, Store};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const U8: Type = Type::Uint(8);
/// The result of [`Client::long_job`].
pub(crate) const LONG: &str = "9,25,49,81";

/// A client key, the file of its server key, and the identity of both.
pub(crate) type Keys = (ClientKey, Vec<u8>, String);

/// Keys for trials, made once.
pub(crate) fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| keys_of("gates-toy"))
}

/// Keys of a parameter set.
pub(crate) fn keys_of(params: &str) -> Keys {
    let options =
        KeygenOptions { params: Some(params.into()), research: true, insecure_seed: Some(7), ..Default::default() };
    let (client, server): (_, ServerKey) = keygen(&options, &Control::default()).unwrap();
    let id = server.key_id().to_string();
    (client, server.to_bytes().unwrap(), id)
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("b3-{}", blake3::hash(bytes).to_hex())
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) bytes: Vec<u8>,
    pub(crate) headers: Vec<(String, String)>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The body of a success.
    pub(crate) fn ok(&self) -> Value {
        assert!(self.status < 300, "{self:?} {}", String::from_utf8_lossy(&self.bytes));
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// Checks that the request was refused with this status and code, and that a fix is there.
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, body["code"].as_str()), (status, Some(code)), "{body}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        for field in ["type", "title", "detail", "fix", "request_id"] {
            assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {body}");
        }
        assert_eq!(self.header("x-request-id"), body["request_id"].as_str());
        body
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A client with a token. One with an empty token sends none.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) agent: ureq::Agent,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Client {
    pub(crate) fn new(url: &str, token: &str) -> Self {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { agent, url: url.to_owned(), token: token.to_owned() }
    }

    /// Sends a request with these headers.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        if !self.token.is_empty() && !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = match body {
            [] => self.agent.run(request.body(()).unwrap()),
            body => self.agent.run(request.body(body).unwrap()),
        };
        let mut answer = answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let text = |value: &ureq::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
            bytes: answer.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], &[])
    }

    pub(crate) fn put(&self, path: &str, body: &[u8]) -> Answer {
        self.send("PUT", path, &[], body)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], &[])
    }

    /// Sends a program, and returns its digest.
    pub(crate) fn stored(&self, program: &Program) -> String {
        let text = program.to_json("program").unwrap();
        self.send("POST", "/v1/programs", &[], text.as_bytes()).ok()["digest"].as_str().unwrap().to_owned()
    }

    /// Uploads bytes, and returns their digest.
    pub(crate) fn upload(&self, bytes: &[u8]) -> String {
        let digest = digest(bytes);
        self.put(&format!("/v1/blobs/{digest}"), bytes).ok();
        digest
    }

    /// Registers the key for trials, and returns its identity.
    pub(crate) fn register(&self) -> String {
        let (_, server, id) = keys();
        let blob = self.upload(server);
        self.put(&format!("/v1/keys/{id}"), json!({ "blob": blob }).to_string().as_bytes()).ok();
        id.clone()
    }

    /// Encrypts and uploads a value.
    pub(crate) fn input(&self, ty: Type, value: u64) -> Value {
        let ciphertext = keys().0.encrypt(&Plain::scalar(ty, value).unwrap()).unwrap();
        json!({ "blob": self.upload(&ciphertext.to_bytes().unwrap()) })
    }

    /// Sends the program of an operation, and returns its digest.
    pub(crate) fn program(&self, op: &str, types: &[Type]) -> String {
        self.stored(&Program::from_op(op, types).unwrap())
    }

    /// Submits a job.
    pub(crate) fn submit(&self, key: &str, body: &Value) -> Answer {
        self.send("POST", "/v1/jobs", &[("idempotency-key", key)], body.to_string().as_bytes())
    }

    /// A job that computes an operation on two numbers of 8 bits.
    pub(crate) fn job(&self, op: &str, a: u64, b: u64) -> Value {
        let inputs = [self.input(U8, a), self.input(U8, b)];
        json!({ "key": self.register(), "program": self.program(op, &[U8, U8]), "inputs": inputs })
    }

    /// A job of 24,000 bootstraps, whose result is [`LONG`]: the squares of four numbers of 64 bits. It has begun and not ended
    /// when some requests after it are answered.
    pub(crate) fn long_job(&self) -> Value {
        let ty = Type::Uint(64);
        let array = Plain::new(ty, Some(vec![4]), vec![3u128, 5, 7, 9]).unwrap();
        let input = json!({ "blob": self.upload(&keys().0.encrypt(&array).unwrap().to_bytes().unwrap()) });
        json!({ "key": self.register(), "program": self.program("mul", &[ty, ty]), "inputs": [input.clone(), input] })
    }

    /// The periods in which workers had a job: the worker, the run, the pauses and the state of each.
    pub(crate) fn periods(&self, id: &str) -> Vec<(String, u64, u64, String)> {
        let schedule = self.get(&format!("/v1/jobs/{id}/schedule")).ok();
        assert_eq!(schedule["periods_left_out"], 0);
        let time = |value: &Value| value.as_str().map(|text| text.parse::<jiff::Timestamp>().unwrap());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut last = jiff::Timestamp::UNIX_EPOCH;
        let one = |period: &Value| {
            let (begin, end) = (time(&period["begin"]).unwrap(), time(&period["end"]));
            assert!(last <= begin, "{schedule}");
            last = end.or_else(|| time(&schedule["now"])).unwrap();
            assert!(begin <= last && end.is_none() == (period["state"] == "running"), "{schedule}");
            let count = |name: &str| period[name].as_u64().unwrap();
            (text(&period["worker"]), count("run"), count("pauses"), text(&period["state"]))
        };
        schedule["periods"].as_array().unwrap().iter().map(one).collect()
    }

    /// Waits for a job.
    pub(crate) fn wait(&self, id: &str) -> Value {
        let start = Instant::now();
        loop {
            let job = self.get(&format!("/v1/jobs/{id}?wait=10")).ok();
            if !matches!(job["state"].as_str(), Some("queued" | "running")) {
                return job;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{job}");
        }
    }

    /// The decrypted first result of a job.
    pub(crate) fn result(&self, id: &str) -> String {
        self.result_of(keys(), id)
    }

    /// The decrypted first result of a job under keys.
    pub(crate) fn result_of(&self, keys: &Keys, id: &str) -> String {
        let bytes = self.get(&format!("/v1/jobs/{id}/results/0"));
        assert_eq!(bytes.status, 200, "{bytes:?}");
        let result = Ciphertext::from_bytes(&bytes.bytes).unwrap();
        keys.0.decrypt(&result).unwrap().to_strings().join(",")
    }
}

/// A service with a store of its own.
pub(crate) struct Harness {
    pub(crate) folder: TempDir,
    pub(crate) service: Option<Service>,
    pub(crate) client: Client,
}

impl Harness {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A service with other settings.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        cluster::prepare(folder.path());
        Self::of(folder, change)
    }

    /// A service on an empty folder.
    pub(crate) fn of(folder: TempDir, change: impl FnOnce(&mut Config)) -> Self {
        let service = start(folder.path(), change);
        let token = service.first_token().map(|token| token.secret().to_owned()).unwrap_or_else(|| {
            let scopes = [Scope::Read, Scope::Jobs, Scope::Keys, Scope::Admin];
            let token = Store::open(folder.path()).unwrap().create_token("local", &scopes, None).unwrap();
            token.secret().to_owned()
        });
        let client = Client::new(&format!("http://{}", service.address()), &token);
        Self { folder, service: Some(service), client }
    }

    /// The place of the file of a tenant's blob.
    pub(crate) fn place(&self, tenant: &str, digest: &str) -> PathBuf {
        let (folder, name) = digest.strip_prefix("b3-").unwrap().split_at(2);
        self.folder.path().join("blobs").join(tenant).join(folder).join(name)
    }

    /// A service on a store that was made before, for the holder of a token.
    pub(crate) fn on(folder: TempDir, token: &str) -> Self {
        let service = start(folder.path(), |_| {});
        let client = Client::new(&format!("http://{}", service.address()), token);
        Self { folder, service: Some(service), client }
    }

    /// Stops the service, and starts another one on its store.
    pub(crate) fn restart(&mut self, change: impl FnOnce(&mut Config)) {
        self.service.take().unwrap().stop();
        let service = start(self.folder.path(), change);
        assert!(service.first_token().is_none());
        self.client = Client::new(&format!("http://{}", service.address()), &self.client.token);
        self.service = Some(service);
    }

    /// A service with a listener for workers, and other settings.
    pub(crate) fn for_workers(change: impl FnOnce(&mut Config)) -> Self {
        Self::with(|config| {
            for_workers(config);
            change(config);
        })
    }

    /// A client with a token of workers, at the listener for them.
    pub(crate) fn worker(&self) -> Client {
        let token = Store::open(self.folder.path()).unwrap().create_worker_token(None).unwrap();
        let address = self.service.as_ref().unwrap().work_address().unwrap();
        Client::new(&format!("http://{address}"), token.secret())
    }

    /// A client of another tenant, or with other scopes.
    pub(crate) fn other(&self, tenant: &str, scopes: &[Scope]) -> Client {
        let store = Store::open(self.folder.path()).unwrap();
        let token = store.create_token(tenant, scopes, None).unwrap();
        Client::new(&self.client.url, token.secret())
    }
}

/// Adds a listener for workers on other machines.
pub(crate) fn for_workers(config: &mut Config) {
    config.work_address = Some(([127, 0, 0, 1], 0).into());
}

pub(crate) fn start(folder: &Path, change: impl FnOnce(&mut Config)) -> Service {
    let mut config = Config::new(folder.to_path_buf());
    config.address.set_port(0);
    config.research = true;
    config.threads = Some(2);
    // The disk of the machine that tests may be nearly full.
    config.limits.disk_reserve_bytes = 0;
    change(&mut config);
    Service::start(config).unwrap()
}

impl Drop for Harness {
    fn drop(&mut self) {
        if let Some(service) = self.service.take() {
            service.stop();
        }
    }
}

/// A program of one output, followed by a reduction of all its elements.
pub(crate) fn reduction(program: &Program, how: How) -> Program {
    let mut builder = ProgramBuilder::new();
    let inputs = program.inputs.iter().map(|input| builder.input(&input.name, input.ty).unwrap());
    let inputs: Vec<_> = inputs.collect();
    let values = builder.inline(program, &inputs).unwrap();
    let value = builder.op(Op::Reduce { how, axes: Axes::All }, &values).unwrap();
    builder.output("result", value);
    builder.finish().unwrap()
}
