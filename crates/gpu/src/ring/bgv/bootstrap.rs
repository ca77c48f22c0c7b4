//! Bootstrapping of BGV on a device: the steps of the CPU, in the same order.

use super::switch::{self, Switch};
use super::{Engine, refused};
use crate::Error;
use crate::ring::basis::{Ring, words_of};
use crate::ring::{Keys, Permutation, Polys, Rescale, SwitchDown};
use solinas_field::prime::Modulus;
use solinas_ring::{Automorphism, Coeff, Eval, RnsPoly};
use solinas_schemes::Level;
use solinas_schemes::bgv::{BootstrapKey, Evaluator, Params, SwitchKey};

/// A bootstrapping key on a device, with the constants of its divisions.
#[derive(Debug)]
pub(super) struct Bootstrap {
    sparse: Switch,
    to_sparse: Keys,
    /// Both parts of the encryption of the sparse secret.
    embedding: Polys<Eval>,
    relinearization: Keys,
    rounds: Vec<Round>,
    down: SwitchDown,
    /// For each digit, the ring of its rest and the division that makes it.
    rests: Vec<(Ring, Rescale)>,
    squares: Vec<Vec<SwitchDown>>,
}

/// A round of the trace: its automorphisms and their keys.
#[derive(Debug)]
struct Round {
    permutations: Vec<Permutation>,
    keys: Keys,
}

impl Bootstrap {
    /// Copies a key to the device of the rings and key switches of all levels, lowest first. `extended` is the ring of the primes of keys.
    pub(super) fn new<'k>(
        key: &'k BootstrapKey,
        params: &Params,
        (rings, switches): (&[Ring], &[Switch]),
        extended: &Ring,
    ) -> Result<Self, Error> {
        let (hybrid, down, to_sparse) = key.to_sparse(params)?;
        let sparse = Switch::new(&rings[0], None, (hybrid, down, None))?;
        let top = &rings[rings.len() - 1];
        let embedding: Vec<_> = key.embedding().rows().iter().flatten().collect();
        let round = |terms: Vec<(&'k Automorphism, &'k SwitchKey)>| {
            let permutations = terms.iter().map(|(plan, _)| Permutation::new(top, plan)).collect::<Result<_, _>>()?;
            Ok(Round { permutations, keys: switch::keys(extended, &terms)? })
        };
        // The squares of depth d are at the level of index `levels - 2 - d`.
        let square = |depth: usize, plan| {
            let index = rings.len() - 2 - depth;
            SwitchDown::new(switches[index].hybrid.extended(), &rings[index - 1], plan)
        };
        let squares = |(depth, plans): (usize, &'k Vec<_>)| plans.iter().map(|plan| square(depth, plan)).collect();
        let rest = |plan: &solinas_ring::Rescale| {
            let ring = &rings[plan.basis().len() - 1];
            Ok((ring.clone(), Rescale::new(ring, plan)?))
        };
        Ok(Self {
            to_sparse: switch::key(sparse.hybrid.extended(), to_sparse)?,
            sparse,
            embedding: top.upload(&embedding)?,
            relinearization: switch::key(extended, key.relinearization())?,
            rounds: key.rounds().map(round).collect::<Result<_, Error>>()?,
            down: SwitchDown::new(extended, top, key.trace_down())?,
            rests: key.rests().iter().map(rest).collect::<Result<_, Error>>()?,
            squares: key.squares().iter().enumerate().map(squares).collect::<Result<_, Error>>()?,
        })
    }

    /// The number of a ciphertext at the first level.
    pub(super) fn run(&self, engine: &Engine, key: &BootstrapKey, x: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let embedded = self.embed(&Evaluator::new(&engine.key), key, x)?;
        let traced = self.rounds.iter().try_fold(embedded, |x, round| self.trace(engine, &x, round))?;
        self.highest_digits(engine, &traced)
    }

    /// Computes steps 0 to 2. The processor rounds the coefficients.
    fn embed(&self, host: &Evaluator<'_>, key: &BootstrapKey, x: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let sparse = self.sparse.sums(&self.to_sparse, &x.item(1)?, &x.item(0)?)?;
        let coefficients: Vec<RnsPoly<Coeff>> = self.sparse.down.apply(sparse)?.into_coeff()?.download()?;
        let rounded: Vec<_> = coefficients.iter().map(|part| host.rounded(key, part)).collect();
        let [first, slope] = rounded.as_slice() else { return Err(Error::Fault("a ciphertext has two parts".into())) };
        let ring = self.embedding.ring();
        let slope = RnsPoly::from_signed(ring.basis(), slope).map_err(refused)?;
        let mut embedded = self.embedding.times(&ring.upload(&[&slope])?.into_eval()?)?;
        // A constant polynomial has one value at all roots.
        let constant = first[0] + (1 << (key.found() - 1));
        let log = ring.basis().dimension().ilog2() as usize;
        let mut words = Vec::with_capacity(ring.basis().words());
        for q in ring.basis().moduli() {
            let value = q.mul(q.reduce_i64(constant), inverse_power_of_two(q, log));
            words.resize(words.len() + ring.basis().dimension(), value);
        }
        let constant = RnsPoly::from_words(ring.basis(), &words).map_err(refused)?;
        embedded.add_low(&ring.upload(&[&constant])?)?;
        Ok(embedded)
    }

    /// Computes a round of step 3: `x + sum s(x)`.
    fn trace(&self, engine: &Engine, x: &Polys<Eval>, round: &Round) -> Result<Polys<Eval>, Error> {
        let hybrid = &engine.switches[engine.switches.len() - 1].hybrid;
        let mut sums = hybrid.dot(&hybrid.digits(&x.item(1)?)?, &round.keys)?;
        sums.add_low(x)?;
        let first = x.item(0)?;
        round.permutations.iter().try_for_each(|permutation| sums.add_low(&first.permuted(permutation)?))?;
        self.down.apply(sums)
    }

    /// Computes step 4: the highest digits of `u mod 2^l`, from an encryption of `u`.
    fn highest_digits(&self, engine: &Engine, traced: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let mut level = engine.rings.len() - 2;
        let mut digits = vec![self.digit(traced, &[])?];
        for squares in &self.squares {
            for (i, digit) in digits.iter_mut().enumerate() {
                // Digit i was first found i levels below the first.
                let down = &squares[squares.len() - 1 - i];
                let (low, high) = Polys::tensor(&[(digit, digit)])?;
                *digit = down.apply(engine.switches[level].sums(&self.relinearization, &high, &low)?)?;
            }
            if digits.len() < self.rests.len() {
                digits.push(self.digit(traced, &digits)?);
            }
            level -= 1;
        }
        self.top(engine, traced, &digits, level)
    }

    /// `2^-i (u - sum_(j<i) 2^j digits[j])`, for `i = digits.len()`, at the level of the digits.
    fn digit(&self, traced: &Polys<Eval>, digits: &[Polys<Eval>]) -> Result<Polys<Eval>, Error> {
        let (ring, rescale) = &self.rests[digits.len()];
        let mut rest = rescale.apply(traced.truncated(ring)?)?;
        if digits.is_empty() {
            return Ok(rest);
        }
        for (place, digit) in digits.iter().enumerate() {
            rest = rest.minus(&digit.scaled(1 << place)?)?;
        }
        times(&rest, |q| inverse_power_of_two(q, digits.len()))
    }

    /// `2^-f (u - sum_j 2^j digits[j]^2)` modulo `p`, for `f` digits. Only the sum of the last squares is needed.
    fn top(
        &self,
        engine: &Engine,
        traced: &Polys<Eval>,
        digits: &[Polys<Eval>],
        level: usize,
    ) -> Result<Polys<Eval>, Error> {
        let found = digits.len();
        let weighted = |(place, digit)| times(digit, |q| q.neg(inverse_power_of_two(q, found - place)));
        let weighted: Vec<Polys<Eval>> = digits.iter().enumerate().map(weighted).collect::<Result<_, _>>()?;
        let (mut low, high) = Polys::tensor(&weighted.iter().zip(digits).collect::<Vec<_>>())?;
        low.add_low(&times(&traced.truncated(&engine.rings[level])?, |q| inverse_power_of_two(q, found))?)?;
        let level = Level::new(level + 1).unwrap_or(Level::LOWEST);
        engine.relinearized(level, &low, &high)
    }
}

/// Each tower times a residue.
fn times(x: &Polys<Eval>, factor: impl Fn(Modulus) -> u64) -> Result<Polys<Eval>, Error> {
    let ring = x.ring();
    let factors: Vec<_> = ring.basis().moduli().map(|q| q.shoup(factor(q))).collect();
    x.scaled_by(&ring.stream.buffer_of(&words_of(&factors), "factors")?)
}

/// `2^-exponent mod q`.
fn inverse_power_of_two(q: Modulus, exponent: usize) -> u64 {
    q.pow(q.value().div_ceil(2), exponent as u64)
}
