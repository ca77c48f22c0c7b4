//! Secret and evaluation keys and their generation.

use super::{Error, Params, ParamsLiteral};
use crate::Control;
use crate::control::Steps;
use crate::identity::digest_of_words;
use crate::random::{Gaussian, SecretSeed, bits, block_binary, public_stream};
use crate::security::Status;
use crate::{Entropy, Identity, IdentityParts, KeyId};
use rand_core::RngCore;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::fft::NegacyclicPlan;
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// The secret key: the LWE key of dimension `n`, and the GLWE key, which is also an LWE key of dimension `k N`. The GLWE
/// key is uniform binary. The LWE key is uniform binary or block-binary (`block_bits` in
/// [`ParamsLiteral`]).
///
/// It has neither `Clone` nor `Serialize`. It is wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct ClientKey {
    #[zeroize(skip)]
    params: Params,
    #[zeroize(skip)]
    public_seed: [u8; 32],
    #[zeroize(skip)]
    insecure: bool,
    #[zeroize(skip)]
    identity: Identity,
    lwe: Vec<u8>,
    glwe: Vec<u8>,
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientKey").field("params", &self.params.name()).field("id", &self.id()).finish_non_exhaustive()
    }
}

/// The evaluation key as it is stored and sent: a public seed stands for the masks, and each body keeps `body_bits`
/// bits.
#[derive(Clone, PartialEq)]
pub struct ServerKey {
    params: Params,
    public_seed: [u8; 32],
    insecure: bool,
    identity: Identity,
    /// Bodies of `n` GGSW ciphertexts, row by row. Shape: `N` words a row, in units of `2^-64` turn.
    bootstrap_bodies: Vec<u64>,
    /// One body for each coefficient of the GLWE key and each level, in units of `2^-32` turn.
    keyswitch_bodies: Vec<u32>,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerKey").field("params", &self.params.name()).field("id", &self.id()).finish_non_exhaustive()
    }
}

/// The identity of a key pair whose public words have this digest. Without one, it is of version 1, which binds the name of the set and the seed alone.
pub fn identity(params: &Params, public_seed: &[u8; 32], insecure: bool, public_digest: Option<[u8; 32]>) -> Identity {
    let Some(public_digest) = public_digest else {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 tfhe key id");
        hasher.update(params.name().as_bytes()).update(public_seed);
        return Identity::version_1(KeyId(hasher.finalize().into()));
    };
    let (literal, claims) = (params.literal(), &ParamsLiteral::CLAIMS[..]);
    IdentityParts { scheme: "tfhe", literal, claims, insecure, public_seed }.identity(public_digest)
}

/// Offset of the keyswitch streams. Streams below `2^32` hold the masks of one GGSW ciphertext each. Streams from
/// `2^32` on hold the masks of one keyswitch coefficient each.
const KEYSWITCH_STREAMS: u64 = 1 << 32;

impl ClientKey {
    /// Generates a secret key. [`Self::server_key`] makes the key of a server.
    ///
    /// # Errors
    /// [`Error::ResearchOnly`] if the set is for research only and `research` is false. [`Error::Entropy`] if there is
    /// no randomness. [`Error::Cancelled`] if the caller cancels.
    pub fn generate(params: &Params, research: bool, entropy: Entropy, control: &Control<'_>) -> Result<Self, Error> {
        if let (Status::ResearchOnly { why }, false) = (params.security().status, research) {
            return Err(Error::ResearchOnly { name: params.name().into(), why });
        }
        control.check()?;
        let seed = SecretSeed::new(entropy)?;
        let p = params.literal();
        let lwe = block_binary(&mut seed.derive("lwe key").stream(0), p.lwe_dimension, p.block_bits);
        let glwe = bits(&mut seed.derive("glwe key").stream(0), params.big_dimension());
        let public_seed = seed.derive("public seed").publish();
        Self::new(params.clone(), public_seed, entropy.is_insecure(), lwe, glwe)
    }

    /// The parts with their identity, of version 2.
    fn new(params: Params, public_seed: [u8; 32], insecure: bool, lwe: Vec<u8>, glwe: Vec<u8>) -> Result<Self, Error> {
        let identity = identity(&params, &public_seed, insecure, None);
        let mut key = Self { params, public_seed, insecure, identity, lwe, glwe };
        key.identity = key.bound_identity()?;
        Ok(key)
    }

    /// The identity of version 2, which binds the public key.
    ///
    /// # Errors
    /// [`Error::Field`] from the kernels.
    pub fn bound_identity(&self) -> Result<Identity, Error> {
        let digest = digest_of_words([self.public_bodies()?.as_slice()]);
        Ok(identity(&self.params, &self.public_seed, self.insecure, Some(digest)))
    }

    /// The key with its id of version 1, as files of early development versions have it.
    #[must_use]
    pub fn with_version_1_id(mut self) -> Self {
        self.identity = identity(&self.params, &self.public_seed, self.insecure, None);
        self
    }

    /// Builds a key from its stored parts. `lwe` and `glwe` hold one bit in each byte. Shape: `n` and `k N` bytes.
    ///
    /// # Errors
    /// [`Error::KeyLength`] for a wrong length. [`Error::KeyBits`] for a byte that is not 0 or 1. [`Error::KeyBlock`] for a
    /// block of a block-binary key with several bits equal to 1. [`Error::Field`] from the kernels.
    pub fn from_parts(
        params: Params,
        public_seed: [u8; 32],
        insecure: bool,
        lwe: Vec<u8>,
        glwe: Vec<u8>,
    ) -> Result<Self, Error> {
        // Wiped if a check fails.
        let (lwe, glwe) = (Zeroizing::new(lwe), Zeroizing::new(glwe));
        for (part, bits, want) in
            [("LWE key", &lwe, params.literal().lwe_dimension), ("GLWE key", &glwe, params.big_dimension())]
        {
            check(&params, part, bits.len(), want)?;
            if bits.iter().any(|&bit| bit > 1) {
                return Err(Error::KeyBits { part });
            }
        }
        let block_bits = params.literal().block_bits;
        let is_block_binary = |block: &[u8]| block_bits == 1 || block.iter().sum::<u8>() <= 1;
        if !lwe.chunks_exact(block_bits).all(is_block_binary) {
            return Err(Error::KeyBlock { block_bits });
        }
        let [lwe, glwe] = [lwe, glwe].map(|mut bits| std::mem::take(&mut *bits));
        Self::new(params, public_seed, insecure, lwe, glwe)
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

    /// Public seed from which the masks are regenerated.
    pub fn public_seed(&self) -> &[u8; 32] {
        &self.public_seed
    }

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// Bits of the LWE key, for storage. Secret. Shape: `n` bytes.
    pub fn lwe_bits(&self) -> &[u8] {
        &self.lwe
    }

    /// Bits of the GLWE key, for storage. Secret. Shape: `k N` bytes.
    pub fn glwe_bits(&self) -> &[u8] {
        &self.glwe
    }

    /// Returns a generator for encryptions, seeded by the operating system. If the key is insecure, `nonce` alone
    /// determines the generator.
    ///
    /// # Errors
    /// [`Error::Entropy`] if there is no randomness.
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, Error> {
        if self.insecure {
            return Ok(SecretSeed::insecure(nonce).derive("encryption").stream(0));
        }
        Ok(SecretSeed::from_os()?.stream(0))
    }

    /// Generates the evaluation key on the current thread pool. Progress counts the bits of the LWE key.
    ///
    /// Every call returns the same key, because the seed of the noise is derived from the secret bits. The public seed
    /// fixes the masks: if two keys had equal masks and different noise, their average would have less noise.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller cancels. [`Error::Field`] from the kernels.
    pub fn server_key(&self, control: &Control<'_>) -> Result<ServerKey, Error> {
        let noise = SecretSeed::of_secret(
            "solinas 2026 tfhe evaluation key noise",
            &[&self.lwe, &self.glwe, &self.public_seed],
        );
        let p = self.params.literal();
        let ring = BinaryRing::new(&self.glwe, p.ring_dimension)?;
        let steps = Steps::new(control, p.lwe_dimension);
        let ggsw_len = self.params.ggsw_rows() * p.ring_dimension;
        let mut bootstrap_bodies = vec![0u64; p.lwe_dimension * ggsw_len];
        bootstrap_bodies.par_chunks_mut(ggsw_len).enumerate().try_for_each(|(i, bodies)| {
            self.ggsw_bodies(&ring, i, &mut noise.stream(i as u64), bodies);
            steps.next()
        })?;
        let levels = p.keyswitch.levels as usize;
        let gaussian = Gaussian::new(p.lwe_log2_std);
        let mut keyswitch_bodies = vec![0u32; self.glwe.len() * levels];
        keyswitch_bodies.par_chunks_mut(levels).enumerate().for_each(|(j, bodies)| {
            let stream = KEYSWITCH_STREAMS + j as u64;
            let (mut masks, mut noise) = (public_stream(&self.public_seed, stream), noise.stream(stream));
            for (level, body) in bodies.iter_mut().enumerate() {
                *body = (gaussian.draw(&mut noise) >> 32) as u32;
                for &bit in &self.lwe {
                    *body = body.wrapping_add(masks.next_u32() & u32::from(bit).wrapping_neg());
                }
                let gadget = 1u32 << (32 - p.keyswitch.base_log * (level as u32 + 1));
                *body = body.wrapping_add(gadget & u32::from(self.glwe[j]).wrapping_neg());
            }
        });
        control.check()?;
        Ok(ServerKey {
            params: self.params.clone(),
            public_seed: self.public_seed,
            insecure: self.insecure,
            identity: self.identity,
            bootstrap_bodies,
            keyswitch_bodies,
        })
    }

    /// Computes the bodies `B = sum A_p S_p + E + message` of the rows of `GGSW(s_i)`, rounded to `body_bits` bits.
    ///
    /// The row of mask polynomial `p` and level `j` has the message `-s_i g_j S_p` in its body, so that the seeded
    /// masks need no change.
    fn ggsw_bodies(&self, ring: &BinaryRing, i: usize, noise: &mut impl RngCore, bodies: &mut [u64]) {
        let p = self.params.literal();
        let n = p.ring_dimension;
        let bit = u64::from(self.lwe[i]).wrapping_neg();
        let mut masks = public_stream(&self.public_seed, i as u64);
        let mut mask = vec![0u64; p.glwe_dimension * n];
        let half_unit = if p.body_bits < 64 { 1u64 << (63 - p.body_bits) } else { 0 };
        let kept = !0u64 << (64 - p.body_bits);
        let gaussian = Gaussian::new(p.glwe_log2_std);
        for (row, body) in bodies.chunks_exact_mut(n).enumerate() {
            let (polynomial, level) = (row / p.decomposition.levels as usize, row as u32 % p.decomposition.levels);
            let gadget = (1u64 << (64 - p.decomposition.base_log * (level + 1))) & bit;
            mask.fill_with(|| masks.next_u64());
            ring.multiply(&mask, body);
            if polynomial < p.glwe_dimension {
                for (body, &s) in body.iter_mut().zip(&self.glwe[polynomial * n..]) {
                    *body = body.wrapping_sub(gadget & u64::from(s).wrapping_neg());
                }
            } else {
                body[0] = body[0].wrapping_add(gadget);
            }
            for body in body.iter_mut() {
                *body = body.wrapping_add(gaussian.draw(noise)).wrapping_add(half_unit) & kept;
            }
        }
    }
}

/// The sum with a number below `2^51` is rounded to an integer, which the low bits of the sum hold.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// Transformed secret polynomials with coefficients 0 and 1, for exact products with uniform 64-bit polynomials.
pub(super) struct BinaryRing {
    plan: NegacyclicPlan,
    key: Zeroizing<Vec<f64>>,
}

impl BinaryRing {
    /// Transforms polynomials. Shape: `N` bits each, one in each byte.
    pub(super) fn new(bits: &[u8], n: usize) -> Result<Self, Error> {
        let plan = NegacyclicPlan::new(n, Backend::detect()?)?;
        let mut key = Zeroizing::new(vec![0.0; bits.len()]);
        for (bits, key) in bits.chunks_exact(n).zip(key.chunks_exact_mut(n)) {
            let bits: Zeroizing<Vec<f64>> = Zeroizing::new(bits.iter().map(|&bit| f64::from(bit)).collect());
            plan.forward(&bits, key);
        }
        Ok(Self { plan, key })
    }

    /// `out <- sum_p A_p S_p` modulo `2^64`, exactly. Each product of a half word and a binary polynomial is below
    /// `2^32 N`, and the error of its double-precision transforms is below 2^-5, or 2^-4
    /// where products are rounded before sums.
    pub(super) fn multiply(&self, mask: &[u64], out: &mut [u64]) {
        let n = out.len();
        let mut sums = [AlignedVec::<f64>::zeroed(n), AlignedVec::zeroed(n)];
        let mut coefficients = AlignedVec::<f64>::zeroed(n);
        let mut transformed = AlignedVec::<f64>::zeroed(n);
        for (mask, key) in mask.chunks_exact(n).zip(self.key.chunks_exact(n)) {
            for (half, sum) in sums.iter_mut().enumerate() {
                for (c, &word) in coefficients.iter_mut().zip(mask) {
                    *c = f64::from((word >> (32 * half)) as u32);
                }
                self.plan.forward(&coefficients, &mut transformed);
                self.plan.multiply_accumulate(sum, &transformed, key);
            }
        }
        out.fill(0);
        for (half, sum) in sums.iter_mut().enumerate() {
            self.plan.inverse(sum, &mut coefficients, 1.0);
            for (out, &c) in out.iter_mut().zip(coefficients.iter()) {
                *out = out.wrapping_add((c + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) << (32 * half));
            }
            sum.zeroize();
        }
        // A product without noise reveals the key.
        coefficients.zeroize();
    }
}

impl ServerKey {
    /// Builds a key from its stored parts. Shape: [`Self::bootstrap_len`] and [`Self::keyswitch_len`] words. `public_digest` is the digest of the
    /// words of the public key; without it, the id is of version 1.
    ///
    /// # Errors
    /// [`Error::KeyLength`] for a wrong length.
    pub fn from_parts(
        params: Params,
        public_seed: [u8; 32],
        insecure: bool,
        public_digest: Option<[u8; 32]>,
        bootstrap_bodies: Vec<u64>,
        keyswitch_bodies: Vec<u32>,
    ) -> Result<Self, Error> {
        check(&params, "bootstrapping key", bootstrap_bodies.len(), Self::bootstrap_len(&params))?;
        check(&params, "keyswitch key", keyswitch_bodies.len(), Self::keyswitch_len(&params))?;
        let identity = identity(&params, &public_seed, insecure, public_digest);
        Ok(Self { params, public_seed, insecure, identity, bootstrap_bodies, keyswitch_bodies })
    }

    /// Number of body words of the bootstrapping key: `n (k+1) l N`.
    pub fn bootstrap_len(params: &Params) -> usize {
        params.literal().lwe_dimension * params.ggsw_rows() * params.literal().ring_dimension
    }

    /// Number of body words of the keyswitch key: `k N l`.
    pub fn keyswitch_len(params: &Params) -> usize {
        params.big_dimension() * params.literal().keyswitch.levels as usize
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

    /// Public seed from which the masks are regenerated.
    pub fn public_seed(&self) -> &[u8; 32] {
        &self.public_seed
    }

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// Bodies of the bootstrapping key. Shape: [`Self::bootstrap_len`] words.
    pub fn bootstrap_bodies(&self) -> &[u64] {
        &self.bootstrap_bodies
    }

    /// Bodies of the keyswitch key. Shape: [`Self::keyswitch_len`] words.
    pub fn keyswitch_bodies(&self) -> &[u32] {
        &self.keyswitch_bodies
    }

    /// Passes the index and the words of each row of `GGSW(s_i)` to `place`. Shape: `k N` mask words, then `N` body
    /// words.
    pub(super) fn ggsw_rows(&self, i: usize, mut place: impl FnMut(usize, &[u64])) {
        let p = self.params.literal();
        let (n, rows) = (p.ring_dimension, self.params.ggsw_rows());
        let mut masks = public_stream(&self.public_seed, i as u64);
        let mut row_words = vec![0u64; (p.glwe_dimension + 1) * n];
        for row in 0..rows {
            let (mask, body) = row_words.split_at_mut(p.glwe_dimension * n);
            mask.fill_with(|| masks.next_u64());
            body.copy_from_slice(&self.bootstrap_bodies[(i * rows + row) * n..][..n]);
            place(row, &row_words);
        }
    }

    /// Passes the level and the words of each ciphertext of keyswitch coefficient `j` to `place`. Shape: `n + 1` words.
    pub(super) fn keyswitch_rows(&self, j: usize, mut place: impl FnMut(usize, &[u32])) {
        let p = self.params.literal();
        let levels = p.keyswitch.levels as usize;
        let mut masks = public_stream(&self.public_seed, KEYSWITCH_STREAMS + j as u64);
        let mut words = vec![0u32; p.lwe_dimension + 1];
        for level in 0..levels {
            words[..p.lwe_dimension].fill_with(|| masks.next_u32());
            words[p.lwe_dimension] = self.keyswitch_bodies[j * levels + level];
            place(level, &words);
        }
    }
}

pub(super) fn check(params: &Params, part: &'static str, got: usize, want: usize) -> Result<(), Error> {
    if got == want { Ok(()) } else { Err(Error::KeyLength { part, params: params.name().into(), got, want }) }
}
