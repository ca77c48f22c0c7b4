//! Public, client and server keys of leveled schemes.

use core::fmt;
use std::sync::Arc;

use rand_core::RngCore;

use super::{Leveled, Params};
use crate::random::SecretSeed;
use crate::security::Status;
use crate::{Control, Entropy, Error, Identity, KeyId};

/// A key that encrypts. It is public. A copy shares the numbers of the original.
pub struct PublicKey<S: Leveled> {
    context: Arc<S::Context>,
    identity: Identity,
    insecure: bool,
    parts: Arc<S::PublicParts>,
}

impl<S: Leveled> PublicKey<S> {
    pub(crate) fn new(context: Arc<S::Context>, insecure: bool, parts: S::PublicParts) -> Self {
        Self { identity: S::identity(&context, insecure, &parts), context, insecure, parts: Arc::new(parts) }
    }

    /// The key with its id of version 1, as files of early development versions have it.
    #[must_use]
    pub fn with_version_1_id(mut self) -> Self {
        self.identity = Identity::version_1(S::version_1_id(&self.context, self.insecure, &self.parts));
        self
    }

    /// The identity of version 2, which binds the key.
    pub fn bound_identity(&self) -> Identity {
        S::identity(&self.context, self.insecure, &self.parts)
    }

    /// Id of the key pair, and its version.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The parameters.
    pub fn params(&self) -> &S::Params {
        S::params(&self.context)
    }

    pub(crate) fn context(&self) -> &Arc<S::Context> {
        &self.context
    }

    pub(crate) fn parts(&self) -> &S::PublicParts {
        &self.parts
    }

    /// Id of the key pair.
    pub fn id(&self) -> KeyId {
        self.identity.id()
    }

    /// Whether the key was made from a chosen seed. Such a key protects nothing.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// A generator of randomness for encryptions, from the operating system. An insecure key returns the same generator whenever `nonce` is the same.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<S>, Error> {
        Ok(self.seed_of("encryption", S::encryption_id(self))?.stream(nonce))
    }

    /// A new secret seed, from the operating system. An insecure key returns the same seed whenever the purpose is the same.
    pub(crate) fn secret_seed(&self, purpose: &str) -> Result<SecretSeed, Error> {
        self.seed_of(purpose, self.id())
    }

    fn seed_of(&self, purpose: &str, id: KeyId) -> Result<SecretSeed, Error> {
        if self.insecure {
            let context = format!("solinas 2026 {} insecure {purpose}", S::NAME);
            return Ok(SecretSeed::of_secret(&context, &[&id.0]));
        }
        Ok(SecretSeed::from_os()?)
    }

    /// Checks that `what`, which belongs to the key `key`, belongs to this key.
    pub(crate) fn check(&self, what: &'static str, key: KeyId) -> Result<(), Error> {
        if key == self.id() {
            return Ok(());
        }
        Err(Error::KeyMismatch { what, got: key.short(), want: self.id().short() })
    }

    fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name).field("params", &self.params().name()).field("id", &self.id()).finish_non_exhaustive()
    }
}

impl<S: Leveled> Clone for PublicKey<S> {
    fn clone(&self) -> Self {
        let Self { context, identity, insecure, parts } = self;
        Self { context: Arc::clone(context), identity: *identity, insecure: *insecure, parts: Arc::clone(parts) }
    }
}

impl<S: Leveled> PartialEq for PublicKey<S> {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
            && self.insecure == other.insecure
            && self.params() == other.params()
            && self.parts == other.parts
    }
}

impl<S: Leveled> fmt::Debug for PublicKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.debug("PublicKey", f)
    }
}

/// A key that decrypts. It has no `Clone` and no `Serialize`, and is wiped on drop.
pub struct ClientKey<S: Leveled> {
    public: PublicKey<S>,
    secret: S::SecretParts,
}

impl<S: Leveled> ClientKey<S> {
    pub(crate) fn new(public: PublicKey<S>, secret: S::SecretParts) -> Self {
        Self { public, secret }
    }

    /// Makes a secret key and its public key, on the current thread pool. [`Self::server_key`] makes the key of a server. If the parameters are for research
    /// only, the caller has to consent with `research`.
    ///
    /// # Errors
    /// [`Error::ResearchOnly`]; [`Error::Entropy`]; [`Error::Cancelled`].
    pub fn generate(
        params: &S::Params,
        research: bool,
        entropy: Entropy,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        if let (Status::ResearchOnly { why }, false) = (params.security().status, research) {
            return Err(Error::ResearchOnly { name: params.name().into(), why });
        }
        control.check()?;
        S::client_key(params, entropy, control)
    }

    /// Makes the key of a server, on the current thread pool.
    ///
    /// # Errors
    /// [`Error::Entropy`]; [`Error::Cancelled`].
    pub fn server_key(&self, control: &Control<'_>) -> Result<ServerKey<S>, Error> {
        Ok(ServerKey::new(self.public.clone(), S::evaluation_parts(self, control)?))
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey<S> {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &S::Params {
        self.public.params()
    }

    /// Id of the key pair.
    pub fn id(&self) -> KeyId {
        self.public.id()
    }

    pub(crate) fn secret_parts(&self) -> &S::SecretParts {
        &self.secret
    }
}

impl<S: Leveled> fmt::Debug for ClientKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.public.debug("ClientKey", f)
    }
}

/// A key that evaluates. It is public.
pub struct ServerKey<S: Leveled> {
    public: PublicKey<S>,
    parts: S::EvaluationParts,
}

impl<S: Leveled> ServerKey<S> {
    pub(crate) fn new(public: PublicKey<S>, parts: S::EvaluationParts) -> Self {
        Self { public, parts }
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey<S> {
        &self.public
    }

    /// The parameters.
    pub fn params(&self) -> &S::Params {
        self.public.params()
    }

    /// Id of the key pair.
    pub fn id(&self) -> KeyId {
        self.public.id()
    }

    pub(crate) fn parts(&self) -> &S::EvaluationParts {
        &self.parts
    }

    pub(crate) fn into_parts(self) -> (PublicKey<S>, S::EvaluationParts) {
        (self.public, self.parts)
    }
}

impl<S: Leveled<EvaluationParts: Clone>> Clone for ServerKey<S> {
    fn clone(&self) -> Self {
        Self { public: self.public.clone(), parts: self.parts.clone() }
    }
}

impl<S: Leveled<EvaluationParts: PartialEq>> PartialEq for ServerKey<S> {
    fn eq(&self, other: &Self) -> bool {
        self.public == other.public && self.parts == other.parts
    }
}

impl<S: Leveled> fmt::Debug for ServerKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.public.debug("ServerKey", f)
    }
}
