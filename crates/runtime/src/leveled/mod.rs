//! The leveled schemes: keys, ciphertexts, plans and runs, the same for every scheme that implements [`leveled::Leveled`].
//!
//! For bits, the exclusive or is a sum and the conjunction is a product. Vectors of integers modulo a prime lie in
//! slots.

mod depth;
mod engine;
mod entry;
mod hints;
mod keys;
mod payload;
mod plan;
mod slot_noise;

#[cfg_attr(not(feature = "gpu"), allow(unused_imports, reason = "devices use it"))]
pub(crate) use engine::OnDevice;
pub(crate) use keys::info;

use crate::Scheme;
use solinas_formats::CiphertextFiles;
use solinas_schemes::leveled::{self, Params as _};

/// A leveled scheme with its files.
pub(crate) trait Leveled: CiphertextFiles {
    /// The scheme. Its name is the name in its files.
    const SCHEME: Scheme = Scheme::new(<Self as leveled::Leveled>::NAME);

    /// Returns advice for a computation with a given number of products in a row. If the advice names a set of the
    /// scheme, the set is the one of [`leveled::Leveled::deep_enough`].
    fn deeper_set_hint(params: &ParamsOf<Self>, products: usize) -> String;
}

/// The parameters of a scheme.
pub(crate) type ParamsOf<S> = <S as leveled::Leveled>::Params;

/// Returns the bytes of a server key in memory and of the work of one product, without optional rotation keys.
pub(crate) fn memory_bytes<S: Leveled>(params: &ParamsOf<S>) -> usize {
    S::memory_bytes(params, S::stored_server_bytes(params))
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
