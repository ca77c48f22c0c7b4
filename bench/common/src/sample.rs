//! Timing: the samples of all who take part in a row are taken in turn, so that a busy moment of the machine meets everyone.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::Error;
use crate::machine;
use crate::numbers::trimmed;
use crate::stats::Summary;

/// Something that is timed.
pub trait Work {
    /// Does it once; this alone is timed.
    fn run(&mut self);
    /// The words of the last run's result, least significant first; none where it is not one that others have.
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

/// Who takes part in a row.
pub struct Contestant<'a> {
    /// The column.
    pub name: String,
    /// What it does.
    pub work: Box<dyn Work + 'a>,
}

impl<'a> Contestant<'a> {
    /// Under the name of a column.
    pub fn new(name: impl Into<String>, work: impl Work + 'a) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }
}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// At most so many samples per row and contestant.
    pub samples: usize,
    /// No further round once a row has taken so long; the first is always taken. What takes longer at once is run once alone.
    pub budget: Duration,
    /// A sample repeats the work until it lasts about so long.
    pub sample: Duration,
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
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Runner<'_> {
    fn sample(&mut self) -> Duration {
        let (start, start_cpu) = (Instant::now(), machine::cpu_time());
        for _ in 0..self.repeat {
            self.contestant.work.run();
        }
        let (wall, cpu) = (start.elapsed(), machine::cpu_time().saturating_sub(start_cpu));
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(self.repeat);
        self.wall.push(micros(wall));
        self.cpu.push(micros(cpu));
        wall
    }

    /// Finds how often to repeat.
    fn calibrate(&mut self, sample: Duration) {
        while self.sample() < sample / 2 {
            self.repeat = self.repeat.saturating_mul(2);
        }
        self.wall.clear();
        self.cpu.clear();
    }
}

/// Times the contestants of a row.
///
/// # Errors
/// [`Error::Wrong`] if a result differs from the first one's, before or after the timing.
pub fn contest(id: &str, contestants: Vec<Contestant<'_>>, effort: Effort) -> Result<Vec<Figure>, Error> {
    let mut runners: Vec<_> = contestants
        .into_iter()
        .map(|contestant| Runner { contestant, repeat: 1, finished: false, wall: Vec::new(), cpu: Vec::new() })
        .collect();
    for runner in &mut runners {
        runner.finished = runner.sample() >= effort.budget;
    }
    agree(id, &runners)?;
    for runner in runners.iter_mut().filter(|runner| !runner.finished) {
        runner.calibrate(effort.sample);
    }
    let start = Instant::now();
    for round in 0..effort.samples {
        if round > 0 && start.elapsed() >= effort.budget {
            break;
        }
        let mut order: Vec<_> = runners.iter_mut().collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for runner in order.into_iter().filter(|runner| !runner.finished) {
            runner.sample();
        }
    }
    agree(id, &runners)?;
    let figure = |runner: Runner<'_>| Figure {
        name: runner.contestant.name,
        wall: Summary::of(&runner.wall),
        cpu: Summary::of(&runner.cpu),
    };
    Ok(runners.into_iter().map(figure).collect())
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
