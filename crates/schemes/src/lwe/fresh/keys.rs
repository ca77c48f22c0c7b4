//! The public key and the secret key, and how they are made.

use core::fmt;

use crate::control::Steps;
use crate::{Control, Entropy, KeyId};
use rand_core::RngCore;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::matrix::{self, Tile};
use solinas_ring::sample::Gaussian;
use zeroize::Zeroizing;

use super::{Ciphertext, Encryptor, Error, Params};
use crate::lwe::matrix::PAD;
use crate::lwe::{Matrix, Modulus, SeededMatrix, Source, Vector};
use crate::random::SecretSeed;
use crate::security::Status;

/// The public key: the seed of `-A'`, and `b = A' s' + 2 e`. It takes megabytes, while `A = [b | -A']` may take
/// gigabytes.
#[derive(Clone)]
pub struct PublicKey {
    params: Params,
    id: KeyId,
    insecure: bool,
    seed: [u8; 32],
    b: Vector,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("params", &self.params.name()).field("id", &self.id).finish_non_exhaustive()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.params == other.params && self.b == other.b
    }
}

impl PublicKey {
    fn new(params: Params, insecure: bool, seed: [u8; 32], b: Vector) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 lwe key id");
        let literal = params.literal();
        for number in [literal.dimension, literal.samples, literal.words, usize::from(insecure)] {
            hasher.update(&(number as u64).to_le_bytes());
        }
        hasher.update(&literal.sigma.to_le_bytes()).update(&[literal.encryption_noise.into()]).update(&seed);
        params.modulus().words().iter().for_each(|word| {
            hasher.update(&word.value().to_le_bytes());
        });
        b.residues().iter().for_each(|residue| {
            hasher.update(&residue.to_le_bytes());
        });
        Self { params, id: KeyId(hasher.finalize().into()), insecure, seed, b }
    }

    /// From its parts, as stored: the seed, and the residues of `b`, word by word; `insecure` when it was made from a chosen seed.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of residues, or ones out of range.
    pub fn from_parts(params: &Params, insecure: bool, seed: [u8; 32], b: &[u32]) -> Result<Self, Error> {
        let b = Vector::from_residues(params.modulus(), params.samples(), b)?;
        Ok(Self::new(params.clone(), insecure, seed, b))
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Identity.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Whether it was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// The seed of `-A'`.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// `b`.
    pub fn b(&self) -> &Vector {
        &self.b
    }

    /// `A`, its columns but the first made again block by block whenever it is read.
    ///
    /// # Errors
    /// [`Error::Field`] for a back end that is not there.
    pub fn seeded(&self) -> Result<SeededMatrix, Error> {
        SeededMatrix::new(self.params.layout()?, self.params.modulus(), &self.seed)?.with_first_column(self.b.clone())
    }

    /// `A` whole in memory.
    ///
    /// # Errors
    /// [`Error::Memory`] when it takes more than `memory` bytes: before any is taken.
    pub fn expand(&self, memory: u64) -> Result<Matrix, Error> {
        Matrix::expand(&self.seeded()?, memory)
    }

    /// Encryption with `A` made again from its seed.
    ///
    /// # Errors
    /// [`Error::Field`] for a back end that is not there.
    pub fn encryptor(&self) -> Result<Encryptor<'_, SeededMatrix>, Error> {
        Encryptor::new(self, self.seeded()?)
    }

    /// Encryption with `A` whole in memory.
    ///
    /// # Errors
    /// [`Error::Memory`] when it takes more than `memory` bytes: before any is taken.
    pub fn resident_encryptor(&self, memory: u64) -> Result<Encryptor<'_, Matrix>, Error> {
        Encryptor::new(self, self.expand(memory)?)
    }

    /// A generator for encryptions, from the operating system; for an insecure key, the same one each time `nonce` is.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn encryption_rng(&self, nonce: u64) -> Result<impl RngCore + use<>, Error> {
        let seed = if self.insecure {
            SecretSeed::of_secret("solinas 2026 lwe insecure encryption", &[&self.id.0])
        } else {
            SecretSeed::from_os()?
        };
        Ok(seed.stream(nonce))
    }

    /// Checks that a secret belongs to this key: the first rows of `b - A' s'` are `2 e`.
    pub(in crate::lwe) fn check_secret(&self, secret: &[i64]) -> Result<(), Error> {
        let (modulus, rows) = (self.params.modulus(), self.params.samples().min(PAD));
        let masks = masked_product(&self.seeded()?.leading(rows)?, secret, &[0; PAD], &Steps::unobserved())?;
        let masks = Zeroizing::new(masks);
        let bound = libm::log2(2.0 * Gaussian::new(self.params.sigma())?.max() as f64) + 0.01;
        let differs = |row: usize| {
            let residue = |w: usize| modulus.words()[w].sub(self.b.word(w)[row], masks.word(w)[row]);
            modulus.centred_log2(residue) > bound
        };
        if (0..rows).any(differs) {
            let problem = "a secret that does not belong to the public key".into();
            return Err(Error::Material { part: "client key", problem });
        }
        Ok(())
    }

    /// Checks that `what` belongs to this key.
    pub(in crate::lwe) fn check(&self, what: &'static str, key: KeyId) -> Result<(), Error> {
        if key == self.id {
            return Ok(());
        }
        Err(Error::KeyMismatch { what, got: key.short(), want: self.id.short() })
    }
}

/// The secret key `s'`. No `Clone`, no `Serialize`; wiped on drop.
pub struct ClientKey {
    public: PublicKey,
    secret: Zeroizing<Vec<i64>>,
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ClientKey {
    /// Makes a secret key and its public key, on the current thread pool. If the parameters are for research only, the caller has to consent with `research`.
    /// Progress counts parts of the public matrix.
    ///
    /// # Errors
    /// [`Error::ResearchOnly`]; [`Error::Entropy`]; [`Error::Cancelled`].
    pub fn generate(params: &Params, research: bool, entropy: Entropy, control: &Control<'_>) -> Result<Self, Error> {
        if let (Status::ResearchOnly { why }, false) = (params.security().status, research) {
            return Err(Error::ResearchOnly { name: params.name().into(), why });
        }
        let steps = Steps::new(control, parts(params.samples()));
        make(params, entropy.is_insecure(), &SecretSeed::new(entropy)?, &steps)
    }

    /// From its parts, as stored.
    ///
    /// # Errors
    /// [`Error::Material`] for another number of entries, or larger ones than the distribution has; for a secret that is not of the public key.
    pub fn from_parts(public: PublicKey, secret: Zeroizing<Vec<i64>>) -> Result<Self, Error> {
        let max = Gaussian::new(public.params.sigma())?.max();
        let want = public.params.dimension();
        if secret.len() != want || secret.iter().any(|entry| entry.unsigned_abs() > max.unsigned_abs()) {
            let problem = format!("{} entries where {want} of magnitude {max} or less belong", secret.len());
            return Err(Error::Material { part: "client key", problem });
        }
        public.check_secret(&secret)?;
        Ok(Self { public, secret })
    }

    /// `s'`, for storing: secret.
    pub fn secret(&self) -> &[i64] {
        &self.secret
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// `[[<c, s>]_M]_2`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        self.public.check("the ciphertext", ciphertext.key())?;
        let phase = phase(self.public.params.modulus(), &self.secret, ciphertext.numbers());
        Ok(self.public.params.modulus().centred_parity(|w| phase[w]) == 1)
    }

    /// `log2 |m + 2 x|`. The ciphertext decrypts while this is below `log2 M - 1`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn noise(&self, ciphertext: &Ciphertext) -> Result<f64, Error> {
        self.public.check("the ciphertext", ciphertext.key())?;
        let phase = phase(self.public.params.modulus(), &self.secret, ciphertext.numbers());
        Ok(self.public.params.modulus().centred_log2(|w| phase[w]))
    }
}

/// `c_0 + <c', s'>`, in residues.
pub(in crate::lwe) fn phase(modulus: &Modulus, secret: &[i64], numbers: &Vector) -> Zeroizing<Vec<u32>> {
    let residue = |(w, word): (usize, &matrix::Word)| {
        let numbers = numbers.word(w);
        // Below 2^32 2^10 2^17.
        let sum: i64 = numbers[1..].iter().zip(secret).map(|(&c, &s)| i64::from(c) * s).sum();
        word.reduce_signed(sum + i64::from(numbers[0]))
    };
    Zeroizing::new(modulus.words().iter().enumerate().map(residue).collect())
}

pub(in crate::lwe) fn make(
    params: &Params,
    insecure: bool,
    seed: &SecretSeed,
    steps: &Steps<'_>,
) -> Result<ClientKey, Error> {
    let gaussian = Gaussian::new(params.sigma())?;
    let secret = gaussian.draw_many(&mut seed.derive("lwe secret").stream(0), params.dimension());
    let noise = gaussian.draw_many(&mut seed.derive("lwe noise").stream(0), params.samples());
    let public = seed.derive("lwe public matrix").publish();
    let matrix = SeededMatrix::new(params.layout()?, params.modulus(), &public)?;
    let b = masked_product(&matrix, &secret, &noise, steps)?;
    let public = PublicKey::new(params.clone(), insecure, public, b);
    Ok(ClientKey { public, secret })
}

/// Pieces of `PAD` rows that are multiplied at a time: their sums are in memory.
const PART: usize = 1024;

/// Number of parts of a product with a matrix of `rows` rows. [`masked_product`] calls its step once for each.
pub(in crate::lwe) fn parts(rows: usize) -> usize {
    rows.div_ceil(PART * PAD)
}

/// `A' s' + 2 e`, where `-A'` is the matrix without its first column: row by row, every piece of it generated once.
pub(in crate::lwe) fn masked_product(
    matrix: &SeededMatrix,
    secret: &[i64],
    noise: &[i64],
    steps: &Steps<'_>,
) -> Result<Vector, Error> {
    let (layout, modulus, backend) = (matrix.layout(), matrix.modulus(), Backend::detect()?);
    // A factor for each column, 0 for the first and for the padding.
    let mut factors = Zeroizing::new(Vector::zeroed(modulus.len(), layout.columns().next_multiple_of(1024)));
    for (factors, word) in factors.words_mut().zip(modulus.words()) {
        factors[1..].iter_mut().zip(secret).for_each(|(factor, &s)| *factor = word.reduce_signed(s));
    }
    let rows_of = |chunk: usize| {
        let first = chunk * PAD;
        let mut piece = vec![0; PAD * layout.width(0)];
        let mut sums = Zeroizing::new(vec![[0u64; 2]; PAD * modulus.len()]);
        for index in 0..layout.tiles() {
            let (block, word) = layout.tile(index);
            let width = layout.width(block);
            let piece = &mut piece[..PAD * width];
            matrix.fill((block, word), first, piece);
            let factors = &factors.word(word)[layout.range(block).start..][..width];
            matrix::multiply_rows(backend, Tile::new(piece, width), factors, &mut sums[word * PAD..][..PAD]);
        }
        sums
    };
    let mut b = Vector::zeroed(modulus.len(), layout.rows());
    let chunks = layout.padded_rows() / PAD;
    for first in (0..chunks).step_by(PART) {
        // The sums of all rows at once would take more memory than the result.
        let sums: Vec<_> = (first..chunks.min(first + PART)).into_par_iter().map(rows_of).collect();
        for (w, (b, word)) in b.words_mut().zip(modulus.words()).enumerate() {
            let rows = b.iter_mut().zip(noise).skip(first * PAD).take(PART * PAD);
            for (i, (b, &e)) in rows.enumerate() {
                let product = matrix::finish_split(*word, sums[i / PAD][w * PAD + i % PAD]);
                *b = word.sub(word.reduce_signed(2 * e), product);
            }
        }
        steps.next()?;
    }
    Ok(b)
}
