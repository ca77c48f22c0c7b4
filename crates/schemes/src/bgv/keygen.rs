//! Key generation.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use solinas_ring::{Automorphism, Basis, Eval, RnsPoly, sample};
use zeroize::Zeroizing;

use super::ciphertext::mask;
use super::context::Context;
use super::{ClientKey, Error, Params, PublicKey, Rotations, ServerKey, SwitchKey, noise};
use crate::random::SecretSeed;
use crate::security::Status;

/// Hears how many of how many rows of keys are done; stops the work by [`ControlFlow::Break`].
pub type Progress<'a> = &'a (dyn Fn(usize, usize) -> ControlFlow<()> + Sync);

/// Makes a key pair from the operating system's randomness, on the current thread pool.
///
/// # Errors
/// [`Error::ResearchOnly`] for such a set unless `research`; [`Error::Entropy`].
pub fn generate(params: &Params, rotations: &Rotations, research: bool) -> Result<(ClientKey, ServerKey), Error> {
    let client = ClientKey::generate(params, research)?;
    let server = client.server_key(rotations, &|_, _| ControlFlow::Continue(()))?;
    Ok((client, server))
}

/// A reproducible key pair, for tests and benchmarks alone; what it makes is marked as insecure.
///
/// # Errors
/// [`Error::ResearchOnly`] for such a set unless `research`.
pub fn generate_insecure(
    params: &Params,
    rotations: &Rotations,
    research: bool,
    seed: u64,
) -> Result<(ClientKey, ServerKey), Error> {
    let client = ClientKey::generate_insecure(params, research, seed)?;
    let server = client.server_key(rotations, &|_, _| ControlFlow::Continue(()))?;
    Ok((client, server))
}

/// The secret and public key of a seed.
pub(super) fn client_key(context: Arc<Context>, seed: &SecretSeed, insecure: bool) -> Result<ClientKey, Error> {
    let params = &context.params;
    let mut rng = seed.derive("bgv keys").stream(0);
    let secret = sample::ternary(&mut rng, params.dimension());
    let basis = &context.level(params.levels()).basis;
    let public_seed = seed.derive("bgv public mask").publish();
    let a = mask(basis, &public_seed, 0);
    let values = Zeroizing::new(RnsPoly::from_signed(basis, &secret)?.into_eval());
    let mut b = (*error(basis, &context, &mut rng)?).clone();
    let mut masked = Zeroizing::new(a);
    masked.mul_assign(&values)?;
    b.sub_assign(&masked)?;
    let public = PublicKey::new(context, insecure, public_seed, b);
    ClientKey::new(public, secret)
}

/// That the set may be used.
pub(super) fn allow(params: &Params, research: bool) -> Result<(), Error> {
    if let (Status::ResearchOnly { why }, false) = (params.security().status, research) {
        return Err(Error::ResearchOnly { name: params.name().into(), why });
    }
    Ok(())
}

/// `p e`.
fn error(
    basis: &Basis,
    context: &Context,
    rng: &mut impl rand_core::RngCore,
) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
    let mut e = sample::Gaussian::new(noise::SIGMA)?.draw_many(rng, basis.dimension());
    let p = context.params.plaintext_modulus() as i64;
    e.iter_mut().for_each(|e| *e *= p);
    Ok(Zeroizing::new(RnsPoly::from_signed(basis, &e)?.into_eval()))
}

/// The evaluation key of a secret key, row by row.
pub(super) fn server_key(
    client: &ClientKey,
    seed: &SecretSeed,
    rotations: &Rotations,
    progress: Progress<'_>,
) -> Result<ServerKey, Error> {
    let context = client.public().context();
    let basis = &context.extended;
    let coefficients = client.secret();
    let secret = Zeroizing::new(RnsPoly::from_signed(basis, coefficients)?.into_eval());
    let plans = context.level(context.params.levels());
    let total = (1 + rotations.len()) * plans.switch.rows();
    let done = AtomicUsize::new(0);
    let switch_key = |number: u64, from: &RnsPoly<Eval>| -> Result<SwitchKey, Error> {
        let public_seed = seed.derive(&format!("bgv switch mask {number}")).publish();
        let errors = seed.derive(&format!("bgv switch errors {number}"));
        let row = |g: usize| {
            let a = mask(basis, &public_seed, g as u64);
            let error = error(basis, context, &mut errors.stream(g as u64))?;
            let mut body = plans.switch.body(g, &error, from)?;
            let mut masked = Zeroizing::new(a.clone());
            masked.mul_assign(&secret)?;
            body.sub_assign(&masked)?;
            if progress(done.fetch_add(1, Ordering::Relaxed) + 1, total).is_break() {
                return Err(Error::Cancelled);
            }
            Ok([(*body).clone(), a])
        };
        let rows = (0..plans.switch.rows()).into_par_iter().map(row).collect::<Result<_, Error>>()?;
        Ok(SwitchKey::new(public_seed, context.params.special().len(), rows))
    };
    let mut square = Zeroizing::new((*secret).clone());
    square.mul_assign(&secret)?;
    let relinearization = switch_key(0, &square)?;
    let mut keys = BTreeMap::new();
    for exponent in rotations.exponents() {
        let rotated = Zeroizing::new(Automorphism::new(basis, exponent)?.of_values(&secret)?);
        keys.insert(exponent, switch_key(exponent as u64, &rotated)?);
    }
    Ok(ServerKey::new(client.public().clone(), relinearization, keys))
}
