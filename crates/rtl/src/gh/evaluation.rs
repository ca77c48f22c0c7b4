//! The accelerator in place of the processor, for the evaluation of circuits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use solinas_bigint::Natural;
use solinas_schemes::gh::{self, Arithmetic, Ciphertext, Evaluator, RecryptMethod, ServerKey, noise};
use solinas_schemes::{DeviceError, Error as SchemeError};

use super::{Accelerator, CANDIDATES};
use crate::{Error, Timing};

/// Computes products and Recrypt under a key.
#[derive(Debug)]
pub struct Evaluation {
    accelerator: Accelerator,
    server: Arc<ServerKey>,
    memory: u64,
    cycles: Arc<AtomicU64>,
}

impl Evaluation {
    /// Checks that the accelerator can hold the values of a key.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::Refused`].
    pub fn check(server: &ServerKey) -> Result<(), Error> {
        Accelerator::size(server.public())?;
        let candidates = server.params().candidates();
        if candidates > CANDIDATES {
            let problem = format!(
                "{candidates} candidates of a block are more than {CANDIDATES}; use a key of the set small, toy or ci-15"
            );
            return Err(Error::Refused { top: "accelerator", problem });
        }
        Ok(())
    }

    /// Loads the values of a key. The table of pairs is computed within `memory` bytes. Cycles are added to `cycles`.
    ///
    /// # Errors
    /// [`SchemeError::Memory`], [`SchemeError::Device`].
    pub fn new(server: &Arc<ServerKey>, memory: u64, cycles: Arc<AtomicU64>) -> Result<Self, SchemeError> {
        Self::check(server).map_err(DeviceError::new)?;
        let evaluator = Evaluator::new(server, RecryptMethod::PairTable, memory, Arithmetic::default())?;
        let accelerator = Accelerator::new(server.public(), Timing::default(), &mut |_| {});
        let mut accelerator = accelerator.map_err(DeviceError::new)?;
        accelerator.load_server_key(server, &evaluator).map_err(DeviceError::new)?;
        Ok(Self { accelerator, server: Arc::clone(server), memory, cycles })
    }

    /// The words of a residue, and the cycles that it took.
    fn residue(&self, value: &Natural, cost: super::PrimitiveCost) -> Vec<u64> {
        self.cycles.fetch_add(cost.cycles, Ordering::Relaxed);
        let mut words = value.words().to_vec();
        words.resize(self.server.public().words(), 0);
        words
    }
}

impl gh::Accelerator for Evaluation {
    fn method(&self) -> RecryptMethod {
        RecryptMethod::PairTable
    }

    fn multiply(&self, x: &[u64], y: &[u64]) -> Result<Vec<u64>, SchemeError> {
        let [x, y] = [x, y].map(|words| Natural::from_words(words.to_vec()));
        let (product, cost) = self.accelerator.multiply(&x, &y).map_err(DeviceError::new)?;
        Ok(self.residue(&product, cost))
    }

    fn recrypt(&self, x: &[u64]) -> Result<Vec<u64>, SchemeError> {
        let outcome = self.accelerator.recrypt(&Natural::from_words(x.to_vec()));
        if let (Some(result), cost) = outcome.map_err(DeviceError::new)? {
            return Ok(self.residue(&result, cost));
        }
        // The guard bits did not show that the candidates are right.
        let (public, fresh) = (self.server.public(), noise::fresh(self.server.params()));
        let method = RecryptMethod::PartialFft;
        let evaluator = Evaluator::new(&self.server, method, self.memory, Arithmetic::default())?;
        let ciphertext = Ciphertext::from_parts(public, x.to_vec(), fresh)?;
        Ok(evaluator.recrypt(&ciphertext)?.words().to_vec())
    }
}
