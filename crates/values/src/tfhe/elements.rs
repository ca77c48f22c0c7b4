//! Elements of ciphertexts as LWE ciphertexts.

use super::blocks::Blocks;
use super::params::{SCHEME, form_of};
use crate::form::Form;
use crate::scheme::{self, downcast};
use crate::{Ciphertext, Error, KeyId, Scheme, Type};
use solinas_formats::{Destination, Header, Kind, Reader, Writer, tfhe as files};
use solinas_schemes::tfhe::Params;
use std::ops::Range;
use std::sync::Arc;

/// Encrypted elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Elements {
    /// The parameter set.
    pub params: Params,
    /// Noise weight of the blocks of an element: every sum of them has at most this many times the variance that the same sum of independent bootstraps has.
    /// It is 1 for fresh blocks, and for those whose noise no other block has, unless its mask is equal or opposite.
    pub weight: u64,
    /// The blocks of each element.
    pub blocks: Blocks,
}

/// The field of a header that holds [`Elements::weight`].
const WEIGHT: &str = "noise";

impl Elements {
    /// Returns the elements of a ciphertext.
    ///
    /// # Errors
    /// [`Error::SchemeMismatch`] for a ciphertext of another scheme.
    pub fn of(ciphertext: &Ciphertext) -> Result<&Self, Error> {
        ciphertext.elements_of(SCHEME)
    }

    /// Checks that the elements are of this set.
    ///
    /// # Errors
    /// [`Error::ForeignParams`].
    pub fn check_params(&self, what: &str, want: &Params) -> Result<(), Error> {
        if self.params == *want {
            return Ok(());
        }
        let text = |params: &Params| format!("{} of dimension {}", params.name(), params.literal().lwe_dimension);
        Err(Error::ForeignParams { what: what.into(), got: text(&self.params), want: text(want) })
    }

    /// Returns other blocks with the same parameters and noise.
    fn like(&self, blocks: Blocks) -> Self {
        Self { params: self.params.clone(), weight: self.weight, blocks }
    }

    pub(super) fn read(reader: &Reader, ty: Type, form: Form, count: usize) -> Result<Self, Error> {
        let params = files::params(reader)?;
        if form == Form::Slots || form_of(&params) == Form::Bits && form == Form::Radix {
            return Err(reader.field("form", "the parameter set holds single bits").into());
        }
        let most = params.max_weight() as u64;
        let weight = reader.meta(WEIGHT)?;
        if weight > most {
            return Err(reader.field(WEIGHT, "the noise is more than the parameter set allows").into());
        }
        let blocks = Blocks::read(reader, &params, ty, form, count)?;
        Ok(Self { params, weight, blocks })
    }
}

impl scheme::Payload for Elements {
    fn scheme(&self) -> Scheme {
        SCHEME
    }

    fn params_name(&self) -> &str {
        self.params.name()
    }

    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn element_bytes(&self) -> u64 {
        self.blocks.element_bytes(&self.params)
    }

    fn get(&self, index: usize) -> Result<Arc<dyn scheme::Payload>, Error> {
        if index >= self.blocks.len() {
            return Err(Error::Index { index, len: self.blocks.len() });
        }
        Ok(Arc::new(self.like(self.blocks.slice(index..index + 1))))
    }

    fn slice(&self, range: Range<usize>) -> Result<Arc<dyn scheme::Payload>, Error> {
        Ok(Arc::new(self.like(self.blocks.slice(range))))
    }

    fn concat(&self, others: &[Arc<dyn scheme::Payload>]) -> Result<Arc<dyn scheme::Payload>, Error> {
        let others = others.iter().map(|other| downcast::<Self>(&**other, SCHEME)).collect::<Result<Vec<_>, _>>()?;
        others.iter().try_for_each(|other| other.check_params("an element", &self.params))?;
        let weight = others.iter().map(|other| other.weight).fold(self.weight, u64::max);
        let blocks = self.blocks.concat(&self.params, others.iter().map(|other| &other.blocks))?;
        Ok(Arc::new(Self { weight, ..self.like(blocks) }))
    }

    fn is_compact(&self) -> bool {
        self.blocks.is_compact()
    }

    fn equals(&self, other: &dyn scheme::Payload) -> bool {
        downcast(other, SCHEME).is_ok_and(|other: &Self| other == self)
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error> {
        let header = match self.blocks.is_compact() {
            true => files::short_header(Kind::Ciphertext, &self.params, key_id, insecure)?,
            false => files::header(Kind::Ciphertext, &self.params, key_id, insecure)?,
        };
        self.blocks.header(&self.params, header.meta(WEIGHT, &self.weight)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        self.blocks.write(&self.params, writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_another_set_are_refused() {
        let [today, other_set] = ["integers-128", "integers-40"].map(|name| Params::named(name).unwrap());
        let elements =
            |params: &Params| Elements { params: params.clone(), weight: 1, blocks: Blocks::Full(Vec::new()) };
        elements(&today).check_params("the ciphertext", &today).unwrap();
        let error = elements(&other_set).check_params("the ciphertext", &today).unwrap_err();
        assert!(matches!(error, Error::ForeignParams { .. }), "{error}");
        let other: Arc<dyn scheme::Payload> = Arc::new(elements(&other_set));
        assert!(matches!(scheme::Payload::concat(&elements(&today), &[other]), Err(Error::ForeignParams { .. })));
    }
}
