//! The kernels of Recrypt.

use crate::{Device, Error, Kernel, Module};

static CANDIDATES: Module = Module::new("gh_candidates", include_str!("../../ptx/gh_candidates.ptx"));
static COLUMNS: Module = Module::new("gh_columns", include_str!("../../ptx/gh_columns.ptx"));

#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) candidates: Kernel,
    pub(super) columns: Kernel,
}

impl Kernels {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let candidates = Kernel::load(device, &CANDIDATES, "gh_candidates")?;
        Ok(Self { candidates, columns: Kernel::load(device, &COLUMNS, "gh_columns")? })
    }
}
