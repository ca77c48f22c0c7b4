//! Requests, and their repetition. [`Remote`](crate::Remote) is made of it, and so are the workers of a service.

use crate::Error;
use crate::error::Problem;
use solinas_values::Control;
use std::io::{Read, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::{HeaderMap, Request, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long requests are repeated.
const PATIENCE: Duration = Duration::from_secs(120);
/// First pause between two tries. It doubles.
const PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A connection that is not made in this time has failed.
const CONNECT: Duration = Duration::from_secs(10);
/// A service that is silent for this time in an answer to GET or HEAD is lost.
const SILENCE: Duration = Duration::from_secs(10);
/// An answer that does not begin in this time is lost. A large file takes time to become durable.
const ANSWER: Duration = Duration::from_secs(300);
/// A longer body is sent when the service agrees to take it. Without this question, a service that refuses such a body ends the
/// connection in the middle of it, and its reason is lost.
const UNASKED: usize = 1 << 16;
/// Bytes of an answer between two looks at the control.
const PIECE: u64 = 1 << 20;
/// Time of a pause between two looks at the control.
const TICK: Duration = Duration::from_millis(100);
/// The most bytes of an answer in JSON.
const JSON: u64 = 64 << 20;

/// A service, and a token for it.
#[derive(Clone)]
pub struct Http {
    agent: Agent,
    pub(crate) url: String,
    token: String,
    /// How long requests are repeated.
    pub(crate) patience: Duration,
}

/// What a client accepts of a service.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// A file with certificates in PEM. The certificate of the service is trusted if an authority in this file signed it, or it is in
    /// the file itself. Without one, SSL_CERT_FILE and the certificates of the system count.
    pub authorities: Option<PathBuf>,
    /// Whether the token may go over HTTP without encryption to another machine.
    pub insecure_http: bool,
}

/// What is sent.
#[derive(Debug)]
pub struct Call<'a> {
    /// The method, such as `GET`.
    pub method: &'static str,
    /// The path, with what follows a `?`.
    pub path: String,
    /// The body.
    pub body: Option<&'a [u8]>,
    /// Headers beside those that every request has.
    pub headers: Vec<(&'static str, String)>,
    /// The most bytes of the answer.
    pub most: u64,
    /// An answer to a body that does not begin in this time is lost.
    pub answer: Duration,
}

/// What comes back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Call<'_> {
    /// A request without a body.
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), body: None, headers: Vec::new(), most: JSON, answer: ANSWER }
    }
}

impl std::fmt::Debug for Http {
    /// Shows no secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Http {
    /// A service at this address, and a token for it. Nothing is sent.
    ///
    /// # Errors
    /// [`Error::Address`]; [`Error::InsecureHttp`]; [`Error::Authorities`] for a file of certificates that cannot be used.
    pub fn new(url: &str, token: &str, trust: &Trust) -> Result<Self, Error> {
        let url = url.trim_end_matches('/').to_owned();
        let parsed: Result<ureq::http::Uri, _> = url.parse();
        let parts = parsed.ok().and_then(|uri| Some((uri.scheme_str()?.to_ascii_lowercase(), uri.host()?.to_owned())));
        let tls = match &parts {
            Some((scheme, _)) if scheme == "https" => tls(trust.authorities.as_deref())?,
            Some((scheme, host)) if scheme == "http" && (trust.insecure_http || is_loopback(host)) => {
                TlsConfig::default()
            }
            Some((scheme, _)) if scheme == "http" => return Err(Error::InsecureHttp { url }),
            _ => return Err(Error::Address { url }),
        };
        // A redirection would carry the token to another address, or turn a POST into a GET.
        let config = Agent::config_builder().max_redirects(0).max_redirects_will_error(false);
        let config = config.http_status_as_error(false).timeout_connect(Some(CONNECT));
        let config = config.timeout_recv_response(Some(ANSWER)).timeout_per_read(Some(ANSWER));
        let config = config.timeout_per_write(Some(ANSWER)).tls_config(tls);
        Ok(Self { agent: config.build().into(), url, token: token.to_owned(), patience: PATIENCE })
    }

    /// The address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets how long a request is repeated. It is two minutes without this.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Sends a request until it succeeds, and writes the body of the answer to what `begin` makes for each try.
    ///
    /// # Errors
    /// [`Error::Write`]; those of `begin`, of the request, and of the control.
    pub fn fetch<W: Write>(
        &self,
        call: &Call<'_>,
        control: &Control<'_>,
        mut begin: impl FnMut() -> Result<W, Error>,
    ) -> Result<W, Error> {
        let mut pauses = self.pauses();
        loop {
            let mut writer = begin()?;
            match self.once_to(call, control, &mut writer) {
                Ok(_) => return Ok(writer),
                Err(error) => pauses.wait(error, control)?,
            }
        }
    }

    /// Sends a request until it succeeds, or fails for good. Returns the whole body.
    pub(crate) fn send(&self, call: &Call<'_>) -> Result<Vec<u8>, Error> {
        self.send_under(call, &Control::default())
    }

    /// Sends a request until it succeeds, fails for good, or `control` cancels. Returns the whole body.
    ///
    /// # Errors
    /// Those of the request and of the control.
    pub fn send_under(&self, call: &Call<'_>, control: &Control<'_>) -> Result<Vec<u8>, Error> {
        self.answer(call, control).map(|answer| answer.body)
    }

    /// As [`Self::send_under`], with the headers of the answer.
    pub(crate) fn answer(&self, call: &Call<'_>, control: &Control<'_>) -> Result<Answer, Error> {
        let mut pauses = self.pauses();
        loop {
            match self.once(call, control) {
                Ok(answer) => return Ok(answer),
                Err(error) => pauses.wait(error, control)?,
            }
        }
    }

    /// Pauses between tries of one thing, from now on.
    pub(crate) fn pauses(&self) -> Pauses {
        Pauses { end: Instant::now() + self.patience, next: PAUSE }
    }

    /// As [`Self::send`], for an answer in JSON.
    pub(crate) fn json(&self, call: &Call<'_>) -> Result<serde_json::Value, Error> {
        self.json_under(call, &Control::default())
    }

    /// As [`Self::json`], until `control` cancels.
    pub(crate) fn json_under(&self, call: &Call<'_>, control: &Control<'_>) -> Result<serde_json::Value, Error> {
        let body = self.send_under(call, control)?;
        if body.is_empty() {
            return Ok(serde_json::Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| self.foreign(error.to_string()))
    }

    pub(crate) fn foreign(&self, reason: String) -> Error {
        Error::Foreign { url: self.url.clone(), reason }
    }

    /// Sends a request once.
    pub(crate) fn once(&self, call: &Call<'_>, control: &Control<'_>) -> Result<Answer, Error> {
        let mut body = Vec::new();
        let headers = self.once_to(call, control, &mut body)?;
        Ok(Answer { headers, body })
    }

    /// Sends a request once, and writes the body of the answer.
    fn once_to(&self, call: &Call<'_>, control: &Control<'_>, writer: &mut impl Write) -> Result<HeaderMap, Error> {
        let url = || self.url.clone();
        let unreachable = |reason: String| Error::Unreachable { url: url(), reason };
        let mut request = Request::builder().method(call.method).uri(format!("{}{}", self.url, call.path));
        request = request.header("authorization", format!("Bearer {}", self.token));
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        if call.body.is_some_and(|body| body.len() > UNASKED) {
            request = request.header("expect", "100-continue");
        }
        let bad = |error: ureq::http::Error| Error::Address { url: format!("{} ({error})", self.url) };
        let answer = match call.body {
            Some(body) => {
                let request = self.agent.configure_request(request.body(body).map_err(bad)?);
                self.agent.run(request.timeout_recv_response(Some(call.answer)).build())
            }
            None => {
                let request = self.agent.configure_request(request.body(()).map_err(bad)?);
                self.agent.run(request.timeout_per_read(Some(SILENCE)).build())
            }
        };
        let answer = answer.map_err(|error| match untrusted(&error) {
            Some(reason) => Error::Untrusted { url: url(), reason },
            None => unreachable(error.to_string()),
        })?;
        let status = answer.status().as_u16();
        if !answer.status().is_success() {
            return Err(self.refused(status, answer));
        }
        let (parts, answer) = answer.into_parts();
        let (mut piece, mut written, mut reader) = (Vec::new(), 0, answer.into_reader());
        loop {
            check(control)?;
            piece.clear();
            match reader.by_ref().take(PIECE).read_to_end(&mut piece) {
                Ok(0) => return Ok(parts.headers),
                Ok(read) => {
                    written += read as u64;
                    if written > call.most {
                        return Err(self.foreign(format!("an answer of more than {} bytes", call.most)));
                    }
                    writer.write_all(&piece).map_err(Error::Write)?;
                }
                Err(error) => return Err(unreachable(error.to_string())),
            }
        }
    }

    fn refused(&self, status: u16, answer: Response<ureq::Body>) -> Error {
        if let Some(to) = answer.headers().get("location").filter(|_| (300..400).contains(&status)) {
            let to = to.to_str().unwrap_or("an address that is no text");
            return self
                .foreign(format!("it sends requests on to {to:?}, which is the address to give if you trust it"));
        }
        let mut text = String::new();
        // A body that breaks off is no problem document.
        let _ = answer.into_body().into_reader().take(JSON).read_to_string(&mut text);
        match serde_json::from_str::<Problem>(&text) {
            Ok(problem) => Error::Refused(Box::new(problem)),
            // A proxy answers in its own words, and the answer to HEAD has none.
            Err(_) if text.is_empty() || matches!(status, 408 | 429 | 502 | 503 | 504) => {
                Error::Refused(Box::new(Problem {
                    status,
                    code: "proxy".into(),
                    detail: format!("it answered with status {status}"),
                    fix: "try again later".into(),
                    request_id: String::new(),
                    retry_after: None,
                }))
            }
            Err(_) => self.foreign(format!("status {status} without a problem document")),
        }
    }
}

/// Whether a name or an address is that of this machine alone.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Pauses that grow.
pub(crate) struct Pauses {
    end: Instant,
    next: Duration,
}

impl Pauses {
    /// Waits, if the error may pass and there is time left.
    ///
    /// # Errors
    /// The error; that of the control.
    pub(crate) fn wait(&mut self, error: Error, control: &Control<'_>) -> Result<(), Error> {
        let Some(wait) = error.passes() else { return Err(error) };
        // Many clients that lost one service do not come back at one moment.
        let wait = wait.max(self.next).mul_f64(1.0 + jitter());
        if Instant::now() + wait > self.end {
            return Err(error);
        }
        let until = Instant::now() + wait;
        while Instant::now() < until {
            check(control)?;
            std::thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
        }
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

/// Whether to go on.
fn check(control: &Control<'_>) -> Result<(), Error> {
    Ok(control.check().map_err(solinas_values::Error::from)?)
}

/// Why the certificate of the service is not trusted, if that is the error.
fn untrusted(error: &ureq::Error) -> Option<String> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref()?,
        _ => return None,
    };
    matches!(error, rustls::Error::InvalidCertificate(_)).then(|| error.to_string())
}

/// Encryption with the authorities in a file, or else with those of the system or of SSL_CERT_FILE.
fn tls(authorities: Option<&Path>) -> Result<TlsConfig, Error> {
    static PROVIDER: Once = Once::new();
    // Another part of the program may have chosen its implementation before.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let named = authorities.map(Path::to_path_buf).or_else(|| std::env::var_os("SSL_CERT_FILE").map(PathBuf::from));
    let found = match authorities {
        None => rustls_native_certs::load_native_certs(),
        Some(file) => rustls_native_certs::load_certs_from_paths(Some(file), None),
    };
    // Without the certificates of the system the first request fails, and says so.
    if let (Some(path), true) = (named, found.certs.is_empty()) {
        let reason = found.errors.first().map_or("it has no certificate".to_owned(), ToString::to_string);
        return Err(Error::Authorities { path, reason });
    }
    let certificates = found.certs;
    let roots = certificates.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
    Ok(TlsConfig::builder().root_certs(RootCerts::from(roots)).build())
}

/// A random number from 0 to 1.
fn jitter() -> f64 {
    let mut byte = [0];
    // Without randomness there is no jitter.
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}

/// A text that no other request has.
pub(crate) fn unique() -> String {
    let mut bytes = [0; 16];
    // The hash of the time separates requests where the system has no randomness.
    let _ = getrandom::fill(&mut bytes);
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mut hash = blake3::Hasher::new();
    hash.update(&bytes).update(&time.as_nanos().to_le_bytes()).update(&std::process::id().to_le_bytes());
    hash.finalize().to_hex()[..32].to_owned()
}
