//! The schedule of the exponentiator, cycle by cycle: the passes of modular products by McLaughlin's method.
//!
//! With N' = 1/N modulo R = 2^n - 1, a product a b / R mod N is t = a b mod R, m = t N' mod R, and
//! w = (m N - a b) / 2 mod 2^n + 1. A transform takes two steps: kernels over the rows of each column of digits, then kernels
//! over the columns of each row. This model follows `rtl/rsa/sol_rsa_thread.sv` and `rtl/rsa/sol_rsa_scheduler.sv`.

/// A unit that one pass at a time may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Kernel A and the multipliers behind it.
    A,
    /// Kernel B: the second operand, and the last inverse step with the carries.
    B,
}

/// Steps of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// First step of a, modulo 2^n - 1.
    FirstCyclic,
    /// First step of a, modulo 2^n + 1.
    FirstNegacyclic,
    /// First step of the second operand, modulo 2^n - 1. It comes in a gap of the product before.
    OperandCyclic,
    /// First step of the second operand, modulo 2^n + 1.
    OperandNegacyclic,
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
    /// First step of m, modulo 2^n + 1.
    FirstM,
    /// Second step, m N - a b, first inverse step.
    ProductM,
    /// Last inverse step, carries and division by 2: digits of w.
    DigitsW,
}

/// The chain of passes. Each pass needs the pass before it.
const CHAIN: [Pass; 9] = [
    Pass::FirstCyclic,
    Pass::ProductCyclic,
    Pass::DigitsT,
    Pass::FirstT,
    Pass::ProductT,
    Pass::DigitsM,
    Pass::FirstM,
    Pass::ProductM,
    Pass::DigitsW,
];

/// Stages and latencies of `rtl/rsa/sol_rsa_pkg.sv`.
mod stage {
    pub(super) const READ: u64 = 4;
    pub(super) const KERNEL: u64 = 5;
    pub(super) const LAST: u64 = 1;
    pub(super) const K16: u64 = 10;
    pub(super) const K32: u64 = 12;
    pub(super) const MULTIPLIER: u64 = 8;
    pub(super) const SECOND: u64 = 2 * MULTIPLIER + 10;
    pub(super) const BANK: u64 = 1;
    pub(super) const CARRY: u64 = 4 + 4;
    pub(super) const FILL: u64 = 4;
}

/// A pass of one product.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Number of the product, from 0 on. The first 15 are the powers of the window, and the next one is its power 0.
    pub product: usize,
    /// The modulus: 0, or 1 for the second CRT half.
    pub modulus: usize,
    /// The step.
    pub pass: Pass,
    /// The cycle of its first read, from the start of the power on.
    pub start: u64,
    /// The cycle after the last read.
    pub end: u64,
    /// The kernels that the pass uses.
    pub units: &'static [Unit],
}

/// The shape of a number: `rows` x 16 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    rows: u64,
}

/// The purpose of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Table,
    One,
    Square,
    Multiply,
    Last,
}

/// A modulus. See `sol_rsa_thread`.
#[derive(Debug, Clone)]
struct Thread {
    kind: Kind,
    link: usize,
    entry: u64,
    squares: u64,
    windows: u64,
    timer: u64,
    first: bool,
    product: bool,
    cyclic: bool,
    negacyclic: bool,
    late: bool,
    count: usize,
    done: bool,
}

impl Thread {
    fn next(&self) -> Kind {
        match self.kind {
            Kind::Table if self.entry < 15 => Kind::Table,
            Kind::Table => Kind::One,
            Kind::One => Kind::Square,
            Kind::Square if self.squares == 3 => Kind::Multiply,
            Kind::Multiply if self.windows == 0 => Kind::Last,
            Kind::Square | Kind::Multiply => Kind::Square,
            Kind::Last => Kind::Last,
        }
    }

    /// The pass that the thread asks for on unit A, and the number of its product.
    fn asks_a(&self) -> Option<(Pass, usize)> {
        let due = self.timer == 0;
        let allowed = !self.late || (self.link == 0 && due);
        // Operands of the first product are taken at its beginning.
        let next = self.count + usize::from(self.link > 0);
        match () {
            () if self.done => None,
            () if self.first => Some((Pass::FirstNegacyclic, self.count)),
            () if self.product => Some((Pass::ProductNegacyclic, self.count)),
            () if self.cyclic && allowed => Some((Pass::OperandCyclic, next)),
            () if self.negacyclic && allowed => Some((Pass::OperandNegacyclic, next)),
            () if !due || Shape::is_digits(CHAIN[self.link]) => None,
            () if self.link == 0 && (self.cyclic || self.negacyclic) => None,
            () => Some((CHAIN[self.link], self.count)),
        }
    }

    fn asks_b(&self) -> Option<(Pass, usize)> {
        (!self.done && self.timer == 0 && Shape::is_digits(CHAIN[self.link])).then_some((CHAIN[self.link], self.count))
    }

    /// Takes a grant. The timer then counts the cycles until the next link may start.
    fn granted(&mut self, shape: Shape, pass: Pass) {
        match pass {
            Pass::FirstNegacyclic => return self.first = false,
            Pass::ProductNegacyclic => return self.product = false,
            Pass::OperandCyclic => return self.cyclic = false,
            Pass::OperandNegacyclic => return self.negacyclic = false,
            _ => {}
        }
        let second = self.kind != Kind::Last && self.next() != Kind::Square;
        match pass {
            Pass::FirstCyclic => {
                self.first = true;
                self.windows -= u64::from(self.kind == Kind::Multiply);
            }
            Pass::ProductCyclic => self.product = true,
            Pass::ProductT if second => {
                (self.cyclic, self.late) = (true, self.kind == Kind::Table && self.entry == 1);
            }
            Pass::ProductM => self.negacyclic = second,
            _ => {}
        }
        self.timer = shape.distance(pass);
        self.link = (self.link + 1) % CHAIN.len();
        if pass == Pass::DigitsW {
            self.done = self.kind == Kind::Last;
            let next = self.next();
            self.squares = if self.kind == Kind::Square { (self.squares + 1) % 4 } else { 0 };
            (self.kind, self.entry, self.count) = (next, self.entry + 1, self.count + 1);
        }
    }
}

impl Shape {
    /// 512 digits: moduli of 8192 bits (17-bit digits) or 12,288 bits (25-bit digits).
    pub const WHOLE: Self = Self { rows: 32 };
    /// 256 digits: the halves of CRT.
    pub const HALF: Self = Self { rows: 16 };

    fn is_digits(pass: Pass) -> bool {
        matches!(pass, Pass::DigitsT | Pass::DigitsM | Pass::DigitsW)
    }

    /// Cycles of a column.
    fn column(self) -> u64 {
        self.rows / 8
    }

    /// Cycles that a pass reads.
    pub fn length(self, pass: Pass) -> u64 {
        (16 + if Self::is_digits(pass) { stage::FILL } else { 0 }) * self.column()
    }

    /// Least cycles from the start of a link of the chain to the next link.
    fn distance(self, pass: Pass) -> u64 {
        let (whole, kernel) = (self == Self::WHOLE, if self == Self::WHOLE { stage::K32 } else { stage::K16 });
        let length = self.length(Pass::FirstCyclic);
        match pass {
            Pass::FirstCyclic => 1,
            Pass::FirstT | Pass::FirstM => {
                // Row 0 of the last column is written before cycle 1 of the next step, which reads it.
                length - self.column() - 1 + stage::KERNEL + kernel + stage::MULTIPLIER + stage::BANK - stage::READ
            }
            Pass::DigitsT | Pass::DigitsM | Pass::DigitsW => {
                let delay = if whole { 4 } else { 2 };
                // A column is written before the first of its rows is read.
                self.column() * stage::FILL + self.column() + (stage::LAST + kernel + stage::CARRY + delay)
            }
            // The last row is written before the step of the first column that reads it.
            _ => length - 1 - self.column() + stage::KERNEL + stage::K16 + stage::SECOND + stage::BANK,
        }
    }

    /// The passes of a power with a given number of windows of 4 bits, and the cycle after its last pass.
    pub fn power(self, windows: u64, moduli: usize) -> (Vec<Entry>, u64) {
        let thread = Thread {
            kind: Kind::Table,
            link: 0,
            entry: 1,
            squares: 0,
            windows,
            timer: 0,
            first: false,
            product: false,
            cyclic: true,
            negacyclic: true,
            late: true,
            count: 0,
            done: false,
        };
        let mut threads = vec![thread; moduli];
        let (mut entries, mut cycle) = (Vec::new(), 0);
        let (mut a_free, mut b_free, mut a_last, mut b_last) = (0, 0, 1, 1);
        let length = self.length(Pass::FirstCyclic);
        while threads.iter().any(|thread| !thread.done) {
            // The requests are the requests at the beginning of the cycle.
            let asks_a: Vec<_> = threads.iter().map(Thread::asks_a).collect();
            let asks_b: Vec<_> = threads.iter().map(Thread::asks_b).collect();
            threads.iter_mut().for_each(|thread| thread.timer = thread.timer.saturating_sub(1));
            let order = |last: usize| if last == 1 { [0, 1] } else { [1, 0] }.into_iter().filter(|i| *i < moduli);
            let both = |thread: &Thread, pass| {
                matches!(pass, Pass::ProductCyclic | Pass::ProductNegacyclic) && thread.kind != Kind::Square
            };
            let mut takes_b = false;
            if cycle >= a_free {
                let found = order(a_last).find_map(|i| {
                    let (pass, product) = asks_a[i]?;
                    (cycle >= b_free || !both(&threads[i], pass)).then_some((i, pass, product))
                });
                if let Some((i, pass, product)) = found {
                    takes_b = both(&threads[i], pass);
                    let first = !matches!(
                        pass,
                        Pass::ProductCyclic | Pass::ProductNegacyclic | Pass::ProductT | Pass::ProductM
                    );
                    // A kernel of 16 points leaves two idle cycles behind one of 32.
                    a_free = cycle + length + if first && self == Self::WHOLE { 2 } else { 0 };
                    a_last = i;
                    let units: &[Unit] = if takes_b { &[Unit::A, Unit::B] } else { &[Unit::A] };
                    entries.push(Entry { product, modulus: i, pass, start: cycle, end: cycle + length, units });
                    threads[i].granted(self, pass);
                    threads[i].timer = threads[i].timer.saturating_sub(u64::from(CHAIN.contains(&pass)));
                }
            }
            if takes_b {
                b_free = cycle + length + stage::KERNEL - stage::LAST;
            } else if cycle >= b_free
                && let Some((i, (pass, product))) = order(b_last).find_map(|i| Some((i, asks_b[i]?)))
            {
                let end = cycle + self.length(pass);
                (b_free, b_last) = (end, i);
                entries.push(Entry { product, modulus: i, pass, start: cycle, end, units: &[Unit::B] });
                threads[i].granted(self, pass);
                threads[i].timer = threads[i].timer.saturating_sub(1);
            }
            cycle += 1;
        }
        (entries, cycle)
    }

    /// The passes of the first `products` products of a power, for each of `moduli` moduli.
    pub fn schedule(self, products: usize, moduli: usize) -> Vec<Entry> {
        let (mut entries, _) = self.power(products as u64, moduli);
        entries.retain(|entry| entry.product < products);
        entries
    }

    /// Mean cycles of the products of a power, for all moduli together, rounded up: four squares and a product by a power of
    /// the window, over and over.
    pub fn interval(self, moduli: usize) -> u64 {
        let (windows, more) = (20, 40);
        (self.power(windows + more, moduli).1 - self.power(windows, moduli).1).div_ceil(5 * more)
    }

    /// Cycles of a power with an exponent of a given number of bits, without the transfer of its operands.
    pub fn exponentiation(self, bits: u64, moduli: usize) -> u64 {
        self.power(16 * bits.div_ceil(64), moduli).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_unit_is_used_twice_at_a_time() {
        for (shape, moduli) in [(Shape::WHOLE, 1), (Shape::HALF, 1), (Shape::HALF, 2)] {
            let entries = shape.schedule(30, moduli);
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
        let (whole, half, both) = (Shape::WHOLE.interval(1), Shape::HALF.interval(1), Shape::HALF.interval(2));
        let (private, crt) = (Shape::WHOLE.exponentiation(8192, 1), Shape::HALF.exponentiation(4096, 2));
        println!("512 digits: {whole} cycles a product, {private} for 8192 bits");
        println!("256 digits: {half}; two moduli {both}, {crt} for 8192 bits by CRT");
        println!(
            "12,288 bits: {}, by CRT {}",
            Shape::WHOLE.exponentiation(12288, 1),
            Shape::HALF.exponentiation(6144, 2)
        );
        assert!(whole <= 900 && private <= 9_100_000 && crt <= 3_700_000);
    }

    /// The banks of `rtl/rsa/sol_rsa_pkg.sv`: word (row, column) is in bank fold(row) ^ column[3:1], digit (row, column) in bank
    /// fold(row).
    #[test]
    fn eight_lanes_meet_eight_banks() {
        let bank = |row: u64, column: u64| ((row & 7) ^ (row >> 3)) ^ (column >> 1);
        for (rows, step) in [(16, 2), (32, 4)] {
            let distinct = |word: &dyn Fn(u64) -> (u64, u64)| {
                let banks = (0..8).map(word).fold(0u32, |set, (row, column)| set | 1 << bank(row, column));
                assert_eq!(banks, 0xff, "{rows} rows");
            };
            for column in 0..16 {
                for s in 0..step {
                    distinct(&|lane| (step * lane + s, column));
                    distinct(&|lane| (lane + 8 * s, column));
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
