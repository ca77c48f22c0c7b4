//! Methods with different tables, and the choice among them within a memory limit.

use super::{Error, Params};

/// A method of encryption or of recryption.
pub(super) trait Method: Copy + 'static {
    /// All methods, the fastest first. The last one has the smallest tables.
    const BY_SPEED: &'static [Self];

    /// Name of the method.
    fn title(self) -> &'static str;

    /// Approximate bytes of the method's tables.
    fn bytes(self, params: &Params) -> u64;

    /// Returns the fastest method whose tables fit in `memory` bytes.
    fn fastest(params: &Params, memory: u64) -> Result<Self, Error> {
        let fits = Self::BY_SPEED.iter().copied().find(|method| method.bytes(params) <= memory);
        // BY_SPEED is not empty.
        fits.ok_or_else(|| Self::BY_SPEED[Self::BY_SPEED.len() - 1].too_large(params, memory))
    }

    /// Checks that the method's tables fit in `memory` bytes.
    fn check(self, params: &Params, memory: u64) -> Result<(), Error> {
        if self.bytes(params) > memory { Err(self.too_large(params, memory)) } else { Ok(()) }
    }

    /// Returns the error with the memory that the method needs and an alternative that fits.
    fn too_large(self, params: &Params, memory: u64) -> Error {
        let least = Self::BY_SPEED.iter().map(|method| method.bytes(params)).min().unwrap_or(0);
        let smaller = Self::BY_SPEED.iter().find(|method| method.bytes(params) <= memory);
        let smallest = || format!("choose a smaller parameter set: the least is {} MiB", least.div_ceil(1 << 20));
        Error::Memory {
            what: self.title(),
            params: Some(params.name().into()),
            need_mib: self.bytes(params).div_ceil(1 << 20),
            limit_mib: memory >> 20,
            alternative: smaller.map_or_else(smallest, |method| format!("choose {}", method.title())),
        }
    }
}
