//! Limits of planning, and a cache of recent plans.

use crate::{Control, Error, Form, Netlist, Program};
use solinas_circuits::Limits;
use solinas_values::memory;
use solinas_values::options::{NODES_VARIABLE, SECONDS_VARIABLE};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Environment variable for the largest number of gates or bootstraps of a plan, and its default.
const NODES: (&str, u64) = (NODES_VARIABLE, 1 << 22);
/// Environment variable for the largest planning time in seconds, and its default.
const SECONDS: (&str, u64) = (SECONDS_VARIABLE, 600);

/// Largest number of plans in the cache, and of the nodes of all of them.
const KEPT: usize = 32;
const KEPT_NODES: usize = 1 << 20;

/// The most bytes of memory of one plan; 0 without a limit of its own.
static MEMORY: AtomicU64 = AtomicU64::new(0);

/// Bounds the memory of each later plan of this process, in bytes. A service does so, because it plans several programs at a time. Without a bound, a plan may
/// take the [budget](crate::memory_budget).
pub fn limit_planning(bytes: u64) {
    MEMORY.store(bytes.max(1), Ordering::Relaxed);
}

/// Returns the limits of a plan that begins now.
///
/// # Errors
/// [`Error::Setting`] unless each variable is a number of at least 1.
pub(crate) fn limits<'a>(control: &Control<'a>) -> Result<Limits<'a>, Error> {
    Ok(Limits {
        nodes: Some(number(NODES)?),
        bytes: Some(match MEMORY.load(Ordering::Relaxed) {
            0 => memory::budget()?,
            bytes => bytes,
        }),
        time: Some((Instant::now(), Duration::from_secs(number(SECONDS)?))),
        cancel: control.cancel,
    })
}

fn number((name, default): (&'static str, u64)) -> Result<u64, Error> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(default) };
    let text = value.to_string_lossy();
    let number = text.trim().parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| Error::Setting { name, value: text.clone().into(), expected: "a number of at least 1" })
}

/// The source of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KernelSource {
    Program(Program),
    /// A circuit, and whether to optimize it.
    Circuit(Netlist, bool),
    /// The form to which its only input is converted.
    Convert(Form),
}

/// A cache of the most recent plans. A key holds the source of a plan and everything else on which the plan depends.
pub(crate) struct Plans<K, P>(Mutex<VecDeque<Kept<K, P>>>);

struct Kept<K, P> {
    key: K,
    plan: Arc<P>,
    nodes: usize,
}

impl<K, P> Default for Plans<K, P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, P> std::fmt::Debug for Plans<K, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Plans")
    }
}

impl<K: PartialEq, P> Plans<K, P> {
    /// Returns the plan of a key. Makes it with `make` if it is not in the cache. `nodes` returns the size of a plan.
    ///
    /// # Errors
    /// The errors of `make`.
    pub(crate) fn get(
        &self,
        key: K,
        nodes: impl Fn(&P) -> usize,
        make: impl FnOnce(&K) -> Result<P, Error>,
    ) -> Result<Arc<P>, Error> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = lock();
        if let Some(kept) = all.iter().position(|kept| kept.key == key).and_then(|at| all.remove(at)) {
            let plan = Arc::clone(&kept.plan);
            all.push_front(kept);
            return Ok(plan);
        }
        // The lock is free during `make`. If two threads make the same plan, the cache holds both until the older one
        // is evicted.
        drop(all);
        let plan = Arc::new(make(&key)?);
        let mut all = lock();
        all.push_front(Kept { key, plan: Arc::clone(&plan), nodes: nodes(&plan) });
        while all.len() > KEPT || all.iter().map(|kept| kept.nodes).sum::<usize>() > KEPT_NODES {
            all.pop_back();
        }
        Ok(plan)
    }

    /// The nodes of all plans in the cache.
    pub(crate) fn nodes(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|kept| kept.nodes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_kept_while_there_is_room() {
        let plans = Plans::<usize, usize>::default();
        let made = std::cell::Cell::new(0);
        let get = |key: usize, nodes: usize| {
            let make = |key: &usize| {
                made.set(made.get() + 1);
                Ok(*key)
            };
            assert_eq!(*plans.get(key, |_| nodes, make).unwrap(), key);
            made.get()
        };
        assert_eq!((get(0, 1), get(0, 1), get(1, 1), get(0, 1)), (1, 1, 2, 2));
        for key in 2..=KEPT {
            get(key, 1);
        }
        assert_eq!(made.get(), KEPT + 1);
        assert_eq!(get(0, 1), KEPT + 1, "it was used after 1");
        assert_eq!(get(1, 1), KEPT + 2, "the least used went");
        get(100, KEPT_NODES);
        assert_eq!(get(1, 1), KEPT + 4, "a plan of all the room takes it");
        get(101, KEPT_NODES + 1);
        assert_eq!(get(101, KEPT_NODES + 1), KEPT + 6, "larger ones are not kept");
    }
}
