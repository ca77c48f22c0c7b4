//! Jobs and controls: progress, cancellation, waiting.

use crate::keys;
use solinas::{Control, ErrorKind, Progress, keygen};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn jobs_report_progress_and_give_results() {
    let (client, _, server) = keys();
    let a = client.encrypt(9u8).unwrap();
    let job = server.prepare(&a * &a).unwrap().start().unwrap();
    while !job.wait_timeout(Duration::from_millis(50)) {}
    let Progress { done, total, .. } = job.progress();
    assert!(job.is_done() && done == total && total > 0, "{done} of {total}");
    assert_eq!(client.decrypt(job.wait().unwrap()).unwrap(), 81);
}

#[test]
fn progress_over_several_steps_only_grows() {
    let (client, _, server) = keys();
    let x = client.encrypt([3u8, 4]).unwrap();
    let heard = Mutex::new(Vec::new());
    let report = |progress: Progress| heard.lock().unwrap().push(progress);
    let control = Control { progress: Some(&report), ..Control::default() };
    let prepared = server.prepare((&x * &x).sum()).unwrap();
    let total = prepared.count().unwrap().bootstraps;
    let sum = prepared.run_with(&control).unwrap();
    assert_eq!(client.decrypt(sum).unwrap(), 25);
    let heard = heard.into_inner().unwrap();
    assert!(heard.iter().all(|progress| progress.total == total), "{heard:?}");
    assert_eq!(heard.iter().map(|progress| progress.done).max(), Some(total));
    assert!(heard.is_sorted_by_key(|progress| progress.done), "{heard:?}");
}

#[test]
fn cancelled_work_stops() {
    let (client, _, server) = keys();
    let a = client.encrypt(9u8).unwrap();
    let job = server.prepare(&a / &a).unwrap().start().unwrap();
    job.cancel();
    assert_eq!(job.wait().unwrap_err().kind(), ErrorKind::Cancelled);
    let cancel = AtomicBool::new(false);
    let stop = |_: Progress| cancel.store(true, Ordering::Relaxed);
    let control = Control { progress: Some(&stop), cancel: Some(&cancel) };
    let quotient = &a / 7;
    assert_eq!(server.prepare(&quotient).unwrap().run_with(&control).unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(!quotient.is_computed());
    // The same expression runs when it is asked for again.
    assert_eq!(client.decrypt(server.run(&quotient).unwrap()).unwrap(), 1);
}

#[test]
fn key_generation_is_a_job_too() {
    let job = keygen("tfhe").params("integers-toy").research().insecure_seed(3).start().unwrap();
    assert_eq!(job.wait().unwrap().0.params().name, "integers-toy");
    let cancelled = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancelled), ..Control::default() };
    let error = keygen("tfhe").params("integers-toy").research().run_with(&control).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn estimates_have_seconds() {
    let (client, _, server) = keys();
    let x = client.encrypt([3u8, 4]).unwrap();
    let prepared = server.prepare((&x * &x).sum()).unwrap();
    let (count, estimate) = (prepared.count().unwrap(), prepared.estimate().unwrap());
    assert!(estimate.seconds > 0.0 && count.seconds == 0.0);
    assert_eq!((count.bootstraps, count.depth), (estimate.bootstraps, estimate.depth));
}

#[test]
fn counts_and_estimates_are_cancelled() {
    let (client, _, server) = keys();
    let x = client.encrypt(3u8).unwrap();
    let cancelled = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancelled), ..Control::default() };
    // No other test plans this.
    let prepared = server.prepare(&(&(&x * 77) + 5) * &x).unwrap();
    for cost in [prepared.count_with(&control), prepared.estimate_with(&control)] {
        assert_eq!(cost.unwrap_err().kind(), ErrorKind::Cancelled);
    }
    assert!(prepared.count().unwrap().bootstraps > 0);
}
