//! Measures the margins of Gentry-Halevi ciphertexts after each operation, beside their bounds, and draws them.
//!
//! ```sh
//! cargo measure gh-noise -- --params toy --svg docs/book/images/gh-noise-toy.svg
//! ```
//!
//! A margin is `log2(d / |[c w]_d|)`, in bits. The run fails if a bound exceeds the measured margin. Keys are from a fixed seed and so insecure, as
//! is the scheme.

use std::process::ExitCode;

use bench_common::svg::{Panel, Series, draw};
use bench_common::{command, machine};
use bench_measure::Result;
use clap::Parser;
use rand_core::RngCore;
use solinas_schemes::Control;
use solinas_schemes::Entropy;
use solinas_schemes::gh::{
    self, Arithmetic, Ciphertext, ClientKey, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod, ServerKey,
    noise,
};

/// Dimension; margins that the specification's prototype measured: fresh, column bit, recrypted, product of two recrypted.
const SPECIFICATION: [(usize, [&str; 4]); 3] = [
    (512, ["383", "375", "209-212", "26-37"]),
    (2048, ["386", "377", "215-218", "38-48"]),
    (8192, ["385", "", "218", "42"]),
];

const MEASURED: &str = "#27699c";
const AFTER: &str = "#2e8540";
const BOUND: &str = "#d9822b";

/// Noise of Gentry-Halevi ciphertexts, measured and by the formulas.
#[derive(Parser)]
struct Args {
    #[arg(long, default_value = "toy")]
    params: String,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[arg(long, default_value_t = 8 << 10)]
    memory_mib: u64,
    /// At least 2
    #[arg(long, default_value_t = 12)]
    samples: usize,
    #[arg(long, default_value_t = 20)]
    chain: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long)]
    svg: Option<String>,
}

/// Margins of one kind of ciphertext.
struct Step {
    name: String,
    measured: Vec<f64>,
    bound: f64,
}

/// The keys and the evaluator of all measurements, and their results.
struct Bench<'a> {
    client: &'a ClientKey,
    server: &'a ServerKey,
    evaluator: Evaluator<'a>,
    steps: Vec<Step>,
}

impl Bench<'_> {
    /// Margin measured, and its bound, which is not above it.
    fn margin(&self, ciphertext: &Ciphertext) -> Result<(f64, f64)> {
        let (measured, bound) = (self.client.measure_margin(ciphertext)?, ciphertext.margin(self.client.params()));
        if measured < bound {
            return Err(format!("a margin of {measured:.2} bits is below its bound of {bound:.2}").into());
        }
        Ok((measured, bound))
    }

    fn add(&mut self, name: impl Into<String>, ciphertexts: &[Ciphertext]) -> Result<()> {
        let margins =
            ciphertexts.iter().map(|ciphertext| self.margin(ciphertext)).collect::<std::result::Result<Vec<_>, _>>()?;
        let bound = margins.iter().fold(f64::MAX, |least, margin| least.min(margin.1));
        self.steps.push(Step {
            name: name.into(),
            measured: margins.into_iter().map(|margin| margin.0).collect(),
            bound,
        });
        Ok(())
    }

    fn sum(&self, ciphertexts: &[Ciphertext]) -> std::result::Result<Ciphertext, solinas_schemes::Error> {
        let start = Ciphertext::trivial(self.server.public(), false);
        ciphertexts.iter().try_fold(start, |sum, next| self.evaluator.add(&sum, next))
    }

    /// A column bit of Recrypt for candidates drawn at random: `sum_a eta_a (sum_b bit_ab eta_b)` over the pairs of block `k`.
    fn column(&self, k: usize, rng: &mut impl RngCore) -> std::result::Result<Ciphertext, solinas_schemes::Error> {
        let (params, public) = (self.server.params(), self.server.public());
        let (m, words) = (params.indicators(), public.words());
        let eta = |a: usize| {
            let residue = self.server.indicators()[(k * m + a) * words..][..words].to_vec();
            Ciphertext::from_parts(public, residue, noise::fresh(params))
        };
        let (mut column, mut pairs) = (Ciphertext::trivial(public, false), params.candidates());
        for a in 0..params.first_indices() {
            let mut inner = Ciphertext::trivial(public, false);
            for b in (a + 1..m).take(pairs) {
                if rng.next_u32() & 1 == 1 {
                    inner = self.evaluator.add(&inner, &eta(b)?)?;
                }
            }
            pairs = pairs.saturating_sub(m - 1 - a);
            column = self.evaluator.add(&column, &self.evaluator.multiply(&eta(a)?, &inner)?)?;
        }
        Ok(column)
    }

    fn print(&self, params: &Params) {
        let specification =
            SPECIFICATION.iter().find(|row| row.0 == params.dimension() && params.coefficient_bits() == 380);
        println!(
            "{:<44} {:>4} {:>7} {:>7} {:>7} {:>7} {:>14}",
            "margin, bits", "n", "least", "mean", "most", "bound", "specification"
        );
        for step in &self.steps {
            let (least, most) = step.measured.iter().fold((f64::MAX, f64::MIN), |(a, b), &m| (a.min(m), b.max(m)));
            let mean = step.measured.iter().sum::<f64>() / step.measured.len() as f64;
            let index = ["fresh", "column bit of Recrypt", "recrypted", "product of two recrypted"]
                .iter()
                .position(|name| step.name == *name);
            let known = specification.zip(index).map_or("", |(row, index)| row.1[index]);
            let (name, n, bound) = (&step.name, step.measured.len(), step.bound);
            println!("{name:<44} {n:>4} {least:>7.1} {mean:>7.1} {most:>7.1} {bound:>7.1} {known:>14}");
        }
    }
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    machine::free_pool(args.threads)?.install(|| measure(args))
}

fn measure(args: &Args) -> Result<()> {
    let samples = args.samples.max(2);
    let params = Params::named(&args.params)?;
    let memory = args.memory_mib << 20;
    let client = gh::ClientKey::generate(&params, true, Entropy::Insecure(args.seed), &Control::default())?;
    let server = client.server_key(&Control::default())?;
    let public = server.public();
    let encryptor = Encryptor::new(public, EncryptMethod::fitting(&params, memory)?, memory, Arithmetic::default())?;
    let evaluator = Evaluator::new(&server, RecryptMethod::fitting(&params, memory)?, memory, Arithmetic::default())?;
    let mut rng = public.encryption_rng(args.seed)?;
    let mut bench = Bench { client: &client, server: &server, evaluator, steps: Vec::new() };

    // Fresh ciphertexts, of 1: a product of any of them is of 1 too. Sums, products.
    let fresh = (0..samples).map(|_| encryptor.encrypt(true, &mut rng)).collect::<std::result::Result<Vec<_>, _>>()?;
    bench.add("fresh", &fresh)?;
    for count in [2, 16, 128] {
        let more =
            (0..count).map(|_| encryptor.encrypt(false, &mut rng)).collect::<std::result::Result<Vec<_>, _>>()?;
        let sum = bench.sum(&more)?;
        bench.add(format!("sum of {count} fresh"), &[sum])?;
    }
    let (mut factors, mut factor_bounds) = (Vec::new(), Vec::new());
    let (mut product, mut count) = (fresh[0].clone(), 1);
    loop {
        let (measured, bound) = bench.margin(&product)?;
        factors.push((f64::from(count), measured));
        factor_bounds.push((f64::from(count), bound));
        let next = encryptor.encrypt(true, &mut rng)?;
        match bench.evaluator.multiply(&product, &next) {
            Ok(next) => (product, count) = (next, count + 1),
            Err(solinas_schemes::Error::Margin { .. }) => break,
            Err(error) => return Err(error.into()),
        }
    }
    bench.add(format!("product of {count} fresh"), &[product])?;

    let columns: Vec<_> =
        (0..samples).map(|k| bench.column(k % params.blocks(), &mut rng)).collect::<std::result::Result<_, _>>()?;
    bench.add("column bit of Recrypt", &columns)?;
    let recrypted: Vec<_> =
        fresh.iter().map(|fresh| bench.evaluator.recrypt(fresh)).collect::<std::result::Result<_, _>>()?;
    bench.add("recrypted", &recrypted)?;
    let sum = bench.sum(&recrypted)?;
    bench.add(format!("sum of {} recrypted", recrypted.len()), &[sum])?;

    // recrypt(chain r + r'), where a product of two recrypted ciphertexts is sure to be recryptable.
    let decryptor = client.decryptor()?;
    let mut chain = [const { Vec::new() }; 4];
    if params.supports_circuits() {
        let products: Vec<_> = recrypted
            .windows(2)
            .map(|pair| bench.evaluator.multiply(&pair[0], &pair[1]))
            .collect::<std::result::Result<_, _>>()?;
        bench.add("product of two recrypted", &products)?;
        let (mut value, mut bit) = (recrypted[0].clone(), true);
        for step in 1..=args.chain {
            let (r, other) = (&recrypted[step % recrypted.len()], &recrypted[(step + 1) % recrypted.len()]);
            let next = bench.evaluator.add(&bench.evaluator.multiply(&value, r)?, other)?;
            value = bench.evaluator.recrypt(&next)?;
            bit = !bit;
            if decryptor.decrypt(&value)? != bit {
                return Err(format!("step {step} of the chain decrypts to the wrong bit").into());
            }
            for (series, ciphertext) in [(0, &next), (2, &value)] {
                let (measured, bound) = bench.margin(ciphertext)?;
                chain[series].push((step as f64, measured));
                chain[series + 1].push((step as f64, bound));
            }
        }
    }
    for (name, index) in [("chain: product and sum", 0), ("chain: recrypted", 2)] {
        if let Some(&(_, bound)) = chain[index + 1].first() {
            let measured = chain[index].iter().map(|point| point.1).collect();
            bench.steps.push(Step { name: name.into(), measured, bound });
        }
    }
    println!("{}: n = {}, t = {}, seed {}", params.name(), params.dimension(), params.coefficient_bits(), args.seed);
    bench.print(&params);
    println!("no bound is above what was measured; a chain of {} steps is right", chain[0].len());
    if let Some(path) = &args.svg {
        std::fs::write(path, picture(&params, &bench.steps, [factors, factor_bounds], chain))?;
    }
    Ok(())
}

/// Three panels: products of fresh ciphertexts, kinds of ciphertexts, a chain.
fn picture(params: &Params, steps: &[Step], factors: [Vec<(f64, f64)>; 2], chain: [Vec<(f64, f64)>; 4]) -> String {
    let series = |name, colour, line, points| Series { name, colour, line, points };
    let levels = || vec![(noise::recrypt_need(params), "Recrypt needs")];
    let [measured, bounds] = factors;
    let mut panels = vec![Panel {
        title: format!("{}: products of fresh ciphertexts, margin in bits", params.name()),
        axis: "factors",
        names: Vec::new(),
        series: vec![series("measured", MEASURED, false, measured), series("bound", BOUND, true, bounds)],
        levels: levels(),
    }];
    let numbered = || steps.iter().enumerate().map(|(index, step)| (index as f64, step));
    let dots = numbered().flat_map(|(x, step)| step.measured.iter().map(move |&y| (x, y))).collect();
    let bounds = numbered().map(|(x, step)| (x, step.bound)).collect();
    panels.push(Panel {
        title: "kinds of ciphertexts".into(),
        axis: "",
        names: steps.iter().map(|step| step.name.clone()).collect(),
        series: vec![series("measured", MEASURED, false, dots), series("bound", BOUND, true, bounds)],
        levels: levels(),
    });
    let [products, product_bounds, recrypted, recrypted_bounds] = chain;
    if !products.is_empty() {
        panels.push(Panel {
            title: "a chain: recrypt(c r + r')".into(),
            axis: "steps",
            names: Vec::new(),
            series: vec![
                series("recrypted", AFTER, false, recrypted),
                series("bounds", BOUND, true, recrypted_bounds),
                series("product and sum", MEASURED, false, products),
                series("", BOUND, true, product_bounds),
            ],
            levels: levels(),
        });
    }
    let top = 10.0 * (noise::capacity(params) / 10.0 + 1.0).ceil();
    draw(&format!("Margins of Gentry-Halevi ciphertexts at {}", params.name()), &panels, 420.0, top)
}
