//! The choice of primes: the fewest bits with which the noise decrypts.

use solinas_field::prime::{Modulus, primes};

use super::{MIN_DIMENSION, Params, ParamsLiteral, root_hermite_factor};
use crate::ntru::switch::special_primes;
use crate::ntru::{Error, noise};
use crate::{Level, Noise};

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;

    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let mut params =
            Self { literal, moduli: Vec::new(), log2_moduli: Vec::new(), special: Vec::new(), dimensions: Vec::new() };
        let literal = params.literal.clone();
        literal.check_ranges()?;
        // First minimizes the bits of the middle primes, with the others at their widest. Then minimizes the bits of
        // the first prime, and finally those of the highest level.
        const WIDEST: u32 = solinas_field::prime::MAX_PRIME_BITS;
        let widest = |fixed: Option<u32>| fixed.unwrap_or(WIDEST);
        let mut bits =
            Bits { first: widest(literal.first_bits), middle: widest(literal.bits), top: widest(literal.top_bits) };
        if let Err(failure) = params.attempt(bits) {
            return Err(match failure {
                Failure::Primes(error) => error,
                Failure::Noise { what, level, over } => {
                    let over = over.ceil() as u32;
                    let fix = match (level, literal.first_bits, literal.bits, literal.top_bits) {
                        (Level::LOWEST, Some(first), _, _) => format!("a first prime of {} bits", first + over),
                        (level, _, _, Some(top)) if level == params.fresh_level() => {
                            format!("primes of {} bits at the top", top + over)
                        }
                        (_, _, Some(bits), _) => format!("primes of {} bits", bits + over),
                        _ => format!("{} primes per level", literal.primes_per_level + 1),
                    };
                    params.problem(format!(
                        "the noise of {what} at level {level} is {over} bits too much: take {fix}, or less depth, or fewer terms"
                    ))
                }
            });
        }
        for (fixed, set) in [
            (literal.bits, (|bits, value| bits.middle = value) as fn(&mut Bits, u32)),
            (literal.first_bits, |bits, value| bits.first = value),
            (literal.top_bits, |bits, value| bits.top = value),
        ] {
            if fixed.is_some() {
                continue;
            }
            for value in 10..=WIDEST {
                let mut fewer = bits;
                set(&mut fewer, value);
                if params.attempt(fewer).is_ok() {
                    bits = fewer;
                    break;
                }
            }
        }
        // The last attempt may have failed, so the chosen bits are applied again.
        params.attempt(bits).map_err(|_| params.problem("no bits for the primes".into()))?;
        let literal = &mut params.literal;
        (literal.first_bits, literal.bits, literal.top_bits) = (Some(bits.first), Some(bits.middle), Some(bits.top));
        Ok(params)
    }
}

impl Params {
    /// Chooses primes of these bits for the first level, the middle levels and the highest level. Also chooses the
    /// special primes.
    fn choose_moduli(literal: &ParamsLiteral, bits: Bits) -> Result<[Vec<Modulus>; 2], Error> {
        let step = lcm(2 * literal.dimension as u64, literal.plaintext_modulus);
        let per_level = literal.primes_per_level;
        let mut wanted = vec![bits.first];
        wanted.extend(vec![bits.middle; literal.depth.saturating_sub(1) * per_level]);
        wanted.extend(vec![bits.top; literal.depth.min(1) * per_level]);
        let towers = wanted.len();
        let special = literal.bootstrapping.map_or(0, |_| special_primes(towers));
        // Two more bits: the noise of key switches then hardly exceeds that of their own rounding.
        let width = solinas_field::prime::MAX_PRIME_BITS.min(bits.first.max(bits.middle) + 2);
        wanted.extend(vec![width; special]);
        let mut moduli = Vec::with_capacity(wanted.len());
        for (i, &bits) in wanted.iter().enumerate() {
            // Takes the largest primes of each width, in order.
            let before = wanted[..i].iter().filter(|&&other| other == bits).count();
            if before == 0 {
                let count = wanted.iter().filter(|&&other| other == bits).count();
                let places = wanted.iter().enumerate().filter(|&(_, &other)| other == bits);
                moduli.extend(places.map(|(place, _)| place).zip(primes(bits, count, step)?));
            }
        }
        moduli.sort_unstable_by_key(|&(place, _)| place);
        let mut moduli: Vec<Modulus> = moduli.into_iter().map(|(_, modulus)| modulus).collect();
        let special = moduli.split_off(towers);
        Ok([moduli, special])
    }

    /// Sets the ring dimension of each level by the floor.
    fn reduce_rings(&mut self) {
        let mut dimension = self.literal.dimension;
        self.dimensions = vec![dimension; self.levels()];
        let Some(floor) = self.literal.floor else { return };
        for level in Level::LOWEST.up_to(self.fresh_level()).rev().skip(1) {
            let log2_modulus = self.log2_modulus(level);
            while dimension > MIN_DIMENSION && root_hermite_factor(dimension / 2, log2_modulus) <= floor {
                dimension /= 2;
            }
            self.dimensions[level.index()] = dimension;
        }
    }

    /// Noise of a ciphertext one level below `level` after division, from its noise after the key switch.
    fn noise_after_switch(&self, noise: Noise, level: Level) -> Noise {
        let (noise, dimension) = (self.noise_after_division(noise, level), self.dimension_at(level));
        if self.dimension_at(level.lowered(1)) < dimension { noise::ring_hint(self, noise, dimension) } else { noise }
    }

    /// Sets primes of these bits, and checks that ciphertexts decrypt.
    fn attempt(&mut self, bits: Bits) -> Result<(), Failure> {
        [self.moduli, self.special] = Self::choose_moduli(&self.literal, bits).map_err(Failure::Primes)?;
        let log2 = |towers: usize| self.moduli[..towers].iter().map(|q| libm::log2(q.value() as f64)).sum();
        self.log2_moduli = (1..=self.moduli.len()).step_by(self.literal.primes_per_level).map(log2).collect();
        self.reduce_rings();
        let last = self.check_noise()?;
        self.literal.bootstrapping.map_or(Ok(()), |bootstrapping| bootstrapping.check_noise(self, last))
    }

    /// Checks that a chain of `depth` multiplications of sums decrypts, and that each division reduces the noise.
    /// Returns the noise of sums at level 1.
    fn check_noise(&self) -> Result<Noise, Failure> {
        let within_limit = |what, level, noise: Noise| {
            let over = noise.bits_above(noise::limit(self, self.log2_modulus(level)));
            if over > 0.0 { Err(Failure::Noise { what, level, over }) } else { Ok(noise) }
        };
        let terms = libm::log2(f64::from(self.literal.terms));
        let mut noise = noise::fresh(self).scaled(terms);
        for level in Level::LOWEST.above().up_to(self.fresh_level()).rev() {
            let switched = noise::hint(self, noise::product(self, noise, noise), self.dimension_at(level));
            within_limit("a product", level, switched)?;
            // The noise left after the division must be at most half of the rounding noise. The noise of a chain then
            // stays constant at any depth, at every root of the ring.
            let rounding = noise::rounding(self, self.plaintext_modulus(), self.dimension_at(level));
            let divided = noise::divided(self, switched, self.log2_primes(level));
            let over = divided.scaled(1.0).bits_above(rounding);
            if over > 0.0 {
                return Err(Failure::Noise { what: "a product, divided,", level, over });
            }
            let noise_below = self.noise_after_switch(switched, level);
            noise = within_limit("a product", level.lowered(1), noise_below)?.scaled(terms);
        }
        within_limit("a sum", Level::LOWEST, noise)
    }
}

/// Bits of the primes of the first level, of the middle levels, and of the highest level.
#[derive(Clone, Copy)]
struct Bits {
    first: u32,
    middle: u32,
    top: u32,
}

/// The reason why primes of some bits fail.
pub(in crate::ntru) enum Failure {
    /// There are too few primes of these bits.
    Primes(Error),
    /// The noise of `what` at `level` is `over` bits above the limit.
    Noise { what: &'static str, level: Level, over: f64 },
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
