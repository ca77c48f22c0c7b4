//! Times and noise of BGV with one parameter set: the least times of the repetitions in microseconds, and the noise along a chain of squares.
//!
//! ```text
//! cargo measure bgv -- slots-16384-13 [threads] [repetitions] [group=..|digits=..|bits=..|terms=.. ..]
//! cargo measure bgv -- sets        # the greatest depth of each dimension with 128, 192 and 256 bits of security
//! ```
//!
//! Every result is compared with plain arithmetic on slots. `docs/derivations/bgv-cost.md` has the bounds of the times.

use std::process::ExitCode;
use std::time::Instant;

use bench_common::{command, machine};
use bench_measure::{Result, try_least};
use clap::Parser;
use rand_core::RngCore as _;
use solinas_schemes::bgv::{self, ClientKey, Evaluator, KeySwitching, Params, ParamsLiteral, Rotations};
use solinas_schemes::{Control, Entropy, Evaluate, RotateSlots};

/// Least time in microseconds, and the last result.
fn time<T>(repetitions: usize, work: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    try_least(repetitions + 1, 0.0, work).map(|(least, last)| (least.wall, last))
}

/// The set of that name, changed as the options ask.
fn parameters(name: &str, options: &[String]) -> Result<Params> {
    let mut literal: ParamsLiteral = Params::named(name)?.literal().clone();
    if !options.is_empty() {
        (literal.first_bits, literal.bits, literal.top_bits) = (None, None, None);
    }
    for option in options {
        let (key, value) = option.split_once('=').ok_or("options are key=value")?;
        match key {
            "group" => literal.switching = KeySwitching::Hybrid { group: value.parse()? },
            "digits" => literal.switching = KeySwitching::Digits { bits: value.parse()? },
            "bits" => {
                literal.bits = Some(value.parse()?);
                (literal.first_bits, literal.top_bits) = (literal.bits, literal.bits);
            }
            "terms" => literal.terms = value.parse()?,
            _ => return Err(format!("there is no option {key}").into()),
        }
    }
    Ok(Params::try_from(literal)?)
}

fn measure(name: &str, repetitions: usize, options: &[String]) -> Result<()> {
    let start = Instant::now();
    let params = parameters(name, options)?;
    println!("{} in {:.1} ms", params.name(), start.elapsed().as_secs_f64() * 1e3);
    let bits: Vec<u32> = params.moduli().iter().map(|q| q.bits()).collect();
    let special: Vec<u32> = params.special().iter().map(|q| q.bits()).collect();
    println!(
        "N = {}, primes of {bits:?} and {special:?} bits, log2 QP = {:.1}",
        params.dimension(),
        params.log2_total()
    );
    println!("security: {:?}", params.security());
    let slots = params.slots()?;
    let start = Instant::now();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
    let server = client.server_key_with(&Rotations::of_steps(&params, &[1])?, &Control::default())?;
    println!("key generation {:.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let (p, n) = (params.plaintext_modulus(), params.dimension());
    let mut rng = server.public().encryption_rng(1)?;
    let plain: Vec<u64> = (0..n).map(|_| rng.next_u64() % p).collect();
    let report = |what: &str, micros: f64| println!("{what:<34} {micros:>9.1} us");
    let (micros, encoded) = time(repetitions, || Ok(slots.encode(&plain)?))?;
    report("encode", micros);
    let (micros, x) = time(repetitions, || Ok(server.public().encrypt(&encoded, &mut rng)?))?;
    report("encrypt, public key", micros);
    let (micros, _) = time(repetitions, || Ok(client.encrypt_seeded(&encoded, &mut rng)?))?;
    report("encrypt, secret key", micros);
    let (micros, decrypted) = time(repetitions, || Ok(client.decrypt(&x)?))?;
    report("decrypt", micros);
    assert_eq!(slots.decode(&decrypted)?, plain);
    let evaluator = Evaluator::new(&server);
    let (micros, _) = time(repetitions, || Ok(evaluator.add(&x, &x)?))?;
    report("add", micros);
    let (micros, product) = time(repetitions, || Ok(evaluator.tensor(&x, &x)?))?;
    report("multiply", micros);
    let (micros, product) = time(repetitions, || Ok(evaluator.relinearize(&product)?))?;
    report("relinearize", micros);
    let (micros, _) = time(repetitions, || Ok(evaluator.modulus_switch(&product)?))?;
    report("modulus_switch", micros);
    let (micros, product) = time(repetitions, || Ok(evaluator.multiply(&x, &x)?))?;
    report("multiply + relinearize + modulus_switch", micros);
    let squares: Vec<u64> = plain.iter().map(|&x| x * x % p).collect();
    assert_eq!(slots.decode(&client.decrypt(&product)?)?, squares);
    let (micros, _) = time(repetitions, || Ok(evaluator.drop_level(&x)?))?;
    report("lower", micros);
    let (micros, _) = time(repetitions, || Ok(evaluator.multiply_plain(&x, &encoded)?))?;
    report("multiply_plain", micros);
    let (micros, _) = time(repetitions, || Ok(evaluator.rotate(&x, 1)?))?;
    report("rotate", micros);

    let (mut x, mut plain) = (x, plain);
    for depth in 0..=params.depth() {
        let measured = client.measure_noise(&x)?;
        let right = slots.decode(&client.decrypt(&x)?)? == plain;
        println!(
            "depth {depth:>2}: noise 2^{measured:.2} measured, 2^{:.2} by formula; {}",
            x.noise(),
            if right { "right" } else { "WRONG" }
        );
        if depth < params.depth() {
            x = evaluator.multiply(&x, &x)?;
            plain.iter_mut().for_each(|x| *x = *x * *x % p);
        }
    }
    Ok(())
}

/// The greatest depth at each dimension and security, by towers of a group.
fn sets() -> Result<()> {
    println!("security  N      p      depth (log2 Q P, special primes) of groups of 1, 2, 3 .. towers");
    for security in [128, 192, 256] {
        for dimension in [1024, 2048, 4096, 8192, 16384, 32768] {
            let bound = bgv::params::secure_bits(dimension, security);
            for family in ["slots", "wide", "bits"] {
                let mut line = format!("{security:>8}  {dimension:<6} {family:<6}");
                for group in 1..=5 {
                    let at = |depth: usize| -> Option<Params> {
                        let mut literal =
                            Params::named(&format!("{family}-{dimension}-{depth}")).ok()?.literal().clone();
                        literal.switching = KeySwitching::Hybrid { group };
                        (literal.first_bits, literal.bits, literal.top_bits) = (None, None, None);
                        Params::try_from(literal).ok().filter(|params| params.log2_total() <= f64::from(bound))
                    };
                    let Some(params) = (0..=40).map_while(at).last() else {
                        line += "  -";
                        continue;
                    };
                    line += &format!("  {} ({:.0}, {})", params.depth(), params.log2_total(), params.special().len());
                }
                println!("{line}");
            }
        }
    }
    Ok(())
}

/// Times and noise of the BGV scheme at a parameter set.
#[derive(Parser)]
struct Args {
    /// A parameter set, or `sets` for the greatest depths
    #[arg(default_value = "slots-16384-13")]
    params: String,
    #[arg(default_value_t = 1)]
    threads: usize,
    #[arg(default_value_t = 10)]
    repetitions: usize,
    /// KEY=VALUE: changes of the set
    options: Vec<String>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(Args { params, threads, repetitions, options }: &Args) -> Result<()> {
    if params == "sets" {
        return sets();
    }
    machine::free_pool(*threads)?.install(|| measure(params, *repetitions, options))
}
