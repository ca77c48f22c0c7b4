//! Every operation at every combination of dimension, depth and plaintext modulus, against plain polynomial arithmetic.

use std::num::ParseIntError;
use std::ops::RangeInclusive;
use std::time::Instant;

use bench_common::machine;
use bench_measure::Result;
use rand_core::RngCore;
use solinas_field::Backend;
use solinas_field::prime::{Modulus, NttPlan, primes};
use solinas_schemes::ntru::noise::{TOLERANCE_BELOW, tolerance_above};
use solinas_schemes::ntru::{
    Ciphertext, ClientKey, Evaluator, KeyDistribution, Params, ParamsLiteral, ServerKey, Stage, params,
};
use solinas_schemes::{Control, Entropy, Evaluate, Level};

/// Options of the sweep: numbers and ranges, separated by commas.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(long, value_delimiter = ',', value_parser = range, default_value = "512,1024,2048,4096,8192,16384")]
    dimensions: Vec<RangeInclusive<usize>>,
    #[arg(long, value_delimiter = ',', value_parser = range, default_value = "1-19")]
    depths: Vec<RangeInclusive<usize>>,
    #[arg(long, value_delimiter = ',', value_parser = range, default_value = "2,3,257,65537")]
    moduli: Vec<RangeInclusive<usize>>,
    #[arg(long, value_delimiter = ',', value_parser = range, default_value = "1,2")]
    threads: Vec<RangeInclusive<usize>>,
    /// Halve rings as levels go
    #[arg(long)]
    rings: bool,
}

fn range(text: &str) -> std::result::Result<RangeInclusive<usize>, ParseIntError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Ok(first.parse()?..=last.parse()?)
}

/// Runs the sweep and prints a line for each dimension, modulus and number of threads.
pub(crate) fn run(args: &Args) -> Result<()> {
    let [dimensions, depths, moduli, threads] = [&args.dimensions, &args.depths, &args.moduli, &args.threads]
        .map(|ranges| ranges.iter().cloned().flatten().collect::<Vec<_>>());
    let rings = args.rings;
    let backend = Backend::detect()?;
    println!("back end {}, depths {depths:?}{}", backend.name(), if rings { ", rings halved" } else { "" });
    println!(
        "measured noise less the formula's, bits, smallest and largest: fresh | sums | plain sums | product | key switch | division | ring | plain products"
    );
    for threads in threads {
        let pool = machine::free_pool(threads)?;
        for &dimension in &dimensions {
            for &p in &moduli {
                let start = Instant::now();
                let mut tally = Tally::default();
                for &depth in &depths {
                    let Some(params) = params_of(dimension, p as u64, depth, rings) else {
                        println!("n = {dimension}, p = {p}: no parameters of depth {depth}");
                        continue;
                    };
                    pool.install(|| World::new(params)?.run(&mut tally))?;
                }
                println!(
                    "n = {dimension:>5}, p = {p:>5}, {threads} threads: {} results right{} | {:.0} s",
                    tally.right,
                    tally.text(),
                    start.elapsed().as_secs_f64()
                );
            }
        }
    }
    Ok(())
}

/// The fewest primes of the fewest bits that decrypt sums of two; with rings halved, as long as the root Hermite factor of fresh ciphertexts allows.
fn params_of(dimension: usize, p: u64, depth: usize, rings: bool) -> Option<Params> {
    let literal = |primes_per_level, floor| ParamsLiteral {
        name: format!("sweep-{dimension}-{p}-{depth}"),
        dimension,
        plaintext_modulus: p,
        depth,
        primes_per_level,
        first_bits: None,
        bits: None,
        top_bits: None,
        keys: KeyDistribution::Gaussian,
        floor,
        terms: 2,
        failure_bits: 40,
        bootstrapping: None,
    };
    let params = (1..=4).find_map(|k| Params::try_from(literal(k, None)).ok())?;
    if !rings {
        return Some(params);
    }
    let floor = params::root_hermite_factor(dimension, params.log2_modulus(params.fresh_level()));
    (params.literal().primes_per_level..=4).find_map(|k| Params::try_from(literal(k, Some(floor))).ok())
}

const STEPS: [&str; 8] = ["fresh", "sums", "plain sums", "product", "key switch", "division", "ring", "plain products"];

/// Results compared, and the range of measured noise less the formula's at each step.
#[derive(Default)]
struct Tally {
    right: usize,
    ranges: [Option<(f64, f64)>; 8],
}

impl Tally {
    fn text(&self) -> String {
        let range = |range: &Option<(f64, f64)>| {
            range.map_or_else(|| " | -".into(), |(low, high)| format!(" | {low:.2} {high:.2}"))
        };
        self.ranges.iter().map(range).collect()
    }
}

/// A plaintext and a ciphertext of it.
type Pair = (Vec<u64>, Ciphertext);

/// Keys, and plain arithmetic: products modulo a prime that is large enough for them.
struct World {
    client: ClientKey,
    server: ServerKey,
    plan: NttPlan,
    exact: Modulus,
    nonce: u64,
}

impl World {
    fn new(params: Params) -> Result<Self> {
        let n = params.dimension();
        // n p^2 / 4 < 2^47 at most, centred operands.
        let exact = primes(60, 1, 2 * n as u64)?[0];
        let plan = NttPlan::new(exact, n, Backend::detect()?)?;
        let client = ClientKey::generate(&params, true, Entropy::Insecure(11), &Control::default())?;
        let server = client.server_key(&Control::default())?;
        Ok(Self { client, server, plan, exact, nonce: 0 })
    }

    fn p(&self) -> u64 {
        self.server.params().plaintext_modulus()
    }

    fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let transformed = |x: &[u64]| {
            let mut x = x.to_vec();
            self.plan.forward(&mut x);
            x
        };
        let (mut x, y) = (transformed(a), transformed(b));
        self.plan.pointwise().multiply(&mut x, &y);
        self.plan.inverse(&mut x);
        x.into_iter().map(|x| self.exact.centered(x).rem_euclid(self.p() as i64) as u64).collect()
    }

    /// `a + sign b`.
    fn sum(&self, a: &[u64], sign: u64, b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(x, y)| (x + sign * y) % self.p()).collect()
    }

    fn random(&self, rng: &mut impl RngCore) -> Vec<u64> {
        (0..self.server.params().dimension()).map(|_| rng.next_u64() % self.p()).collect()
    }

    fn fresh(&mut self) -> Result<Pair> {
        self.nonce += 1;
        let public = self.server.public();
        let mut rng = public.encryption_rng(self.nonce)?;
        let plain = self.random(&mut rng);
        let cipher = public.encrypt(&plain, &mut rng)?;
        Ok((plain, cipher))
    }

    /// Checks that a ciphertext decrypts to `plain`, and that its noise is within the tolerance of the formula.
    fn check(&self, tally: &mut Tally, step: usize, cipher: &Ciphertext, plain: &[u64]) -> Result<()> {
        let place = || format!("{}, {}, level {}", self.server.params().name(), STEPS[step], cipher.level());
        if self.client.decrypt(cipher)? != plain {
            return Err(format!("{}: decrypts wrongly", place()).into());
        }
        let (measured, formula) = (self.client.measure_noise(cipher)?, cipher.noise());
        let over = measured.bits_above(formula);
        // The formula of sums and of plain operations is a bound: operands may be the same.
        let bound = matches!(step, 1 | 2 | 7);
        // Fewer roots spread more.
        let ring = self.server.params().dimension_at(cipher.level());
        let below = TOLERANCE_BELOW + if ring < plain.len() { 8.0 / (ring as f64).sqrt() } else { 0.0 };
        if over > tolerance_above(plain.len()) || !bound && over < -below {
            return Err(format!("{}: 2^{measured:.2} measured, 2^{formula:.2} by the formula", place()).into());
        }
        let range = tally.ranges[step].get_or_insert((over, over));
        *range = (range.0.min(over), range.1.max(over));
        tally.right += 1;
        Ok(())
    }

    fn run(&mut self, tally: &mut Tally) -> Result<()> {
        let server = self.server.clone();
        let evaluator = Evaluator::new(&server);
        let minus = self.p() - 1;
        let ((mut a, mut x), (mut b, mut y)) = (self.fresh()?, self.fresh()?);
        self.check(tally, 0, &x, &a)?;
        self.check(tally, 0, &y, &b)?;
        if let Ok(encoder) = server.params().slots() {
            let (slots, others) = (encoder.decode(&a)?, encoder.decode(&b)?);
            let want: Vec<u64> = slots.iter().zip(&others).map(|(a, b)| a * b % self.p()).collect();
            if encoder.decode(&self.product(&a, &b))? != want || encoder.encode(&slots)? != a {
                return Err(format!("{}: slots differ", server.params().name()).into());
            }
        }
        while x.level() > Level::LOWEST {
            self.nonce += 1;
            let known = self.random(&mut server.public().encryption_rng(self.nonce)?);
            let sum = evaluator.add(&x, &y)?;
            let plain_sum = self.sum(&a, 1, &b);
            self.check(tally, 1, &sum, &plain_sum)?;
            self.check(tally, 1, &evaluator.sub(&x, &y)?, &self.sum(&a, minus, &b))?;
            self.check(tally, 1, &evaluator.negate(&x)?, &self.sum(&vec![0; a.len()], minus, &a))?;
            self.check(tally, 2, &evaluator.add_plain(&x, &known)?, &self.sum(&a, 1, &known))?;
            if let Ok(product) = evaluator.multiply_plain(&x, &known) {
                self.check(tally, 7, &product, &self.product(&a, &known))?;
            }
            // One operation at a time.
            let want = self.product(&plain_sum, &b);
            let product = evaluator.multiply_without_switch(&sum, &y)?;
            self.check(tally, 3, &product, &want)?;
            let switched = evaluator.key_switch(&product)?;
            self.check(tally, 4, &switched, &want)?;
            let mut reduced = evaluator.modulus_switch(&switched)?;
            self.check(tally, 5, &reduced, &want)?;
            if reduced.stage() == Stage::Wide {
                reduced = evaluator.ring_reduce(&reduced)?;
                self.check(tally, 6, &reduced, &want)?;
            }
            if evaluator.multiply(&sum, &y)? != reduced {
                return Err(format!("{}: a composed product differs", server.params().name()).into());
            }
            let lowered = evaluator.drop_level(&x)?;
            self.check(tally, if lowered.parts().len() > x.parts().len() { 6 } else { 5 }, &lowered, &a)?;
            ((b, y), (a, x)) = ((want, reduced), (a, lowered));
        }
        self.check(tally, 1, &evaluator.add(&x, &y)?, &self.sum(&a, 1, &b))
    }
}
