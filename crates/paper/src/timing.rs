//! Times of short work: medians of repeated runs.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::{Control, Error, Options};
use solinas_bigint::Natural;
use std::time::{Duration, Instant};

/// Runs of a figure at most.
const REPETITIONS: usize = 1001;

/// Takes the times of a table's figures.
pub(crate) struct Timer<'a> {
    control: &'a Control<'a>,
    done: u64,
    total: u64,
    /// No repetition starts after this time, but for the fewest.
    budget: Duration,
    fewest: usize,
}

impl<'a> Timer<'a> {
    /// For so many figures.
    pub(crate) fn new(options: &Options, control: &'a Control<'a>, figures: usize) -> Self {
        let budget = Duration::from_millis(if options.quick { 250 } else { 2000 });
        Self { control, done: 0, total: figures as u64, budget, fewest: 1 }
    }

    /// With another time after which no repetition starts, but for the fewest of which a median is taken.
    pub(crate) fn with_budget(self, budget: Duration, fewest: usize) -> Self {
        Self { budget, fewest, ..self }
    }

    /// Median seconds of some work, and its result; the first run is not among them.
    pub(crate) fn median<T>(&mut self, mut work: impl FnMut() -> Result<T, Error>) -> Result<(f64, T), Error> {
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
        seconds.sort_by(f64::total_cmp);
        Ok((f64::midpoint(seconds[(seconds.len() - 1) / 2], seconds[seconds.len() / 2]), result))
    }

    /// The result of work that is not timed.
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
        Ok(self.control.check().map_err(solinas_runtime::Error::from)?)
    }
}

/// Threads of the parallel runs.
pub(crate) fn threads(options: &Options) -> usize {
    options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// One, and so many where that is more.
pub(crate) fn one_and(threads: usize) -> Vec<usize> {
    if threads == 1 { vec![1] } else { vec![1, threads] }
}

/// A number of exactly so many bits; `seed` tells one from another.
pub(crate) fn number(bits: usize, seed: u64) -> Natural {
    let words: Vec<u64> = ChaCha8Rng::seed_from_u64(seed).random_iter().take(bits.div_ceil(64)).collect();
    let mut number = Natural::from_words(words).low_bits(bits);
    number.set_bit(bits - 1);
    number
}

/// An error unless the result is right.
pub(crate) fn right(what: impl FnOnce() -> String, is_right: bool) -> Result<(), Error> {
    if is_right {
        return Ok(());
    }
    Err(Error::WrongResult { what: what(), got: "another number".into(), want: "the one of plain arithmetic".into() })
}
