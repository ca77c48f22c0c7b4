//! Encrypted elements as ring elements. A ring element holds a bit in its constant coefficient, or numbers in its
//! slots.

use super::{Leveled, ParamsOf};
use crate::form::{Condition, Form};
use crate::scheme::{self, CiphertextHeader, downcast};
use crate::{Ciphertext, Error, KeyId, Scheme, Type};
use solinas_formats::{Destination, Header, KeyFiles as _, Kind, Reader, Writer};
use solinas_schemes::leveled::{NoiseModel, Params, StoredCiphertext};
use solinas_schemes::{Level, Noise};
use std::sync::Arc;

/// Bytes of a seed.
const SEED: usize = 32;

/// Encrypted elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Elements<S: Leveled> {
    /// The parameter set.
    pub params: ParamsOf<S>,
    /// Number of elements.
    pub count: usize,
    /// Whether the slots after the last element of an array hold 0, so that a sum needs no mask. The header of a file
    /// states it.
    pub zero_padded: bool,
    /// The polynomials. For bits, each entry holds the bits of one element, least significant first. For slots, each
    /// entry holds one polynomial: a polynomial holds one element of an array in each slot, or a scalar in all slots.
    /// They are large and therefore shared.
    pub blocks: Vec<Vec<Arc<StoredCiphertext>>>,
}

/// Field of a ciphertext's header that stores [`Elements::zero_padded`].
const CLEAN: &str = "clean";

/// Returns the number of polynomials that hold `count` elements in their slots.
pub fn packed(params: &impl Params, count: usize) -> usize {
    count.div_ceil(params.dimension())
}

/// Bytes of a fresh polynomial in memory: its residues as words, where a file has their bits.
pub fn polynomial_bytes<S: Leveled>(params: &ParamsOf<S>) -> u64 {
    let level = params.fresh_level();
    let stored = (S::packed_bytes(params, level) * params.level_parts(level)) as u64;
    in_memory(params, level, stored).saturating_add(256)
}

/// Bytes in memory of polynomials that take `stored` bytes in a file.
fn in_memory(params: &impl NoiseModel, level: Level, stored: u64) -> u64 {
    let bits = params.level_moduli(level).iter().map(|modulus| 64 - modulus.leading_zeros()).min().unwrap_or(64).max(8);
    stored.saturating_mul(64).div_ceil(u64::from(bits))
}

/// The form of a set's elements.
pub fn form_of(params: &impl Params) -> Form {
    if params.plaintext_modulus() == 2 { Form::Bits } else { Form::Slots }
}

/// The type that a set's slots hold.
pub fn slot_type(params: &impl Params) -> Type {
    Type::Mod(params.plaintext_modulus() as u32)
}

impl<S: Leveled> Elements<S> {
    /// Returns the elements of a ciphertext.
    ///
    /// # Errors
    /// [`Error::SchemeMismatch`] for a ciphertext of another scheme.
    pub fn of(ciphertext: &Ciphertext) -> Result<&Self, Error> {
        ciphertext.elements_of(S::SCHEME)
    }

    /// Checks that the elements have these parameters. Two custom sets may have one name, so the check compares all of
    /// the parameters.
    ///
    /// # Errors
    /// [`Error::ForeignParams`] if they differ.
    pub fn check(&self, what: impl FnOnce() -> String, params: &ParamsOf<S>) -> Result<(), Error> {
        if self.params == *params {
            return Ok(());
        }
        let (got, want) = (self.params.name().into(), params.name().into());
        Err(Error::ForeignParams { what: what(), got, want })
    }

    fn form(&self) -> Form {
        form_of(&self.params)
    }

    fn polynomials(&self) -> impl Iterator<Item = &StoredCiphertext> {
        self.blocks.iter().flatten().map(|poly| &**poly)
    }

    /// Returns `log2` of the factor by which the noise of a polynomial may still grow before decryption fails.
    fn noise_budget(&self, poly: &StoredCiphertext) -> f64 {
        self.params.noise_limit(poly.level).bits_above(poly.noise)
    }

    /// The error for an operation that would separate elements in slots.
    fn packed_error(&self) -> Error {
        Error::Packed { slots: self.params.dimension() }
    }

    /// Bytes in memory of the polynomials of a file, from its header and the lengths of its sections.
    pub(super) fn bytes_of(reader: &Reader) -> Result<u64, Error> {
        let params = S::read_params(reader)?;
        Ok(in_memory(&params, params.fresh_level(), reader.section_len("polynomials")?))
    }

    pub(super) fn read(reader: &Reader, about: &CiphertextHeader) -> Result<Self, Error> {
        let CiphertextHeader { ty, form, scalar, count } = *about;
        let params = S::read_params(reader)?;
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
        let highest = params.fresh_level();
        let level = |number: u64| usize::try_from(number).ok().and_then(Level::new).filter(|&level| level <= highest);
        let levels: Option<Vec<Level>> = levels.into_iter().map(level).collect();
        let out_of_range = || reader.section_error("levels", format_args!("a level is not in 1..={highest}"));
        let levels = levels.ok_or_else(out_of_range)?;
        let seeds = seeds::<S>(reader, total)?;
        let parts = |at: usize| params.level_parts(levels[at]) - usize::from(seeds[at].is_some());
        let bytes = |at: usize| S::packed_bytes(&params, levels[at]).checked_mul(parts(at));
        let all = (0..total).try_fold(0usize, |sum, at| sum.checked_add(bytes(at)?)).ok_or_else(too_many)?;
        let bytes = reader.section_of_len("polynomials", all)?;
        let (mut rest, mut polynomials) = (&*bytes, Vec::with_capacity(total));
        for (at, noise) in noises.into_iter().enumerate() {
            let (level, noise) = (levels[at], f64::from_bits(noise));
            // A file states at least the noise of a coefficient of 1.
            if !(0.0..=params.log2_fresh_modulus()).contains(&noise) {
                let problem = "a noise is negative, no number, or as large as the modulus";
                return Err(reader.section_error("noise", problem).into());
            }
            let part = S::packed_bytes(&params, level);
            let (first, others) = rest.split_at(part * parts(at));
            rest = others;
            let parts = first.chunks_exact(part).map(|part| S::unpack(&params, level, part));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            if !parts.iter().all(|part| is_reduced(part, &params.level_moduli(level))) {
                return Err(reader.section_error("polynomials", "a number is no residue of its prime").into());
            }
            let noise = Noise::from_log2(noise);
            polynomials.push(Arc::new(StoredCiphertext { level, noise, plaintext: None, seed: seeds[at], parts }));
        }
        let blocks = polynomials.chunks_exact(each).map(<[_]>::to_vec).collect();
        let zero_padded = form == Form::Slots && reader.header().meta.contains_key(CLEAN) && reader.meta(CLEAN)?;
        Ok(Self { params, count, zero_padded, blocks })
    }
}

/// Whether the words of a part are residues of these primes, tower by tower.
fn is_reduced(part: &[u64], moduli: &[u64]) -> bool {
    let each = part.len() / moduli.len();
    part.chunks_exact(each).zip(moduli).all(|(residues, modulus)| residues.iter().all(|residue| residue < modulus))
}

/// Reads the seeds of the polynomials from a file. A polynomial without a seed has `None`.
fn seeds<S: Leveled>(reader: &Reader, total: usize) -> Result<Vec<Option<[u8; SEED]>>, Error> {
    if !S::SEEDED {
        return Ok(vec![None; total]);
    }
    let seeded = reader.section_of_len("seeded", total)?;
    if seeded.iter().any(|&seeded| seeded > 1) {
        return Err(reader.section_error("seeded", "a number is neither 0 nor 1").into());
    }
    let count = seeded.iter().filter(|&&seeded| seeded == 1).count();
    let seeds = reader.section_of_len("seeds", count * SEED)?;
    let (seeds, _) = seeds.as_chunks();
    let mut seeds = seeds.iter().copied();
    Ok(seeded.iter().map(|&seeded| if seeded == 1 { seeds.next() } else { None }).collect())
}

impl<S: Leveled> scheme::Payload for Elements<S> {
    fn scheme(&self) -> Scheme {
        S::SCHEME
    }

    fn params_name(&self) -> &str {
        self.params.name()
    }

    fn len(&self) -> usize {
        self.count
    }

    fn element_bytes(&self) -> u64 {
        (256 + 16 * self.blocks.first().map_or(0, Vec::len)) as u64
    }

    fn get(&self, index: usize) -> Result<Arc<dyn scheme::Payload>, Error> {
        if self.form() == Form::Slots {
            return Err(self.packed_error());
        }
        let block = self.blocks.get(index).ok_or(Error::Index { index, len: self.count })?;
        Ok(Arc::new(Self { params: self.params.clone(), count: 1, zero_padded: false, blocks: vec![block.clone()] }))
    }

    fn concat(&self, others: &[Arc<dyn scheme::Payload>]) -> Result<Arc<dyn scheme::Payload>, Error> {
        if self.form() == Form::Slots {
            return Err(self.packed_error());
        }
        let mut all = self.clone();
        for other in others {
            let other: &Self = downcast(&**other, S::SCHEME)?;
            other.check(|| "an element".into(), &self.params)?;
            all.count += other.count;
            all.blocks.extend_from_slice(&other.blocks);
        }
        Ok(Arc::new(all))
    }

    fn equals(&self, other: &dyn scheme::Payload) -> bool {
        downcast(other, S::SCHEME).is_ok_and(|other: &Self| other == self)
    }

    fn condition(&self) -> Option<Condition> {
        let margin = self.polynomials().map(|poly| self.noise_budget(poly)).reduce(f64::min)?;
        let products = self.polynomials().map(|poly| poly.level.products_left()).min();
        Some(Condition { margin, products, usable: margin >= 0.0 })
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error> {
        let header = S::header(Kind::Ciphertext, &self.params, key_id, insecure)?;
        Ok(if self.zero_padded { header.meta(CLEAN, &true)? } else { header })
    }

    /// Writes the sections of a file. The sections `levels` and `noise` hold a number for each polynomial. In schemes
    /// with seeds, the section `seeded` holds a byte for each polynomial, which is 1 if its last part is a seed, and
    /// the section `seeds` holds the seeds. The section `polynomials` holds the parts of the polynomials, one after the
    /// other.
    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        let levels: Vec<u64> = self.polynomials().map(|poly| poly.level.number() as u64).collect();
        writer.section_u64("levels", &levels)?;
        let noises: Vec<u64> = self.polynomials().map(|poly| poly.noise.log2().to_bits()).collect();
        writer.section_u64("noise", &noises)?;
        if S::SEEDED {
            let seeded: Vec<u8> = self.polynomials().map(|poly| poly.seed.is_some().into()).collect();
            writer.section("seeded", &seeded)?;
            writer.section("seeds", &self.polynomials().filter_map(|poly| poly.seed).flatten().collect::<Vec<u8>>())?;
        }
        let parts = self.polynomials().flat_map(|poly| poly.parts.iter().map(move |part| (poly, part)));
        let packed = parts.map(|(poly, part)| S::pack(&self.params, poly.level, part));
        Ok(writer.section_of_parts("polynomials", packed)?)
    }
}
