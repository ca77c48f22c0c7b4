//! The choice of primes: the fewest bits with which the noise decrypts.

use solinas_field::prime::{FAST_PRIME_BITS, MAX_PRIME_BITS, Modulus, primes};

use super::{KeySwitching, MAX_DEPTH, MIN_DIMENSION, Params, ParamsLiteral, log2};
use crate::bgv::{Error, noise};
use crate::leveled::params::FAILURE_BITS;
use crate::{Level, Noise};

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;
    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let mut params = Self { literal, moduli: Vec::new(), special: Vec::new(), factors: Vec::new() };
        let literal = params.literal.clone();
        let in_range = |what: &str, value: u64, range: core::ops::RangeInclusive<u64>| {
            if range.contains(&value) {
                Ok(())
            } else {
                Err(params.problem(format!("{what} {value} is not in {}..={}", range.start(), range.end())))
            }
        };
        in_range("dimension", literal.dimension as u64, MIN_DIMENSION as u64..=1 << 17)?;
        if !literal.dimension.is_power_of_two() {
            return Err(params.problem(format!("dimension {} is not a power of two", literal.dimension)));
        }
        in_range("plaintext modulus", literal.plaintext_modulus, 2..=1 << 30)?;
        in_range("depth", literal.depth as u64, 0..=MAX_DEPTH as u64)?;
        in_range("terms", literal.terms.into(), 1..=1 << 20)?;
        in_range("bits of the failure bound", literal.failure_bits.into(), FAILURE_BITS)?;
        match literal.switching {
            KeySwitching::Hybrid { group } => in_range("towers of a group", group as u64, 1..=41)?,
            KeySwitching::Digits { bits } => in_range("bits of a digit", bits.into(), 1..=60)?,
        }
        if let Some(bootstrapping) = literal.bootstrapping {
            bootstrapping.check(&literal).map_err(|problem| params.problem(problem))?;
        }
        let extraction = literal.bootstrapping.map_or(Some(MAX_PRIME_BITS), |bootstrapping| bootstrapping.bits);
        for bits in [literal.first_bits, literal.bits, literal.top_bits, extraction].into_iter().flatten() {
            in_range("bits of primes", bits.into(), 2..=MAX_PRIME_BITS.into())?;
        }
        // First minimizes the bits of the middle primes, with the others at their widest. Then minimizes the bits of the
        // first prime, of those of the highest level, and of those of digit extraction.
        let widest = |fixed: Option<u32>| fixed.unwrap_or(MAX_PRIME_BITS);
        let mut bits = Bits {
            first: widest(literal.first_bits),
            middle: widest(literal.bits),
            extraction: widest(extraction),
            top: widest(literal.top_bits),
        };
        if let Err(failure) = params.attempt(bits) {
            return Err(match failure {
                Failure::Primes(error) => error,
                Failure::TooFew { bits } => params.problem(format!(
                    "there are too few primes of {bits} bits that are 1 modulo {}: take more bits or less depth",
                    2 * literal.dimension
                )),
                Failure::Noise { what, level, over } => {
                    let over = over.ceil() as u32;
                    let fix = match (level, literal.first_bits, literal.bits, literal.top_bits) {
                        (Level::LOWEST, Some(first), _, _) => format!("a first prime of {} bits", first + over),
                        (level, _, _, Some(top)) if level == params.highest_level() => {
                            format!("a prime of {} bits at the top", top + over)
                        }
                        (level, ..) if level > params.fresh_level() => {
                            format!("primes of {} bits for the digits of bootstrapping", bits.extraction + over)
                        }
                        (_, _, Some(bits), _) => format!("primes of {} bits", bits + over),
                        _ => "a smaller plaintext modulus, smaller digits".into(),
                    };
                    params.problem(format!(
                        "the noise of {what} at level {level} is {over} bits too much: take {fix}, or less depth, or fewer terms"
                    ))
                }
            });
        }
        let fewest = |params: &mut Self, from: u32, bits: Bits, set: fn(&mut Bits, u32)| {
            let candidates = (from..=MAX_PRIME_BITS).map(|value| {
                let mut fewer = bits;
                set(&mut fewer, value);
                fewer
            });
            candidates.into_iter().find(|&fewer| params.attempt(fewer).is_ok())
        };
        // The special primes depend on the groups, so the fewest bits of one kind depend slightly on the others.
        let mut from = 10;
        loop {
            let mut found = Some(bits);
            if literal.bits.is_none() {
                found = fewest(&mut params, from, bits, |bits, value| bits.middle = value);
            }
            if let (Some(bits), None) = (found, literal.first_bits) {
                found = fewest(&mut params, 10, bits, |bits, value| bits.first = value);
            }
            if let (Some(bits), None) = (found, literal.top_bits) {
                found = fewest(&mut params, 10, bits, |bits, value| bits.top = value);
            }
            if let (Some(bits), None) = (found, extraction) {
                found = fewest(&mut params, 10, bits, |bits, value| bits.extraction = value);
            }
            match found {
                Some(found) if params.attempt(found).is_ok() => {
                    bits = found;
                    break;
                }
                _ if literal.bits.is_none() && from < MAX_PRIME_BITS => from += 1,
                // The widest primes decrypt, as the first attempt showed.
                _ => {
                    params.attempt(bits).map_err(|_| params.problem("no bits for the primes".into()))?;
                    break;
                }
            }
        }
        let literal = &mut params.literal;
        if let Some(bootstrapping) = &mut literal.bootstrapping {
            bootstrapping.bits = Some(bits.extraction);
        }
        (literal.first_bits, literal.bits, literal.top_bits) = (Some(bits.first), Some(bits.middle), Some(bits.top));
        params.factors = params.choose_factors()?;
        Ok(params)
    }
}

impl Params {
    /// The primes of `Q` and the special primes, of these bits.
    fn choose_moduli(literal: &ParamsLiteral, bits: Bits) -> Result<(Vec<Modulus>, Vec<Modulus>), Failure> {
        let mut taken = Vec::new();
        let mut wanted = vec![bits.first];
        match literal.bootstrapping {
            None => wanted.extend(vec![bits.middle; literal.depth.saturating_sub(1)]),
            Some(bootstrapping) => {
                wanted.extend(vec![bits.middle; literal.depth]);
                wanted.extend(vec![bits.extraction; bootstrapping.levels() - 1]);
            }
        }
        wanted.extend(vec![bits.top; literal.depth.min(1)]);
        let moduli = take(&wanted, literal, &mut taken)?;
        let KeySwitching::Hybrid { group } = literal.switching else { return Ok((moduli, Vec::new())) };
        // P above the largest group by what makes a rotation's noise half of a rounding's.
        let groups = moduli.chunks(group);
        let largest = groups.clone().map(log2).fold(0.0, f64::max);
        let k = group.min(moduli.len()) as f64;
        let margin = 1.0 + libm::log2(noise::SIGMA * (18.0 * groups.len() as f64 * (k * k / 4.0 + k / 12.0)).sqrt());
        let count = ((largest + margin) / (f64::from(FAST_PRIME_BITS) - 0.05)).ceil();
        let each = ((largest + margin) / count + 0.05).ceil() as u32;
        let special = take(&vec![each.max(10); count as usize], literal, &mut taken)?;
        Ok((moduli, special))
    }

    /// Takes primes of these bits. Fails if the noise would not decrypt.
    fn attempt(&mut self, bits: Bits) -> Result<(), Failure> {
        (self.moduli, self.special) = Self::choose_moduli(&self.literal, bits)?;
        self.check_noise()
    }

    /// Checks that a chain of `depth` multiplications of sums decrypts, and that each division brings the noise down.
    fn check_noise(&self) -> Result<(), Failure> {
        let fits = |what, level, noise: Noise| {
            let over = noise.bits_above(noise::limit(self, self.log2_modulus(level)));
            if over > 0.0 { Err(Failure::Noise { what, level, over }) } else { Ok(noise) }
        };
        // With digits, the noise of rotations would take too many bits. Sets for rotations switch keys by groups.
        let rotated = |noise: Noise, level: Level| match self.literal.switching {
            KeySwitching::Hybrid { .. } => self.switched(noise, level),
            KeySwitching::Digits { .. } => noise,
        };
        let terms = libm::log2(f64::from(self.literal.terms));
        let start = self.fresh_level();
        let first = match self.literal.bootstrapping {
            None => noise::fresh(self),
            Some(bootstrapping) => {
                let bootstrapped = bootstrapping.check_noise(self)?;
                noise::fresh(self).max(noise::fresh_secret(self)).max(bootstrapped)
            }
        };
        let mut noise = rotated(first, start).scaled(terms);
        for level in Level::LOWEST.above().up_to(start).rev() {
            let product = noise::product(self, noise, noise);
            let switched = fits("a product", level, product.root_sum_squares(self.switch_noise(level)))?;
            // The divided noise may be at most half of the rounding. The noise of a chain of any depth then does not grow, at any root of the ring.
            let divided = noise::divided(self, switched, self.log2_prime(level));
            let over = divided.scaled(1.0).bits_above(noise::rounding(self, 1, 2));
            if over > 0.0 {
                return Err(Failure::Noise { what: "a product, divided,", level, over });
            }
            let below = level.lowered(1);
            noise = fits("a product", below, self.reduced(switched, level, 2, true))?;
            noise = rotated(noise, below).scaled(terms);
        }
        let noise = fits("a sum", Level::LOWEST, noise)?;
        match self.bootstrapping_noise() {
            Some(growth) if noise > growth.limit => {
                let over = noise.bits_above(growth.limit);
                Err(Failure::Noise { what: "a sum that is bootstrapped", level: Level::LOWEST, over })
            }
            _ => Ok(()),
        }
    }
}

/// The largest primes of these bits that have transforms, are not taken yet, and do not divide `p`.
fn take(wanted: &[u32], literal: &ParamsLiteral, taken: &mut Vec<Modulus>) -> Result<Vec<Modulus>, Failure> {
    let step = 2 * literal.dimension as u64;
    let mut out = Vec::with_capacity(wanted.len());
    for (i, &bits) in wanted.iter().enumerate() {
        if wanted[..i].contains(&bits) {
            continue;
        }
        let places: Vec<usize> = (i..wanted.len()).filter(|&place| wanted[place] == bits).collect();
        // Some of the largest primes may be taken already, so the search asks for more than are needed.
        let spare = taken.iter().filter(|q| q.bits() == bits).count() + 1;
        let of_width = primes(bits, places.len() + spare, step)
            .or_else(|_| primes(bits, places.len() + spare - 1, step))
            .map_err(|error| Failure::Primes(error.into()))?;
        let free =
            of_width.into_iter().filter(|q| !taken.contains(q) && !literal.plaintext_modulus.is_multiple_of(q.value()));
        let free: Vec<Modulus> = free.take(places.len()).collect();
        if free.len() < places.len() {
            return Err(Failure::TooFew { bits });
        }
        taken.extend(&free);
        out.extend(places.into_iter().zip(free));
    }
    out.sort_unstable_by_key(|&(place, _)| place);
    Ok(out.into_iter().map(|(_, modulus)| modulus).collect())
}

/// Bits of the primes: of the first level, of the levels between, of the levels of digit extraction, and of the highest level.
#[derive(Clone, Copy)]
struct Bits {
    first: u32,
    middle: u32,
    extraction: u32,
    top: u32,
}

/// Why primes of some bits cannot be used.
pub(in crate::bgv) enum Failure {
    /// The search for primes failed.
    Primes(Error),
    /// There are too few primes of these bits.
    TooFew { bits: u32 },
    /// The noise of `what` at `level` is `over` bits too much.
    Noise { what: &'static str, level: Level, over: f64 },
}
