//! The kernels of `cuda/prime`.

use crate::{Device, Error, Kernel, Module};

static ROWS: Module = Module::new("prime_rows", include_str!("../../ptx/prime_rows.ptx"));
static COLUMNS: Module = Module::new("prime_columns", include_str!("../../ptx/prime_columns.ptx"));
static POINTWISE: Module = Module::new("prime_pointwise", include_str!("../../ptx/prime_pointwise.ptx"));
static RESCALE: Module = Module::new("prime_rescale", include_str!("../../ptx/prime_rescale.ptx"));

/// Threads of a block of every kernel.
pub(super) const BLOCK: u32 = 256;
/// Words that a block of a transform handles.
pub(super) const TILE: u32 = 4096;

/// The kernels that a device has loaded.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) forward_rows: Kernel,
    pub(super) inverse_rows: Kernel,
    pub(super) forward_columns: Kernel,
    pub(super) inverse_columns: Kernel,
    pub(super) multiply: Kernel,
    pub(super) multiply_add: Kernel,
    pub(super) add: Kernel,
    pub(super) sub: Kernel,
    pub(super) scale: Kernel,
    pub(super) permute: Kernel,
    pub(super) correction: Kernel,
    pub(super) divide: Kernel,
}

impl Kernels {
    /// Loads the kernels.
    ///
    /// # Errors
    /// The errors of the device.
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let load = |module: &'static Module, name| Kernel::load(device, module, name);
        Ok(Self {
            forward_rows: load(&ROWS, "prime_forward_rows")?,
            inverse_rows: load(&ROWS, "prime_inverse_rows")?,
            forward_columns: load(&COLUMNS, "prime_forward_columns")?,
            inverse_columns: load(&COLUMNS, "prime_inverse_columns")?,
            multiply: load(&POINTWISE, "prime_multiply")?,
            multiply_add: load(&POINTWISE, "prime_multiply_add")?,
            add: load(&POINTWISE, "prime_add")?,
            sub: load(&POINTWISE, "prime_sub")?,
            scale: load(&POINTWISE, "prime_scale")?,
            permute: load(&POINTWISE, "prime_permute")?,
            correction: load(&RESCALE, "prime_correction")?,
            divide: load(&RESCALE, "prime_divide")?,
        })
    }
}
