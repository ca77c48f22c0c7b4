//! The leveled schemes BGV, NTRU and LWE: keys and ciphertexts, the same for every scheme that implements [`leveled::Leveled`].

mod entry;
mod keys;
mod payload;

pub(crate) use keys::info;
pub use keys::{Server, trivial};
pub use payload::{Elements, form_of, packed, polynomial_bytes, slot_type};

use crate::Scheme;
use solinas_formats::CiphertextFiles;
use solinas_schemes::leveled;

/// A leveled scheme with its files.
pub trait Leveled: CiphertextFiles {
    /// The scheme. Its name is the name in its files.
    const SCHEME: Scheme = Scheme::new(<Self as leveled::Leveled>::NAME);
}

impl<S: CiphertextFiles> Leveled for S {}

/// The parameters of a scheme.
pub type ParamsOf<S> = <S as leveled::Leveled>::Params;

/// Returns the bytes of a server key in memory and of the work of one product, without optional rotation keys.
pub fn memory_bytes<S: Leveled>(params: &ParamsOf<S>) -> usize {
    S::memory_bytes(params, S::stored_server_bytes(params))
}
