//! Times of RSA private operations (signatures, PKCS#1 v1.5 and SHA-256), by both multiplications, on one thread and two:
//!
//! ```sh
//! cargo run --release -p solinas-schemes --example rsa -- 2048 4096 8192 12288
//! ```
//!
//! Each figure is the least of the repetitions that fit in two seconds, at least five.

use clap::Parser;
use solinas_schemes::rsa::{Control, Execution, Hash, KeygenOptions, Method, PrivateKey, SignaturePadding};
use std::time::{Duration, Instant};

/// Times RSA private operations.
#[derive(Parser)]
struct Args {
    /// Bits of the moduli
    #[arg(default_values_t = [2048, 4096, 8192, 12_288])]
    bits: Vec<usize>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(" bits   key made  threads    word ms     fft ms");
    for bits in Args::parse().bits {
        let start = Instant::now();
        let options = KeygenOptions { bits, insecure_seed: Some(1), ..Default::default() };
        let mut key = PrivateKey::generate(&options, &Control::default())?;
        let made = start.elapsed().as_secs_f64();
        for parallel in [false, true] {
            let mut time = |method| -> Result<f64, solinas_schemes::rsa::Error> {
                key.set_execution(Execution { method: Some(method), parallel })?;
                let padding = SignaturePadding::Pkcs1 { hash: Hash::Sha256 };
                let (begin, mut best, mut count) = (Instant::now(), Duration::MAX, 0);
                while count < 5 || begin.elapsed() < Duration::from_secs(2) {
                    let start = Instant::now();
                    key.sign(padding, b"message")?;
                    best = best.min(start.elapsed());
                    count += 1;
                }
                Ok(best.as_secs_f64() * 1e3)
            };
            let (word, fft) = (time(Method::Word)?, time(Method::Fft)?);
            println!("{bits:>5} {made:>8.2} s {:>8} {word:>10.2} {fft:>10.2}", 1 + usize::from(parallel));
        }
    }
    Ok(())
}
