//! The blocks of the RSA exponentiator against the laws that they keep.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod tools;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_rtl::{Design, Instance, Model};

const P: u64 = 0xffff_ffff_0000_0001;
const CORNERS: [u64; 8] = [0, 1, P - 1, P / 2, P / 2 + 1, 1 << 63, 0xffff_ffff, 1 << 32];

fn mul(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(P)) as u64
}

fn pow2(mut exponent: usize) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        power = mul(power, 2);
        exponent -= 1;
    }
    power
}

fn design(top: &str, parameters: &[(&str, u64)]) -> Option<Instance> {
    let mut design = Design::new(top).files("rsa/files.f").unwrap();
    for (name, value) in parameters {
        design = design.parameter(name, *value);
    }
    Some(tools::or_skip(Model::build(&design, &mut |_| {}))?.instance().unwrap())
}

/// A corner value, or a random one.
fn residue(rng: &mut ChaCha8Rng, case: usize) -> u64 {
    if case < 2 * CORNERS.len() && case.is_multiple_of(2) {
        return CORNERS[case / 2];
    }
    let random = rng.next_u64();
    if case.is_multiple_of(3) { CORNERS[random as usize % CORNERS.len()] } else { random % P }
}

#[test]
fn kernels_transform_groups_of_16_and_32_points() {
    let Some(mut dut) = design("sol_rsa_kernel", &[]) else { return };
    let [valid, step, r32, inv, x, y] =
        ["valid_i", "step_i", "r32_i", "inv_i", "x_i", "y_o"].map(|name| dut.port(name).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // Groups of one length follow each other at once; the lengths are kept apart.
    for (points, latency) in [(32, 12), (16, 10)] {
        let steps = points / 8;
        let groups: Vec<(bool, Vec<u64>)> = (0..40)
            .map(|case| {
                let values = (0..points).map(|_| if case == 20 { u64::MAX } else { residue(&mut rng, case) });
                (case % 4 > 1, values.collect())
            })
            .collect();
        let mut out = Vec::new();
        for cycle in 0..groups.len() * steps + latency {
            let (group, t) = (cycle / steps, cycle % steps);
            dut.set_u64(valid, u64::from(group < groups.len()));
            if let Some((inverse, values)) = groups.get(group) {
                dut.set_u64(step, t as u64);
                dut.set_u64(r32, u64::from(points == 32));
                dut.set_u64(inv, u64::from(*inverse));
                let lanes: Vec<u64> = (0..8).map(|l| values[steps * l + t]).collect();
                dut.set(x, &lanes);
            }
            dut.tick();
            if cycle + 1 >= latency {
                let mut lanes = [0; 8];
                dut.get(y, &mut lanes);
                out.push(lanes);
            }
        }
        let root = 192 / points;
        for (group, (inverse, values)) in groups.iter().enumerate() {
            for k in 0..points {
                let sign = if *inverse { points - k } else { k };
                let want = values.iter().enumerate().fold(0, |sum, (n, value)| {
                    let term = mul(*value % P, pow2(root * n * sign % 192));
                    ((u128::from(sum) + u128::from(term)) % u128::from(P)) as u64
                });
                assert_eq!(out[steps * group + k / 8][k % 8] % P, want, "{points} points, group {group}, output {k}");
            }
        }
    }
}

#[test]
fn inverse_kernels_return_the_points_of_groups_of_16() {
    let Some(mut dut) = design("sol_rsa_inverse", &[]) else { return };
    let [step, x, y] = ["step_i", "x_i", "y_o"].map(|name| dut.port(name).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let groups: Vec<Vec<u64>> = (0..40)
        .map(|case| (0..16).map(|_| if case == 20 { u64::MAX } else { residue(&mut rng, case) }).collect())
        .collect();
    let latency = 10;
    let mut out = Vec::new();
    for cycle in 0..2 * groups.len() + latency {
        let t = cycle % 2;
        dut.set_u64(step, t as u64);
        if let Some(values) = groups.get(cycle / 2) {
            dut.set(x, &values[8 * t..][..8]);
        }
        dut.tick();
        if cycle + 1 >= latency {
            let mut lanes = [0; 8];
            dut.get(y, &mut lanes);
            out.push(lanes);
        }
    }
    for (group, values) in groups.iter().enumerate() {
        for j in 0..16 {
            // The scale is 2^-9.
            let want = values.iter().enumerate().fold(0, |sum, (k, value)| {
                let term = mul(*value % P, pow2((12 * (16 - j) * k + 183) % 192));
                ((u128::from(sum) + u128::from(term)) % u128::from(P)) as u64
            });
            assert_eq!(out[2 * group + j % 2][j / 2] % P, want, "group {group}, output {j}");
        }
    }
}

/// Digits of W bits in [0, 2^W) of sum `c[n]` 2^(W n) modulo 2^n - `sign`.
fn canonical(c: &[i128], w: usize, sign: i128) -> Vec<i128> {
    let mut digits = c.to_vec();
    let mut carry = 0;
    loop {
        let mut changed = false;
        for digit in &mut digits {
            let sum = *digit + carry;
            carry = sum >> w;
            changed |= *digit != sum & ((1 << w) - 1);
            *digit = sum & ((1 << w) - 1);
        }
        carry *= sign;
        if !changed && carry == 0 {
            break;
        }
    }
    // Modulo 2^n - 1 the number of ones only is 0.
    if sign == 1 && digits.iter().all(|digit| *digit == (1 << w) - 1) {
        digits.fill(0);
    }
    digits
}

#[test]
fn local_carries_keep_the_number_and_halve_it() {
    let columns = 16;
    for (w, steps, bound) in
        [(17, 4, 1 << 42), (25, 4, u64::MAX >> 1), (17, 2, 1 << 47), (25, 2, 1 << 58), (17, 4, 1 << 47)]
    {
        let Some(mut dut) = design("sol_rsa_carry", &[("W", w as u64)]) else { return };
        let [half, valid, column, step, minus, halve, c, d] =
            ["half_i", "valid_i", "column_i", "step_i", "minus_i", "halve_i", "c_i", "d_o"]
                .map(|name| dut.port(name).unwrap());
        dut.set_u64(half, u64::from(steps == 2));
        let mut rng = ChaCha8Rng::seed_from_u64(w as u64);
        let (latency, digits) = (4 + steps, 8 * steps * columns);
        for case in 0..24 {
            let (sign, halved) = (if case % 2 == 0 { 1 } else { -1 }, case % 4 == 3);
            let coefficients: Vec<i128> = (0..digits)
                .map(|_| {
                    let value = (residue(&mut rng, case).min(P - 1) as i128) % (bound as i128);
                    if case % 3 == 1 || (case % 3 == 2 && value & 2 == 0) { -value } else { value }
                })
                .collect();
            let coefficients: Vec<i128> =
                coefficients.iter().map(|value| (*value).clamp(-i128::from(P / 2), i128::from(P / 2))).collect();
            dut.set_u64(minus, u64::from(sign == -1));
            dut.set_u64(halve, u64::from(halved));
            let mut out = vec![0i128; digits];
            let order: Vec<usize> = (columns - 4..columns).chain(0..columns).collect();
            for cycle in 0..order.len() * steps + latency {
                let (place, s) = (cycle / steps, cycle % steps);
                dut.set_u64(step, s as u64);
                dut.set_u64(column, order.get(place).copied().unwrap_or(0) as u64);
                dut.set_u64(valid, u64::from(place < order.len()));
                let lanes: Vec<u64> = (0..8)
                    .map(|l| match order.get(place) {
                        Some(j) => coefficients[columns * (l + 8 * s) + j].rem_euclid(i128::from(P)) as u64,
                        // Nothing that follows a pass belongs to it.
                        None => rng.next_u64() % P,
                    })
                    .collect();
                dut.set(c, &lanes);
                dut.tick();
                let Some(left) = (cycle + 1).checked_sub(latency) else { continue };
                let (place, s) = (left / steps, left % steps);
                if place < 4 || place >= order.len() {
                    continue;
                }
                let mut words = [0; 4];
                dut.get(d, &mut words);
                for l in 0..8 {
                    let at = l * (w + 2);
                    let pair = u128::from(words[at / 64]) | u128::from(*words.get(at / 64 + 1).unwrap_or(&0)) << 64;
                    let bits = (pair >> (at % 64)) as i128 & ((1 << (w + 2)) - 1);
                    let value = if bits >> (w + 1) == 1 { bits - (1 << (w + 2)) } else { bits };
                    out[columns * (l + 8 * s) + order[place]] = value;
                }
            }
            let doubled: Vec<i128> = out.iter().map(|digit| digit << usize::from(halved)).collect();
            let want = canonical(&coefficients, w, sign);
            assert!(canonical(&doubled, w, sign) == want, "{w} bits, case {case}");
        }
    }
}

#[test]
fn windows_return_the_entry_of_the_index() {
    let Some(mut dut) = design("sol_rsa_window", &[("LOG_DEPTH", 3), ("W", 64)]) else { return };
    let [re, ra, index, rd, we, entry, wa, wd] =
        ["re_i", "ra_i", "index_i", "rd_o", "we_i", "entry_i", "wa_i", "wd_i"].map(|name| dut.port(name).unwrap());
    let word = |e: u64, a: u64| (e * 8 + a + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    dut.set_u64(we, 1);
    for (e, a) in (0..16).flat_map(|e| (0..8).map(move |a| (e, a))) {
        dut.set_u64(entry, e);
        dut.set_u64(wa, a);
        dut.set_u64(wd, word(e, a));
        dut.tick();
    }
    dut.set_u64(we, 0);
    dut.set_u64(re, 1);
    for (e, a) in (0..16).flat_map(|e| (0..8).map(move |a| (e, a))) {
        dut.set_u64(index, e);
        dut.set_u64(ra, a);
        dut.tick();
        dut.tick();
        assert_eq!(dut.get_u64(rd), word(e, a));
    }
}

#[test]
fn exponents_leave_from_their_top_window_down() {
    let Some(mut dut) = design("sol_rsa_exponent", &[("LOG_WORDS", 3)]) else { return };
    let [clear, load, word, loaded, start, next, window, empty] =
        ["clear_i", "load_i", "word_i", "loaded_o", "start_i", "next_i", "window_o", "empty_o"]
            .map(|name| dut.port(name).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let pulse = |dut: &mut Instance, port, cycles| {
        dut.set_u64(port, 1);
        dut.tick();
        dut.set_u64(port, 0);
        (0..cycles).for_each(|_| dut.tick());
    };
    dut.reset();
    for case in 0..8 {
        let words: Vec<u64> = (0..=case).map(|_| residue(&mut rng, case)).collect();
        // A clear or a reset in the middle of a load leaves nothing behind.
        for interrupted in [2, 1, 0] {
            for value in &words[..if interrupted > 0 { words.len() / 2 } else { words.len() }] {
                dut.set_u64(word, *value);
                pulse(&mut dut, load, 0);
            }
            assert_eq!(dut.get_u64(loaded), u64::from(interrupted == 0 || words.len() > 1));
            match interrupted {
                2 => dut.reset(),
                1 => pulse(&mut dut, clear, 0),
                _ => {}
            }
        }
        // An exponent can be used again.
        for _ in 0..2 {
            pulse(&mut dut, start, 2);
            for at in (0..16 * words.len()).rev() {
                assert_eq!(dut.get_u64(empty), 0, "case {case}, window {at}");
                assert_eq!(dut.get_u64(window), words[at / 16] >> (4 * (at % 16)) & 15, "case {case}, window {at}");
                pulse(&mut dut, next, 2);
            }
            assert_eq!(dut.get_u64(empty), 1);
        }
        pulse(&mut dut, clear, 0);
    }
}
