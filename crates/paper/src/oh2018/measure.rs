//! Runs circuits on encrypted integers and measures their times.

use super::{Case, Config, PAPER_CORES};
use crate::predict::BATCH;
use crate::timing::Seconds;
use crate::{Cell, Control, Error, GateTimes, Progress, wavefronts};
use solinas_circuits::{BinaryOp, Builder, GateCosts, Natural, Netlist};
use solinas_engine::{
    Ciphertext, ClientKey, Inputs, KeygenOptions, Plain, Program, Server, ServerKey, Type, Work, cost, keygen,
};
use std::time::{Duration, Instant};

/// Largest number of runs of a circuit.
const REPETITIONS: usize = 5;
/// Number of runs of one gate.
const GATE_REPETITIONS: usize = 25;

/// Measured gates, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gates {
    pub(super) times: GateTimes,
    /// One gate among many, on one thread.
    pub(super) batched: f64,
    /// One gate among many, on all threads.
    pub(super) parallel: f64,
}

/// Cost of a case.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) bootstraps: u64,
    pub(super) depth: u64,
    /// Figures for each number of threads in [`Config::threads`].
    pub(super) seconds: Vec<Cell>,
    /// Prediction for the paper's cores, wavefront by wavefront.
    pub(super) paper_cores: Cell,
}

/// Progress: bootstraps done, and bootstraps of all cases.
struct Tally<'a> {
    control: &'a Control<'a>,
    done: u64,
    total: u64,
}

/// A key pair, and a server with a number of threads.
struct Bench<'a> {
    client: &'a ClientKey,
    server: Server,
    repeat: Duration,
}

/// Measures the gates and all cases.
pub(super) fn all(config: &Config, cases: &[Case], control: &Control<'_>) -> Result<(Gates, Vec<Measured>), Error> {
    let counts = cases.iter().map(|case| bootstraps(config, case)).collect::<Result<Vec<_>, _>>()?;
    let runs = config.threads().len() as u64;
    let total = cases.iter().zip(&counts).filter(|(case, _)| is_measured(config, case)).map(|(_, count)| count * runs);
    let mut tally = Tally { control, done: 0, total: total.sum() };
    let mut measured: Vec<Measured> = cases
        .iter()
        .zip(&counts)
        .map(|(case, &bootstraps)| Measured {
            bootstraps,
            depth: case.fronts.len() as u64,
            seconds: Vec::new(),
            paper_cores: Cell::predicted(0.0),
        })
        .collect();
    let gates = gate_cases(config, cases, &mut measured, &mut tally)?;
    radix_cases(config, cases, &mut measured, &mut tally)?;
    Ok((gates, measured))
}

fn is_measured(config: &Config, case: &Case) -> bool {
    case.width <= config.measured_to
}

fn bootstraps(config: &Config, case: &Case) -> Result<u64, Error> {
    match &case.netlist {
        Some(netlist) => Ok(netlist.bootstraps(&GateCosts::default())),
        None => Ok(cost(&case.program, config.integers)?.bootstraps),
    }
}

fn gate_cases(
    config: &Config,
    cases: &[Case],
    measured: &mut [Measured],
    tally: &mut Tally<'_>,
) -> Result<Gates, Error> {
    let (client, key) = keys(config.gates, config, tally)?;
    let mut gates: Option<Gates> = None;
    for threads in config.threads() {
        let bench = Bench { client: &client, server: Server::new(&key, Some(threads))?, repeat: config.repeat };
        let many = bench.gate_of_many(tally)?;
        let gates = match &mut gates {
            Some(gates) => {
                gates.parallel = many;
                *gates
            }
            None => *gates.insert(Gates { times: bench.gate_times(many, tally)?, batched: many, parallel: many }),
        };
        for (case, measured) in cases.iter().zip(&mut *measured) {
            let Some(netlist) = &case.netlist else { continue };
            let seconds = if is_measured(config, case) {
                let circuit = Program::of_circuit(netlist.clone(), false)?;
                let run = |inputs: &[Ciphertext], control: &Control<'_>| {
                    Ok(bench.server.run(Work::program(&circuit, inputs), control)?)
                };
                Cell::timed(bench.case(case, measured.bootstraps, tally, run)?, 1.0)
            } else {
                Cell::predicted(wavefronts(&case.fronts, threads, &gates.times))
            };
            measured.seconds.push(seconds);
            measured.paper_cores = Cell::predicted(wavefronts(&case.fronts, PAPER_CORES, &gates.times));
        }
    }
    let none = GateTimes::unbatched(0.0);
    Ok(gates.unwrap_or(Gates { times: none, batched: 0.0, parallel: 0.0 }))
}

fn radix_cases(config: &Config, cases: &[Case], measured: &mut [Measured], tally: &mut Tally<'_>) -> Result<(), Error> {
    let (client, key) = keys(config.integers, config, tally)?;
    for threads in config.threads() {
        let bench = Bench { client: &client, server: Server::new(&key, Some(threads))?, repeat: config.repeat };
        for (case, measured) in cases.iter().zip(&mut *measured).filter(|(case, _)| case.netlist.is_none()) {
            // The plan depends on the number of threads. The tally counts each case in the same way.
            let counted = bootstraps(config, case)?;
            let control = Control::default();
            let fresh = Work::program(&case.program, Inputs::Fresh { instances: 1 });
            let prepared = bench.server.prepare(fresh, &control)?;
            let estimate = prepared.estimate(&control)?;
            (measured.bootstraps, measured.depth) = (estimate.bootstraps, estimate.depth);
            let seconds = if is_measured(config, case) {
                let run = |inputs: &[Ciphertext], control: &Control<'_>| {
                    Ok(bench.server.run(Work::program(&case.program, inputs), control)?)
                };
                Cell::timed(bench.case(case, counted, tally, run)?, 1.0)
            } else {
                Cell::predicted(estimate.seconds)
            };
            measured.seconds.push(seconds);
            measured.paper_cores = Cell::predicted(prepared.estimate_on(PAPER_CORES, &control)?.seconds);
        }
    }
    Ok(())
}

fn keys(params: &str, config: &Config, tally: &Tally<'_>) -> Result<(ClientKey, ServerKey), Error> {
    let options =
        KeygenOptions { params: Some(params.into()), insecure_seed: config.insecure_seed, ..Default::default() };
    Ok(keygen(&options, &tally.quiet())?)
}

impl Tally<'_> {
    /// A control that can cancel, but reports no progress.
    fn quiet(&self) -> Control<'_> {
        self.control.without_progress()
    }
}

type Run<'a> = &'a dyn Fn(&[Ciphertext], &Control<'_>) -> Result<Vec<Ciphertext>, Error>;

impl Bench<'_> {
    /// Seconds of a case.
    fn case(
        &self,
        case: &Case,
        bootstraps: u64,
        tally: &mut Tally<'_>,
        run: impl Fn(&[Ciphertext], &Control<'_>) -> Result<Vec<Ciphertext>, Error>,
    ) -> Result<Seconds, Error> {
        let ty = Type::Uint(case.width);
        let what = format!("{} of {} bits", case.circuit.name(case.op), case.width);
        let begin = Instant::now();
        let mut seconds = Vec::new();
        while seconds.is_empty() || seconds.len() < REPETITIONS && begin.elapsed() < self.repeat {
            let values = operands(case.width, seconds.len());
            let want = Natural::from(case.op.apply(values[0], values[1])).low(ty.width());
            let (done, total) = (tally.done, tally.total);
            let report = |progress: Progress| {
                tally.control.report(done + progress.done.min(bootstraps), total);
            };
            let first = seconds.is_empty();
            let control = Control { progress: first.then_some(&report), ..*tally.control };
            seconds.push(self.once(
                &what,
                &[(ty, values[0].into()), (ty, values[1].into())],
                &[want],
                &run,
                &control,
            )?);
        }
        tally.done += bootstraps;
        Ok(Seconds::of(seconds))
    }

    /// Seconds of one run. Checks the result.
    fn once(
        &self,
        what: &str,
        inputs: &[(Type, Natural)],
        want: &[Natural],
        run: Run<'_>,
        control: &Control<'_>,
    ) -> Result<f64, Error> {
        let encrypt = |(ty, value): &(Type, Natural)| -> Result<Ciphertext, Error> {
            Ok(self.client.encrypt(&Plain::new(*ty, None, vec![value])?)?)
        };
        let inputs = inputs.iter().map(encrypt).collect::<Result<Vec<_>, _>>()?;
        let begin = Instant::now();
        let outputs = run(&inputs, control)?;
        let seconds = begin.elapsed().as_secs_f64();
        let mut got = Vec::new();
        for output in &outputs {
            got.extend(self.client.decrypt(output)?.values);
        }
        if got != want {
            return Err(Error::WrongResult { what: what.into(), got: format!("{got:?}"), want: format!("{want:?}") });
        }
        Ok(seconds)
    }

    /// Median seconds of a circuit of gates.
    fn circuit(&self, what: &str, netlist: &Netlist, repetitions: usize, tally: &Tally<'_>) -> Result<f64, Error> {
        let circuit = Program::of_circuit(netlist.clone(), false)?;
        let mut seconds = Vec::new();
        for repetition in 0..repetitions {
            let values = operands(128, repetition);
            let inputs: Vec<(Type, Natural)> = netlist
                .inputs()
                .iter()
                .zip(values.iter().cycle())
                .map(|(port, &value)| {
                    let ty = Type::Uint(port.bits.len() as u16);
                    (ty, Natural::from(value).low(ty.width()))
                })
                .collect();
            let plain: Vec<Natural> = inputs.iter().map(|input| input.1.clone()).collect();
            let want = netlist.evaluate(&plain)?;
            let run = |inputs: &[Ciphertext], control: &Control<'_>| {
                Ok(self.server.run(Work::program(&circuit, inputs), control)?)
            };
            seconds.push(self.once(what, &inputs, &want, &run, &tally.quiet())?);
        }
        Ok(Seconds::of(seconds).median)
    }

    /// Times of a single gate, of a single MUX, and of an additional gate in a batch. `many` is the time of one gate among many batches.
    fn gate_times(&self, many: f64, tally: &Tally<'_>) -> Result<GateTimes, Error> {
        let gate = self.circuit("NAND", &gates_side_by_side(1, 1)?, GATE_REPETITIONS, tally)?;
        let mut b = Builder::verbatim();
        let bits: Vec<_> = ["sel", "if_true", "if_false"].map(|name| b.input(name, 1, false)[0]).into();
        let out = b.mux(bits[0], bits[1], bits[2]);
        b.output("out", &[out], false);
        let mux = self.circuit("MUX", &b.finish()?, GATE_REPETITIONS, tally)?;
        let batch = BATCH as f64;
        // A batch is one gate and 15 additional gates. A gate in a batch is not slower than a single gate.
        let next = ((many * batch - gate) / (batch - 1.0)).clamp(0.0, gate);
        Ok(GateTimes { gate, next, mux })
    }

    /// Seconds of one gate among many parallel gates.
    fn gate_of_many(&self, tally: &Tally<'_>) -> Result<f64, Error> {
        let width = (BATCH as usize * 4 * self.server.threads()).min(128);
        let ports = (BATCH as usize * 4 * self.server.threads()).div_ceil(width).min(BinaryOp::ALL.len());
        let netlist = gates_side_by_side(width, ports)?;
        Ok(self.circuit("parallel gates", &netlist, REPETITIONS, tally)? / (width * ports) as f64)
    }
}

/// A netlist with one two-input gate for each output port, applied to each bit of two inputs. Each port has another gate.
fn gates_side_by_side(width: usize, ports: usize) -> Result<Netlist, Error> {
    let mut b = Builder::verbatim();
    let (x, y) = (b.input("x", width, false), b.input("y", width, false));
    for op in BinaryOp::ALL.into_iter().rev().take(ports) {
        let bits: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.binary(op, x, y)).collect();
        b.output(op.name(), &bits, false);
    }
    Ok(b.finish()?)
}

/// Two operands of a width. The first pair has the largest values, so that every carry ripples.
fn operands(width: u16, repetition: usize) -> [u128; 2] {
    if repetition == 0 {
        return [u128::MAX >> (128 - width); 2];
    }
    // Multiples of the golden ratio. The times do not depend on the bits.
    let step = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835u128;
    [2 * repetition, 2 * repetition + 1].map(|i| step.wrapping_mul(i as u128) >> (128 - width))
}
