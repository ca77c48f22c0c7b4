//! The contents of a ciphertext, as all schemes have them.

use crate::{Condition, Error, Form, KeyId, Scheme, Type};
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
pub(crate) trait Payload: Any + Debug + Send + Sync {
    fn scheme(&self) -> Scheme;

    /// Name of the parameter set.
    fn params_name(&self) -> &str;

    fn len(&self) -> usize;

    /// Bytes of memory that [`Self::get`] takes for an element, beside what the elements share.
    fn element_bytes(&self) -> u64;

    /// The element at that index.
    fn get(&self, index: usize) -> Result<Arc<dyn Payload>, Error>;

    /// The elements of a range, which is not empty and ends at [`Self::len`] or before.
    fn slice(&self, range: Range<usize>) -> Result<Arc<dyn Payload>, Error> {
        let first = self.get(range.start)?;
        let others = (range.start + 1..range.end).map(|index| self.get(index)).collect::<Result<Vec<_>, _>>()?;
        first.concat(&others)
    }

    /// These elements, followed by those of others.
    fn concat(&self, others: &[Arc<dyn Payload>]) -> Result<Arc<dyn Payload>, Error>;

    /// Whether the elements can be decrypted but not computed with.
    fn is_compact(&self) -> bool {
        false
    }

    fn equals(&self, other: &dyn Payload) -> bool;

    /// The remaining capacity for operations. `None` if operations do not use any up.
    fn condition(&self) -> Option<Condition> {
        None
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// The contents as elements of a scheme.
///
/// # Errors
/// [`Error::SchemeMismatch`] for the elements of another scheme.
pub(crate) fn downcast<E: Payload>(elements: &dyn Payload, want: Scheme) -> Result<&E, Error> {
    let any: &dyn Any = elements;
    any.downcast_ref().ok_or_else(|| Error::SchemeMismatch {
        what: "the ciphertext".into(),
        got: elements.scheme(),
        want,
    })
}
