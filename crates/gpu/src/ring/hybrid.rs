//! Key switches by groups of towers.

use super::basis::{Ring, refused, words_of};
use super::poly::Polys;
use crate::{Arg, Buffer, Error};
use solinas_ring::{Automorphism, Eval, RnsPoly};

/// A [`solinas_ring::Hybrid`] on a device.
#[derive(Debug)]
pub struct Hybrid {
    from: Ring,
    extended: Ring,
    /// Number of towers of a group, and number of groups.
    size: u32,
    groups: u32,
    /// `(Q_g/q_i)^-1 mod q_i`, as factors.
    inverses: Buffer<u64>,
    /// `[primes of Q and P][primes of Q]` of factors: `Q_g/q_i`.
    factors: Buffer<u64>,
}

/// The digits of polynomials. Shape: `[items][groups][towers][N]`.
#[derive(Debug)]
pub struct Digits {
    words: Buffer<u64>,
    items: usize,
}

/// The keys of automorphisms whose results are added up. Shape: `[terms][groups][parts][towers][N]`, and `[terms][N]`
/// places.
#[derive(Debug)]
pub struct Keys {
    words: Buffer<u64>,
    /// The places. `None` if the only term is the identity.
    places: Option<Buffer<u32>>,
    terms: u32,
    groups: u32,
    parts: u32,
    towers: u32,
}

impl Keys {
    /// Copies keys to the device of the ring of their primes. Each term is an automorphism and its keys: `parts` polynomials
    /// for each group of towers. Without automorphisms, there is one term.
    ///
    /// # Errors
    /// [`Error::Scheme`] for keys of another basis, other numbers of them, or automorphisms of another dimension;
    /// [`Error::Unsupported`] for 2^32 words and more; [`Error::Memory`]; the errors of the device.
    pub fn new<'a>(
        ring: &Ring,
        parts: usize,
        terms: &[(Option<&'a Automorphism>, Vec<&'a RnsPoly<Eval>>)],
    ) -> Result<Self, Error> {
        let length = |what, got, want| refused(solinas_ring::Error::Length { what, got, want });
        if parts == 0 || terms.is_empty() {
            return Err(length("keys of a decomposition", 0, 1));
        }
        let (mut words, mut places) = (Vec::new(), Vec::new());
        let count = terms.first().map_or(0, |(_, keys)| keys.len());
        for (automorphism, keys) in terms {
            if keys.len() != count || !count.is_multiple_of(parts) {
                return Err(length("keys of a decomposition", keys.len(), count));
            }
            let (got, want) = (automorphism.map_or(0, |plan| plan.places().len()), ring.basis().dimension());
            if got != want && (automorphism.is_some() || terms.len() > 1) {
                return Err(length("an automorphism", got, want));
            }
            for key in keys {
                ring.same("a key of a decomposition", key.basis())?;
                words.extend_from_slice(key.words());
            }
            places.extend(automorphism.iter().flat_map(|plan| plan.places()));
        }
        if u32::try_from(words.len()).is_err() {
            return Err(Error::Unsupported { params: format!("{} words of keys", words.len()) });
        }
        let what = "the keys of a decomposition";
        let places = (!places.is_empty()).then(|| ring.stream.buffer_of(&places, what)).transpose()?;
        Ok(Self {
            words: ring.stream.buffer_of(&words, what)?,
            places,
            terms: terms.len() as u32,
            groups: (count / parts) as u32,
            parts: parts as u32,
            towers: ring.towers(),
        })
    }
}

impl Keys {
    /// Number of words of these keys if their polynomials have a given number of coefficients.
    fn words_for(&self, dimension: usize) -> usize {
        let towers = [self.terms, self.parts, self.groups, self.towers];
        towers.iter().map(|&count| count as usize).product::<usize>() * dimension
    }
}

impl Hybrid {
    /// Copies the constants of a decomposition to the device of two rings: that of `Q`, and that of all primes.
    ///
    /// # Errors
    /// [`Error::Scheme`] for rings of other bases; [`Error::Memory`]; the errors of the device.
    pub fn new(from: &Ring, extended: &Ring, plan: &solinas_ring::Hybrid) -> Result<Self, Error> {
        from.same("a hybrid decomposition", plan.basis())?;
        extended.same("a hybrid decomposition", plan.extended())?;
        let conversions: Vec<_> = plan.conversions().collect();
        let factors = (0..extended.basis().len())
            .flat_map(|tower| conversions.iter().flat_map(move |conversion| words_of(&conversion.factors()[tower])));
        let inverses: Vec<u64> = conversions.iter().flat_map(|conversion| words_of(conversion.inverses())).collect();
        let buffer = |words: &[u64]| from.stream.buffer_of(words, "constants of a decomposition");
        let (inverses, factors) = (buffer(&inverses)?, buffer(&factors.collect::<Vec<_>>())?);
        let size = conversions.first().map_or(0, |first| first.from().len()) as u32;
        let groups = conversions.len() as u32;
        Ok(Self { from: from.clone(), extended: extended.clone(), size, groups, inverses, factors })
    }

    /// The ring of all primes.
    pub fn extended(&self) -> &Ring {
        &self.extended
    }

    /// The digits of polynomials modulo `Q`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for another basis; [`Error::Memory`]; the errors of the device.
    pub fn digits(&self, x: &Polys<Eval>) -> Result<Digits, Error> {
        self.from.same("a hybrid decomposition", x.ring.basis())?;
        let (ring, extended) = (&self.from, &self.extended);
        let shares = x.copy()?.into_coeff()?.scaled_by(&self.inverses)?;
        let batch = x.items * self.groups as usize;
        let words = ring.stream.buffer(batch * extended.basis().words(), "the digits of a key switch")?;
        let mut args = vec![Arg::write(&words), Arg::read(&shares.words), Arg::read(&extended.tables.moduli)];
        args.push(Arg::read(&self.factors));
        let numbers = [extended.towers(), ring.towers(), self.size, self.groups, extended.log()];
        args.extend(numbers.map(Arg::from));
        extended.for_each_word(&extended.kernels.digits, batch, args)?;
        extended.forward(&words, batch, 0..extended.towers())?;
        Ok(Digits { words, items: x.items })
    }

    /// `sum_s s(sum_g digit_g keys_s[g])` modulo all primes, over the automorphisms `s` of the keys, as
    /// [`solinas_ring::Hybrid::accumulate_automorphisms`]: for each polynomial, and each part of the keys. Keys may have more
    /// towers of `Q`, and groups of them.
    ///
    /// # Errors
    /// [`Error::Scheme`] for keys of fewer groups or towers; [`Error::Memory`]; the errors of the device.
    pub fn dot(&self, digits: &Digits, keys: &Keys) -> Result<Polys<Eval>, Error> {
        let ring = &self.extended;
        if keys.groups < self.groups || keys.towers < ring.towers() {
            let (got, want) = (keys.groups as usize, self.groups as usize);
            return Err(refused(solinas_ring::Error::Length { what: "keys of a decomposition", got, want }));
        }
        let words = [
            (
                "digits of a decomposition",
                digits.words.len(),
                digits.items * self.groups as usize * ring.basis().words(),
            ),
            ("keys of a decomposition", keys.words.len(), keys.words_for(ring.basis().dimension())),
        ];
        if let Some((what, got, want)) = words.into_iter().find(|(_, got, want)| got != want) {
            return Err(refused(solinas_ring::Error::Length { what, got, want }));
        }
        let sums = Polys::unwritten(ring, digits.items * keys.parts as usize)?;
        let places = keys.places.as_ref().map_or(Arg::from(0u64), Arg::read);
        let mut args = vec![Arg::write(&sums.words), Arg::read(&digits.words), Arg::read(&keys.words), places];
        args.push(Arg::read(&ring.tables.moduli));
        let numbers =
            [ring.towers(), self.from.towers(), self.groups, keys.terms, keys.parts, keys.groups, keys.towers];
        args.extend(numbers.into_iter().chain([ring.log()]).map(Arg::from));
        ring.for_each_word(&ring.kernels.dot, sums.items, args)?;
        Ok(sums)
    }
}
