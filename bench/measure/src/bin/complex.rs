//! Times the phases of products by complex transforms: `cargo measure complex -- 785006 12625500`.

use std::process::ExitCode;

use bench_common::command;
use bench_measure::{Result, least};
use clap::Parser;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::complex::{MAX_DIGITS, Plan, Wrap, max_digit_bits};

/// Microseconds of one call.
fn best(call: impl FnMut()) -> f64 {
    least(5, 0.15, call).wall
}

/// Returns the shortest transform whose digits are small enough for an exact product of two numbers of `size` bits.
fn shape(size: usize) -> (usize, u32) {
    let mut digits = 0;
    loop {
        digits = Plan::next_digits(digits + 1);
        let bits = (2 * size).div_ceil(digits) as u32;
        let used = size / bits.max(1) as usize + 1;
        if bits <= max_digit_bits(digits, Wrap::Plus, used, used, 1) || digits == MAX_DIGITS {
            return (digits, bits);
        }
    }
}

/// Times the phases of products by complex transforms.
#[derive(Parser)]
struct Args {
    /// Bits of the operands
    #[arg(default_values_t = [4096, 16_384, 65_536, 262_144, 785_006, 4_194_304, 12_625_500])]
    bits: Vec<usize>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    for backend in Backend::available().into_iter().rev() {
        for &size in &args.bits {
            for threads in [1, 2] {
                let (digits, bits) = shape(size);
                let plan = Plan::new(digits, Wrap::Plus, backend, threads)?;
                let x: Vec<u64> = (1..=size as u64 / 64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
                let mut out = vec![0; plan.words(bits) + 1];
                let (mut a, mut b) = (plan.spectrum(), plan.spectrum());
                let mut scratch = AlignedVec::zeroed(2 * plan.spectrum_len());
                let points = plan.digits() as f64 / 2.0;
                let butterflies = points / 2.0 * points.log2();
                let forward = best(|| plan.forward(bits, &x, &mut a));
                b.copy_from_slice(&a);
                let pointwise = best(|| plan.multiply(&mut a, &b));
                let inverse = best(|| plan.inverse(bits, &mut a, &mut out));
                let product = best(|| plan.convolve(bits, &x, Some(&x), &mut out, &mut scratch));
                let square = best(|| plan.convolve(bits, &x, None, &mut out, &mut scratch[..plan.spectrum_len()]));
                println!(
                    "complex/{backend}/bits={size} digits={}x{bits} threads={threads}: forward {forward:.1} us ({:.3} ns/butterfly), \
                     pointwise {pointwise:.1}, inverse {inverse:.1}, product {product:.1}, square {square:.1}",
                    plan.digits(),
                    forward * 1e3 / butterflies,
                );
            }
        }
    }
    Ok(())
}
