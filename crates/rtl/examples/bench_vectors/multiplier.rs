//! Vectors of the leaves in `rtl/multiplier` and `rtl/stored`.

use solinas_bigint::Natural;

use crate::common::{RUN, coefficients, resolve};
use crate::line::{Line, Random, UNCHECKED, group};

/// Operands of 64 beats and their columns. An operand is 32 segments of 32 digits of 24 bits. Column j holds digit j of every
/// segment; its step s holds those of the segments 2 l + s in lane l.
pub(crate) fn loads() -> Vec<Line> {
    let mut random = Random(12);
    let mut lines = Vec::new();
    for case in 0..8 {
        let words = group(&mut random, 384, [6, 30, 31, 20, 10, 30, 31, 32][case]);
        let digit = |i: usize| (0..24).fold(0, |d, b| d | (words[(24 * i + b) / 64] >> ((24 * i + b) % 64) & 1) << b);
        lines.extend(words.chunks(6).map(|beat| Line(String::new()).words(beat)));
        for (column, step) in (0..32).flat_map(|column| [(column, 0), (column, 1)]) {
            let lanes: Vec<u64> = (0..16).map(|l| digit(32 * (2 * l + step) + column)).collect();
            lines.push(Line(String::new()).packed(24, &lanes));
        }
    }
    lines
}

/// The carry lanes with a memory of carries. With `hold`, the first coefficients of four segments come before the second
/// ones. The carries are read when no pair is under way.
pub(crate) fn stored_carries(hold: bool) -> Vec<Line> {
    let mut random = Random(13);
    let (mut lines, mut carries) = (Vec::new(), [0u128; 4]);
    let line = |head: u64, controls: u64, segment: usize, c: [u64; 2], out: u64| {
        let line = Line::new(head).field(4, &[controls]).field(4, &[segment as u64]);
        line.words(&[c[0]]).words(&[c[1]]).field(48, &[out])
    };
    for round in 0..RUN {
        let (first, turn) = (4 * round % RUN == 0, if hold { random.below(4) } else { 0 });
        if first {
            carries = [0; 4];
        }
        let pairs: Vec<[u64; 2]> = (0..4).map(|s| coefficients(&mut random, 4 * round + s, carries[s])).collect();
        for s in (0..4).map(|s| 3 - (s + turn) % 4).filter(|_| hold) {
            lines.push(line(UNCHECKED | random.gap(), 8, s, [pairs[s][0], random.word()], 0));
        }
        for s in (0..4).map(|s| (s + turn) % 4) {
            let (pair, out) = resolve(pairs[s], carries[s]);
            carries[s] = out;
            let c0 = if hold { random.word() } else { pairs[s][0] };
            lines.push(line(random.gap(), 4 | u64::from(first) << 1, s, [c0, pairs[s][1]], pair));
        }
        for s in (0..4).filter(|_| round % 10 == 9) {
            let gap = if s == 0 { 4 } else { 0 } + random.gap();
            lines.push(line(gap, 1, s, [random.word(), random.word()], carries[s] as u64));
        }
    }
    lines
}

/// Passes of the multipliers, by their numbers in `pass_e`.
const P1: u64 = 1;
const P2: u64 = 2;
const P3: u64 = 3;
const IP2: u64 = 4;
const IP3: u64 = 5;

/// Exponents of 16 lanes, modulo the order of the root.
fn exponents(of: impl Fn(u64) -> u64) -> Vec<u64> {
    (0..16).map(|l| of(l) % 65_536).collect()
}

/// The exponent of the inverse.
fn negative(exponent: u64) -> u64 {
    (65_536 - exponent % 65_536) % 65_536
}

/// A counter of 11 bits: its ends, then random ones.
fn count(random: &mut Random, case: usize) -> u64 {
    if case < 4 { [0, 2047, 1, 2046][case] } else { random.word() & 2047 }
}

/// Bits `low` up to `high` of a counter.
fn bits(count: u64, high: u32, low: u32) -> u64 {
    count >> low & ((1 << (high - low + 1)) - 1)
}

/// Factors behind kernel S: `w^(-64 k2 j2)`, and `w^(-32 k1 j2)` of the small instance.
fn behind_s(round: u64, c: u64) -> [Vec<u64>; 2] {
    let (k, column) = (bits(c, 5, 1), |l: u64| 2 * l + (c & 1));
    let big = exponents(|l| negative(64 * k * column(l)));
    [big, exponents(|l| negative(32 * (2 * k + round) * column(l)))]
}

/// Factors of the small instance behind kernel D in P1: `w^(32 k1 j2)`.
fn small(round: u64, c: u64) -> Vec<u64> {
    exponents(|l| 32 * (2 * (l + 16 * (c & 1)) + round) * bits(c, 5, 1))
}

/// Factors behind kernel D of both instances.
pub(crate) fn stored_twiddles() -> Vec<Line> {
    let mut random = Random(14);
    let line = |i: usize| {
        let (pass, round, c) = ([P1, P2, IP2][i % 3], i as u64 / 3 % 2, count(&mut random, i / 6));
        let (d, turn) = (i as u64 % 64, i as u64 / 64 % 2);
        // The upper bits count k1 or m2, the middle ones the column. The lowest one is a part of the index over the lanes.
        let (high, j) = (bits(c, 10, 6), bits(c, 5, 1));
        let big = exponents(|l| {
            let lane = l + 16 * (c & 1);
            match pass {
                P1 => 32 * (2 * lane + round) * high,
                P2 => (2 * high + round) * j + 64 * lane * j,
                _ => negative((2 * high + round) * (j + 32 * lane)),
            }
        });
        let line = Line::new(random.gap()).field(16, &[pass << 13 | round << 12 | c]);
        line.field(16, &[P1 << 13 | turn << 12 | d]).powers(&big).powers(&small(turn, d))
    };
    (0..600).map(line).collect()
}

/// Factors behind kernel S of both instances.
pub(crate) fn stored_constants() -> Vec<Line> {
    let mut random = Random(15);
    let line = |i: u64| {
        let (round, c) = (i % 2, i / 2 % 64);
        let [big, small] = behind_s(round, c);
        // The rest of the control is noise.
        let control = random.word() & 0xefc0 | round << 12 | c;
        Line::new(random.gap()).field(16, &[control]).powers(&big).powers(&small)
    };
    (0..256).map(line).collect()
}

/// Factors of both sets of multipliers, of both instances.
pub(crate) fn twiddles() -> Vec<Line> {
    let mut random = Random(16);
    let line = |i: usize| {
        let (pass, round, c) = ([P1, P2, IP2][i % 3], i as u64 / 3 % 2, count(&mut random, i / 6));
        let (d, late, late_round) = (random.word() & 0x3f, random.word() & 2047, random.word() & 1);
        let early = |odd: u64| {
            exponents(|l| {
                let lane = l + 16 * (c & 1);
                match pass {
                    P1 => (2 * lane + round) * bits(c, 10, 1),
                    P2 => 64 * lane * bits(c, 5, 1),
                    _ => negative((2 * bits(c, 9, 5) + round) * (32 * lane + 2 * bits(c, 4, 1) + odd)),
                }
            })
        };
        // The second set of multipliers serves kernel S in P3, and the second kernel D in other passes.
        let late_pass = [P3, 0, P1, P3, P2, IP2, P3, IP3][random.below(8)];
        let [big_b, small_b] = if late_pass == P3 { behind_s(late_round, late) } else { [early(1), small(round, d)] };
        let line = Line::new(random.gap()).field(16, &[pass << 12 | round << 11 | c]);
        let line =
            line.field(16, &[P1 << 12 | round << 11 | d]).field(16, &[late_pass << 12 | late_round << 11 | late]);
        line.powers(&early(0)).powers(&big_b).powers(&small(round, d)).powers(&small_b)
    };
    (0..480).map(line).collect()
}

/// Products of 128 beats in 64 segments: the pairs of digits, the carries out of the segments, the sum of both, and the
/// upper half of that sum without what comes from the lower half.
pub(crate) fn unloads() -> Vec<Line> {
    const BEATS: usize = 128;
    const SEGMENT: usize = 2 * 384;
    let mut random = Random(17);
    let mut lines = Vec::new();
    for case in 0..8 {
        let pairs = match case {
            0 => vec![u64::MAX; 6 * BEATS],
            1 => vec![0; 6 * BEATS],
            // All bits above the first segment are ones, so the first carry runs to the end.
            2 => (0..6 * BEATS).map(|i| if i < SEGMENT / 64 { 0 } else { u64::MAX }).collect(),
            _ => group(&mut random, 6 * BEATS, [20, 30, 11, 31, 32][case - 3]),
        };
        let carry = |s: usize| match case {
            0 | 1 => (1 << 41) - 1,
            2 => u64::from(s == 0),
            _ => random.word() >> [23, 63][s % 2],
        };
        let carries: Vec<u64> = (0..64).map(carry).collect();
        // The carry out of a segment belongs to the head of the next one.
        let mut raised = vec![0; 6 * BEATS];
        (1..64).for_each(|s| raised[s * SEGMENT / 64] = carries[s - 1]);
        let sum = |from: usize| {
            let part = |words: &[u64]| Natural::from_words(&words[from * 6..]);
            let mut words = (&part(&pairs) + &part(&raised)).into_words();
            words.resize((BEATS - from) * 6, 0);
            words
        };
        let beats = |words: &[u64]| words.chunks(6).map(|beat| Line(String::new()).words(beat)).collect::<Vec<_>>();
        lines.extend(beats(&pairs));
        lines.extend(carries.iter().map(|&carry| Line(String::new()).field(384, &[carry])));
        lines.extend(beats(&sum(0)));
        lines.extend(beats(&sum(BEATS / 2)));
    }
    lines
}
