//! Times our negacyclic transforms, those of the crate `tfhe-ntt`, and HEXL's, in one run: see README.md.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod hexl;
mod report;

use std::process::ExitCode;
use std::rc::Rc;

use bench_common::command::{self, Output, Sampling};
use bench_common::sample::{Contestant, Effort, Work, contest};
use clap::Parser;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_field::Backend;
use solinas_field::buffer::{AlignedVec, Word};
use solinas_field::prime::{Kernel, Modulus, NttPlan, primes};

use crate::hexl::Hexl;
use crate::report::{Row, Run};

/// Errors of the benchmark.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// From a measurement.
    #[error(transparent)]
    Measure(#[from] bench_common::Error),
    /// From a plan of ours.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
}

/// An action without a result that others have too: the orders of transformed words differ.
struct Action<'a>(Box<dyn FnMut() + 'a>);

impl Work for Action<'_> {
    fn run(&mut self) {
        (self.0)();
    }

    fn result(&self) -> Option<Vec<u64>> {
        None
    }
}

/// A library with a plan for one dimension and one prime.
struct Library<'a> {
    /// The square of a polynomial, which every library must give.
    square: Vec<u64>,
    /// Forward transform, inverse with its division by N, and pointwise product.
    actions: [Action<'a>; 3],
}

impl<'a> Library<'a> {
    /// Ranges of the functions: below q in and out. `scale` divides the products in `multiply`.
    fn new<T: Word + Into<u64>>(
        (q, n): (Modulus, usize),
        word: fn(u64) -> T,
        forward: impl Fn(&mut [T]) + 'a,
        inverse: impl Fn(&mut [T]) + 'a,
        multiply: impl Fn(&mut [T], &[T]) + 'a,
        scale: u64,
    ) -> Self {
        let [mut x, mut back, y] = [(); 3].map(|()| words(q, n, word));
        forward(&mut x);
        let copy = AlignedVec::from_slice(&x);
        multiply(&mut x, &copy);
        inverse(&mut x);
        let square = x.iter().map(|&x| q.mul(x.into(), scale)).collect();
        let mut there = AlignedVec::from_slice(&x);
        let actions = [
            Action(Box::new(move || forward(&mut there))),
            Action(Box::new(move || inverse(&mut back))),
            Action(Box::new(move || multiply(&mut x, &y))),
        ];
        Self { square, actions }
    }
}

/// Pseudorandom residues, aligned to a cache line.
fn words<T: Word>(q: Modulus, n: usize, word: fn(u64) -> T) -> AlignedVec<T> {
    let mut out = AlignedVec::zeroed(n);
    for (out, random) in out.iter_mut().zip(ChaCha8Rng::seed_from_u64(0).random_iter()) {
        *out = word(q.reduce(random));
    }
    out
}

/// The rows of one plan of ours. `narrow` takes the peer's words of 32 bits.
fn rows(ours: &NttPlan, narrow: bool, hexl: Option<Hexl>, filter: &str, effort: Effort) -> Result<Vec<Row>, Error> {
    let (q, n) = (ours.modulus(), ours.dimension());
    let ids = ["forward", "inverse", "product"].map(|operation| {
        let words = if narrow { ", peer's words of 32 bits" } else { "" };
        format!("{} bits, n = {n}, {operation}{words}", q.bits())
    });
    if !ids.iter().any(|id| id.contains(filter)) {
        return Ok(Vec::new());
    }
    let pointwise = ours.pointwise();
    let mine =
        Library::new((q, n), |x| x, |x| ours.forward(x), |x| ours.inverse(x), |x, y| pointwise.multiply(x, y), 1);
    // The product of tfhe-ntt also divides by N.
    let theirs = if narrow {
        let plan = Rc::new(tfhe_ntt::prime32::Plan::try_new(n, q.value() as u32).expect("the peer's plan"));
        let [one, two] = [Rc::clone(&plan), Rc::clone(&plan)];
        let inverse = move |x: &mut [u32]| {
            one.inv(x);
            one.normalize(x);
        };
        let multiply = move |x: &mut [u32], y: &[u32]| two.mul_assign_normalize(x, y);
        Library::new((q, n), |x| x as u32, move |x| plan.fwd(x), inverse, multiply, n as u64)
    } else {
        let plan = Rc::new(tfhe_ntt::prime64::Plan::try_new(n, q.value()).expect("the peer's plan"));
        let [one, two] = [Rc::clone(&plan), Rc::clone(&plan)];
        let inverse = move |x: &mut [u64]| {
            one.inv(x);
            one.normalize(x);
        };
        let multiply = move |x: &mut [u64], y: &[u64]| two.mul_assign_normalize(x, y);
        Library::new((q, n), |x| x, move |x| plan.fwd(x), inverse, multiply, n as u64)
    };
    let plan = hexl.and_then(|hexl| hexl.plan(n, q.value()));
    let plan = plan.as_ref();
    let hexls = plan.map(|plan| {
        Library::new((q, n), |x| x, |x| plan.forward(x), |x| plan.inverse(x), |x, y| plan.multiply(x, y), 1)
    });
    let libraries: Vec<_> = [Some(mine), Some(theirs), hexls].into_iter().flatten().collect();
    for (library, name) in libraries.iter().zip(["ours", "tfhe-ntt", "HEXL"]).skip(1) {
        if library.square != libraries[0].square {
            return Err(
                bench_common::Error::Wrong { id: ids[2].clone(), one: "ours".into(), other: name.into() }.into()
            );
        }
    }
    let butterflies = (n / 2) as f64 * f64::from(n.ilog2());
    let mut columns: Vec<_> = libraries.into_iter().map(|library| library.actions.into_iter()).collect();
    let mut rows = Vec::new();
    for (index, id) in ids.into_iter().enumerate() {
        let contestants: Vec<_> =
            columns.iter_mut().flat_map(Iterator::next).map(|action| Contestant::new("", action)).collect();
        if !id.contains(filter) {
            continue;
        }
        let figures: Vec<_> = contest(&id, contestants, effort)?.into_iter().map(|figure| figure.wall).collect();
        rows.push(Row {
            id,
            kernel: format!("{} {}", ours.backend().name(), ours.kernel().name()),
            butterflies: if index < 2 { butterflies } else { 0.0 },
            ours: figures[0],
            tfhe_ntt: figures[1],
            hexl: plan.map(|plan| (plan.kernel(), figures[2])),
        });
    }
    Ok(rows)
}

/// Times our negacyclic transforms beside those of `tfhe-ntt` and HEXL, on one thread.
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: bench-ntt --filter \"48 bits, n = 16384\" --markdown run.md")]
struct Args {
    /// Times every kernel of every back end, and not only the kernels that a plan chooses
    #[arg(long)]
    kernels: bool,
    /// Only rows whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    #[command(flatten)]
    sampling: Sampling<100, 1>,
    #[command(flatten)]
    output: Output,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let hexl = Hexl::open();
    let missing = || "without HEXL: ../peers/hexl.sh makes it".into();
    let mut header = command::header("bench-ntt")?;
    header.extend([
        "against tfhe-ntt 0.7.1".into(),
        hexl.map_or_else(missing, |hexl| format!("against {}", hexl.version())),
        "microseconds, one thread; `ratio` is how many times faster ours is, by medians".into(),
    ]);
    let mut run = Run { header, rows: Vec::new() };
    run.header.iter().for_each(|line| println!("{line}"));
    let effort = args.sampling.effort(10, 0.1);
    let primes_of =
        [(48, false), (49, false), (50, false), (51, false), (60, false), (61, false), (30, false), (30, true)];
    for ((bits, narrow), log) in primes_of.into_iter().flat_map(|bits| (10..=17).map(move |log| (bits, log))) {
        let n = 1 << log;
        let q = primes(bits, 1, 2 * n as u64)?[0];
        let mut plans = vec![NttPlan::new(q, n, Backend::detect()?)?];
        if args.kernels {
            let kernels = [Kernel::Scalar, Kernel::Word, Kernel::Double, Kernel::Ifma];
            let all = Backend::available().into_iter().flat_map(|backend| kernels.map(|kernel| (backend, kernel)));
            plans = all.filter_map(|(backend, kernel)| NttPlan::with_kernel(q, n, backend, kernel).ok()).collect();
            plans.retain(|plan| plan.kernel() != Kernel::Scalar || plan.backend() == Backend::Scalar);
        }
        for plan in plans {
            run.rows.extend(rows(&plan, narrow, hexl, &args.filter, effort)?);
        }
    }
    print!("\n{}", run.to_text());
    Ok(args.output.write(&run, || run.to_markdown())?)
}
