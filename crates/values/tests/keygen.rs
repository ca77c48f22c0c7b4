//! Key generation tells its progress, and can be stopped. An engine gets the key that its scheme has.

use crate::keys::{keys, options};
use solinas_values::{Control, Error, KeygenOptions, Progress, keygen};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[test]
fn key_generation_has_one_progress_over_all_its_phases() {
    for (params, rotations) in [("tight-64-9", false), ("slots-128-3", true), ("boot-64", false)] {
        let heard = Mutex::new(Vec::new());
        let listen = |Progress { done, total, .. }: Progress| heard.lock().unwrap().push((done, total));
        let control = Control { progress: Some(&listen), cancel: None };
        keygen(&KeygenOptions { rotations, ..options("ntru", params) }, &control).unwrap();
        // The first is told before anything is known.
        let heard: Vec<_> = heard.into_inner().unwrap().into_iter().skip(1).collect();
        let total = heard[0].1;
        assert!(heard.len() > 3 && heard.iter().all(|step| step.1 == total), "{params} {heard:?}");
        assert!(heard.is_sorted_by(|a, b| a.0 < b.0), "{params} {heard:?}");
        assert_eq!(heard.last(), Some(&(total, total)), "{params}");
    }
}

#[test]
fn making_a_bootstrapping_key_is_told_of_and_can_be_stopped() {
    let (reports, most) = (AtomicU64::new(0), AtomicU64::new(0));
    let report = |progress: Progress| {
        reports.fetch_add(1, Ordering::Relaxed);
        assert!(most.fetch_max(progress.done, Ordering::Relaxed) <= progress.done && progress.done <= progress.total);
    };
    let control = Control { progress: Some(&report), ..Default::default() };
    keygen(&options("bgv", "boot-64-2"), &control).unwrap();
    assert!(reports.load(Ordering::Relaxed) > 30);
    // After the rows of the evaluation key.
    let cancel = AtomicBool::new(false);
    let late = |progress: Progress| {
        if 2 * progress.done > progress.total {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let control = Control { progress: Some(&late), cancel: Some(&cancel) };
    assert!(matches!(keygen(&options("bgv", "boot-64-2"), &control), Err(Error::Cancelled)));
}

#[test]
fn an_engine_gets_the_keys_of_its_scheme_alone() {
    let (_, key) = keys("tfhe", "gates-toy");
    assert!(key.of_scheme::<solinas_formats::tfhe::ServerFile>().is_ok());
    let error = key.of_scheme::<solinas_values::gh::Server>().unwrap_err();
    assert!(matches!(error, Error::Internal(_)) && error.to_string().contains("a key of tfhe"), "{error}");
}
