//! Elements of ciphertexts as residues modulo `d`.

use super::SCHEME;
use crate::form::{Condition, Form};
use crate::scheme::{self, downcast};
use crate::{Ciphertext, Error, KeyId, Scheme, Type};
use solinas_formats::{Destination, Header, KeyFiles, Kind, Reader, Writer, gh as files, pack};
use solinas_schemes::gh::{self, Params, PublicKey, noise};
use std::sync::Arc;

/// An encrypted bit as stored, without the modulus of its key.
#[derive(Debug, PartialEq)]
pub struct Bit {
    words: Vec<u64>,
    /// `log2` of the bound of the noise. It comes from the file, so the writer of the file is responsible for it. If it
    /// is too low, later results may be wrong; nothing else can happen.
    noise: f64,
}

impl Bit {
    /// The stored form of a bit.
    pub fn of(ciphertext: &gh::Ciphertext) -> Arc<Self> {
        Arc::new(Self { words: ciphertext.words().to_vec(), noise: ciphertext.noise() })
    }

    /// Returns the bit as a ciphertext of its key.
    ///
    /// # Errors
    /// From the scheme, for a residue that is not one of the key.
    pub fn ciphertext(&self, public: &PublicKey) -> Result<gh::Ciphertext, solinas_schemes::Error> {
        gh::Ciphertext::from_parts(public, self.words.clone(), self.noise)
    }

    /// Bound of the noise, see [`gh::Ciphertext::noise`].
    pub fn noise(&self) -> f64 {
        self.noise
    }
}

/// Lower bound of `log2` of a residue, close to it. Returns 0 for 0.
fn log2(words: &[u64]) -> f64 {
    match words.iter().rposition(|&word| word != 0) {
        Some(top) => 64.0 * top as f64 + libm::log2(words[top] as f64) - 1e-6,
        None => 0.0,
    }
    .max(0.0)
}

/// Encrypted elements of one type, bit by bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Elements {
    /// The parameter set.
    pub params: Params,
    /// The bits of each element, least significant first. They are large and therefore shared.
    pub blocks: Vec<Vec<Arc<Bit>>>,
}

impl Elements {
    /// Returns the elements of a ciphertext.
    ///
    /// # Errors
    /// [`Error::SchemeMismatch`] for a ciphertext of another scheme.
    pub fn of(ciphertext: &Ciphertext) -> Result<&Self, Error> {
        ciphertext.elements_of(SCHEME)
    }

    fn bits(&self) -> impl Iterator<Item = &Bit> {
        self.blocks.iter().flatten().map(|bit| &**bit)
    }

    pub(super) fn read(reader: &Reader, ty: Type, form: Form, count: usize) -> Result<Self, Error> {
        let params = files::Gh::read_params(reader)?;
        if form != Form::Bits {
            return Err(reader.field("form", "the scheme holds single bits").into());
        }
        let words: usize = reader.meta("words")?;
        // As for the modulus: a deviation of at most a tenth from the expected length.
        if (words as f64 / params.words() as f64 - 1.0).abs() > 0.1 {
            return Err(reader.field("words", "residues of these parameters have another size").into());
        }
        let too_many = || reader.field("shape", "it has too many elements");
        let bits = count.checked_mul(ty.width()).ok_or_else(too_many)?;
        let residues = reader.section_u64("residues", bits.checked_mul(words).ok_or_else(too_many)?)?;
        let noises = reader.section_u64("noise", bits)?;
        let least = noise::fresh(&params).min(noise::recrypted(&params)) - 1e-6;
        let bits = residues.chunks_exact(words).zip(noises).map(|(words, noise)| {
            let noise = f64::from_bits(noise);
            // Sums and products of public bits may have less noise: their residue is at most their bound.
            let least = least.min(log2(words));
            if !(least..=params.modulus_bits()).contains(&noise) || noise.is_sign_negative() {
                return Err(reader.section_error(
                    "noise",
                    "a bound is smaller than that of any encryption, or as large as the modulus",
                ));
            }
            Ok(Arc::new(Bit { words: words.to_vec(), noise }))
        });
        let bits = bits.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { params, blocks: bits.chunks_exact(ty.width()).map(<[_]>::to_vec).collect() })
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
        (256 + 16 * self.blocks.first().map_or(0, Vec::len)) as u64
    }

    fn get(&self, index: usize) -> Result<Arc<dyn scheme::Payload>, Error> {
        let block = self.blocks.get(index).ok_or(Error::Index { index, len: self.blocks.len() })?;
        Ok(Arc::new(Self { params: self.params.clone(), blocks: vec![block.clone()] }))
    }

    fn concat(&self, others: &[Arc<dyn scheme::Payload>]) -> Result<Arc<dyn scheme::Payload>, Error> {
        let mut all = self.clone();
        for other in others {
            all.blocks.extend_from_slice(&downcast::<Self>(&**other, SCHEME)?.blocks);
        }
        Ok(Arc::new(all))
    }

    fn condition(&self) -> Option<Condition> {
        let noise = self.bits().map(Bit::noise).reduce(f64::max)?;
        let margin = noise::margin(&self.params, noise);
        Some(Condition { margin, products: None, usable: margin >= noise::recrypt_need(&self.params) })
    }

    fn equals(&self, other: &dyn scheme::Payload) -> bool {
        downcast(other, SCHEME).is_ok_and(|other: &Self| other == self)
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error> {
        let words = self.bits().next().map_or(self.params.words(), |bit| bit.words.len());
        Ok(files::Gh::header(Kind::Ciphertext, &self.params, key_id, insecure)?.meta("words", &words)?)
    }

    /// Writes section `residues` (all bits, element by element, `words` words each) and section `noise` (one number for
    /// each bit).
    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        writer.section_of_parts("residues", self.bits().map(|bit| Ok(pack::u64_to_le(&bit.words))))?;
        let noises: Vec<u64> = self.bits().map(|bit| bit.noise.to_bits()).collect();
        Ok(writer.section("noise", &pack::u64_to_le(&noises))?)
    }
}
