//! Keyswitches beside sums of products, row by row.
#![allow(clippy::unwrap_used, reason = "tests")]

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_field::Backend;
use solinas_field::torus::{Decomposition, KeyswitchKey};

/// Balanced digits of a word, most significant first, and the part that they drop.
fn digits(word: u32, base_log: u32, levels: u32) -> (Vec<i32>, i32) {
    let dropped = 32 - base_log * levels;
    let half = if dropped == 0 { 0 } else { 1u64 << (dropped - 1) };
    let mut rest = ((u64::from(word) + half) >> dropped) as i64;
    let base = 1i64 << base_log;
    let mut digits = Vec::new();
    for _ in 0..levels {
        let digit = (rest + base / 2).rem_euclid(base) - base / 2;
        rest = (rest - digit) / base;
        digits.push(digit as i32);
    }
    digits.reverse();
    let kept = digits.iter().fold(0u32, |kept, &digit| (kept << base_log).wrapping_add(digit as u32));
    let kept = u64::from(kept) << dropped;
    (digits, word.wrapping_sub(kept as u32) as i32)
}

/// The keyswitch of one ciphertext by its definition. `rows` are those of the key.
fn expected(input: &[u32], rows: &[Vec<u32>], base_log: u32, levels: u32) -> Vec<u32> {
    let (body, mask) = input.split_last().unwrap();
    let mut output = vec![0u32; rows[0].len()];
    let mut error = 0i64;
    for (coefficient, &word) in mask.iter().enumerate() {
        let (digits, rest) = digits(word, base_log, levels);
        error += i64::from(rest);
        for (level, digit) in digits.iter().enumerate() {
            for (sum, word) in output.iter_mut().zip(&rows[coefficient * levels as usize + level]) {
                *sum = sum.wrapping_sub(word.wrapping_mul(*digit as u32));
            }
        }
    }
    let last = output.last_mut().unwrap();
    *last = last.wrapping_add(body.wrapping_sub((error / 2) as u32));
    output
}

#[test]
fn keyswitches_are_right_and_may_be_split_by_columns() {
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    let corners = [0, 1, u32::MAX, 1 << 31, (1 << 31) - 1, 0x7878_7878, 0x8888_8888];
    for (from, to, base_log, levels) in [(5, 1, 3, 4), (7, 63, 4, 4), (64, 64, 8, 4), (33, 130, 5, 3), (40, 200, 16, 2)]
    {
        let cut = Decomposition::new(base_log, levels).unwrap();
        let row = |_| (0..=to).map(|_| rng.random()).collect::<Vec<u32>>();
        let rows: Vec<_> = (0..from * levels as usize).map(row).collect();
        for backend in solinas_testing::back_ends(Backend::available()) {
            let mut key = KeyswitchKey::new(from, to, cut, backend);
            for (i, row) in rows.iter().enumerate() {
                key.place(i / levels as usize, i % levels as usize, row);
            }
            for batch in [1, 2, 4, 6] {
                let word = |i: usize| if i < corners.len() { corners[i] } else { rng.random() };
                let inputs: Vec<u32> = (0..batch * (from + 1)).map(word).collect();
                let wanted: Vec<_> =
                    inputs.chunks_exact(from + 1).map(|input| expected(input, &rows, base_log, levels)).collect();
                let mut whole = vec![0; batch * (to + 1)];
                key.keyswitch(&inputs, &mut whole);
                assert_eq!(whole, wanted.concat(), "{from} to {to}, batch {batch}, {backend:?}");
                for start in (0..=to).step_by(KeyswitchKey::COLUMNS) {
                    let columns = start..(to + 1).min(start + KeyswitchKey::COLUMNS);
                    let mut part = vec![0; batch * columns.len()];
                    key.keyswitch_columns(&inputs, columns.clone(), &mut part);
                    let wanted: Vec<u32> = wanted.iter().flat_map(|words| words[columns.clone()].to_vec()).collect();
                    assert_eq!(part, wanted, "columns {columns:?}");
                }
            }
        }
    }
}
