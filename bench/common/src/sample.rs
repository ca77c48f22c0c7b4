//! Timing. The contestants of a row are sampled in turn, so that a busy moment of the machine meets all of them.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::Error;
use crate::machine;
use crate::numbers::trimmed;
use crate::stats::Summary;

/// A sample of a contest repeats short work until it lasts about this long.
const SAMPLE: Duration = Duration::from_millis(2);

/// Something that is timed.
pub trait Work {
    /// Does it once; this alone is timed.
    fn run(&mut self);
    /// The words of the last run's result, least significant first; `None` if other contestants have no such result.
    fn result(&self) -> Option<Vec<u64>>;
}

/// A [`Work`] that writes its result into words of its own.
pub struct Job<F> {
    out: Vec<u64>,
    run: F,
}

impl<F: FnMut(&mut [u64])> Job<F> {
    /// `run` writes into `len` words.
    pub fn new(len: usize, run: F) -> Self {
        Self { out: vec![0; len], run }
    }
}

impl<F: FnMut(&mut [u64])> Work for Job<F> {
    fn run(&mut self) {
        (self.run)(&mut self.out);
    }

    fn result(&self) -> Option<Vec<u64>> {
        Some(self.out.clone())
    }
}

/// One column of a row.
pub struct Contestant<'a> {
    /// The column.
    pub name: String,
    /// The work of this column.
    pub work: Box<dyn Work + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant for the column `name`.
    pub fn new(name: impl Into<String>, work: impl Work + 'a) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }
}

/// How many samples a row takes.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Largest number of rounds; each takes one sample of every contestant.
    pub samples: usize,
    /// After this time no further round begins. The first round always runs.
    pub budget: Duration,
}

impl Effort {
    /// Runs `round` with the numbers 0, 1, .. until the samples or the budget are used up.
    ///
    /// # Errors
    /// The first error of `round`.
    pub fn rounds<E>(&self, mut round: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        let start = Instant::now();
        (0..self.samples).take_while(|&index| index == 0 || start.elapsed() < self.budget).try_for_each(&mut round)
    }
}

/// Wall and CPU times of samples, in microseconds per run.
#[derive(Clone, Debug, Default)]
pub struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    /// Takes one sample of `runs` runs, and returns its wall time.
    pub fn sample(&mut self, runs: u32, mut work: impl FnMut()) -> Duration {
        let (start, start_cpu) = (Instant::now(), machine::cpu_time());
        (0..runs).for_each(|_| work());
        let (wall, cpu) = (start.elapsed(), machine::cpu_time().saturating_sub(start_cpu));
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(runs);
        self.wall.push(micros(wall));
        self.cpu.push(micros(cpu));
        wall
    }

    /// Summaries under the name of a column.
    pub fn figure(&self, name: impl Into<String>) -> Figure {
        Figure { name: name.into(), wall: Summary::of(&self.wall), cpu: Summary::of(&self.cpu) }
    }
}

/// Times of one contestant.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The column.
    pub name: String,
    /// Wall time of one run, microseconds.
    pub wall: Summary,
    /// CPU time of one run over all threads, microseconds.
    pub cpu: Summary,
}

struct Runner<'a> {
    contestant: Contestant<'a>,
    repeat: u32,
    /// Its first run took longer than the row may.
    finished: bool,
    times: Times,
}

impl<'a> Runner<'a> {
    fn new(contestant: Contestant<'a>) -> Self {
        Self { contestant, repeat: 1, finished: false, times: Times::default() }
    }

    fn sample(&mut self) -> Duration {
        self.times.sample(self.repeat, || self.contestant.work.run())
    }

    /// Finds how often a sample repeats the work.
    fn calibrate(&mut self) {
        while self.sample() < SAMPLE / 2 {
            self.repeat = self.repeat.saturating_mul(2);
        }
        self.times = Times::default();
    }
}

/// Times the contestants of a row. Work that takes longer than the budget runs once.
///
/// # Errors
/// [`Error::Wrong`] if a result differs from the first one's, before or after the timing.
pub fn contest(id: &str, contestants: Vec<Contestant<'_>>, effort: Effort) -> Result<Vec<Figure>, Error> {
    let mut runners: Vec<_> = contestants.into_iter().map(Runner::new).collect();
    for runner in &mut runners {
        runner.finished = runner.sample() >= effort.budget;
    }
    agree(id, &runners)?;
    runners.iter_mut().filter(|runner| !runner.finished).for_each(Runner::calibrate);
    effort.rounds(|round| {
        let mut order: Vec<_> = runners.iter_mut().filter(|runner| !runner.finished).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for runner in order {
            runner.sample();
        }
        Ok::<_, Error>(())
    })?;
    agree(id, &runners)?;
    Ok(runners.into_iter().map(|runner| runner.times.figure(runner.contestant.name)).collect())
}

fn agree(id: &str, runners: &[Runner<'_>]) -> Result<(), Error> {
    let results = runners.iter().filter_map(|runner| Some((&runner.contestant.name, runner.contestant.work.result()?)));
    let results: Vec<_> = results.collect();
    for pair in results.windows(2) {
        let [(one, x), (other, y)] = pair else { continue };
        if trimmed(x) != trimmed(y) {
            return Err(Error::Wrong { id: id.into(), one: one.to_string(), other: other.to_string() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_runs_without_a_budget() {
        let rounds = |samples, budget| {
            let mut count = 0;
            let counted = Effort { samples, budget }.rounds(|_| {
                count += 1;
                Ok::<_, Error>(())
            });
            counted.map(|()| count).unwrap()
        };
        assert_eq!((rounds(3, Duration::ZERO), rounds(3, Duration::MAX), rounds(0, Duration::MAX)), (1, 3, 0));
    }

    #[test]
    fn contestants_with_different_results_are_an_error() {
        let effort = Effort { samples: 1, budget: Duration::ZERO };
        let writes =
            |value| Contestant::new(format!("writes {value}"), Job::new(1, move |out: &mut [u64]| out[0] = value));
        assert_eq!(contest("row", vec![writes(1), writes(1)], effort).unwrap().len(), 2);
        assert!(matches!(contest("row", vec![writes(1), writes(2)], effort), Err(Error::Wrong { .. })));
    }
}
