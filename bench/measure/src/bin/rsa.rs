//! Times RSA private operations (signatures with PKCS #1 v1.5 and SHA-256) by both multiplications, on one thread and on two.
//!
//! ```sh
//! cargo measure rsa -- 2048 4096 8192 12288
//! ```
//!
//! Each figure is the least of at least five repetitions in at least two seconds.

use std::process::ExitCode;
use std::time::Instant;

use bench_common::command;
use bench_measure::{Result, try_least};
use clap::Parser;
use solinas_rsa::{Execution, Hash, KeygenOptions, Method, PrivateKey, SignaturePadding};
use solinas_schemes::Control;
use solinas_schemes::Entropy;

/// Times RSA private operations.
#[derive(Parser)]
struct Args {
    /// Bits of the moduli
    #[arg(default_values_t = [2048, 4096, 8192, 12_288])]
    bits: Vec<usize>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    println!(" bits   key made  threads    word ms     fft ms");
    for &bits in &args.bits {
        let start = Instant::now();
        let options = KeygenOptions { bits, entropy: Entropy::Insecure(1), ..Default::default() };
        let mut key = PrivateKey::generate(&options, &Control::default())?;
        let made = start.elapsed().as_secs_f64();
        for parallel in [false, true] {
            let mut time = |method| -> Result<f64> {
                key.set_execution(Execution { method: Some(method), parallel })?;
                let padding = SignaturePadding::Pkcs1 { hash: Hash::Sha256 };
                let (least, _) = try_least(5, 2.0, || key.sign(padding, b"message"))?;
                Ok(least.milliseconds())
            };
            let (word, fft) = (time(Method::Word)?, time(Method::Fft)?);
            println!("{bits:>5} {made:>8.2} s {:>8} {word:>10.2} {fft:>10.2}", 1 + usize::from(parallel));
        }
    }
    Ok(())
}
