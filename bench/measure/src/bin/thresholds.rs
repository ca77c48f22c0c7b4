//! Times the methods of multiplication, division and modular products side by side: `cargo measure thresholds [mul|divide|modular] ..`.
//!
//! The thresholds in `mul`, `division` and `modular` of `solinas-bigint` come from these times. Each figure is the least CPU time of many
//! runs.
#![allow(clippy::unwrap_used, reason = "a measurement that fails may panic")]

use std::hint::black_box;
use std::process::ExitCode;

use bench_common::numbers::words;
use bench_common::{command, machine};
use bench_measure::Result;
use clap::Parser;
use solinas_bigint::fft;
use solinas_bigint::modular::{Barrett, FftMontgomery, Form, McLaughlin};
use solinas_bigint::mul::karatsuba;
use solinas_bigint::{Montgomery, Natural};
use solinas_field::Backend;
use solinas_field::limbs::Multiplier;

/// Microseconds of one call.
fn least(call: impl FnMut()) -> f64 {
    bench_measure::least(3, 0.03, call).cpu
}

fn mul() {
    let multipliers = Multiplier::available(Backend::detect().unwrap());
    let schoolbooks: Vec<String> = multipliers.iter().map(|multiplier| format!("{:>9}", multiplier.name())).collect();
    println!("us  words | product: {}  karatsuba       fft | square: the same", schoolbooks.join(" "));
    for n in [
        8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 256, 288, 320, 384, 448, 512, 640, 768,
        1024, 2048,
    ] {
        let (a, b) = (words(n, 1), words(n, 2));
        let (mut out, mut scratch) = (vec![0; 2 * n], vec![0; karatsuba::scratch_words(n)]);
        print!("{n:>9} |         ");
        for multiplier in &multipliers {
            print!(" {:>9.2}", least(|| multiplier.mul(black_box(&mut out), &a, &b)));
        }
        print!("  {:>9.2}", least(|| karatsuba::mul(black_box(&mut out), &a, &b, &mut scratch)));
        print!(" {:>9.2} |", least(|| fft::mul(black_box(&mut out), &a, &b)));
        for multiplier in &multipliers {
            print!(" {:>9.2}", least(|| multiplier.square(black_box(&mut out), &a)));
        }
        print!("  {:>9.2}", least(|| karatsuba::square(black_box(&mut out), &a, &mut scratch)));
        println!(" {:>9.2}", least(|| fft::square(black_box(&mut out), &a)));
    }
}

fn divide() {
    println!("{:>6} {:>12} {:>12}   us, 2n by n words", "words", "division", "product");
    for n in [50, 100, 200, 300, 400, 500, 600, 800, 1000, 1500, 2000, 4000, 12_266] {
        let [a, d] = [words(2 * n, 1), words(n, 2)].map(Natural::from_words);
        let time = least(|| drop(black_box(a.div_rem(&d))));
        println!("{n:>6} {time:>12.1} {:>12.1}", least(|| drop(black_box(&d * &d))));
    }
    for n in [100, 1000, 4000, 12_266] {
        let [a, m] = [words(n, 1), words(n, 2)].map(Natural::from_words);
        println!(
            "{n:>6} words: inverse {:.0} us, to decimal {:.0} us",
            least(|| drop(black_box(a.vartime_inverse(&m)))),
            least(|| drop(black_box(a.to_decimal())))
        );
    }
}

fn form<F: Form>(form: &F, a: &[u64], b: &[u64]) -> [f64; 3] {
    let mut workspace = form.workspace();
    let mut x = form.enter(a, &mut workspace).unwrap();
    let y = form.enter(b, &mut workspace).unwrap();
    let prepared = form.prepare(&y).unwrap();
    [
        least(|| form.mul(black_box(&mut x), &y, &mut workspace).unwrap()),
        least(|| form.square(black_box(&mut x), &mut workspace).unwrap()),
        least(|| form.mul_prepared(black_box(&mut x), &prepared, &mut workspace).unwrap()),
    ]
}

fn modular() {
    println!("us: product, square, product by a kept transform");
    let options = fft::Options::default();
    for n in [48, 96, 128, 160, 192, 224, 256, 320, 384, 512, 768, 1024, 2048, 12_266, 49_191, 197_274] {
        let m = Natural::from_words([&[words(n, 3)[0] | 1], &words(n, 3)[1..]].concat());
        let [a, b] = [words(n, 1), words(n, 2)].map(|x| {
            let mut x = Natural::from_words(x).rem(&m).unwrap().into_words();
            x.resize(n, 0);
            x
        });
        println!(
            "{n} words, {} bits; product alone {:.1}",
            m.bit_len(),
            least(|| drop(black_box(solinas_bigint::mul::product(&a, &b))))
        );
        for multiplier in Multiplier::available(Backend::detect().unwrap()).into_iter().filter(|_| n <= 768) {
            let montgomery = Montgomery::with_multiplier(&m, multiplier).unwrap();
            let exponent = Natural::power_of_two(100);
            let base = Natural::from_words(&a[..]);
            println!(
                "  Montgomery {:<8} {:>8.2} a square, in powers",
                multiplier.name(),
                least(|| drop(black_box(montgomery.vartime_pow(&base, &exponent)))) / 104.0
            );
        }
        let print = |name: &str, times: [f64; 3]| {
            println!("  {name:<15} {:>12.2} {:>12.2} {:>12.2}", times[0], times[1], times[2])
        };
        if n <= 768 {
            print("Barrett, words", form(&Barrett::with_transforms(&m, &options, false).unwrap(), &a, &b));
        }
        print("Barrett", form(&Barrett::with_transforms(&m, &options, true).unwrap(), &a, &b));
        print("FftMontgomery", form(&FftMontgomery::new(&m, &options).unwrap(), &a, &b));
        let start = machine::cpu_time();
        match McLaughlin::new(&m, &options) {
            Ok(mclaughlin) => {
                let setup = (machine::cpu_time() - start).as_secs_f64();
                print("McLaughlin", form(&mclaughlin, &a, &b));
                println!("  McLaughlin's setup {:.3} ms", 1e3 * setup);
            }
            Err(error) => println!("  McLaughlin: {error}"),
        }
    }
}

/// Times the methods side by side.
#[derive(Parser)]
struct Args {
    /// The operations to measure. Defaults to all of them
    #[arg(value_parser = ["mul", "divide", "modular"], default_values = ["mul", "divide", "modular"])]
    what: Vec<String>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    for what in &args.what {
        match what.as_str() {
            "mul" => mul(),
            "divide" => divide(),
            _ => modular(),
        }
    }
    Ok(())
}
