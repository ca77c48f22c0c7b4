//! Elements of ciphertexts as LWE ciphertexts.

use super::SCHEME;
use crate::form::Form;
use crate::scheme::{self, downcast};
use crate::{Ciphertext, Error, KeyId, Scheme, Type};
use solinas_formats::{Destination, Header, Kind, Reader, Writer, pack, tfhe as files};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{LweCiphertext, Params};
use std::sync::Arc;

/// Encrypted elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Elements {
    pub(super) params: Params,
    /// Bound of the noise variance of each block, in variances of a bootstrap. It is 1 for fresh blocks.
    pub(super) weight: u64,
    /// The blocks of each element, least significant first.
    pub(super) blocks: Vec<Vec<LweCiphertext>>,
}

/// The form in which keys of a set encrypt.
pub(super) fn form_of(params: &Params) -> Form {
    match params.family() {
        Family::Gates => Form::Bits,
        Family::Integers => Form::Radix,
    }
}

impl Elements {
    /// Returns the elements of a ciphertext.
    pub(super) fn of(ciphertext: &Ciphertext) -> Result<&Self, Error> {
        ciphertext.elements(SCHEME)
    }

    /// Returns other blocks with the same parameters and noise.
    pub(super) fn like(&self, blocks: Vec<Vec<LweCiphertext>>) -> Self {
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
        let words = params.big_dimension() + 1;
        let size = form.blocks(ty) * words;
        let total = count.checked_mul(size).ok_or_else(|| reader.field("shape", "it has too many elements"))?;
        let all = reader.section_u32("lwe", total)?;
        let block = |words: &[u32]| LweCiphertext::from_words(words.to_vec());
        let blocks = all.chunks_exact(size).map(|element| element.chunks_exact(words).map(block).collect()).collect();
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
        let block = self.blocks.get(index).ok_or(Error::Index { index, len: self.blocks.len() })?;
        Ok(Arc::new(self.like(vec![block.clone()])))
    }

    fn concat(&self, others: &[Arc<dyn scheme::Payload>]) -> Result<Arc<dyn scheme::Payload>, Error> {
        let mut all = self.clone();
        for other in others {
            let other: &Self = downcast(&**other, SCHEME)?;
            all.weight = all.weight.max(other.weight);
            all.blocks.extend_from_slice(&other.blocks);
        }
        Ok(Arc::new(all))
    }

    fn equals(&self, other: &dyn scheme::Payload) -> bool {
        downcast(other, SCHEME).is_ok_and(|other: &Self| other == self)
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error> {
        Ok(files::header(Kind::Ciphertext, &self.params, key_id, insecure)?.meta("weight", &self.weight)?)
    }

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        let blocks = self.blocks.iter().flatten();
        Ok(writer.section_of_parts("lwe", blocks.map(|block| Ok(pack::u32_to_le(block.words()))))?)
    }
}
