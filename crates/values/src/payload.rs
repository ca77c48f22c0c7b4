//! The contents of a ciphertext, as all schemes have them.

use crate::{Condition, Error, Form, KeyId, Scheme, Type};
use solinas_circuits::program::Shape;
use solinas_formats::{Destination, Header, Writer};
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The statements of the header of a ciphertext file about the elements.
pub(crate) struct CiphertextHeader {
    pub(crate) ty: Type,
    pub(crate) form: Form,
    /// Whether there is one element without a shape, which combines with every element of an array.
    pub(crate) scalar: bool,
    pub(crate) count: usize,
}

/// The contents of a ciphertext: encrypted elements of one type, with their noise.
pub trait Payload: Any + Debug + Send + Sync {
    /// The scheme.
    fn scheme(&self) -> Scheme;

    /// Name of the parameter set.
    fn params_name(&self) -> &str;

    /// Number of elements.
    fn len(&self) -> usize;

    /// Whether it is an array without elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that [`Self::get`] takes for an element, beside what the elements share.
    fn element_bytes(&self) -> u64;

    /// The element at that index.
    ///
    /// # Errors
    /// [`Error::Index`] if there is none; [`Error::Packed`] if it shares a ciphertext with others.
    fn get(&self, index: usize) -> Result<Arc<dyn Payload>, Error>;

    /// The elements of a range, which is not empty and ends at [`Self::len`] or before.
    ///
    /// # Errors
    /// As [`Self::get`].
    fn slice(&self, range: Range<usize>) -> Result<Arc<dyn Payload>, Error> {
        let first = self.get(range.start)?;
        let others = (range.start + 1..range.end).map(|index| self.get(index)).collect::<Result<Vec<_>, _>>()?;
        first.concat(&others)
    }

    /// These elements, followed by those of others.
    ///
    /// # Errors
    /// [`Error::SchemeMismatch`] or [`Error::ForeignParams`] for others; [`Error::Packed`] if elements share a ciphertext.
    fn concat(&self, others: &[Arc<dyn Payload>]) -> Result<Arc<dyn Payload>, Error>;

    /// Whether the elements can be decrypted but not computed with.
    fn is_compact(&self) -> bool {
        false
    }

    /// Whether the others have the same contents.
    fn equals(&self, other: &dyn Payload) -> bool;

    /// The remaining capacity for operations. `None` if operations do not use any up.
    fn condition(&self) -> Option<Condition> {
        None
    }

    /// The header of a file of the elements.
    ///
    /// # Errors
    /// From the header.
    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error>;

    /// Writes the sections of a file.
    ///
    /// # Errors
    /// From the writer.
    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// A shape as ciphertexts have it: none for a scalar.
pub fn sizes(shape: &Shape) -> Option<Vec<usize>> {
    (!shape.is_empty()).then(|| shape.to_vec())
}

/// The contents as elements of a scheme.
///
/// # Errors
/// [`Error::SchemeMismatch`] for the elements of another scheme.
pub fn downcast<E: Payload>(elements: &dyn Payload, want: Scheme) -> Result<&E, Error> {
    let any: &dyn Any = elements;
    any.downcast_ref().ok_or_else(|| Error::SchemeMismatch {
        what: "the ciphertext".into(),
        got: elements.scheme(),
        want,
    })
}
