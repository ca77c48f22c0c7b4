//! Bootstrapping of bits by the NTRU scheme: `cargo run --release --example ntru_bootstrap -- --params boot-1024 --bits 1000 [--chain 20]
//! [--threads 2]`.
//!
//! Every result is decrypted and compared: bits, products of bootstrapped bits bootstrapped again, a chain, a circuit deeper than the levels. Beside
//! the time, the bound by its transforms and products, from the times of one transform and one product of a tower measured in the same run.

use std::ops::ControlFlow;
use std::time::Instant;

use rayon::prelude::*;
use solinas_ring::{Basis, Coeff, RnsPoly};
use solinas_schemes::ntru::{self, BootstrapKey, Ciphertext, ClientKey, Evaluator, Params};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The value after an option.
fn option(name: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)
}

fn number(name: &str, default: usize) -> Result<usize> {
    option(name).map_or(Ok(default), |text| Ok(text.parse()?))
}

/// Transforms, products of a key switch, and other products by words, of a bootstrapping: each of one tower.
fn operations(params: &Params, key: &BootstrapKey) -> [usize; 3] {
    let precision = params.bootstrapping().map_or(0, |bootstrapping| bootstrapping.precision as usize);
    let (levels, special) = (params.levels(), params.special_moduli().len());
    let (extended, groups) = (levels + special, levels.div_ceil(special));
    let rounds = params.dimension().ilog2().div_ceil(2) as usize;
    let trace = rounds * (levels + groups * extended - levels + special + levels);
    let switches = key.polynomials().count() - 3;
    // Conversions of the digits of a round, and of what is divided away.
    let digit = |first: usize| {
        let size = special.min(levels - first);
        size * (extended - size) + size
    };
    let conversions: usize = (0..levels).step_by(special).map(digit).sum();
    let down = special + special * levels + 2 * levels;
    // Of level `l`, a square or a lowering: l transforms, 3 l products.
    let digits: usize = (0..precision - 2).map(|step| (step + 2) * (levels - 1 - step)).sum();
    let steps = levels + digits + levels + 1 - precision;
    [1 + levels + trace + steps, switches * extended, levels + rounds * (conversions + down) + 3 * steps]
}

/// Shortest of several times, in microseconds.
fn micros(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..200).map(time).fold(f64::INFINITY, f64::min)
}

fn report_bound(params: &Params, key: &BootstrapKey) -> Result<f64> {
    let n = params.dimension();
    let backend = solinas_field::Backend::detect()?;
    let basis = Basis::new(n, &params.special_moduli()[..1], backend)?;
    let mut words = RnsPoly::<Coeff>::from_signed(&basis, &vec![1; n])?.words().to_vec();
    let other = words.clone();
    let transform = micros(|| basis.plan(0).forward(&mut words));
    let product = micros(|| basis.pointwise(0).multiply(&mut words, &other));
    let [transforms, switches, others] = operations(params, key);
    let bound = (transforms as f64 * transform + (switches + others) as f64 * product) / 1e3;
    println!("one transform {transform:.1} us ({}), one product {product:.1} us", basis.plan(0).kernel().name());
    println!(
        "{transforms} transforms, {switches} products with keys, {others} other products: {bound:.1} ms on one core"
    );
    let start = Instant::now();
    let sum = key.polynomials().flat_map(|poly| poly.words()).fold(0u64, |sum, &word| sum.wrapping_add(word));
    let read = start.elapsed().as_secs_f64() * 1e3;
    println!("reading the key once: {read:.1} ms, {:.1} GB/s (sum {sum:x})", key.bytes() as f64 / read / 1e6);
    Ok(bound)
}

fn run(name: &str, count: usize, chain: usize) -> Result<()> {
    let params = Params::named(name)?;
    let (n, levels) = (params.dimension(), params.levels());
    println!(
        "{name}: n = {n}, {levels} towers, log2 Q = {:.1}, {} special primes; {:?}",
        params.log2_modulus(levels),
        params.special_moduli().len(),
        params.bootstrapping(),
    );
    let bits: Vec<u32> = params.moduli().iter().map(|q| q.bits()).collect();
    println!("bits of the primes {bits:?}, bootstrapped to level {}", params.bootstrapped_level());
    println!("{:?}", params.security().status);
    let start = Instant::now();
    let (client, server) = ntru::generate_insecure(&params, true, 1)?;
    println!("key generation     {:>10.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let key = client.bootstrap_key(&|_, _| ControlFlow::Continue(()))?;
    let megabytes = key.bytes() as f64 / 1e6;
    println!("bootstrapping key  {:>10.1} ms, {megabytes:.1} MB", start.elapsed().as_secs_f64() * 1e3);
    let bound = report_bound(&params, &key)?;
    let evaluator = Evaluator::new(&server).with_bootstrapping(&key)?;

    let public = server.public();
    let value = |i: usize| (i * i + i / 3) % 5 < 2;
    let encrypt = |i: usize| -> Result<Ciphertext> {
        let fresh = public.encrypt_bit(value(i), &mut public.encryption_rng(i as u64)?)?;
        Ok(evaluator.automatic().at_level(&fresh, 1)?)
    };
    let inputs = (0..count).map(encrypt).collect::<Result<Vec<_>>>()?;

    // One after the other, the threads within.
    let mut best = f64::INFINITY;
    let few = &inputs[..count.min(5)];
    for x in few {
        let start = Instant::now();
        evaluator.bootstrap(x)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    let threads = rayon::current_num_threads();
    println!(
        "one bit            {best:>10.2} ms on {threads} threads, bound {:.2} ms, ratio {:.2}",
        bound / threads as f64,
        best * threads as f64 / bound
    );

    // Many at a time.
    let start = Instant::now();
    let refreshed: Vec<_> =
        inputs.par_iter().map(|x| evaluator.bootstrap(x)).collect::<core::result::Result<_, _>>()?;
    let each = start.elapsed().as_secs_f64() * 1e3 / count as f64;
    println!("{count} bits, each   {each:>10.2} ms, ratio to the bound {:.2}", each * threads as f64 / bound);
    let mut noise: f64 = 0.0;
    for (i, x) in refreshed.iter().enumerate() {
        check(&client, x, value(i))?;
        noise = noise.max(client.measure_noise(x)?);
    }
    println!(
        "all right; noise 2^{:.2} by the formula, 2^{noise:.2} measured at most, at level {}",
        refreshed[0].noise(),
        refreshed[0].level()
    );

    // Products of bootstrapped bits, bootstrapped again.
    let bits = evaluator.bits()?;
    let pairs: Vec<usize> = (1..count).collect();
    let products: Vec<_> = pairs
        .par_iter()
        .map(|&i| bits.refresh(&bits.and(&refreshed[i - 1], &refreshed[i])?))
        .collect::<core::result::Result<_, _>>()?;
    for (&i, x) in pairs.iter().zip(&products) {
        check(&client, x, value(i - 1) && value(i))?;
    }
    println!("{} products of them, bootstrapped: all right", products.len());

    let mut x = refreshed[0].clone();
    for _ in 0..chain {
        x = evaluator.bootstrap(&x)?;
        check(&client, &x, value(0))?;
    }
    println!("chain of {chain}: all right, noise 2^{:.2} measured", client.measure_noise(&x)?);
    Ok(())
}

fn check(client: &ClientKey, x: &Ciphertext, bit: bool) -> Result<()> {
    let plain = client.decrypt(x)?;
    if (plain[0] == 1) != bit || plain[1..].iter().any(|&x| x != 0) {
        return Err("a bit came out wrong".into());
    }
    Ok(())
}

fn main() -> Result<()> {
    let name = option("--params").unwrap_or_else(|| "boot-64".into());
    let (bits, chain, threads) = (number("--bits", 20)?, number("--chain", 20)?, number("--threads", 2)?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| run(&name, bits, chain))
}
