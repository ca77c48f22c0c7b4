//! `solinas bench`: measures the speed of this machine.

use crate::error::{Error, Result, usage};
use crate::names::listed;
use crate::output::{Output, columns};
use crate::progress::{interrupt_control, watch};
use serde::Serialize;
use solinas_circuits::counted;
use solinas_circuits::program::{Program, Type};
use solinas_engine::{
    BenchCases, Ciphertext, ClientKey, Estimate, Inputs, KeygenOptions, Natural, Plain, Scheme, Server, Work, schemes,
};
use solinas_paper::Machine;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  solinas bench --quick
  solinas bench --threads 1 --json
  solinas bench --scheme gh --params toy
  solinas bench --scheme ntru --params tight-512-12
  solinas bench --scheme ntru --params slots-8192-3
  solinas bench --scheme bgv --params slots128-8192-3
  solinas bench --scheme lwe --params leveled-secure-1 --quick

The command generates its keys from a fixed seed. Times are medians. Gates use the set --gates, integer operations the set --integers. \
Under schemes gh, ntru, bgv and lwe, an `and` of fresh bits is one product. The time of a recryption is measured separately. \
Under schemes ntru, bgv and lwe, the table omits operations that need more products in a row than the set allows.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The encryption scheme: tfhe, ntru, bgv, lwe, or gh for research
    #[arg(long, default_value = "tfhe")]
    scheme: Scheme,
    /// Parameter set; defaults to toy (scheme gh), tight-512-12 (ntru), slots128-16384-7 (bgv) or leveled-32-9 (lwe)
    #[arg(long, value_name = "NAME")]
    params: Option<String>,
    /// Measure fewer operations, with fewer repetitions
    #[arg(long)]
    quick: bool,
    /// Parameter set of the gates
    #[arg(long, value_name = "NAME", default_value = "gates")]
    gates: String,
    /// Parameter set of the integer operations
    #[arg(long, value_name = "NAME", default_value = "integers")]
    integers: String,
    /// Number of threads; defaults to the number of processors
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
}

/// One measured figure.
#[derive(Serialize)]
struct Row {
    what: String,
    params: String,
    threads: usize,
    bootstraps: u64,
    recrypts: u64,
    products: u64,
    /// The counts as text.
    work: String,
    repetitions: usize,
    /// Median time, seconds.
    seconds: f64,
    operations_per_second: f64,
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    machine: String,
    processors: usize,
    rows: Vec<Row>,
}

struct Bench<'a> {
    client: ClientKey,
    server: Server,
    out: &'a Output,
}

impl<'a> Bench<'a> {
    fn new(scheme: Scheme, params: &str, threads: Option<usize>, out: &'a Output) -> Result<Self> {
        let options = KeygenOptions {
            scheme,
            params: Some(params.to_owned()),
            insecure_seed: Some(1),
            research: true,
            ..Default::default()
        };
        let (client, key) = watch(out, "making keys", |control| Ok(solinas_engine::keygen(&options, control)?))?;
        Ok(Self { client, server: Server::new(&key, threads)?, out })
    }

    /// Measures an operation on `count` pairs at once: the median of some repetitions, within about ten seconds.
    fn row(&self, op: &str, ty: Type, count: usize, repetitions: usize) -> Result<Row> {
        let program = Program::from_op(op, &[ty, ty]).map_err(Error::circuit(op))?;
        let operand = |factor: u128| -> Result<Ciphertext> {
            let reduced = |x: u128| match ty.modulus() {
                Some(modulus) => Natural::from(x % u128::from(modulus)),
                None => Natural::from(x).low(ty.width()),
            };
            let values = (1..=count as u128).map(|i| reduced(i.wrapping_mul(factor))).collect();
            let shape = (count > 1).then(|| vec![count]);
            Ok(self.client.encrypt(&Plain::new(ty, shape, values)?)?)
        };
        let inputs =
            [operand(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834)?, operand(0xc2b2_ae3d_27d4_eb4f_1656_67b1_9e37_79f9)?];
        let name = if ty == Type::Bool { format!("{op} gate") } else { format!("{op} {ty}") };
        let mut times = Vec::new();
        let start = Instant::now();
        while times.is_empty() || (times.len() < repetitions && start.elapsed().as_secs_f64() < 10.0) {
            let begin = Instant::now();
            watch(self.out, &name, |control| Ok(self.server.run(Work::program(&program, &inputs), control)?))?;
            times.push(begin.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let control = interrupt_control()?;
        let fresh = Work::program(&program, Inputs::Fresh { instances: count });
        let estimate = self.server.prepare(fresh, &control)?.estimate(&control)?;
        let what = if count == 1 { name } else { format!("{count} x {name}") };
        Ok(self.figure(what, &estimate, count, times.len(), times[times.len() / 2]))
    }

    /// Measures a gate alone, and in a batch.
    fn gates(&self, batch: usize, repetitions: usize) -> Result<Vec<Row>> {
        [1, batch].map(|count| self.row("and", Type::Bool, count, repetitions)).into_iter().collect()
    }

    /// Measures the operations on integers of these widths that `runs` selects.
    fn integers(&self, widths: &[u16], repetitions: usize, runs: impl Fn(&str, Type) -> bool) -> Result<Vec<Row>> {
        let cases = widths.iter().flat_map(|&width| ["add", "lt", "mul"].map(|op| (op, Type::Uint(width))));
        cases.filter(|(op, ty)| runs(op, *ty)).map(|(op, ty)| self.row(op, ty, 1, repetitions)).collect()
    }

    /// Measures one recryption, as the server does for estimates.
    fn recrypt(&self) -> Result<Row> {
        let program = Program::from_op("not", &[Type::Bool]).map_err(Error::circuit("not"))?;
        let control = interrupt_control()?;
        let fresh = Work::program(&program, Inputs::Fresh { instances: 1 });
        let seconds = self.server.prepare(fresh, &control)?.estimate(&control)?.bootstrap_seconds;
        let estimate = Estimate { scheme: self.server.params().scheme, recrypts: 1, ..Default::default() };
        Ok(self.figure("recrypt".to_owned(), &estimate, 1, 1, seconds))
    }

    fn figure(&self, what: String, cost: &Estimate, count: usize, repetitions: usize, seconds: f64) -> Row {
        let Estimate { bootstraps, recrypts, products, .. } = *cost;
        let work = cost.counts();
        let (params, threads) = (self.server.params().name, self.server.threads());
        let operations_per_second = count as f64 / seconds;
        Row { what, params, threads, bootstraps, recrypts, products, work, repetitions, seconds, operations_per_second }
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let threads = args.threads.map(crate::limits::threads);
    let repetitions = if args.quick { 5 } else { 21 };
    let cases = args.scheme.bench_cases();
    let rows = match (args.params.as_deref().or(cases.params), cases.params) {
        (Some(params), Some(_)) => one_set(&args, params, cases, threads, repetitions, out)?,
        (Some(_), None) => {
            let schemes = listed(schemes().filter(|scheme| scheme.bench_cases().params.is_some()));
            return Err(usage(
                format!("--params applies to {schemes} only"),
                "add --scheme, or name the sets with --gates and --integers",
            ));
        }
        (None, _) => two_sets(&args, cases, threads, repetitions, out)?,
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let report = Report { version: env!("CARGO_PKG_VERSION"), machine: Machine::this().cpu, processors, rows };
    out.result(&report, || table(&report))
}

/// Measures gates and integers under one set.
fn one_set(
    args: &Args,
    params: &str,
    cases: &BenchCases,
    threads: Option<usize>,
    repetitions: usize,
    out: &Output,
) -> Result<Vec<Row>> {
    let widths = cases.widths[usize::from(!args.quick)];
    if cases.complete {
        // The check comes before key generation, which takes long.
        for &width in widths {
            runs("mul", Type::Uint(width), args.scheme, params)?;
        }
    }
    let bench = Bench::new(args.scheme, params, threads, out)?;
    let info = bench.server.params();
    if let (Some(p), "slots") = (info.plaintext_modulus, info.family) {
        let ty = Type::Mod(p as u32);
        let count = info.slots.unwrap_or(1);
        return ["add", "mul"].map(|op| bench.row(op, ty, count, repetitions)).into_iter().collect();
    }
    let mut rows = bench.gates(cases.batch[usize::from(!args.quick)], repetitions)?;
    if cases.recryption {
        rows.push(bench.recrypt()?);
    }
    rows.extend(
        bench.integers(widths, repetitions, |op, ty| cases.complete || runs(op, ty, args.scheme, params).is_ok())?,
    );
    Ok(rows)
}

/// Measures gates under one set, and integers under another.
fn two_sets(
    args: &Args,
    cases: &BenchCases,
    threads: Option<usize>,
    repetitions: usize,
    out: &Output,
) -> Result<Vec<Row>> {
    let size = usize::from(!args.quick);
    let mut rows = Bench::new(args.scheme, &args.gates, threads, out)?.gates(cases.batch[size], repetitions)?;
    let integers = Bench::new(args.scheme, &args.integers, threads, out)?;
    rows.extend(integers.integers(cases.widths[size], repetitions, |_, _| true)?);
    Ok(rows)
}

/// Whether an operation runs under a parameter set of a scheme. If the set does not exist, key generation reports it.
fn runs(op: &str, ty: Type, scheme: Scheme, params: &str) -> Result<()> {
    if scheme.has_params(params) {
        let program = Program::from_op(op, &[ty, ty]).map_err(Error::circuit(op))?;
        solinas_engine::cost_under(scheme, &program, params, &interrupt_control()?)?;
    }
    Ok(())
}

fn table(report: &Report) -> String {
    let mut rows = vec![["what", "parameters", "work", "median", "per second", "runs"].map(str::to_owned)];
    rows.extend(report.rows.iter().map(|row| {
        [
            row.what.clone(),
            row.params.clone(),
            row.work.clone(),
            if row.seconds < 1.0 { format!("{:.2} ms", row.seconds * 1e3) } else { format!("{:.2} s", row.seconds) },
            format!("{:.1}", row.operations_per_second),
            row.repetitions.to_string(),
        ]
    }));
    let threads = report.rows.first().map_or(0, |row| row.threads);
    let threads = counted(threads, "thread");
    let Report { version, machine, processors, .. } = report;
    format!("solinas {version} on {machine}, {}, {threads}\n\n{}", counted(*processors, "processor"), columns(&rows))
}
