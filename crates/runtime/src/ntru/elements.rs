//! Elements as ring elements: a bit in one's constant coefficient, or numbers in the slots of one.

use crate::ciphertext::{Condition, Form};
use crate::scheme::{self, About, downcast};
use crate::{Ciphertext, Error, KeyId, Scheme};
use solinas_formats::{Destination, Header, Kind, Reader, Writer, ntru as files, pack};
use solinas_schemes::ntru::{self, Params, PublicKey, Stage, noise};
use std::sync::Arc;

/// A ciphertext as stored: its key's plans are not at hand. Of degree 1, and ready.
#[derive(Debug, PartialEq)]
pub(super) struct Poly {
    pub(super) level: usize,
    /// `log2` of the noise by the formulas. A file says it, so that whoever wrote the file vouches for it: too low a number lets a later result be
    /// wrong, and nothing worse.
    pub(super) noise: f64,
    parts: Vec<Vec<u64>>,
}

impl Poly {
    pub(super) fn of(ciphertext: &ntru::Ciphertext) -> Arc<Self> {
        let parts = ciphertext.parts().iter().map(|part| part.words().to_vec()).collect();
        Arc::new(Self { level: ciphertext.level(), noise: ciphertext.noise(), parts })
    }

    /// As a ciphertext of its key.
    ///
    /// # Errors
    /// From the scheme, for one that is none of the key.
    pub(super) fn ciphertext(&self, public: &PublicKey) -> Result<ntru::Ciphertext, Error> {
        Ok(ntru::Ciphertext::from_parts(public, self.level, Stage::Ready, 1, self.noise, &self.parts)?)
    }
}

/// Encrypted elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Elements {
    pub(super) params: Params,
    /// How many there are.
    pub(super) count: usize,
    /// Whether slots after the last element of an array hold 0, so that a sum needs no mask. A file says it, as it does the noise.
    pub(super) clean: bool,
    /// For each element its bits, least significant first; or the polynomials that hold as many elements as they have slots, each alone, a scalar in all slots
    /// of one. Shared, as they are large.
    pub(super) blocks: Vec<Vec<Arc<Poly>>>,
}

/// Field of a ciphertext's header.
const CLEAN: &str = "clean";

/// Polynomials that hold so many elements, or a scalar.
pub(super) fn packed(params: &Params, count: usize) -> usize {
    count.div_ceil(params.dimension())
}

/// The form of a set's elements.
pub(super) fn form_of(params: &Params) -> Form {
    if params.plaintext_modulus() == 2 { Form::Bits } else { Form::Slots }
}

impl Elements {
    /// Those of a ciphertext.
    pub(super) fn of(ciphertext: &Ciphertext) -> Result<&Self, Error> {
        ciphertext.elements(Scheme::Ntru)
    }

    /// That they are of those parameters: of a custom set, the name does not tell.
    pub(super) fn check(&self, what: impl FnOnce() -> String, params: &Params) -> Result<(), Error> {
        if self.params == *params {
            return Ok(());
        }
        let (got, want) = (self.params.name().into(), params.name().into());
        Err(Error::ForeignParams { what: what(), got, want })
    }

    fn form(&self) -> Form {
        form_of(&self.params)
    }

    fn polynomials(&self) -> impl Iterator<Item = &Poly> {
        self.blocks.iter().flatten().map(|poly| &**poly)
    }

    /// `log2` of how much larger the noise of a polynomial may become and still decrypt.
    fn margin(&self, poly: &Poly) -> f64 {
        noise::room(&self.params, self.params.log2_modulus(poly.level)) - poly.noise
    }

    /// Elements of slots are not taken apart.
    fn packed_error(&self) -> Error {
        Error::Packed { slots: self.params.dimension() }
    }

    pub(super) fn read(reader: &Reader, about: &About) -> Result<Self, Error> {
        let About { ty, form, scalar, count } = *about;
        let params = files::params(reader)?;
        let want = form_of(&params);
        if form != want {
            return Err(reader.field("form", &format!("the parameter set holds {want}")).into());
        }
        let modulus = ty.modulus().map(u64::from);
        let of_set = (form == Form::Slots).then(|| params.plaintext_modulus());
        if modulus != of_set {
            return Err(reader.field("type", "the parameter set does not hold it").into());
        }
        let too_many = || reader.field("shape", "it has too many elements");
        let (each, total) = match form {
            Form::Slots if scalar => (1, Some(1)),
            Form::Slots => (1, Some(packed(&params, count))),
            _ => (ty.width(), count.checked_mul(ty.width())),
        };
        let total = total.ok_or_else(too_many)?;
        let levels = reader.section_u64("levels", total)?;
        let noises = reader.section_u64("noise", total)?;
        let allowed = 1..=params.levels() as u64;
        if levels.iter().any(|level| !allowed.contains(level)) {
            return Err(reader
                .section_error("levels", format_args!("a level is not in 1..={}", params.levels()))
                .into());
        }
        let words = |level: u64| params.towers(level as usize) * params.dimension();
        let all = levels.iter().try_fold(0usize, |sum, &level| sum.checked_add(words(level))).ok_or_else(too_many)?;
        let all = reader.section_u64("polynomials", all)?;
        let (mut rest, mut polynomials) = (all.as_slice(), Vec::with_capacity(total));
        for (&level, noise) in levels.iter().zip(noises) {
            let noise = f64::from_bits(noise);
            // A key's constant coefficient is 1 at least.
            if !noise.is_finite() || noise < 0.0 {
                return Err(reader.section_error("noise", "a noise is negative or no number").into());
            }
            let (first, others) = rest.split_at(words(level));
            rest = others;
            let level = level as usize;
            let part = params.towers(level) * params.dimension_at(level);
            let parts = first.chunks_exact(part).map(<[u64]>::to_vec).collect();
            polynomials.push(Arc::new(Poly { level, noise, parts }));
        }
        let blocks = polynomials.chunks_exact(each).map(<[_]>::to_vec).collect();
        let clean = form == Form::Slots && reader.header().meta.contains_key(CLEAN) && reader.meta(CLEAN)?;
        Ok(Self { params, count, clean, blocks })
    }
}

impl scheme::Elements for Elements {
    fn scheme(&self) -> Scheme {
        Scheme::Ntru
    }

    fn params_name(&self) -> &str {
        self.params.name()
    }

    fn len(&self) -> usize {
        self.count
    }

    fn get(&self, index: usize) -> Result<Arc<dyn scheme::Elements>, Error> {
        if self.form() == Form::Slots {
            return Err(self.packed_error());
        }
        let block = self.blocks.get(index).ok_or(Error::Index { index, len: self.count })?;
        Ok(Arc::new(Self { params: self.params.clone(), count: 1, clean: false, blocks: vec![block.clone()] }))
    }

    fn with(&self, others: &[Arc<dyn scheme::Elements>]) -> Result<Arc<dyn scheme::Elements>, Error> {
        if self.form() == Form::Slots {
            return Err(self.packed_error());
        }
        let mut all = self.clone();
        for other in others {
            let other: &Self = downcast(&**other, Scheme::Ntru)?;
            other.check(|| "an element".into(), &self.params)?;
            all.count += other.count;
            all.blocks.extend_from_slice(&other.blocks);
        }
        Ok(Arc::new(all))
    }

    fn equals(&self, other: &dyn scheme::Elements) -> bool {
        downcast(other, Scheme::Ntru).is_ok_and(|other: &Self| other == self)
    }

    fn condition(&self) -> Option<Condition> {
        let margin = self.polynomials().map(|poly| self.margin(poly)).reduce(f64::min)?;
        let products = self.polynomials().map(|poly| poly.level - 1).min();
        Some(Condition { margin, products, usable: margin >= 0.0 })
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error> {
        let header = files::header(Kind::Ciphertext, &self.params, key_id, insecure)?;
        Ok(if self.clean { header.meta(CLEAN, &true)? } else { header })
    }

    /// Sections `levels` and `noise`: a number for each polynomial; `polynomials`: their words, one after the other.
    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        use std::io::Write;
        let levels: Vec<u64> = self.polynomials().map(|poly| poly.level as u64).collect();
        writer.section_u64("levels", &levels)?;
        let noises: Vec<u64> = self.polynomials().map(|poly| poly.noise.to_bits()).collect();
        writer.section_u64("noise", &noises)?;
        let mut section = writer.begin_section("polynomials")?;
        for part in self.polynomials().flat_map(|poly| &poly.parts) {
            // An i/o error here is reported again, with the file's name, when the file is finished.
            if section.write_all(&pack::u64_to_le(part)).is_err() {
                break;
            }
        }
        Ok(())
    }
}
