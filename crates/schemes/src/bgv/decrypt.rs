//! Decryption.

use solinas_ring::{Basis, Coeff, MixedRadix, RnsPoly};
use zeroize::Zeroizing;

use super::{Ciphertext, ClientKey, Error, noise};
use crate::{Level, Noise};

impl ClientKey {
    /// `c_0 + c_1 s + ..` modulo the first `towers` primes.
    pub(super) fn phase(
        &self,
        ciphertext: &Ciphertext,
        towers: usize,
    ) -> Result<(Basis, Zeroizing<RnsPoly<Coeff>>), Error> {
        self.public().check("the ciphertext", ciphertext.key)?;
        let basis = self.public().context().level(ciphertext.level).basis.prefix(towers)?;
        let Some((last, others)) = ciphertext.parts.split_last() else {
            return Err(Error::Material { part: "ciphertext", problem: "no parts".into() });
        };
        let secret = &self.secret_parts().values;
        let phase = RnsPoly::from_towers(&basis, |i, out| {
            let ops = basis.pointwise(i);
            out.copy_from_slice(last.tower(i));
            for part in others.iter().rev() {
                ops.multiply(out, secret.tower(i));
                ops.add(out, part.tower(i));
            }
            basis.plan(i).inverse(out);
        });
        Ok((basis, Zeroizing::new(phase)))
    }

    /// Decrypts modulo the fewest primes that the noise allows by the formula. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::Noise`] for a ciphertext whose noise by the formula might be too large.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        let context = self.public().context();
        let limit = |level: Level| noise::limit(&context.params, context.params.log2_modulus(level));
        let Some(level) = Level::LOWEST.up_to(ciphertext.level).find(|&level| ciphertext.noise <= limit(level)) else {
            let remedy = "add fewer ciphertexts, or choose parameters with primes of more bits";
            let limit = limit(ciphertext.level);
            return Err(Error::Noise { operation: "decryption", noise: ciphertext.noise, limit, remedy });
        };
        let (basis, phase) = self.phase(ciphertext, level.number())?;
        let m = context.plaintext;
        let factor = ciphertext.correction_factor(context);
        let error = solinas_ring::Error::PlaintextModulus { modulus: m.value() };
        let inverse = m.vartime_inverse(factor).ok_or(error)?;
        let mut message = if level == Level::LOWEST {
            let q = basis.modulus(0);
            // Without a branch on the sign.
            let lift = m.reduce(m.value() - m.reduce(q.value()));
            let value = |&x: &u64| m.reduce(m.reduce(x) + lift * u64::from(x > q.value() / 2));
            phase.tower(0).iter().map(value).collect()
        } else {
            MixedRadix::new(&basis).centered_mod(&phase, m)?
        };
        message.iter_mut().for_each(|x| *x = m.reduce(*x * inverse));
        Ok(message)
    }

    /// The root mean square of the noise's coefficients, measured: what [`Ciphertext::noise`] predicts. For tests and reports. It reveals information about
    /// the key.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn measure_noise(&self, ciphertext: &Ciphertext) -> Result<Noise, Error> {
        let (basis, phase) = self.phase(ciphertext, ciphertext.level.number())?;
        let magnitudes = MixedRadix::new(&basis).log2_magnitudes(&phase)?;
        let largest = magnitudes.iter().copied().fold(0.0, f64::max);
        let squares: f64 = magnitudes.iter().map(|bits| libm::exp2(2.0 * (bits - largest))).sum();
        Ok(Noise::from_log2(largest + 0.5 * libm::log2(squares / self.params().dimension() as f64)))
    }
}
