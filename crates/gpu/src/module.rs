//! Modules: the PTX files that are part of the executable.

use crate::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The kernels of one PTX file. They are part of the executable, and a device loads them at their first use.
pub struct Module {
    name: &'static str,
    text: &'static str,
    parsed: OnceLock<Result<Arc<solinas_ptx::Module>, String>>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Module {
    /// Makes a module of the text of a PTX file. `name` is for messages.
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, parsed: OnceLock::new() }
    }

    /// The name for messages.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The PTX.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The parsed PTX.
    pub(crate) fn parsed(&self) -> Result<Arc<solinas_ptx::Module>, Error> {
        let parse = || solinas_ptx::Module::parse(self.text).map(Arc::new).map_err(|error| error.to_string());
        self.parsed.get_or_init(parse).clone().map_err(|problem| self.fault(problem))
    }

    /// The error for a problem with the module.
    pub(crate) fn fault(&self, problem: String) -> Error {
        Error::Launch { kernel: self.name.into(), problem }
    }
}
