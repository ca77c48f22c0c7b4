//! Private operations of RSA on the simulated exponentiator.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use solinas_bigint::Natural;
use solinas_rsa::{Backend, Power};

use super::exponentiator::{Exponentiator, Size, Task};
use crate::{BuildStage, Error, Timing};

/// An exponentiator for the two powers of a private operation. Primes of at most half the length of its moduli are computed
/// at the same time.
#[derive(Debug)]
pub struct PrivateOperations {
    exponentiator: Exponentiator,
    cycles: Arc<AtomicU64>,
}

impl PrivateOperations {
    /// The smallest exponentiator for a key of a given number of bits, whose primes have half of them. The model is built on first use;
    /// `progress` is called at each stage of that.
    ///
    /// # Errors
    /// [`Error::TooLong`] for more than 24,576 bits. The errors of [`Model::build`](crate::Model::build).
    pub fn new(bits: usize, timing: Timing, progress: &mut dyn FnMut(BuildStage)) -> Result<Self, Error> {
        let prime = bits.div_ceil(2);
        let fits = |size: &&Size| size.bits() / 2 >= prime || (size.bits() >= prime && prime > 6144);
        let size = [Size::Bits8192, Size::Bits12288].iter().find(fits);
        let most = 2 * Size::Bits12288.bits();
        let size = *size.ok_or(Error::TooLong { what: "the modulus", bits, most })?;
        let exponentiator = Exponentiator::new(size, timing, progress)?;
        Ok(Self { exponentiator, cycles: Arc::default() })
    }

    /// The cycles of all operations so far, with the loads of keys and exponents.
    pub fn cycles(&self) -> Arc<AtomicU64> {
        self.cycles.clone()
    }
}

impl Backend for PrivateOperations {
    fn powers(&mut self, powers: [Power<'_>; 2]) -> Result<[Natural; 2], String> {
        let tasks = powers.map(|Power { modulus, exponent, base }| Task {
            modulus,
            exponent,
            exponent_bits: modulus.bit_len(),
            base,
        });
        let half = self.exponentiator.size().bits() / 2;
        let groups = if tasks.iter().all(|task| task.modulus.bit_len() <= half) { vec![2] } else { vec![1, 1] };
        let (mut values, mut rest) = (Vec::new(), &tasks[..]);
        for count in groups {
            let (group, others) = rest.split_at(count);
            let powers = self.exponentiator.powers(group).map_err(|error| error.to_string())?;
            self.cycles.fetch_add(powers.cycles + powers.load_cycles, Ordering::Relaxed);
            values.extend(powers.values);
            rest = others;
        }
        values.try_into().map_err(|_| "the number of powers is not two".to_owned())
    }
}
