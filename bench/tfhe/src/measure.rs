//! Timing. The samples of both engines are taken in turn, so that a busy moment of the machine meets both.

use std::process::Command;

use bench_common::machine;
use bench_common::sample::{Effort, Times};
use bench_common::stats::Summary;

use crate::Error;
use crate::case::{IntOp, Size, SizeCase, Task, TimedCase};
use crate::engine::{Engine, Engines, Side, Work};
use crate::report::{Figures, Row};

struct Runner {
    work: Box<dyn Work>,
    times: Times,
}

impl Runner {
    fn prepare(engine: &dyn Engine, case: &TimedCase) -> Result<Option<Self>, Error> {
        let Some(work) = engine.prepare(case.task) else { return Ok(None) };
        let mut runner = Self { work, times: Times::default() };
        let long = case.slow || matches!(case.task, Task::Keygen(_));
        if !long {
            runner.work.run();
            runner.check(engine, case)?;
        }
        Ok(Some(runner))
    }

    fn check(&self, engine: &dyn Engine, case: &TimedCase) -> Result<(), Error> {
        if self.work.check() { Ok(()) } else { Err(Error::Wrong { engine: engine.name(), id: case.id() }) }
    }

    fn sample(&mut self, engine: &dyn Engine, case: &TimedCase) -> Result<(), Error> {
        self.times.sample(1, || self.work.run());
        self.check(engine, case)
    }

    /// Milliseconds per operation.
    fn figures(&self, case: &TimedCase) -> Figures {
        let (figure, divisor) = (self.times.figure(""), 1e3 * case.task.ops() as f64);
        Figures { value: figure.wall.divided_by(divisor), cpu: Some(figure.cpu.divided_by(divisor)) }
    }
}

/// Times one case on both engines, in milliseconds per operation.
///
/// # Errors
/// [`Error::Wrong`] if a result does not decrypt to what it should; [`Error::Measure`] as in [`machine::pool`].
pub fn timed(engines: &Engines, case: &TimedCase, effort: Effort) -> Result<Row, Error> {
    let pool = machine::pool(case.threads)?;
    let (peer, ours) = pool.install(|| -> Result<_, Error> {
        let mut runners = Vec::new();
        for side in [Side::Peer, Side::Ours] {
            let engine = engines.get(side);
            if let Some(runner) = Runner::prepare(engine, case)? {
                runners.push((side, engine, runner));
            }
        }
        effort.rounds(|_| {
            runners.iter_mut().try_for_each(|(_, engine, runner)| runner.sample(*engine, case))?;
            runners.reverse();
            Ok::<_, Error>(())
        })?;
        let figures =
            |wanted| runners.iter().find(|(side, ..)| *side == wanted).map(|(.., runner)| runner.figures(case));
        let peer =
            figures(Side::Peer).map(|all| Figures { cpu: all.cpu.filter(|_| !case.task.in_another_process()), ..all });
        Ok((peer, figures(Side::Ours)))
    })?;
    Ok(Row { id: case.id(), unit: "ms", peer, ours, target: case.target })
}

/// Measures one size on both engines, in MB.
///
/// # Errors
/// [`Error::Child`] if the process that measures peak memory fails.
pub fn size(engines: &Engines, case: &SizeCase) -> Result<Row, Error> {
    let of = |side| -> Result<Option<Figures>, Error> {
        let bytes = match case.size.key() {
            Some((kind, seeded)) => engines.get(side).key_bytes(kind, seeded),
            None => Some(peak_in_child(side)?),
        };
        Ok(bytes.map(|bytes| Figures { value: Summary::of(&[bytes as f64 / 1e6]), cpu: None }))
    };
    debug_assert!(case.size.key().is_some() || case.size == Size::PeakMul64);
    Ok(Row { id: case.id(), unit: "MB", peer: of(Side::Peer)?, ours: of(Side::Ours)?, target: case.target })
}

/// Peak resident memory, in bytes, of one 64-bit multiplication on two threads; meant for a fresh process.
///
/// # Errors
/// [`Error::Wrong`] if the product is wrong; [`Error::Measure`] as in [`machine::pool`].
pub fn peak_of_mul64(engines: &Engines, side: Side) -> Result<u64, Error> {
    let case = TimedCase { task: Task::Int(IntOp::Mul, 64), threads: 2, target: None, slow: true };
    let engine = engines.get(side);
    machine::pool(case.threads)?.install(|| {
        let Some(mut runner) = Runner::prepare(engine, &case)? else { return Ok(0) };
        machine::reset_peak_memory()?;
        runner.work.run();
        let peak = machine::peak_memory()?;
        runner.check(engine, &case)?;
        Ok(peak)
    })
}

fn peak_in_child(side: Side) -> Result<u64, Error> {
    let system = |source| bench_common::Error::System { call: "starting this program again", source };
    let exe = std::env::current_exe().map_err(system)?;
    let name = if side == Side::Peer { "peer" } else { "ours" };
    let output = Command::new(exe).args(["--peak-of", name]).output().map_err(system)?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse() {
        Ok(bytes) if output.status.success() => Ok(bytes),
        _ => Err(Error::Child { stderr: String::from_utf8_lossy(&output.stderr).into_owned() }),
    }
}
