//! Short forms of fresh ciphertexts. They are expanded to LWE ciphertexts when they are used.

use super::{Error, LweCiphertext, Params};
use crate::random::public_stream;
use rand_core::RngCore;

/// Masks of the ciphertexts of one encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Masks {
    /// A public seed: ciphertext `i` has the mask of stream `i`. A client key encrypts so.
    Seed([u8; 32]),
    /// GLWE masks: ciphertext `i` is coefficient `i mod N` of GLWE ciphertext `i / N`. Shape: `k N` words for each, in units
    /// of `2^-32` turn. A public key encrypts so.
    Glwe(Vec<u32>),
}

/// Fresh ciphertexts of one encryption: common masks, and one body each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortCiphertexts {
    masks: Masks,
    /// The number of the first ciphertext, which selects its mask.
    first: u64,
    /// The number of each ciphertext. `None` if they follow each other, as those with GLWE masks do.
    numbers: Option<Vec<u64>>,
    bodies: Vec<u32>,
    ring_dimension: usize,
    glwe_dimension: usize,
}

impl ShortCiphertexts {
    /// Builds ciphertexts from their stored parts. `first` is the number of the first one.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if the GLWE masks do not serve exactly these ciphertexts.
    pub fn from_parts(params: &Params, masks: Masks, first: u64, bodies: Vec<u32>) -> Result<Self, Error> {
        let p = params.literal();
        let (ring_dimension, glwe_dimension) = (p.ring_dimension, p.glwe_dimension);
        let end = usize::try_from(first).ok().and_then(|first| first.checked_add(bodies.len()));
        let (got, want) = match &masks {
            Masks::Seed(_) => (0, end.map(|_| 0)),
            Masks::Glwe(words) => {
                (words.len(), end.and_then(|end| end.div_ceil(ring_dimension).checked_mul(params.big_dimension())))
            }
        };
        if want != Some(got) {
            return Err(Error::CiphertextLength { got, want: want.unwrap_or(usize::MAX) });
        }
        Ok(Self { masks, first, numbers: None, bodies, ring_dimension, glwe_dimension })
    }

    /// Builds ciphertexts whose masks have the streams of a seed with these numbers.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if there is not one number for each body.
    pub fn scattered(params: &Params, seed: [u8; 32], numbers: Vec<u64>, bodies: Vec<u32>) -> Result<Self, Error> {
        if numbers.len() != bodies.len() {
            return Err(Error::CiphertextLength { got: numbers.len(), want: bodies.len() });
        }
        let first = numbers.first().copied().unwrap_or(0);
        let all = Self::from_parts(params, Masks::Seed(seed), 0, bodies)?;
        Ok(Self { first, numbers: Some(numbers), ..all })
    }

    /// The number of each ciphertext, which selects its mask. `None` if they follow each other from [`Self::first`] on.
    pub fn numbers(&self) -> Option<&[u64]> {
        self.numbers.as_deref()
    }

    /// Appends ciphertexts with masks of the same seed. Returns whether it could.
    pub fn join(&mut self, more: &Self) -> bool {
        if self.masks != more.masks || !matches!(self.masks, Masks::Seed(_)) {
            return false;
        }
        let follow = self.numbers.is_none() && more.numbers.is_none() && more.first == self.first + self.len() as u64;
        if !follow && !more.is_empty() {
            let numbers = self.numbers.get_or_insert_with(|| (self.first..).take(self.bodies.len()).collect());
            numbers.extend((0..more.len()).map(|index| more.number(index)));
        }
        self.bodies.extend_from_slice(&more.bodies);
        true
    }

    /// The number of ciphertext `index`.
    fn number(&self, index: usize) -> u64 {
        self.numbers.as_ref().map_or_else(|| self.first + index as u64, |numbers| numbers[index])
    }

    /// The masks.
    pub fn masks(&self) -> &Masks {
        &self.masks
    }

    /// The number of the first ciphertext, which selects its mask.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The bodies, one for each ciphertext.
    pub fn bodies(&self) -> &[u32] {
        &self.bodies
    }

    /// Number of ciphertexts.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Ciphertexts `start..start + len`, in the same short form. GLWE masks that they do not use are left out.
    ///
    /// # Panics
    /// If there are fewer ciphertexts.
    pub fn slice(&self, start: usize, len: usize) -> Self {
        let bodies = self.bodies[start..start + len].to_vec();
        let numbers = self.numbers.as_ref().map(|numbers| numbers[start..start + len].to_vec());
        let first = if len == 0 { self.first } else { self.number(start) };
        // Consecutive numbers need not be kept one by one.
        let follows = |(i, &number): (usize, &u64)| number.checked_sub(first) == Some(i as u64);
        let numbers = numbers.filter(|numbers| !numbers.iter().enumerate().all(follows));
        match &self.masks {
            Masks::Seed(_) => Self { masks: self.masks.clone(), first, numbers, bodies, ..*self },
            Masks::Glwe(words) => {
                let (n, one) = (self.ring_dimension, self.ring_dimension * self.glwe_dimension);
                let (skipped, first) = (first as usize / n, first as usize % n);
                let used = (first + len).div_ceil(n);
                let words = words[skipped * one..(skipped + used) * one].to_vec();
                Self { masks: Masks::Glwe(words), first: first as u64, numbers: None, bodies, ..*self }
            }
        }
    }

    /// Ciphertext `index` as an LWE ciphertext. Shape: `k N + 1` words.
    ///
    /// # Panics
    /// If there are fewer ciphertexts.
    pub fn expand(&self, index: usize) -> LweCiphertext {
        let mut words = vec![0u32; self.glwe_dimension * self.ring_dimension + 1];
        let (mask, body) = words.split_at_mut(self.glwe_dimension * self.ring_dimension);
        self.mask(index, mask);
        body[0] = self.bodies[index];
        LweCiphertext(words)
    }

    /// The first words of the mask of ciphertext `index`.
    ///
    /// # Panics
    /// If there are fewer ciphertexts.
    pub fn mask_start(&self, index: usize) -> [u32; 8] {
        let mut words = [0; 8];
        self.mask(index, &mut words);
        words
    }

    /// Writes the first words of the mask of ciphertext `index`, at most `k N`.
    fn mask(&self, index: usize, out: &mut [u32]) {
        let n = self.ring_dimension;
        let number = self.number(index);
        match &self.masks {
            Masks::Seed(seed) => {
                let mut stream = public_stream(seed, number);
                out.fill_with(|| stream.next_u32());
            }
            Masks::Glwe(all) => {
                let (glwe, coefficient) = (number as usize / n, number as usize % n);
                let polynomials = all[glwe * self.glwe_dimension * n..].chunks_exact(n);
                for (out, a) in out.chunks_mut(n).zip(polynomials) {
                    sample_extract(a, coefficient, out);
                }
            }
        }
    }
}

/// The first words of the LWE mask of one coefficient of a GLWE ciphertext: word `i` of `out` is multiplied by coefficient `i`
/// of the key.
fn sample_extract(a: &[u32], coefficient: usize, out: &mut [u32]) {
    let (low, high) = out.split_at_mut((coefficient + 1).min(out.len()));
    for (out, &a) in low.iter_mut().zip(a[..=coefficient].iter().rev()) {
        *out = a;
    }
    for (out, &a) in high.iter_mut().zip(a[coefficient + 1..].iter().rev()) {
        *out = a.wrapping_neg();
    }
}
