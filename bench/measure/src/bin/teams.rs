//! Counts what the teams of threads do along a chain of TFHE bootstraps, each of which waits for the one before:
//! `cargo measure teams`.
//!
//! For each number of threads up to the cores of the machine, at most four, a line has the least wall and CPU times of a
//! bootstrap, both also relative to one thread, and the counters: pieces of work (a bootstrap has two, its keyswitch and
//! its rotation), members for each, helpers that had to be woken, the time for which leaders waited for helpers, helpers were
//! awake without work, and members were blocked by one without a core, for each bootstrap, and pieces of work that leaders
//! kept for themselves because the team was slower.
//!
//! The last line has the time that two threads of this machine take for the meetings and the exchanged bytes of a rotation alone,
//! without its arithmetic. It bounds what a second core gains.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use bench_common::command;
use bench_measure::{Busy, Result, try_least};
use clap::Parser;
use solinas_schemes::tfhe::{BootstrapTask, ClientKey, Evaluator, LookupTable, Params};
use solinas_schemes::{Control, Entropy};

/// Counts what teams do along a chain of bootstraps.
#[derive(Parser)]
struct Args {
    #[arg(long, default_value = "integers-128")]
    params: String,
    /// Bootstraps of a chain
    #[arg(long, default_value_t = 64)]
    chain: usize,
    /// Samples of each time
    #[arg(long, default_value_t = 5)]
    samples: usize,
    /// Measures beside this number of processes that only count
    #[arg(long, default_value_t = 0)]
    busy: usize,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    let _busy = Busy::start(args.busy)?;
    let control = Control::default();
    let params = Params::named(&args.params)?;
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &control)?;
    let key = client.server_key(&control)?;
    let input = client.encrypt(1, &mut client.encryption_rng(1)?)?;
    let table = match params.family() {
        solinas_schemes::tfhe::params::Family::Gates => LookupTable::Sign,
        solinas_schemes::tfhe::params::Family::Integers => LookupTable::Entries(vec![std::array::from_fn(|i| i as u8)]),
    };
    println!(
        "{:>7} {:>9} {:>9} {:>6} {:>6} {:>6} {:>8} {:>6} {:>9} {:>9} {:>10} {:>6}",
        "threads",
        "wall, us",
        "CPU, us",
        "wall",
        "CPU",
        "runs",
        "members",
        "woken",
        "waited,us",
        "idle, us",
        "blocked,us",
        "alone"
    );
    let mut first = None;
    for threads in 1..=std::thread::available_parallelism()?.get().min(4) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let evaluator = pool.install(|| Evaluator::new(&key))?;
        let chain = || {
            let mut value = input.clone();
            for _ in 0..args.chain {
                let outputs = evaluator.bootstrap(&[BootstrapTask { input: value.clone(), table: &table }])?;
                value = outputs.into_iter().flatten().next().unwrap_or(value);
            }
            Ok::<_, solinas_schemes::Error>(value)
        };
        let (least, _) = pool.install(|| try_least(args.samples, 0.0, chain))?;
        let one = *first.get_or_insert(least);
        let (counters, count) = (evaluator.team_counters(), (args.chain * args.samples) as f64);
        println!(
            "{threads:>7} {:>9.0} {:>9.0} {:>6.2} {:>6.2} {:>6} {:>8.2} {:>6} {:>9.1} {:>9.1} {:>10.1} {:>6}",
            least.wall / args.chain as f64,
            least.cpu / args.chain as f64,
            least.wall / one.wall,
            least.cpu / one.cpu,
            counters.runs,
            counters.members as f64 / counters.runs.max(1) as f64,
            counters.recruited,
            counters.muster_ns as f64 / 1e3 / count,
            counters.idle_ns as f64 / 1e3 / count,
            counters.blocked_ns as f64 / 1e3 / count,
            counters.alone,
        );
    }
    let shape = params.literal();
    let (bytes, steps) = (params.ggsw_rows() * shape.ring_dimension * 8, shape.lwe_dimension / shape.block_bits);
    let exchange = steps as f64 * exchange(bytes / LINE / 2) / 1e3;
    println!("the exchange alone of two threads: {exchange:.0} us in a rotation of {steps} steps");
    Ok(())
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// A word in a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Line(AtomicU64);

/// The time that two threads take for the meetings and the cache lines of a step of a rotation, nanoseconds: the least mean
/// of 1000 steps. The transforms of a thread have `lines` lines. Each thread writes its own ones; after a meeting, it reads
/// and writes its half of all; after another one, it reads its own ones.
fn exchange(lines: usize) -> f64 {
    const STEPS: usize = 1000;
    const SAMPLES: usize = 30;
    let rows: [Vec<Line>; 2] = std::array::from_fn(|_| (0..lines).map(|_| Line::default()).collect());
    let arrived = AtomicUsize::new(0);
    let write = |row: &[Line]| row.iter().for_each(|line| line.0.store(1, Ordering::Relaxed));
    let read = |row: &[Line]| row.iter().map(|line| line.0.load(Ordering::Relaxed)).sum::<u64>();
    let member = |own: usize| {
        let (mut least, mut met, mut sum) = (f64::INFINITY, 0, 0);
        let mut meet = || {
            met += 2;
            arrived.fetch_add(1, Ordering::AcqRel);
            while arrived.load(Ordering::Acquire) < met {
                std::hint::spin_loop();
            }
        };
        let half = own * lines / 2..(own + 1) * lines / 2;
        for _ in 0..SAMPLES {
            let start = Instant::now();
            for _ in 0..STEPS {
                write(&rows[own]);
                meet();
                sum += rows.iter().map(|row| read(&row[half.clone()])).sum::<u64>();
                rows.iter().for_each(|row| write(&row[half.clone()]));
                meet();
                sum += read(&rows[own]);
            }
            least = least.min(start.elapsed().as_nanos() as f64 / STEPS as f64);
        }
        std::hint::black_box(sum);
        least
    };
    std::thread::scope(|scope| {
        scope.spawn(|| member(1));
        member(0)
    })
}
