//! Encrypted values and arrays, and their files.

use crate::payload::{CiphertextHeader, Payload, downcast};
use crate::process::on_pool;
use crate::{Condition, Error, Form, KeyId, ParamsInfo, Scheme, Type};
use solinas_formats::{Expect, Kind, Overwrite, Reader, Writer};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// An encrypted value or array of one type.
#[derive(Debug, Clone)]
pub struct Ciphertext {
    ty: Type,
    shape: Option<Vec<usize>>,
    form: Form,
    key_id: KeyId,
    insecure: bool,
    /// The plan that made it.
    plan: Option<KeyId>,
    /// What it was made for.
    name: Option<Arc<str>>,
    /// Large, and therefore shared.
    elements: Arc<dyn Payload>,
}

impl PartialEq for Ciphertext {
    fn eq(&self, other: &Self) -> bool {
        let about = |x: &Self| (x.ty, x.form, x.key_id, x.insecure);
        about(self) == about(other) && self.shape == other.shape && self.elements.equals(&*other.elements)
    }
}

/// What the header of a ciphertext file says. A hostile file may say anything, until [`Ciphertext::load`] has checked it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CiphertextFacts {
    /// Type of each element.
    pub ty: Type,
    /// Shape of an array; `None` for a scalar.
    pub shape: Option<Vec<usize>>,
    /// Number of elements.
    pub len: usize,
    /// Whether it is a compact result.
    pub is_compact: bool,
    /// Bytes of the ciphertext in memory.
    pub memory_bytes: u64,
    /// The most bytes of memory that it takes at a time, while it is read and while a run makes its hash.
    pub loading_bytes: u64,
}

/// Largest number of elements of a file. It limits what a hostile header can request.
const MAX_ELEMENTS: u64 = 1 << 32;

impl Ciphertext {
    /// The ciphertext of elements that a key or an engine made.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shape does not match the number of elements.
    pub fn new(
        ty: Type,
        shape: Option<Vec<usize>>,
        form: Form,
        key_id: KeyId,
        insecure: bool,
        elements: Arc<dyn Payload>,
    ) -> Result<Self, Error> {
        let shape = checked(shape, elements.len())?;
        Ok(Self { ty, shape, form, key_id, insecure, plan: None, name: None, elements })
    }

    /// The same ciphertext with its elements in another encoding of the scheme.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of elements.
    pub fn with_elements(self, elements: Arc<dyn Payload>) -> Result<Self, Error> {
        Ok(Self { shape: checked(self.shape, elements.len())?, elements, ..self })
    }

    /// The same ciphertext as the result of a plan, or of none that it names.
    #[must_use]
    pub fn with_plan(self, plan: Option<KeyId>) -> Self {
        Self { plan, ..self }
    }

    /// The elements, as all schemes have them.
    pub fn elements(&self) -> &Arc<dyn Payload> {
        &self.elements
    }

    /// Type of each element.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Shape of an array; `None` for a scalar.
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

    /// Identity of the key.
    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.elements.scheme()
    }

    /// Name of the parameter set.
    pub fn params_name(&self) -> &str {
        self.elements.params_name()
    }

    /// Encoding of the elements.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The identity of the plan that made it, in an auditable result (TFHE).
    pub fn plan(&self) -> Option<KeyId> {
        self.plan
    }

    /// The column or input that it was made for, if its maker gave one. Whoever has the file reads it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The same values with the name of the column or input that they are for. Results, elements and parts of an array have no name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Whether it is a compact result: it can be decrypted, but not computed with.
    pub fn is_compact(&self) -> bool {
        self.elements.is_compact()
    }

    /// Returns the elements as those of a scheme.
    ///
    /// # Errors
    /// [`Error::SchemeMismatch`] for elements of another scheme. Under a key of this scheme, only a forged file has them.
    pub(crate) fn elements_of<E: Payload>(&self, want: Scheme) -> Result<&E, Error> {
        downcast(&*self.elements, want)
    }

    /// Checks that the ciphertext belongs to a key with these parameters.
    ///
    /// # Errors
    /// [`Error::SchemeMismatch`] or [`Error::KeyMismatch`] for another scheme or key. [`Error::ForeignParams`] for a forged file.
    pub fn check_key(&self, what: impl FnOnce() -> String, want: KeyId, params: &ParamsInfo) -> Result<(), Error> {
        let got = self.key_id;
        if self.scheme() != params.scheme {
            return Err(Error::SchemeMismatch { what: what(), got: self.scheme(), want: params.scheme });
        }
        if got != want {
            return Err(Error::KeyMismatch { what: what(), got: got.short(), want: want.short() });
        }
        if self.params_name() != params.name {
            let (got, want) = (self.params_name().into(), params.name.clone());
            return Err(Error::ForeignParams { what: what(), got, want });
        }
        Ok(())
    }

    /// The remaining capacity. `None` if operations do not use any up.
    pub fn condition(&self) -> Option<Condition> {
        self.elements.condition()
    }

    /// Bytes of memory that [`Self::get`] takes for an element, beside what the elements share.
    pub fn element_bytes(&self) -> u64 {
        self.elements.element_bytes()
    }

    /// Returns element `index`, in row order, as a scalar.
    ///
    /// # Errors
    /// [`Error::Index`] if there is no such element.
    pub fn get(&self, index: usize) -> Result<Self, Error> {
        let elements = self.elements.get(index)?;
        self.with(None, elements)
    }

    /// Returns the elements of a range, in row order, as an array of one dimension. Runs on the parts of an array give the bytes of a run on the whole array,
    /// by one plan.
    ///
    /// # Errors
    /// [`Error::Index`] if the range goes beyond the end; [`Error::EmptyArray`] if it is empty; [`Error::Packed`] if the elements share ciphertexts.
    pub fn slice(&self, range: Range<usize>) -> Result<Self, Error> {
        if range.end > self.len() {
            return Err(Error::Index { index: range.end - 1, len: self.len() });
        }
        if range.is_empty() {
            return Err(Error::EmptyArray);
        }
        self.with(Some(vec![range.len()]), self.elements.slice(range)?)
    }

    /// Returns other elements with the same metadata.
    fn with(&self, shape: Option<Vec<usize>>, elements: Arc<dyn Payload>) -> Result<Self, Error> {
        let Self { ty, form, key_id, insecure, plan, .. } = *self;
        Ok(Self { plan, ..Self::new(ty, shape, form, key_id, insecure, elements)? })
    }

    /// Concatenates scalars or arrays of one type and key to a one-dimensional array.
    ///
    /// # Errors
    /// [`Error::Scheme`], [`Error::KeyMismatch`], [`Error::InputType`] or [`Error::Form`] if the parts differ.
    /// [`Error::EmptyArray`] if there are none. [`Error::Memory`] if parts in short forms do not stay short and do not fit when they are expanded.
    pub fn stack(parts: Vec<Self>) -> Result<Self, Error> {
        let Some((first, others)) = parts.split_first() else {
            return Err(Error::EmptyArray);
        };
        for (i, part) in others.iter().enumerate() {
            let name = || format!("element {}", i + 1);
            if part.scheme() != first.scheme() {
                return Err(Error::SchemeMismatch { what: name(), got: part.scheme(), want: first.scheme() });
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
        let plan = first.plan.filter(|_| others.iter().all(|part| part.plan == first.plan));
        let others: Vec<_> = others.iter().map(|part| Arc::clone(&part.elements)).collect();
        let elements = first.elements.concat(&others)?;
        Self { plan, ..first.clone() }.with(Some(vec![elements.len()]), elements)
    }

    /// Returns the same elements in another shape. `None` makes a scalar.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shape does not match the number of elements.
    pub fn reshape(&self, shape: Option<Vec<usize>>) -> Result<Self, Error> {
        Ok(Self { shape: checked(shape, self.len())?, ..self.clone() })
    }

    /// Writes the ciphertext to a file. Replaces a ciphertext file, but never a secret file.
    ///
    /// # Errors
    /// [`Error::Format`] from the file. A failed write leaves an old file unchanged. [`Error::EmptyArray`] for an array
    /// without elements.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut writer = Writer::create(path, self.header()?, Overwrite::KeepSecrets)?;
        self.elements.write(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Reads a ciphertext from a file.
    ///
    /// # Errors
    /// [`Error::Format`] if the file cannot be read, is not a ciphertext, is damaged, or has a newer format.
    /// [`Error::InFile`] if its contents are not valid, with [`Error::EmptyArray`] if it holds no elements.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::read(&Reader::open(path, Expect::kind(Kind::Ciphertext))?)
    }

    /// Returns the ciphertext as the bytes of a file.
    ///
    /// # Errors
    /// [`Error::Format`] from the writer. [`Error::EmptyArray`] for an array without elements.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::in_memory(self.header()?);
        self.elements.write(&mut writer)?;
        Ok(writer.into_bytes()?.to_vec())
    }

    /// Reads a ciphertext from the bytes of a file.
    ///
    /// # Errors
    /// The errors of [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(&Reader::from_bytes("ciphertext", bytes, Expect::kind(Kind::Ciphertext))?)
    }

    /// The hash of its file, whichever version of the library writes the file.
    ///
    /// # Errors
    /// As [`Self::to_bytes`].
    pub fn hash(&self) -> Result<KeyId, Error> {
        let mut header = self.header()?;
        header.library.clear();
        let mut writer = Writer::in_memory(header);
        self.elements.write(&mut writer)?;
        Ok(KeyId::hash_of(&writer.into_bytes()?))
    }

    fn header(&self) -> Result<solinas_formats::Header, Error> {
        if self.is_empty() {
            return Err(Error::EmptyArray);
        }
        let header = self.elements.header(self.key_id, self.insecure)?;
        let header = match self.plan {
            Some(plan) => header.meta("plan", &plan)?,
            None => header,
        };
        let header = match &self.name {
            Some(name) => header.meta("name", &**name)?,
            None => header,
        };
        Ok(header.meta("type", &self.ty.to_string())?.meta("form", &self.form)?.meta("shape", &self.shape)?)
    }

    fn read(reader: &Reader) -> Result<Self, Error> {
        on_pool(|| Self::parse(reader)).map_err(|error| error.in_file(reader.path()))
    }

    /// What the header of a file says of a ciphertext. No element is read.
    ///
    /// # Errors
    /// The errors of [`Self::load`], but for those of the elements.
    pub fn peek(path: &Path) -> Result<CiphertextFacts, Error> {
        let reader = Reader::open(path, Expect::kind(Kind::Ciphertext))?;
        let peek = || {
            let (scheme, about, shape) = Self::about(&reader)?;
            let memory_bytes = scheme.entry().bytes_of_elements(&reader)?;
            let stored: Option<String> = match reader.header().meta.contains_key("blocks") {
                true => Some(reader.meta("blocks")?),
                false => None,
            };
            let is_compact = matches!(stored.as_deref(), Some("compact" | "packed"));
            // A run holds the bytes of an input twice while it makes their hash.
            let loading_bytes = memory_bytes.saturating_add(2 * reader.file_bytes());
            Ok(CiphertextFacts { ty: about.ty, shape, len: about.count, is_compact, memory_bytes, loading_bytes })
        };
        peek().map_err(|error: Error| error.in_file(path))
    }

    fn parse(reader: &Reader) -> Result<Self, Error> {
        let (scheme, about, shape) = Self::about(reader)?;
        let (ty, form) = (about.ty, about.form);
        let elements = scheme.entry().read_elements(reader, &about)?;
        let (key_id, insecure) = (reader.key_id()?, reader.header().insecure_seed);
        let plan = reader.header().meta.contains_key("plan").then(|| reader.meta("plan")).transpose()?;
        let name = reader.header().meta.contains_key("name").then(|| reader.meta::<String>("name")).transpose()?;
        let name = name.map(Arc::from);
        Ok(Self { plan, name, ..Self::new(ty, shape, form, key_id, insecure, elements)? })
    }

    /// The statements of a header: the scheme, those about the elements, and the shape.
    fn about(reader: &Reader) -> Result<(Scheme, CiphertextHeader, Option<Vec<usize>>), Error> {
        let scheme = Scheme::of_file(reader)?;
        let ty: String = reader.meta("type")?;
        let ty: Type = ty.parse().map_err(|_| reader.field("type", "it is not the name of a type"))?;
        let form: Form = reader.meta("form")?;
        if ty.modulus().is_some() != (form == Form::Slots) {
            return Err(reader.field("form", "it does not hold values of the type").into());
        }
        let shape: Option<Vec<usize>> = reader.meta("shape")?;
        let sizes = shape.as_deref().unwrap_or(&[]);
        if sizes.contains(&0) {
            return Err(Error::EmptyArray);
        }
        let count =
            sizes.iter().try_fold(1usize, |size, &d| size.checked_mul(d)).filter(|&count| count as u64 <= MAX_ELEMENTS);
        let count = count.ok_or_else(|| reader.field("shape", "it has too many elements"))?;
        Ok((scheme, CiphertextHeader { ty, form, scalar: shape.is_none(), count }, shape))
    }
}

fn checked(shape: Option<Vec<usize>>, len: usize) -> Result<Option<Vec<usize>>, Error> {
    let want = shape.iter().flatten().try_fold(1usize, |size, &d| size.checked_mul(d));
    if want == Some(len) {
        return Ok(shape);
    }
    Err(Error::Shape { shape: shape.unwrap_or_default(), want: want.unwrap_or(usize::MAX), got: len })
}
