//! Errors of the client.

use serde::Deserialize;
use solinas_values::Help;
use std::path::PathBuf;
use std::time::Duration;

/// A request, a job or a file that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is no address of a service.
    #[error("{url:?} is not the address of a service; give http://HOST:PORT or https://HOST")]
    Address {
        /// The address.
        url: String,
    },
    /// The token would go to another machine without encryption.
    #[error(
        "{url:?} is on another machine, and HTTP would show the token and the data to the network; give an address with https://, or allow HTTP with --insecure-http (in Python: insecure_http=True)"
    )]
    InsecureHttp {
        /// The address.
        url: String,
    },
    /// The service cannot be reached.
    #[error("cannot reach {url}: {reason}; check the address, and that `solinas serve` runs there")]
    Unreachable {
        /// The address.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The service has a certificate that this machine does not trust.
    #[error(
        "cannot trust the certificate of {url}: {reason}; call the service by the name in its certificate. If the operator gave you a certificate, name its file in SSL_CERT_FILE, or for a worker with --cafile"
    )]
    Untrusted {
        /// The address.
        url: String,
        /// The cause.
        reason: String,
    },
    /// A file of authorities cannot be used.
    #[error("cannot use the certificates in {}: {reason}; give a file with certificates in PEM", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The bytes of an answer cannot be written.
    #[error("cannot write what the service sent: {0}; check the disk and its space")]
    Write(std::io::Error),
    /// What answers is no service of Solinas, or one of a later version.
    #[error("{url} does not answer as a service of Solinas does: {reason}; check the address, and update solinas")]
    Foreign {
        /// The address.
        url: String,
        /// What is different.
        reason: String,
    },
    /// The service refused a request.
    #[error("the service refused it: {}; {}", .0.detail, .0.fix)]
    Refused(Box<Problem>),
    /// A job failed.
    #[error("job {id} failed: {}; {}", problem.detail, problem.fix)]
    Failed {
        /// The job.
        id: String,
        /// The cause.
        problem: Box<Problem>,
    },
    /// A job was cancelled, by this client or by another.
    #[error("job {id} was cancelled; submit it again")]
    JobCancelled {
        /// The job.
        id: String,
    },
    /// The results of a job were removed.
    #[error("the results of job {id} have expired; submit it again")]
    Expired {
        /// The job.
        id: String,
    },
    /// The file is a secret key.
    #[error("the file is a secret key, which no service may have; name server.key")]
    Secret,
    /// From a file, a key or a ciphertext.
    #[error(transparent)]
    Values(#[from] solinas_values::Error),
}

/// A problem that the service states.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Problem {
    /// HTTP status.
    #[serde(default)]
    pub status: u16,
    /// Code, which keeps its meaning.
    pub code: String,
    /// What is wrong, and where.
    pub detail: String,
    /// What to do.
    pub fix: String,
    /// The request, for the operator of the service.
    #[serde(default)]
    pub request_id: String,
    /// Seconds after which the request may succeed.
    #[serde(default)]
    pub retry_after: Option<u64>,
}

impl Help for Error {
    fn kept_help(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) | Self::Failed { problem, .. } => Some(&problem.fix),
            Self::Values(error) => error.kept_help(),
            _ => None,
        }
    }
}

impl Error {
    /// The code of the problem that the service stated, if it did.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) | Self::Failed { problem, .. } => Some(&problem.code),
            _ => None,
        }
    }

    /// The HTTP status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(problem) => Some(problem.status),
            _ => None,
        }
    }

    /// After which time the same request may succeed. None if it will not.
    pub fn passes(&self) -> Option<Duration> {
        match self {
            Self::Unreachable { .. } => Some(Duration::ZERO),
            Self::Refused(problem) if matches!(problem.status, 408 | 429 | 502 | 503 | 504) => {
                Some(Duration::from_secs(problem.retry_after.unwrap_or(0)))
            }
            // An earlier try brought more bytes than its answer said.
            Self::Refused(problem) if problem.code == "offset_mismatch" => Some(Duration::ZERO),
            _ => None,
        }
    }
}
