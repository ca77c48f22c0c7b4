//! Work on a service.

use super::outputs;
use super::work::{Loaded, Work};
use crate::connection::{ServiceArgs, ciphertexts, connect, fetch, key_bytes};
use crate::encrypt::Report;
use crate::error::{Result, input, usage};
use crate::output::Output;
use serde::Serialize;
use solinas_client::{Input, JobRequest, Remote};
use solinas_engine::Ciphertext;
use std::path::{Path, PathBuf};

/// What `eval --server` takes beside the work.
pub(super) struct Options<'a> {
    /// The server key, which is sent if the service does not have it.
    pub(super) key: Option<&'a Path>,
    pub(super) estimate: bool,
    pub(super) compact: bool,
    pub(super) private_program: bool,
    pub(super) auditable: bool,
    pub(super) deadline: Option<&'a str>,
    pub(super) max_core_seconds: Option<f64>,
    pub(super) service: &'a ServiceArgs,
    pub(super) targets: &'a [PathBuf],
}

/// Sends the work and its inputs, waits, and writes the results.
pub(super) fn run(options: &Options<'_>, work: &Work, files: &[Loaded], out: &Output) -> Result<()> {
    let request = JobRequest::new(text(work)?).compact(options.compact).named(work.label());
    let request = request.private_program(options.private_program).auditable(options.auditable);
    let request = request.deadline(options.deadline.map(str::to_owned)).max_core_seconds(options.max_core_seconds);
    let (file, first) = files.first().ok_or_else(|| usage("the work has no inputs", "name ciphertexts of one key"))?;
    let key_id = first.key_id();
    if let Some((other, _)) = files.iter().find(|(_, ciphertext)| ciphertext.key_id() != key_id) {
        let what = format!("{} and {} belong to different keys", file.display(), other.display());
        return Err(input(what, "use the files of one `keygen`"));
    }
    work.check_types(files)?;
    let remote = connect(options.service)?;
    let key_id = key_id.to_string();
    if options.estimate {
        let shapes = work.shapes(files);
        let cost = with_key(&remote, options.key, || remote.estimate(&request, &key_id, Some(&shapes)))?;
        return out.result(&cost, || {
            let (bootstraps, depth, url) = (cost.bootstraps, cost.depth, remote.url());
            format!(
                "{}: {bootstraps} bootstraps, depth {depth}, about {:.1} s on {url}, after {:.1} s in its queue\n",
                work.label(),
                cost.seconds,
                cost.queue_seconds
            )
        });
    }
    let one = |(_, ciphertext): &Loaded| -> Result<Input> { Ok(Input::Encrypted(ciphertext.to_bytes()?)) };
    let mut inputs = files.iter().map(one).collect::<Result<Vec<_>>>()?;
    if let Work::Program { public, .. } = work {
        public.iter().for_each(|(at, plain)| inputs.insert(*at, Input::Public(plain.clone())));
    }
    let job = with_key(&remote, options.key, || remote.submit(&request, &key_id, &inputs))?;
    out.note(&format!("job {} on {}", job.id(), remote.url()))?;
    write(options.targets, &ciphertexts(&fetch(out, &job)?)?, out)
}

/// Does what needs the key on the service. If it is not there, it is sent from its file.
fn with_key<T>(
    remote: &Remote,
    key: Option<&Path>,
    work: impl Fn() -> std::result::Result<T, solinas_client::Error>,
) -> Result<T> {
    match key {
        Some(file) => remote.with_key(|| key_bytes(file), work),
        None => Ok(work()?),
    }
}

/// Writes and reports results.
pub(crate) fn write(targets: &[PathBuf], results: &[Ciphertext], out: &Output) -> Result<()> {
    #[derive(Serialize)]
    struct Done<'a> {
        results: Vec<Report<'a>>,
    }
    outputs::save(targets, results)?;
    let results: Vec<_> = targets.iter().zip(results).map(|(file, result)| Report::new(file, result)).collect();
    let done = Done { results };
    out.report(&done, || done.results.iter().map(Report::line).collect())
}

/// The text that the service reads.
fn text(work: &Work) -> Result<String> {
    match work {
        Work::Program { name, program, .. } => program.to_json(name).map_err(crate::error::Error::circuit(name)),
        Work::Convert { name, .. } => {
            Err(usage(format!("{name} does not run on a service"), "convert the ciphertext here, without --server"))
        }
    }
}
