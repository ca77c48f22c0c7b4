//! Bootstrapping keys, and how they are made.

use core::fmt;
use std::sync::Arc;

use crate::control::Steps;
use crate::{KeyId, Level};
use rayon::prelude::*;
use solinas_ring::{Automorphism, Basis, Eval, Hybrid, ModDown, Rescale, RnsPoly, sample};
use zeroize::Zeroizing;

use super::plan::Plan;
use crate::ntru::context::Context;
use crate::ntru::keygen::{Short, inverse};
use crate::ntru::keys::LevelKey;
use crate::ntru::switch::Target;
use crate::ntru::{Bootstrapping, ClientKey, Error, Params, PublicKey};

/// The part of a server key that bootstrapping needs. Every one has a sparse key of its own.
#[derive(Clone)]
pub struct BootstrapKey {
    id: KeyId,
    pub(in crate::ntru) plan: Arc<Plan>,
    /// `m F_1 / f_b mod q_1`, the switching key to the sparse key.
    pub(super) to_sparse: RnsPoly<Eval>,
    /// `N^-1 (f_b + 2^l e) / F_L`.
    pub(super) embed: RnsPoly<Eval>,
    /// `2^(l-2) N^-1 (1 + 2^l e) / F_L`.
    pub(super) shift: RnsPoly<Eval>,
    /// `(2^l e + P E_g F_L) / s^-1(F_L)` for each automorphism `s` of each round and each group `g` of towers, also
    /// modulo the special primes `P`.
    pub(super) trace: Vec<Vec<RnsPoly<Eval>>>,
}

impl fmt::Debug for BootstrapKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BootstrapKey").field("id", &self.id).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl PartialEq for BootstrapKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.polynomials().eq(other.polynomials())
    }
}

impl BootstrapKey {
    /// From its parts, as stored: the words of its polynomials in the transformed domain, in the order of [`Self::polynomials`].
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] for parameters without; [`Error::Material`] for another number of polynomials; [`Error::Ring`] for words that
    /// are no residues.
    pub fn from_parts<'w>(public: &PublicKey, words: impl IntoIterator<Item = &'w [u64]>) -> Result<Self, Error> {
        let context = public.context();
        let plan = Plan::new(context)?;
        let (mut words, mut polynomials) = (words.into_iter(), Vec::new());
        let error = |problem: String| Error::Material { part: "bootstrapping key", problem };
        for basis in plan.bases(context) {
            let words = words.next().ok_or_else(|| error(format!("only {} polynomials", polynomials.len())))?;
            polynomials.push(RnsPoly::from_words(basis, words)?);
        }
        if words.next().is_some() {
            return Err(error(format!("more than {} polynomials", polynomials.len())));
        }
        Self::assemble(public, plan, polynomials)
    }

    fn assemble(public: &PublicKey, plan: Plan, polynomials: Vec<RnsPoly<Eval>>) -> Result<Self, Error> {
        let error = || Error::Material { part: "bootstrapping key", problem: "a polynomial is missing".into() };
        let mut polynomials = polynomials.into_iter();
        let mut next = || polynomials.next().ok_or_else(error);
        let (to_sparse, embed, shift) = (next()?, next()?, next()?);
        let switch = |_| (0..plan.switch.rows()).map(|_| next()).collect();
        let trace = (0..plan.switches()).map(switch).collect::<Result<_, Error>>()?;
        Ok(Self { id: public.id(), plan: Arc::new(plan), to_sparse, embed, shift, trace })
    }

    /// All that it consists of: the hint to the sparse key, the encryptions of the sparse key and of the shift, the key switches of the trace.
    pub fn polynomials(&self) -> impl Iterator<Item = &RnsPoly<Eval>> {
        [&self.to_sparse, &self.embed, &self.shift].into_iter().chain(self.trace.iter().flatten())
    }

    /// The hint to the sparse key, at the first level.
    pub fn to_sparse(&self) -> &RnsPoly<Eval> {
        &self.to_sparse
    }

    /// The encryption of the sparse key, at the highest level.
    pub fn embedding(&self) -> &RnsPoly<Eval> {
        &self.embed
    }

    /// The encryption of the shift, at the highest level.
    pub fn shift(&self) -> &RnsPoly<Eval> {
        &self.shift
    }

    /// The key switches of each round of the trace: automorphisms, each with a polynomial for each group of towers.
    pub fn rounds(&self) -> impl Iterator<Item = Vec<(&Automorphism, &[RnsPoly<Eval>])>> + '_ {
        let mut keys = self.trace.iter();
        self.plan.rounds.iter().map(move |round| round.iter().zip(keys.by_ref().map(Vec::as_slice)).collect())
    }

    /// The decomposition and the division of the key switches of the trace.
    pub fn switch(&self) -> (&Hybrid, &ModDown) {
        (self.plan.switch.hybrid(), self.plan.switch.down())
    }

    /// The division by the prime of `level` of powers of digit `digit`. Range: `digit` below the precision less 1, levels
    /// from 2 on.
    pub fn rescale(&self, digit: usize, level: Level) -> &Rescale {
        self.plan.rescale(digit, level)
    }

    /// Bits of a rounded ciphertext.
    pub fn precision(&self) -> u32 {
        self.plan.bootstrapping.precision
    }

    /// Number of [`Self::polynomials`] of a key of parameters that bootstrap.
    pub(in crate::ntru) fn polynomial_count(params: &Params) -> usize {
        let rows = params.moduli().len().div_ceil(params.special_moduli().len());
        3 + Bootstrapping::automorphisms(params.dimension()) * rows
    }

    /// Bytes of its polynomials.
    pub fn bytes(&self) -> usize {
        self.polynomials().map(|poly| size_of_val(poly.words())).sum()
    }

    /// Identity of the key pair that it belongs to.
    pub fn id(&self) -> KeyId {
        self.id
    }
}

/// Every random choice of a bootstrapping key.
#[cfg(test)]
pub(in crate::ntru) struct Choices {
    /// `f_b`.
    pub(in crate::ntru) sparse: Short,
    /// `e` of each polynomial, in their order.
    pub(in crate::ntru) masks: Vec<Short>,
}

impl ClientKey {
    /// Makes a bootstrapping key, on the current thread pool; each polynomial is a step.
    pub(in crate::ntru) fn bootstrap_key(&self, plan: Plan, steps: &Steps<'_>) -> Result<BootstrapKey, Error> {
        let seed = self.public().secret_seed("bootstrapping")?;
        let context = self.public().context();
        let (n, basis) = (context.params.dimension(), &context.level(Level::LOWEST).basis);
        let gaussian = sample::Gaussian::new(context.params.sigma())?;
        let mut rng = seed.stream(0);
        let sparse = loop {
            let sparse = sample::sparse(&mut rng, n, plan.bootstrapping.weight)?;
            if Zeroizing::new(RnsPoly::from_signed(basis, &sparse)?.into_eval()).is_invertible() {
                break sparse;
            }
        };
        let mask = |index: usize| gaussian.draw_many(&mut seed.stream(1 + index as u64), n);
        self.bootstrap_key_of(plan, &sparse, &mask, steps)
    }

    /// Makes the bootstrapping key of given random choices.
    #[cfg(test)]
    pub(in crate::ntru) fn bootstrap_key_from(&self, choices: &Choices) -> Result<BootstrapKey, Error> {
        let mask = |index: usize| choices.masks[index].clone();
        let plan = Plan::new(self.public().context())?;
        self.bootstrap_key_of(plan, &choices.sparse, &mask, &Steps::unobserved())
    }

    fn bootstrap_key_of(
        &self,
        plan: Plan,
        sparse: &Short,
        mask: &(dyn Fn(usize) -> Short + Sync),
        steps: &Steps<'_>,
    ) -> Result<BootstrapKey, Error> {
        let context = self.public().context();
        let secret = Secrets::new(context, &plan, self, sparse)?;
        let bases: Vec<&Basis> = plan.bases(context).collect();
        let make = |(index, basis): (usize, &&Basis)| {
            let polynomial = secret.polynomial(index, basis, mask(index))?;
            steps.next()?;
            Ok(polynomial)
        };
        let polynomials = bases.par_iter().enumerate().map(make).collect::<Result<Vec<_>, Error>>()?;
        drop(secret);
        BootstrapKey::assemble(self.public(), plan, polynomials)
    }
}

/// The secrets from which a bootstrapping key is made. They are wiped on drop.
struct Secrets<'a> {
    plan: &'a Plan,
    first: &'a LevelKey,
    sparse: &'a Short,
    sparse_inverse: Zeroizing<RnsPoly<Eval>>,
    /// `F_L`.
    top: Target<'a>,
    automorphisms: Vec<&'a Automorphism>,
}

impl<'a> Secrets<'a> {
    fn new(context: &Context, plan: &'a Plan, client: &'a ClientKey, sparse: &'a Short) -> Result<Self, Error> {
        let values = Zeroizing::new(RnsPoly::from_signed(&context.level(Level::LOWEST).basis, sparse)?.into_eval());
        Ok(Self {
            plan,
            first: client.level_key(Level::LOWEST),
            sparse,
            sparse_inverse: inverse(&values)?,
            top: Target::new(&plan.switch, client.level_key(context.params.fresh_level()))?,
            automorphisms: plan.rounds.iter().flatten().collect(),
        })
    }

    /// Polynomial `index` of the key, with that `e`. The words that it is made in end as the public ones.
    fn polynomial(&self, index: usize, basis: &Basis, mut e: Short) -> Result<RnsPoly<Eval>, Error> {
        let precision = self.plan.bootstrapping.precision;
        if let Some(row) = index.checked_sub(3) {
            let (term, group) = (row / self.plan.switch.rows(), row % self.plan.switch.rows());
            return self.top.row(self.automorphisms[term], group, e);
        }
        let factor = if index == 0 { 2 } else { 1 << precision };
        e.iter_mut().for_each(|x| *x *= factor);
        if index == 1 {
            e.iter_mut().zip(self.sparse.iter()).for_each(|(x, &f)| *x += f);
        } else {
            e[0] += 1;
        }
        let mut key = RnsPoly::from_signed(basis, &e)?.into_eval();
        if index == 0 {
            key.mul_assign(&*self.first.values(basis)?)?;
            key.mul_assign(&self.sparse_inverse)?;
            return Ok(key);
        }
        key.mul_assign(&Zeroizing::new(self.top.inverse().truncated(basis.len())?))?;
        // 1/N by halvings.
        (0..basis.dimension().ilog2()).for_each(|_| key.halve());
        key.scale(if index == 2 { 1 << (precision - 2) } else { 1 });
        Ok(key)
    }
}
