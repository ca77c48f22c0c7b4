//! The common part of the measurements: least times, pictures, and the steps of bootstrapping measurements.

pub mod bootstrap;

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bench_common::sample::Times;

/// Errors of the measurements, which may cross threads.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Processes that only count, for measurements on a busy machine. They end with this value.
pub struct Busy(Vec<std::process::Child>);

impl Busy {
    /// Starts `count` processes, each of which wants a core.
    ///
    /// # Errors
    /// If the shell cannot be started.
    pub fn start(count: usize) -> Result<Self> {
        let mut busy = Self(Vec::with_capacity(count));
        for _ in 0..count {
            busy.0.push(std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn()?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // A process that has ended already is no failure.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Least times of a call.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    /// Wall time, microseconds.
    pub wall: f64,
    /// CPU time of all threads, microseconds.
    pub cpu: f64,
}

impl Least {
    /// Wall time in milliseconds.
    pub fn milliseconds(&self) -> f64 {
        self.wall / 1e3
    }
}

/// Times a call: at least `samples` samples, and for at least `seconds`. A sample repeats a short call for 20 microseconds.
pub fn least(samples: usize, seconds: f64, mut call: impl FnMut()) -> Least {
    let Ok((least, ())) = try_least(samples, seconds, || {
        call();
        Ok::<_, Infallible>(())
    });
    least
}

/// As [`least`], for a call with a result. Returns the last one.
///
/// # Errors
/// The first error of the call.
pub fn try_least<T, E>(
    samples: usize,
    seconds: f64,
    mut call: impl FnMut() -> std::result::Result<T, E>,
) -> std::result::Result<(Least, T), E> {
    const SAMPLE: Duration = Duration::from_micros(20);
    let (start, mut times) = (Instant::now(), Times::default());
    let mut last = None;
    let mut sample = |repeat: u32| {
        let mut failed = None;
        let time = times.sample(repeat, || match call() {
            Ok(value) => last = Some(value),
            Err(error) => failed = Some(error),
        });
        failed.map_or(Ok(time), Err)
    };
    let first = sample(1)?;
    let repeat = (SAMPLE.as_secs_f64() / first.as_secs_f64().max(1e-9)).ceil().max(1.0) as u32;
    let mut count = 1;
    while count < samples || start.elapsed().as_secs_f64() < seconds {
        sample(repeat)?;
        count += 1;
    }
    let figure = times.figure("");
    let Some(last) = last else { unreachable!("the first call has a result") };
    Ok((Least { wall: figure.wall.min, cpu: figure.cpu.min }, last))
}
