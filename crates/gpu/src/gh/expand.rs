//! Step 1 of Recrypt: the candidates of every block, from the expansions of `c x_k / d`.

use super::kernels::Kernels;
use crate::bigint::plan;
use crate::complex::{Operand, Plan, Scratch};
use crate::{Arg, Buffer, Device, Error, Launch, Stream};
use solinas_schemes::gh::ServerKey;

/// The factors of the expansions as transforms, and the buffers of step 1.
#[derive(Debug)]
pub(super) struct Expansion {
    plan: Plan,
    /// The transforms of the factors of all blocks.
    factors: Buffer<f64>,
    /// The parity of each `x_k`.
    parities: Buffer<u32>,
    ciphertext: Buffer<f64>,
    products: Buffer<f64>,
    expansions: Buffer<u64>,
    scratch: Scratch,
}

impl Expansion {
    pub(super) fn new(stream: &Stream, server: &ServerKey) -> Result<Self, Error> {
        let (blocks, words) = (server.params().blocks(), server.public().words());
        let plan = plan(stream.device(), Self::bits(server.expansion_point()))?;
        let what = "the expansions of a Recrypt";
        let spectra = |count: usize| stream.buffer(count * plan.spectrum_len(), what);
        let factors = spectra(blocks)?;
        let factor_words = server.expansion_point().div_ceil(64);
        let mut numbers = Vec::with_capacity(blocks * factor_words);
        for k in 0..blocks {
            numbers.extend_from_slice(server.expansion_factor(k)?.words());
            numbers.resize((k + 1) * factor_words, 0);
        }
        let numbers = stream.buffer_of(&numbers, what)?;
        plan.transform(Operand::new(&numbers, blocks)?, &factors)?.iter().try_for_each(|step| stream.launch(step))?;
        let parities: Vec<u32> = server.x().chunks_exact(words).map(|x| (x[0] & 1) as u32).collect();
        let (parities, scratch) = (stream.buffer_of(&parities, what)?, plan.scratch(stream, blocks)?);
        let (ciphertext, products) = (spectra(1)?, spectra(blocks)?);
        let expansions = stream.buffer(blocks * plan.words(), what)?;
        stream.synchronize()?;
        Ok(Self { plan, factors, parities, ciphertext, products, expansions, scratch })
    }

    /// Bits of the products, for factors of `point` bits.
    pub(super) fn bits(point: usize) -> usize {
        point + 2
    }

    /// For each block, `candidates` <- the candidates of the residue in `c`, and `unsure` <- whether an error may have
    /// reached them.
    pub(super) fn launches<'p>(
        &'p self,
        kernels: &'p Kernels,
        server: &ServerKey,
        c: &Buffer<u64>,
        (candidates, unsure): (&Buffer<u32>, &Buffer<u32>),
    ) -> Result<Vec<Launch<'p>>, Error> {
        let Self { plan, factors, parities, ciphertext, products, expansions, scratch } = self;
        let params = server.params();
        let blocks = params.blocks();
        let mut launches = plan.transform(Operand::new(c, 1)?, ciphertext)?;
        launches.push(plan.multiply(products, factors, ciphertext, blocks, false)?);
        launches.extend(plan.inverse(products, blocks, expansions, scratch)?);
        let mut args =
            vec![Arg::write(candidates), Arg::write(unsure), Arg::read(expansions), Arg::read(c), Arg::read(parities)];
        let guard = server.public().d().bit_len() + 2;
        let (point, ratio) = (server.expansion_point(), params.ratio_bits());
        let numbers = [plan.words(), params.candidates(), point, ratio, params.precision(), guard];
        args.extend(numbers.map(|number| Arg::from(number as u32)));
        let grid = [(params.candidates() as u32).div_ceil(128), blocks as u32, 1];
        launches.push(Launch { kernel: &kernels.candidates, grid, block: 128, shared: 0, args });
        Ok(launches)
    }

    pub(super) fn device(&self) -> &Device {
        self.plan.device()
    }
}
