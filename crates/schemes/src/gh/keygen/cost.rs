//! The cost of key generation.

use super::super::encrypt::{Bulk, SPECTRUM_FACTOR};
use super::super::{Error, Params};

/// Work of the stages on one thread. The unit is one transform of the length of a product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    /// One level of the splitting: sixteen transforms of about full length, and packing.
    pub(super) level: usize,
    /// The inverse of `w_1` (measured) and the powers of `r`.
    pub(super) root: usize,
    pub(super) squash: usize,
    pub(super) indicators: usize,
}

/// Transforms of an inverse for each bit of the logarithm of its length. Measured at the sets small and medium.
const INVERSE: usize = 15;

impl Costs {
    /// Costs on `threads` threads.
    pub(super) fn new(params: &Params, threads: usize) -> Self {
        let threads = threads.max(1);
        let log2 = |x: usize| x.ilog2() as usize + 1;
        let exponent_bits = log2(params.ratio_bits() * params.candidates());
        let (n, s) = (params.dimension(), params.blocks());
        Self {
            level: 20usize.div_ceil(threads.min(2)),
            root: INVERSE * log2(64 * params.words()) + 10 * log2(n),
            squash: 10 * exponent_bits + 5 * s.div_ceil(threads),
            indicators: Bulk::transforms(params, s * params.indicators()).div_ceil(threads),
        }
    }

    pub(super) fn total(&self, params: &Params) -> usize {
        self.level * params.dimension().ilog2() as usize + self.root + self.squash + self.indicators
    }
}

/// Approximate upper bound of the bytes that key generation takes on the current thread pool, including the server key.
pub fn memory(params: &Params) -> u64 {
    let residue = 8 * params.words() as u64;
    let threads = rayon::current_num_threads();
    let bulk = Bulk::memory(params, params.blocks() * params.indicators(), threads);
    // Memory that stays after the splitting and the inverse: the buffers of every thread for its longest product, and
    // the plans of all lengths. Measured at medium.
    let kept = residue * SPECTRUM_FACTOR * (45 + 15 * threads as u64);
    let code = 16 << 20;
    8 * params.server_key_words() as u64 + bulk + kept + code
}

/// Checks that key generation fits in `limit` bytes.
///
/// # Errors
/// [`Error::Memory`] if it does not fit. It names the largest set that fits.
pub fn check_memory(params: &Params, limit: u64) -> Result<(), Error> {
    let need = memory(params);
    if need <= limit {
        return Ok(());
    }
    let sets = Params::names().into_iter().filter_map(|name| Params::named(name).ok());
    let fitting = sets.filter(|set| memory(set) <= limit).max_by_key(Params::server_key_words);
    Err(Error::Memory {
        what: "key generation",
        params: Some(params.name().into()),
        need_mib: need.div_ceil(1 << 20),
        limit_mib: limit >> 20,
        alternative: fitting.map_or_else(
            || "choose a machine with more memory".into(),
            |set| format!("choose parameters {:?}", set.name()),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_keys_are_made_within_their_memory_and_smaller_ones_named_where_they_are_not() {
        let [toy, medium, large] = ["toy", "medium", "large"].map(|name| Params::named(name).unwrap());
        assert!(memory(&toy) < memory(&medium) && memory(&medium) < memory(&large));
        assert!(memory(&large) < 12 << 30, "{}", memory(&large));
        check_memory(&large, 20 << 30).unwrap();
        let message = check_memory(&large, memory(&medium)).unwrap_err().to_string();
        assert!(message.contains("\"medium\"") && message.contains("\"large\""), "{message}");
        assert!(check_memory(&toy, 1 << 10).unwrap_err().to_string().contains("a machine with more memory"));
    }
}
