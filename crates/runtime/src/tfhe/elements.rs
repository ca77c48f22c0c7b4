//! Elements of ciphertexts as LWE ciphertexts.

use super::blocks::Blocks;
use crate::form::Form;
use crate::plans::{SCHEME, form_of};
use crate::scheme::{self, downcast};
use crate::{Ciphertext, Error, KeyId, Scheme, Type};
use solinas_formats::{Destination, Header, Kind, Reader, Writer, tfhe as files};
use solinas_schemes::tfhe::Params;
use std::ops::Range;
use std::sync::Arc;

/// Encrypted elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Elements {
    pub(super) params: Params,
    /// Bound of the noise variance of each block, in variances of a bootstrap. It is 1 for fresh blocks.
    pub(super) weight: u64,
    pub(super) blocks: Blocks,
}

impl Elements {
    /// Returns the elements of a ciphertext.
    pub(super) fn of(ciphertext: &Ciphertext) -> Result<&Self, Error> {
        ciphertext.elements(SCHEME)
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
        let weight: u64 = reader.meta("weight")?;
        if weight as f64 > params.max_weight() {
            return Err(reader.field("weight", "the noise is more than the parameter set allows").into());
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
        let weight = others.iter().map(|other| other.weight).fold(self.weight, u64::max);
        let blocks = self.blocks.concat(others.iter().map(|other| &other.blocks))?;
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
        self.blocks.header(&self.params, header.meta("weight", &self.weight)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        self.blocks.write(&self.params, writer)
    }
}
