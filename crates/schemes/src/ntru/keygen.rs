//! Key generation: an independent key for every level.

use std::sync::Arc;

use rand_core::RngCore;
use solinas_ring::{Basis, Eval, RnsPoly, sample};
use zeroize::Zeroizing;

use super::context::Context;
use super::keys::{EvaluationParts, Hints, LevelKey, PublicParts, SecretParts};
use super::{
    BootstrapKey, ClientKey, Error, KeyDistribution, Params, PublicKey, Rotation, RotationKey, bootstrap, rotate,
};
use crate::control::Steps;
use crate::random::SecretSeed;
use crate::{Control, Entropy, Level};

/// Short secret coefficients.
pub(super) type Short = Zeroizing<Vec<i64>>;

/// The random choices of a client key.
pub(super) struct Choices {
    /// `f'` of each level from level 1, in its own ring.
    pub(super) keys: Vec<Short>,
    /// `f'` of the key that stands for it in the ring of the level above, where that is larger.
    pub(super) wide: Vec<Option<Short>>,
    pub(super) g: Short,
}

/// Steps of [`client_key`].
pub(super) fn client_steps(params: &Params) -> usize {
    2 * params.levels()
}

/// Steps of [`evaluation_parts`] with that number of rotations.
pub(super) fn server_steps(params: &Params, rotations: usize) -> usize {
    let hints = params.levels() - 1;
    let bootstrap = params.bootstrapping().map_or(0, |_| BootstrapKey::polynomial_count(params));
    // Parameters without rotations have no sizes.
    hints + bootstrap + rotations * RotationKey::sizes(params).map_or(0, |sizes| sizes.len())
}

/// Makes the secret and the public key of a seed. Progress counts the keys of levels, twice.
pub(super) fn client_key(params: &Params, entropy: Entropy, control: &Control<'_>) -> Result<ClientKey, Error> {
    let seed = SecretSeed::new(entropy)?;
    let steps = Steps::new(control, client_steps(params));
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
    let (mut keys, mut wide) = (Vec::new(), Vec::new());
    for level in Level::LOWEST.up_to(params.fresh_level()) {
        // Hints of the level above divide by its key.
        let (own, above) = (context.level(level), context.level(params.fresh_level().min(level.above())));
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
    let (public, mut secret) = assemble(context, entropy.is_insecure(), Choices { keys, wide, g }, &steps)?;
    // One stream draws the keys, and after them the errors of the hints.
    secret.hint_errors = Some(rng);
    Ok(ClientKey::new(public, secret))
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
    Ok(Some(Basis::new(params.dimension(), &moduli, context.level(Level::LOWEST).basis.backend())?))
}

/// `f'` or `g`.
fn draw_short(params: &Params, gaussian: &sample::Gaussian, rng: &mut impl RngCore, len: usize) -> Short {
    match params.literal().keys {
        KeyDistribution::Gaussian => gaussian.draw_many(rng, len),
        KeyDistribution::Ternary => sample::ternary(rng, len),
    }
}

/// The public key and the secret of those choices.
///
/// # Errors
/// [`Error::Material`] for a key without an inverse.
pub(super) fn assemble(
    context: Arc<Context>,
    insecure: bool,
    choices: Choices,
    steps: &Steps<'_>,
) -> Result<(PublicKey, SecretParts), Error> {
    let params = &context.params;
    let key = |short: Short| LevelKey::new(params, short);
    let keys: Vec<LevelKey> = choices.keys.into_iter().map(key).collect();
    let wide: Vec<Option<LevelKey>> = choices.wide.into_iter().map(|short| short.map(key)).collect();
    let top = context.level(params.fresh_level());
    let mut h = Zeroizing::new(RnsPoly::from_signed(&top.basis, &choices.g)?.into_eval());
    h.mul_assign(&*inverse(&*keys[params.levels() - 1].values(&top.basis)?)?)?;
    let parts = PublicParts::new(params, (*h).clone());
    let secret = SecretParts::new(&context, keys, wide, steps)?;
    Ok((PublicKey::new(context, insecure, parts), secret))
}

/// Makes the keys of a server, on the current thread pool: hints, a bootstrapping key if the parameters have one, and keys of rotations, with the consent to
/// research, if the caller asks for them. Progress counts hints of levels and polynomials.
pub(super) fn evaluation_parts(
    client: &ClientKey,
    rotations: Option<(&[Rotation], bool)>,
    control: &Control<'_>,
) -> Result<EvaluationParts, Error> {
    let context = client.public().context();
    let params = &context.params;
    let mut rng = match &client.secret_parts().hint_errors {
        Some(rng) => rng.duplicate(),
        None => client.public().secret_seed("server key")?.stream(0),
    };
    let bootstrap = params.bootstrapping().map(|_| bootstrap::Plan::new(context)).transpose()?;
    let steps = server_steps(params, rotations.map_or(0, |(rotations, _)| rotations.len()));
    let rotations = rotations.map(|(rotations, research)| rotate::Request::new(context, rotations, research));
    let rotations = rotations.transpose()?;
    let steps = Steps::new(control, steps);
    let gaussian = sample::Gaussian::new(params.sigma())?;
    let errors = |level| [(); 3].map(|()| gaussian.draw_many(&mut rng, params.dimension_at(level)));
    Ok(EvaluationParts {
        hints: hints(client, Level::LOWEST.above().up_to(params.fresh_level()).map(errors), &steps)?,
        bootstrap: bootstrap.map(|plan| client.bootstrap_key(plan, &steps)).transpose()?,
        rotations: rotations.map(|request| client.rotation_key(request, &steps)).transpose()?,
    })
}

/// The hints of levels 2 and up, with these `e`: for squares, for degree 1, for the ring that is entered below.
pub(super) fn hints(
    client: &ClientKey,
    errors: impl Iterator<Item = [Short; 3]>,
    steps: &Steps<'_>,
) -> Result<Vec<Hints>, Error> {
    let context = client.public().context();
    let params = &context.params;
    let SecretParts { keys, wide, .. } = client.secret_parts();
    let mut hints = Vec::new();
    for (level, [square, linear, ring]) in Level::LOWEST.above().up_to(params.fresh_level()).zip(errors) {
        let next = level.lowered(1);
        let basis = &context.level(level).basis;
        let own = keys[level.index()].values(basis)?;
        let below = wide[next.index()].as_ref().unwrap_or(&keys[next.index()]);
        let divisor = inverse(&*below.values(basis)?)?;
        let hint = |e: Short, factors: &[&RnsPoly<Eval>], basis: &Basis| -> Result<RnsPoly<Eval>, Error> {
            let mut hint = LevelKey::one_plus(params.hint_modulus(), e).values(basis)?;
            factors.iter().try_for_each(|factor| hint.mul_assign(factor))?;
            Ok((*hint).clone())
        };
        let square = hint(square, &[&own, &own, &divisor], basis)?;
        let linear = hint(linear, &[&own, &divisor], basis)?;
        let ring = match &wide[next.index()] {
            None => None,
            Some(key) => {
                let basis = &context.level(next).wide;
                let sparse = keys[next.index()].spread(basis)?;
                Some(hint(ring, &[&*key.values(basis)?, &*inverse(&sparse)?], basis)?)
            }
        };
        hints.push(Hints { square, linear, ring });
        steps.next()?;
    }
    Ok(hints)
}

pub(super) fn inverse(values: &RnsPoly<Eval>) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
    let error = Error::Material { part: "secret key", problem: "a key is not invertible".into() };
    values.inverse().map(Zeroizing::new).ok_or(error)
}
