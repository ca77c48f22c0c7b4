//! The request for a job: what it computes, and its limits.

use serde_json::{Value, json};

/// A request for jobs: the program that they compute, and their limits. A job also has a key and inputs ([`Remote::submit`](crate::Remote::submit)).
#[derive(Debug, Clone, PartialEq)]
pub struct JobRequest {
    pub(crate) program: String,
    compact: bool,
    pub(crate) private_program: bool,
    auditable: bool,
    name: Option<String>,
    deadline: Option<String>,
    max_core_seconds: Option<f64>,
}

impl JobRequest {
    /// Asks for a program in JSON, or a circuit in Bristol, BLIF or JSON of Yosys.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            compact: false,
            private_program: false,
            auditable: false,
            name: None,
            deadline: None,
            max_core_seconds: None,
        }
    }

    /// Asks for compact results: small, and for decryption alone.
    #[must_use]
    pub fn compact(self, compact: bool) -> Self {
        Self { compact, ..self }
    }

    /// Asks for results that hide the program from the holder of the client key.
    #[must_use]
    pub fn private_program(self, private_program: bool) -> Self {
        Self { private_program, ..self }
    }

    /// Asks for results that name the plan that made them.
    #[must_use]
    pub fn auditable(self, auditable: bool) -> Self {
        Self { auditable, ..self }
    }

    /// Names the jobs, for lists.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets the time after which a job fails unless it has ended, in RFC 3339, such as `2030-01-31T12:00:00Z`.
    #[must_use]
    pub fn deadline(self, deadline: Option<String>) -> Self {
        Self { deadline, ..self }
    }

    /// Sets the most core-seconds of a job. A job that is expected to take more is refused, and one that takes more fails.
    #[must_use]
    pub fn max_core_seconds(self, most: Option<f64>) -> Self {
        Self { max_core_seconds: most, ..self }
    }

    /// Its fields, but for the key and the inputs. The digest is that of the program.
    pub(crate) fn fields(&self, digest: &str) -> Value {
        json!({
            "program": digest, "compact": self.compact, "name": self.name, "deadline": self.deadline,
            "max_core_seconds": self.max_core_seconds, "private_program": self.private_program, "auditable": self.auditable,
        })
    }
}
