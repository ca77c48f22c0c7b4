//! The scheme of Gentry and Halevi on a device: products and Recrypt, with the ciphertexts of the CPU in every word.
//!
//! An [`Engine`] holds a server key and the tables of one method on a device. It is the
//! [`Accelerator`] of an [`Evaluator`], which checks noise and keys, and adds.
//! A Recrypt is two graphs: the expansions of `c x_k / d` with their candidates, and the columns with their sum.
//! An [`Encryptor`] encrypts batches of bits for measurements of the papers' tables. The device then sees the bits.

mod columns;
mod encrypt;
mod expand;
mod kernels;
mod memory;
mod recrypt;

use crate::bigint::Modulus;
use crate::{Device, Error};
pub use encrypt::Encryptor;
pub use memory::{bytes, fastest};
use recrypt::Chain;
use solinas_schemes::Error as SchemeError;
use solinas_schemes::gh::{Accelerator, Evaluator, RecryptMethod, ServerKey};
use std::sync::{Arc, Mutex, PoisonError};

/// A server key of Gentry and Halevi's scheme on a device. It has no secrets.
#[derive(Debug)]
pub struct Engine {
    server: Arc<ServerKey>,
    method: RecryptMethod,
    modulus: Modulus,
    /// One operation runs at a time.
    chain: Mutex<Chain>,
}

impl Engine {
    /// Makes the tables of a method on a device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for [`RecryptMethod::PartialFft`], which has no kernels. [`Error::Memory`], which names a
    /// method that fits, before any work is done. The errors of the device.
    pub fn new(device: &Device, server: Arc<ServerKey>, method: RecryptMethod) -> Result<Self, Error> {
        Self::build(device, server, method, |_| None)
    }

    /// Copies a key to a device, with the pair table of an evaluator of [`RecryptMethod::PairTable`].
    ///
    /// # Errors
    /// The errors of [`Self::new`]. [`Error::Unsupported`] for an evaluator without the table.
    pub fn with_pair_table(device: &Device, server: Arc<ServerKey>, evaluator: &Evaluator<'_>) -> Result<Self, Error> {
        if evaluator.method() != RecryptMethod::PairTable || evaluator.server().id() != server.id() {
            return Err(Error::Unsupported { params: "an evaluator without the pair table of the key".into() });
        }
        Self::build(device, server, RecryptMethod::PairTable, |k| evaluator.pair_products(k))
    }

    fn build(
        device: &Device,
        server: Arc<ServerKey>,
        method: RecryptMethod,
        pairs: impl Fn(usize) -> Option<Vec<u64>>,
    ) -> Result<Self, Error> {
        memory::check(device, server.params(), method)?;
        let modulus = Modulus::for_sums(device, server.public().d(), server.params().recrypt_terms())?;
        let chain = Mutex::new(Chain::new(&modulus, &server, method, pairs)?);
        Ok(Self { server, method, modulus, chain })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.modulus.device()
    }

    fn on_chain<T>(&self, work: impl FnOnce(&Chain) -> Result<T, Error>) -> Result<T, SchemeError> {
        let chain = self.chain.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(work(&chain)?)
    }
}

impl Accelerator for Engine {
    fn method(&self) -> RecryptMethod {
        self.method
    }

    fn multiply(&self, x: &[u64], y: &[u64]) -> Result<Vec<u64>, SchemeError> {
        self.on_chain(|chain| chain.multiply(x, y))
    }

    fn recrypt(&self, x: &[u64]) -> Result<Vec<u64>, SchemeError> {
        if let Some(result) = self.on_chain(|chain| chain.recrypt(x))? {
            return Ok(result);
        }
        // An error may have reached the candidates, so the processor computes them. It does so without the lock: a
        // thread that waits for other threads must not hold a lock for which they wait.
        let candidates = self.server.candidates(x)?;
        self.on_chain(|chain| chain.recrypt_candidates(&candidates))
    }
}
