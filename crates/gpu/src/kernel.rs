//! Kernels that a device has loaded.

use crate::driver::KernelId;
use crate::{Device, Error, Module};

/// A kernel that a device has loaded.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub(crate) device: Device,
    pub(crate) id: KernelId,
    pub(crate) name: String,
    /// Size of each parameter in bytes.
    pub(crate) parameters: Vec<u32>,
    /// Largest number of threads of a block.
    pub(crate) threads: u32,
}

impl Kernel {
    /// Loads a kernel of a module.
    ///
    /// # Errors
    /// [`Error::Launch`] if the module has no such kernel, or if its text is not PTX; the errors of the driver.
    pub fn load(device: &Device, module: &'static Module, name: &str) -> Result<Self, Error> {
        let parsed = module.parsed()?;
        let kernel = parsed.kernel(name).ok_or_else(|| module.fault(format!("it has no kernel {name}")))?;
        let parameters = kernel.parameters().iter().map(|parameter| parameter.bytes).collect();
        let threads = kernel.max_threads().unwrap_or(1024);
        let id = device.driver().kernel(module, name)?;
        Ok(Self { device: device.clone(), id, name: name.into(), parameters, threads })
    }

    /// Largest number of threads of a block.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    pub(crate) fn fault(&self, problem: String) -> Error {
        Error::Launch { kernel: self.name.clone(), problem }
    }
}
