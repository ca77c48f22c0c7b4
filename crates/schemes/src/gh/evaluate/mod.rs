//! Evaluation: sums, products, and Recrypt.

mod blocks;
mod expand;
mod symmetric;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::keys::Held;
use super::method::Method;
use super::modulus::{Arithmetic, Modulus};
use super::{Ciphertext, Error, Params, PublicKey, Residues, ServerKey, noise};
use blocks::Blocks;
pub use blocks::RecryptMethod;
use expand::Expansion;

/// Evaluation under one key, with the tables of one method.
///
/// The bit of a ciphertext is the parity of its noise. Sums are exclusive or, products are and.
pub struct Evaluator<'a> {
    server: Held<'a, ServerKey>,
    modulus: Modulus,
    expansion: Expansion,
    blocks: Blocks,
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
    /// in an internal order. `None` with the other methods.
    pub fn pair_table(&self) -> Option<&[u64]> {
        self.blocks.pairs()
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
        // Largest number of products in a sum. Column 1 sums the squares of s bits and one carry from every other
        // column but column 0.
        let terms = params.first_indices().max(params.blocks() + params.precision());
        let modulus = Modulus::new(server.public().d(), terms, arithmetic)?;
        let expansion = Expansion::new(&server, &modulus)?;
        let blocks = blocks(&modulus)?;
        Ok(Self { server, modulus, expansion, blocks })
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
        self.blocks.method()
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
        self.output("a product", self.modulus.mul(x.words(), y.words())?, noise)
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

    /// Recrypts as [`Self::recrypt`] does. Also returns the duration of each step.
    ///
    /// # Errors
    /// The errors of [`Self::recrypt`].
    pub fn recrypt_timed(&self, x: &Ciphertext) -> Result<(Ciphertext, RecryptTimes), Error> {
        self.check(x)?;
        self.check_margin("recryption", x.noise(), noise::recrypt_need(self.params()))?;
        let start = Instant::now();
        let candidates = self.candidates(x.words())?;
        let expand = start.elapsed();
        let start = Instant::now();
        let columns = self.columns(&candidates)?;
        let blocks = start.elapsed();
        let start = Instant::now();
        let words = self.sum_columns(columns)?;
        let times = RecryptTimes { expand, blocks, sum: start.elapsed() };
        Ok((self.output("recryption", words, noise::recrypted(self.params()))?, times))
    }

    /// Computes the rounded candidates `z_ki` of every block: `p + 1` bits each. The highest bit is xored with the
    /// parity of `y_ki`.
    pub(super) fn candidates(&self, c: &[u64]) -> Result<Vec<Vec<u8>>, Error> {
        self.expansion.candidates(&self.server, &self.modulus, c)
    }

    /// Computes the encrypted bits `v_kj`, where `j` has weight `2^-j`. Shape: by `j`, then by `k`.
    pub(super) fn columns(&self, candidates: &[Vec<u8>]) -> Result<Vec<Vec<Vec<u64>>>, Error> {
        self.blocks.columns(&self.server, &self.modulus, candidates)
    }

    /// Computes the rounded sum of the blocks modulo 2.
    pub(super) fn sum_columns(&self, columns: Vec<Vec<Vec<u64>>>) -> Result<Vec<u64>, Error> {
        symmetric::sum_columns(&self.modulus, columns)
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
