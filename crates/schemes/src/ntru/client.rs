//! The secret keys and decryption.

use core::fmt;

use crate::control::Steps;
use solinas_ring::{Basis, Coeff, Eval, MixedRadix, RnsPoly};
use zeroize::Zeroizing;

use super::keygen::Short;
use super::{Ciphertext, Error, Params, PublicKey, Stage, noise};

/// `p f' + 1` with short `f'`, by its coefficients. Wiped on drop.
pub(super) struct LevelKey(Short);

impl LevelKey {
    pub(super) fn new(params: &Params, short: Short) -> Self {
        Self::one_plus(params.plaintext_modulus(), short)
    }

    /// `1 + factor short`.
    pub(super) fn one_plus(factor: u64, mut short: Short) -> Self {
        short.iter_mut().for_each(|x| *x *= factor as i64);
        short[0] += 1;
        Self(short)
    }

    /// Its values.
    pub(super) fn values(&self, basis: &Basis) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
        Ok(Zeroizing::new(RnsPoly::from_signed(basis, &self.0)?.into_eval()))
    }

    /// The values of `f(X^w)` in a ring `w` times as large.
    pub(super) fn spread(&self, basis: &Basis) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
        let step = basis.dimension() / self.0.len();
        let mut spread = Zeroizing::new(vec![0; basis.dimension()]);
        spread.iter_mut().step_by(step).zip(self.0.iter()).for_each(|(out, &x)| *out = x);
        Ok(Zeroizing::new(RnsPoly::from_signed(basis, &spread)?.into_eval()))
    }
}

/// Coefficients that tell of a key or a message. Wiped on drop.
pub(super) type Secret = Zeroizing<RnsPoly<Coeff>>;

/// The secret keys of all levels.
///
/// No `Clone`, no `Serialize`; wiped on drop.
pub struct ClientKey {
    public: PublicKey,
    keys: Vec<LevelKey>,
    wide: Vec<Option<LevelKey>>,
    /// The values of each level's key.
    values: Vec<Zeroizing<RnsPoly<Eval>>>,
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ClientKey {
    pub(super) fn new(
        public: PublicKey,
        keys: Vec<LevelKey>,
        wide: Vec<Option<LevelKey>>,
        steps: &Steps<'_>,
    ) -> Result<Self, Error> {
        let context = public.context().clone();
        let values = |(index, key): (usize, &LevelKey)| {
            steps.next()?;
            key.values(&context.level(index + 1).basis)
        };
        let values = keys.iter().enumerate().map(values).collect::<Result<_, _>>()?;
        Ok(Self { public, keys, wide, values })
    }

    /// From its parts, as stored: the coefficients of `f_j` of each level from level 1, and where the level above has a larger ring, of the key that
    /// stands for it there.
    ///
    /// # Errors
    /// [`Error::Material`] for a wrong length, coefficients that are not `p f' + 1` with `f'` of up to 10 standard deviations, or a key that the public key was not
    /// made from: `f h` is no such `g`.
    pub fn from_parts(
        public: PublicKey,
        keys: Vec<Zeroizing<Vec<i64>>>,
        wide: Vec<Option<Zeroizing<Vec<i64>>>>,
    ) -> Result<Self, Error> {
        let context = public.context().clone();
        let params = &context.params;
        let material = |problem: String| Err(Error::Material { part: "client key", problem });
        if keys.len() != params.levels() || wide.len() != params.levels() {
            return material(format!("{} and {} keys where {} belong", keys.len(), wide.len(), params.levels()));
        }
        let p = params.plaintext_modulus() as i64;
        let short = (10.0 * params.key_sigma()).ceil() as i64;
        let bound = p * short;
        for (index, (key, wide)) in keys.iter().zip(&wide).enumerate() {
            let level = context.level(index + 1);
            let expects_wide = level.wide != level.basis;
            if wide.is_some() != expects_wide {
                return material(format!("a wide key at level {} where {expects_wide} belongs", index + 1));
            }
            for (key, basis) in [(Some(key), &level.basis), (wide.as_ref(), &level.wide)] {
                let Some(key) = key else { continue };
                if key.len() != basis.dimension() {
                    return material(format!("{} coefficients at level {}", key.len(), index + 1));
                }
                let short = |(i, &x): (usize, &i64)| {
                    let x = x - i64::from(i == 0);
                    x.unsigned_abs() <= bound as u64 && x % p == 0
                };
                if !key.iter().enumerate().all(short) {
                    return material(format!("a coefficient at level {} that no key has", index + 1));
                }
            }
        }
        let keys = keys.into_iter().map(LevelKey).collect();
        let client =
            Self::new(public, keys, wide.into_iter().map(|key| key.map(LevelKey)).collect(), &Steps::unobserved())?;
        if client.made_its_public_key(short as u64)? {
            Ok(client)
        } else {
            material("it is not the key that the public key was made from".into())
        }
    }

    /// Whether `f h`, under the key of the highest level, has coefficients up to that bound.
    fn made_its_public_key(&self, bound: u64) -> Result<bool, Error> {
        let mut g = self.public.h().clone();
        g.mul_assign(&self.values[self.keys.len() - 1])?;
        let g = Zeroizing::new(g.into_coeff());
        let residue = |tower: usize, x: u64| {
            let q = g.basis().modulus(tower).value();
            if x > q / 2 { x as i64 - q as i64 } else { x as i64 }
        };
        // Small, and the same integers modulo every prime.
        Ok((0..g.basis().len()).all(|tower| {
            g.tower(tower).iter().zip(g.tower(0)).all(|(&x, &first)| {
                let x = residue(tower, x);
                x.unsigned_abs() <= bound && x == residue(0, first)
            })
        }))
    }

    /// The coefficients of the level's key, and of the one that stands for it in a larger ring, for storing: secret.
    pub fn coefficients(&self, level: usize) -> Option<(&[i64], Option<&[i64]>)> {
        let index = level.checked_sub(1)?;
        Some((&self.keys.get(index)?.0, self.wide[index].as_ref().map(|key| key.0.as_slice())))
    }

    /// The key of a level.
    pub(super) fn of_level(&self, level: usize) -> &LevelKey {
        &self.keys[level - 1]
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.public.params()
    }

    /// `f^d c` of each part. Wiped on drop.
    fn noise_of(&self, ciphertext: &Ciphertext) -> Result<(Basis, Vec<Secret>), Error> {
        self.public.check("the ciphertext", ciphertext.key)?;
        let basis = ciphertext.basis(self.public.context()).clone();
        let other = |index: usize| self.wide[index].as_ref().unwrap_or(&self.keys[index]).values(&basis);
        let made;
        let key = match ciphertext.stage {
            Stage::Ready => &self.values[ciphertext.level - 1],
            Stage::Switched => {
                made = other(ciphertext.level - 2)?;
                &made
            }
            Stage::Wide => {
                made = other(ciphertext.level - 1)?;
                &made
            }
        };
        let times = |part: &RnsPoly<Eval>| {
            let mut part = part.clone();
            (0..ciphertext.degree).try_for_each(|_| part.mul_assign(key))?;
            Ok(Zeroizing::new(part.into_coeff()))
        };
        let parts = ciphertext.parts.iter().map(times).collect::<Result<_, Error>>()?;
        Ok((basis, parts))
    }

    /// Decrypts. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Noise`] for a ciphertext whose noise by the formula might be too large.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        let context = self.public.context();
        self.public.check("the ciphertext", ciphertext.key)?;
        let room = noise::room(&context.params, ciphertext.basis(context).log2_modulus());
        if ciphertext.noise > room {
            let remedy = "add fewer ciphertexts, or choose parameters with primes of more bits";
            return Err(Error::Noise { operation: "decryption", noise: ciphertext.noise, room, remedy });
        }
        let (basis, parts) = self.noise_of(ciphertext)?;
        context.decode(&basis, &parts)
    }

    /// `log2` of the root mean square of the noise's coefficients, measured: what [`Ciphertext::noise`] predicts. For tests and reports: it tells of the
    /// key.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn measure_noise(&self, ciphertext: &Ciphertext) -> Result<f64, Error> {
        let (basis, parts) = self.noise_of(ciphertext)?;
        let plan = MixedRadix::new(&basis);
        let mut squares = 0.0;
        for part in parts {
            let magnitudes = Zeroizing::new(plan.log2_magnitudes(&part)?);
            squares += magnitudes.iter().map(|bits| (2.0 * bits).exp2()).sum::<f64>();
        }
        Ok(0.5 * (squares / self.params().dimension() as f64).log2())
    }
}
