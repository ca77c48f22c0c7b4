//! Libraries of the system that are found at run time. Nothing of theirs is linked or shipped.

use std::ffi::{CStr, OsString, c_char};

pub use libloading;
use libloading::Library;

/// Declares a struct with the functions of a library that we call.
#[macro_export]
macro_rules! functions {
    ($(#[$meta:meta])* $name:ident { $($field:ident = $symbol:literal: fn($($arg:ty),* $(,)?) $(-> $ret:ty)?;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        struct $name {
            $($field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl $name {
            /// Looks up all functions.
            fn load(library: &'static $crate::dynamic::libloading::Library)
                -> Result<Self, $crate::dynamic::libloading::Error> {
                Ok(Self {
                    $(
                        $field: {
                            type Function = unsafe extern "C" fn($($arg),*) $(-> $ret)?;
                            let symbol = $symbol.as_bytes();
                            // SAFETY: the signature is the one of the library's header.
                            *unsafe { library.get::<Function>(symbol)? }
                        },
                    )*
                })
            }
        }
    };
}

/// Opens the first of these libraries that is found. It stays open until the process ends.
pub fn open(names: impl IntoIterator<Item = OsString>) -> Option<&'static Library> {
    names.into_iter().find_map(|name| {
        // SAFETY: the initialisers of these libraries have no preconditions.
        unsafe { Library::new(&name) }.ok().map(|library| &*Box::leak(Box::new(library)))
    })
}

/// Copies a text that the library never frees.
///
/// # Safety
/// `text` must point to a C string that does not change.
pub unsafe fn text(text: *const c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
