//! Measures times of short work: medians of repeated runs, with the shortest and the longest run.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::{Control, Error, Options};
use solinas_bigint::Natural;
use std::time::{Duration, Instant};

/// Largest number of runs for a figure.
const REPETITIONS: usize = 1001;

/// Seconds of repeated runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seconds {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Seconds {
    /// The times of one run or more.
    pub(crate) fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |place: usize| seconds.get(place).copied().unwrap_or(f64::NAN);
        let last = seconds.len().saturating_sub(1);
        Self { median: f64::midpoint(at(last / 2), at(seconds.len() / 2)), least: at(0), most: at(last) }
    }
}

/// Measures the figures of a table.
pub(crate) struct Timer<'a> {
    control: &'a Control<'a>,
    done: u64,
    total: u64,
    /// After this time, no repetition starts, except for the minimum number.
    budget: Duration,
    fewest: usize,
}

impl<'a> Timer<'a> {
    /// A timer for the given number of figures.
    pub(crate) fn new(options: &Options, control: &'a Control<'a>, figures: usize) -> Self {
        let budget = Duration::from_millis(if options.quick { 250 } else { 2000 });
        Self { control, done: 0, total: figures as u64, budget, fewest: 1 }
    }

    /// Sets the time after which no repetition starts, except for the minimum number of a median.
    pub(crate) fn with_budget(self, budget: Duration, fewest: usize) -> Self {
        Self { budget, fewest, ..self }
    }

    /// Seconds of some work, and its result. The first run does not count.
    pub(crate) fn seconds<T>(&mut self, mut work: impl FnMut() -> Result<T, Error>) -> Result<(Seconds, T), Error> {
        self.check()?;
        let mut result = work()?;
        let (begin, mut seconds) = (Instant::now(), Vec::new());
        while seconds.len() < self.fewest || seconds.len() < REPETITIONS && begin.elapsed() < self.budget {
            self.check()?;
            let start = Instant::now();
            result = work()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        self.report();
        Ok((Seconds::of(seconds), result))
    }

    /// Runs work without timing, and returns its result.
    pub(crate) fn once<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Error> {
        self.check()?;
        let result = work();
        self.report();
        Ok(result)
    }

    fn report(&mut self) {
        self.done += 1;
        self.control.report(self.done, self.total);
    }

    fn check(&self) -> Result<(), Error> {
        Ok(self.control.check().map_err(solinas_engine::Error::from)?)
    }
}

/// Number of threads of the parallel runs.
pub(crate) fn threads(options: &Options) -> usize {
    options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// The thread counts to measure: 1, and `threads` if it is larger.
pub(crate) fn one_and(threads: usize) -> Vec<usize> {
    if threads == 1 { vec![1] } else { vec![1, threads] }
}

/// A number of exactly the given number of bits. Each `seed` gives another number.
pub(crate) fn number(bits: usize, seed: u64) -> Natural {
    let words: Vec<u64> = ChaCha8Rng::seed_from_u64(seed).random_iter().take(bits.div_ceil(64)).collect();
    let mut number = Natural::from_words(words).low_bits(bits);
    number.set_bit(bits - 1);
    number
}

/// Fails unless the result is right.
pub(crate) fn right(what: impl FnOnce() -> String, is_right: bool) -> Result<(), Error> {
    if is_right {
        return Ok(());
    }
    Err(Error::WrongResult {
        what: what(),
        got: "another number".into(),
        want: "the result of plain arithmetic".into(),
    })
}
