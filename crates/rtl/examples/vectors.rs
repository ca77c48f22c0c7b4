//! Writes test vectors for the benches of `rtl/bench`, from the arithmetic of `solinas-field`:
//! `cargo run -p solinas-rtl --example vectors -- FOLDER`.
//!
//! A file has a vector a line: a head, the inputs and the outputs, in the format of `$readmemh`. The low seven bits of the
//! head are the cycles of noise before the vector; its top bit says that the outputs are not compared.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use solinas_field::solinas::{P, add, mul, mul_pow2, naive, pow, reduce};

/// The root of unity of the order 65,536 of `rtl/common/sol_pkg.sv`.
const ROOT: u64 = 0xdc92_18a8_6d10_f3a3;

/// Residues at which a carry, a borrow or a correction turns.
const CORNERS: [u64; 10] = [0, 1, 2, P - 1, P, P + 1, u64::MAX, u64::MAX - 1, 0xffff_ffff, 0xffff_ffff_0000_0000];

/// Head of a vector whose outputs are not compared.
const UNCHECKED: u64 = 0x80;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("the folder for the vectors is missing");
        return ExitCode::FAILURE;
    };
    match write(&PathBuf::from(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Writes one file for each bench.
fn write(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    let files = [
        ("sol_norm", norm()),
        ("sol_canon", canon()),
        ("sol_fold192", fold()),
        ("sol_mulrot", products()),
        ("sol_dft16", points(16)),
        ("sol_kernel_d", kernel(16)),
        ("sol_kernel_s", inverse(16, &[16, 11])),
        ("sol_carry", carries()),
        ("sol_twiddle", twiddles()),
        ("sol_bank", bank()),
        ("sol_xnet", network()),
        ("sol_mul_loader", loads()),
        ("sol_rsa_dft8", points(8)),
        ("sol_rsa_kernel", kernel(8)),
        ("sol_rsa_inverse", inverse(8, &[9])),
    ];
    let mut vectors = 0;
    for (name, lines) in &files {
        let path = folder.join(format!("{name}.hex"));
        let text: String = lines.iter().flat_map(|line| [line.0.trim_end_matches('_'), "\n"]).collect();
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        vectors += lines.len();
    }
    println!("{vectors} vectors for {} benches in {}", files.len(), folder.display());
    Ok(())
}

/// A line: fields in whole hexadecimal digits, joined by underscores.
struct Line(String);

impl Line {
    fn new(head: u64) -> Self {
        Self(String::new()).field(8, &[head])
    }

    /// A field of so many bits, from little-endian words.
    fn field(mut self, bits: usize, words: &[u64]) -> Self {
        for digit in (0..bits.div_ceil(4)).rev() {
            let _ = write!(self.0, "{:x}", words.get(digit / 16).map_or(0, |word| word >> (4 * (digit % 16)) & 15));
        }
        self.0.push('_');
        self
    }

    fn words(self, words: &[u64]) -> Self {
        self.field(64 * words.len(), words)
    }
}

/// A reproducible generator (splitmix64).
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// A residue: a corner in one of four cases.
    fn residue(&mut self) -> u64 {
        if self.below(4) == 0 { CORNERS[self.below(CORNERS.len())] } else { self.word() }
    }

    fn residues(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.residue()).collect()
    }

    /// Cycles between two vectors: none in most cases.
    fn gap(&mut self) -> u64 {
        if self.below(4) == 0 { self.below(6) as u64 } else { 0 }
    }
}

/// Points that are corners only, or single ones, or random.
fn group(random: &mut Random, count: usize, case: usize) -> Vec<u64> {
    match case {
        0..10 => vec![CORNERS[case]; count],
        // The lanes alternate between the ends: the largest sums and differences.
        10 => (0..count).map(|i| if i % 2 == 0 { u64::MAX } else { 0 }).collect(),
        11 => (0..count).map(|i| if i < count / 2 { 0 } else { u64::MAX }).collect(),
        12..20 => (0..count).map(|i| u64::from(i == (case - 12) * count / 8)).collect(),
        20..30 => (0..count).map(|_| CORNERS[random.below(CORNERS.len())]).collect(),
        _ => random.residues(count),
    }
}

/// A number of `bits` bits with its sign, modulo p.
fn signed(words: [u64; 2], bits: u32) -> u64 {
    let value = (i128::from(words[1] as i64) << 64 | i128::from(words[0])) << (128 - bits) >> (128 - bits);
    value.rem_euclid(i128::from(P)) as u64
}

fn norm() -> Vec<Line> {
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

fn canon() -> Vec<Line> {
    let mut random = Random(2);
    let near = (0..1000).map(|i| P.wrapping_sub(500).wrapping_add(i));
    let inputs: Vec<u64> = CORNERS.into_iter().chain(near).chain((0..500).map(|_| random.residue())).collect();
    inputs.into_iter().map(|x| Line::new(random.gap()).words(&[x]).words(&[reduce(x)])).collect()
}

fn fold() -> Vec<Line> {
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

fn products() -> Vec<Line> {
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
fn transform(points: &[u64], inverse: bool) -> Vec<u64> {
    let bits = 192 / points.len() as u64;
    let root = pow(2, if inverse { 192 - bits } else { bits });
    naive::dft(&points.iter().map(|&x| reduce(x)).collect::<Vec<_>>(), root, 0, 1)
}

fn points(lanes: usize) -> Vec<Line> {
    let mut random = Random(5);
    let line = |case| {
        let x = group(&mut random, lanes, case);
        Line::new(random.gap()).words(&x).words(&transform(&x, false))
    };
    (0..150).map(line).collect()
}

/// Groups of 2 or 4 steps. A short group behind a long one comes after two cycles at least.
fn kernel(lanes: usize) -> Vec<Line> {
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
fn inverse(lanes: usize, scales: &[u64]) -> Vec<Line> {
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

/// Four segments in turn. Long runs of the largest digits keep the largest carries alive.
fn carries() -> Vec<Line> {
    let mut random = Random(8);
    let mut carries = [0u128; 4];
    let largest = [P - 1, u64::MAX, P, P - 2];
    // A pair of digits that, with a carry of one, is all ones: then the carry goes on.
    let chain = |carry: u128| ((1u128 << 48) - 1 + (1 << 48)).wrapping_sub(carry) & ((1 << 48) - 1);
    let line = |i: usize| {
        let (run, at) = (i / 400, i % 400);
        let carry = if at < 4 { 0 } else { carries[i % 4] };
        let [c0, c1] = match run {
            0 => [largest[i % 4], P - 1],
            1 => [largest[i / 4 % 4], largest[i / 16 % 4]],
            2 => {
                // The sum of the pair is 2^48 - 1 or 2^48, so every carry is 0 or 1 and runs through all pairs.
                let pair = (chain(0) + u128::from(at >= 4 && at / 4 % 2 == 1)).wrapping_sub(carry);
                [(pair & 0xff_ffff) as u64, (pair >> 24) as u64]
            }
            _ => [random.residue(), random.residue()],
        };
        let sum = u128::from(reduce(c0)) + (u128::from(reduce(c1)) << 24) + carry;
        carries[i % 4] = sum >> 48;
        let (pair, out) = ((sum & ((1 << 48) - 1)) as u64, (sum >> 48) as u64);
        Line::new(0).field(4, &[u64::from(at < 4)]).words(&[c0]).words(&[c1]).field(48, &[pair]).field(44, &[out])
    };
    (0..1600).map(line).collect()
}

fn twiddles() -> Vec<Line> {
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
        let pack = |bits: usize, values: &[u64]| -> Vec<u64> {
            let mut words = vec![0; 16 * bits / 64 + 1];
            for (l, value) in values.iter().enumerate() {
                let at = bits * l;
                words[at / 64] |= value << (at % 64);
                if at % 64 + bits > 64 {
                    words[at / 64 + 1] |= value >> (64 - at % 64);
                }
            }
            words
        };
        let factors: Vec<u64> = e.iter().map(|e| pow(ROOT, e % 1024)).collect();
        let rotations: Vec<u64> = e.iter().map(|e| e / 1024).collect();
        Line::new(random.gap()).field(256, &pack(16, &e)).words(&factors).field(96, &pack(6, &rotations))
    };
    (0..300).map(line).collect()
}

fn bank() -> Vec<Line> {
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

/// Operands of 64 beats and their columns. An operand is 32 segments of 32 digits of 24 bits. Column j holds digit j of every
/// segment; its step s holds those of the segments 2 l + s in lane l.
fn loads() -> Vec<Line> {
    let mut random = Random(12);
    let mut lines = Vec::new();
    for case in 0..8 {
        let words = group(&mut random, 384, [6, 30, 31, 20, 10, 30, 31, 32][case]);
        let digit = |i: usize| (0..24).fold(0, |d, b| d | (words[(24 * i + b) / 64] >> ((24 * i + b) % 64) & 1) << b);
        lines.extend(words.chunks(6).map(|beat| Line(String::new()).words(beat)));
        for (column, step) in (0..32).flat_map(|column| [(column, 0), (column, 1)]) {
            let mut lanes = vec![0u64; 6];
            for l in 0..16 {
                let value: u64 = digit(32 * (2 * l + step) + column);
                let at = 24 * l;
                lanes[at / 64] |= value << (at % 64);
                if at % 64 > 40 {
                    lanes[at / 64 + 1] |= value >> (64 - at % 64);
                }
            }
            lines.push(Line(String::new()).words(&lanes));
        }
    }
    lines
}

fn network() -> Vec<Line> {
    let mut random = Random(11);
    let line = |i: usize| {
        let (sel, x) = (i % 16, random.residues(16));
        let y: Vec<u64> = (0..16).map(|l| x[l ^ sel]).collect();
        Line::new(random.gap()).field(4, &[sel as u64]).words(&x).words(&y[..8]).words(&y)
    };
    (0..160).map(line).collect()
}
