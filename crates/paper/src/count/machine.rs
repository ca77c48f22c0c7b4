//! A machine with 64-bit words that counts the operations that it executes.

/// Kinds of operations with their MIPS64 names, the rows of `wang2014`, table 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// `dmultu`: the product of two words, which has two words.
    pub(crate) multiply: u64,
    /// `mflo`, `mfhi`: moves one word of a product into a register.
    pub(crate) move_from: u64,
    /// `daddu`, `dsubu`
    pub(crate) add: u64,
    /// `dsrl`, `dsll`
    pub(crate) shift: u64,
    /// `and`, `or`
    pub(crate) logic: u64,
    /// `sltu`: 1 if the first word is less than the second.
    pub(crate) compare: u64,
    /// `movz`, `movn`: selects one of two words by a third.
    pub(crate) select: u64,
    /// Loads a constant into a register.
    pub(crate) load_immediate: u64,
}

impl Counts {
    /// Names of the rows in the table.
    pub(crate) const NAMES: [&str; 8] =
        ["dmultu", "mflo/mfhi", "daddu/dsubu", "dsrl/dsll", "and/or", "sltu", "movz/movn", "load immediate"];

    /// The counts, in the order of [`Self::NAMES`].
    pub(crate) fn values(&self) -> [u64; 8] {
        let Self { multiply, move_from, add, shift, logic, compare, select, load_immediate } = *self;
        [multiply, move_from, add, shift, logic, compare, select, load_immediate]
    }

    pub(crate) fn total(&self) -> u64 {
        self.values().iter().sum()
    }
}

/// Both words of a product, the result of `dmultu`.
#[derive(Clone, Copy)]
pub(crate) struct Product(u128);

/// Computes and counts operations. Loads and stores of operands, addresses and branches are not ALU operations, so they do not count.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    counts: Counts,
}

impl Machine {
    /// Counts of the operations so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    #[inline(always)]
    pub(crate) fn dmultu(&mut self, a: u64, b: u64) -> Product {
        self.counts.multiply += 1;
        Product(u128::from(a) * u128::from(b))
    }

    #[inline(always)]
    pub(crate) fn mflo(&mut self, product: Product) -> u64 {
        self.counts.move_from += 1;
        product.0 as u64
    }

    #[inline(always)]
    pub(crate) fn mfhi(&mut self, product: Product) -> u64 {
        self.counts.move_from += 1;
        (product.0 >> 64) as u64
    }

    #[inline(always)]
    pub(crate) fn daddu(&mut self, a: u64, b: u64) -> u64 {
        self.counts.add += 1;
        a.wrapping_add(b)
    }

    #[inline(always)]
    pub(crate) fn dsubu(&mut self, a: u64, b: u64) -> u64 {
        self.counts.add += 1;
        a.wrapping_sub(b)
    }

    /// Range: `by` in 0..64.
    #[inline(always)]
    pub(crate) fn dsll(&mut self, a: u64, by: u32) -> u64 {
        self.counts.shift += 1;
        a << by
    }

    /// Range: `by` in 0..64.
    #[inline(always)]
    pub(crate) fn dsrl(&mut self, a: u64, by: u32) -> u64 {
        self.counts.shift += 1;
        a >> by
    }

    #[inline(always)]
    pub(crate) fn and(&mut self, a: u64, b: u64) -> u64 {
        self.counts.logic += 1;
        a & b
    }

    #[inline(always)]
    pub(crate) fn or(&mut self, a: u64, b: u64) -> u64 {
        self.counts.logic += 1;
        a | b
    }

    #[inline(always)]
    pub(crate) fn sltu(&mut self, a: u64, b: u64) -> u64 {
        self.counts.compare += 1;
        u64::from(a < b)
    }

    /// `new` if `condition` is not zero, `old` otherwise.
    #[inline(always)]
    pub(crate) fn movn(&mut self, old: u64, new: u64, condition: u64) -> u64 {
        self.counts.select += 1;
        if condition == 0 { old } else { new }
    }

    #[inline(always)]
    pub(crate) fn load_immediate(&mut self, value: u64) -> u64 {
        self.counts.load_immediate += 1;
        value
    }
}
