//! Evaluation: sums, products, and Recrypt.

mod accelerator;
mod blocks;
mod expand;
mod schedule;
mod symmetric;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::method::Method;
use super::modulus::{Arithmetic, Modulus};
use super::{Ciphertext, Error, Params, PublicKey, Residues, ServerKey, noise};
use crate::held::Held;
pub use accelerator::Accelerator;
use blocks::Blocks;
pub use blocks::RecryptMethod;
use expand::Expansion;
pub use expand::GUARD_BITS;
pub use schedule::{ResidueBatch, Schedule, Slot};

/// Evaluation under one key, with the tables of one method.
///
/// The bit of a ciphertext is the parity of its noise. Sums are exclusive or, products are and.
pub struct Evaluator<'a> {
    server: Held<'a, ServerKey>,
    modulus: Modulus,
    recryption: Recryption,
}

/// The implementation of products and Recrypt.
enum Recryption {
    /// This processor, with the tables of one method.
    Tables {
        expansion: Expansion,
        blocks: Blocks,
    },
    Accelerator(Arc<dyn Accelerator>),
}

impl core::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Evaluator")
            .field("server", &*self.server)
            .field("method", &self.method())
            .finish_non_exhaustive()
    }
}

/// Duration of each step of a Recrypt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecryptTimes {
    /// The expansions of `c x_k / d` and the rounded candidates.
    pub expand: Duration,
    /// The encrypted columns of every block.
    pub blocks: Duration,
    /// The sum of the blocks.
    pub sum: Duration,
}

impl Evaluator<'static> {
    /// Builds an evaluator as [`Evaluator::new`] does, for a shared key.
    ///
    /// # Errors
    /// The errors of [`Evaluator::new`].
    pub fn shared(
        server: Arc<ServerKey>,
        method: RecryptMethod,
        memory: u64,
        arithmetic: Arithmetic,
    ) -> Result<Self, Error> {
        let key = Arc::clone(&server);
        Self::build(Held::Shared(server), method, memory, arithmetic, |modulus| Blocks::new(&key, modulus, method))
    }

    /// Builds an evaluator whose products and Recrypts an accelerator computes. It was made for this key.
    ///
    /// # Errors
    /// [`Error::Material`] for a modulus that no plan fits.
    pub fn accelerated(server: Arc<ServerKey>, accelerator: Arc<dyn Accelerator>) -> Result<Self, Error> {
        let modulus = Modulus::new(server.public().d(), 1, Arithmetic::default())?;
        Ok(Self { server: Held::Shared(server), modulus, recryption: Recryption::Accelerator(accelerator) })
    }
}

impl<'a> Evaluator<'a> {
    /// Builds the tables of the method within `memory` bytes, on the current thread pool.
    ///
    /// # Errors
    /// [`Error::Memory`] if the tables do not fit. The check precedes the work.
    pub fn new(
        server: &'a ServerKey,
        method: RecryptMethod,
        memory: u64,
        arithmetic: Arithmetic,
    ) -> Result<Self, Error> {
        Self::build(Held::Borrowed(server), method, memory, arithmetic, |modulus| Blocks::new(server, modulus, method))
    }

    /// Builds an evaluator of [`RecryptMethod::PairTable`] as [`Self::new`] does, from a table that
    /// [`Self::pair_table`] returned earlier. The table is checked by a few products and is not copied.
    ///
    /// # Errors
    /// The errors of [`Self::new`]. [`Error::Material`] if the words are not the pair table of this key.
    pub fn with_pair_table(
        server: &'a ServerKey,
        memory: u64,
        arithmetic: Arithmetic,
        table: Residues,
    ) -> Result<Self, Error> {
        let blocks = |modulus: &Modulus| Blocks::with_pairs(server, modulus, table);
        Self::build(Held::Borrowed(server), RecryptMethod::PairTable, memory, arithmetic, blocks)
    }

    /// The products of pairs of indicators that [`RecryptMethod::PairTable`] stores: [`Self::pair_table_words`] words
    /// in an internal order. `None` with the other methods, and with an accelerator.
    pub fn pair_table(&self) -> Option<&[u64]> {
        match &self.recryption {
            Recryption::Tables { blocks, .. } => blocks.pairs(),
            Recryption::Accelerator(_) => None,
        }
    }

    /// The products `eta_ka eta_kb` of block `k` in the order of its candidates: `S` residues, one after the other. `None`
    /// with other methods than [`RecryptMethod::PairTable`], and with an accelerator.
    pub fn pair_products(&self, k: usize) -> Option<Vec<u64>> {
        match &self.recryption {
            Recryption::Tables { blocks, .. } => blocks.pair_products(self.server.public(), k),
            Recryption::Accelerator(_) => None,
        }
    }

    /// Number of words of [`Self::pair_table`].
    pub fn pair_table_words(public: &PublicKey) -> usize {
        blocks::pair_table_words(public)
    }

    fn build(
        server: Held<'a, ServerKey>,
        method: RecryptMethod,
        memory: u64,
        arithmetic: Arithmetic,
        blocks: impl FnOnce(&Modulus) -> Result<Blocks, Error>,
    ) -> Result<Self, Error> {
        method.check(server.params(), memory)?;
        let params = server.params();
        let modulus = Modulus::new(server.public().d(), params.recrypt_terms(), arithmetic)?;
        let expansion = Expansion::new(&server, &modulus)?;
        let blocks = blocks(&modulus)?;
        Ok(Self { server, modulus, recryption: Recryption::Tables { expansion, blocks } })
    }

    /// The server key.
    pub fn server(&self) -> &ServerKey {
        &self.server
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.server.params()
    }

    /// The method of Recrypt.
    pub fn method(&self) -> RecryptMethod {
        match &self.recryption {
            Recryption::Tables { blocks, .. } => blocks.method(),
            Recryption::Accelerator(accelerator) => accelerator.method(),
        }
    }

    /// Computes the exclusive or of two bits: `x + y`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key. [`Error::Margin`] if the sum might not decrypt.
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(x)?;
        self.check(y)?;
        let mut words = x.words().to_vec();
        self.modulus.add(&mut words, y.words());
        self.output("a sum", words, noise::sum(x.noise(), y.noise()))
    }

    /// Computes the negation of a bit: `x + 1`.
    ///
    /// # Errors
    /// The errors of [`Self::add`].
    pub fn not(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.add(x, &Ciphertext::trivial(self.server.public(), true))
    }

    /// Computes the conjunction of two bits: `x y`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key. [`Error::Margin`] if the product might not decrypt.
    pub fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check(x)?;
        self.check(y)?;
        let noise = noise::product(x.noise(), y.noise());
        self.check_margin("a product", noise, noise::DECRYPT_NEED)?;
        let words = match &self.recryption {
            Recryption::Tables { .. } => self.modulus.mul(x.words(), y.words())?,
            Recryption::Accelerator(accelerator) => accelerator.multiply(x.words(), y.words())?,
        };
        self.output("a product", words, noise)
    }

    /// Whether [`Self::recrypt`] accepts a ciphertext of this noise.
    pub fn can_recrypt(&self, noise: f64) -> bool {
        noise::margin(self.params(), noise) >= noise::recrypt_need(self.params())
    }

    /// Returns a ciphertext of the same bit with noise [`noise::recrypted`].
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] for a ciphertext of another key. [`Error::Margin`] if its noise is too large for Recrypt.
    pub fn recrypt(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.recrypt_timed(x).map(|(ciphertext, _)| ciphertext)
    }

    /// Recrypts as [`Self::recrypt`] does. Also returns the duration of each step, or 0 with an accelerator.
    ///
    /// # Errors
    /// The errors of [`Self::recrypt`].
    pub fn recrypt_timed(&self, x: &Ciphertext) -> Result<(Ciphertext, RecryptTimes), Error> {
        self.check(x)?;
        self.check_margin("recryption", x.noise(), noise::recrypt_need(self.params()))?;
        let (words, times) = match &self.recryption {
            Recryption::Tables { expansion, blocks } => self.recrypt_by_tables(expansion, blocks, x.words())?,
            Recryption::Accelerator(accelerator) => (accelerator.recrypt(x.words())?, RecryptTimes::default()),
        };
        Ok((self.output("recryption", words, noise::recrypted(self.params()))?, times))
    }

    fn recrypt_by_tables(
        &self,
        expansion: &Expansion,
        blocks: &Blocks,
        words: &[u64],
    ) -> Result<(Vec<u64>, RecryptTimes), Error> {
        let mut start = Instant::now();
        let mut lap = || core::mem::replace(&mut start, Instant::now()).elapsed();
        let candidates = expansion.candidates(&self.server, &self.modulus, words)?;
        let expand = lap();
        let columns = blocks.columns(&self.server, &self.modulus, &candidates)?;
        let blocks = lap();
        let words = symmetric::sum_columns(&self.modulus, columns)?;
        Ok((words, RecryptTimes { expand, blocks, sum: lap() }))
    }

    /// Checks that a ciphertext belongs to the key.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn check(&self, ciphertext: &Ciphertext) -> Result<(), Error> {
        self.server.public().check("a ciphertext", ciphertext.key())
    }

    fn check_margin(&self, operation: &'static str, noise: f64, need: f64) -> Result<(), Error> {
        let margin = noise::margin(self.params(), noise);
        if margin < need { Err(Error::Margin { operation, margin, need }) } else { Ok(()) }
    }

    fn output(&self, operation: &'static str, words: Vec<u64>, noise: f64) -> Result<Ciphertext, Error> {
        self.check_margin(operation, noise, noise::DECRYPT_NEED)?;
        Ok(Ciphertext { key: self.server.id(), words, noise })
    }
}

/// The steps of Recrypt, which tests compare one by one.
#[cfg(test)]
impl Evaluator<'_> {
    fn tables(&self) -> (&Expansion, &Blocks) {
        match &self.recryption {
            Recryption::Tables { expansion, blocks } => (expansion, blocks),
            Recryption::Accelerator(accelerator) => panic!("{accelerator:?} has no tables"),
        }
    }

    /// Computes the rounded candidates `z_ki` of every block: `p + 1` bits each. The highest bit is xored with the
    /// parity of `y_ki`.
    pub(super) fn candidates(&self, c: &[u64]) -> Result<Vec<Vec<u8>>, Error> {
        self.tables().0.candidates(&self.server, &self.modulus, c)
    }

    /// Computes the encrypted bits `v_kj`, where `j` has weight `2^-j`. Shape: by `j`, then by `k`.
    pub(super) fn columns(&self, candidates: &[Vec<u8>]) -> Result<Vec<Vec<Vec<u64>>>, Error> {
        self.tables().1.columns(&self.server, &self.modulus, candidates)
    }

    /// Computes the rounded sum of the blocks modulo 2.
    pub(super) fn sum_columns(&self, columns: Vec<Vec<Vec<u64>>>) -> Result<Vec<u64>, Error> {
        symmetric::sum_columns(&self.modulus, columns)
    }
}
