//! The schedule of the RSA exponentiator: the passes of modular products by McLaughlin's method, and the cycles that they take.
//!
//! A number has `points` digits. A transform of all points is two steps: kernels over the rows of each column, then kernels
//! over the columns of each row. With N' = 1/N modulo 2^n - 1, a product a b / (2^n - 1) mod N is
//! t = a b mod 2^n - 1, m = t N' mod 2^n - 1, w = (m N - a b) / 2 mod 2^n + 1, up to a sign.
//!
//! There are two kernels for forward steps: A, and B, which takes the second operand. Kernel B also does the last inverse step,
//! so the digits that leave it can enter kernel A some columns later.

/// A unit that one pass at a time may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The kernel of the first operand and the multipliers behind it.
    A,
    /// The kernel of the second operand and of the last inverse step.
    B,
}

/// Steps of a product, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// First step of the operands modulo 2^n - 1.
    FirstCyclic,
    /// First step of the operands modulo 2^n + 1.
    FirstNegacyclic,
    /// Second step modulo 2^n - 1, product a b, first inverse step.
    ProductCyclic,
    /// Second step modulo 2^n + 1 and product a b, which stays a spectrum.
    ProductNegacyclic,
    /// Last inverse step and carries: digits of t.
    DigitsT,
    /// First step of t.
    FirstT,
    /// Second step, product t N', first inverse step.
    ProductT,
    /// Last inverse step and carries: digits of m.
    DigitsM,
    /// First step of m modulo 2^n + 1.
    FirstM,
    /// Second step, m N - a b, first inverse step.
    ProductM,
    /// Last inverse step, carries and division by 2: digits of w.
    DigitsW,
}

/// Latencies, in cycles from the read of a word to the first read of what the pass writes. They follow from `sol_pkg` and
/// `sol_rsa_pkg`.
mod latency {
    /// Bank, network, register.
    const READ: u64 = 3;
    /// Network, register, bank.
    const WRITE: u64 = 3;
    const MULROT: u64 = 8;
    const NORM: u64 = 2;
    const K16: u64 = 10;
    const K32: u64 = 12;
    /// A kernel "2, then 8" of 16 points: collection, rotation and sum, normalization, `sol_rsa_dft8`.
    const S16: u64 = 1 + 2 + NORM + 5;
    /// The rotation of residues for 2^n + 1.
    const TWIST: u64 = 1 + NORM;
    /// A kernel over the rows, in columns of so many rows.
    const fn rows(rows: u64) -> u64 {
        if rows == 16 { K16 } else { K32 }
    }
    pub(super) const fn first(count: u64) -> u64 {
        READ + TWIST + rows(count) + MULROT + WRITE
    }
    pub(super) const fn spectrum() -> u64 {
        READ + K16 + MULROT + 1 + WRITE
    }
    pub(super) const fn product() -> u64 {
        READ + K16 + MULROT + 1 + S16 + MULROT + WRITE
    }
    pub(super) const fn digits(count: u64) -> u64 {
        // Twist, canonical form, sol_rsa_carry (4 cycles and a column).
        READ + rows(count) + TWIST + 1 + 4 + count / 8 + WRITE
    }
}

/// A pass of one product.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Product of a chain in which each needs the one before.
    pub product: usize,
    /// The modulus: 0, or 1 for the second CRT half.
    pub modulus: usize,
    /// The step.
    pub pass: Pass,
    /// The cycle of the first read.
    pub start: u64,
    /// The cycle after the last read.
    pub end: u64,
    /// The kernels that are in use.
    pub units: &'static [Unit],
}

/// The shape of an instance with 8 lanes: `points` = `rows` x 16 digits.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    rows: u64,
}

/// Columns of the matrix of digits.
const COLUMNS: u64 = 16;
/// Columns that the carries take twice.
const FILL: u64 = 4;
const LANES: u64 = 8;

impl Shape {
    /// 512 digits: moduli of 8192 bits (17-bit digits) or 12,288 bits (25-bit digits).
    pub const WHOLE: Self = Self { rows: 32 };
    /// 256 digits: the halves of CRT.
    pub const HALF: Self = Self { rows: 16 };

    fn column(self) -> u64 {
        self.rows / LANES
    }

    /// Cycles that a pass occupies its units.
    pub fn length(self, pass: Pass) -> u64 {
        let columns = if matches!(pass, Pass::DigitsT | Pass::DigitsM | Pass::DigitsW) { FILL } else { 0 };
        (COLUMNS + columns) * self.column()
    }

    /// Kernels of a pass.
    pub fn units(pass: Pass) -> &'static [Unit] {
        use Pass::*;
        match pass {
            // A table entry may be the second operand of any product; a square leaves B idle, for the same cycle count.
            FirstCyclic | FirstNegacyclic | ProductCyclic | ProductNegacyclic => &[Unit::A, Unit::B],
            FirstT | ProductT | FirstM | ProductM => &[Unit::A],
            DigitsT | DigitsM | DigitsW => &[Unit::B],
        }
    }

    /// Earliest start of a pass, given the start of an earlier one that it reads from.
    fn after(self, pass: Pass, from: Pass, start: u64) -> u64 {
        use Pass::*;
        let end = start + self.length(from);
        match from {
            // Digits leave in columns, in the order in which the first step takes them.
            DigitsT | DigitsM | DigitsW => start + (FILL + 1) * self.column() + latency::digits(self.rows),
            FirstCyclic | FirstNegacyclic | FirstT | FirstM => end + latency::first(self.rows),
            ProductNegacyclic => start + latency::spectrum(),
            _ if pass == from => end,
            _ => end + latency::product(),
        }
    }

    /// The schedule of `products` dependent products for each of `moduli` moduli.
    pub fn schedule(self, products: usize, moduli: usize) -> Vec<Entry> {
        use Pass::*;
        let order: [(Pass, &[Pass]); 11] = [
            (FirstCyclic, &[]),
            (FirstNegacyclic, &[]),
            (ProductCyclic, &[FirstCyclic]),
            (ProductNegacyclic, &[FirstNegacyclic]),
            (DigitsT, &[ProductCyclic]),
            (FirstT, &[DigitsT]),
            (ProductT, &[FirstT]),
            (DigitsM, &[ProductT]),
            (FirstM, &[DigitsM]),
            (ProductM, &[FirstM, ProductNegacyclic]),
            (DigitsW, &[ProductM]),
        ];
        let mut entries: Vec<Entry> = Vec::new();
        let mut next = vec![0; moduli];
        // The pass that may start first is placed first, so both moduli share the units in a fixed order.
        while next.iter().any(|step| *step < products * order.len()) {
            let candidate = |modulus: usize| {
                let (product, step) = (next[modulus] / order.len(), next[modulus] % order.len());
                let (pass, needs) = order[step];
                let units = Self::units(pass);
                let mut start = 0;
                for entry in &entries {
                    if entry.units.iter().any(|unit| units.contains(unit)) {
                        start = start.max(entry.end);
                    }
                    let digits = step < 2 && entry.product + 1 == product && entry.pass == DigitsW;
                    let own = entry.product == product && needs.contains(&entry.pass);
                    if entry.modulus == modulus && (digits || own) {
                        start = start.max(self.after(pass, entry.pass, entry.start));
                    }
                }
                Entry { product, modulus, pass, start, end: start + self.length(pass), units }
            };
            let open = (0..moduli).filter(|modulus| next[*modulus] < products * order.len());
            let Some(entry) = open.map(candidate).min_by_key(|entry| entry.start) else { break };
            next[entry.modulus] += 1;
            entries.push(entry);
        }
        entries
    }

    /// Cycles from a product to the next one of its chain, for all moduli together.
    pub fn interval(self, moduli: usize) -> u64 {
        let products = 24;
        let entries = self.schedule(products, moduli);
        let starts = |product: usize| {
            let firsts = entries.iter().filter(|entry| entry.product == product && entry.pass == Pass::FirstCyclic);
            firsts.map(|entry| entry.start).max().unwrap_or(0)
        };
        // The pattern of two moduli may alternate, so the mean of many products is rounded up.
        (starts(products - 1) - starts(products / 2 - 1)).div_ceil((products / 2) as u64)
    }

    /// Cycles of an exponentiation with a fixed window, without the transfer of its operands.
    pub fn exponentiation(self, bits: u64, window: u32, moduli: usize) -> u64 {
        (bits + bits.div_ceil(window.into()) + (1 << window)) * self.interval(moduli)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_unit_is_used_twice_at_a_time() {
        for (shape, moduli) in [(Shape::WHOLE, 1), (Shape::HALF, 1), (Shape::HALF, 2)] {
            let entries = shape.schedule(6, moduli);
            assert_eq!(entries.len(), 66 * moduli);
            for (i, a) in entries.iter().enumerate() {
                for b in &entries[..i] {
                    let shared = a.units.iter().any(|unit| b.units.contains(unit));
                    assert!(!shared || a.start >= b.end || b.start >= a.end, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn eight_lanes_stay_below_the_stated_cycles() {
        for entry in Shape::WHOLE.schedule(1, 1) {
            println!("{:?} {}..{}", entry.pass, entry.start, entry.end);
        }
        let (whole, half, both) = (Shape::WHOLE.interval(1), Shape::HALF.interval(1), Shape::HALF.interval(2));
        let private = Shape::WHOLE.exponentiation(8192, 4, 1);
        let crt = Shape::HALF.exponentiation(4096, 4, 2);
        println!("512 digits: {whole} cycles a product, {private} for 8192 bits");
        println!("256 digits: {half}; two moduli {both}, {crt} for 8192 bits by CRT");
        assert!(whole <= 900 && private <= 9_100_000 && crt <= 3_700_000);
    }

    /// Word (row, column) is in bank {row[2], row[1] ^ row[4], row[0] ^ row[3]} ^ column[3:1], at the address {row, column[0]}.
    #[test]
    fn eight_lanes_meet_eight_banks() {
        let bank = |row: u64, column: u64| ((row & 7) ^ (row >> 3)) ^ (column >> 1);
        for (rows, step) in [(16, 2), (32, 4)] {
            let distinct = |word: &dyn Fn(u64) -> (u64, u64)| {
                let banks = (0..LANES).map(word).fold(0u32, |set, (row, column)| set | 1 << bank(row, column));
                assert_eq!(banks, 0xff, "{rows} rows");
            };
            for column in 0..COLUMNS {
                for s in 0..step {
                    distinct(&|lane| (step * lane + s, column));
                    distinct(&|lane| (lane + LANES * s, column));
                }
            }
            for row in 0..rows {
                for t in 0..2 {
                    distinct(&|lane| (row, 2 * lane + t));
                }
            }
        }
    }
}
