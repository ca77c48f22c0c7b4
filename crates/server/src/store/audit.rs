//! Audits: a part of the jobs runs twice, and the results are compared. One plan gives the same bytes on every machine, so other bytes mean broken
//! hardware or memory.

use crate::error::{Code, Problem};
use crate::id::{Id, Tenant};
use crate::store::result::JobResult;
use crate::time::SECOND;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The most runs of a job.
const RUNS: usize = 3;
/// How long an audited job waits for a worker that has not run it, in milliseconds. Then any worker runs it.
pub(crate) const WAIT: i64 = 30 * SECOND;

/// A run of an audited job that gave results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuditRun {
    /// The worker.
    pub(crate) runner: String,
    pub(crate) results: Vec<JobResult>,
}

impl fmt::Display for AuditRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digests: Vec<_> = self.results.iter().map(|result| result.digest.as_str()).collect();
        write!(f, "{}: {}", self.runner, digests.join(" "))
    }
}

/// What follows the last run of an audited job.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Another run.
    Again,
    /// Success: an earlier run gave the same results.
    Agreed,
    /// Failure: no two runs gave the same results.
    Broken(Problem),
}

/// Whether a job is one of this fraction of all jobs.
pub(crate) fn is_drawn(tenant: &Tenant, id: Id, fraction: f64) -> bool {
    let hash = blake3::hash(format!("{tenant}/{id}").as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    // 53 bits fit in a float, and every number of them is below a fraction of 1.
    ((u64::from_le_bytes(first) >> 11) as f64) < fraction * (1u64 << 53) as f64
}

/// Whether the last run differs from every run before it.
pub(crate) fn differs(runs: &[AuditRun]) -> bool {
    let Some((last, earlier)) = runs.split_last() else { return false };
    !earlier.is_empty() && earlier.iter().all(|run| run.results != last.results)
}

/// What follows the last of these runs.
pub(crate) fn verdict(runs: &[AuditRun]) -> Verdict {
    match runs.len() {
        0 | 1 => Verdict::Again,
        _ if !differs(runs) => Verdict::Agreed,
        RUNS.. => Verdict::Broken(Problem::new(
            Code::DivergentResults,
            format!(
                "{RUNS} runs of the job gave {RUNS} different results, so hardware or memory of a worker is broken"
            ),
            "tell the operator of the service, who finds the machines in the log and tests their memory; then submit the job again",
        )),
        _ => Verdict::Again,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Digest;

    #[test]
    fn a_fraction_of_the_jobs_is_drawn_and_always_the_same() {
        let tenant = Tenant::new("a").unwrap();
        let ids: Vec<Id> = (0..10_000u128).map(|number| format!("{number:026}").parse().unwrap()).collect();
        let drawn = |fraction| ids.iter().filter(|&&id| is_drawn(&tenant, id, fraction)).count();
        assert_eq!((drawn(0.0), drawn(1.0)), (0, ids.len()));
        assert!((900..1100).contains(&drawn(0.1)), "{}", drawn(0.1));
        assert_eq!(drawn(0.1), drawn(0.1));
    }

    #[test]
    fn two_equal_runs_decide() {
        let run = |byte: u8| {
            let digest = Digest::of(&blake3::hash(&[byte]));
            let result =
                JobResult { name: "out".into(), digest, ty: "u8".into(), shape: None, bytes: 1, compact: false };
            AuditRun { runner: "service".into(), results: vec![result] }
        };
        let runs = |bytes: &[u8]| bytes.iter().map(|&byte| run(byte)).collect::<Vec<_>>();
        let is_again = |bytes| matches!(verdict(&runs(bytes)), Verdict::Again);
        let is_agreed = |bytes| matches!(verdict(&runs(bytes)), Verdict::Agreed);
        let is_broken = |bytes| matches!(verdict(&runs(bytes)), Verdict::Broken(_));
        assert!(is_again(&[1]) && is_again(&[1, 2]));
        assert!(is_agreed(&[1, 1]) && is_agreed(&[1, 2, 1]) && is_agreed(&[1, 2, 2]));
        assert!(is_broken(&[1, 2, 3]));
        let differing = [&[1][..], &[1, 1], &[1, 2], &[1, 2, 1], &[1, 2, 3]].map(|bytes| differs(&runs(bytes)));
        assert_eq!(differing, [false, false, true, false, true]);
    }
}
