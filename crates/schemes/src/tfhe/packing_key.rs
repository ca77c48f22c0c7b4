//! The packing key, with which a server merges ciphertexts into one. It is a part of a server key of its own, because only compact results
//! need it.
//!
//! For each level `t` in `1..=log2 N` it holds the keyswitch from the automorphism `X -> X^(2^t + 1)` of the GLWE key to the GLWE key
//! itself, modulo the prime `p = 2^64 - 2^32 + 1` of [`solinas_field::solinas`].

use super::keys::{check, identity};
use super::params::Cut;
use super::{ClientKey, Error, Params};
use crate::random::{Gaussian, SecretSeed, public_stream};
use crate::{Identity, KeyId};
use rand_core::RngCore;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::solinas::{Convolution, EPSILON, P, Plan, add, sub};
use std::fmt;
use zeroize::Zeroizing;

/// The packing key as it is stored and sent: a public seed stands for the masks.
#[derive(Clone, PartialEq)]
pub struct PackingKey {
    params: Params,
    public_seed: [u8; 32],
    insecure: bool,
    identity: Identity,
    /// The bodies, row by row: level, then polynomial of the key, then digit. Shape: `N` words a row. Range: `0..p`.
    bodies: Vec<u64>,
}

impl fmt::Debug for PackingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackingKey")
            .field("params", &self.params.name())
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

/// The public seed of the masks: row `i` is its stream `i`. It depends on the decomposition. Keys with the same masks and other digits
/// would reveal the secret key, because the difference of two rows is a multiple of its bits.
fn mask_seed(params: &Params, public_seed: &[u8; 32]) -> [u8; 32] {
    let Cut { base_log, levels } = params.packing();
    let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 tfhe packing key masks");
    hasher.update(public_seed).update(&base_log.to_le_bytes()).update(&levels.to_le_bytes());
    hasher.finalize().into()
}

impl Params {
    /// Decomposition of words modulo `p` in the keyswitches of the packing. The noise of the key outweighs the rounding, so that
    /// the noise hardly depends on the secret key: see `docs/derivations/tfhe-parameters.md`, section 10.
    pub fn packing(&self) -> Cut {
        match self.family() {
            super::params::Family::Gates => Cut { base_log: 13, levels: 2 },
            super::params::Family::Integers => Cut { base_log: 17, levels: 2 },
        }
    }

    /// Number of levels of a tree that packs `N` ciphertexts: `log2 N`.
    pub fn packing_levels(&self) -> u32 {
        self.literal().ring_dimension.ilog2()
    }
}

/// Rows of a level of the packing key: one for each polynomial of the key and each digit.
pub(super) fn rows_of_level(params: &Params) -> usize {
    params.literal().glwe_dimension * params.packing().levels as usize
}

/// Passes each coefficient's index under `X -> X^exponent`, and whether it is negated, to `place`. The index is in `0..n`.
pub(super) fn automorphism(n: usize, exponent: usize, mut place: impl FnMut(usize, usize, bool)) {
    // n is a power of two, and masks are faster than remainders.
    for i in 0..n {
        let to = (i * exponent) & (2 * n - 1);
        place(i, to & (n - 1), to >= n);
    }
}

impl ClientKey {
    /// Generates the packing key on the current thread pool.
    ///
    /// Every call returns the same key, for the reason that [`Self::server_key`] states.
    ///
    /// # Errors
    /// [`Error::Field`] from the kernels.
    pub fn packing_key(&self) -> Result<PackingKey, Error> {
        let masks = mask_seed(self.params(), self.public_seed());
        let parts = [self.lwe_bits(), self.glwe_bits(), &masks];
        let noise = SecretSeed::of_secret("solinas 2026 tfhe packing key noise", &parts);
        let (params, p) = (self.params(), self.params().literal());
        let (n, cut) = (p.ring_dimension, params.packing());
        let plan = Plan::new(n, Convolution::Negacyclic, Backend::detect()?, 1)?;
        let mut key = Zeroizing::new(self.glwe_bits().iter().map(|&bit| u64::from(bit)).collect::<Vec<u64>>());
        key.chunks_exact_mut(n).try_for_each(|key| plan.forward(key))?;
        let gaussian = Gaussian::new(p.glwe_log2_std);
        let mut bodies = vec![0u64; PackingKey::len(params)];
        bodies.par_chunks_exact_mut(n).enumerate().try_for_each(|(row, body)| {
            let mut mask = row_mask(params, &masks, row);
            // Wiped, because a product without noise reveals the key.
            let mut sum = Zeroizing::new(vec![0u64; n]);
            for (mask, key) in mask.chunks_exact_mut(n).zip(key.chunks_exact(n)) {
                plan.forward(mask)?;
                plan.multiply_add(&mut sum, mask, key)?;
            }
            plan.inverse(&mut sum)?;
            let (level, row_of_level) = (row / rows_of_level(params), row % rows_of_level(params));
            let (polynomial, digit) = (row_of_level / cut.levels as usize, row_of_level % cut.levels as usize);
            let gadget = gadget(cut, digit);
            let secret = &self.glwe_bits()[polynomial * n..][..n];
            automorphism(n, (2 << level) + 1, |from, to, negated| {
                let term = gadget & u64::from(secret[from]).wrapping_neg();
                sum[to] = if negated { add(sum[to], term) } else { sub(sum[to], term) };
            });
            let mut noise = noise.stream(row as u64);
            for (body, &word) in body.iter_mut().zip(sum.iter()) {
                *body = add(word, from_signed(gaussian.draw(&mut noise)));
            }
            Ok::<(), Error>(())
        })?;
        let (params, public_seed, insecure) = (params.clone(), *self.public_seed(), self.is_insecure());
        Ok(PackingKey { params, public_seed, insecure, identity: *self.identity(), bodies })
    }
}

/// The weight of a digit: `2^(64 - b (digit + 1))`.
fn gadget(cut: Cut, digit: usize) -> u64 {
    1 << (64 - cut.base_log * (digit as u32 + 1))
}

/// The residue of a signed number in two's complement. Range: absolute value below `2^63`. The time does not depend on it.
pub(super) fn from_signed(number: u64) -> u64 {
    // 2^64 - EPSILON = p.
    number.wrapping_sub(EPSILON & ((number as i64) >> 63) as u64)
}

/// The masks of a row, from the seed of [`mask_seed`]. Shape: `k N` words. Range: `0..p`, uniform.
fn row_mask(params: &Params, seed: &[u8; 32], row: usize) -> Vec<u64> {
    let mut stream = public_stream(seed, row as u64);
    // A word is refused with probability 2^-32.
    let uniform = |_| loop {
        let word = stream.next_u64();
        if word < P {
            return word;
        }
    };
    (0..params.big_dimension()).map(uniform).collect()
}

impl PackingKey {
    /// Builds a key from its stored parts. Shape: [`Self::len`] words. `public_digest` is as in
    /// [`ServerKey::from_parts`](super::ServerKey::from_parts).
    ///
    /// # Errors
    /// [`Error::KeyLength`] for a wrong length. [`Error::Range`] for a word that is no residue modulo `p`.
    pub fn from_parts(
        params: Params,
        public_seed: [u8; 32],
        insecure: bool,
        public_digest: Option<[u8; 32]>,
        bodies: Vec<u64>,
    ) -> Result<Self, Error> {
        check(&params, "packing key", bodies.len(), Self::len(&params))?;
        match bodies.iter().position(|&word| word >= P) {
            Some(index) => Err(Error::Range { what: "packing key", index, bits: 64 }),
            None => {
                let identity = identity(&params, &public_seed, insecure, public_digest);
                Ok(Self { params, public_seed, insecure, identity, bodies })
            }
        }
    }

    /// Number of body words: `log2(N) k l N`.
    #[allow(clippy::len_without_is_empty, reason = "a function of the parameters, never 0")]
    pub fn len(params: &Params) -> usize {
        params.packing_levels() as usize * rows_of_level(params) * params.literal().ring_dimension
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

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The bodies. Shape: [`Self::len`] words.
    pub fn bodies(&self) -> &[u64] {
        &self.bodies
    }

    /// The words of a row. Shape: `k N` mask words, then `N` body words.
    pub(super) fn row(&self, row: usize) -> Vec<u64> {
        let n = self.params.literal().ring_dimension;
        let mut words = row_mask(&self.params, &mask_seed(&self.params, &self.public_seed), row);
        words.extend_from_slice(&self.bodies[row * n..][..n]);
        words
    }
}
