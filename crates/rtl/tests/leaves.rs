//! The leaves of `rtl/common` against the field of `solinas-field`: corners, random numbers, groups in a row and gaps between.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod tools;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_field::solinas::{P, add, inv, mul, naive, pow, reduce, root_of_unity};
use solinas_rtl::{Design, Instance, Model, Port};

/// All leaves beside each other, so that one model serves all benches.
const LEAVES: &str = "
module leaves (
  input  logic clk_i, input logic signed [71:0] sum_i, output logic [63:0] norm72_o, norm68_o, input logic [63:0] x_i,
  output logic [63:0] canon_o, input logic [191:0] ring_i, output logic signed [67:0] fold_o,
  input  logic [63:0] a_i, b_i, input logic [5:0] rot_i, output logic [63:0] product_o,
  input  logic valid_i, r64_i, inv_i, first_i, input logic [1:0] step_i, input logic [15:0][63:0] points_i,
  output logic [15:0][63:0] dft_o, kernel_d_o, kernel_s_o,
  input  logic [63:0] c0_i, c1_i, output logic [47:0] pair_o, output logic [40:0] carry_o,
  input  logic [15:0][15:0] exponents_i, output logic [15:0][63:0] factors_o, output logic [15:0][5:0] rots_o,
  input  logic [3:0] sel_i, output logic [15:0][63:0] crossed_o);
  sol_norm #(.W(72)) u_norm72 (.clk_i, .s_i(sum_i), .r_o(norm72_o));
  sol_norm #(.W(68)) u_norm68 (.clk_i, .s_i(sum_i[67:0]), .r_o(norm68_o));
  sol_canon u_canon (.x_i, .r_o(canon_o));
  sol_fold192 u_fold (.z_i(ring_i), .s_o(fold_o));
  sol_mulrot u_mulrot (.clk_i, .a_i, .b_i, .rot_i, .r_o(product_o));
  sol_dft16 u_dft (.clk_i, .x_i(points_i), .y_o(dft_o));
  sol_kernel_d u_d (.clk_i, .valid_i, .step_i, .r64_i, .inv_i, .x_i(points_i), .y_o(kernel_d_o));
  sol_kernel_s u_s (.clk_i, .step_i(step_i[0]), .x_i(points_i), .y_o(kernel_s_o));
  sol_carry u_carry (.clk_i, .first_i, .c0_i, .c1_i, .d_o(pair_o), .carry_o);
  sol_twiddle u_twiddle (.clk_i, .e_i(exponents_i), .w_o(factors_o), .rot_o(rots_o));
  sol_xnet u_xnet (.sel_i, .x_i(points_i), .y_o(crossed_o));
endmodule
";

const CORNERS: [u64; 10] = [0, 1, 2, P - 1, P, P + 1, u64::MAX, u64::MAX - 1, 0xffff_ffff, 0xffff_ffff_0000_0000];

/// Latencies of `rtl/common/sol_pkg.sv`.
const NORM: usize = 2;
const MULROT: usize = 8;
const DFT16: usize = 6;
const D32: usize = 11;
const D64: usize = 13;
const S: usize = 11;
const CARRY: usize = 3;

fn leaves() -> Option<Instance> {
    let design = Design::new("leaves").files("common/files.f").unwrap().source("leaves.sv", LEAVES);
    Some(tools::or_skip(Model::build(&design, &mut |_| {}))?.instance().unwrap())
}

fn ports<const N: usize>(dut: &Instance, names: [&str; N]) -> [Port; N] {
    names.map(|name| dut.port(name).unwrap())
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(16)
}

/// A residue: a corner in one of four cases.
fn residue(rng: &mut ChaCha8Rng) -> u64 {
    match rng.next_u32() % 4 {
        0 => CORNERS[rng.next_u32() as usize % CORNERS.len()],
        _ => rng.next_u64(),
    }
}

/// A signed number of `bits` bits modulo p: little-endian words, the last one with its sign.
fn signed(words: [u64; 2], bits: u32) -> u64 {
    let value = (i128::from(words[1] as i64) << 64 | i128::from(words[0])) << (128 - bits) >> (128 - bits);
    value.rem_euclid(i128::from(P)) as u64
}

#[test]
fn norms_are_congruent_and_canonical_numbers_are_below_p() {
    let Some(mut dut) = leaves() else { return };
    let [sum, norm72, norm68, x, canon] = ports(&dut, ["sum_i", "norm72_o", "norm68_o", "x_i", "canon_o"]);
    let mut rng = rng();
    for high in (0..=255).chain([0; 2000]) {
        let low = residue(&mut rng);
        let high = if high == 0 { rng.next_u64() & 0xff } else { high };
        dut.set(sum, &[low, high]);
        dut.set_u64(x, low);
        (0..NORM).for_each(|_| dut.tick());
        assert_eq!(reduce(dut.get_u64(norm72)), signed([low, high], 72), "{high:x} {low:x}");
        assert_eq!(reduce(dut.get_u64(norm68)), signed([low, high], 68), "{high:x} {low:x}");
        assert_eq!(dut.get_u64(canon), reduce(low));
    }
}

#[test]
fn folds_are_congruent() {
    let Some(mut dut) = leaves() else { return };
    let [ring, fold] = ports(&dut, ["ring_i", "fold_o"]);
    let mut rng = rng();
    let two64 = reduce(u64::MAX - P + 1);
    for _ in 0..2000 {
        let words = [0; 3].map(|_: u64| residue(&mut rng));
        dut.set(ring, &words);
        dut.eval();
        let mut out = [0; 2];
        dut.get(fold, &mut out);
        let want = words.iter().rev().fold(0, |sum, &word| add(mul(sum, two64), reduce(word)));
        assert_eq!(signed(out, 68), want);
    }
}

#[test]
fn products_equal_those_of_the_field_for_all_rotations() {
    let Some(mut dut) = leaves() else { return };
    let [a, b, rot, product] = ports(&dut, ["a_i", "b_i", "rot_i", "product_o"]);
    let mut rng = rng();
    let mut pairs: Vec<(u64, u64)> = CORNERS.iter().flat_map(|&x| CORNERS.map(|y| (x, y))).collect();
    pairs.extend((0..2000).map(|_| (residue(&mut rng), residue(&mut rng))));
    let inputs: Vec<(u64, u64, u64)> = pairs.into_iter().zip((0..64).cycle()).map(|((x, y), r)| (x, y, r)).collect();
    for i in 0..inputs.len() + MULROT {
        if let Some(done) = i.checked_sub(MULROT) {
            let (x, y, r) = inputs[done];
            let want = mul(mul(reduce(x), reduce(y)), pow(2, 3 * r));
            assert_eq!(reduce(dut.get_u64(product)), want, "{x:x} {y:x} {r}");
        }
        let (x, y, r) = inputs.get(i).copied().unwrap_or_default();
        [(a, x), (b, y), (rot, r)].into_iter().for_each(|(port, value)| dut.set_u64(port, value));
        dut.tick();
    }
}

/// A group of points for a kernel, and when it starts.
struct Group {
    start: usize,
    len: usize,
    inverse: bool,
    points: Vec<u64>,
}

/// Groups of 32 and 64 points, in a row and with gaps.
fn groups(count: usize) -> Vec<Group> {
    let mut rng = rng();
    let (mut groups, mut at, mut before) = (Vec::new(), 3, 32);
    for i in 0..count {
        let len = if i % 5 == 4 || rng.next_u32().is_multiple_of(3) { 64 } else { 32 };
        // Results of 64 points leave for two more cycles.
        at += if before == 64 && len == 32 { 2 } else { 0 };
        at += if rng.next_u32().is_multiple_of(2) { 0 } else { rng.next_u32() as usize % 4 };
        let points = match i {
            0 => vec![u64::MAX; len],
            1 => vec![P - 1; len],
            2 => (0..len).map(|j| u64::from(j == 0)).collect(),
            _ => (0..len).map(|_| residue(&mut rng)).collect(),
        };
        groups.push(Group { start: at, len, inverse: rng.next_u32().is_multiple_of(2), points });
        at += len / 16;
        before = len;
    }
    groups
}

fn transform(points: &[u64], inverse: bool) -> Vec<u64> {
    // The root is a power of two.
    let root = pow(2, 192 / points.len() as u64);
    let root = if inverse { inv(root).unwrap() } else { root };
    naive::dft(&points.iter().map(|&x| reduce(x)).collect::<Vec<_>>(), root, 0, 1)
}

#[test]
fn kernels_equal_naive_transforms_in_a_row_and_with_gaps() {
    let Some(mut dut) = leaves() else { return };
    let [valid, step, r64, inv_i, points, out] =
        ports(&dut, ["valid_i", "step_i", "r64_i", "inv_i", "points_i", "kernel_d_o"]);
    let groups = groups(120);
    let end = groups.last().unwrap().start + 40;
    let mut noise = rng();
    for cycle in 0..end {
        // Outputs of this cycle.
        for group in &groups {
            let (steps, latency) = (group.len / 16, if group.len == 64 { D64 } else { D32 });
            let Some(s) = cycle.checked_sub(group.start + latency).filter(|s| *s < steps) else { continue };
            let want = transform(&group.points, group.inverse);
            let mut words = [0; 16];
            dut.get(out, &mut words);
            for (l, word) in words.into_iter().enumerate() {
                assert_eq!(reduce(word), want[l + 16 * s], "cycle {cycle}, lane {l}, step {s} of {}", group.len);
            }
        }
        // Inputs: without a group they are anything.
        let now = groups.iter().find(|group| (group.start..group.start + group.len / 16).contains(&cycle));
        let mut words = [0; 16].map(|_: u64| noise.next_u64());
        let mut controls = [0, noise.next_u64() & 3, noise.next_u64() & 1, noise.next_u64() & 1];
        if let Some(group) = now {
            let t = cycle - group.start;
            words = std::array::from_fn(|l| group.points[group.len / 16 * l + t]);
            controls = [1, t as u64, u64::from(group.len == 64), group.inverse.into()];
        }
        [valid, step, r64, inv_i].into_iter().zip(controls).for_each(|(port, value)| dut.set_u64(port, value));
        dut.set(points, &words);
        dut.tick();
    }
}

#[test]
fn inverse_kernels_equal_naive_transforms() {
    let Some(mut dut) = leaves() else { return };
    let [step, points, dft, out] = ports(&dut, ["step_i", "points_i", "dft_o", "kernel_s_o"]);
    let mut rng = rng();
    let groups: Vec<Vec<u64>> = (0..100)
        .map(|i| if i == 0 { vec![u64::MAX; 32] } else { (0..32).map(|_| residue(&mut rng)).collect() })
        .collect();
    let scale = inv(pow(2, 16)).unwrap();
    for cycle in 0..2 * groups.len() + S {
        let mut words = [0; 16];
        if let Some((i, s)) = cycle.checked_sub(S).map(|c| (c / 2, c % 2)) {
            let want = transform(&groups[i], true);
            dut.get(out, &mut words);
            for (l, word) in words.into_iter().enumerate() {
                assert_eq!(reduce(word), mul(want[s + 2 * l], scale), "group {i}, lane {l}, step {s}");
            }
        }
        // The 16-point transform takes each step alone.
        let lanes = |cycle: usize| groups.get(cycle / 2).map(|g| g[16 * (cycle % 2)..][..16].to_vec());
        if let Some(points) = cycle.checked_sub(DFT16).and_then(lanes) {
            dut.get(dft, &mut words);
            let want = naive::dft(&points.iter().map(|&x| reduce(x)).collect::<Vec<_>>(), pow(2, 12), 0, 1);
            assert_eq!(words.map(reduce).to_vec(), want, "16 points");
        }
        dut.set_u64(step, cycle as u64 % 2);
        dut.set(points, &lanes(cycle).unwrap_or_else(|| vec![0; 16]));
        dut.tick();
    }
}

#[test]
fn carry_lanes_add_segments_in_turn() {
    let Some(mut dut) = leaves() else { return };
    let [first, c0, c1, pair, carry] = ports(&dut, ["first_i", "c0_i", "c1_i", "pair_o", "carry_o"]);
    let mut rng = rng();
    // The largest coefficients keep the longest carries alive.
    let largest = [P - 1, u64::MAX, P];
    let inputs: Vec<[u64; 2]> = (0..800)
        .map(|i| if i < 400 { [largest[i % 3], P - 1] } else { [residue(&mut rng), residue(&mut rng)] })
        .collect();
    let mut carries = [0u128; 4];
    for cycle in 0..inputs.len() + CARRY {
        if let Some(i) = cycle.checked_sub(CARRY) {
            let [x, y] = inputs[i].map(|c| u128::from(reduce(c)));
            let sum = x + (y << 24) + if i % 400 < 4 { 0 } else { carries[i % 4] };
            carries[i % 4] = sum >> 48;
            assert_eq!(u128::from(dut.get_u64(pair)), sum & ((1 << 48) - 1), "pair {i}");
            assert_eq!(u128::from(dut.get_u64(carry)), sum >> 48, "carry {i}");
            assert!(sum >> 48 < 1 << 41);
        }
        let [x, y] = inputs.get(cycle).copied().unwrap_or_default();
        dut.set_u64(first, u64::from(cycle % 400 < 4));
        dut.set_u64(c0, x);
        dut.set_u64(c1, y);
        dut.tick();
    }
}

#[test]
fn twiddle_factors_are_powers_of_the_root_and_networks_exchange() {
    let Some(mut dut) = leaves() else { return };
    let [exponents, factors, rots, sel, points, crossed] =
        ports(&dut, ["exponents_i", "factors_o", "rots_o", "sel_i", "points_i", "crossed_o"]);
    let root = 0xdc92_18a8_6d10_f3a3;
    assert_eq!((pow(root, 1024), pow(root, 65_536), root_of_unity(65_536).is_some()), (8, 1, true));
    let mut rng = rng();
    for i in 0..300u64 {
        let e: [u64; 16] =
            std::array::from_fn(|l| if i < 64 { 1024 * i + l as u64 * 73 } else { rng.next_u64() } & 0xffff);
        let packed: Vec<u64> = e.chunks(4).map(|e| e.iter().rev().fold(0, |word, &e| word << 16 | e)).collect();
        let words: [u64; 16] = std::array::from_fn(|_| rng.next_u64());
        dut.set(exponents, &packed);
        dut.set(points, &words);
        dut.set_u64(sel, i % 16);
        dut.tick();
        let (mut w, mut r, mut y) = ([0; 16], [0; 2], [0; 16]);
        dut.get(factors, &mut w);
        dut.get(rots, &mut r);
        dut.get(crossed, &mut y);
        let r = u128::from(r[0]) | u128::from(r[1]) << 64;
        for l in 0..16 {
            let rot = (r >> (6 * l)) as u64 & 63;
            assert_eq!(mul(w[l], pow(2, 3 * rot)), pow(root, e[l]), "exponent {}", e[l]);
            assert_eq!(y[l], words[l ^ (i % 16) as usize]);
        }
    }
}
