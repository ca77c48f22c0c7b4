//! Times and noise of NTRU with one parameter set: `cargo measure ntru -- paper-16384-13 [threads] [repetitions]`.
//!
//! Times are the least of the repetitions. The bound beside them is the time of the operation's transforms and products; one of each is
//! timed in the same run. At every level the chain of squares is decrypted and compared.

use std::process::ExitCode;
use std::time::Instant;

use bench_common::{command, machine};
use bench_measure::{Result, try_least};
use clap::Parser;
use solinas_ring::{Basis, RnsPoly, sample};
use solinas_schemes::ntru::{ClientKey, Evaluator, Params, Stage};
use solinas_schemes::{Control, Entropy, Evaluate, Level};

/// Least time in microseconds, and the last result.
fn time<T>(repetitions: usize, work: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    try_least(repetitions + 1, 0.0, work).map(|(least, last)| (least.wall, last))
}

/// The square of a plaintext modulo `p`: exact modulo a prime of 50 bits, as `n (p-1)^2 < 2^49` in all sets.
fn squared(plain: &[u64], p: u64) -> Result<Vec<u64>> {
    let n = plain.len();
    let q = solinas_field::prime::primes(50, 1, 2 * n as u64)?[0];
    let plan = solinas_field::prime::NttPlan::new(q, n, solinas_field::Backend::detect()?)?;
    let mut x = plain.to_vec();
    plan.forward(&mut x);
    let y = x.clone();
    plan.pointwise().multiply(&mut x, &y);
    plan.inverse(&mut x);
    Ok(x.into_iter().map(|x| q.centered(x).rem_euclid(p as i64) as u64).collect())
}

fn report(name: &str, micros: f64, bound: f64) {
    println!("{name:<18} {micros:>10.1} us   bound {bound:>8.1} us   ratio {:>5.2}", micros / bound);
}

fn measure(name: &str, repetitions: usize) -> Result<()> {
    let params = Params::named(name)?;
    let (t, n) = (params.moduli().len(), params.dimension());
    println!("{name}: n = {n}, {t} towers, log2 Q = {:.1}", params.log2_modulus(params.fresh_level()));
    let start = Instant::now();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
    let server = client.server_key(&Control::default())?;
    println!("key generation     {:>10.1} ms", start.elapsed().as_secs_f64() * 1e3);

    // One transform and one product of a tower in the nearest cache; towers are spread over the threads.
    let backend = solinas_field::Backend::detect()?;
    let basis = Basis::new(n, &params.moduli()[t - 1..], backend)?;
    let mut words = RnsPoly::<solinas_ring::Coeff>::from_signed(&basis, &vec![1; n])?.words().to_vec();
    let other = words.clone();
    let threads = rayon::current_num_threads() as f64;
    let (transform, ()) = time(20 * repetitions, || {
        basis.plan(0).forward(&mut words);
        Ok(())
    })?;
    let (product, ()) = time(20 * repetitions, || {
        basis.pointwise(0).multiply(&mut words, &other);
        Ok(())
    })?;
    println!(
        "one transform {transform:.1} us ({}), one product {product:.1} us, {threads} threads",
        basis.plan(0).kernel().name()
    );
    let bound =
        |transforms: usize, products: usize| (transforms as f64 * transform + products as f64 * product) / threads;

    let public = server.public();
    let mut rng = public.encryption_rng(0)?;
    let plain: Vec<u64> = (0..n as u64).map(|i| i * i % params.plaintext_modulus()).collect();
    let (micros, x) = time(repetitions, || Ok(public.encrypt(&plain, &mut rng)?))?;
    report("Encrypt", micros, bound(2 * t, t));
    let gaussian = sample::Gaussian::new(params.sigma())?;
    let (micros, _) = time(repetitions, || Ok(gaussian.draw_many(&mut rng, n)))?;
    println!("  of which sampling {:>8.1} us", 2.0 * micros);
    let y = public.encrypt(&plain, &mut rng)?;
    let evaluator = Evaluator::new(&server);
    let (micros, _) = time(repetitions, || Ok(evaluator.add(&x, &y)?))?;
    report("EvalAdd", micros, bound(0, t));
    let (micros, product) = time(repetitions, || Ok(evaluator.multiply_without_switch(&x, &y)?))?;
    report("EvalMult", micros, bound(0, t));
    let (micros, switched) = time(repetitions, || Ok(evaluator.key_switch(&product)?))?;
    report("KeySwitch", micros, bound(0, t));
    let per_level = params.literal().primes_per_level;
    let transforms: usize = (0..per_level).map(|k| t - k).sum();
    let (micros, reduced) = time(repetitions, || Ok(evaluator.modulus_switch(&switched)?))?;
    report("ModReduce", micros, bound(transforms, transforms));
    if reduced.stage() == Stage::Wide {
        let (micros, _) = time(repetitions, || Ok(evaluator.ring_reduce(&reduced)?))?;
        report("RingReduce", micros, bound(2 * t, t));
    }
    let (micros, mut z) = time(repetitions, || Ok(evaluator.multiply(&x, &y)?))?;
    report("ComposedEvalMult", micros, bound(transforms, transforms + 2 * t));
    let (micros, _) = time(repetitions, || Ok(client.decrypt(&x)?))?;
    report("Dec, all towers", micros, bound(t, t * (t + 1) / 2));
    let mut want = squared(&plain, params.plaintext_modulus())?;
    while z.level() > Level::LOWEST {
        assert!(client.decrypt(&z)? == want, "level {} decrypts wrongly", z.level());
        println!(
            "level {:>2}: noise 2^{:.2} by the formula, 2^{:.2} measured",
            z.level(),
            z.noise(),
            client.measure_noise(&z)?
        );
        (z, want) = (evaluator.multiply(&z, &z)?, squared(&want, params.plaintext_modulus())?);
    }
    assert!(client.decrypt(&z)? == want, "level 1 decrypts wrongly");
    println!("level  1: noise 2^{:.2} by the formula, 2^{:.2} measured", z.noise(), client.measure_noise(&z)?);
    let (micros, _) = time(repetitions, || Ok(client.decrypt(&z)?))?;
    report("Dec, last level", micros, bound(1, 1));
    Ok(())
}

/// Times and noise of the NTRU scheme at a parameter set.
#[derive(Parser)]
struct Args {
    #[arg(default_value = "tight-4096-3")]
    params: String,
    #[arg(default_value_t = 1)]
    threads: usize,
    #[arg(default_value_t = 20)]
    repetitions: usize,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(Args { params, threads, repetitions }: &Args) -> Result<()> {
    machine::free_pool(*threads)?.install(|| measure(params, *repetitions))
}
