//! Random blocks: encryptions of uniform values that the server makes from a public seed. They are an oblivious
//! pseudorandom function of the seed under the client's LWE key: the server evaluates it and does not see its values.
//!
//! The block of number `i` has a mask `a`, uniform modulo `2N`, that generator `i` of the seed gives. With the body 0, it is
//! an LWE ciphertext at modulus `2N`, and its phase `-<a, s>` is known to the client alone. One blind rotation maps the
//! phase to a value of `b` bits: arc `v` of the lower half turn to `v`, and the opposite arc to `2^b - 1 - v`. So each value
//! has the same number of phases.
//!
//! For uniform masks and a key with at least one bit 1, values are exactly uniform and independent. Over uniform keys, the
//! statistical distance from that is at most `2^-n`. The phase has no noise and meets no keyswitch and no modulus switch, so
//! it is never read wrongly, and the noise of a block is that of one bootstrap ([`super::noise::bootstrap`]). Derivation:
//! `docs/derivations/tfhe-parameters.md`, section 9.

use super::encrypt::{encode_bool, encode_value};
use super::evaluate::{BOXES, Split};
use super::params::Family;
use super::{Error, Evaluator, LweCiphertext, Params};
use crate::KeyId;
use crate::random::public_stream;
use rand_core::RngCore;
use rayon::prelude::*;

/// The public seed of random blocks, which belongs to one key and one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RandomSeed([u8; 32]);

impl RandomSeed {
    /// Derives the seed from bytes that anyone may know. Keys and purposes with the same bytes have independent blocks.
    pub fn new(key: KeyId, purpose: &str, seed: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 tfhe random blocks");
        // The length separates the purpose from the bytes.
        hasher.update(&key.0).update(&(purpose.len() as u64).to_le_bytes()).update(purpose.as_bytes()).update(seed);
        Self(hasher.finalize().into())
    }

    /// Appends the mask of a block. Shape: `n` words. Range: `0..2N`, in units of `1/2N` turn.
    fn mask(&self, params: &Params, number: u64, out: &mut Vec<u16>) {
        let mut stream = public_stream(&self.0, number);
        let shift = 32 - params.compact_bits();
        out.extend((0..params.literal().lwe_dimension).map(|_| (stream.next_u32() >> shift) as u16));
    }
}

/// The test polynomial of a block of `bits` bits, in equal boxes, and the constant to add to the result. Both in units of
/// `2^-32` turn.
fn test_polynomial(family: Family, bits: u32) -> ([u32; BOXES], u32) {
    match family {
        Family::Gates => ([encode_bool(false); BOXES], 0),
        Family::Integers => {
            let half = encode_value((1 << bits) - 1) / 2;
            let value = |at: usize| (at << (bits - 1)) / BOXES;
            (std::array::from_fn(|at| encode_value(value(at) as u32).wrapping_sub(half)), half)
        }
    }
}

impl Evaluator {
    /// Makes random blocks on the current thread pool: one for each number of bits, with the numbers `first`, `first + 1`, ..
    /// modulo `2^64`. Range of the bits: 1 in the gates family, `1..=4` in the integers family.
    ///
    /// The result depends neither on the number of threads nor on the back end. Blocks that are made in several calls are
    /// those of one call.
    ///
    /// # Errors
    /// [`Error::RandomBits`] if a block has no bits or too many.
    pub fn random(&self, seed: &RandomSeed, first: u64, bits: &[u32]) -> Result<Vec<LweCiphertext>, Error> {
        let most = self.params().message_modulus().ilog2();
        if let Some(&bits) = bits.iter().find(|&bits| !(1..=most).contains(bits)) {
            return Err(Error::RandomBits { bits, most });
        }
        let Split { batch, members } = self.split_of_pool(bits.len());
        let batches = bits.par_chunks(batch).enumerate();
        Ok(batches
            .flat_map_iter(|(i, bits)| self.random_batch(seed, first.wrapping_add((i * batch) as u64), bits, members))
            .collect())
    }

    fn random_batch(&self, seed: &RandomSeed, first: u64, bits: &[u32], members: usize) -> Vec<LweCiphertext> {
        let (mut exponents, mut starts, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &bits) in bits.iter().enumerate() {
            seed.mask(self.params(), first.wrapping_add(i as u64), &mut exponents);
            let (boxes, constant) = test_polynomial(self.params().family(), bits);
            starts.push((boxes, 0));
            constants.push(constant);
        }
        let accumulators = self.teams.with(members, |team| self.rotate(&starts, &exponents, (team, members)));
        let block = |(accumulator, constant): (&[u32], u32)| {
            let mut block = self.sample_extract(accumulator);
            if let Some(body) = block.0.last_mut() {
                *body = body.wrapping_add(constant);
            }
            block
        };
        accumulators.chunks_exact(self.rotation().accumulator_len()).zip(constants).map(block).collect()
    }
}
