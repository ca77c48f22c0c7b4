//! A service, as a client sees it.

use crate::Error;
use crate::digest::digest;
use crate::http::{Call, Http, Trust, unique};
use crate::job::RemoteJob;
use crate::request::JobRequest;
use crate::upload;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use solinas_values::{Plain, ServerKey};
use std::fmt;
use std::time::Duration;

/// The version of the interface that this crate speaks.
const API: u64 = 1;

/// A file with more bytes is sent in parts, so that a lost connection does not lose what was sent.
const IN_PARTS: usize = 8 << 20;

/// The most jobs that the service lists at a time.
const JOBS_A_PAGE: usize = 1000;

/// A service and a token for it. Clones share connections.
#[derive(Clone)]
pub struct Remote {
    pub(crate) http: Http,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("url", &self.http.url).finish_non_exhaustive()
    }
}

/// A key that a service has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The identity of the key.
    pub key_id: String,
    /// Bytes that were sent: 0 if the service had the key.
    pub sent: u64,
}

/// An input of a program.
#[derive(Debug, Clone)]
pub enum Input {
    /// The bytes of the file of a ciphertext.
    Encrypted(Vec<u8>),
    /// Values that the service sees.
    Public(Plain),
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Encrypted(bytes)
    }
}

/// The expected cost of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Bootstraps (TFHE, BGV, NTRU).
    pub bootstraps: u64,
    /// Recryptions (Gentry-Halevi).
    pub recrypts: u64,
    /// Products.
    pub products: u64,
    /// Operations on the longest path.
    pub depth: u64,
    /// Seconds of all processors together.
    pub core_seconds: f64,
    /// Seconds on the service.
    pub seconds: f64,
    /// Seconds of the work that waits there before.
    pub queue_seconds: f64,
}

impl Remote {
    /// A service at this address, such as `https://fhe.example.org`. It must answer now.
    ///
    /// # Errors
    /// [`Error::Address`]; [`Error::InsecureHttp`]; [`Error::Unreachable`]; [`Error::Untrusted`]; [`Error::Foreign`].
    pub fn connect(url: &str, token: &str, trust: &Trust) -> Result<Self, Error> {
        let mut http = Http::new(url, token, trust)?;
        let patience = std::mem::replace(&mut http.patience, Duration::from_secs(5));
        let version = http.json(&Call::get("/v1/version"))?;
        if version["api"] != API {
            return Err(http.foreign(format!("its interface has version {}, not {API}", version["api"])));
        }
        http.patience = patience;
        Ok(Self { http })
    }

    /// The address.
    pub fn url(&self) -> &str {
        &self.http.url
    }

    /// Sets how long a request is repeated while the service is busy or cannot be reached. It is two minutes without this.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.http.patience = patience;
        self
    }

    /// Registers a server key, given as the bytes of its file. It is sent unless the service has it.
    ///
    /// # Errors
    /// [`Error::Secret`] for a client key, before anything is sent; [`Error::Values`] for another file; [`Error::Refused`].
    pub fn register(&self, key: &[u8]) -> Result<Registered, Error> {
        let loaded = ServerKey::from_bytes(key).map_err(|error| match solinas_values::ClientKey::from_bytes(key) {
            Ok(_) => Error::Secret,
            Err(_) => error.into(),
        })?;
        // A file has its sections at other places than bytes in memory have. The service compares bytes.
        let key = &loaded.to_bytes()?;
        let (key_id, blob) = (loaded.key_id().to_string(), digest(key));
        let path = format!("/v1/keys/{key_id}");
        match self.http.json(&Call::get(&path)) {
            Ok(found) if found["blob"] == blob => return Ok(Registered { key_id, sent: 0 }),
            Ok(_) => {}
            Err(error) if error.code() == Some("not_found") => {}
            Err(error) => return Err(error),
        }
        let sent = self.upload(key)?;
        self.put_json(&path, &json!({ "blob": blob }))?;
        Ok(Registered { key_id, sent })
    }

    fn put_json(&self, path: &str, body: &Value) -> Result<Value, Error> {
        let body = body.to_string();
        self.http.json(&Call { method: "PUT", body: Some(body.as_bytes()), ..Call::get(path) })
    }

    /// Sends bytes unless the service has them. Returns the number of bytes sent.
    fn upload(&self, bytes: &[u8]) -> Result<u64, Error> {
        let path = format!("/v1/blobs/{}", digest(bytes));
        let head = Call { method: "HEAD", ..Call::get(&path) };
        // The answer to HEAD has no body, hence no code.
        if self.http.send(&head).is_ok() {
            return Ok(0);
        }
        match bytes.len() > IN_PARTS {
            true => upload::in_parts(&self.http, bytes)?,
            false => drop(self.http.send(&Call { method: "PUT", body: Some(bytes), ..Call::get(path) })?),
        }
        Ok(bytes.len() as u64)
    }

    fn post(&self, path: &str, body: &[u8], idempotency_key: Option<&str>) -> Result<Value, Error> {
        let headers = idempotency_key.map(|key| ("idempotency-key", key.to_owned())).into_iter().collect();
        self.http.json(&Call { method: "POST", body: Some(body), headers, ..Call::get(path) })
    }

    /// Sends a program, and returns its digest.
    fn send(&self, program: &str) -> Result<String, Error> {
        let answer = self.post("/v1/programs", program.as_bytes(), None)?;
        let digest = answer["digest"].as_str().map(str::to_owned);
        digest.ok_or_else(|| self.http.foreign("a program without a digest".into()))
    }

    /// The cost of a job under a registered key, on inputs of these shapes: one for each, and an empty one for a single value. Without shapes, an input
    /// of any shape is one value.
    ///
    /// # Errors
    /// [`Error::Refused`]: for an unknown key, or a program that it cannot compute.
    pub fn estimate(&self, request: &JobRequest, key_id: &str, shapes: Option<&[Vec<usize>]>) -> Result<Cost, Error> {
        let body = json!({
            "program": self.send(&request.program)?, "key": key_id, "shapes": shapes,
            "private_program": request.private_program,
        });
        let answer = self.post("/v1/estimates", body.to_string().as_bytes(), None)?;
        serde_json::from_value(answer).map_err(|error| self.http.foreign(error.to_string()))
    }

    /// Starts a job under a registered key. What the service has is not sent again.
    ///
    /// # Errors
    /// [`Error::Refused`], with the code `key_missing` if the key is not registered.
    pub fn submit(&self, request: &JobRequest, key_id: &str, inputs: &[Input]) -> Result<RemoteJob, Error> {
        let mut body = request.fields(&self.send(&request.program)?);
        let one = |input: &Input| -> Result<Value, Error> {
            match input {
                Input::Encrypted(bytes) => {
                    self.upload(bytes)?;
                    Ok(json!({ "blob": digest(bytes) }))
                }
                Input::Public(plain) => Ok(json!({ "constant": {
                    "type": plain.ty.to_string(), "values": plain.to_strings(), "shape": plain.shape,
                }})),
            }
        };
        body["inputs"] = inputs.iter().map(one).collect::<Result<_, _>>()?;
        body["key"] = key_id.into();
        let answer = self.post("/v1/jobs", body.to_string().as_bytes(), Some(&unique()))?;
        match answer["id"].as_str() {
            Some(id) => Ok(self.job(id)),
            None => Err(self.http.foreign("a job without an identity".into())),
        }
    }

    /// Does what needs a registered key, such as [`Self::submit`]. If the service does not have the key, or has it no longer, this registers the key and
    /// does the same again. `key` gives the bytes of the file of the key, and is called only then.
    ///
    /// # Errors
    /// Those of `work`, of `key`, and of [`Self::register`].
    pub fn with_key<T, E: From<Error>>(
        &self,
        key: impl FnOnce() -> Result<Vec<u8>, E>,
        work: impl Fn() -> Result<T, Error>,
    ) -> Result<T, E> {
        match work() {
            Err(error) if error.code() == Some("key_missing") => {
                self.register(&key()?)?;
                Ok(work()?)
            }
            done => Ok(done?),
        }
    }

    /// A job that was started before.
    pub fn job(&self, id: &str) -> RemoteJob {
        RemoteJob::new(self.http.clone(), id)
    }

    /// The newest jobs of the tenant, at most `limit`, as the service describes them. `state` is such as `running`; without it, those of every state.
    ///
    /// # Errors
    /// [`Error::Refused`], for an unknown state too.
    pub fn jobs(&self, state: Option<&str>, limit: usize) -> Result<Vec<Value>, Error> {
        let mut jobs = Vec::new();
        while jobs.len() < limit {
            let page = (limit - jobs.len()).min(JOBS_A_PAGE);
            let state = state
                .map(|state| format!("&state={}", utf8_percent_encode(state, NON_ALPHANUMERIC)))
                .unwrap_or_default();
            let after = jobs.last().and_then(|job: &Value| job["id"].as_str());
            let after =
                after.map(|id| format!("&after={}", utf8_percent_encode(id, NON_ALPHANUMERIC))).unwrap_or_default();
            let mut answer = self.http.json(&Call::get(format!("/v1/jobs?limit={page}{state}{after}")))?;
            let Value::Array(found) = answer["jobs"].take() else { break };
            let is_last = found.len() < page;
            jobs.extend(found.into_iter().take(page));
            if is_last {
                break;
            }
        }
        Ok(jobs)
    }

    /// The keys of the tenant.
    ///
    /// # Errors
    /// [`Error::Refused`].
    pub fn keys(&self) -> Result<Value, Error> {
        self.http.json(&Call::get("/v1/keys")).map(|mut answer| answer["keys"].take())
    }

    /// Removes a key and its bytes from the service.
    ///
    /// # Errors
    /// [`Error::Refused`] for an unknown key, and while a job uses it.
    pub fn remove_key(&self, key_id: &str) -> Result<(), Error> {
        self.http.send(&Call { method: "DELETE", ..Call::get(format!("/v1/keys/{key_id}")) }).map(drop)
    }

    /// Quotas, limits, and what the tenant used today.
    ///
    /// # Errors
    /// [`Error::Refused`].
    pub fn usage(&self) -> Result<Value, Error> {
        self.http.json(&Call::get("/v1/usage"))
    }
}
