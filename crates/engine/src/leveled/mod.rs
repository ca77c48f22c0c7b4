//! The leveled schemes: plans and runs, the same for every scheme that implements `schemes::leveled::Leveled`.
//!
//! For bits, the exclusive or is a sum and the conjunction is a product. Vectors of integers modulo a prime lie in
//! slots.

mod depth;
mod engine;
mod entry;
mod hints;
mod plan;
mod slot_noise;

#[cfg_attr(not(feature = "gpu"), allow(unused_imports, reason = "devices use it"))]
pub(crate) use engine::OnDevice;

use solinas_schemes::leveled::Params as _;
use solinas_values::leveled::{ParamsOf, memory_bytes};

/// A leveled scheme with its advice to users.
pub(crate) trait Leveled: solinas_values::leveled::Leveled {
    /// Returns advice for a computation with a given number of products in a row. If the advice names a set of the
    /// scheme, the set is the one of `schemes::leveled::Leveled::deep_enough`.
    fn deeper_set_hint(params: &ParamsOf<Self>, products: usize) -> String;
}

/// Returns the number of products of one batch if the key and the work may take `budget` bytes. [`memory_bytes`] covers
/// the work of one product.
pub(crate) fn multiply_batch<S: Leveled>(params: &ParamsOf<S>, budget: u64) -> usize {
    match params.product_bytes() as u64 {
        0 => S::MULTIPLY_BATCH,
        each => {
            let more = budget.saturating_sub(memory_bytes::<S>(params) as u64) / each;
            (more + 1).min(S::MULTIPLY_BATCH as u64) as usize
        }
    }
}
