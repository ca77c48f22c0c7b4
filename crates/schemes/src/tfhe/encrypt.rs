//! Encodings, encryption and decryption.

use super::keys::ClientKey;
use super::params::Family;
use super::short::{Masks, ShortCiphertexts};
use super::{Error, LweCiphertext, Params};
use crate::random::{Gaussian, public_stream};
use rand_core::RngCore;

/// Torus word of the bit 1 in the gates family: 1/8 of a turn. The bit 0 is `-1/8` of a turn.
pub const BOOL_TRUE: u32 = 1 << 29;
/// Unit of the integers family: 1/32 of a turn. The 16 values fill one half of the turn; the padding bit selects the
/// half.
const UNIT: u32 = 1 << 27;

/// Encodes a bit as a torus word (gates family): `1/8` or `-1/8` of a turn.
pub fn encode_bool(bit: bool) -> u32 {
    if bit { BOOL_TRUE } else { BOOL_TRUE.wrapping_neg() }
}

/// Decodes a phase to the nearest bit (gates family).
pub fn decode_bool(phase: u32) -> bool {
    phase as i32 >= 0
}

/// Encodes a value in `0..16` as a torus word (integers family). The encoding is modulo 32: value 32 has the word of 0.
pub fn encode_value(value: u32) -> u32 {
    value.wrapping_mul(UNIT)
}

/// Decodes a phase to the nearest value (integers family). Range: `0..32`. A result of 16 or more means that a
/// computation has overflowed into the padding bit.
pub fn decode_value(phase: u32) -> u32 {
    phase.wrapping_add(UNIT / 2) / UNIT
}

/// Encodes a value of a set.
///
/// # Errors
/// [`Error::Message`] if the value is out of range.
pub(super) fn encode(params: &Params, value: u32) -> Result<u32, Error> {
    let modulus = params.message_modulus();
    if value >= modulus {
        return Err(Error::Message { value, modulus });
    }
    Ok(match params.family() {
        Family::Gates => encode_bool(value == 1),
        Family::Integers => encode_value(value),
    })
}

/// Decodes a phase to a value of a set. In the integers family the padding bit is dropped.
pub(super) fn decode(params: &Params, phase: u32) -> u32 {
    match params.family() {
        Family::Gates => decode_bool(phase).into(),
        Family::Integers => decode_value(phase) % 16,
    }
}

impl ClientKey {
    /// Encrypts a torus word with a uniform mask and Gaussian noise of [`super::Params::fresh_log2_std`]. Shape:
    /// `k N + 1` words.
    pub fn encrypt_torus(&self, message: u32, rng: &mut impl RngCore) -> LweCiphertext {
        let key = self.glwe_bits();
        let mut words = vec![0u32; key.len() + 1];
        let mut body = message.wrapping_add((Gaussian::new(self.params().fresh_log2_std()).draw(rng) >> 32) as u32);
        for (word, &bit) in words.iter_mut().zip(key) {
            *word = rng.next_u32();
            body = body.wrapping_add(*word & u32::from(bit).wrapping_neg());
        }
        words[key.len()] = body;
        LweCiphertext(words)
    }

    /// Returns the phase `b - <a, s>`: the message plus noise, in units of `2^-32` turn.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if the ciphertext does not have `k N + 1` words.
    pub fn phase(&self, ciphertext: &LweCiphertext) -> Result<u32, Error> {
        let key = self.glwe_bits();
        if ciphertext.0.len() != key.len() + 1 {
            return Err(Error::CiphertextLength { got: ciphertext.0.len(), want: key.len() + 1 });
        }
        Ok(key.iter().zip(&ciphertext.0).fold(ciphertext.0[key.len()], |phase, (&bit, &word)| {
            phase.wrapping_sub(word & u32::from(bit).wrapping_neg())
        }))
    }

    /// Encrypts a value. Range: `0..2` in the gates family, `0..16` in the integers family.
    ///
    /// # Errors
    /// [`Error::Message`] if the value is out of range.
    pub fn encrypt(&self, value: u32, rng: &mut impl RngCore) -> Result<LweCiphertext, Error> {
        Ok(self.encrypt_torus(encode(self.params(), value)?, rng))
    }

    /// Encrypts values in the short form: their masks come from one public seed, which `rng` draws. Range: as
    /// [`Self::encrypt`].
    ///
    /// # Errors
    /// [`Error::Message`] if a value is out of range.
    pub fn encrypt_short(&self, values: &[u32], rng: &mut impl RngCore) -> Result<ShortCiphertexts, Error> {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let body = |(number, &value): (u64, &u32)| {
            let noise = (Gaussian::new(self.params().fresh_log2_std()).draw(rng) >> 32) as u32;
            let mut masks = public_stream(&seed, number);
            let message = encode(self.params(), value)?.wrapping_add(noise);
            Ok(self
                .glwe_bits()
                .iter()
                .fold(message, |body, &bit| body.wrapping_add(masks.next_u32() & u32::from(bit).wrapping_neg())))
        };
        let bodies = (0..).zip(values).map(body).collect::<Result<_, Error>>()?;
        ShortCiphertexts::from_parts(self.params(), Masks::Seed(seed), 0, bodies)
    }

    /// Decrypts to a value of the range of [`Self::encrypt`]. In the integers family the padding bit is dropped.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if the ciphertext does not have `k N + 1` words.
    pub fn decrypt(&self, ciphertext: &LweCiphertext) -> Result<u32, Error> {
        Ok(decode(self.params(), self.phase(ciphertext)?))
    }
}
