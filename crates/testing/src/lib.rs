//! What the tests of all crates share.
//!
//! A test that a machine cannot run says so by [`left_out`], on standard error, where the test harness does not hide it.
//! The environment variable `SOLINAS_REQUIRE` names what must be there, such as `avx512,postgres`: a test that lacks it
//! fails. Names are `avx2`, `avx512`, `ifma`, `vnni` and `adx` (instructions), `rtl` (the tools of the hardware designs) and
//! `postgres`; the Python tests also know `chromium`, `page`, `axe`, `promtool`, `systemd` and
//! `ray`.
//!
//! A test with many cases runs a few of them, and all of them where the environment variable `SOLINAS_LONG` is set
//! (`make test-long`): see [`rounds`].
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::env;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Names of instructions for which kernels exist, and whether this processor has them.
fn instructions() -> Vec<(&'static str, bool)> {
    #[cfg(target_arch = "x86_64")]
    macro_rules! has {
        ($($name:tt)*) => { true $(&& std::arch::is_x86_feature_detected!($name))* };
    }
    #[cfg(not(target_arch = "x86_64"))]
    macro_rules! has {
        ($($name:tt)*) => {
            false
        };
    }
    vec![
        ("avx2", has!("avx2" "fma")),
        ("avx512", has!("avx512f" "avx512bw" "avx512dq" "avx512vl")),
        ("ifma", has!("avx512ifma")),
        ("vnni", has!("avx512vnni")),
        ("adx", has!("bmi2" "adx")),
    ]
}

/// Returns the back ends of this machine, which the caller names. Says which instructions the processor lacks.
///
/// # Panics
/// If `SOLINAS_REQUIRE` names one of them.
pub fn back_ends<B>(available: Vec<B>) -> Vec<B> {
    for (name, _) in instructions().into_iter().filter(|(_, is_there)| !is_there) {
        left_out(name, "the processor does not have these instructions");
    }
    available
}

/// Says, once in a process, that tests leave out what needs `name`.
///
/// # Panics
/// If `SOLINAS_REQUIRE` names it.
pub fn left_out(name: &'static str, why: impl Display) {
    static TOLD: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let list = env::var("SOLINAS_REQUIRE").unwrap_or_default();
    assert!(!names(&list, name), "SOLINAS_REQUIRE names {name}, but {why}");
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        let program = env::current_exe().unwrap_or_default();
        let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // The harness hides what the macro `eprintln` prints. If nobody reads the line, the test goes on.
        let _ = writeln!(std::io::stderr(), "left out of {program}: {name}: {why}");
    }
}

/// Whether a list of names, separated by commas, has this one.
fn names(list: &str, name: &str) -> bool {
    list.split(',').any(|one| one.trim() == name)
}

/// Whether tests run all of their cases: `SOLINAS_LONG` is set, and not to 0.
pub fn is_long() -> bool {
    env::var("SOLINAS_LONG").is_ok_and(|value| !value.is_empty() && value != "0")
}

/// The number of cases of a test: `few`, or `many` where [`is_long`].
pub fn rounds(few: usize, many: usize) -> usize {
    if is_long() { many } else { few }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_whole_words() {
        assert!(names("avx2,avx512", "avx512") && names(" avx2 , ifma", "ifma"));
        assert!(!names("avx512", "avx5") && !names("", "avx2"));
    }

    #[test]
    fn instructions_have_names_of_their_own() {
        let all: BTreeSet<_> = instructions().into_iter().map(|(name, _)| name).collect();
        assert_eq!(all.len(), 5);
    }
}
