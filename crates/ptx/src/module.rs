//! Modules and kernels.

use std::sync::Arc;

use crate::error::ParseError;
use crate::isa::{Program, program};
use crate::syntax::{self, Parameter};

/// A kernel of a module.
#[derive(Debug)]
pub struct Kernel {
    program: Program,
}

impl Kernel {
    /// The name of the entry.
    pub fn name(&self) -> &str {
        &self.program.entry.name
    }

    /// The parameters in their order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.program.entry.parameters
    }

    /// Static shared memory of a block, bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.program.entry.shared_bytes
    }

    /// The largest number of threads in a block, if the kernel states one (`.maxntid`).
    pub fn max_threads(&self) -> Option<u32> {
        self.program.entry.max_threads
    }

    /// Number of instructions in the text.
    pub fn instructions(&self) -> usize {
        self.program.entry.statements.len()
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }
}

/// A PTX file.
#[derive(Debug)]
pub struct Module {
    kernels: Vec<Kernel>,
}

impl Module {
    /// Reads PTX text.
    ///
    /// # Errors
    /// [`ParseError`] names the first instruction, modifier or type that the interpreter does not know.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let file = syntax::parse(text)?;
        let constants: Arc<[u8]> = file.constants.into();
        let kernels =
            file.entries.into_iter().map(|entry| Ok(Kernel { program: program(entry, Arc::clone(&constants))? }));
        Ok(Self { kernels: kernels.collect::<Result<_, ParseError>>()? })
    }

    /// The kernels in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.iter()
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name() == name)
    }
}
