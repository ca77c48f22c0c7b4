//! Encrypted values and arrays, and their files.

use crate::{Error, KeyId, Type};
use serde::{Deserialize, Serialize};
use solinas_formats::{Destination, Expect, Kind, Overwrite, Reader, Writer, pack, tfhe as files};
use solinas_schemes::tfhe::{LweCiphertext, Params};
use std::path::Path;

/// How the bits of an element lie in LWE ciphertexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One bit each.
    Bits,
    /// Two bits each, as lookup tables want them.
    Radix,
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bits => "bits",
            Self::Radix => "radix",
        })
    }
}

/// An encrypted value or array of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Ciphertext {
    pub(crate) ty: Type,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) form: Form,
    pub(crate) params: Params,
    pub(crate) key_id: KeyId,
    pub(crate) insecure: bool,
    /// Bound of the noise of each block, in variances of a bootstrap: 1 when fresh.
    pub(crate) weight: u64,
    /// For each element its blocks, least significant first.
    pub(crate) elements: Vec<Vec<LweCiphertext>>,
}

/// Most elements a file may hold: a hostile header cannot ask for more.
const MAX_ELEMENTS: usize = 1 << 32;

impl Ciphertext {
    /// Checks that the shape holds the elements.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        Ok(Self { shape: checked(self.shape, self.elements.len())?, ..self })
    }

    /// The same metadata with other contents.
    fn with(&self, shape: Option<Vec<usize>>, elements: Vec<Vec<LweCiphertext>>) -> Result<Self, Error> {
        let params = self.params.clone();
        Self {
            ty: self.ty,
            shape,
            form: self.form,
            params,
            key_id: self.key_id,
            insecure: self.insecure,
            weight: self.weight,
            elements,
        }
        .checked()
    }

    /// Type of each element.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Sizes of an array, none for a scalar.
    pub fn shape(&self) -> Option<&[usize]> {
        self.shape.as_deref()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether it is an array without elements.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The key it belongs to.
    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// Name of its parameter set.
    pub fn params_name(&self) -> &str {
        self.params.name()
    }

    /// How its bits lie.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether its key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// Bound of the noise of each block, in variances of a bootstrap.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    pub(crate) fn elements(&self) -> &[Vec<LweCiphertext>] {
        &self.elements
    }

    /// Element number `index`, row by row, as a scalar.
    ///
    /// # Errors
    /// [`Error::Index`].
    pub fn get(&self, index: usize) -> Result<Self, Error> {
        let element = self.elements.get(index).ok_or(Error::Index { index, len: self.len() })?;
        self.with(None, vec![element.clone()])
    }

    /// Puts scalars or arrays of one type and key one after the other, as an array of one dimension.
    ///
    /// # Errors
    /// [`Error::InputType`], [`Error::KeyMismatch`] or [`Error::Form`] when they differ; [`Error::InputCount`] for none.
    pub fn stack(parts: Vec<Self>) -> Result<Self, Error> {
        let names = "at least one ciphertext".to_string();
        let mut first = parts.first().cloned().ok_or(Error::InputCount { got: 0, want: 1, names })?;
        for (i, part) in parts.iter().enumerate() {
            crate::error::same_key(|| format!("element {i}"), part.key_id, first.key_id)?;
            if part.ty != first.ty {
                return Err(Error::InputType { name: format!("element {i}"), want: first.ty, got: part.ty });
            }
            if part.form != first.form {
                return Err(Error::Form { params: first.params.name().into(), form: "mixed" });
            }
        }
        let weight = parts.iter().map(|part| part.weight).max().unwrap_or(1);
        let elements: Vec<_> = parts.into_iter().flat_map(|part| part.elements).collect();
        first.weight = weight;
        first.with(Some(vec![elements.len()]), elements)
    }

    /// The same elements in another shape; none for a scalar.
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn reshape(&self, shape: Option<Vec<usize>>) -> Result<Self, Error> {
        Ok(Self { shape: checked(shape, self.len())?, ..self.clone() })
    }

    /// Writes it; an existing ciphertext file is replaced, a secret one never.
    ///
    /// # Errors
    /// From the file; a failed write leaves what was there.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut writer = Writer::create(path, self.header()?, Overwrite::KeepSecrets)?;
        self.write(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Reads one.
    ///
    /// # Errors
    /// From the file: not a ciphertext, damaged, newer.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::read(&Reader::open(path, Expect::kind(Kind::Ciphertext))?)
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// From the writer.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::in_memory(self.header()?);
        self.write(&mut writer)?;
        Ok(writer.into_bytes()?.to_vec())
    }

    /// One from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("ciphertext", bytes, Expect::kind(Kind::Ciphertext))?)
    }

    fn header(&self) -> Result<solinas_formats::Header, Error> {
        let header = files::header(Kind::Ciphertext, &self.params, self.key_id, self.insecure)?;
        Ok(header
            .meta("type", &self.ty.to_string())?
            .meta("form", &self.form)?
            .meta("weight", &self.weight)?
            .meta("shape", &self.shape)?)
    }

    fn write<D: Destination>(&self, writer: &mut Writer<D>) -> Result<(), Error> {
        use std::io::Write;
        let mut section = writer.begin_section("lwe")?;
        for block in self.elements.iter().flatten() {
            // An i/o error here is reported again, with the file's name, when the file is finished.
            if section.write_all(&pack::u32_to_le(block.words())).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        let params = files::params(reader)?;
        let ty: String = reader.meta("type")?;
        let ty: Type = ty.parse().map_err(|_| reader.field("type", "it names no type"))?;
        let form: Form = reader.meta("form")?;
        if Form::of(&params) == Form::Bits && form == Form::Radix {
            return Err(reader.field("form", "the parameter set holds single bits").into());
        }
        let weight: u64 = reader.meta("weight")?;
        if weight as f64 > params.max_weight() {
            return Err(reader.field("weight", "it is more noise than the parameter set allows").into());
        }
        let shape: Option<Vec<usize>> = reader.meta("shape")?;
        let sizes = shape.as_deref().unwrap_or(&[]);
        let count =
            sizes.iter().try_fold(1usize, |size, &d| size.checked_mul(d)).filter(|&count| count <= MAX_ELEMENTS);
        let words = params.big_dimension() + 1;
        let (blocks, count) =
            (form.blocks(ty), count.ok_or_else(|| reader.field("shape", "it has too many elements"))?);
        let total =
            count.checked_mul(blocks * words).ok_or_else(|| reader.field("shape", "it has too many elements"))?;
        let all = reader.section_u32("lwe", total)?;
        let block = |words: &[u32]| LweCiphertext::from_words(words.to_vec());
        let elements =
            all.chunks_exact(blocks * words).map(|element| element.chunks_exact(words).map(block).collect()).collect();
        let (key_id, insecure) = (reader.key_id()?, reader.header().insecure_seed);
        Self { ty, shape, form, params, key_id, insecure, weight, elements }.checked()
    }
}

fn checked(shape: Option<Vec<usize>>, len: usize) -> Result<Option<Vec<usize>>, Error> {
    let want = shape.iter().flatten().try_fold(1usize, |size, &d| size.checked_mul(d));
    if want == Some(len) {
        return Ok(shape);
    }
    Err(Error::Shape { shape: shape.unwrap_or_default(), want: want.unwrap_or(usize::MAX), got: len })
}
