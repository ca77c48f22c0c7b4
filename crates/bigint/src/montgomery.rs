//! Powers modulo an odd number, at word level.

use solinas_field::limbs::{self, Multiplier};
use zeroize::Zeroizing;

use crate::{Error, Natural};

/// Arithmetic modulo an odd number of up to some ten thousand bits, by Montgomery's method at word level
/// (montgomery1985).
///
/// The time of every function depends on the lengths of the modulus and of the operands, and not on their values.
/// Functions named `vartime_*` are exceptions. The plan holds the modulus (for RSA a secret prime) and is wiped on
/// drop, as tables and temporaries are. Results are plain [`Natural`]s; the caller must wipe them if they are secret.
///
/// ```
/// use solinas_bigint::{Montgomery, Natural};
///
/// let plan = Montgomery::new(&Natural::from(1_000_000_007u64))?;
/// let power = plan.pow(&Natural::from(2u64), &Natural::from(1_000_000_006u64));
/// assert!(power.is_one()); // Fermat
/// # Ok::<(), solinas_bigint::Error>(())
/// ```
pub struct Montgomery {
    plan: limbs::Montgomery,
    bits: usize,
}

/// Buffers of one computation, wiped at its end.
struct Registers {
    x: Zeroizing<Vec<u64>>,
    y: Zeroizing<Vec<u64>>,
    scratch: Zeroizing<Vec<u64>>,
}

impl Montgomery {
    /// Makes a plan for an odd modulus above 1, with the fastest instructions of this CPU (`SOLINAS_BACKEND` limits
    /// them).
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for 0 and 1, [`Error::EvenModulus`].
    pub fn new(modulus: &Natural) -> Result<Self, Error> {
        Self::with_multiplier(modulus, Multiplier::detect())
    }

    /// Makes a plan as [`Self::new`] does, with the instructions of `multiplier`. All give the same results.
    ///
    /// # Errors
    /// [`Error::ModulusTooSmall`] for 0 and 1, [`Error::EvenModulus`].
    pub fn with_multiplier(modulus: &Natural, multiplier: Multiplier) -> Result<Self, Error> {
        match modulus.to_u64() {
            Some(modulus @ 0..=1) => Err(Error::ModulusTooSmall { modulus }),
            _ if modulus.is_even() => Err(Error::EvenModulus),
            _ => Ok(Self { plan: limbs::Montgomery::new(modulus.words(), multiplier), bits: modulus.bit_len() }),
        }
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The instructions on which it runs.
    pub fn multiplier(&self) -> Multiplier {
        self.plan.multiplier()
    }

    /// x modulo m. Range: x any number.
    pub fn reduce(&self, x: &Natural) -> Natural {
        let mut r = self.registers();
        self.plan.enter(&mut r.x, x.words(), &mut r.scratch);
        self.leave(r)
    }

    /// a b modulo m. Range: a and b any numbers.
    pub fn mul(&self, a: &Natural, b: &Natural) -> Natural {
        let mut r = self.registers();
        let mut product = self.residue();
        self.plan.enter(&mut r.x, a.words(), &mut r.scratch);
        self.plan.enter(&mut r.y, b.words(), &mut r.scratch);
        self.plan.mul(&mut product, &r.x, &r.y, &mut r.scratch);
        r.x = product;
        self.leave(r)
    }

    /// a^2 modulo m. Range: a any number.
    pub fn square(&self, a: &Natural) -> Natural {
        let mut r = self.registers();
        self.plan.enter(&mut r.x, a.words(), &mut r.scratch);
        self.square_times(&mut r, 1);
        self.leave(r)
    }

    /// base^exponent modulo m, for a secret exponent. It uses fixed windows and reads every entry of the table for each
    /// window.
    ///
    /// The time depends on the bits of the modulus, or of the exponent if it has more. A secret exponent below the
    /// modulus therefore does not reveal its length. Range: base and exponent any numbers; 0^0 is 1.
    pub fn pow(&self, base: &Natural, exponent: &Natural) -> Natural {
        let exponent_words = exponent.words();
        let bits = self.bits.max(exponent.bit_len());
        let window = window_of(bits);
        let len = self.plan.residue_len();
        let mut r = self.registers();

        // table[i] = base^i, each computed from the half of i.
        let mut table = Zeroizing::new(vec![0; len << window]);
        table[..len].copy_from_slice(self.plan.one());
        self.plan.enter(&mut table[len..2 * len], base.words(), &mut r.scratch);
        for i in 2..1 << window {
            let (known, rest) = table.split_at_mut(i * len);
            let entry = |i: usize| &known[i * len..(i + 1) * len];
            if i % 2 == 0 {
                self.plan.square(&mut rest[..len], entry(i / 2), &mut r.scratch);
            } else {
                self.plan.mul(&mut rest[..len], entry(i - 1), entry(1), &mut r.scratch);
            }
        }

        let mut factor = self.residue();
        let digits = bits.div_ceil(window);
        limbs::lookup(&mut r.x, &table, digit(exponent_words, (digits - 1) * window, window));
        for i in (0..digits - 1).rev() {
            self.square_times(&mut r, window);
            limbs::lookup(&mut factor, &table, digit(exponent_words, i * window, window));
            self.plan.mul(&mut r.y, &r.x, &factor, &mut r.scratch);
            std::mem::swap(&mut r.x, &mut r.y);
        }
        self.leave(r)
    }

    /// base^exponent modulo m, for a public exponent. It uses sliding windows over the exponent's ones, so the time
    /// reveals the exponent.
    ///
    /// The base stays secret. Range: base and exponent any numbers; 0^0 is 1.
    pub fn vartime_pow(&self, base: &Natural, exponent: &Natural) -> Natural {
        let words = exponent.words();
        let bits = exponent.bit_len();
        let mut r = self.registers();
        if bits == 0 {
            r.x.copy_from_slice(self.plan.one());
            return self.leave(r);
        }
        // Odd powers only: table[i] = base^(2 i + 1). A window of w costs 2^(w-1) products, and leaves one product in
        // w + 1 bits.
        let ones: u32 = words.iter().map(|w| w.count_ones()).sum();
        let window = (1..=7).min_by_key(|&w| (1 << (w - 1)) + (bits / (w + 1)).min(ones as usize)).unwrap_or(1);
        let len = self.plan.residue_len();
        let mut table = Zeroizing::new(vec![0; len << (window - 1)]);
        self.plan.enter(&mut table[..len], base.words(), &mut r.scratch);
        if window > 1 {
            self.plan.square(&mut r.y, &table[..len], &mut r.scratch);
        }
        for i in 1..1 << (window - 1) {
            let (known, rest) = table.split_at_mut(i * len);
            self.plan.mul(&mut rest[..len], &known[(i - 1) * len..], &r.y, &mut r.scratch);
        }

        let mut started = false;
        let mut at = bits;
        while at > 0 {
            if !exponent.bit(at - 1) {
                self.square_times(&mut r, 1);
                at -= 1;
                continue;
            }
            // The longest window of at most w bits that ends in a one.
            let low = (at.saturating_sub(window)..at).find(|&i| exponent.bit(i)).unwrap_or(at - 1);
            let odd = digit(words, low, at - low);
            let entry = &table[(odd / 2) * len..(odd / 2 + 1) * len];
            if started {
                self.square_times(&mut r, at - low);
                self.plan.mul(&mut r.y, &r.x, entry, &mut r.scratch);
                std::mem::swap(&mut r.x, &mut r.y);
            } else {
                r.x.copy_from_slice(entry);
                started = true;
            }
            at = low;
        }
        self.leave(r)
    }

    /// x <- x^(2^count).
    fn square_times(&self, r: &mut Registers, count: usize) {
        for _ in 0..count {
            self.plan.square(&mut r.y, &r.x, &mut r.scratch);
            std::mem::swap(&mut r.x, &mut r.y);
        }
    }

    fn residue(&self) -> Zeroizing<Vec<u64>> {
        Zeroizing::new(vec![0; self.plan.residue_len()])
    }

    fn registers(&self) -> Registers {
        Registers { x: self.residue(), y: self.residue(), scratch: Zeroizing::new(vec![0; self.plan.scratch_len()]) }
    }

    /// Returns the number that the residue in `x` represents.
    fn leave(&self, mut r: Registers) -> Natural {
        let mut words = vec![0; self.plan.words()];
        self.plan.leave(&mut words, &r.x, &mut r.scratch);
        Natural::from_words(words)
    }
}

/// Returns the window in bits for exponents of `bits` bits. A window w takes 2^w products for the table and one product
/// in w bits, each with a look-up that reads 2^w entries.
fn window_of(bits: usize) -> usize {
    (1..=6).min_by_key(|w| 100 * (1 << w) + bits / w * (100 + (1 << w) / 4)).unwrap_or(1)
}

/// Returns bits `at..at + count` of a number. The access depends on the position alone. Range: count in 1..64; zero
/// past the end.
fn digit(words: &[u64], at: usize, count: usize) -> usize {
    let word = |i: usize| words.get(i).copied().unwrap_or(0);
    let wide = u128::from(word(at / 64 + 1)) << 64 | u128::from(word(at / 64));
    (wide >> (at % 64)) as usize & ((1 << count) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_field::Backend;

    #[test]
    fn pow_is_repeated_multiplication() {
        for backend in solinas_testing::back_ends(Backend::available()) {
            for multiplier in Multiplier::available(backend) {
                for m in [3u64, 5, 0xffff_ffff, u64::MAX, (1 << 61) - 1, 0x8000_0000_0000_0001] {
                    let plan = Montgomery::with_multiplier(&Natural::from(m), multiplier).unwrap();
                    for base in [0, 1, 2, m - 1, m, u64::MAX] {
                        let mut expected = 1 % m;
                        for e in 0..70u64 {
                            let (base, e) = (Natural::from(base), Natural::from(e));
                            assert_eq!(
                                plan.pow(&base, &e),
                                Natural::from(expected),
                                "{base}^{e} mod {m} on {}",
                                multiplier.name()
                            );
                            assert_eq!(plan.vartime_pow(&base, &e), Natural::from(expected), "{base}^{e} mod {m}");
                            expected =
                                (u128::from(expected) * u128::from(base.to_u64().unwrap()) % u128::from(m)) as u64;
                        }
                    }
                }
            }
        }
    }
}
