//! A job on a service.

use crate::Error;
use crate::digest::digest;
use crate::error::Problem;
use crate::http::{Call, Http};
use serde_json::Value;
use solinas_values::{Ciphertext, Control};
use std::fmt;

/// Seconds that a request waits for a change of a job.
const WAIT: u64 = 1;
/// The most such seconds. A client takes a service that is silent for longer as lost.
const LONGEST_WAIT: u64 = 5;

/// A job on a service. It goes on when this value is dropped.
#[derive(Clone)]
pub struct RemoteJob {
    http: Http,
    id: String,
}

impl fmt::Debug for RemoteJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteJob").field("url", &self.http.url).field("id", &self.id).finish_non_exhaustive()
    }
}

/// The state of a job, as the service describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobState(Value);

impl JobState {
    /// The state: `queued`, `running`, `succeeded`, `failed`, `cancelled` or `expired`.
    pub fn name(&self) -> &str {
        self.0["state"].as_str().unwrap_or_default()
    }

    /// Whether it waits or runs.
    pub fn is_live(&self) -> bool {
        matches!(self.name(), "queued" | "running")
    }

    /// Steps that are done, and all steps. Both are 0 before the start.
    pub fn progress(&self) -> (u64, u64) {
        let read = |field: &str| self.0["progress"][field].as_u64().unwrap_or(0);
        (read("done"), read("total"))
    }

    /// Everything that the service says of the job.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

/// A result of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The name of the output.
    pub name: String,
    /// The bytes of the file of the ciphertext.
    pub bytes: Vec<u8>,
}

impl RemoteJob {
    pub(crate) fn new(http: Http, id: &str) -> Self {
        Self { http, id: id.to_owned() }
    }

    /// The identity, for [`Remote::job`](crate::Remote::job).
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A path of the job. An identity has letters and digits alone. With a mark in place of others, no other job is meant.
    fn path(&self, rest: &str) -> String {
        let id: String = self.id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let id = if id.is_empty() { "_" } else { &id };
        format!("/v1/jobs/{id}{rest}")
    }

    /// The state now, or after that number of seconds if the job has not ended before (at most 5).
    ///
    /// # Errors
    /// [`Error::Refused`] for an unknown job.
    pub fn state(&self, wait: u64) -> Result<JobState, Error> {
        self.state_under(wait, &Control::default())
    }

    fn state_under(&self, wait: u64, control: &Control<'_>) -> Result<JobState, Error> {
        self.http.json_under(&Call::get(self.path(&format!("?wait={}", wait.min(LONGEST_WAIT)))), control).map(JobState)
    }

    /// Waits for the end. `control` hears the progress. If it cancels, this returns [`solinas_values::Error::Cancelled`], and the job goes on.
    ///
    /// # Errors
    /// [`Error::Refused`] for an unknown job; the error of the control.
    pub fn wait_for_end(&self, control: &Control<'_>) -> Result<JobState, Error> {
        loop {
            control.check().map_err(solinas_values::Error::from)?;
            let state = self.state_under(WAIT, control)?;
            let (done, total) = state.progress();
            control.report(done, total);
            if !state.is_live() {
                return Ok(state);
            }
        }
    }

    /// Waits for the results, as [`Self::wait_for_end`] does, and fetches them.
    ///
    /// # Errors
    /// [`Error::Failed`]; [`Error::JobCancelled`]; [`Error::Expired`]; as [`Self::wait_for_end`].
    pub fn wait(&self, control: &Control<'_>) -> Result<Vec<Fetched>, Error> {
        let state = self.wait_for_end(control)?;
        let id = self.id.clone();
        match state.name() {
            "succeeded" => self.fetch(&state, control),
            "cancelled" => Err(Error::JobCancelled { id }),
            "expired" => Err(Error::Expired { id }),
            _ => {
                let problem: Problem = serde_json::from_value(state.0["error"].clone())
                    .map_err(|error| self.http.foreign(error.to_string()))?;
                Err(Error::Failed { id, problem: Box::new(problem) })
            }
        }
    }

    /// Fetches the results, and checks their digests.
    fn fetch(&self, state: &JobState, control: &Control<'_>) -> Result<Vec<Fetched>, Error> {
        let results = state.0["results"].as_array().map(Vec::as_slice).unwrap_or_default();
        let one = |(index, result): (usize, &Value)| {
            let bytes = self.http.send_under(
                &Call {
                    most: result["bytes"].as_u64().unwrap_or(0),
                    ..Call::get(self.path(&format!("/results/{index}")))
                },
                control,
            )?;
            if result["digest"] != digest(&bytes) {
                return Err(self.http.foreign(format!("result {index} has another digest than the job says")));
            }
            Ok(Fetched { name: result["name"].as_str().unwrap_or("result").to_owned(), bytes })
        };
        results.iter().enumerate().map(one).collect()
    }

    /// Waits for the results, and reads them.
    ///
    /// # Errors
    /// As [`Self::wait`]; [`Error::Values`] for a result that is no ciphertext.
    pub fn ciphertexts(&self, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        self.wait(control)?.iter().map(|result| Ok(Ciphertext::from_bytes(&result.bytes)?)).collect()
    }

    /// The schedule: the field `waves` lists the waves, with expected and measured times.
    ///
    /// # Errors
    /// [`Error::Refused`] for an unknown job.
    pub fn schedule(&self) -> Result<Value, Error> {
        self.http.json(&Call::get(self.path("/schedule")))
    }

    /// The schedule as a picture in SVG: a bar for each wave.
    ///
    /// # Errors
    /// As [`Self::schedule`].
    pub fn schedule_svg(&self) -> Result<String, Error> {
        let call = Call { headers: vec![("accept", "image/svg+xml".to_owned())], ..Call::get(self.path("/schedule")) };
        String::from_utf8(self.http.send(&call)?).map_err(|error| self.http.foreign(error.to_string()))
    }

    /// Cancels the job. A job that has ended stays as it is.
    ///
    /// # Errors
    /// [`Error::Refused`] for an unknown job.
    pub fn cancel(&self) -> Result<JobState, Error> {
        let call = Call { method: "POST", body: Some(b"{}"), ..Call::get(self.path("/cancel")) };
        self.http.json(&call).map(JobState)
    }

    /// Removes a job that has ended, and its results.
    ///
    /// # Errors
    /// [`Error::Refused`] for an unknown job, and for one that has not ended.
    pub fn remove(&self) -> Result<(), Error> {
        self.http.send(&Call { method: "DELETE", ..Call::get(self.path("")) }).map(drop)
    }
}
