//! Numbers from their residues.

use super::Engine;
use super::work::{inverses, moduli};
use crate::{Arg, Error, Launch, Stream};
use solinas_bigint::Natural;
use solinas_schemes::lwe::{Modulus, Vector};

/// Numbers of a block of threads.
const NUMBERS: usize = 32;
/// The largest number of words, by the shared memory of a multiprocessor.
const WORDS: usize = 800;

/// The low and high halves of words.
fn halves(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])
}

impl Engine {
    /// Reconstructs numbers below the modulus from their residues.
    ///
    /// # Errors
    /// [`Dimension`](solinas_schemes::Error::Dimension) for a vector of another modulus. [`Error::Unsupported`] for a
    /// modulus of more than 800 words. [`Error::Memory`]; the errors of the device.
    pub fn reconstruct(&self, modulus: &Modulus, vector: &Vector) -> Result<Vec<Natural>, Error> {
        modulus.check_vector(vector)?;
        let (words, count, limbs) = (modulus.len(), vector.len(), 2 * modulus.limbs());
        if words > WORDS {
            return Err(Error::Unsupported { params: format!("a modulus of {words} words") });
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let stream = Stream::new(&self.device)?;
        const WHAT: &str = "the reconstruction of numbers";
        let flat = |rows: &[Vec<u64>]| rows.iter().flat_map(|row| halves(row)).collect::<Vec<u32>>();
        let residues = stream.buffer_of(&vector.residues(), WHAT)?;
        let inverses = stream.buffer_of(&inverses(modulus), WHAT)?;
        let constants = [&moduli(modulus), modulus.inverses(), &flat(modulus.cofactors()), &flat(modulus.multiples())];
        let [moduli, scales, cofactors, multiples] = constants.map(|words| stream.buffer_of(words, WHAT));
        let (moduli, scales, cofactors, multiples) = (moduli?, scales?, cofactors?, multiples?);
        let numbers = stream.buffer::<u32>(count * limbs, WHAT)?;
        let mut args = vec![Arg::write(&numbers), Arg::read(&residues), Arg::read(&moduli), Arg::read(&inverses)];
        args.extend([&scales, &cofactors, &multiples].map(Arg::read));
        args.extend([count, words, limbs, modulus.multiples().len()].map(|number| Arg::from(number as u32)));
        stream.launch(&Launch {
            kernel: &self.kernels.reconstruct,
            grid: [count.div_ceil(NUMBERS) as u32, 1, 1],
            block: NUMBERS as u32,
            shared: (4 * NUMBERS * (words + limbs)) as u32,
            args,
        })?;
        let mut out = vec![0u32; count * limbs];
        stream.read(&numbers, 0, &mut out)?;
        let number = |limbs: &[u32]| {
            let pairs = limbs.as_chunks::<2>().0.iter();
            let words: Vec<u64> = pairs.map(|&[low, high]| u64::from(high) << 32 | u64::from(low)).collect();
            Natural::from_words(words)
        };
        Ok(out.chunks_exact(limbs).map(number).collect())
    }
}
