//! Times powers with exponents as long as the modulus, beside GMP and OpenSSL, in one process: `cargo measure powers [BITS ..]`.
//!
//! Each figure is the least CPU time of several runs, in milliseconds.

use std::process::ExitCode;

use bench_common::crypto::Crypto;
use bench_common::numbers::{modulus, number, trimmed};
use bench_common::sample::Work;
use bench_common::{Gmp, command};
use bench_measure::{Result, least};
use clap::Parser;
use solinas_bigint::{Montgomery, Natural};
use solinas_field::Backend;
use solinas_field::limbs::Multiplier;

/// Milliseconds of one call.
fn time(call: impl FnMut()) -> f64 {
    least(4, 0.6, call).cpu / 1e3
}

/// Times powers beside GMP and OpenSSL.
#[derive(Parser)]
struct Args {
    /// Bits of the moduli
    #[arg(default_values_t = [1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288])]
    bits: Vec<usize>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    let gmp = Gmp::find().ok_or("GMP is not found: install libgmp (Debian: libgmp10)")?;
    let openssl = Crypto::find().ok_or("OpenSSL is not found: install libcrypto (Debian: libssl3)")?;
    let mut all: Vec<_> = Backend::available().into_iter().flat_map(Multiplier::available).collect();
    all.sort_by_key(|m| ["portable", "adx", "fma", "fma512", "ifma"].iter().position(|&name| name == m.name()));
    all.dedup();

    print!("{:>6} {:>9} {:>9} {:>9}", "bits", "gmp", "gmp sec", "openssl");
    all.iter().for_each(|m| print!(" {:>9}", m.name()));
    println!("   milliseconds; then OpenSSL's time over ours");
    for &bits in &args.bits {
        let (base, exponent, modulus) = (number(bits - 1, 1), number(bits, 2), modulus(bits, 3));
        let mut expected = vec![0; modulus.len()];
        let gmp_time = time(|| gmp.powm(&mut expected, &base, &exponent, &modulus));
        let sec_time = time(|| gmp.powm_sec(&mut expected, &base, &exponent, &modulus));
        let mut power = openssl.power(&base, &exponent, &modulus);
        let openssl_time = time(|| power.run());
        let same = power.result().is_some_and(|power| trimmed(&power) == trimmed(&expected));
        assert!(same, "GMP's power and OpenSSL's, {bits} bits");
        let [base, exponent, modulus] = [&base, &exponent, &modulus].map(|x| Natural::from_words(&x[..]));
        print!("{bits:>6} {gmp_time:>9.3} {sec_time:>9.3} {openssl_time:>9.3}");
        let mut ratios = String::new();
        for &multiplier in &all {
            let plan = Montgomery::with_multiplier(&modulus, multiplier)?;
            let mut power = Natural::ZERO;
            let ours = time(|| power = plan.pow(&base, &exponent));
            assert!(power.words() == trimmed(&expected), "GMP's power and ours, {bits} bits on {}", multiplier.name());
            print!(" {ours:>9.3}");
            ratios += &format!(" {:>5.2}", openssl_time / ours);
        }
        println!("  {ratios}");
    }
    Ok(())
}
