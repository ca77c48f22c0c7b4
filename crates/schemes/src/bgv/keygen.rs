//! Key generation.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use solinas_ring::{Automorphism, Basis, Eval, RnsPoly, sample};
use zeroize::Zeroizing;

use super::ciphertext::mask;
use super::context::Context;
use super::keys::{EvaluationParts, PublicParts, SecretParts};
use super::switch::Switch;
use super::{ClientKey, Error, PublicKey, Rotations, SwitchKey, bootstrap, noise};
use crate::Control;
use crate::control::Steps;
use crate::random::SecretSeed;

/// The secret and public key of a seed.
pub(super) fn client_key(context: Arc<Context>, seed: &SecretSeed, insecure: bool) -> Result<ClientKey, Error> {
    let params = &context.params;
    let mut rng = seed.derive("bgv keys").stream(0);
    let secret = sample::ternary(&mut rng, params.dimension());
    let basis = &context.level(params.highest_level()).basis;
    let public_seed = seed.derive("bgv public mask").publish();
    let a = mask(basis, &public_seed, 0);
    let secret = SecretParts::new(basis, secret)?;
    let mut b = (*error(basis, params.plaintext_modulus() as i64, &mut rng)?).clone();
    let mut masked = Zeroizing::new(a);
    masked.mul_assign(&secret.values)?;
    b.sub_assign(&masked)?;
    let public = PublicKey::new(context, insecure, PublicParts::new(public_seed, b));
    Ok(ClientKey::new(public, secret))
}

/// Draws errors, times an integer.
pub(super) fn errors(
    multiple: i64,
    len: usize,
    rng: &mut impl rand_core::RngCore,
) -> Result<Zeroizing<Vec<i64>>, Error> {
    let mut e = sample::Gaussian::new(noise::SIGMA)?.draw_many(rng, len);
    e.iter_mut().for_each(|e| *e *= multiple);
    Ok(e)
}

/// The values of such an error polynomial.
fn error(basis: &Basis, multiple: i64, rng: &mut impl rand_core::RngCore) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
    let e = errors(multiple, basis.dimension(), rng)?;
    Ok(Zeroizing::new(RnsPoly::from_signed(basis, &e)?.into_eval()))
}

/// Makes keys that switch secrets, modulo the primes of `basis`. The last `special` primes are special.
pub(super) struct Rows<'a> {
    pub(super) switch: &'a Switch,
    pub(super) basis: &'a Basis,
    pub(super) special: usize,
    /// Counts the rows that are done.
    pub(super) steps: &'a Steps<'a>,
}

impl Rows<'_> {
    /// The key from the secret `from` to the secret `target`: rows `(-a_g t + k e_g + w_g s, a_g)`, with `k` as `multiple`.
    pub(super) fn key(
        &self,
        seed: &SecretSeed,
        name: &str,
        multiple: i64,
        from: &RnsPoly<Eval>,
        target: &RnsPoly<Eval>,
    ) -> Result<SwitchKey, Error> {
        let public_seed = seed.derive(&format!("bgv switch mask {name}")).publish();
        let errors = seed.derive(&format!("bgv switch errors {name}"));
        let row = |g: usize| {
            let a = mask(self.basis, &public_seed, g as u64);
            let error = error(self.basis, multiple, &mut errors.stream(g as u64))?;
            let mut body = self.switch.body(g, &error, from)?;
            let mut masked = Zeroizing::new(a.clone());
            masked.mul_assign(target)?;
            body.sub_assign(&masked)?;
            self.steps.next()?;
            Ok([(*body).clone(), a])
        };
        let rows = (0..self.switch.rows()).into_par_iter().map(row).collect::<Result<_, Error>>()?;
        Ok(SwitchKey::new(public_seed, self.special, rows))
    }
}

/// Makes the keys of a server, on the current thread pool. Progress counts rows.
pub(super) fn evaluation_parts(
    client: &ClientKey,
    rotations: &Rotations,
    control: &Control<'_>,
) -> Result<EvaluationParts, Error> {
    let seed = client.public().secret_seed("server key")?;
    let context = client.public().context();
    let basis = &context.extended;
    let secret = Zeroizing::new(RnsPoly::from_signed(basis, client.secret())?.into_eval());
    let switch = &context.level(context.params.highest_level()).switch;
    let plan = context.params.bootstrapping().map(|_| bootstrap::Plan::new(context)).transpose()?;
    let bootstrap_rows = plan.as_ref().map_or(0, |plan| plan.rows(context));
    let steps = Steps::new(control, (1 + rotations.len()) * switch.rows() + bootstrap_rows);
    let rows = Rows { switch, basis, special: context.params.special().len(), steps: &steps };
    let p = context.params.plaintext_modulus() as i64;
    let mut square = Zeroizing::new((*secret).clone());
    square.mul_assign(&secret)?;
    let relinearization = rows.key(&seed, "0", p, &square, &secret)?;
    let mut keys = BTreeMap::new();
    for exponent in rotations.exponents() {
        let rotated = Zeroizing::new(Automorphism::new(basis, exponent)?.of_values(&secret)?);
        keys.insert(exponent, rows.key(&seed, &exponent.to_string(), p, &rotated, &secret)?);
    }
    let bootstrap = plan.map(|plan| Ok::<_, Error>(client.bootstrap_key(plan, &steps)?.0)).transpose()?;
    Ok(EvaluationParts { relinearization, rotations: keys, bootstrap })
}
