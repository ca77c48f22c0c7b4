//! Vectors of the leaves in `rtl/gh`: operations on integers in the memory of `bench_memory`.

use solinas_bigint::Natural;

use crate::line::{Line, Random};

/// Beats of a slot, and its bits.
const BEATS: usize = 8;
const SLOT: usize = 384 * BEATS;
/// Beat of slot 0, and that of the table.
const BASE: usize = 0x1_2008;
const TABLE: usize = 0x1_2200;

/// Lines of `bench_memory`, by their kinds.
#[derive(Clone, Copy)]
enum Kind {
    Memory,
    Store,
    Stream,
    Start,
    Check,
    Result,
}

/// The lines of a bench.
#[derive(Default)]
struct Bench(Vec<Line>);

impl Bench {
    fn line(&mut self, kind: Kind, address: usize, words: &[u64]) {
        self.0.push(Line(String::new()).field(8, &[kind as u64]).field(32, &[address as u64]).field(384, words));
    }

    /// An integer of a given number of beats.
    fn beats(&mut self, kind: Kind, address: usize, x: &Natural, beats: usize) {
        for beat in 0..beats {
            let words: Vec<u64> = x.words().iter().copied().skip(6 * beat).take(6).collect();
            self.line(kind, address + beat, &words);
        }
    }

    fn slot(&mut self, kind: Kind, slot: usize, x: &Natural) {
        self.beats(kind, BASE + BEATS * slot, x, BEATS);
    }

    /// An operation with settings of 32 bits each, and the number of cycles to its reset.
    fn start(&mut self, reset: usize, settings: &[usize]) {
        let words: Vec<u64> =
            settings.chunks(2).map(|pair| pair[0] as u64 | (pair.get(1).copied().unwrap_or(0) as u64) << 32).collect();
        self.line(Kind::Start, reset, &words);
    }
}

/// An integer of a given number of bits: zero, one, ones only, a power, or a random one.
fn integer(random: &mut Random, bits: usize) -> Natural {
    let ones = Natural::power_of_two(bits).checked_sub(&Natural::one()).unwrap_or_default();
    match random.below(8) {
        0 => Natural::default(),
        1 => Natural::one(),
        2 => ones,
        3 => Natural::power_of_two(bits - 1),
        _ => Natural::from_words(random.residues(bits.div_ceil(64))).low_bits(bits),
    }
}

/// x - y modulo a power of two.
fn difference(x: &Natural, y: &Natural, bits: usize) -> Natural {
    let one_more = &Natural::power_of_two(bits) + &x.low_bits(bits);
    one_more.checked_sub(&y.low_bits(bits)).unwrap_or_default().low_bits(bits)
}

/// A place in an integer: beats and bits of a beat.
fn place(bit: usize) -> usize {
    ((bit / 384) << 9) + bit % 384
}

/// Comparisons of two slots.
pub(crate) fn comparisons() -> Vec<Line> {
    let mut random = Random(30);
    let mut bench = Bench::default();
    for case in 0..60 {
        let a = integer(&mut random, SLOT);
        // Equal, different in one bit, or of no relation.
        let b = match case % 4 {
            0 => a.clone(),
            1 => difference(&a, &Natural::power_of_two([0, 383, 384, SLOT - 1][case / 4 % 4]), SLOT),
            2 => (&a + &Natural::power_of_two(random.below(SLOT))).low_bits(SLOT),
            _ => integer(&mut random, SLOT),
        };
        let (s, t) = (random.below(8), 8 + random.below(8));
        bench.slot(Kind::Memory, s, &a);
        bench.slot(Kind::Memory, t, &b);
        if case == 20 {
            bench.start(30, &[t, s, BASE]);
        }
        bench.start(0, &[s, t, BASE]);
        let result = u64::from(a > b) << 2 | u64::from(a == b) << 1 | u64::from(!a.is_even());
        bench.line(Kind::Result, 0, &[result]);
    }
    bench.0
}

/// Products that go to memory in all ways. Memory is 8 slots, and all of them are compared.
pub(crate) fn sinks() -> Vec<Line> {
    let mut random = Random(31);
    let mut bench = Bench::default();
    let mut slots: Vec<Natural> = (0..8).map(|_| integer(&mut random, SLOT)).collect();
    for case in 0..84 {
        let (sink, d) = (case % 7, random.below(3));
        let c = 4 + random.below(4);
        let long = sink < 4;
        let (bits, beats) = if long { (2 * SLOT, 2 * BEATS) } else { (SLOT, BEATS) };
        let product = integer(&mut random, bits);
        let shift = match case / 7 {
            0 => 0,
            1 => SLOT - 1,
            2 => 384,
            _ => random.below(SLOT),
        };
        if case % 4 == 0 {
            slots[d] = integer(&mut random, SLOT);
            slots[d + 1] = integer(&mut random, SLOT);
        }
        for (slot, x) in slots.iter().enumerate() {
            bench.slot(Kind::Memory, slot, x);
        }
        if case == 30 || case == 31 {
            // The contents of memory after a reset are of no use, so memory is written again.
            bench.beats(Kind::Stream, 0, &product, beats);
            bench.start(20, &[sink, c, d, BASE, place(shift)]);
            for (slot, x) in slots.iter().enumerate() {
                bench.slot(Kind::Memory, slot, x);
            }
        }
        bench.beats(Kind::Stream, 0, &product, beats);
        bench.start(0, &[sink, c, d, BASE, place(shift)]);
        let double = &slots[d] + &(&slots[d + 1] << SLOT);
        let sum = (&double + &product).low_bits(2 * SLOT);
        let split = |x: &Natural| (x >> shift).low_bits(SLOT);
        match sink {
            0 => (slots[d], slots[d + 1]) = (product.low_bits(SLOT), &product >> SLOT),
            1 => (slots[d], slots[d + 1]) = (sum.low_bits(SLOT), &sum >> SLOT),
            2 => (slots[d], slots[c]) = (product.low_bits(SLOT), split(&product)),
            3 => (slots[d], slots[c]) = (sum.low_bits(SLOT), split(&sum)),
            4 => slots[d] = product,
            5 => slots[d] = difference(&slots[c], &product, SLOT),
            _ => slots[d] = (&slots[d] + &product).low_bits(SLOT),
        }
        for (slot, x) in slots.iter().enumerate() {
            bench.slot(Kind::Check, slot, x);
        }
    }
    bench.0
}

/// Sums of lists of terms, and sums of the columns of a table.
pub(crate) fn sums() -> Vec<Line> {
    let mut random = Random(32);
    let mut bench = Bench::default();
    let mut slots: Vec<Natural> = (0..16).map(|_| integer(&mut random, SLOT)).collect();
    slots[0] = difference(&Natural::default(), &Natural::one(), SLOT);
    for (slot, x) in slots.iter().enumerate() {
        bench.slot(Kind::Memory, slot, x);
    }
    for case in 0..24 {
        // The longest lists add or subtract the largest integer only.
        let count = [1, 1023, 1023, 2, 3, 40][if case < 5 { case } else { 5 }];
        let (first, bit, to) = (random.below(1024), random.below(2), random.below(16));
        let (mut plus, mut minus) = (Natural::from(bit as u64), Natural::default());
        for i in 0..count {
            let long = count > 1000;
            let (slot, skip) = (if long { 0 } else { random.below(16) }, !long && random.below(5) == 0);
            let negative = if long { case == 2 } else { random.below(2) == 0 };
            let term = u64::from(skip) << 15 | u64::from(negative) << 14 | slot as u64;
            bench.line(Kind::Store, (first + i) % 1024, &[term]);
            let sum = if negative { &mut minus } else { &mut plus };
            if !skip {
                *sum = &*sum + &slots[slot];
            }
        }
        let to = if count > 1000 { 15 } else { to };
        if case == 10 {
            bench.start(60, &[0, bit, first, count, 15, BASE, TABLE]);
            bench.slot(Kind::Memory, 15, &slots[15]);
        }
        bench.start(0, &[0, bit, first, count, to, BASE, TABLE]);
        slots[to] = difference(&plus, &minus, SLOT);
        bench.slot(Kind::Check, to, &slots[to]);
        bench.line(Kind::Result, 0, &[u64::from(plus < minus)]);
    }
    for case in 0..10 {
        let count = [1, 2, 5, 60][case % 4];
        let (summands, to) = ((0..count).map(|_| integer(&mut random, SLOT)).collect::<Vec<_>>(), random.below(11));
        let mut sums = vec![Natural::default(); 5];
        for (k, x) in summands.iter().enumerate() {
            let mask = if case == 0 { 31 } else { random.word() & 31 };
            bench.line(Kind::Store, 1 << 16 | k, &[mask]);
            for (_, sum) in sums.iter_mut().enumerate().filter(|(o, _)| mask >> (4 - o) & 1 == 1) {
                *sum = &*sum + x;
            }
            for beat in 0..BEATS {
                bench.beats(Kind::Memory, TABLE + beat * count + k, &(x >> (384 * beat)).low_bits(384), 1);
            }
        }
        bench.start(0, &[1, 0, 0, count, to, BASE, TABLE]);
        for (o, sum) in sums.iter().enumerate() {
            bench.slot(Kind::Check, to + o, &sum.low_bits(SLOT));
        }
        bench.line(Kind::Result, 1, &[(TABLE + BEATS * count) as u64]);
    }
    bench.0
}

/// Candidates from expansions in two slots.
pub(crate) fn candidates() -> Vec<Line> {
    let mut random = Random(33);
    let mut bench = Bench::default();
    for case in 0..24 {
        let (precision, ratio) = (2 + case % 3, [103, 17, 401, 384][case % 4]);
        let point = 384 * 14 + random.below(384);
        let count = if case == 5 { 1 } else { (point / ratio + 1).min(60) };
        let guard = 384 * 3 + random.below(384);
        let mut expansion = integer(&mut random, 2 * SLOT);
        if case % 4 == 1 {
            // Guard bits that are all equal, or all but the highest or the lowest one.
            let ones = (1u64 << 62) - 1;
            let bits = Natural::from([0, ones, 1 << 61, 1, ones >> 1, ones - 1][case / 4]);
            let present = &(&expansion >> guard).low_bits(62) << guard;
            expansion = expansion.checked_sub(&present).unwrap_or_default();
            expansion = &expansion + &(&bits << guard);
        }
        let ciphertext = integer(&mut random, SLOT);
        let odd = random.below(2);
        let (e, c) = (random.below(5), 8 + random.below(5));
        bench.beats(Kind::Memory, BASE + BEATS * e, &expansion, 2 * BEATS);
        bench.slot(Kind::Memory, c, &ciphertext);
        let settings = [e, c, odd, BASE, place(point), place(ratio), place(guard), precision, count];
        if case == 7 {
            bench.start(100, &settings);
        }
        bench.start(0, &settings);
        let parity = odd == 1 && !ciphertext.is_even();
        for i in 0..count {
            let window = (&expansion >> (point - i * ratio)).low_bits(precision + 2).to_u64().unwrap_or(0);
            let fraction = window & ((2 << precision) - 1);
            let rounded = (fraction >> 1) + (fraction & 1);
            let above = (window >> (precision + 1) & 1) ^ u64::from(i == 0 && parity);
            let candidate = rounded ^ above << precision;
            bench.line(Kind::Result, i, &[candidate << (4 - precision)]);
        }
        let bits = (&expansion >> guard).low_bits(62).to_u64().unwrap_or(1);
        bench.line(Kind::Result, 1 << 16, &[u64::from(bits == 0 || bits == (1 << 62) - 1)]);
    }
    bench.0
}
