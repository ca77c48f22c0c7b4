//! Kernels on little-endian slices of 64-bit words.
//!
//! A slice `a` represents the natural number `sum a[i] * 2^(64 i)`. Leading zero words are allowed everywhere, and an
//! empty slice is zero. Every function takes the same time whatever the values of the words (only the lengths count),
//! except those named `vartime_*`. If lengths do not fit, that is a bug of the caller inside this workspace, and the
//! function panics.
//!
//! - additions: [`add()`], [`add_to`], [`add_1`], [`sub`], [`sub_to`], [`sub_1`], [`neg`], and modulo `m` [`add_mod`],
//!   [`sub_mod`] and their `vartime_` forms;
//! - products: [`mul_1`], [`addmul_1`], [`submul_1`], schoolbook [`mul()`] and [`square`];
//! - shifts: [`shl`], [`shr`]; comparisons: [`vartime_compare`], [`lt`], [`eq`]; selections: [`select`], [`choose`],
//!   [`conditional_sub`], [`reduce_once`].

#[cfg(target_arch = "x86_64")]
mod adc;
mod add;
#[cfg(target_arch = "x86_64")]
mod adx;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod choice;
mod digits;
mod montgomery;
mod mul;
mod shift;
mod unit;

pub use add::{add, add_1, add_mod, add_to, neg, sub, sub_1, sub_mod, sub_to, vartime_add_mod, vartime_sub_mod};
pub use choice::{choose, conditional_sub, eq, lookup, lt, reduce_once, select, vartime_compare};
pub use montgomery::Montgomery;
pub use mul::{addmul_1, mul, mul_1, square, submul_1};
pub use shift::{shl, shr};
pub use unit::Multiplier;

/// Side of the blocks into which products are cut, in words.
const BLOCK: usize = 8;

#[cfg(test)]
mod tests;
