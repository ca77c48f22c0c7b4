//! Bootstrapping keys, and how they are made.

use core::fmt;
use std::sync::Arc;

use crate::KeyId;
use crate::control::Steps;
use solinas_ring::{Automorphism, Eval, Hybrid, Rescale, RnsPoly, SwitchDown, sample};
use zeroize::Zeroizing;

use super::plan::Plan;
use crate::bgv::ciphertext::mask;
use crate::bgv::keygen;
use crate::bgv::{ClientKey, Error, Params, PublicKey, SwitchKey, SwitchKeyParts};
use crate::random::SecretSeed;

/// The part of a server key that bootstrapping needs. Every one has a sparse secret of its own.
#[derive(Clone)]
pub struct BootstrapKey {
    id: KeyId,
    pub(in crate::bgv) plan: Arc<Plan>,
    /// The switching key from `s` to the sparse secret `s_b`, at level 1.
    pub(super) to_sparse: SwitchKey,
    /// `(b, a)` with `b + a s = N^-1 (s_b + 2^l e)`, at the highest level.
    pub(super) embed: SwitchKey,
    /// The switching key from `s^2`. Its errors are multiples of `2^l`.
    pub(super) relinearization: SwitchKey,
    /// The switching keys from `s` to `g^-1(s)`, for each automorphism `g` of each round. Their errors are multiples of
    /// `2^l`.
    pub(super) trace: Vec<SwitchKey>,
}

impl fmt::Debug for BootstrapKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BootstrapKey").field("id", &self.id).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl PartialEq for BootstrapKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.keys().eq(other.keys())
    }
}

impl BootstrapKey {
    /// From its parts, as stored, in the order of [`Self::keys`].
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] for parameters without; [`Error::Material`] for another number of keys or rows; [`Error::Ring`] for words that are no residues.
    pub fn from_parts(public: &PublicKey, parts: &[SwitchKeyParts]) -> Result<Self, Error> {
        let context = public.context();
        let plan = Plan::new(context)?;
        let shapes: Vec<_> = plan.shapes(context).collect();
        if shapes.len() != parts.len() {
            let problem = format!("{} keys where {} belong", parts.len(), shapes.len());
            return Err(Error::Material { part: "bootstrapping key", problem });
        }
        let key = |((basis, special, rows), parts): (_, &SwitchKeyParts)| {
            SwitchKey::of_parts("bootstrapping key", &basis, special, rows, parts)
        };
        let keys = shapes.into_iter().zip(parts).map(key).collect::<Result<_, _>>()?;
        Self::assemble(public, plan, keys)
    }

    fn assemble(public: &PublicKey, plan: Plan, keys: Vec<SwitchKey>) -> Result<Self, Error> {
        let mut keys = keys.into_iter();
        let error = || Error::Material { part: "bootstrapping key", problem: "a key is missing".into() };
        let mut next = || keys.next().ok_or_else(error);
        let (to_sparse, embed, relinearization) = (next()?, next()?, next()?);
        let trace = keys.collect();
        Ok(Self { id: public.id(), plan: Arc::new(plan), to_sparse, embed, relinearization, trace })
    }

    /// All that it consists of: the switch to the sparse secret, the encryption of that (a key of one row), the relinearization, the switches of the trace.
    pub fn keys(&self) -> impl Iterator<Item = &SwitchKey> {
        [&self.to_sparse, &self.embed, &self.relinearization].into_iter().chain(&self.trace)
    }

    /// The switch to the sparse secret, at the first level: its decomposition, its division and its key.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] for parameters whose digits are bits of towers.
    pub fn to_sparse(&self, params: &Params) -> Result<(&Hybrid, &SwitchDown, &SwitchKey), Error> {
        let (hybrid, down, _) = self.plan.sparse.by_groups().ok_or_else(|| super::params_without(params))?;
        Ok((hybrid, down, &self.to_sparse))
    }

    /// The encryption of the sparse secret at the highest level: a key of one row.
    pub fn embedding(&self) -> &SwitchKey {
        &self.embed
    }

    /// The relinearization of squares.
    pub fn relinearization(&self) -> &SwitchKey {
        &self.relinearization
    }

    /// The key switches of each round of the trace, all of which end by [`Self::trace_down`].
    pub fn rounds(&self) -> impl Iterator<Item = Vec<(&Automorphism, &SwitchKey)>> + '_ {
        let mut keys = self.trace.iter();
        self.plan.rounds.iter().map(move |round| round.iter().zip(keys.by_ref()).collect())
    }

    /// The division that ends a round of the trace.
    pub fn trace_down(&self) -> &SwitchDown {
        &self.plan.down
    }

    /// The division of each digit as it is first found.
    pub fn rests(&self) -> &[Rescale] {
        &self.plan.rests
    }

    /// By depth and squarings, the divisions of squares.
    pub fn squares(&self) -> &[Vec<SwitchDown>] {
        &self.plan.squares
    }

    /// Number of digits that are taken from below.
    pub fn found(&self) -> usize {
        self.plan.found
    }

    /// For each of [`Self::keys`], its primes' bits and its rows: what a file of one has to hold.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] for parameters without.
    pub fn shapes(params: &Params) -> Result<Vec<(Vec<u32>, usize)>, Error> {
        if params.bootstrapping().is_none() {
            return Err(super::params_without(params));
        }
        let bits = |moduli: &[solinas_field::prime::Modulus]| moduli.iter().map(|q| q.bits()).collect::<Vec<_>>();
        let (all, rows) = (bits(params.moduli()), params.switch_rows());
        let sparse = vec![all[0], all[all.len() - 1]];
        let extended = [all.clone(), bits(params.special())].concat();
        let long = 1 + super::Bootstrapping::automorphisms(params.dimension());
        Ok([(sparse, 1), (all, 1)].into_iter().chain(core::iter::repeat_n((extended, rows), long)).collect())
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.keys().map(SwitchKey::bytes).sum()
    }

    /// Identity of the key pair that it belongs to.
    pub fn id(&self) -> KeyId {
        self.id
    }
}

impl ClientKey {
    /// Makes a bootstrapping key, on the current thread pool; each row is a step. Also returns its sparse secret, which only tests need.
    pub(in crate::bgv) fn bootstrap_key(
        &self,
        plan: Plan,
        steps: &Steps<'_>,
    ) -> Result<(BootstrapKey, Zeroizing<Vec<i64>>), Error> {
        let seed = self.public().secret_seed("bootstrapping")?;
        let context = self.public().context();
        let sparse = sample::sparse(
            &mut seed.derive("bgv sparse secret").stream(0),
            context.params.dimension(),
            plan.bootstrapping.weight,
        )?;
        let keys = self.bootstrap_keys(&plan, &seed, &sparse, steps)?;
        Ok((BootstrapKey::assemble(self.public(), plan, keys)?, sparse))
    }

    fn bootstrap_keys(
        &self,
        plan: &Plan,
        seed: &SecretSeed,
        sparse: &[i64],
        steps: &Steps<'_>,
    ) -> Result<Vec<SwitchKey>, Error> {
        let context = self.public().context();
        let whole = 1 << plan.bootstrapping.precision;
        let values = |basis, of: &[i64]| -> Result<_, Error> {
            Ok(Zeroizing::new(RnsPoly::from_signed(basis, of)?.into_eval()))
        };
        let to_sparse = {
            let (from, target) = (values(&plan.sparse_basis, self.secret())?, values(&plan.sparse_basis, sparse)?);
            let rows = keygen::Rows { switch: &plan.sparse, basis: &plan.sparse_basis, special: 1, steps };
            rows.key(seed, "to sparse", context.params.plaintext_modulus() as i64, &from, &target)?
        };
        let embed = self.embedding(plan, seed, sparse)?;
        steps.next()?;
        let top = context.level(context.params.highest_level());
        let (basis, special) = (&context.extended, context.params.special().len());
        let rows = keygen::Rows { switch: &top.switch, basis, special, steps };
        let secret = values(basis, self.secret())?;
        let mut square = Zeroizing::new((*secret).clone());
        square.mul_assign(&secret)?;
        let mut keys =
            vec![to_sparse, embed, rows.key(seed, "bootstrapping relinearization", whole, &square, &secret)?];
        drop(square);
        for automorphism in plan.rounds.iter().flatten() {
            let name = format!("bootstrapping trace {}", automorphism.exponent());
            keys.push(rows.key(seed, &name, whole, &secret, &*before(automorphism, &secret)?)?);
        }
        Ok(keys)
    }

    /// `(N^-1 (s_b + 2^l e) - a s, a)`.
    fn embedding(&self, plan: &Plan, seed: &SecretSeed, sparse: &[i64]) -> Result<SwitchKey, Error> {
        let context = self.public().context();
        let basis = &context.level(context.params.highest_level()).basis;
        let public_seed = seed.derive("bgv sparse embedding mask").publish();
        let mut rng = seed.derive("bgv sparse embedding errors").stream(0);
        let mut body = keygen::errors(1 << plan.bootstrapping.precision, basis.dimension(), &mut rng)?;
        body.iter_mut().zip(sparse).for_each(|(x, &s)| *x += s);
        let mut body = Zeroizing::new(RnsPoly::from_signed(basis, &body)?.into_eval());
        // 1/N by halvings.
        (0..basis.dimension().ilog2()).for_each(|_| body.halve());
        let a = mask(basis, &public_seed, 0);
        let mut masked = Zeroizing::new(RnsPoly::from_signed(basis, self.secret())?.into_eval());
        masked.mul_assign(&a)?;
        body.sub_assign(&masked)?;
        Ok(SwitchKey::new(public_seed, 0, vec![[(*body).clone(), a]]))
    }
}

/// `g^-1(s)`.
fn before(automorphism: &Automorphism, secret: &RnsPoly<Eval>) -> Result<Zeroizing<RnsPoly<Eval>>, Error> {
    Ok(Zeroizing::new(automorphism.inverse().of_values(secret)?))
}
