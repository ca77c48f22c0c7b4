//! The client's side: queries, and the records in answers.

use core::fmt;

use rand_core::RngCore;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::bytes::{CHUNK, add_multiple};
use solinas_ring::sample::Gaussian;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::hint::PublicMatrix;
use super::message::NUMBER;
use super::{Answer, DIMENSION, DatabaseId, Hint, Layout, Query, SHIFT, SIGMA};
use crate::Error;
use crate::random::SecretSeed;

/// A client of a database.
#[derive(Debug)]
pub struct Client {
    hint: Hint,
}

/// What the client keeps of a query until its answer arrives. It is secret. It serves one answer, and is wiped on drop.
pub struct Pending {
    id: DatabaseId,
    number: [u8; NUMBER],
    /// The first row of the record.
    row: Zeroizing<usize>,
    pub(super) secret: Zeroizing<Vec<u32>>,
}

impl Pending {
    /// The number of the query.
    pub fn number(&self) -> [u8; NUMBER] {
        self.number
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("id", &self.id).field("number", &self.number).finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client from the hint of a database.
    pub fn new(hint: Hint) -> Self {
        Self { hint }
    }

    /// The hint.
    pub fn hint(&self) -> &Hint {
        &self.hint
    }

    /// The places of the records.
    pub fn layout(&self) -> &Layout {
        &self.hint.layout
    }

    /// Asks for a record, with a secret of its own for each query. It runs on the current rayon pool. The work
    /// and the addresses do not depend on the record.
    ///
    /// # Errors
    /// [`Error::NoRecord`]; [`Error::Entropy`]; [`Error::Field`] if `SOLINAS_BACKEND` names an unknown back end.
    pub fn query(&self, index: usize) -> Result<(Query, Pending), Error> {
        self.query_with(index, &mut SecretSeed::from_os()?.stream(0), Backend::detect()?)
    }

    pub(super) fn query_with(
        &self,
        index: usize,
        rng: &mut impl RngCore,
        backend: Backend,
    ) -> Result<(Query, Pending), Error> {
        let Hint { layout, id, .. } = self.hint;
        let (wanted, row) = layout.place(index)?;
        let mut secret = Zeroizing::new(vec![0u32; DIMENSION]);
        secret.iter_mut().for_each(|entry| *entry = rng.next_u32());
        let noise = Gaussian::new(SIGMA)?.draw_many(rng, layout.columns());
        let mut number = [0; NUMBER];
        rng.fill_bytes(&mut number);

        let public = PublicMatrix::new(id, backend);
        let mut words = vec![0; layout.columns()];
        words.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, words)| {
            let first = chunk * CHUNK;
            public.columns(0..DIMENSION, first, words.len(), |k, column| {
                add_multiple(backend, words, column, secret[k]);
            });
            for (column, (word, &noise)) in (first..).zip(words.iter_mut().zip(&noise[first..])) {
                let unit = u32::from(column.ct_eq(&wanted).unwrap_u8());
                *word = word.wrapping_add(noise as u32).wrapping_add(unit << SHIFT);
            }
        });
        Ok((Query { id, number, words }, Pending { id, number, row: Zeroizing::new(row), secret }))
    }

    /// Reads the record in an answer.
    ///
    /// # Errors
    /// [`Error::OtherDatabase`] for an answer of another database; [`Error::OtherQuery`] for one to another query;
    /// [`Error::Dimension`] for an answer of another length.
    pub fn read(&self, pending: Pending, answer: &Answer) -> Result<Vec<u8>, Error> {
        let numbers = self.numbers(&pending, answer)?;
        Ok(numbers.iter().map(|number| (number.wrapping_add(1 << (SHIFT - 1)) >> SHIFT) as u8).collect())
    }

    /// Checks that an answer fits a query.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn check(&self, pending: &Pending, answer: &Answer) -> Result<(), Error> {
        let Hint { layout, id, .. } = self.hint;
        for (what, got) in [("the query", pending.id), ("the answer", answer.id)] {
            if got != id {
                return Err(Error::OtherDatabase { what, got: got.short(), want: id.short() });
            }
        }
        if pending.number != answer.number {
            return Err(Error::OtherQuery);
        }
        if answer.words.len() != layout.rows() {
            return Err(Error::Dimension {
                what: "numbers of an answer",
                got: answer.words.len(),
                want: layout.rows(),
            });
        }
        Ok(())
    }

    /// `answer - H s` in the rows of the record: `2^24` times its bytes, and noise.
    pub(super) fn numbers(&self, pending: &Pending, answer: &Answer) -> Result<Zeroizing<Vec<u32>>, Error> {
        self.check(pending, answer)?;
        let Hint { layout, ref words, .. } = self.hint;
        let rows = *pending.row..*pending.row + layout.record_bytes();
        let hints = words[rows.start * DIMENSION..rows.end * DIMENSION].chunks_exact(DIMENSION);
        let number = |(&answer, hint): (&u32, &[u32])| {
            let masks = hint.iter().zip(pending.secret.iter()).map(|(hint, secret)| hint.wrapping_mul(*secret));
            answer.wrapping_sub(masks.fold(0, u32::wrapping_add))
        };
        Ok(Zeroizing::new(answer.words[rows].iter().zip(hints).map(number).collect()))
    }
}
