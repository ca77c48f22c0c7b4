//! The peers, found on this machine when the program runs. Nothing of theirs is linked in or shipped.

mod crypto;
mod flint;
mod gmp;
pub mod malachite;

use std::ffi::{CStr, OsString, c_char};

use libloading::Library;

pub use crypto::Crypto;
pub use flint::Flint;
pub use gmp::Gmp;

/// The functions of a library that we call.
macro_rules! functions {
    ($(#[$meta:meta])* $name:ident { $($field:ident = $symbol:literal: fn($($arg:ty),* $(,)?) $(-> $ret:ty)?;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        struct $name {
            $($field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl $name {
            /// Finds them all.
            fn load(library: &'static libloading::Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $(
                        // SAFETY: the signature is the one of the library's header.
                        $field: *unsafe { library.get::<unsafe extern "C" fn($($arg),*) $(-> $ret)?>($symbol.as_bytes())? },
                    )*
                })
            }
        }
    };
}
use functions;

/// A library by the first of these names that is found, kept until the process ends.
fn open(names: impl IntoIterator<Item = OsString>) -> Option<&'static Library> {
    names.into_iter().find_map(|name| {
        // SAFETY: the initialisers of these libraries have no preconditions.
        unsafe { Library::new(&name) }.ok().map(|library| &*Box::leak(Box::new(library)))
    })
}

/// Text behind a pointer that the library keeps for ever.
///
/// # Safety
/// `text` must point to a C string that stays as it is.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Those that were found.
pub struct Peers {
    /// GMP: the reference of all results as well.
    pub gmp: Option<Gmp>,
    /// FLINT, perhaps in several versions.
    pub flint: Vec<Flint>,
    /// OpenSSL's libcrypto.
    pub crypto: Option<Crypto>,
}

impl Peers {
    /// Looks for all.
    pub fn find() -> Self {
        Self { gmp: Gmp::find(), flint: Flint::find(), crypto: Crypto::find() }
    }

    /// A line for each: its version, or how to get it.
    pub fn lines(&self) -> Vec<String> {
        let missing = |name: &str, how: &str| format!("{name}: not found; {how}");
        let mut lines = Vec::new();
        lines.push(match &self.gmp {
            Some(gmp) => format!("GMP {}", gmp.version()),
            None => missing("GMP", "install libgmp (Debian: libgmp10)"),
        });
        lines.extend(self.flint.iter().map(|flint| match flint.has_fft_small() {
            true => format!("{} with fft_small", flint.column()),
            false => format!("{} without fft_small: ./flint.sh builds one that has it", flint.column()),
        }));
        if self.flint.is_empty() {
            let how = "build it with ./flint.sh and name the library in SOLINAS_FLINT=/path/to/libflint.so (README.md)";
            lines.push(missing("FLINT", how));
        }
        lines.push(match &self.crypto {
            Some(crypto) => crypto.version(),
            None => missing("OpenSSL", "install libcrypto (Debian: libssl3)"),
        });
        lines.push(malachite::VERSION.into());
        lines
    }
}
