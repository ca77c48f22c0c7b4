//! Encrypted values and arrays, and their files.

use crate::payload::{CiphertextHeader, Payload, downcast};
use crate::process::on_pool;
use crate::{Condition, Error, Form, KeyId, ParamsInfo, Scheme, Type};
use solinas_formats::{Expect, Kind, Overwrite, Reader, Writer};
use std::path::Path;
use std::sync::Arc;

/// An encrypted value or array of one type.
#[derive(Debug, Clone)]
pub struct Ciphertext {
    pub(crate) ty: Type,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) form: Form,
    pub(crate) key_id: KeyId,
    pub(crate) insecure: bool,
    /// Shared, as they are large.
    pub(crate) elements: Arc<dyn Payload>,
}

impl PartialEq for Ciphertext {
    fn eq(&self, other: &Self) -> bool {
        let about = |x: &Self| (x.ty, x.form, x.key_id, x.insecure);
        about(self) == about(other) && self.shape == other.shape && self.elements.equals(&*other.elements)
    }
}

/// Most elements a file may hold: a hostile header cannot ask for more.
const MAX_ELEMENTS: u64 = 1 << 32;

impl Ciphertext {
    /// Checks that the shape holds the elements.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        Ok(Self { shape: checked(self.shape, self.elements.len())?, ..self })
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
        self.len() == 0
    }

    /// The key it belongs to.
    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.elements.scheme()
    }

    /// Name of its parameter set.
    pub fn params_name(&self) -> &str {
        self.elements.params_name()
    }

    /// How its bits lie.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether its key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The elements as those of a scheme.
    ///
    /// # Errors
    /// [`Error::Scheme`] for those of another, which only a forged file has under a key of this one.
    pub(crate) fn elements<E: Payload>(&self, want: Scheme) -> Result<&E, Error> {
        downcast(&*self.elements, want)
    }

    /// What is left of it; none where operations do not wear it out.
    pub fn condition(&self) -> Option<Condition> {
        self.elements.condition()
    }

    /// Element number `index`, row by row, as a scalar.
    ///
    /// # Errors
    /// [`Error::Index`].
    pub fn get(&self, index: usize) -> Result<Self, Error> {
        let elements = self.elements.get(index)?;
        self.with(None, elements)
    }

    /// The same metadata with other contents.
    fn with(&self, shape: Option<Vec<usize>>, elements: Arc<dyn Payload>) -> Result<Self, Error> {
        let Self { ty, form, key_id, insecure, .. } = *self;
        Self { ty, shape, form, key_id, insecure, elements }.checked()
    }

    /// Puts scalars or arrays of one type and key one after the other, as an array of one dimension.
    ///
    /// # Errors
    /// [`Error::InputType`], [`Error::KeyMismatch`] or [`Error::Form`] when they differ; [`Error::InputCount`] for none.
    pub fn stack(parts: Vec<Self>) -> Result<Self, Error> {
        let Some((first, others)) = parts.split_first() else {
            return Err(Error::InputCount { got: 0, want: 1, names: "at least one ciphertext".into() });
        };
        for (i, part) in others.iter().enumerate() {
            let name = || format!("element {}", i + 1);
            if part.scheme() != first.scheme() {
                return Err(Error::Scheme { what: name(), got: part.scheme(), want: first.scheme() });
            }
            if part.key_id != first.key_id {
                let [got, want] = [part, first].map(|part| part.key_id.short());
                return Err(Error::KeyMismatch { what: name(), got, want });
            }
            if part.ty != first.ty {
                return Err(Error::InputType { name: name(), want: first.ty, got: part.ty });
            }
            if part.form != first.form {
                return Err(Error::Form { params: first.params_name().into(), form: "mixed" });
            }
        }
        let others: Vec<_> = others.iter().map(|part| Arc::clone(&part.elements)).collect();
        let elements = first.elements.concat(&others)?;
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
        self.elements.write(&mut writer)?;
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
        self.elements.write(&mut writer)?;
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
        let header = self.elements.header(self.key_id, self.insecure)?;
        Ok(header.meta("type", &self.ty.to_string())?.meta("form", &self.form)?.meta("shape", &self.shape)?)
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        on_pool(|| Self::parse(reader)).map_err(|error| error.in_file(reader.path()))
    }

    fn parse(reader: &Reader) -> Result<Self, Error> {
        let scheme = Scheme::of_file(reader)?;
        let ty: String = reader.meta("type")?;
        let ty: Type = ty.parse().map_err(|_| reader.field("type", "it names no type"))?;
        let form: Form = reader.meta("form")?;
        if ty.modulus().is_some() != (form == Form::Slots) {
            return Err(reader.field("form", "it does not hold values of the type").into());
        }
        let shape: Option<Vec<usize>> = reader.meta("shape")?;
        let sizes = shape.as_deref().unwrap_or(&[]);
        let count =
            sizes.iter().try_fold(1usize, |size, &d| size.checked_mul(d)).filter(|&count| count as u64 <= MAX_ELEMENTS);
        let count = count.ok_or_else(|| reader.field("shape", "it has too many elements"))?;
        let elements =
            scheme.entry().read_elements(reader, &CiphertextHeader { ty, form, scalar: shape.is_none(), count })?;
        let (key_id, insecure) = (reader.key_id()?, reader.header().insecure_seed);
        Self { ty, shape, form, key_id, insecure, elements }.checked()
    }
}

fn checked(shape: Option<Vec<usize>>, len: usize) -> Result<Option<Vec<usize>>, Error> {
    let want = shape.iter().flatten().try_fold(1usize, |size, &d| size.checked_mul(d));
    if want == Some(len) {
        return Ok(shape);
    }
    Err(Error::Shape { shape: shape.unwrap_or_default(), want: want.unwrap_or(usize::MAX), got: len })
}

/// Checks that a ciphertext belongs to a key of those parameters.
///
/// # Errors
/// [`Error::Scheme`], [`Error::KeyMismatch`]; [`Error::ForeignParams`] for a forged file.
pub(crate) fn same_key(
    what: impl FnOnce() -> String,
    ciphertext: &Ciphertext,
    want: KeyId,
    params: &ParamsInfo,
) -> Result<(), Error> {
    let got = ciphertext.key_id();
    if ciphertext.scheme() != params.scheme {
        return Err(Error::Scheme { what: what(), got: ciphertext.scheme(), want: params.scheme });
    }
    if got != want {
        return Err(Error::KeyMismatch { what: what(), got: got.short(), want: want.short() });
    }
    if ciphertext.params_name() != params.name {
        let (got, want) = (ciphertext.params_name().into(), params.name.clone());
        return Err(Error::ForeignParams { what: what(), got, want });
    }
    Ok(())
}
