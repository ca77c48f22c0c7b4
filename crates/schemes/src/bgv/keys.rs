//! The parts of keys. The parts of a public or a server key hold no secret.

use core::fmt;
use std::collections::BTreeMap;

use solinas_ring::{Basis, Eval, RnsPoly};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::bootstrap::params_without;
use super::ciphertext::mask;
use super::context::Context;
use super::{Bgv, BootstrapKey, ClientKey, Error, Params, PublicKey, Rotations, ServerKey, keygen};
use crate::identity::digest_of_words;
use crate::leveled::Leveled;
use crate::slots::swap_exponent;
use crate::{Control, Identity, IdentityParts, KeyId, Level};

/// The numbers of a public key: `(b, a)` with `b = -a s + p e`, where `a` comes from a seed.
#[derive(PartialEq)]
pub struct PublicParts {
    pub(super) seed: [u8; 32],
    pub(super) b: RnsPoly<Eval>,
    pub(super) a: RnsPoly<Eval>,
}

impl PublicParts {
    pub(super) fn new(seed: [u8; 32], b: RnsPoly<Eval>) -> Self {
        let a = mask(b.basis(), &seed, 0);
        Self { seed, b, a }
    }

    /// The identity of the key pair.
    pub(super) fn identity(&self, context: &Context, insecure: bool) -> Identity {
        let (scheme, literal) = (Bgv::NAME, context.params.literal());
        let parts = IdentityParts { scheme, literal, claims: &[], insecure, public_seed: &self.seed };
        parts.identity(digest_of_words([self.b.words()]))
    }

    /// The id of version 1.
    pub(super) fn version_1_id(&self, context: &Context, insecure: bool) -> KeyId {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 bgv key id");
        hasher.update(context.params.name().as_bytes()).update(&[insecure.into()]).update(&self.seed);
        hasher.update(&context.params.plaintext_modulus().to_le_bytes());
        let moduli = context.extended.moduli().map(|q| q.value());
        moduli.chain(self.b.words().iter().copied()).for_each(|word| {
            hasher.update(&word.to_le_bytes());
        });
        KeyId(hasher.finalize().into())
    }
}

impl PublicKey {
    /// A public key from its stored parts: the seed of `a`, and the words of `b` in the transformed domain, tower by tower. `insecure` tells whether the key was
    /// made from a chosen seed.
    ///
    /// # Errors
    /// [`Error::Ring`] for another number of words, or for words that are no residues.
    pub fn from_parts(params: &Params, insecure: bool, seed: [u8; 32], b: &[u64]) -> Result<Self, Error> {
        let context = Context::new(params)?;
        let b = RnsPoly::from_words(&context.level(params.highest_level()).basis, b)?;
        Ok(Self::new(context, insecure, PublicParts::new(seed, b)))
    }

    /// The seed of `a`.
    pub fn seed(&self) -> &[u8; 32] {
        &self.parts().seed
    }

    /// The polynomial `b`.
    pub fn b(&self) -> &RnsPoly<Eval> {
        &self.parts().b
    }
}

/// The secret of a client key: `s` with coefficients in -1, 0, 1.
pub struct SecretParts {
    pub(super) coefficients: Zeroizing<Vec<i64>>,
    /// The values of `s` modulo every prime of `Q`.
    pub(super) values: Zeroizing<RnsPoly<Eval>>,
}

// Every field wipes itself.
impl ZeroizeOnDrop for SecretParts {}

impl SecretParts {
    pub(super) fn new(basis: &Basis, coefficients: Zeroizing<Vec<i64>>) -> Result<Self, Error> {
        let values = Zeroizing::new(RnsPoly::from_signed(basis, &coefficients)?.into_eval());
        Ok(Self { coefficients, values })
    }
}

impl ClientKey {
    /// A client key from its stored parts: the coefficients of `s`.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of coefficients, for coefficients other than -1, 0 and 1, and for an `s` of another public key.
    pub fn from_parts(public: PublicKey, secret: Zeroizing<Vec<i64>>) -> Result<Self, Error> {
        let material = |problem: String| Err(Error::Material { part: "client key", problem });
        let params = public.params();
        if secret.len() != params.dimension() {
            return material(format!("{} coefficients where {} belong", secret.len(), params.dimension()));
        }
        if !secret.iter().all(|x| (-1..=1).contains(x)) {
            return material("a coefficient that is not -1, 0 or 1".into());
        }
        let secret = SecretParts::new(public.b().basis(), secret)?;
        // b + a s = p e, of which no coefficient is as large as 32 p.
        let basis = &public.context().level(Level::LOWEST).basis;
        let PublicParts { b, a, .. } = public.parts();
        let mut sum = Zeroizing::new(b.truncated(1)?);
        sum.add_product(&a.truncated(1)?, &Zeroizing::new(secret.values.truncated(1)?))?;
        let sum = Zeroizing::new((*sum).clone().into_coeff());
        let bound = 32 * params.plaintext_modulus();
        if sum.tower(0).iter().any(|&x| basis.modulus(0).centered(x).unsigned_abs() > bound) {
            return material("a secret that does not belong to the public key".into());
        }
        Ok(Self::new(public, secret))
    }

    /// The coefficients of `s`, for storing. They are secret.
    pub fn secret(&self) -> &[i64] {
        &self.secret_parts().coefficients
    }

    /// As [`server_key`](Self::server_key), which makes keys of all rotations if there are slots, with keys of these rotations.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Entropy`].
    pub fn server_key_with(&self, rotations: &Rotations, control: &Control<'_>) -> Result<ServerKey, Error> {
        Ok(ServerKey::new(self.public().clone(), keygen::evaluation_parts(self, rotations, control)?))
    }
}

/// A key that switches from another secret `s'` to `s`: rows `(b_g, a_g)` with `b_g = -a_g s + p e_g + w_g s'`, `w_g` the weight of digit `g`, and the `a_g` from a
/// seed. Keys modulo `Q P` are divided by `P` in the towers of `Q`, where `a_g` is uniform and the error is `p e_g / P`. One key serves all levels.
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
        let rows = context.level(context.params.highest_level()).switch.rows();
        Self::of_parts("server key", &context.extended, context.params.special().len(), rows, parts)
    }

    /// From its stored parts: `rows` rows modulo the primes of `basis`. The last `special` primes are special.
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

    /// Both parts `(b_g, a_g)` of each row, modulo the primes of `Q` and then those of `P`.
    pub fn rows(&self) -> &[[RnsPoly<Eval>; 2]] {
        &self.rows
    }

    /// Number of its primes.
    pub(super) fn towers(&self) -> usize {
        self.rows[0][0].basis().len()
    }

    /// Number of special primes among them.
    pub(super) fn special(&self) -> usize {
        self.special
    }

    /// Tower `i` of row `g`.
    pub(super) fn row(&self, g: usize, i: usize) -> [&[u64]; 2] {
        let [b, a] = &self.rows[g];
        [b.tower(i), a.tower(i)]
    }
}

/// The keys of a server: the relinearization key, a key for each rotation, and the bootstrapping key if the parameters have one.
#[derive(Clone, PartialEq)]
pub struct EvaluationParts {
    pub(super) relinearization: SwitchKey,
    /// The key of each automorphism, by exponent.
    pub(super) rotations: BTreeMap<usize, SwitchKey>,
    pub(super) bootstrap: Option<BootstrapKey>,
}

impl ServerKey {
    /// A server key from its stored parts: the relinearization key, the key of each automorphism `X -> X^exponent`, and the bootstrapping key of parameters
    /// that have one.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of rows, for an exponent that no rotation has, and without a bootstrapping key that the parameters have;
    /// [`Error::KeyMismatch`] for a bootstrapping key of another key; [`Error::Ring`] for words that are no residues.
    pub fn from_parts(
        public: PublicKey,
        relinearization: &SwitchKeyParts,
        rotations: &[(usize, SwitchKeyParts)],
        bootstrap: Option<BootstrapKey>,
    ) -> Result<Self, Error> {
        let context = public.context();
        let material = |problem: String| Error::Material { part: "server key", problem };
        let relinearization = SwitchKey::from_parts(context, relinearization)?;
        let order = 2 * context.params.dimension();
        let rotation = |(exponent, parts): &(usize, SwitchKeyParts)| {
            if exponent.is_multiple_of(2) || !(3..order).contains(exponent) {
                return Err(material(format!("a rotation of exponent {exponent}")));
            }
            Ok((*exponent, SwitchKey::from_parts(context, parts)?))
        };
        let rotations = rotations.iter().map(rotation).collect::<Result<_, _>>()?;
        if bootstrap.is_some() != context.params.bootstrapping().is_some() {
            return Err(material("a bootstrapping key is missing, or one too many".into()));
        }
        bootstrap.iter().try_for_each(|key| public.check("the bootstrapping key", key.id()))?;
        Ok(Self::new(public, EvaluationParts { relinearization, rotations, bootstrap }))
    }

    /// The relinearization key.
    pub fn relinearization(&self) -> &SwitchKey {
        &self.parts().relinearization
    }

    /// The exponents of rotations and their keys, in order.
    pub fn rotation_keys(&self) -> impl ExactSizeIterator<Item = (usize, &SwitchKey)> {
        self.parts().rotations.iter().map(|(&exponent, key)| (exponent, key))
    }

    /// The rotations that have keys.
    pub fn rotations(&self) -> Rotations {
        Rotations::of_exponents(self.params().dimension(), self.parts().rotations.keys().copied())
    }

    /// Whether there is a key of that automorphism.
    pub(super) fn rotates(&self, exponent: usize) -> bool {
        self.parts().rotations.contains_key(&exponent)
    }

    /// The key of an automorphism `X -> X^exponent`.
    ///
    /// # Errors
    /// [`Error::NoRotationKey`].
    pub fn rotation(&self, exponent: usize) -> Result<&SwitchKey, Error> {
        self.parts().rotations.get(&exponent).ok_or_else(|| {
            let swap = exponent == swap_exponent(self.params().dimension());
            let rotation = if swap { "the swap of rows".into() } else { format!("X -> X^{exponent}") };
            Error::NoRotationKey { rotation, have: self.rotations().to_string() }
        })
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
}
