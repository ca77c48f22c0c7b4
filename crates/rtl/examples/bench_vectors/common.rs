//! Vectors of the leaves in `rtl/common`, and of kernels.

use solinas_field::solinas::{P, add, mul, mul_pow2, naive, pow, reduce};

use crate::line::{CORNERS, Line, Random, UNCHECKED, group, signed};

pub(crate) fn norm() -> Vec<Line> {
    let mut random = Random(1);
    let corners = (0..256).flat_map(|high| CORNERS.map(|low| [low, high]));
    // A sum whose fold lands just above or below the ends of the range, so that both corrections are met.
    let high = |t: u64| (t << 32).wrapping_sub(t);
    let edges = (1..256).flat_map(|t: u64| {
        let fold = high(if t < 128 { t } else { t.wrapping_sub(256) });
        [0, 1, 2].map(move |d| [fold.wrapping_neg().wrapping_sub(1).wrapping_add(d), t])
    });
    let mut sums: Vec<[u64; 2]> = corners.chain(edges).collect();
    sums.extend((0..1000).map(|_| [random.residue(), random.word() & 0xff]));
    let line =
        |sum: [u64; 2]| Line::new(random.gap()).field(72, &sum).words(&[66, 68, 70, 72].map(|bits| signed(sum, bits)));
    sums.into_iter().map(line).collect()
}

pub(crate) fn canon() -> Vec<Line> {
    let mut random = Random(2);
    let near = (0..1000).map(|i| P.wrapping_sub(500).wrapping_add(i));
    let inputs: Vec<u64> = CORNERS.into_iter().chain(near).chain((0..500).map(|_| random.residue())).collect();
    inputs.into_iter().map(|x| Line::new(random.gap()).words(&[x]).words(&[reduce(x)])).collect()
}

pub(crate) fn fold() -> Vec<Line> {
    let mut random = Random(3);
    let two64 = pow(2, 64);
    let element = |z: &[u64]| z.iter().rev().fold(0, |sum, &word| add(mul(sum, two64), reduce(word)));
    let line = |case: usize| {
        let (z, x, k) = (group(&mut random, 3, case), random.residue(), case % 4);
        let turned = mul_pow2(reduce(x), ((21 + 144 * k) % 192) as u64);
        Line::new(random.gap()).words(&z).words(&[x]).field(4, &[k as u64]).words(&[element(&z), turned])
    };
    (0..1500).map(line).collect()
}

pub(crate) fn products() -> Vec<Line> {
    let mut random = Random(4);
    // Factors of 32 bits: the longest carries of the partial products.
    let halves = [0, 1, 0xffff_ffff, 0xffff_fffe, 0x8000_0000, 0x7fff_ffff];
    let words: Vec<u64> = halves.iter().flat_map(|high| halves.map(|low| high << 32 | low)).chain(CORNERS).collect();
    let mut pairs: Vec<(u64, u64)> = words.iter().flat_map(|&a| words.iter().map(move |&b| (a, b))).collect();
    pairs.extend((0..1000).map(|_| (random.residue(), random.residue())));
    // 61 is prime to 64, so pairs meet other rotations in a row.
    let rotations = (0..).map(|i: u64| 61 * i % 64);
    // Subtrahends: the corners in turn, then random ones.
    let subtrahends: Vec<u64> =
        CORNERS.iter().cycle().take(1500).copied().chain((0..pairs.len()).map(|_| random.residue())).collect();
    let line = |(((a, b), rot), c)| {
        let product = mul_pow2(mul(reduce(a), reduce(b)), 3 * rot);
        let difference = add(product, reduce(P - reduce(c)));
        Line::new(random.gap())
            .words(&[a])
            .words(&[b])
            .words(&[c])
            .field(8, &[rot])
            .words(&[difference])
            .words(&[product])
    };
    pairs.into_iter().zip(rotations).zip(subtrahends).map(line).collect()
}

/// The transform with the root of this order, a power of two.
pub(crate) fn transform(points: &[u64], inverse: bool) -> Vec<u64> {
    let bits = 192 / points.len() as u64;
    let root = pow(2, if inverse { 192 - bits } else { bits });
    naive::dft(&points.iter().map(|&x| reduce(x)).collect::<Vec<_>>(), root, 0, 1)
}

pub(crate) fn points(lanes: usize) -> Vec<Line> {
    let mut random = Random(5);
    let line = |case| {
        let x = group(&mut random, lanes, case);
        Line::new(random.gap()).words(&x).words(&transform(&x, false))
    };
    (0..150).map(line).collect()
}

/// Groups of 2 or 4 steps. A short group behind a long one comes after two cycles at least.
pub(crate) fn kernel(lanes: usize) -> Vec<Line> {
    let mut random = Random(6);
    let (mut lines, mut before) = (Vec::new(), 2);
    for case in 0..160 {
        let (steps, inverse) = (if random.below(3) == 0 { 4 } else { 2 }, random.below(2) == 1);
        let x = group(&mut random, steps * lanes, case / 2);
        let y = transform(&x, inverse);
        let gap = random.gap().max(if before == 4 && steps == 2 { 2 } else { 0 });
        for t in 0..steps {
            let lane: Vec<u64> = (0..lanes).map(|l| x[steps * l + t]).collect();
            let kind = u64::from(steps == 4) << 1 | u64::from(inverse);
            let line = Line::new(if t == 0 { gap } else { 0 }).field(4, &[4 | t as u64]).field(4, &[kind]);
            lines.push(line.words(&lane).words(&y[lanes * t..][..lanes]));
        }
        before = steps;
    }
    lines
}

/// Groups of two steps of an inverse transform, with these scales; the first one comes in the upper words.
pub(crate) fn inverse(lanes: usize, scales: &[u64]) -> Vec<Line> {
    let mut random = Random(7);
    let mut lines = Vec::new();
    for case in 0..100 {
        let x = group(&mut random, 2 * lanes, case);
        let y = transform(&x, true);
        let gap = random.gap();
        for step in 0..2 {
            let out = scales.iter().rev().flat_map(|scale| {
                let factor = 192 - scale;
                (0..lanes).map(|l| mul_pow2(y[step + 2 * l], factor)).collect::<Vec<_>>()
            });
            let line = Line::new(if step == 0 { gap } else { 0 }).field(4, &[step as u64]);
            lines.push(line.words(&x[lanes * step..][..lanes]).words(&out.collect::<Vec<_>>()));
        }
    }
    lines
}

/// Pairs of coefficients of all four segments from one first pair to the next.
pub(crate) const RUN: usize = 400;

/// Pair `i` of the coefficients of carry lanes. Long runs of the largest digits keep the largest carries alive.
pub(crate) fn coefficients(random: &mut Random, i: usize, carry: u128) -> [u64; 2] {
    let (run, at) = (i / RUN, i % RUN);
    let largest = [P - 1, u64::MAX, P, P - 2];
    match run {
        0 => [largest[i % 4], P - 1],
        1 => [largest[i / 4 % 4], largest[i / 16 % 4]],
        2 => {
            // The sum of the pair is 2^48 - 1 or 2^48, so every carry is 0 or 1 and runs through all pairs.
            let sum = (1u128 << 48) - 1 + u128::from(at >= 4 && at / 4 % 2 == 1);
            let pair = sum.wrapping_sub(carry);
            [(pair & 0xff_ffff) as u64, (pair >> 24) as u64]
        }
        _ => [random.residue(), random.residue()],
    }
}

/// 48 bits of the sum of a pair of coefficients and a carry, and the next carry.
pub(crate) fn resolve([c0, c1]: [u64; 2], carry: u128) -> (u64, u128) {
    let sum = u128::from(reduce(c0)) + (u128::from(reduce(c1)) << 24) + carry;
    ((sum & ((1 << 48) - 1)) as u64, sum >> 48)
}

/// Four segments in turn.
pub(crate) fn carries() -> Vec<Line> {
    let mut random = Random(8);
    let mut carries = [0u128; 4];
    let line = |i: usize| {
        let first = i % RUN < 4;
        let carry = if first { 0 } else { carries[i % 4] };
        let [c0, c1] = coefficients(&mut random, i, carry);
        let (pair, out) = resolve([c0, c1], carry);
        carries[i % 4] = out;
        let line = Line::new(0).field(4, &[u64::from(first)]).words(&[c0]).words(&[c1]);
        line.field(48, &[pair]).field(44, &[out as u64])
    };
    (0..4 * RUN).map(line).collect()
}

pub(crate) fn twiddles() -> Vec<Line> {
    let mut random = Random(9);
    let line = |i: u64| {
        let e: Vec<u64> = (0..16)
            .map(|l| match i {
                // Every entry of the table, and every rotation.
                0..64 => 16 * i + l,
                64..128 => 1024 * (i - 64) + l,
                _ => random.word() & 0xffff,
            })
            .collect();
        Line::new(random.gap()).packed(16, &e).powers(&e)
    };
    (0..300).map(line).collect()
}

pub(crate) fn bank() -> Vec<Line> {
    let mut random = Random(10);
    let (mut words, mut read) = ([0; 32], None);
    let line = |i: u64| {
        // First a write to each place, then reads and writes at random: half of them meet.
        let (reads, writes) = if i < 32 { (0, 1) } else { (u64::from(random.below(4) > 0), random.word() & 1) };
        let from = random.word() % 32;
        let to = if i < 32 {
            i
        } else if random.below(2) == 0 {
            from
        } else {
            random.word() % 32
        };
        let word = random.residue();
        if reads == 1 {
            read = Some(words[from as usize]);
        }
        if writes == 1 {
            words[to as usize] = word;
        }
        let head = if read.is_some() { 0 } else { UNCHECKED } | random.gap();
        Line::new(head)
            .field(4, &[reads << 1 | writes])
            .field(8, &[from])
            .field(8, &[to])
            .words(&[word])
            .words(&[read.unwrap_or(0)])
    };
    (0..1000).map(line).collect()
}

pub(crate) fn network() -> Vec<Line> {
    let mut random = Random(11);
    let line = |i: usize| {
        let (sel, x) = (i % 16, random.residues(16));
        let y: Vec<u64> = (0..16).map(|l| x[l ^ sel]).collect();
        Line::new(random.gap()).field(4, &[sel as u64]).words(&x).words(&y[..8]).words(&y)
    };
    (0..160).map(line).collect()
}
