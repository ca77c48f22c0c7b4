//! Blind rotations beside rotations in the clear.
#![allow(clippy::unwrap_used, reason = "tests")]

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::torus::{BlindRotation, Decomposition, Team};
use std::time::Duration;

/// A key without noise and masks, and its bits.
struct Key {
    floats: AlignedVec<f64>,
    bits: Vec<bool>,
}

/// Bits of which at most one of each block is 1, or any bits if blocks have one bit.
fn random_bits(rng: &mut ChaCha8Rng, blocks: usize, block_bits: usize) -> Vec<bool> {
    let block = |_| {
        let hot = rng.random_range(0..=block_bits);
        (0..block_bits).map(move |bit| bit == hot).collect::<Vec<_>>()
    };
    (0..blocks).flat_map(block).collect()
}

fn key(plan: &BlindRotation, cut: Decomposition, bits: Vec<bool>) -> Key {
    let n = plan.fft().dimension();
    let levels = cut.levels() as usize;
    let mut floats = AlignedVec::zeroed(bits.len() / plan.block_bits() * plan.block_len());
    for (block, bits) in floats.chunks_exact_mut(plan.block_len()).zip(bits.chunks_exact(plan.block_bits())) {
        for (bit, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            for row in 0..plan.rows() {
                let mut polynomial = vec![0.0; n];
                polynomial[0] =
                    2f64.powi(-((cut.base_log() * (row % levels) as u32 + cut.base_log()) as i32)) * 2.0 / n as f64;
                let mut transformed = vec![0.0; n];
                plan.fft().forward(&polynomial, &mut transformed);
                plan.place(block, bit, row, row / levels, &transformed);
            }
        }
    }
    Key { floats, bits }
}

/// Polynomials of `n` words, each times `X^exponent`.
fn rotated(words: &[u32], n: usize, exponent: usize) -> Vec<u32> {
    let coefficient = |polynomial: &[u32], j: usize| {
        let from = (j + 2 * n - exponent) % (2 * n);
        if from < n { polynomial[from] } else { polynomial[from - n].wrapping_neg() }
    };
    words
        .chunks_exact(n)
        .flat_map(|polynomial| (0..n).map(|j| coefficient(polynomial, j)).collect::<Vec<_>>())
        .collect()
}

#[test]
fn keys_without_noise_rotate_exactly_on_every_back_end() {
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    for (n, k, base_log, levels, block_bits) in [
        (256, 1, 8, 2, 1),
        (256, 4, 8, 2, 2),
        (512, 3, 17, 1, 3),
        (512, 2, 5, 3, 4),
        (1024, 1, 23, 1, 4),
        (2048, 1, 23, 1, 1),
        (2048, 1, 23, 1, 3),
        (4096, 1, 10, 2, 2),
    ] {
        let (blocks, cut) = (5, Decomposition::new(base_log, levels).unwrap());
        let bits = random_bits(&mut rng, blocks, block_bits);
        for batch in [1, 2, 5, 8, 9, 16, 19] {
            let kept = 32 - base_log * levels;
            // Words that the digits hold exactly. The corner values come first.
            let corners = [0, u32::MAX << kept, 1 << 31, u32::MAX >> 1 << 31 >> kept << kept];
            let words: Vec<u32> = (0..batch * (k + 1) * n)
                .map(|i| corners.get(i % 7).copied().unwrap_or_else(|| rng.random::<u32>() << kept))
                .collect();
            let exponents: Vec<u16> = (0..batch * bits.len())
                .map(|i| [0, 2 * n - 1, n].get(i % 11).copied().unwrap_or_else(|| rng.random_range(0..2 * n)) as u16)
                .collect();
            for backend in solinas_testing::back_ends(Backend::available()) {
                let plan = BlindRotation::new(n, k, cut, block_bits, backend).unwrap();
                let key = key(&plan, cut, bits.clone());
                let mut accumulators = words.clone();
                plan.blind_rotate(&key.floats, &exponents, &mut accumulators, &mut plan.scratch());
                let items = words.chunks_exact((k + 1) * n).zip(exponents.chunks_exact(bits.len()));
                for (item, (words, exponents)) in items.enumerate() {
                    let total: usize =
                        exponents.iter().zip(&key.bits).filter(|(_, bit)| **bit).map(|(&e, _)| usize::from(e)).sum();
                    let got = &accumulators[item * words.len()..][..words.len()];
                    assert!(
                        got == rotated(words, n, total % (2 * n)),
                        "N={n} k={k} {cut:?} {block_bits} bits, {backend:?}, item {item} of {batch}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_back_end_and_batch_gives_the_same_bytes() {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    for (n, k, base_log, levels, block_bits) in
        [(256, 2, 9, 2, 2), (512, 3, 17, 1, 3), (2048, 1, 23, 1, 3), (512, 3, 18, 1, 1), (2048, 1, 23, 1, 4)]
    {
        let (blocks, batch) = (6, 19);
        let cut = Decomposition::new(base_log, levels).unwrap();
        let scalar = BlindRotation::new(n, k, cut, block_bits, Backend::Scalar).unwrap();
        let floats: Vec<f64> =
            (0..blocks * scalar.block_len()).map(|_| f64::from(rng.random::<i32>()) * 2f64.powi(-40)).collect();
        let words: Vec<u32> = (0..batch * scalar.accumulator_len()).map(|_| rng.random()).collect();
        let exponents: Vec<u16> = (0..batch * blocks * block_bits).map(|_| rng.random_range(0..2 * n) as u16).collect();
        let mut want = words.clone();
        scalar.blind_rotate(&floats, &exponents, &mut want, &mut scalar.scratch());
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = BlindRotation::new(n, k, cut, block_bits, backend).unwrap();
            for size in [1, 3, 8, 16, batch] {
                let mut got = words.clone();
                let mut scratch = plan.scratch();
                for (accumulators, exponents) in
                    got.chunks_mut(size * plan.accumulator_len()).zip(exponents.chunks(size * blocks * block_bits))
                {
                    plan.blind_rotate(&floats, exponents, accumulators, &mut scratch);
                }
                assert!(got == want, "N={n} k={k} {block_bits} bits, {backend:?}, batches of {size}");
            }
        }
    }
}

/// A pool of this number of threads.
fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn teams_give_the_bytes_of_one_thread() {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let pools: Vec<_> = (1..=4).map(pool).collect();
    for (n, k, base_log, levels, block_bits) in [
        (256, 2, 9, 2, 2),
        (256, 4, 5, 4, 3),
        (512, 3, 17, 1, 3),
        (2048, 1, 23, 1, 3),
        (1024, 1, 8, 3, 4),
        (512, 3, 18, 1, 1),
    ] {
        let cut = Decomposition::new(base_log, levels).unwrap();
        for backend in solinas_testing::back_ends(Backend::available()) {
            let plan = BlindRotation::new(n, k, cut, block_bits, backend).unwrap();
            let blocks = 20;
            let floats: Vec<f64> =
                (0..blocks * plan.block_len()).map(|_| f64::from(rng.random::<i32>()) * 2f64.powi(-40)).collect();
            for batch in [1, 2, 3, 7] {
                let words: Vec<u32> = (0..batch * plan.accumulator_len()).map(|_| rng.random()).collect();
                let exponents: Vec<u16> =
                    (0..batch * blocks * block_bits).map(|_| rng.random_range(0..2 * n) as u16).collect();
                let mut want = words.clone();
                plan.blind_rotate(&floats, &exponents, &mut want, &mut plan.scratch());
                // Members and threads: as many as there is room for, fewer, and more.
                for (members, threads) in [(1, 1), (2, 2), (3, 3), (4, 4), (9, 3), (2, 4), (3, 1)] {
                    let (mut got, mut scratch) = (words.clone(), plan.scratch());
                    pools[threads - 1].install(|| {
                        let mut team = Team::default();
                        let together = (&mut team, members);
                        plan.blind_rotate_together(&floats, &exponents, &mut got, &mut scratch, together);
                    });
                    assert!(
                        got == want,
                        "N={n} k={k} {cut:?} {block_bits} bits, {backend:?}, {batch} items, {members} members, {threads} threads"
                    );
                }
            }
        }
    }
}

#[test]
fn a_team_asks_for_its_helpers_once() {
    let cut = Decomposition::new(23, 1).unwrap();
    let plan = BlindRotation::new(2048, 1, cut, 3, Backend::detect().unwrap()).unwrap();
    let (floats, exponents) = (vec![0.5; 2 * plan.block_len()], [7u16; 6]);
    let start = vec![1 << 20; plan.accumulator_len()];
    let mut want = start.clone();
    plan.blind_rotate(&floats, &exponents, &mut want, &mut plan.scratch());
    for threads in [1, 2, 3] {
        pool(threads).install(|| {
            // Helpers that never leave by themselves, so that the test does not depend on the speed of the machine.
            let mut team = Team::with_idle(Duration::from_secs(3600));
            let runs = 200;
            for _ in 0..runs {
                let (mut got, mut scratch) = (start.clone(), plan.scratch());
                plan.blind_rotate_together(&floats, &exponents, &mut got, &mut scratch, (&mut team, threads));
                assert_eq!(got, want);
            }
            let counters = team.counters();
            let members = threads as u64;
            assert_eq!(counters.recruited, members - 1, "{threads} threads: {counters:?}");
            if threads > 1 {
                // On a busy machine, the leader keeps a part of the runs for itself.
                let together = runs - counters.alone;
                assert_eq!((counters.runs, counters.wanted), (together, together * members));
                assert!((together..=together * members).contains(&counters.members), "{counters:?}");
            }
        });
    }
}

#[test]
fn a_team_that_is_dismissed_gives_its_threads_back() {
    pool(2).install(|| {
        let mut team = Team::with_idle(Duration::from_secs(3600));
        team.each(2, &|_, _| ());
        team.dismiss();
        // Both threads are needed for this: each waits for the other.
        let barrier = std::sync::Barrier::new(2);
        rayon::join(|| barrier.wait(), || barrier.wait());
        team.each(2, &|_, _| ());
    });
}

#[test]
fn a_panic_of_a_member_reaches_the_leader() {
    pool(2).install(|| {
        let mut team = Team::with_idle(Duration::from_secs(3600));
        let run = |team: &mut Team, fails: fn(usize) -> bool| {
            let work = |member: usize, _: usize| assert!(!fails(member), "as asked");
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| team.each(2, &work)))
        };
        assert!(run(&mut team, |member| member == 0).is_err());
        assert!(run(&mut team, |_| false).is_ok());
        // The helper may come late; then the leader works alone.
        let before = team.counters().members;
        let alone = |team: &Team, before: u64| team.counters().members == before + 1;
        let ended = run(&mut team, |member| member == 1);
        assert_eq!(ended.is_ok(), alone(&team, before));
    });
}
