//! Methods that differ in their tables: which of them a limit of memory allows.

use super::{Error, Params};

/// A method of encryption or of recryption.
pub(super) trait Method: Copy + 'static {
    /// All, the fastest first, the one of the smallest tables last.
    const BY_SPEED: &'static [Self];

    /// Its name.
    fn title(self) -> &'static str;

    /// Bytes of its tables, about.
    fn bytes(self, params: &Params) -> u64;

    /// The fastest one whose tables fit.
    fn fastest(params: &Params, memory: u64) -> Result<Self, Error> {
        let fits = Self::BY_SPEED.iter().copied().find(|method| method.bytes(params) <= memory);
        // There is a last one.
        fits.ok_or_else(|| Self::BY_SPEED[Self::BY_SPEED.len() - 1].too_large(params, memory))
    }

    /// That its tables fit.
    fn check(self, params: &Params, memory: u64) -> Result<(), Error> {
        if self.bytes(params) > memory { Err(self.too_large(params, memory)) } else { Ok(()) }
    }

    /// The error that says what it takes, and what would fit.
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
