//! The operations on encrypted bits.

use solinas_schemes::gh::{Ciphertext, Evaluator, PublicKey};
use solinas_schemes::{Error, Evaluate};
use solinas_values::gh::Bit;
use std::sync::Arc;

/// Length of a ciphertext in words from which on one recryption uses every thread.
pub(super) const LARGE: usize = 1 << 12;

/// The objects that the operations need.
pub(super) struct Bits<'a> {
    pub(super) evaluator: &'a Evaluator<'static>,
    pub(super) public: &'a PublicKey,
}

impl Bits<'_> {
    /// The ciphertext as it is.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key.
    fn same(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.check(x)?;
        Ok(x.clone())
    }
}

impl Evaluate for Bits<'_> {
    type Stored = Arc<Bit>;
    type Ciphertext = Ciphertext;

    fn load(&self, stored: &Arc<Bit>) -> Result<Ciphertext, Error> {
        stored.ciphertext(self.public)
    }

    fn store(&self, x: &Ciphertext) -> Result<Arc<Bit>, Error> {
        Ok(Bit::of(x))
    }

    fn constant(&self, value: u64) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::trivial(self.public, value & 1 == 1))
    }

    fn add_constant(&self, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        if value & 1 == 1 { self.evaluator.not(x) } else { self.same(x) }
    }

    fn multiply_constant(&self, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        let same = self.same(x)?;
        if value & 1 == 1 { Ok(same) } else { self.constant(0) }
    }

    fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.add(x, y)
    }

    /// The difference of bits is their sum.
    fn sub(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.add(x, y)
    }

    /// A bit is its own negative.
    fn negate(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.same(x)
    }

    fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.multiply(x, y)
    }

    fn multiply_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        self.multiply_constant(x, plaintext.first().copied().unwrap_or(0))
    }

    /// There is one level.
    fn drop_level(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.same(x)
    }

    fn bootstrap(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.recrypt(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_schemes::gh::{Arithmetic, ClientKey, Params, RecryptMethod};
    use solinas_schemes::{Control, Entropy};

    #[test]
    fn operations_that_keep_a_ciphertext_check_its_key() {
        let params = Params::named("toy").unwrap();
        let server = |seed| {
            let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
            Arc::new(client.server_key(&Control::default()).unwrap())
        };
        let (key, other) = (server(1), server(2));
        let method = RecryptMethod::PartialFft;
        let evaluator = Evaluator::shared(Arc::clone(&key), method, 1 << 30, Arithmetic::default()).unwrap();
        let bits = Bits { evaluator: &evaluator, public: key.public() };
        let [own, foreign] = [&key, &other].map(|key| Ciphertext::trivial(key.public(), true));
        let keeps = |x: &Ciphertext| {
            [
                bits.negate(x),
                bits.add_constant(x, 0),
                bits.multiply_constant(x, 0),
                bits.multiply_plain(x, &[1]),
                bits.drop_level(x),
            ]
        };
        assert!(keeps(&own).iter().all(Result::is_ok));
        assert!(keeps(&foreign).iter().all(|x| matches!(x, Err(Error::KeyMismatch { .. }))));
    }
}
