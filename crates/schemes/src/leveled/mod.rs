//! The core that the leveled schemes ([`bgv`](crate::bgv), [`ntru`](crate::ntru), [`lwe`](crate::lwe::leveled)) share: keys and ciphertexts with their
//! identity, levels, checks and randomness. A scheme is a marker type that implements [`Leveled`]; it brings its own parts of keys and ciphertexts.

mod auto_levels;
pub(crate) mod bootstrap;
mod ciphertext;
mod keys;
mod params;
mod stored;

use core::fmt::Debug;

pub use auto_levels::{AutoLevels, ManageLevels};
pub use ciphertext::Ciphertext;
pub use keys::{ClientKey, PublicKey, ServerKey};
pub(crate) use params::inherent_facts;
pub use params::{Bootstrap, NoiseModel, Params, State};
pub use stored::StoredCiphertext;

use crate::{Control, Entropy, Error, KeyId};

/// A leveled scheme.
pub trait Leveled: Debug + Clone + Copy + PartialEq + Send + Sync + 'static {
    /// Name of the scheme in files and in the derivation of seeds, in lower case.
    const NAME: &'static str;

    /// A parameter set.
    type Params: Params;
    /// The plans that all keys and ciphertexts of a parameter set share.
    type Context: Debug + Send + Sync;
    /// The stage of a ciphertext between two levels.
    type Stage: Debug + Clone + Copy + PartialEq + Send + Sync;
    /// The numbers of a ciphertext.
    type Parts: Debug + Clone + PartialEq + Send + Sync;
    /// The numbers of a public key.
    type PublicParts: PartialEq + Send + Sync;
    /// The secret numbers of a client key. They are wiped on drop.
    type SecretParts: Send + Sync;
    /// The keys of a server key: of products, and of rotations and bootstraps as far as the key has them.
    type EvaluationParts: Send + Sync;

    /// The parameters of the plans.
    fn params(context: &Self::Context) -> &Self::Params;

    /// The identity of a public key: a hash of everything that it consists of.
    fn key_id(context: &Self::Context, insecure: bool, parts: &Self::PublicParts) -> KeyId;

    /// The identity from which an insecure key derives the randomness of encryptions.
    fn encryption_id(key: &PublicKey<Self>) -> KeyId {
        key.id()
    }

    /// Makes the secret and the public parts of a key.
    ///
    /// # Errors
    /// [`Error::Entropy`]; [`Error::Cancelled`].
    fn client_key(params: &Self::Params, entropy: Entropy, control: &Control<'_>) -> Result<ClientKey<Self>, Error>;

    /// Makes the keys that a server needs.
    ///
    /// # Errors
    /// [`Error::Entropy`]; [`Error::Cancelled`].
    fn evaluation_parts(client: &ClientKey<Self>, control: &Control<'_>) -> Result<Self::EvaluationParts, Error>;
}
