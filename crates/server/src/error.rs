//! Errors: of the start of a service, and of requests, which are answered as `application/problem+json` (RFC 9457).

use crate::id::Digest;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use solinas_engine::{ErrorKind, Help};
use std::path::{Path, PathBuf};

/// A problem of the service itself: at its start, or in its store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be taken.
    #[error("cannot listen on {address}: {source}; choose another address with --addr")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// A file of the certificate cannot be used.
    #[error("cannot use the certificate or key {}: {error}; give a certificate and its private key, both in PEM", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: String,
    },
    /// The authorities of clients' certificates cannot be used.
    #[error("cannot use the authorities in {}: {error}; give `client_ca` a file with their certificates in PEM", path.display())]
    ClientAuthority {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: String,
    },
    /// The folder has no store.
    #[error("there is no store in {}; correct --store, or make a store there with `solinas admin token create` or `solinas serve`", .0.display())]
    NoStore(PathBuf),
    /// Another process serves this store.
    #[error("another process serves the store {}; stop it, or name another folder with --store", .0.display())]
    InUse(PathBuf),
    /// Another worker uses this folder.
    #[error("another process uses the folder {}; stop it, or name another folder with --cache", .0.display())]
    CacheInUse(PathBuf),
    /// A worker cannot work for a service.
    #[error(transparent)]
    Service(Box<solinas_client::Error>),
    /// A file would be overwritten.
    #[error("{} exists already; name another file, or remove it", .0.display())]
    Exists(PathBuf),
    /// The device that computes cannot be opened.
    #[error(transparent)]
    Device(Box<solinas_engine::Error>),
    /// A store is restored to a folder with files.
    #[error("the folder {} is not empty; name an empty or a new one with --store", .0.display())]
    NotEmpty(PathBuf),
    /// A backup cannot be used, or a store cannot be backed up.
    #[error("{what}; {help}")]
    Damaged {
        /// What is wrong.
        what: String,
        /// The fix.
        help: &'static str,
    },
    /// Another version of this program made the store.
    #[error(
        "the store has version {found}, and this program knows version {known}; use the solinas that made the store"
    )]
    OtherStore {
        /// Version of the store.
        found: i64,
        /// The version that this program makes.
        known: i64,
    },
    /// The operating system refused something.
    #[error("cannot {action} {}: {source}; check the folder, its permissions and its space", path.display())]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The database refused something.
    #[error("the database of the store failed: {0}; check the space and the health of its disk")]
    Database(#[from] rusqlite::Error),
    /// PostgreSQL refused something.
    #[error("the database of the store failed: {message}; check its space and the log of PostgreSQL")]
    Postgres {
        /// The cause.
        message: String,
        /// Whether its disk is full.
        is_full: bool,
    },
    /// PostgreSQL does not answer, or the connection was cut.
    #[error(
        "the database of the store cannot be used now: {0}; start PostgreSQL, or correct its address or password. If its certificate is not trusted, name \
         the file of its authority in SSL_CERT_FILE"
    )]
    Away(String),
    /// The store and the database that is named do not belong together.
    #[error("{what}; {help}")]
    Setting {
        /// What is wrong.
        what: String,
        /// The fix.
        help: &'static str,
    },
    /// A text that is no identity.
    #[error(transparent)]
    Id(#[from] crate::id::BadId),
    /// A token for workers is made for a tenant, or with other scopes.
    #[error("the scope work belongs to no tenant and to no other scope; leave out the tenant and the other scopes")]
    WorkScope,
    /// There is no such tenant or token.
    #[error("there is no {what} {name:?}; {help}")]
    Missing {
        /// A tenant or a token.
        what: &'static str,
        /// Its name.
        name: String,
        /// The fix.
        help: &'static str,
    },
    /// The operating system knows no authority that signs certificates.
    #[error(
        "no authority that signs certificates is known: {0}; install ca-certificates, or name a file in SSL_CERT_FILE"
    )]
    Authorities(std::io::Error),
    /// The operating system has no randomness, or starts no thread.
    #[error("{0}; allow more processes or memory")]
    System(String),
}

impl From<solinas_client::Error> for Error {
    fn from(error: solinas_client::Error) -> Self {
        Self::Service(Box::new(error))
    }
}

impl Help for Error {
    fn kept_help(&self) -> Option<&str> {
        match self {
            Self::Damaged { help, .. } | Self::Setting { help, .. } | Self::Missing { help, .. } => Some(help),
            Self::Service(error) => error.kept_help(),
            Self::Device(error) => error.kept_help(),
            _ => None,
        }
    }
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => Self::Exists(path),
            _ => Self::Io { action, path, source },
        }
    }

    /// Whether the database does not answer now.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, Self::Away(_))
    }

    /// Whether the disk is full.
    fn is_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        match self {
            Self::Io { source, .. } => matches!(source.kind(), StorageFull | QuotaExceeded),
            Self::Database(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            Self::Postgres { is_full, .. } => *is_full,
            _ => false,
        }
    }
}

/// Declares the codes of problems: name, HTTP status, and title.
macro_rules! codes {
    ($($name:ident = $text:literal, $status:expr, $title:literal;)*) => {
        /// The code of a problem. Clients decide by it, so a code never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Code { $($name),* }

        impl Code {
            /// Every code.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),*];

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Self::$name => $status),* }
            }

            const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),* }
            }

            pub(crate) fn of_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.name() == name)
            }
        }
    };
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::of_name(&name).ok_or_else(|| serde::de::Error::custom("an unknown code"))
    }
}

/// The status that tus gives to bytes with another checksum. HTTP has no name for it.
const CHECKSUM_MISMATCH: StatusCode = match StatusCode::from_u16(460) {
    Ok(status) => status,
    Err(_) => StatusCode::BAD_REQUEST,
};

codes! {
    BadRequest = "bad_request", StatusCode::BAD_REQUEST, "The request is malformed";
    DigestMismatch = "digest_mismatch", StatusCode::BAD_REQUEST, "The bytes have another digest";
    IdempotencyKeyMissing = "idempotency_key_missing", StatusCode::BAD_REQUEST, "The header Idempotency-Key is missing";
    Unauthorized = "unauthorized", StatusCode::UNAUTHORIZED, "A valid token is missing";
    Forbidden = "forbidden", StatusCode::FORBIDDEN, "The token does not allow this";
    NotFound = "not_found", StatusCode::NOT_FOUND, "There is no such thing";
    MethodNotAllowed = "method_not_allowed", StatusCode::METHOD_NOT_ALLOWED, "The path has no such method";
    Timeout = "timeout", StatusCode::REQUEST_TIMEOUT, "The request took too long";
    KeyConflict = "key_conflict", StatusCode::CONFLICT, "The key is registered with other bytes";
    InUse = "in_use", StatusCode::CONFLICT, "It is still in use";
    OffsetMismatch = "offset_mismatch", StatusCode::CONFLICT, "The upload goes on at another offset";
    NotDone = "not_done", StatusCode::CONFLICT, "The job has not succeeded";
    NotEnded = "not_ended", StatusCode::CONFLICT, "The job has not ended";
    LeaseLost = "lease_lost", StatusCode::CONFLICT, "The lease has ended";
    OtherVersion = "other_version", StatusCode::CONFLICT, "The worker has another version than the service";
    Expired = "expired", StatusCode::GONE, "It has expired";
    ProtocolVersion = "protocol_version", StatusCode::PRECONDITION_FAILED, "The version of the protocol is unknown";
    TooLarge = "too_large", StatusCode::PAYLOAD_TOO_LARGE, "It is larger than the limit";
    WrongMediaType = "wrong_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body has another media type";
    BadRange = "bad_range", StatusCode::RANGE_NOT_SATISFIABLE, "The file has no such bytes";
    UnknownHost = "unknown_host", StatusCode::MISDIRECTED_REQUEST, "The service does not have this name";
    SecretFile = "secret_file", StatusCode::UNPROCESSABLE_ENTITY, "The file is secret";
    BadFile = "bad_file", StatusCode::UNPROCESSABLE_ENTITY, "The file cannot be used";
    BadProgram = "bad_program", StatusCode::UNPROCESSABLE_ENTITY, "The program cannot be used";
    BadValue = "bad_value", StatusCode::UNPROCESSABLE_ENTITY, "A value cannot be used";
    WrongKey = "wrong_key", StatusCode::UNPROCESSABLE_ENTITY, "The key does not belong to it";
    WrongType = "wrong_type", StatusCode::UNPROCESSABLE_ENTITY, "An input has another type";
    WrongShape = "wrong_shape", StatusCode::UNPROCESSABLE_ENTITY, "Arrays have other shapes";
    TooDeep = "too_deep", StatusCode::UNPROCESSABLE_ENTITY, "The key does not allow this many levels";
    BadParams = "bad_params", StatusCode::UNPROCESSABLE_ENTITY, "The parameters do not allow this";
    ResearchOnly = "research_only", StatusCode::UNPROCESSABLE_ENTITY, "The key protects little or nothing";
    TooExpensive = "too_expensive", StatusCode::UNPROCESSABLE_ENTITY, "The job costs more than it may";
    DeadlinePassed = "deadline_passed", StatusCode::UNPROCESSABLE_ENTITY, "The deadline has passed";
    OverBudget = "over_budget", StatusCode::UNPROCESSABLE_ENTITY, "The job took more than it may";
    PlanningLimit = "planning_limit", StatusCode::UNPROCESSABLE_ENTITY, "The planning takes too long";
    IdempotencyMismatch = "idempotency_mismatch", StatusCode::UNPROCESSABLE_ENTITY, "The Idempotency-Key belongs to another request";
    KeyMissing = "key_missing", StatusCode::FAILED_DEPENDENCY, "The key is not registered";
    BlobMissing = "blob_missing", StatusCode::FAILED_DEPENDENCY, "A blob is not stored";
    ProgramMissing = "program_missing", StatusCode::FAILED_DEPENDENCY, "The program is not stored";
    ChecksumMismatch = "checksum_mismatch", CHECKSUM_MISMATCH, "The bytes have another checksum";
    OverQuota = "over_quota", StatusCode::TOO_MANY_REQUESTS, "A quota of the tenant is used up";
    DivergentResults = "divergent_results", StatusCode::INTERNAL_SERVER_ERROR, "Runs of the job gave different results";
    Internal = "internal", StatusCode::INTERNAL_SERVER_ERROR, "The service has a fault";
    Busy = "busy", StatusCode::SERVICE_UNAVAILABLE, "The service has too much work";
    Unavailable = "unavailable", StatusCode::SERVICE_UNAVAILABLE, "The store cannot be used now";
    Draining = "draining", StatusCode::SERVICE_UNAVAILABLE, "The service stops";
    DiskFull = "disk_full", StatusCode::INSUFFICIENT_STORAGE, "The disk is full";
}

/// A request that is refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) detail: String,
    pub(crate) fix: String,
    #[serde(skip)]
    retry_after: Option<u64>,
    #[serde(skip)]
    link: Option<String>,
}

/// The header with the identity of a request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    /// The identity of the request that this task answers.
    pub(crate) static REQUEST: String;
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), fix: fix.into(), retry_after: None, link: None }
    }

    /// The problem of an error.
    pub(crate) fn of(code: Code, error: &impl Help) -> Self {
        let fix = error.help().unwrap_or_else(|| "correct it, and submit it again".to_owned());
        Self::new(code, error.what(), fix)
    }

    /// Adds the number of seconds after which the request may succeed.
    pub(crate) fn retry_after(self, seconds: f64) -> Self {
        // A cast of a float saturates.
        Self { retry_after: Some(seconds.ceil().max(1.0) as u64), ..self }
    }

    /// Adds the path where the missing thing is sent to.
    pub(crate) fn link(self, path: String) -> Self {
        Self { link: Some(path), ..self }
    }

    /// The answer for everything that the tenant does not have, whether it exists or not.
    pub(crate) fn unknown() -> Self {
        Self::new(
            Code::NotFound,
            "the tenant has nothing with this identity",
            "check the identity, and whose token it is",
        )
    }

    /// The answer to a request that needs a blob.
    pub(crate) fn blob_missing(digest: &Digest) -> Self {
        let what = format!("the blob {digest} is not stored");
        Self::new(Code::BlobMissing, what, "upload it, and send the request again").link(format!("/v1/blobs/{digest}"))
    }

    /// The answer to a request that would store more than the tenant may.
    pub(crate) fn over_storage(quota: u64) -> Self {
        let what = format!("the tenant would store more than {quota} bytes, its quota `stored_bytes`");
        let fix = "delete jobs, files and keys that you do not need, or ask the operator for a larger quota";
        Self::new(Code::OverQuota, what, fix).retry_after(3600.0)
    }

    /// The answer to a request that needs a program.
    pub(crate) fn program_missing(digest: &Digest) -> Self {
        Self::new(Code::ProgramMissing, format!("the program {digest} is not stored"), "send the program first")
            .link("/v1/programs".to_owned())
    }

    /// The answer to a request that takes a blob of this kind for a ciphertext.
    pub(crate) fn no_ciphertext(digest: &Digest, kind: &str) -> Self {
        let what = format!("the blob {digest} is a {kind}, and inputs are ciphertexts");
        Self::new(Code::WrongType, what, "name the blob of a ciphertext")
    }

    /// The answer to a request that needs a registered key.
    pub(crate) fn key_missing(key_id: &str) -> Self {
        let what = format!("the key {key_id} is not registered");
        Self::new(Code::KeyMissing, what, "upload the server key as a blob, then register it")
            .link(format!("/v1/keys/{key_id}"))
    }

    /// The body, which states the request.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let request = REQUEST.try_with(String::clone).unwrap_or_default();
        let mut body = json!({
            "type": format!("urn:solinas:problem:{}", self.code.name()),
            "title": self.code.title(),
            "status": self.code.status().as_u16(),
            "detail": self.detail,
            "code": self.code.name(),
            "fix": self.fix,
            "request_id": request,
        });
        if let Some(seconds) = self.retry_after {
            body["retry_after"] = seconds.into();
        }
        if let Some(link) = &self.link {
            body["links"] = json!({ "upload": link });
        }
        body
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.code.status(), self.to_json().to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.code == Code::SecretFile {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            full if full.is_full() => Self::new(
                Code::DiskFull,
                "the disk of the service is full",
                "try again when its operator has made room",
            )
            .retry_after(60.0),
            // It was logged when it began.
            Error::Away(_) => Self::new(
                Code::Unavailable,
                "the database of the service cannot be reached",
                "send the request again; jobs that run go on",
            )
            .retry_after(5.0),
            _ => {
                tracing::error!(%error, "a request failed");
                Self::new(Code::Internal, "the service could not do it", "try again; the log has the cause")
            }
        }
    }
}

impl From<solinas_engine::Error> for Problem {
    /// A mistake that is found before any work.
    fn from(error: solinas_engine::Error) -> Self {
        if let solinas_engine::Error::Memory { method, need_mib, limit_mib, .. } = &error {
            let what = format!("{method} would take {need_mib} MiB of memory, and {limit_mib} MiB are allowed");
            let fix = "take fewer values in one job; the operator's setting is `job_memory_bytes`";
            return Self::new(Code::TooLarge, what, fix);
        }
        let code = match error.kind() {
            ErrorKind::Key => Code::WrongKey,
            ErrorKind::Type => Code::WrongType,
            ErrorKind::Shape | ErrorKind::Element => Code::WrongShape,
            ErrorKind::Range => Code::BadValue,
            ErrorKind::Noise => Code::TooDeep,
            ErrorKind::Params => Code::BadParams,
            ErrorKind::Format => Code::BadFile,
            ErrorKind::Circuit => Code::BadProgram,
            ErrorKind::Cancelled => {
                let what = "the planning of the program takes longer than the limit `planning_seconds`";
                return Self::new(Code::PlanningLimit, what, "split the program into smaller ones");
            }
            _ => {
                tracing::error!(%error, "a request failed");
                return Self::new(Code::Internal, "the service could not do it", "try again; the log has the cause");
            }
        };
        Self::of(code, &error)
    }
}

impl From<solinas_circuits::Error> for Problem {
    fn from(error: solinas_circuits::Error) -> Self {
        Self::of(Code::BadProgram, &error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_have_codes_of_their_own_and_a_fix() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        let body = Problem::new(Code::Busy, "much", "wait").retry_after(0.2).to_json();
        assert_eq!((&body["code"], &body["fix"], &body["retry_after"]), (&json!("busy"), &json!("wait"), &json!(1)));
    }
}
