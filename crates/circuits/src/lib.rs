//! Boolean and table-lookup circuits: builders, optimiser, import, export, plain evaluation.
#![forbid(unsafe_code)]
pub mod lut;
pub mod program;
pub mod radix;
