//! The public key, which encryption and evaluation share, and the server key. This file holds no secret.

use core::fmt;
use std::sync::Arc;

use rand_core::RngCore;
use solinas_bigint::Natural;

use super::modulus::{Arithmetic, Modulus};
use super::{Error, Params};
use crate::identity::digest_of_words;
use crate::random::SecretSeed;
use crate::{Identity, IdentityParts, KeyId};

/// The public key for encryption: the modulus `d` and the root `r` of `x^n + 1` modulo `d`.
#[derive(Clone, PartialEq)]
pub struct PublicKey {
    params: Params,
    identity: Identity,
    insecure: bool,
    d: Natural,
    r: Natural,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("params", &self.params.name()).field("id", &self.id()).finish_non_exhaustive()
    }
}

impl PublicKey {
    /// Builds a key from its stored parts. `insecure` states that it was made from a chosen seed.
    ///
    /// # Errors
    /// [`Error::Material`] if `d` is even, the size of `d` does not fit the parameters, or `r` is not in `1..d`.
    pub fn from_parts(params: Params, insecure: bool, d: Natural, r: Natural) -> Result<Self, Error> {
        let material = |problem: String| Err(Error::Material { part: "public key", problem });
        let expected = params.modulus_bits();
        // The standard deviation of log2 d is about 0.6 sqrt(n) bits. A deviation of a tenth does not occur by chance.
        if (d.bit_len() as f64 / expected - 1.0).abs() > 0.1 {
            return material(format!("d has {} bits, parameters {:?} give {expected:.0}", d.bit_len(), params.name()));
        }
        if d.is_even() {
            return material("d is even".into());
        }
        if r.is_zero() || r >= d {
            return material("r is not in 1..d".into());
        }
        let identity = bound_identity(&params, insecure, &d, &r);
        Ok(Self { params, identity, insecure, d, r })
    }

    /// The identity of version 2, which binds the key.
    pub fn bound_identity(&self) -> Identity {
        bound_identity(&self.params, self.insecure, &self.d, &self.r)
    }

    /// The key with its id of version 1, as files of early development versions have it.
    #[must_use]
    pub fn with_version_1_id(mut self) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 gentry-halevi key id");
        hasher.update(self.params.name().as_bytes()).update(&self.d.to_le_bytes()).update(&self.r.to_le_bytes());
        hasher.update(&[self.insecure.into()]);
        self.identity = Identity::version_1(KeyId(hasher.finalize().into()));
        self
    }

    /// Id of the key pair, and its version.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Id of the key pair.
    pub fn id(&self) -> KeyId {
        self.identity.id()
    }

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The modulus.
    pub fn d(&self) -> &Natural {
        &self.d
    }

    /// The root of `x^n + 1` modulo `d`.
    pub fn r(&self) -> &Natural {
        &self.r
    }

    /// Checks that `r^n = -1` modulo `d`. It takes `log2 n` squarings: at most 20 ms for a key of up to 2048
    /// coefficients.
    ///
    /// # Errors
    /// [`Error::Material`] if `r` is not a root.
    pub fn check_root(&self) -> Result<(), Error> {
        let modulus = Modulus::new(&self.d, 1, Arithmetic::default())?;
        let power = modulus.vartime_pow(&modulus.residue(&self.r), self.params.dimension() as u64)?;
        if power == modulus.neg(&modulus.one()) {
            return Ok(());
        }
        Err(Error::Material { part: "public key", problem: "r is not a root of x^n + 1 modulo d".into() })
    }

    /// Number of words of a ciphertext.
    pub fn words(&self) -> usize {
        self.d.words().len()
    }

    /// Returns a generator for encryptions, seeded by the operating system. With `insecure_seed`, it returns a
    /// reproducible generator, which hides nothing. Use that for tests and benchmarks only.
    ///
    /// # Errors
    /// [`Error::Entropy`] if there is no randomness. [`Error::ChosenSeed`] if a seed is given and the key was not made
    /// from a chosen seed.
    pub fn encryption_rng<S: Into<Option<u64>>>(&self, insecure_seed: S) -> Result<impl RngCore + use<S>, Error> {
        match insecure_seed.into() {
            None => Ok(SecretSeed::from_os()?.stream(0)),
            Some(seed) if self.insecure => Ok(SecretSeed::insecure(seed).derive("gh encryption").stream(0)),
            Some(_) => Err(Error::ChosenSeed),
        }
    }

    pub(super) fn check(&self, what: &'static str, id: KeyId) -> Result<(), Error> {
        if id == self.id() {
            return Ok(());
        }
        Err(Error::KeyMismatch { what, got: id.short(), want: self.id().short() })
    }
}

/// The public words are those of `d`, then those of `r`, padded with zeros to as many.
fn bound_identity(params: &Params, insecure: bool, d: &Natural, r: &Natural) -> Identity {
    let padding = vec![0; d.words().len().saturating_sub(r.words().len())];
    let parts = IdentityParts { scheme: "gh", literal: params.literal(), claims: &[], insecure, public_seed: &[] };
    parts.identity(digest_of_words([d.words(), r.words(), &padding]))
}

/// Shared words of public residues.
#[derive(Clone, PartialEq)]
pub struct Residues(Arc<Vec<u64>>);

impl Residues {
    /// The words.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// Returns residue `index`, if each has `words` words.
    pub(super) fn residue(&self, words: usize, index: usize) -> &[u64] {
        &self.as_slice()[index * words..][..words]
    }
}

impl From<Vec<u64>> for Residues {
    fn from(words: Vec<u64>) -> Self {
        Self(Arc::new(words))
    }
}

impl fmt::Debug for Residues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Residues({} words)", self.as_slice().len())
    }
}

/// The evaluation key: the public key, `x_k` of the sparse subset sum, and the encrypted indicators.
///
/// A clone shares the words.
#[derive(Clone, PartialEq)]
pub struct ServerKey {
    public: PublicKey,
    /// Shape: `s` residues.
    x: Residues,
    /// Shape: `s m` residues, block by block.
    indicators: Residues,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ServerKey {
    /// Builds a key from its stored parts. Shape: `s` residues in `x` and `s m` in `indicators`, each of
    /// [`PublicKey::words`] words, lowest word first.
    ///
    /// # Errors
    /// [`Error::Material`] for a wrong length, or a residue that is not below `d`.
    pub fn from_parts(
        public: PublicKey,
        x: impl Into<Residues>,
        indicators: impl Into<Residues>,
    ) -> Result<Self, Error> {
        let (params, x, indicators) = (public.params(), x.into(), indicators.into());
        for (part, residues, want) in [
            ("x of the server key", &x, params.blocks()),
            ("indicators of the server key", &indicators, params.blocks() * params.indicators()),
        ] {
            check_residues(part, &public, residues.as_slice(), want)?;
        }
        Ok(Self { public, x, indicators })
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.public.params()
    }

    /// Identity of the key pair.
    pub fn id(&self) -> KeyId {
        self.public.id()
    }

    /// The `x_k` of all blocks, one after the other.
    pub fn x(&self) -> &[u64] {
        self.x.as_slice()
    }

    /// The encrypted indicators, block by block.
    pub fn indicators(&self) -> &[u64] {
        self.indicators.as_slice()
    }

    /// The `x_k` of block `k`.
    pub fn x_of(&self, k: usize) -> &[u64] {
        self.x.residue(self.public.words(), k)
    }

    /// Indicator `a` of block `k`.
    pub(super) fn indicator(&self, k: usize, a: usize) -> &[u64] {
        self.indicators.residue(self.public.words(), k * self.params().indicators() + a)
    }
}

/// Checks that the words are `want` residues of the key. The time depends on how they compare with `d`; they are
/// public.
pub(super) fn check_residues(
    part: &'static str,
    public: &PublicKey,
    residues: &[u64],
    want: usize,
) -> Result<(), Error> {
    let words = public.words();
    if residues.len() != want * words {
        return Err(Error::Material {
            part,
            problem: format!("it has {} words instead of {}", residues.len(), want * words),
        });
    }
    let d = public.d().words();
    match residues.chunks_exact(words).position(|residue| !residue.iter().rev().lt(d.iter().rev())) {
        Some(index) => Err(Error::Material { part, problem: format!("number {index} is not below d") }),
        None => Ok(()),
    }
}
