//! The parts of keys. The parts of a public or a server key hold no secret.

use solinas_ring::{Basis, Eval, RnsPoly};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::bootstrap::params_without;
use super::context::Context;
use super::keygen::{self, Short};
use super::{BootstrapKey, ClientKey, Error, Ntru, Params, PublicKey, Rotation, RotationKey, ServerKey};
use crate::control::Steps;
use crate::identity::digest_of_words;
use crate::leveled::Leveled;
use crate::random::SecretRng;
use crate::{Control, Identity, IdentityParts, KeyId, Level};

/// The numbers of a public key: `h = g / f_t`.
#[derive(PartialEq)]
pub struct PublicParts {
    pub(super) h: RnsPoly<Eval>,
    /// `p h`.
    pub(super) scaled: RnsPoly<Eval>,
}

impl PublicParts {
    pub(super) fn new(params: &Params, h: RnsPoly<Eval>) -> Self {
        let mut scaled = h.clone();
        scaled.scale(params.plaintext_modulus() as i64);
        Self { h, scaled }
    }

    /// The identity of the key pair.
    pub(super) fn identity(&self, context: &Context, insecure: bool) -> Identity {
        let (scheme, literal) = (Ntru::NAME, context.params.literal());
        let parts = IdentityParts { scheme, literal, claims: &[], insecure, public_seed: &[] };
        parts.identity(digest_of_words([self.h.words()]))
    }

    /// The id of version 1.
    pub(super) fn version_1_id(&self, context: &Context, insecure: bool) -> KeyId {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 ntru key id");
        hasher.update(context.params.name().as_bytes()).update(&[insecure.into()]);
        let moduli = context.params.moduli().iter().map(|q| q.value());
        moduli.chain(self.h.words().iter().copied()).for_each(|word| {
            hasher.update(&word.to_le_bytes());
        });
        KeyId(hasher.finalize().into())
    }
}

impl PublicKey {
    /// A public key from its stored part: the words of `h` in the transformed domain, tower by tower. `insecure` tells whether the key was made from a chosen
    /// seed.
    ///
    /// # Errors
    /// [`Error::Ring`] for another number of words, or for words that are no residues.
    pub fn from_parts(params: &Params, insecure: bool, h: &[u64]) -> Result<Self, Error> {
        let context = Context::new(params)?;
        let h = RnsPoly::from_words(&context.level(params.fresh_level()).basis, h)?;
        Ok(Self::new(context, insecure, PublicParts::new(params, h)))
    }

    /// The polynomial `h`.
    pub fn h(&self) -> &RnsPoly<Eval> {
        &self.parts().h
    }
}

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

/// The secret of a client key: the keys of all levels.
pub struct SecretParts {
    pub(super) keys: Vec<LevelKey>,
    pub(super) wide: Vec<Option<LevelKey>>,
    /// The values of each level's key.
    pub(super) values: Vec<Zeroizing<RnsPoly<Eval>>>,
    /// The generator of the hints' errors, which the generation of the key leaves. A key that was read from a file has none.
    pub(super) hint_errors: Option<SecretRng>,
}

// Every field wipes itself.
impl ZeroizeOnDrop for SecretParts {}

impl SecretParts {
    pub(super) fn new(
        context: &Context,
        keys: Vec<LevelKey>,
        wide: Vec<Option<LevelKey>>,
        steps: &Steps<'_>,
    ) -> Result<Self, Error> {
        let values = |(level, key): (Level, &LevelKey)| {
            steps.next()?;
            key.values(&context.level(level).basis)
        };
        let levels = Level::LOWEST.up_to(context.params.fresh_level());
        let values = levels.zip(&keys).map(values).collect::<Result<_, _>>()?;
        Ok(Self { keys, wide, values, hint_errors: None })
    }

    /// Whether `f h`, under the key of the highest level, has coefficients up to that bound.
    fn made(&self, public: &PublicKey, bound: u64) -> Result<bool, Error> {
        let mut g = public.h().clone();
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
}

impl ClientKey {
    /// A client key from its stored parts: the coefficients of `f_j` of each level from level 1, and where the level above has a larger ring, of the key that
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
        let context = public.context();
        let params = &context.params;
        let material = |problem: String| Err(Error::Material { part: "client key", problem });
        if keys.len() != params.levels() || wide.len() != params.levels() {
            return material(format!("{} and {} keys where {} belong", keys.len(), wide.len(), params.levels()));
        }
        let p = params.plaintext_modulus() as i64;
        let short = (10.0 * params.key_sigma()).ceil() as i64;
        let bound = p * short;
        for (level, (key, wide)) in Level::LOWEST.up_to(params.fresh_level()).zip(keys.iter().zip(&wide)) {
            let plans = context.level(level);
            let expects_wide = plans.wide != plans.basis;
            if wide.is_some() != expects_wide {
                return material(format!("a wide key at level {level} where {expects_wide} belongs"));
            }
            for (key, basis) in [(Some(key), &plans.basis), (wide.as_ref(), &plans.wide)] {
                let Some(key) = key else { continue };
                if key.len() != basis.dimension() {
                    return material(format!("{} coefficients at level {level}", key.len()));
                }
                let short = |(i, &x): (usize, &i64)| {
                    let x = x - i64::from(i == 0);
                    x.unsigned_abs() <= bound as u64 && x % p == 0
                };
                if !key.iter().enumerate().all(short) {
                    return material(format!("a coefficient at level {level} that no key has"));
                }
            }
        }
        let keys = keys.into_iter().map(LevelKey).collect();
        let wide = wide.into_iter().map(|key| key.map(LevelKey)).collect();
        let secret = SecretParts::new(context, keys, wide, &Steps::unobserved())?;
        if secret.made(&public, short as u64)? {
            Ok(Self::new(public, secret))
        } else {
            material("it is not the key that the public key was made from".into())
        }
    }

    /// The coefficients of the level's key, and of the one that stands for it in a larger ring, for storing. They are secret.
    pub fn coefficients(&self, level: Level) -> Option<(&[i64], Option<&[i64]>)> {
        let index = level.index();
        let SecretParts { keys, wide, .. } = self.secret_parts();
        Some((&keys.get(index)?.0, wide[index].as_ref().map(|key| key.0.as_slice())))
    }

    /// The key of a level.
    pub(super) fn level_key(&self, level: Level) -> &LevelKey {
        &self.secret_parts().keys[level.index()]
    }

    /// As [`server_key`](Self::server_key), with keys of these rotations. They are for research only: see [`RotationKey`].
    ///
    /// # Errors
    /// [`Error::Slots`]; [`Error::Params`] for reduced rings; [`Error::ResearchOnly`] without `research`; [`Error::Cancelled`]; [`Error::Entropy`].
    pub fn server_key_with(
        &self,
        rotations: &[Rotation],
        research: bool,
        control: &Control<'_>,
    ) -> Result<ServerKey, Error> {
        let rotations = Some((rotations, research));
        Ok(ServerKey::new(self.public().clone(), keygen::evaluation_parts(self, rotations, control)?))
    }
}

/// The hints of a level above the first, and of the ring that is entered at one below.
#[derive(Clone, PartialEq)]
pub(super) struct Hints {
    /// `m f_j^2 / f_(j-1)`.
    pub(super) square: RnsPoly<Eval>,
    /// `m f_j / f_(j-1)`.
    pub(super) linear: RnsPoly<Eval>,
    /// Where level `j-1` has a smaller ring, `m f / f_(j-1)(X^w)` for the key `f` that stands for `f_(j-1)` above.
    pub(super) ring: Option<RnsPoly<Eval>>,
}

/// The keys of a server: the hints, the bootstrapping key if the parameters have one, and the rotation key if its maker asked for one.
#[derive(Clone, PartialEq)]
pub struct EvaluationParts {
    /// The hints of levels 2 and up.
    pub(super) hints: Vec<Hints>,
    pub(super) bootstrap: Option<BootstrapKey>,
    pub(super) rotations: Option<RotationKey>,
}

impl ServerKey {
    /// A server key from its stored parts: the words of the hints in the transformed domain, in the order of [`Self::hints`], the bootstrapping key of
    /// parameters that have one, and the rotation key.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of hints, and without a bootstrapping key that the parameters have; [`Error::KeyMismatch`] for a bootstrapping
    /// or rotation key of another key; [`Error::Ring`] for words that are no residues.
    pub fn from_parts(
        public: PublicKey,
        hints: &[Vec<u64>],
        bootstrap: Option<BootstrapKey>,
        rotations: Option<RotationKey>,
    ) -> Result<Self, Error> {
        let context = public.context().clone();
        let material = |problem: String| Error::Material { part: "server key", problem };
        let mut given = hints.iter();
        let mut next = |basis: &solinas_ring::Basis| {
            let error = || material(format!("only {} hints", hints.len()));
            Ok::<_, Error>(RnsPoly::from_words(basis, given.next().ok_or_else(error)?)?)
        };
        let mut all = Vec::new();
        for level in Level::LOWEST.above().up_to(context.params.fresh_level()) {
            let (above, below) = (context.level(level), context.level(level.lowered(1)));
            let (square, linear) = (next(&above.basis)?, next(&above.basis)?);
            let ring = if below.wide == below.basis { None } else { Some(next(&below.wide)?) };
            all.push(Hints { square, linear, ring });
        }
        let more = given.count();
        if more > 0 {
            return Err(material(format!("{more} hints too many")));
        }
        if bootstrap.is_some() != context.params.bootstrapping().is_some() {
            return Err(material("a bootstrapping key is missing, or one too many".into()));
        }
        bootstrap.iter().try_for_each(|key| public.check("the bootstrapping key", key.id()))?;
        rotations.iter().try_for_each(|key| public.check("the rotation key", key.id()))?;
        Ok(Self::new(public, EvaluationParts { hints: all, bootstrap, rotations }))
    }

    /// The hints from level 2 up: for squares, for degree 1, and where the ring is reduced, for that.
    pub fn hints(&self) -> impl Iterator<Item = &RnsPoly<Eval>> {
        self.parts()
            .hints
            .iter()
            .flat_map(|hints| [Some(&hints.square), Some(&hints.linear), hints.ring.as_ref()])
            .flatten()
    }

    /// The bootstrapping key, if the parameters have one.
    pub fn bootstrap_key(&self) -> Option<&BootstrapKey> {
        self.parts().bootstrap.as_ref()
    }

    /// The bootstrapping key.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] if the parameters have none.
    pub fn bootstrapping(&self) -> Result<&BootstrapKey, Error> {
        self.bootstrap_key().ok_or_else(|| params_without(self.params()))
    }

    /// The rotation key, if the server key was made with one.
    pub fn rotation_key(&self) -> Option<&RotationKey> {
        self.parts().rotations.as_ref()
    }

    /// The hints of a level above the first.
    pub(super) fn level_hints(&self, level: Level) -> &Hints {
        &self.parts().hints[level.lowered(1).index()]
    }
}
