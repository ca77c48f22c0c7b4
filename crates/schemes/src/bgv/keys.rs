//! The public key and the evaluation key. Nothing here holds a secret.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use rand_core::RngCore;
use solinas_ring::{Basis, Eval, RnsPoly};

use super::ciphertext::mask;
use super::context::Context;
use super::{Error, Params, Rotations};
use crate::KeyId;
use crate::random::SecretSeed;

/// What encryption needs: `(b, a)` with `b = -a s + p e`, `a` from a seed.
#[derive(Clone)]
pub struct PublicKey {
    context: Arc<Context>,
    id: KeyId,
    insecure: bool,
    seed: [u8; 32],
    pub(super) b: RnsPoly<Eval>,
    pub(super) a: RnsPoly<Eval>,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("params", &self.params().name()).field("id", &self.id).finish_non_exhaustive()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.params() == other.params()
            && self.insecure == other.insecure
            && self.seed == other.seed
            && self.b == other.b
    }
}

impl PublicKey {
    /// From its parts, as stored: the seed of `a` and the words of `b` in the transformed domain, tower by tower; `insecure` when it was made from a chosen
    /// seed.
    ///
    /// # Errors
    /// [`Error::Ring`] for another number of words, or words that are no residues.
    pub fn from_parts(params: &Params, insecure: bool, seed: [u8; 32], b: &[u64]) -> Result<Self, Error> {
        let context = Context::new(params)?;
        let b = RnsPoly::from_words(&context.level(params.levels()).basis, b)?;
        Ok(Self::new(context, insecure, seed, b))
    }

    pub(super) fn new(context: Arc<Context>, insecure: bool, seed: [u8; 32], b: RnsPoly<Eval>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 bgv key id");
        hasher.update(context.params.name().as_bytes()).update(&[insecure.into()]).update(&seed);
        hasher.update(&context.params.plaintext_modulus().to_le_bytes());
        let moduli = context.extended.moduli().map(|q| q.value());
        moduli.chain(b.words().iter().copied()).for_each(|word| {
            hasher.update(&word.to_le_bytes());
        });
        let a = mask(b.basis(), &seed, 0);
        Self { id: KeyId(hasher.finalize().into()), context, insecure, seed, b, a }
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.context.params
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Identity.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Whether it was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The seed of `a`.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// `b`.
    pub fn b(&self) -> &RnsPoly<Eval> {
        &self.b
    }

    /// A generator for encryptions, from the operating system; for an insecure key, the same one each time `nonce` is.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, Error> {
        let seed = if self.insecure {
            SecretSeed::of_secret("solinas 2026 bgv insecure encryption", &[&self.id.0])
        } else {
            SecretSeed::from_os()?
        };
        Ok(seed.stream(nonce))
    }

    /// That `what` is of this key.
    pub(super) fn check(&self, what: &'static str, key: KeyId) -> Result<(), Error> {
        if key == self.id {
            return Ok(());
        }
        Err(Error::KeyMismatch { what, got: key.short(), want: self.id.short() })
    }
}

/// A key that switches from another secret `s'` to `s`: rows `(b_g, a_g)` with `b_g = -a_g s + p e_g + w_g s'`, `w_g` the weight of digit `g`, and the `a_g` from a
/// seed. Keys modulo `Q P` are held divided by `P` in the towers of `Q`: `a_g` uniform, and `p e_g / P` there. One serves all levels.
#[derive(Clone, PartialEq)]
pub struct SwitchKey {
    seed: [u8; 32],
    special: usize,
    rows: Vec<[RnsPoly<Eval>; 2]>,
}

impl fmt::Debug for SwitchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SwitchKey").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

/// A [`SwitchKey`] as stored: the seed, and the words of each `b_g` in the transformed domain, tower by tower, those of `P` last.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchKeyParts {
    /// The seed of the `a_g`.
    pub seed: [u8; 32],
    /// The `b_g`.
    pub rows: Vec<Vec<u64>>,
}

impl SwitchKey {
    pub(super) fn new(seed: [u8; 32], special: usize, rows: Vec<[RnsPoly<Eval>; 2]>) -> Self {
        Self { seed, special, rows }
    }

    fn from_parts(context: &Context, parts: &SwitchKeyParts) -> Result<Self, Error> {
        let rows = context.level(context.params.levels()).switch.rows();
        Self::of_parts("server key", &context.extended, context.params.special().len(), rows, parts)
    }

    /// Of so many rows modulo the primes of `basis`, of which the last `special` are special ones.
    pub(super) fn of_parts(
        part: &'static str,
        basis: &Basis,
        special: usize,
        rows: usize,
        parts: &SwitchKeyParts,
    ) -> Result<Self, Error> {
        if parts.rows.len() != rows {
            let problem = format!("{} rows of a key where {rows} belong", parts.rows.len());
            return Err(Error::Material { part, problem });
        }
        let row = |(g, b): (usize, &Vec<u64>)| Ok([RnsPoly::from_words(basis, b)?, mask(basis, &parts.seed, g as u64)]);
        let rows = parts.rows.iter().enumerate().map(row).collect::<Result<_, Error>>()?;
        Ok(Self { seed: parts.seed, special, rows })
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().flatten().map(|part| size_of_val(part.words())).sum()
    }

    /// Its parts, for storing.
    pub fn parts(&self) -> SwitchKeyParts {
        SwitchKeyParts { seed: self.seed, rows: self.rows.iter().map(|[b, _]| b.words().to_vec()).collect() }
    }

    /// The seed of the `a_g`.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The `b_g`.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = &RnsPoly<Eval>> {
        self.rows.iter().map(|[b, _]| b)
    }

    /// Primes it is modulo.
    pub(super) fn towers(&self) -> usize {
        self.rows[0][0].basis().len()
    }

    /// Special primes among them.
    pub(super) fn special(&self) -> usize {
        self.special
    }

    /// Tower `i` of row `g`.
    pub(super) fn row(&self, g: usize, i: usize) -> [&[u64]; 2] {
        let [b, a] = &self.rows[g];
        [b.tower(i), a.tower(i)]
    }
}

/// What evaluation needs: the relinearization key, and a key for each rotation.
#[derive(Clone, PartialEq)]
pub struct ServerKey {
    public: PublicKey,
    relinearization: SwitchKey,
    /// By exponent of the automorphism.
    rotations: BTreeMap<usize, SwitchKey>,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.public.params().name();
        f.debug_struct("ServerKey")
            .field("params", &params)
            .field("id", &self.public.id)
            .field("rotations", &self.rotations.len())
            .finish_non_exhaustive()
    }
}

impl ServerKey {
    pub(super) fn new(public: PublicKey, relinearization: SwitchKey, rotations: BTreeMap<usize, SwitchKey>) -> Self {
        Self { public, relinearization, rotations }
    }

    /// From its parts, as stored: the relinearization key, and the key of each automorphism `X -> X^exponent`.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of rows, or an exponent that no rotation has; [`Error::Ring`] for words that are no residues.
    pub fn from_parts(
        public: PublicKey,
        relinearization: &SwitchKeyParts,
        rotations: &[(usize, SwitchKeyParts)],
    ) -> Result<Self, Error> {
        let context = public.context().clone();
        let relinearization = SwitchKey::from_parts(&context, relinearization)?;
        let order = 2 * context.params.dimension();
        let rotation = |(exponent, parts): &(usize, SwitchKeyParts)| {
            if exponent.is_multiple_of(2) || !(3..order).contains(exponent) {
                let problem = format!("a rotation of exponent {exponent}");
                return Err(Error::Material { part: "server key", problem });
            }
            Ok((*exponent, SwitchKey::from_parts(&context, parts)?))
        };
        let rotations = rotations.iter().map(rotation).collect::<Result<_, _>>()?;
        Ok(Self { public, relinearization, rotations })
    }

    /// The relinearization key.
    pub fn relinearization(&self) -> &SwitchKey {
        &self.relinearization
    }

    /// The exponents of rotations and their keys, in order.
    pub fn rotation_keys(&self) -> impl ExactSizeIterator<Item = (usize, &SwitchKey)> {
        self.rotations.iter().map(|(&exponent, key)| (exponent, key))
    }

    /// The rotations it has keys for.
    pub fn rotations(&self) -> Rotations {
        Rotations::of_exponents(self.params().dimension(), self.rotations.keys().copied())
    }

    pub(super) fn rotation(&self, exponent: usize) -> Option<&SwitchKey> {
        self.rotations.get(&exponent)
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.public.params()
    }

    /// Identity.
    pub fn id(&self) -> KeyId {
        self.public.id()
    }
}
