//! The kernels of `cuda/prime`.

use crate::{Device, Error, Kernel, Module};

static ROWS: Module = Module::new("prime_rows", include_str!("../../ptx/prime_rows.ptx"));
static COLUMNS: Module = Module::new("prime_columns", include_str!("../../ptx/prime_columns.ptx"));
static POINTWISE: Module = Module::new("prime_pointwise", include_str!("../../ptx/prime_pointwise.ptx"));
static CONVERT: Module = Module::new("prime_convert", include_str!("../../ptx/prime_convert.ptx"));
static RESCALE: Module = Module::new("prime_rescale", include_str!("../../ptx/prime_rescale.ptx"));

static HYBRID: Module = Module::new("prime_hybrid", include_str!("../../ptx/prime_hybrid.ptx"));
static MOD_DOWN: Module = Module::new("prime_mod_down", include_str!("../../ptx/prime_mod_down.ptx"));
static TENSOR: Module = Module::new("prime_tensor", include_str!("../../ptx/prime_tensor.ptx"));

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
    pub(super) convert: Kernel,
    pub(super) digits: Kernel,
    pub(super) dot: Kernel,
    pub(super) shares: Kernel,
    pub(super) special: Kernel,
    pub(super) switch_down: Kernel,
    pub(super) add_quotient: Kernel,
    pub(super) tensor: Kernel,
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
            convert: load(&CONVERT, "prime_convert")?,
            digits: load(&HYBRID, "prime_digits")?,
            dot: load(&HYBRID, "prime_dot")?,
            shares: load(&MOD_DOWN, "prime_shares")?,
            special: load(&MOD_DOWN, "prime_special")?,
            switch_down: load(&MOD_DOWN, "prime_switch_down")?,
            tensor: load(&TENSOR, "prime_tensor")?,
            add_quotient: load(&MOD_DOWN, "prime_add_quotient")?,
        })
    }
}
