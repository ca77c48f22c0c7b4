//! Stands in for `libloading` on platforms without dynamic libraries: nothing can be loaded there.

use std::fmt;
use std::path::Path;

/// A library, of which there is none.
#[derive(Debug)]
pub(crate) enum Library {}

/// The reason.
#[derive(Debug)]
pub(crate) struct Error;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this platform has no dynamic libraries")
    }
}

impl Library {
    /// Fails.
    ///
    /// # Safety
    /// It does nothing.
    pub(crate) unsafe fn new(_: &Path) -> Result<Self, Error> {
        Err(Error)
    }

    /// Cannot be called.
    ///
    /// # Safety
    /// It does nothing.
    pub(crate) unsafe fn get<F>(&self, _: &str) -> Result<&F, Error> {
        match *self {}
    }
}
