//! Encryption of batches of bits: `c = b + 2 u(r) mod d`, with a table of all powers of r on the device.

use crate::bigint::{Modulus, WordSums, Workspace};
use crate::complex::{Lists, Operand};
use crate::{Buffer, Device, Error, Launch, Stream};
use rand_core::RngCore;
use solinas_schemes::gh::{Ciphertext, Noise, PublicKey, noise};
use std::sync::Arc;

/// Products of the table that are computed together.
const TABLE_BATCH: usize = 64;

/// Encryption under a public key on a device, for research. The noise polynomial of each encryption goes to the device.
/// It reveals the bit to anyone who can read the memory of the device. A batch overwrites it at its end.
#[derive(Debug)]
pub struct Encryptor {
    public: Arc<PublicKey>,
    stream: Stream,
    modulus: Modulus,
    /// The residues r^0 to r^(n-1).
    powers: Buffer<u64>,
    workspace: Workspace,
    sums: WordSums,
    /// The sums of added and of subtracted powers, the number 1, and the ciphertexts.
    values: Buffer<u64>,
    subtracted: Buffer<u64>,
    batch: usize,
}

impl Encryptor {
    /// Makes the powers of r on a device, for batches of up to `batch` bits.
    ///
    /// # Errors
    /// [`Error::Memory`]; [`Error::Launch`] for batches of no bits; the errors of the device.
    pub fn new(device: &Device, public: Arc<PublicKey>, batch: usize) -> Result<Self, Error> {
        let (n, words) = (public.params().dimension(), public.words());
        let stream = Stream::new(device)?;
        let modulus = Modulus::new(device, public.d())?;
        let items = batch.max(TABLE_BATCH.min(n));
        let buffer = |count: usize, what| stream.buffer::<u64>(count * words, what);
        let powers = buffer(n, "the powers of a public key")?;
        let encryptor = Self {
            workspace: modulus.workspace(&stream, items)?,
            sums: WordSums::new(&stream, words, items)?,
            values: buffer(3 * batch + 1, "the encryptions of a batch")?,
            subtracted: buffer(batch, "the encryptions of a batch")?,
            powers,
            public,
            stream,
            modulus,
            batch,
        };
        encryptor.make_powers()?;
        encryptor.stream.synchronize()?;
        Ok(encryptor)
    }

    /// Doubles the number of powers until all are there: `r^(m + i) = r^m r^i`.
    fn make_powers(&self) -> Result<(), Error> {
        let (n, words) = (self.public.params().dimension(), self.modulus.words());
        let mut first = vec![0; 2 * words];
        first[0] = 1;
        let r = self.public.r().words();
        first[words..words + r.len()].copy_from_slice(r);
        self.stream.write(&self.powers, 0, &first[..2.min(n) * words])?;
        let mut known = 2;
        while known < n {
            // r^known = r^(known - 1) r.
            self.product(&[known as u32 - 1], &[1], known)?;
            for start in (1..known.min(n - known)).step_by(TABLE_BATCH) {
                let factors: Vec<u32> =
                    (start..known.min(n - known).min(start + TABLE_BATCH)).map(|i| i as u32).collect();
                self.product(&factors, &vec![known as u32; factors.len()], known + start)?;
            }
            known *= 2;
        }
        Ok(())
    }

    /// Powers from `to` on <- the products of powers.
    fn product(&self, x: &[u32], y: &[u32], to: usize) -> Result<(), Error> {
        let all = Operand::new(&self.powers, self.public.params().dimension())?;
        let place = |places: &[u32]| self.stream.buffer_of(places, "the powers of a public key");
        let (a, b) = (place(x)?, place(y)?);
        let (a, b) = (all.picked(&a, x.len()), all.picked(&b, y.len()));
        self.run(&self.modulus.product_to(a, Some(b), (&self.powers, to), &self.workspace)?)
    }

    fn run(&self, launches: &[Launch<'_>]) -> Result<(), Error> {
        launches.iter().try_for_each(|launch| self.stream.launch(launch))
    }

    /// Encrypts bits, with the ciphertexts of [`solinas_schemes::gh::Encryptor::encrypt_batch`] for the same randomness.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn encrypt(&self, bits: &[bool], rng: &mut impl RngCore) -> Result<Vec<Ciphertext>, Error> {
        let params = self.public.params();
        let noises: Vec<Noise> = bits.iter().map(|_| Noise::draw(params, rng)).collect();
        let mut all = Vec::with_capacity(bits.len());
        for (bits, noises) in bits.chunks(self.batch.max(1)).zip(noises.chunks(self.batch.max(1))) {
            all.extend(self.encrypt_together(bits, noises)?);
        }
        Ok(all)
    }

    /// Encrypts a batch and overwrites what it left on the device, also after an error.
    fn encrypt_together(&self, bits: &[bool], noises: &[Noise]) -> Result<Vec<Ciphertext>, Error> {
        let mut secrets = Vec::new();
        let words = self.sum_together(bits, noises, &mut secrets);
        let wiped = self.wipe(&secrets);
        let words = words?;
        wiped?;
        let fresh = noise::fresh(self.public.params());
        let ciphertext = |words: &[u64]| Ciphertext::from_parts(&self.public, words.to_vec(), fresh);
        Ok(words.chunks_exact(self.modulus.words()).map(ciphertext).collect::<Result<_, _>>()?)
    }

    fn wipe(&self, secrets: &[Lists]) -> Result<(), Error> {
        let stream = &self.stream;
        for secret in secrets {
            stream.fill(&secret.starts, 0)?;
            stream.fill(&secret.members, 0)?;
        }
        stream.fill(&self.sums.high, 0)?;
        [&self.sums.low, &self.subtracted, &self.values].into_iter().try_for_each(|secret| stream.fill(secret, 0))?;
        stream.synchronize()?;
        stream.device().wipe_staging()
    }

    /// The words of the encryptions of a batch. Its lists go to `secrets`.
    fn sum_together(&self, bits: &[bool], noises: &[Noise], secrets: &mut Vec<Lists>) -> Result<Vec<u64>, Error> {
        let Self { stream, modulus, powers, workspace, sums, values, subtracted, batch, .. } = self;
        let (items, words) = (bits.len(), modulus.words());
        for negative in [false, true] {
            let of =
                |noise: &Noise| noise.terms().iter().filter(|term| term.1 == negative).map(|term| [term.0]).collect();
            secrets.push(Lists::new(stream, &noises.iter().map(of).collect::<Vec<Vec<[u32; 1]>>>())?);
        }
        let mut one = vec![0; words];
        one[0] = 1;
        stream.write(values, 2 * batch * words, &one)?;
        self.run(&modulus.sums(powers, &secrets[0], (values, 0), sums, workspace)?)?;
        self.run(&modulus.sums(powers, &secrets[1], (subtracted, 0), sums, workspace)?)?;
        self.run(&modulus.negate(subtracted, subtracted, items, workspace)?)?;
        stream.copy((subtracted, 0), (values, batch * words), items * words)?;
        // b + 2 (added - subtracted).
        let list = |(i, &bit): (usize, &bool)| {
            let [plus, minus, one] = [i, batch + i, 2 * batch].map(|place| [place as u32]);
            let mut list = vec![plus, plus, minus, minus];
            list.extend(bit.then_some(one));
            list
        };
        secrets.push(Lists::new(stream, &bits.iter().enumerate().map(list).collect::<Vec<_>>())?);
        let first = 2 * batch + 1;
        self.run(&modulus.sums(values, &secrets[2], (values, first), sums, workspace)?)?;
        let mut out = vec![0; items * words];
        stream.read(values, first * words, &mut out)?;
        Ok(out)
    }
}
