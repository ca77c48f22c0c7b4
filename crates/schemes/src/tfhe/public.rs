//! The public key: anyone encrypts with it, and only the client key decrypts.
//!
//! It is a module-LWE sample under the GLWE key, as in Kyber (Bos et al., eprint 2017/634): a public matrix `A` of `k x k`
//! polynomials, and bodies `b_i = sum_j A_ij S_j + e_i`. An encryption draws binary polynomials `r_i` and returns the GLWE
//! ciphertext `a_j = sum_i A_ij r_i + e'_j`, `b = sum_i b_i r_i + e'' + m`, which holds `N` messages. For `k = 1` this is
//! the compact public key of Joye (eprint 2023/603). The noise is derived in `docs/derivations/tfhe-parameters.md`,
//! section 8.

use super::encrypt::encode;
use super::keys::{BinaryRing, check, identity};
use super::short::{Masks, ShortCiphertexts};
use super::{ClientKey, Error, Params};
use crate::identity::digest_of_words;
use crate::random::{Gaussian, SecretSeed, bits, public_stream};
use crate::{Identity, KeyId, NoEntropy};
use rand_core::RngCore;
use std::collections::HashSet;
use std::fmt;
use zeroize::Zeroizing;

/// The public key as it is stored and sent: a public seed stands for the matrix.
#[derive(Clone, PartialEq)]
pub struct PublicKey {
    params: Params,
    public_seed: [u8; 32],
    insecure: bool,
    identity: Identity,
    /// The bodies `b_i`. Shape: `k N` words, in units of `2^-64` turn.
    bodies: Vec<u64>,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("params", &self.params.name()).field("id", &self.id()).finish_non_exhaustive()
    }
}

/// The streams of the public matrix, beyond those of the server key: row `i` is stream `MATRIX_STREAMS + i`.
const MATRIX_STREAMS: u64 = 1 << 33;

impl ClientKey {
    /// Makes the public key.
    ///
    /// Every call returns the same key, because the seed of the noise is derived from the secret bits: two keys with the same
    /// matrix and different noise would reveal more than one.
    ///
    /// # Errors
    /// [`Error::Field`] from the kernels.
    pub fn public_key(&self) -> Result<PublicKey, Error> {
        Ok(PublicKey {
            params: self.params().clone(),
            public_seed: *self.public_seed(),
            insecure: self.is_insecure(),
            identity: *self.identity(),
            bodies: self.public_bodies()?,
        })
    }

    /// The bodies of the public key. Shape: `k N` words.
    pub(super) fn public_bodies(&self) -> Result<Vec<u64>, Error> {
        let p = self.params().literal();
        let (k, n) = (p.glwe_dimension, p.ring_dimension);
        let parts = [self.lwe_bits(), self.glwe_bits(), self.public_seed()];
        let noise = SecretSeed::of_secret("solinas 2026 tfhe public key noise", &parts);
        let ring = BinaryRing::new(self.glwe_bits(), n)?;
        let mut bodies = vec![0u64; k * n];
        for (i, body) in bodies.chunks_exact_mut(n).enumerate() {
            ring.multiply(&matrix_row(self.params(), self.public_seed(), i), body);
            add_noise(body, &mut noise.stream(i as u64), p.glwe_log2_std);
        }
        Ok(bodies)
    }
}

/// The polynomials `A_ij` of row `i`. Shape: `k N` words.
fn matrix_row(params: &Params, public_seed: &[u8; 32], i: usize) -> Vec<u64> {
    let mut stream = public_stream(public_seed, MATRIX_STREAMS + i as u64);
    (0..params.big_dimension()).map(|_| stream.next_u64()).collect()
}

fn add_noise(words: &mut [u64], rng: &mut impl RngCore, log2_std: f64) {
    let gaussian = Gaussian::new(log2_std);
    for word in words {
        *word = word.wrapping_add(gaussian.draw(rng));
    }
}

/// Rounds a 64-bit torus word to 32 bits.
fn round(word: u64) -> u32 {
    (word.wrapping_add(1 << 31) >> 32) as u32
}

impl PublicKey {
    /// Builds a key from its stored parts. Shape: `k N` words.
    ///
    /// # Errors
    /// [`Error::KeyLength`] for a wrong length. [`Error::Material`] if fewer than half of the words differ: no key generation makes such words, and
    /// whoever sees a ciphertext of such a key could read it.
    pub fn from_parts(params: Params, public_seed: [u8; 32], insecure: bool, bodies: Vec<u64>) -> Result<Self, Error> {
        check(&params, "public key", bodies.len(), params.big_dimension())?;
        let (different, least) = (bodies.iter().collect::<HashSet<_>>().len(), params.literal().ring_dimension / 2);
        if different < least {
            let problem = format!("it has {different} different words, and a key has at least {least}");
            return Err(Error::Material { part: "public key", problem });
        }
        let identity = identity(&params, &public_seed, insecure, Some(digest_of_words([bodies.as_slice()])));
        Ok(Self { params, public_seed, insecure, identity, bodies })
    }

    /// The identity of version 2, which binds the key.
    pub fn bound_identity(&self) -> Identity {
        identity(&self.params, &self.public_seed, self.insecure, Some(digest_of_words([self.bodies.as_slice()])))
    }

    /// The key with its id of version 1, as files of early development versions have it.
    #[must_use]
    pub fn with_version_1_id(mut self) -> Self {
        self.identity = identity(&self.params, &self.public_seed, self.insecure, None);
        self
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Id of the key pair.
    pub fn id(&self) -> KeyId {
        self.identity.id()
    }

    /// Id of the key pair, and its version.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Public seed from which the matrix is regenerated.
    pub fn public_seed(&self) -> &[u8; 32] {
        &self.public_seed
    }

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The bodies. Shape: `k N` words.
    pub fn bodies(&self) -> &[u64] {
        &self.bodies
    }

    /// Returns a generator for encryptions, seeded by the operating system. If the key is insecure, `nonce` alone
    /// determines the generator.
    ///
    /// # Errors
    /// [`Error::Entropy`] if there is no randomness.
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, NoEntropy> {
        if self.insecure {
            return Ok(SecretSeed::insecure(nonce).derive("public encryption").stream(0));
        }
        Ok(SecretSeed::from_os()?.stream(0))
    }

    /// Encrypts values, `N` in each GLWE ciphertext. Range: as [`ClientKey::encrypt`].
    ///
    /// # Errors
    /// [`Error::Message`] if a value is out of range. [`Error::Field`] from the kernels.
    pub fn encrypt(&self, values: &[u32], rng: &mut impl RngCore) -> Result<ShortCiphertexts, Error> {
        let p = self.params.literal();
        let (k, n) = (p.glwe_dimension, p.ring_dimension);
        let rows: Vec<Vec<u64>> = (0..k).map(|i| matrix_row(&self.params, &self.public_seed, i)).collect();
        let column = |j: usize| rows.iter().flat_map(|row| &row[j * n..][..n]).copied().collect::<Vec<u64>>();
        let columns: Vec<Vec<u64>> = (0..k).map(column).collect();
        let (mut masks, mut bodies) = (Vec::new(), Vec::with_capacity(values.len()));
        for values in values.chunks(n) {
            let binary = Zeroizing::new(bits(rng, k * n));
            let ring = BinaryRing::new(&binary, n)?;
            // Wiped, because it determines the messages: a product without noise reveals r.
            let mut sum = Zeroizing::new(vec![0u64; n]);
            for column in &columns {
                ring.multiply(column, &mut sum);
                add_noise(&mut sum, rng, p.glwe_log2_std);
                masks.extend(sum.iter().map(|&word| round(word)));
            }
            ring.multiply(&self.bodies, &mut sum);
            add_noise(&mut sum, rng, p.glwe_log2_std);
            for (&value, &word) in values.iter().zip(sum.iter()) {
                bodies.push(round(word).wrapping_add(encode(&self.params, value)?));
            }
        }
        ShortCiphertexts::from_parts(&self.params, Masks::Glwe(masks), 0, bodies)
    }
}
