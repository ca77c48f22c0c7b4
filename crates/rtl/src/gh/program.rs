//! Programs of the accelerator: what its master control does for each primitive.

use solinas_schemes::gh::{Params, ResidueBatch, Schedule};

/// A place of an integer in the accelerator's memory.
pub(super) type Slot = u16;

/// Where a product goes: `sink_e` of `rtl/gh/sol_gh_pkg.sv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sink {
    Store,
    Add,
    Split,
    AddSplit,
    High,
    Subtract,
    AddLow,
}

/// An instruction: `instruction_t` of the same package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    Halt,
    /// The product of two slots, once no more than `flying` products are in flight.
    Multiply {
        sink: Sink,
        flying: u8,
        a: Slot,
        b: Slot,
        c: Slot,
        d: Slot,
    },
    /// The sum of `count` terms of the list from entry `first` on, and of the bit register.
    Sum {
        first: u16,
        count: u16,
        bit: bool,
        to: Slot,
    },
    Columns {
        to: Slot,
    },
    Candidates {
        expansion: Slot,
        block: u16,
        ciphertext: Slot,
    },
    Reduce {
        value: Slot,
        modulus: Slot,
        terms: u16,
    },
    Parity {
        value: Slot,
        half: Slot,
    },
}

/// Any number of products may be in flight.
const ANY: u8 = 3;

impl Instruction {
    /// The instruction as a word of the program store.
    pub(super) fn encode(self) -> u64 {
        let word = |op: u64, sink: u64, flying: u8, slots: [u16; 4]| {
            let fields = slots.iter().fold(0, |word, &slot| word << 14 | u64::from(slot & 0x3fff));
            op << 61 | sink << 58 | u64::from(flying) << 56 | fields
        };
        match self {
            Self::Halt => word(0, 0, 0, [0; 4]),
            Self::Multiply { sink, flying, a, b, c, d } => word(1, sink as u64, flying, [a, b, c, d]),
            Self::Sum { first, count, bit, to } => word(2, 0, 0, [first, count, bit.into(), to]),
            Self::Columns { to } => word(3, 0, 0, [0, 0, 0, to]),
            Self::Candidates { expansion, block, ciphertext } => word(4, 0, 0, [expansion, block, ciphertext, 0]),
            Self::Reduce { value, modulus, terms } => word(5, 0, 0, [value, modulus, terms, 0]),
            Self::Parity { value, half } => word(6, 0, 0, [value, half, 0, 0]),
        }
    }
}

/// A summand: a slot, added or subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) slot: Slot,
    pub(super) negative: bool,
}

impl Term {
    /// The term as an entry of the list store.
    pub(super) fn encode(self) -> u64 {
        u64::from(self.negative) << 14 | u64::from(self.slot)
    }
}

/// An entry of a list that is left out.
pub(super) const SKIP: u64 = 1 << 15;

/// Slots of values that stay the same under a key, and of the primitives' inputs and results.
pub(super) mod slots {
    use super::Slot;

    /// `d`.
    pub(in crate::gh) const MODULUS: Slot = 0;
    /// `floor(2^(bits of d - 17 + bits of a slot) / d)`.
    pub(in crate::gh) const INVERSE: Slot = 1;
    /// 1.
    pub(in crate::gh) const ONE: Slot = 2;
    /// `(d - 1) / 2`.
    pub(in crate::gh) const HALF: Slot = 3;
    /// A multiple of `d` above every sum of the encryption.
    pub(in crate::gh) const MULTIPLE: Slot = 4;
    /// The secret key.
    pub(in crate::gh) const SECRET: Slot = 5;
    /// The inputs.
    pub(in crate::gh) const X: Slot = 6;
    pub(in crate::gh) const Y: Slot = 7;
    /// The result.
    pub(in crate::gh) const RESULT: Slot = 8;
    /// Three work spaces of four slots: a product of two slots, a quotient, and an approximation of the quotient.
    pub(in crate::gh) const WORK: Slot = 9;
    /// Three groups of four, so the factors of the expansion are next: a lower and an upper part for each block.
    pub(in crate::gh) const FACTORS: Slot = WORK + 12;
    /// The bits of the columns, and the values of the schedule, for at most 15 blocks.
    pub(in crate::gh) const VALUES: Slot = FACTORS + 30;
    /// Twice the powers of `r`.
    pub(in crate::gh) const POWERS: Slot = VALUES + 1024;
}

/// A program with its list.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) code: Vec<Instruction>,
    pub(super) list: Vec<Term>,
}

/// A sum of products that is reduced modulo `d`.
#[derive(Debug, Clone)]
struct Reduced {
    pairs: Vec<(Slot, Slot)>,
    to: Slot,
}

impl Program {
    /// `RESULT <- X Y mod d`.
    pub(super) fn multiply() -> Self {
        let mut program = Self::default();
        program.products(&[Reduced { pairs: vec![(slots::X, slots::Y)], to: slots::RESULT }]);
        program.end()
    }

    /// The result bit: the parity of the centred `X SECRET mod d`.
    pub(super) fn decrypt() -> Self {
        let mut program = Self::default();
        program.products(&[Reduced { pairs: vec![(slots::X, slots::SECRET)], to: slots::RESULT }]);
        program.code.push(Instruction::Parity { value: slots::RESULT, half: slots::HALF });
        program.end()
    }

    /// `RESULT <-` the bit register plus a sum of `terms` terms, which the caller puts into the list, modulo `d`.
    pub(super) fn encrypt(terms: usize) -> Self {
        let mut program = Self::default();
        // The terms depend on the secret noise, so the caller writes them; here they only take their places.
        let place = Term { slot: slots::MULTIPLE, negative: false };
        let first = program.terms(std::iter::repeat_n(place, terms));
        program.code.push(Instruction::Sum { first, count: terms as u16, bit: true, to: slots::Y });
        program.products(&[Reduced { pairs: vec![(slots::Y, slots::ONE)], to: slots::RESULT }]);
        program.end()
    }

    /// `RESULT <-` Recrypt of `X`.
    pub(super) fn recrypt(params: &Params) -> Self {
        let mut program = Self::default();
        let (blocks, width) = (params.blocks() as u16, params.precision() as u16 + 1);
        for k in 0..blocks {
            let factor = slots::FACTORS + 2 * k;
            let product = |sink, b, d| Instruction::Multiply { sink, flying: ANY, a: slots::X, b, c: 0, d };
            program.code.push(product(Sink::Store, factor, slots::WORK));
            program.code.push(product(Sink::AddLow, factor + 1, slots::WORK + 1));
            program.code.push(Instruction::Candidates { expansion: slots::WORK, block: k, ciphertext: slots::X });
            program.code.push(Instruction::Columns { to: slots::VALUES + width * k });
        }
        let schedule = Schedule::new(params.blocks(), params.precision());
        let slot = |value: u32| slots::VALUES + value as Slot;
        for batch in &schedule.batches {
            match batch {
                ResidueBatch::Sums { lists, to } => {
                    for (i, list) in lists.iter().enumerate() {
                        let first =
                            program.terms(list.iter().map(|[value]| Term { slot: slot(*value), negative: false }));
                        let to = slot(*to + i as u32);
                        program.code.push(Instruction::Sum { first, count: list.len() as u16, bit: false, to });
                    }
                }
                ResidueBatch::Products { operands, sums, to } => {
                    let pair = |[a, b]: &[u32; 2]| (slot(operands[*a as usize]), slot(operands[*b as usize]));
                    let sums = sums.iter().zip(*to..);
                    let sums = sums.map(|(sum, to)| Reduced { pairs: sum.iter().map(pair).collect(), to: slot(to) });
                    program.products(&sums.collect::<Vec<_>>());
                }
            }
        }
        program.products(&[Reduced { pairs: vec![(slot(schedule.result), slots::ONE)], to: slots::RESULT }]);
        program.end()
    }

    /// Sums of products modulo `d`, by Barrett's method: `q = (x >> SHIFT) INVERSE` without its lower half, and
    /// `x - q d`, which is below `2 d` but for rare cases, is reduced by comparison.
    ///
    /// The products of three sums overlap: those of one, the quotient of the one before, the remainder of the one before
    /// that. Every product but the last one in flight has then been stored.
    fn products(&mut self, sums: &[Reduced]) {
        for step in 0..sums.len() + 2 {
            let work = |i: usize| slots::WORK + 4 * (i % 3) as Slot;
            if let Some(sum) = sums.get(step) {
                let to = work(step);
                for (i, &(a, b)) in sum.pairs.iter().enumerate() {
                    let (first, last) = (i == 0, i + 1 == sum.pairs.len());
                    let sink = match (first, last) {
                        (true, true) => Sink::Split,
                        (true, false) => Sink::Store,
                        (false, true) => Sink::AddSplit,
                        (false, false) => Sink::Add,
                    };
                    self.code.push(Instruction::Multiply { sink, flying: ANY, a, b, c: to + 2, d: to });
                }
            }
            // The quotient needs the products of the sum before. The youngest product is one of this sum, if there is one.
            let flying = u8::from(step < sums.len());
            if (1..=sums.len()).contains(&step) {
                let at = work(step - 1);
                self.code.push(Instruction::Multiply {
                    sink: Sink::High,
                    flying,
                    a: at + 2,
                    b: slots::INVERSE,
                    c: 0,
                    d: at + 3,
                });
            }
            if step >= 2 {
                let at = work(step - 2);
                self.code.push(Instruction::Multiply {
                    sink: Sink::Subtract,
                    flying: u8::from(step <= sums.len()),
                    a: at + 3,
                    b: slots::MODULUS,
                    c: at,
                    d: sums[step - 2].to,
                });
            }
        }
        for sum in sums {
            let terms = [(sum.to, false), (slots::MODULUS, true)].map(|(slot, negative)| Term { slot, negative });
            let terms = self.terms(terms);
            self.code.push(Instruction::Reduce { value: sum.to, modulus: slots::MODULUS, terms });
        }
    }

    /// Adds terms to the list. Returns the first entry.
    fn terms(&mut self, terms: impl IntoIterator<Item = Term>) -> u16 {
        let first = self.list.len() as u16;
        self.list.extend(terms);
        first
    }

    fn end(mut self) -> Self {
        self.code.push(Instruction::Halt);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_fit_the_stores() {
        for name in ["ci-3", "ci-7", "ci-15", "toy", "small"] {
            let params = Params::named(name).unwrap();
            let program = Program::recrypt(&params);
            let schedule = Schedule::new(params.blocks(), params.precision());
            let products = program.code.iter().filter(|code| matches!(code, Instruction::Multiply { .. })).count();
            println!("{name}: {} instructions, {products} products, {} terms", program.code.len(), program.list.len());
            assert!(program.code.len() <= 1024 && program.list.len() <= 1024 && schedule.slots <= 1024, "{name}");
            let n = params.dimension() as Slot;
            assert!(slots::POWERS + n < 1 << 14, "{name}");
            assert!(params.max_nonzeros() < 1023, "{name}");
        }
    }
}
