//! Libraries of the system, found when the program runs. Nothing of theirs is linked in or shipped.

use std::ffi::{CStr, OsString, c_char};

use libloading::Library;

/// The functions of a library that we call.
#[macro_export]
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

/// A library by the first of these names that is found, kept until the process ends.
pub fn open(names: impl IntoIterator<Item = OsString>) -> Option<&'static Library> {
    names.into_iter().find_map(|name| {
        // SAFETY: the initialisers of these libraries have no preconditions.
        unsafe { Library::new(&name) }.ok().map(|library| &*Box::leak(Box::new(library)))
    })
}

/// Text behind a pointer that the library keeps for ever.
///
/// # Safety
/// `text` must point to a C string that stays as it is.
pub unsafe fn text(text: *const c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
