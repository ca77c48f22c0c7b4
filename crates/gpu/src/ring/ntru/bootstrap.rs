//! Bootstrapping of NTRU on a device: the steps of the CPU, in the same order.

use super::{Engine, LevelKeys};
use crate::Error;
use crate::ring::basis::{Ring, words_of};
use crate::ring::{Hybrid, Keys, ModDown, Polys, Rescale};
use solinas_ring::{Coeff, Eval, RnsPoly};
use solinas_schemes::Level;
use solinas_schemes::ntru::{BootstrapKey, Evaluator, Params};

/// A bootstrapping key on a device, with the constants of its divisions.
#[derive(Debug)]
pub(super) struct Bootstrap {
    to_sparse: Polys<Eval>,
    embedding: Polys<Eval>,
    shift: Polys<Eval>,
    hybrid: Hybrid,
    down: ModDown,
    rounds: Vec<Keys>,
    /// For each digit, the divisions by the primes of its levels, from level 2 on.
    rescales: Vec<Vec<Rescale>>,
}

impl Bootstrap {
    /// Copies a key to the device of the rings, lowest level first.
    pub(super) fn new<'k>(key: &'k BootstrapKey, params: &Params, rings: &[Ring]) -> Result<Self, Error> {
        let top = &rings[rings.len() - 1];
        let (hybrid, down) = key.switch();
        let extended = top.another(hybrid.extended())?;
        let down = ModDown::new(&extended, top, down)?;
        let hybrid = Hybrid::new(top, &extended, hybrid)?;
        let keys = |round: Vec<(_, &'k [RnsPoly<Eval>])>| {
            let terms: Vec<_> = round.into_iter().map(|(plan, rows)| (Some(plan), rows.iter().collect())).collect();
            Keys::new(&extended, 1, &terms)
        };
        let levels = Level::LOWEST.above().up_to(params.fresh_level());
        let of_digit = |digit: usize| {
            let rescale = |level: Level| Rescale::new(&rings[level.index()], key.rescale(digit, level));
            levels.clone().map(rescale).collect()
        };
        Ok(Self {
            to_sparse: rings[0].upload(&[key.to_sparse()])?,
            embedding: top.upload(&[key.embedding()])?,
            shift: top.upload(&[key.shift()])?,
            rounds: key.rounds().map(keys).collect::<Result<_, _>>()?,
            rescales: (0..key.precision() as usize - 1).map(of_digit).collect::<Result<_, Error>>()?,
            hybrid,
            down,
        })
    }

    /// The bit of a ciphertext at the first level.
    pub(super) fn run(&self, engine: &Engine, key: &BootstrapKey, x: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let embedded = self.embed(&Evaluator::new(&engine.key), key, x)?;
        let traced = self.rounds.iter().try_fold(embedded, |x, keys| {
            let sum = self.hybrid.dot(&self.hybrid.digits(&x)?, keys)?;
            self.down.add_to(&x, sum)
        })?;
        self.highest_digit(engine, key.precision() as usize, traced)
    }

    /// Computes steps 0 to 2. The processor rounds the N coefficients.
    fn embed(&self, host: &Evaluator<'_>, key: &BootstrapKey, x: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let coefficients: Vec<RnsPoly<Coeff>> = x.times(&self.to_sparse)?.into_coeff()?.download()?;
        let ring = self.embedding.ring();
        let signed = |c: &RnsPoly<Coeff>| RnsPoly::from_signed(ring.basis(), &host.rounded(key, c));
        let rounded: Vec<_> = coefficients.iter().map(signed).collect::<Result<_, _>>().map_err(super::refused)?;
        let rounded = ring.upload(&rounded.iter().collect::<Vec<_>>())?.into_eval()?;
        rounded.times(&self.embedding)?.plus(&self.shift)
    }

    /// Computes step 4: the highest bit of `u mod 2^l`, from an encryption of `u`. Bit `i` is the rest of `u` after the
    /// lower bits are subtracted. Its power is squared at each level.
    fn highest_digit(&self, engine: &Engine, precision: usize, traced: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let mut level = engine.keys.len();
        let mut rest = self.lower(0, level, traced, &engine.keys[level - 1].linear)?;
        level -= 1;
        let mut digits = vec![rest.copy()?];
        while digits.len() + 1 < precision {
            let LevelKeys { square, linear, .. } = &engine.keys[level - 1];
            rest = self.lower(0, level, rest, linear)?;
            for (i, digit) in digits.iter_mut().enumerate() {
                let power = digit.times(digit)?;
                *digit = self.lower(i, level, power, square)?;
            }
            let mut next = rest.copy()?;
            for (place, digit) in digits.iter().enumerate() {
                next = next.minus(&digit.scaled(1 << place)?)?;
            }
            digits.push(halved(&next, digits.len())?);
            level -= 1;
        }
        // Only the sum of the last squares is needed. It takes one division and has the message modulo 2.
        let keys = &engine.keys[level - 1];
        let mut sum = rest.times(&keys.linear)?;
        for (place, digit) in digits.iter().enumerate() {
            let square = digit.times(digit)?.scaled(-(1 << place))?;
            sum.add_product(&square, &keys.square)?;
        }
        keys.divide(halved(&sum, digits.len())?)
    }

    /// `x` times a hint, divided by the prime of the level with index `level`, modulo `2^(l - digit)`.
    fn lower(&self, digit: usize, level: usize, x: Polys<Eval>, hint: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        self.rescales[digit][level - 1].apply(x.times(hint)?)
    }
}

/// `x / 2^exponent`.
fn halved(x: &Polys<Eval>, exponent: usize) -> Result<Polys<Eval>, Error> {
    let ring = x.ring();
    let factors: Vec<_> =
        ring.basis().moduli().map(|q| q.shoup(q.pow(q.value().div_ceil(2), exponent as u64))).collect();
    x.scaled_by(&ring.stream.buffer_of(&words_of(&factors), "factors")?)
}
