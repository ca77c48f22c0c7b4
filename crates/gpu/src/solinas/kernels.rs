//! The kernels of transforms over the field.

use crate::{Device, Error, Kernel, Module};

static ROWS: Module = Module::new("solinas_rows", include_str!("../../ptx/solinas_rows.ptx"));
static ROWS_LONG: Module = Module::new("solinas_rows_long", include_str!("../../ptx/solinas_rows_long.ptx"));
static COLUMNS: Module = Module::new("solinas_columns", include_str!("../../ptx/solinas_columns.ptx"));
static ROOT: Module = Module::new("solinas_root", include_str!("../../ptx/solinas_root.ptx"));
static DIGITS: Module = Module::new("solinas_digits", include_str!("../../ptx/solinas_digits.ptx"));
static PRODUCT: Module = Module::new("solinas_product", include_str!("../../ptx/solinas_product.ptx"));
static COEFFICIENTS: Module = Module::new("carry_coefficients", include_str!("../../ptx/carry_coefficients.ptx"));
static RESOLVE: Module = Module::new("carry_resolve", include_str!("../../ptx/carry_resolve.ptx"));

/// Forward and inverse kernels.
pub(super) type Both = [Kernel; 2];

fn both(device: &Device, module: &'static Module, name: impl Fn(&str) -> String) -> Result<Both, Error> {
    let load = |direction| Kernel::load(device, module, &name(direction));
    Ok([load("forward")?, load("inverse")?])
}

/// The passes over rows of `2^log` points, log at most 12.
pub(super) fn rows(device: &Device, log: u32) -> Result<Both, Error> {
    let module = if log <= 8 { &ROWS } else { &ROWS_LONG };
    both(device, module, |direction| format!("solinas_{direction}_rows_{log}"))
}

/// The passes over columns of `2^log` points.
pub(super) fn columns(device: &Device, log: u32) -> Result<Both, Error> {
    both(device, &COLUMNS, |direction| format!("solinas_{direction}_columns_{log}"))
}

/// The pass of `odd` points.
pub(super) fn root(device: &Device, odd: usize) -> Result<Both, Error> {
    both(device, &ROOT, |direction| format!("solinas_{direction}_root_{odd}"))
}

/// The kernels of products alone.
#[derive(Debug)]
pub(super) struct Products {
    /// Digits, and the first pass over columns.
    pub(super) digits: Option<Kernel>,
    pub(super) rows: Kernel,
    pub(super) coefficients: Kernel,
    pub(super) resolve: Kernel,
}

impl Products {
    /// Loads the kernels of products whose first pass over columns has `2^log` points, or of transforms with an odd factor.
    pub(super) fn new(device: &Device, first: Option<u32>) -> Result<Self, Error> {
        let digits = first.map(|log| Kernel::load(device, &DIGITS, &format!("solinas_digit_columns_{log}")));
        Ok(Self {
            digits: digits.transpose()?,
            rows: Kernel::load(device, &PRODUCT, "solinas_product_rows")?,
            coefficients: Kernel::load(device, &COEFFICIENTS, "carry_coefficients")?,
            resolve: Kernel::load(device, &RESOLVE, "carry_resolve")?,
        })
    }
}
