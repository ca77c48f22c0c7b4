//! Key generation: an independent key for every level.

use std::sync::Arc;

use rand_core::RngCore;
use solinas_ring::{Basis, Eval, RnsPoly, sample};
use zeroize::Zeroizing;

use super::client::{ClientKey, LevelKey};
use super::context::Context;
use super::keys::Hints;
use super::{Error, KeyDistribution, Params, PublicKey, ServerKey, rotate};
use crate::control::Steps;
use crate::random::SecretSeed;
use crate::security::Status;
use crate::{Control, Entropy};

/// Short secret coefficients.
pub(super) type Short = Zeroizing<Vec<i64>>;

/// Every random choice of a key pair.
pub(super) struct Choices {
    /// `f'` of each level from level 1, in its own ring.
    pub(super) keys: Vec<Short>,
    /// `f'` of the key that stands for it in the ring of the level above, where that is larger.
    pub(super) wide: Vec<Option<Short>>,
    pub(super) g: Short,
    /// `e` of the hints of levels 2 and up: for squares, for degree 1, for the ring that is entered below.
    pub(super) masks: Vec<[Short; 3]>,
}

/// Makes a key pair, on the current thread pool. Progress counts steps.
///
/// # Errors
/// [`Error::ResearchOnly`] for such a set unless `research`; [`Error::Entropy`]; [`Error::Cancelled`].
pub fn generate(
    params: &Params,
    research: bool,
    entropy: Entropy,
    control: &Control<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    let seed = SecretSeed::new(entropy)?;
    // A key and its values of each level, and hints of all but the lowest.
    let steps = Steps::new(control, 3 * params.levels() - 1);
    from_seed(params, research, &seed, entropy.is_insecure(), &steps)
}

fn from_seed(
    params: &Params,
    research: bool,
    seed: &SecretSeed,
    insecure: bool,
    steps: &Steps<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    if let (Status::ResearchOnly { why }, false) = (params.security().status, research) {
        return Err(Error::ResearchOnly { name: params.name().into(), why });
    }
    let context = Context::new(params)?;
    let mut rng = seed.derive("ntru keys").stream(0);
    let gaussian = sample::Gaussian::new(params.sigma())?;
    let special = special_basis(&context)?;
    let draw_key = |rng: &mut dyn RngCore, basis: &Basis| -> Result<Short, Error> {
        let same_ring = special.as_ref().filter(|special| special.dimension() == basis.dimension());
        let bases = [Some(basis), same_ring];
        draw_invertible(params, bases.into_iter().flatten(), || {
            draw_short(params, &gaussian, &mut &mut *rng, basis.dimension())
        })
    };
    let (mut keys, mut wide, mut masks) = (Vec::new(), Vec::new(), Vec::new());
    for level in 1..=params.levels() {
        // Hints of the level above divide by its key.
        let (own, above) = (context.level(level), context.level(params.levels().min(level + 1)));
        if own.wide == own.basis {
            keys.push(draw_key(&mut rng, &above.basis)?);
            wide.push(None);
        } else {
            keys.push(draw_key(&mut rng, &own.basis)?);
            wide.push(Some(draw_key(&mut rng, &above.basis)?));
        }
        steps.next()?;
    }
    let g = draw_short(params, &gaussian, &mut rng, params.dimension());
    for level in 2..=params.levels() {
        masks.push([(); 3].map(|()| gaussian.draw_many(&mut rng, params.dimension_at(level))));
    }
    assemble(context, insecure, Choices { keys, wide, g, masks }, steps)
}

/// The first `f'` whose key has an inverse modulo the primes of these bases, of hints and of key switches: about one in `q/n` has a value that is zero.
pub(super) fn draw_invertible<'b>(
    params: &Params,
    bases: impl Iterator<Item = &'b Basis> + Clone,
    mut draw: impl FnMut() -> Short,
) -> Result<Short, Error> {
    loop {
        let short = draw();
        let key = LevelKey::new(params, short.clone());
        let zero = |basis| Ok::<_, Error>(!key.values(basis)?.is_invertible());
        if !bases.clone().map(zero).collect::<Result<Vec<_>, _>>()?.contains(&true) {
            return Ok(short);
        }
    }
}

/// The special primes modulo which keys are divided by, where the set bootstraps or rotates.
pub(super) fn special_basis(context: &Context) -> Result<Option<Basis>, Error> {
    let params = &context.params;
    let moduli = if params.bootstrapping().is_some() {
        params.special_moduli().to_vec()
    } else if params.slots().is_ok() {
        // None where there are too few primes for rotation keys.
        rotate::special_moduli(params).unwrap_or_default()
    } else {
        Vec::new()
    };
    if moduli.is_empty() {
        return Ok(None);
    }
    Ok(Some(Basis::new(params.dimension(), &moduli, context.level(1).basis.backend())?))
}

/// `f'` or `g`.
fn draw_short(params: &Params, gaussian: &sample::Gaussian, rng: &mut impl RngCore, len: usize) -> Short {
    match params.literal().keys {
        KeyDistribution::Gaussian => gaussian.draw_many(rng, len),
        KeyDistribution::Ternary => sample::ternary(rng, len),
    }
}

/// The key pair of those choices.
///
/// # Errors
/// [`Error::Material`] for a key without an inverse.
pub(super) fn assemble(
    context: Arc<Context>,
    insecure: bool,
    choices: Choices,
    steps: &Steps<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    let params = &context.params;
    let key = |short: Short| LevelKey::new(params, short);
    let keys: Vec<LevelKey> = choices.keys.into_iter().map(key).collect();
    let wide: Vec<Option<LevelKey>> = choices.wide.into_iter().map(|short| short.map(key)).collect();

    let top = context.level(params.levels());
    let mut h = Zeroizing::new(RnsPoly::from_signed(&top.basis, &choices.g)?.into_eval());
    h.mul_assign(&*inverse(&*keys[params.levels() - 1].values(&top.basis)?)?)?;
    let public = PublicKey::new(context.clone(), insecure, (*h).clone());

    let mut hints = Vec::new();
    for (level, [square, linear, ring]) in (2..=params.levels()).zip(choices.masks) {
        let basis = &context.level(level).basis;
        let own = keys[level - 1].values(basis)?;
        let below = wide[level - 2].as_ref().unwrap_or(&keys[level - 2]);
        let divisor = inverse(&*below.values(basis)?)?;
        let hint = |mask: Short, factors: &[&RnsPoly<Eval>], basis: &Basis| -> Result<RnsPoly<Eval>, Error> {
            let mut hint = LevelKey::one_plus(params.hint_modulus(), mask).values(basis)?;
            factors.iter().try_for_each(|factor| hint.mul_assign(factor))?;
            Ok((*hint).clone())
        };
        let square = hint(square, &[&own, &own, &divisor], basis)?;
        let linear = hint(linear, &[&own, &divisor], basis)?;
        let ring = match &wide[level - 2] {
            None => None,
            Some(key) => {
                let basis = &context.level(level - 1).wide;
                let sparse = keys[level - 2].spread(basis)?;
                Some(hint(ring, &[&*key.values(basis)?, &*inverse(&sparse)?], basis)?)
            }
        };
        hints.push(Hints { square, linear, ring });
        steps.next()?;
    }
    Ok((ClientKey::new(public.clone(), keys, wide, steps)?, ServerKey::new(public, hints)))
}

pub(super) fn inverse(values: &RnsPoly<Eval>) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
    let error = Error::Material { part: "secret key", problem: "a key is not invertible".into() };
    values.inverse().map(Zeroizing::new).ok_or(error)
}
