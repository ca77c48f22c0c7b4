//! Times and margins of the Gentry-Halevi scheme with one parameter set.
//!
//! ```sh
//! cargo measure gh -- --params small --threads 2 --chain 10
//! ```
//!
//! Times are the least of a few repetitions, as wall time and as CPU time of all threads. On a machine with other work, read CPU times. Keys are
//! from a fixed seed and so insecure, as is the scheme.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bench_common::{command, machine};
use bench_measure::{Least, Result, try_least as least};
use clap::Parser;
use solinas_bigint::fft::Engine;
use solinas_schemes::Entropy;
use solinas_schemes::gh::{
    self, Arithmetic, Ciphertext, ClientKey, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod, ServerKey,
    noise,
};
use solinas_schemes::{Control, Progress};

/// The Gentry-Halevi scheme at a parameter set: times and margins.
#[derive(Parser)]
struct Args {
    #[arg(long, default_value = "toy")]
    params: String,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[arg(long, default_value_t = 8 << 10)]
    memory_mib: u64,
    #[arg(long, default_value_t = 2)]
    chain: usize,
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// complex or solinas
    #[arg(long, value_parser = engine)]
    engine: Option<Engine>,
    /// partial-fft, full-fft, two-level, eighth-table, quarter-table or table; all by default
    #[arg(long, value_parser = encrypt_method)]
    encrypt: Option<EncryptMethod>,
    /// partial-fft, full-fft or pair-table; all by default
    #[arg(long, value_parser = recrypt_method)]
    recrypt: Option<RecryptMethod>,
}

fn engine(name: &str) -> std::result::Result<Engine, String> {
    choice(name, &[("complex", Engine::Complex), ("solinas", Engine::Solinas)])
}

fn encrypt_method(name: &str) -> std::result::Result<EncryptMethod, String> {
    use EncryptMethod::{EighthTable, FullFft, PartialFft, QuarterTable, Table, TwoLevel};
    let tables =
        [("two-level", TwoLevel), ("eighth-table", EighthTable), ("quarter-table", QuarterTable), ("table", Table)];
    choice(name, &[&[("partial-fft", PartialFft), ("full-fft", FullFft)], &tables[..]].concat())
}

fn recrypt_method(name: &str) -> std::result::Result<RecryptMethod, String> {
    use RecryptMethod::{FullFft, PairTable, PartialFft};
    choice(name, &[("partial-fft", PartialFft), ("full-fft", FullFft), ("pair-table", PairTable)])
}

fn choice<T: Copy>(name: &str, all: &[(&str, T)]) -> std::result::Result<T, String> {
    let names = || all.iter().map(|choice| choice.0).collect::<Vec<_>>().join(", ");
    all.iter()
        .find(|choice| choice.0 == name)
        .map(|choice| choice.1)
        .ok_or_else(|| format!("choose one of {}", names()))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn row(what: &str, Least { wall, cpu }: Least, note: &str) {
    println!("{what:<46} {:>12.4} ms, all threads {:>12.4} ms{note}", wall / 1e3, cpu / 1e3);
}

fn tables(setup: Duration, bytes: u64) -> String {
    format!("   (tables {:.0} ms, {} MiB)", milliseconds(setup), bytes >> 20)
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    machine::free_pool(args.threads)?.install(|| measure(args))
}

fn measure(args: &Args) -> Result<()> {
    let params = Params::named(&args.params)?;
    println!(
        "{}: n = {}, t = {}, s = {}, S = {}, rho = {}, m = {}, nz = {}; {} threads",
        params.name(),
        params.dimension(),
        params.coefficient_bits(),
        params.blocks(),
        params.candidates(),
        params.ratio_bits(),
        params.indicators(),
        params.nonzeros(),
        args.threads
    );

    let start = Instant::now();
    let last = std::sync::Mutex::new((None, Instant::now()));
    let progress = |Progress { stage, .. }: Progress| {
        if let Ok(mut last) = last.lock()
            && last.0 != stage
        {
            if let Some(stage) = last.0 {
                println!("  {:<44} {:>12.1} ms", stage, milliseconds(last.1.elapsed()));
            }
            *last = (stage, Instant::now());
        }
    };
    let control = Control { progress: Some(&progress), cancel: None };
    let client = gh::ClientKey::generate(&params, true, Entropy::Insecure(args.seed), &control)?;
    let server = client.server_key(&control)?;
    println!("key generation                                 {:>12.1} ms", milliseconds(start.elapsed()));
    println!(
        "  d has {} bits; server key {} MiB; capacity {:.1} bits",
        server.public().d().bit_len(),
        params.server_key_words() >> 17,
        noise::capacity(&params)
    );

    let arithmetic = Arithmetic { engine: args.engine, backend: None };
    let inputs = encryptions(args, &client, &server, arithmetic)?;
    let decryptor = client.decryptor()?;
    let (linear, _) = least(10 * args.repeat, 0.0, || decryptor.decrypt(&inputs[0]))?;
    let (exact, _) = least(args.repeat, 0.0, || decryptor.decrypt_exact(&inputs[0]))?;
    row("decryption, linear", linear, "");
    row("decryption, exact product", exact, "");

    for method in args.recrypt.map_or(RecryptMethod::ALL.to_vec(), |method| vec![method]) {
        recryptions(args, method, &client, &server, &inputs, arithmetic)?;
    }
    println!("peak resident memory                           {:>12} MiB", machine::peak_memory()? >> 20);
    Ok(())
}

/// Times the methods of encryption; returns encryptions of 0 and of 1.
fn encryptions(args: &Args, client: &ClientKey, server: &ServerKey, arithmetic: Arithmetic) -> Result<[Ciphertext; 2]> {
    let public = server.public();
    let mut rng = public.encryption_rng(args.seed)?;
    let mut inputs = None;
    for method in args.encrypt.map_or(EncryptMethod::ALL.to_vec(), |method| vec![method]) {
        let start = Instant::now();
        let encryptor = match Encryptor::new(public, method, args.memory_mib << 20, arithmetic) {
            Err(error @ solinas_schemes::Error::Memory { .. }) => {
                println!("{error}");
                continue;
            }
            other => other?,
        };
        let setup = start.elapsed();
        let (time, zero) = least(args.repeat.max(5), 0.0, || encryptor.encrypt(false, &mut rng))?;
        let one = encryptor.encrypt(true, &mut rng)?;
        row(method.name(), time, &tables(setup, method.memory(client.params())));
        show(client, "fresh", &one)?;
        inputs = Some([zero, one]);
    }
    inputs.ok_or_else(|| "no method of encryption fits the memory: raise --memory-mib".into())
}

/// Prints the margin of a ciphertext.
fn show(client: &ClientKey, what: &str, ciphertext: &Ciphertext) -> Result<()> {
    let (measured, bound) = (client.measure_margin(ciphertext)?, ciphertext.margin(client.params()));
    println!("  {what:<44} margin {measured:>6.1} bits, bound {bound:>6.1}");
    assert!(measured >= bound, "the bound is above the margin");
    Ok(())
}

/// Times Recrypt, and runs a chain of products and recrypts.
fn recryptions(
    args: &Args,
    method: RecryptMethod,
    client: &ClientKey,
    server: &ServerKey,
    [zero, one]: &[Ciphertext; 2],
    arithmetic: Arithmetic,
) -> Result<()> {
    let start = Instant::now();
    let evaluator = match Evaluator::new(server, method, args.memory_mib << 20, arithmetic) {
        Err(error @ solinas_schemes::Error::Memory { .. }) => {
            println!("{error}");
            return Ok(());
        }
        other => other?,
    };
    let setup = start.elapsed();
    let (product, _) = least(args.repeat, 0.0, || evaluator.multiply(zero, one))?;
    row("product", product, "");
    let (time, (recrypted, times)) = least(args.repeat, 0.0, || evaluator.recrypt_timed(one))?;
    row(method.name(), time, &tables(setup, method.memory(client.params())));
    for (part, time) in [("expansions", times.expand), ("blocks", times.blocks), ("sum of the blocks", times.sum)] {
        println!("  {part:<44} {:>12.3} ms, in the last run", milliseconds(time));
    }
    show(client, "recrypted", &recrypted)?;
    let decryptor = client.decryptor()?;
    let zero = evaluator.recrypt(zero)?;
    let (mut chain, mut bit) = (recrypted.clone(), true);
    for i in 0..args.chain {
        // recrypt(chain * r2 + r3)
        let (factor, addend) = (i % 5 != 4, i % 2 == 1);
        let of = |bit| if bit { &recrypted } else { &zero };
        let product = evaluator.add(&evaluator.multiply(&chain, of(factor))?, of(addend))?;
        bit = (bit & factor) ^ addend;
        if i < 3 {
            show(client, "product of two recrypted, and a sum", &product)?;
        }
        chain = evaluator.recrypt(&product)?;
        if decryptor.decrypt(&chain)? != bit {
            return Err(format!("step {i} of the chain decrypts to the wrong bit").into());
        }
    }
    println!("  a chain of {} products and recrypts is right", args.chain);
    Ok(())
}
