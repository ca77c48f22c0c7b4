//! Tests that every kernel runs on a small stack, also in a build without optimization, as `cargo xtask stack` runs it.
#![allow(clippy::unwrap_used, reason = "tests")]

use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::complex::{self, Wrap};
use solinas_field::fft::NegacyclicPlan;
use solinas_field::limbs::{Montgomery, Multiplier};
use solinas_field::matrix::{Reduction, Selected, Sums, Tile, Word, multiply_add, select_add};
use solinas_field::prime::{Kernel, NttPlan, primes};
use solinas_field::solinas::{Convolution, Plan};
use solinas_field::torus::{BlindRotation, Decomposition, KeyswitchKey};
use std::thread;

/// An eighth of Rust's default stack of a thread.
const STACK: usize = 256 << 10;

/// Calls `work` for every back end, on a thread of a small stack. An overflow ends the process.
fn on_small_stacks(work: impl Fn(Backend) + Sync) {
    for backend in solinas_testing::back_ends(Backend::available()) {
        thread::scope(|scope| {
            let small = thread::Builder::new().stack_size(STACK);
            small.spawn_scoped(scope, || work(backend)).unwrap().join().unwrap();
        });
    }
}

#[test]
fn blind_rotations_keyswitches_and_their_transform() {
    on_small_stacks(|backend| {
        for (k, levels, block_bits) in [(1, 1, 1), (2, 1, 3), (3, 1, 1), (4, 1, 4), (1, 16, 1), (1, 16, 4)] {
            let plan = BlindRotation::new(256, k, Decomposition::new(2, levels).unwrap(), block_bits, backend).unwrap();
            let key = AlignedVec::<f64>::zeroed(2 * plan.block_len());
            let mut accumulators = AlignedVec::<u32>::zeroed(3 * plan.accumulator_len());
            let exponents = [1, 300, 511, 0, 7, 256].repeat(block_bits);
            plan.blind_rotate(&key, &exponents, &mut accumulators, &mut plan.scratch());
        }
        let mut switched = [0; 5 * 33];
        KeyswitchKey::new(64, 32, Decomposition::new(4, 3).unwrap(), backend).keyswitch(&[1; 5 * 65], &mut switched);
        for n in [256, 2048] {
            let plan = NegacyclicPlan::new(n, backend).unwrap();
            let (mut spectrum, mut back) = (vec![0.0; n], vec![0.0; n]);
            plan.forward(&vec![1.0; n], &mut spectrum);
            plan.inverse(&mut spectrum, &mut back, 1.0);
        }
    });
}

#[test]
fn transforms_of_long_integers() {
    on_small_stacks(|backend| {
        for digits in [1, 3, 5, 7].map(|odd| odd << 13) {
            for wrap in [Wrap::Plus, Wrap::Minus] {
                let plan = complex::Plan::new(digits, wrap, backend, 1).unwrap();
                let words = plan.words(16);
                let x = vec![u64::MAX; words / 2];
                let (mut out, mut scratch) = (vec![0; words + 1], vec![0.0; 2 * plan.spectrum_len()]);
                let len = words + usize::from(wrap == Wrap::Plus);
                plan.convolve(16, &x, Some(&x), &mut out[..len], &mut scratch);
                plan.convolve(16, &x, None, &mut out[..len], &mut scratch[..plan.spectrum_len()]);
            }
        }
        for len in (2..13).flat_map(|log| [1, 3, 5, 17].map(|odd| odd << log)) {
            for convolution in [Convolution::Cyclic, Convolution::Negacyclic] {
                let plan = Plan::new(len, convolution, backend, 1).unwrap();
                let mut data = vec![5; len];
                plan.forward(&mut data).unwrap();
                plan.inverse(&mut data).unwrap();
                plan.forward_prefix(&mut data, len / 2).unwrap();
                plan.square(&mut data).unwrap();
            }
        }
    });
}

#[test]
fn transforms_modulo_word_primes() {
    on_small_stacks(|backend| {
        for n in (4..13).map(|log| 1 << log) {
            for q in [30, 50, 61].into_iter().flat_map(|bits| primes(bits, 1, 2 * n as u64).unwrap()) {
                for kernel in [Kernel::Scalar, Kernel::Double, Kernel::Word, Kernel::Ifma] {
                    let Ok(plan) = NttPlan::with_kernel(q, n, backend, kernel) else { continue };
                    let (mut x, y) = (vec![3; n], vec![4; n]);
                    plan.forward(&mut x);
                    plan.pointwise().multiply_add(&mut x, &y, &y);
                    plan.inverse(&mut x);
                }
            }
        }
    });
}

#[test]
fn products_of_words_and_of_matrices() {
    on_small_stacks(|backend| {
        for multiplier in Multiplier::available(backend) {
            for words in [1, 16, 32, 64, 100] {
                let x = vec![u64::MAX; words];
                let mut product = vec![0; 2 * words];
                multiplier.mul(&mut product, &x, &x);
                multiplier.square(&mut product, &x);
                let plan = Montgomery::new(&x, multiplier);
                let mut scratch = vec![0; plan.scratch_len()];
                let (mut a, mut b) = (vec![0; plan.residue_len()], vec![0; plan.residue_len()]);
                plan.enter(&mut a, &vec![3; words], &mut scratch);
                plan.mul(&mut b, &a, &a, &mut scratch);
                plan.square(&mut a, &b, &mut scratch);
            }
        }
        let (words, word) = (vec![7; 64 * 64], Word::new(2_147_483_647).unwrap());
        let tile = Tile::new(&words, 64);
        for reduction in [Reduction::Lazy, Reduction::Barrett] {
            multiply_add(backend, reduction, word, tile, &[5; 64], &mut Sums::zeroed(64));
        }
        select_add(backend, tile, &[u32::MAX; 64], &mut Selected::zeroed(64));
    });
}
