//! Keys that an object borrows or shares.

use core::fmt;
use std::sync::Arc;

/// A borrowed or shared key.
pub(crate) enum Held<'a, Key> {
    Borrowed(&'a Key),
    Shared(Arc<Key>),
}

impl<Key> core::ops::Deref for Held<'_, Key> {
    type Target = Key;

    fn deref(&self) -> &Key {
        match self {
            Self::Borrowed(key) => key,
            Self::Shared(key) => key,
        }
    }
}

impl<Key: fmt::Debug> fmt::Debug for Held<'_, Key> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
