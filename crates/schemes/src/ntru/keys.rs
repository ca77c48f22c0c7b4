//! The public key and the evaluation key. Nothing here holds a secret.

use core::fmt;
use std::sync::Arc;

use rand_core::RngCore;
use solinas_ring::{Eval, RnsPoly};

use super::context::Context;
use super::{Error, Params};
use crate::KeyId;
use crate::random::SecretSeed;

/// What encryption needs: `h = g / f_t`.
#[derive(Clone)]
pub struct PublicKey {
    context: Arc<Context>,
    id: KeyId,
    insecure: bool,
    h: RnsPoly<Eval>,
    /// `p h`.
    pub(super) scaled: RnsPoly<Eval>,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("params", &self.params().name()).field("id", &self.id).finish_non_exhaustive()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.params() == other.params() && self.insecure == other.insecure && self.h == other.h
    }
}

impl PublicKey {
    /// From its parts, as stored: the words of `h` in the transformed domain, tower by tower; `insecure` when it was made from a chosen seed.
    ///
    /// # Errors
    /// [`Error::Ring`] for another number of words, or words that are no residues.
    pub fn from_parts(params: &Params, insecure: bool, h: &[u64]) -> Result<Self, Error> {
        let context = Context::new(params)?;
        let h = RnsPoly::from_words(&context.level(params.levels()).basis, h)?;
        Ok(Self::new(context, insecure, h))
    }

    pub(super) fn new(context: Arc<Context>, insecure: bool, h: RnsPoly<Eval>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 ntru key id");
        hasher.update(context.params.name().as_bytes()).update(&[insecure.into()]);
        let moduli = context.params.moduli().iter().map(|q| q.value());
        moduli.chain(h.words().iter().copied()).for_each(|word| {
            hasher.update(&word.to_le_bytes());
        });
        let mut scaled = h.clone();
        scaled.scale(context.params.plaintext_modulus() as i64);
        Self { id: KeyId(hasher.finalize().into()), context, insecure, h, scaled }
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

    /// `h`.
    pub fn h(&self) -> &RnsPoly<Eval> {
        &self.h
    }

    /// A generator for encryptions, from the operating system; for an insecure key, the same one each time `nonce` is.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, Error> {
        let seed = if self.insecure {
            SecretSeed::of_secret("solinas 2026 ntru insecure encryption", &[&self.id.0])
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

/// What evaluation needs: the hints.
#[derive(Clone, PartialEq)]
pub struct ServerKey {
    public: PublicKey,
    /// Of levels 2 and up.
    hints: Vec<Hints>,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.public.params().name();
        f.debug_struct("ServerKey").field("params", &params).field("id", &self.public.id).finish_non_exhaustive()
    }
}

impl ServerKey {
    pub(super) fn new(public: PublicKey, hints: Vec<Hints>) -> Self {
        Self { public, hints }
    }

    /// From its parts, as stored: the words of the hints in the transformed domain, in the order of [`Self::hints`].
    ///
    /// # Errors
    /// [`Error::Material`] for another number of hints; [`Error::Ring`] for words that are no residues.
    pub fn from_parts(public: PublicKey, hints: &[Vec<u64>]) -> Result<Self, Error> {
        let context = public.context().clone();
        let mut given = hints.iter();
        let mut next = |basis: &solinas_ring::Basis| {
            let error = || Error::Material { part: "server key", problem: format!("only {} hints", hints.len()) };
            Ok::<_, Error>(RnsPoly::from_words(basis, given.next().ok_or_else(error)?)?)
        };
        let mut all = Vec::new();
        for level in 2..=context.params.levels() {
            let (above, below) = (context.level(level), context.level(level - 1));
            let (square, linear) = (next(&above.basis)?, next(&above.basis)?);
            let ring = if below.wide == below.basis { None } else { Some(next(&below.wide)?) };
            all.push(Hints { square, linear, ring });
        }
        match given.count() {
            0 => Ok(Self { public, hints: all }),
            more => Err(Error::Material { part: "server key", problem: format!("{more} hints too many") }),
        }
    }

    /// The hints from level 2 up: for squares, for degree 1, and where the ring is reduced, for that.
    pub fn hints(&self) -> impl Iterator<Item = &RnsPoly<Eval>> {
        self.hints.iter().flat_map(|hints| [Some(&hints.square), Some(&hints.linear), hints.ring.as_ref()]).flatten()
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

    /// The hints of a level above the first.
    pub(super) fn of_level(&self, level: usize) -> &Hints {
        &self.hints[level - 2]
    }
}
