//! The connection to a service.

use crate::error::{Error, Result, usage};
use crate::files::read_bytes;
use crate::output::Output;
use crate::progress::watch;
use solinas_client::{Fetched, Remote, RemoteJob, Trust};
use solinas_engine::Ciphertext;
use std::path::Path;

/// The largest server key that is sent.
const LARGEST_KEY: u64 = 4 << 30;

/// How a service may be called.
#[derive(clap::Args)]
pub(crate) struct ServiceArgs {
    /// Send the token over http:// to another machine, without encryption
    #[arg(long, global = true)]
    insecure_http: bool,
}

/// The service that the environment names.
///
/// # Errors
/// If a variable is missing, no service answers, or the token would go to another machine without encryption.
pub(crate) fn connect(args: &ServiceArgs) -> Result<Remote> {
    let url = variable("SOLINAS_SERVER", "set it to the address of the service, such as http://127.0.0.1:7470")?;
    let trust = Trust { insecure_http: args.insecure_http, ..Trust::default() };
    Ok(Remote::connect(&url, &token()?, &trust)?)
}

/// The token that the environment names.
pub(crate) fn token() -> Result<String> {
    variable("SOLINAS_TOKEN", "set it to the token that `solinas serve` printed, or that its operator gave you")
}

fn variable(name: &str, fix: &str) -> Result<String> {
    // A file with the token ends in a new line.
    let value = std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    value.ok_or_else(|| usage(format!("the variable {name} is not set"), fix))
}

/// The bytes of a server key.
pub(crate) fn key_bytes(file: &Path) -> Result<Vec<u8>> {
    read_bytes(file, LARGEST_KEY)
}

/// Waits for the results of a job, with a bar. Ctrl-C ends the wait, and the job goes on.
pub(crate) fn fetch(out: &Output, job: &RemoteJob) -> Result<Vec<Fetched>> {
    match watch(out, &format!("job {}", job.id()), |control| Ok(job.wait(control)?)) {
        Err(Error::Interrupted) => {
            let id = job.id();
            out.warn(&format!(
                "job {id} goes on: `solinas remote result {id}` waits for it, `solinas remote cancel {id}` stops it"
            ));
            Err(Error::Interrupted)
        }
        done => done,
    }
}

/// The ciphertexts of results.
pub(crate) fn ciphertexts(results: &[Fetched]) -> Result<Vec<Ciphertext>> {
    results.iter().map(|result| Ok(Ciphertext::from_bytes(&result.bytes)?)).collect()
}
