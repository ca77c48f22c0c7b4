//! Encryption, and ciphertexts.

use rand_core::RngCore;
use solinas_ring::sample::Gaussian;

use super::{Error, Params, PublicKey};
use crate::lwe::{Access, KeyFile, Multiplier, Selection, Source, StreamedProduct, Vector};
use crate::{Control, KeyId};

/// Messages that share a pass over the matrix.
const BATCH: usize = 64;

/// `c = (m, 0, ..) + A^T r`, and `2 e'` where the parameters say so: `n + 1` numbers modulo `M`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ciphertext {
    key: KeyId,
    numbers: Vector,
}

impl Ciphertext {
    /// From its parts, as stored.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of residues, or ones out of range.
    pub fn from_parts(params: &Params, key: KeyId, residues: &[u32]) -> Result<Self, Error> {
        Ok(Self { key, numbers: Vector::from_residues(params.modulus(), params.dimension() + 1, residues)? })
    }

    /// The identity of the key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Its numbers, in residues.
    pub fn numbers(&self) -> &Vector {
        &self.numbers
    }

    /// Its numbers alone.
    pub(in crate::lwe) fn into_numbers(self) -> Vector {
        self.numbers
    }

    /// The sum modulo 2: noises add.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn add(&self, other: &Self, params: &Params) -> Result<Self, Error> {
        if self.key != other.key {
            let (got, want) = (other.key.short(), self.key.short());
            return Err(Error::KeyMismatch { what: "the second ciphertext", got, want });
        }
        let mut sum = self.clone();
        add(params, &mut sum.numbers, &other.numbers);
        Ok(sum)
    }
}

fn add(params: &Params, to: &mut Vector, more: &Vector) {
    for (w, (to, word)) in to.words_mut().zip(params.modulus().words()).enumerate() {
        to.iter_mut().zip(more.word(w)).for_each(|(to, &more)| *to = word.add(*to, more));
    }
}

/// Encryption by a key whose matrix comes from `S`.
#[derive(Debug)]
pub struct Encryptor<'a, S> {
    key: &'a PublicKey,
    source: S,
    /// Back end.
    pub multiplier: Multiplier,
    /// How the rows that `r` selects are read.
    pub access: Access,
}

impl<'a, S: Source> Encryptor<'a, S> {
    pub(in crate::lwe) fn new(key: &'a PublicKey, source: S) -> Result<Self, Error> {
        Ok(Self { key, source, multiplier: Multiplier::new()?, access: Access::Masked })
    }

    /// The matrix.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Encrypts bits, by a product of matrices. A batch of bits shares each piece of the matrix while it is in cache.
    ///
    /// # Errors
    /// [`Error::Field`]: not for checked parameters.
    pub fn encrypt(&self, messages: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        let params = self.key.params();
        let mut out = Vec::with_capacity(messages.len());
        for messages in messages.chunks(BATCH) {
            let selections: Vec<_> = messages.iter().map(|_| Selection::uniform(params.samples(), rng)).collect();
            let products = self.multiplier.select(&self.source, &selections, self.access)?;
            for (numbers, &message) in products.into_iter().zip(messages) {
                out.push(finish(self.key, numbers, message, rng)?);
            }
        }
        Ok(out)
    }
}

/// `A^T r` to a ciphertext: adds the message, and noise where the parameters say so.
pub(in crate::lwe) fn finish(
    key: &PublicKey,
    mut numbers: Vector,
    message: bool,
    rng: &mut impl RngCore,
) -> Result<Ciphertext, Error> {
    let params = key.params();
    if params.literal().encryption_noise {
        let noise = Gaussian::new(params.sigma())?.draw_many(rng, numbers.len());
        for (numbers, word) in numbers.words_mut().zip(params.modulus().words()) {
            let noisy = |(number, &e): (&mut u32, &i64)| *number = word.add(*number, word.reduce_signed(2 * e));
            numbers.iter_mut().zip(noise.iter()).for_each(noisy);
        }
    }
    for (numbers, word) in numbers.words_mut().zip(params.modulus().words()) {
        numbers[0] = word.add(numbers[0], message.into());
    }
    Ok(Ciphertext { key: key.id(), numbers })
}

impl PublicKey {
    /// Writes the file of `A` for streaming.
    ///
    /// # Errors
    /// The errors of [`KeyFile::write`].
    pub fn write<E: From<Error>>(
        &self,
        out: impl FnMut(&[u8]) -> Result<(), E>,
        control: &Control<'_>,
    ) -> Result<(), E> {
        KeyFile::write(&self.seeded()?, self.id().0, out, control)
    }

    /// Draws the selections `r` for encryptions of `count` bits. Multiply them with a streamed `A`, and pass the
    /// product to [`Self::complete`].
    pub fn selections(&self, count: usize, rng: &mut impl RngCore) -> Vec<Selection> {
        (0..count).map(|_| Selection::uniform(self.params().samples(), rng)).collect()
    }

    /// Completes encryptions of bits from a finished product of [`Self::selections`] with a streamed `A`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] if the file belongs to another key. [`Error::Cancelled`] if the product is not complete.
    /// [`Error::Dimension`] for another number of bits.
    pub fn complete(
        &self,
        product: StreamedProduct<'_>,
        messages: &[bool],
        rng: &mut impl RngCore,
    ) -> Result<Vec<Ciphertext>, Error> {
        self.check("the file", KeyId(*product.file.id()))?;
        let products = product.into_products()?;
        if products.len() != messages.len() {
            return Err(Error::Dimension { what: "messages", got: messages.len(), want: products.len() });
        }
        let finish = |(numbers, &message)| finish(self, numbers, message, rng);
        products.into_iter().zip(messages).map(finish).collect()
    }
}
