//! The kernels of complex transforms and of the carries behind them.

use crate::{Device, Error, Kernel, Module};

static DIGITS: Module = Module::new("complex_digits", include_str!("../../ptx/complex_digits.ptx"));
static COLUMNS: Module = Module::new("complex_columns", include_str!("../../ptx/complex_columns.ptx"));
static BRANCHES: Module = Module::new("complex_branches", include_str!("../../ptx/complex_branches.ptx"));
static POINTWISE: Module = Module::new("complex_pointwise", include_str!("../../ptx/complex_pointwise.ptx"));
static SUMS: Module = Module::new("complex_sums", include_str!("../../ptx/complex_sums.ptx"));
static ROUND: Module = Module::new("complex_round", include_str!("../../ptx/complex_round.ptx"));
static COEFFICIENTS: Module = Module::new("carry_coefficients", include_str!("../../ptx/carry_coefficients.ptx"));
static RESOLVE: Module = Module::new("carry_resolve", include_str!("../../ptx/carry_resolve.ptx"));
static WRAP: Module = Module::new("carry_wrap", include_str!("../../ptx/carry_wrap.ptx"));

/// The kernels of a plan on a device.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) digits: Kernel,
    pub(super) round: Kernel,
    /// The kernels that split and join, for each pass over columns.
    pub(super) columns: Vec<[Kernel; 2]>,
    pub(super) forward: Kernel,
    pub(super) inverse: Kernel,
    pub(super) product: Kernel,
    pub(super) square: Kernel,
    pub(super) kept: Kernel,
    pub(super) multiply: Kernel,
    pub(super) multiply_add: Kernel,
    pub(super) sums: Kernel,
    pub(super) coefficients: Kernel,
    pub(super) resolve: Kernel,
    pub(super) wrap: Kernel,
}

impl Kernels {
    /// Loads the kernels for a first stage of radix `first`, and for passes over columns of these radices.
    pub(super) fn new(device: &Device, first: usize, columns: &[usize]) -> Result<Self, Error> {
        let load = |module, name: &str| Kernel::load(device, module, name);
        let pass = |radix| {
            let [split, join] = ["split", "join"].map(|way| load(&COLUMNS, &format!("complex_{way}_{radix}")));
            Ok::<_, Error>([split?, join?])
        };
        Ok(Self {
            digits: load(&DIGITS, &format!("complex_digits_{first}"))?,
            round: load(&ROUND, &format!("complex_round_{first}"))?,
            columns: columns.iter().map(pass).collect::<Result<_, _>>()?,
            forward: load(&BRANCHES, "complex_forward")?,
            inverse: load(&BRANCHES, "complex_inverse")?,
            product: load(&BRANCHES, "complex_product")?,
            square: load(&BRANCHES, "complex_square")?,
            kept: load(&BRANCHES, "complex_kept")?,
            multiply: load(&POINTWISE, "complex_multiply")?,
            multiply_add: load(&POINTWISE, "complex_multiply_add")?,
            sums: load(&SUMS, "complex_sums")?,
            coefficients: load(&COEFFICIENTS, "carry_coefficients")?,
            resolve: load(&RESOLVE, "carry_resolve")?,
            wrap: load(&WRAP, "carry_wrap")?,
        })
    }
}
