//! The name of a scheme.

use serde::{Serialize, Serializer};
use std::fmt;

/// An encryption scheme, by its name on the command line and in files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scheme(&'static str);

impl Scheme {
    /// The scheme of that name. Only for names of the registry.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name on the command line and in files.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Scheme {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
