//! Vectors of the leaves in `rtl/rsa`.

use solinas_bigint::Natural;
use solinas_field::solinas::{P, mul, mul_pow2, pow, reduce};

use crate::line::{CORNERS, Line, ROOT, Random, UNCHECKED};

/// Rows of the digits of a whole modulus, or of a half of CRT.
fn rows(half: bool) -> usize {
    if half { 16 } else { 32 }
}

/// Steps of a column.
fn steps(half: bool) -> usize {
    rows(half) / 8
}

/// Bits of the turn of a row modulo 2^n + 1.
fn turn(half: bool, row: usize) -> u64 {
    (if half { 6 } else { 3 } * row) as u64
}

/// Signed digits of 19 bits and of 27 bits to residues, turned by the root of their row modulo 2^n + 1.
pub(crate) fn twist() -> Vec<Line> {
    let mut random = Random(20);
    let residue = |digit: i64| i128::from(digit).rem_euclid(i128::from(P)) as u64;
    let line = |i: usize| {
        let (half, negative) = (i % 2 == 1, i / 2 % 2 == 1);
        let step = random.below(steps(half));
        let mut digits = |bits: u32| -> Vec<i64> {
            let end = 1i64 << (bits - 1);
            let corners = [0, 1, -1, end - 1, -end, 2, -2, 1 - end];
            let digit = |_| match i / 4 {
                case @ 0..8 => corners[case],
                8..30 => corners[random.below(8)],
                _ => (random.word() as i64) >> (64 - bits),
            };
            (0..8).map(digit).collect()
        };
        let (narrow, wide) = (digits(19), digits(27));
        let out = |digits: &[i64]| -> Vec<u64> {
            let shift = |l: usize| if negative { turn(half, steps(half) * l + step) } else { 0 };
            digits.iter().enumerate().map(|(l, &d)| mul_pow2(residue(d), shift(l))).collect()
        };
        let words = |digits: &[i64]| digits.iter().map(|&d| d as u64).collect::<Vec<_>>();
        let control = u64::from(half) << 3 | u64::from(negative) << 2 | step as u64;
        let line = Line::new(random.gap()).field(4, &[control]).packed(19, &words(&narrow)).packed(27, &words(&wide));
        line.words(&out(&narrow)).words(&out(&wide))
    };
    (0..800).map(line).collect()
}

/// Residues of the rows l + 8 s, turned back and made canonical.
pub(crate) fn untwist() -> Vec<Line> {
    let mut random = Random(21);
    let line = |i: usize| {
        let (half, negative) = (i % 2 == 1, i / 2 % 2 == 1);
        let step = i / 4 % steps(half);
        let x: Vec<u64> = match i / 16 {
            case @ 0..10 => vec![CORNERS[case]; 8],
            _ => random.residues(8),
        };
        let back = |l: usize| if negative { 192 - turn(half, l + 8 * step) } else { 0 };
        let y: Vec<u64> = x.iter().enumerate().map(|(l, &x)| mul_pow2(reduce(x), back(l))).collect();
        let control = u64::from(half) << 3 | u64::from(negative) << 2 | step as u64;
        Line::new(random.gap()).field(4, &[control]).words(&x).words(&y)
    };
    (0..800).map(line).collect()
}

/// Factors `ROOT^(64 e)` of a first step and of an inverse, as one of 16 constants and a rotation.
pub(crate) fn twiddles() -> Vec<Line> {
    let mut random = Random(22);
    // Passes modulo 2^n + 1: FN, GN, FM, PN, PM and KN.
    let negative = |pass: u64| u64::from([2, 4, 5, 7, 9, 11].contains(&pass));
    let line = |i: u64| {
        let (half, pass) = (i % 2, 1 + i / 2 % 11);
        let count = (i / 22) % (64 >> half);
        let k = |row: u64| 2 * row + negative(pass);
        let (column, step) = if half == 1 { (count / 2, count % 2) } else { (count / 4, count % 4) };
        let first: Vec<u64> = (0..8).map(|l| (column * k(l + 8 * step)) << half).collect();
        let inverse = |l: u64| (1024 - (((2 * l + count % 2) * k(count / 2)) << half) % 1024) % 1024;
        let inverse: Vec<u64> = (0..8).map(inverse).collect();
        let factors =
            |e: &[u64], scale: u64| -> Vec<u64> { e.iter().map(|e| mul(scale, pow(ROOT, 64 * (e % 16)))).collect() };
        let rotations = |e: &[u64]| e.iter().map(|e| e / 16).collect::<Vec<_>>();
        // The thread, the kind of the product and the index of the power are noise.
        let control = pass << 13 | count << 6 | random.word() & 0x103f;
        let line = Line::new(random.gap()).field(4, &[half]).field(20, &[control]);
        let line = line.words(&factors(&first, 1)).packed(6, &rotations(&first));
        // The inverse of a half has one point less of scale.
        line.words(&factors(&inverse, 1 + half)).packed(6, &rotations(&inverse))
    };
    (0..1408).map(line).collect()
}

/// One local carry step on all digits: the three parts of a digit go to its place and to the two places above it, around
/// the end with a minus modulo 2^n + 1.
fn local(c: &[i128], w: u32, minus: bool) -> Vec<i128> {
    let low = |x: i128| x & ((1 << w) - 1);
    let from = |n: usize, below: usize| {
        let sign = if minus && n < below { -1 } else { 1 };
        (sign, c[(n + c.len() - below) % c.len()])
    };
    let digit = |n: usize| {
        let ((one, mid), (two, top)) = (from(n, 1), from(n, 2));
        low(c[n]) + one * low(mid >> w) + two * (top >> (2 * w))
    };
    (0..c.len()).map(digit).collect()
}

/// Half of a number of short digits, modulo 2^n + 1.
fn halve(d: &[i128], w: u32) -> Vec<i128> {
    let above = |n: usize| if n + 1 < d.len() { d[n + 1] & 1 } else { -(d[0] & 1) };
    (0..d.len()).map(|n| (d[n] >> 1) + (above(n) << (w - 1))).collect()
}

/// The digits of lanes 0 to 7 in a step of a column, out of all digits.
fn lanes(digits: &[i128], column: usize, step: usize) -> Vec<u64> {
    (0..8).map(|l| digits[16 * (l + 8 * step) + column] as u64).collect()
}

/// Columns 12 to 15, which only fill the history, then all columns, with their steps. The first item tells the former.
fn cycles(half: bool) -> impl Iterator<Item = (bool, usize, usize)> {
    let columns = (12..16).map(|column| (true, column)).chain((0..16).map(|column| (false, column)));
    columns.flat_map(move |(fill, column)| (0..steps(half)).map(move |step| (fill, column, step)))
}

/// Signed coefficients of `bits` bits: their ends, small ones, or random ones.
fn coefficients(random: &mut Random, count: usize, bits: u32, case: usize) -> Vec<i128> {
    let end = 1i128 << (bits - 1);
    let corners = [end - 1, -end, 0, -1, 1, end / 2, -end / 2, 1 - end];
    let coefficient = |i: usize| match case {
        0..4 => corners[case],
        4 => corners[i % 2],
        5 => corners[random.below(8)],
        _ if random.below(8) == 0 => corners[random.below(8)],
        _ => i128::from(random.word() as i64) >> (64 - bits),
    };
    (0..count).map(coefficient).collect()
}

/// One local carry step at the widths of both digits, of coefficients and of what the first step leaves.
pub(crate) fn local_carries() -> Vec<Line> {
    let mut random = Random(23);
    let mut lines = Vec::new();
    for case in 0..32 {
        let (half, minus) = (case % 2 == 1, case / 2 % 2 == 1);
        let c = coefficients(&mut random, 16 * rows(half), 64, case / 4);
        // Digit, input and output of an instance, in bits. It takes the lower bits of the coefficients.
        let widths = [(17, 48, 20), (17, 35, 19), (25, 64, 28), (25, 51, 27)];
        let outs = widths.map(|(w, input, bits)| {
            let short: Vec<i128> = c.iter().map(|x| x << (128 - input) >> (128 - input)).collect();
            (local(&short, w, minus), bits)
        });
        for (i, (fill, column, step)) in cycles(half).enumerate() {
            let head = if fill { UNCHECKED } else { 0 } | if i == 0 { random.gap() } else { 0 };
            let place = u64::from(column == 0) << 2 | u64::from(column == 1) << 1 | u64::from(step == 0);
            let line = Line::new(head).field(4, &[u64::from(half) << 3 | place]).field(4, &[u64::from(minus)]);
            let line = line.words(&lanes(&c, column, step));
            lines.push(outs.iter().fold(line, |line, (out, bits)| line.packed(*bits, &lanes(out, column, step))));
        }
    }
    lines
}

/// The sum of the digits above 0 of a number with digits of w bits, and that of the others without their sign.
fn values(digits: &[i128], w: u32) -> [Natural; 2] {
    [1, -1].map(|sign| {
        digits.iter().rev().fold(Natural::default(), |sum, &digit| {
            let digit = (sign * digit).max(0) as u128;
            &(&sum << w as usize) + &Natural::from(digit)
        })
    })
}

/// Whether c is d or twice d, modulo 2^n - 1 or 2^n + 1.
fn congruent(c: &[i128], d: &[i128], twice: bool, w: u32, minus: bool) -> bool {
    let ([c_up, c_down], [d_up, d_down]) = (values(c, w), values(d, w));
    let (power, one, shift) = (Natural::power_of_two(c.len() * w as usize), Natural::one(), usize::from(twice));
    let modulus = if minus { &power + &one } else { power.checked_sub(&one).unwrap_or_default() };
    (&c_up + &(&d_down << shift)).rem(&modulus) == (&c_down + &(&d_up << shift)).rem(&modulus)
}

/// Coefficients of products to short digits, for both widths of digits.
pub(crate) fn carries() -> Vec<Line> {
    let mut random = Random(24);
    let (mut lines, mut before) = (Vec::new(), false);
    for case in 0..36 {
        let (half, minus, halves) = (case % 2 == 1, case / 2 % 3 > 0, case / 2 % 3 == 2);
        let passes = [(17, 48), (25, 64)].map(|(w, bits)| {
            let mut c = coefficients(&mut random, 16 * rows(half), bits, case / 6 + case / 30);
            // A residue stands for the coefficient that is nearest to 0.
            let most = i128::from(P / 2);
            c.iter_mut().for_each(|x| *x = (*x).clamp(-most, most));
            let twice = local(&local(&c, w, minus), w, minus);
            let d = if halves { halve(&twice, w) } else { twice };
            assert!(congruent(&c, &d, halves, w, minus), "the digits are those of another number");
            (c.iter().map(|x| x.rem_euclid(i128::from(P))).collect::<Vec<_>>(), d)
        });
        for (i, (fill, column, step)) in cycles(half).enumerate() {
            // The length changes when no digit is under way.
            let gap = if i > 0 { 0 } else { random.gap() + if before == half { 0 } else { 16 } };
            let kind = u64::from(minus) << 3 | u64::from(halves) << 2 | step as u64;
            let line = Line::new(if fill { UNCHECKED } else { 0 } | gap).field(4, &[u64::from(half) << 1 | 1]);
            let line = line.field(4, &[kind]).field(4, &[column as u64]);
            let line = passes.iter().fold(line, |line, (c, _)| line.words(&lanes(c, column, step)));
            let outs = passes.iter().zip([19, 27]);
            lines.push(outs.fold(line, |line, ((_, d), bits)| line.packed(bits, &lanes(d, column, step))));
        }
        before = half;
    }
    lines
}

/// Reads and writes of the powers of a window.
pub(crate) fn windows() -> Vec<Line> {
    let mut random = Random(25);
    let (mut words, mut read) = ([[0; 8]; 16], None);
    let line = |i: usize| {
        // First a write to each place, then reads and writes at random: a part of them meet.
        let filled = i >= 128;
        let (reads, writes) = (filled && random.below(4) > 0, !filled || random.below(2) == 1);
        let (entry, to) = if filled { (random.below(16), random.below(8)) } else { (i / 8, i % 8) };
        let (index, from) = if random.below(4) == 0 { (entry, to) } else { (random.below(16), random.below(8)) };
        if reads {
            read = Some(words[index][from]);
        }
        let word = random.residue();
        if writes {
            words[entry][to] = word;
        }
        let head = if reads { 0 } else { UNCHECKED } | random.gap();
        let digits = [u64::from(reads) << 1 | u64::from(writes), entry as u64, from as u64, to as u64, index as u64];
        let line = digits.iter().fold(Line::new(head), |line, &digit| line.field(4, &[digit]));
        line.words(&[word]).words(&[read.unwrap_or(0)])
    };
    (0..1000).map(line).collect()
}

/// Exponents of one to four words, and their windows of 4 bits from the highest one down.
pub(crate) fn exponents() -> Vec<Line> {
    const CLEAR: u64 = 8;
    const LOAD: u64 = 4;
    const START: u64 = 2;
    const NEXT: u64 = 1;
    let mut random = Random(26);
    let mut lines = vec![Line::new(0).field(4, &[0]).field(4, &[1]).words(&[0]).field(8, &[0x10])];
    let mut push = |head: u64, control: u64, reset: u64, word: u64, out: u64| {
        lines.push(Line::new(head).field(4, &[control]).field(4, &[reset]).words(&[word]).field(8, &[out]));
    };
    for case in 0..24 {
        let words = random.residues(1 + case % 4);
        push(UNCHECKED | (3 + random.gap()), CLEAR, 0, 0, 0);
        for &word in &words {
            push(UNCHECKED | random.gap(), LOAD, 0, word, 0);
        }
        let exponent = Natural::from_words(words.clone());
        let windows: Vec<u64> =
            (0..16 * words.len()).rev().map(|i| (&exponent >> (4 * i)).low_bits(4).to_u64().unwrap_or(0)).collect();
        // An exponent is used again; a reset may end the first use.
        for reset in [case % 3 == 1, false] {
            let gap = random.gap();
            push(4 + gap, START, 0, 0, 0x20 | windows[0]);
            for (i, window) in windows.iter().skip(1).enumerate() {
                if reset && i == 20 {
                    break;
                }
                push(2 + random.gap(), NEXT, 0, 0, 0x20 | window);
            }
            if !reset || windows.len() <= 21 {
                push(2 + random.gap(), NEXT, 0, 0, 0x30);
            } else {
                push(4, 0, 1, 0, 0x10);
                for (i, &word) in words.iter().enumerate() {
                    push(UNCHECKED | if i == 0 { 4 } else { random.gap() }, LOAD, 0, word, 0);
                }
            }
        }
    }
    lines
}
