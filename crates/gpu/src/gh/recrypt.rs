//! The graphs of products and of Recrypt, with their buffers.

use super::columns::{Columns, Inner};
use super::expand::Expansion;
use super::kernels::Kernels;
use super::memory::Shape;
use crate::bigint::{Modulus, WordSums, Workspace};
use crate::complex::{Lists, Operand};
use crate::{Buffer, Error, Graph, Launch, Stream};
use solinas_schemes::gh::{RecryptMethod, ResidueBatch, Schedule, ServerKey};

/// The graphs of the operations of a key, with their buffers. The graphs share buffers, so they run one after the
/// other.
#[derive(Debug)]
pub(super) struct Chain {
    stream: Stream,
    words: usize,
    /// The operands of a product, and the ciphertext of a Recrypt.
    x: Buffer<u64>,
    y: Buffer<u64>,
    multiply: Graph,
    /// The graph from the ciphertext to its candidates, and the graph from the candidates to the result.
    expand: Graph,
    sum: Graph,
    candidates: Buffer<u32>,
    unsure: Buffer<u32>,
    values: Buffer<u64>,
    /// Place of the result among the values.
    result: usize,
}

/// The buffers of the sum of columns.
struct Buffers<'a> {
    stream: &'a Stream,
    workspace: Workspace,
    sums: WordSums,
    operands: Buffer<f64>,
    products: Buffer<f64>,
    values: Buffer<u64>,
}

impl Chain {
    /// Makes the tables and records the graphs. `pairs` gives the products of a block of the pair table if they are known.
    pub(super) fn new(
        modulus: &Modulus,
        server: &ServerKey,
        method: RecryptMethod,
        pairs: impl Fn(usize) -> Option<Vec<u64>>,
    ) -> Result<Self, Error> {
        let (device, params, words) = (modulus.device(), server.params(), modulus.words());
        let stream = Stream::new(device)?;
        let kernels = Kernels::new(device)?;
        let shape = Shape::new(params, words);
        let items = shape.items(method);
        let schedule = Schedule::new(params.blocks(), params.precision());
        let what = "the values of a Recrypt";
        let spectra = |count: usize| stream.buffer(count * modulus.spectrum_len(), what);
        let buffers = Buffers {
            stream: &stream,
            workspace: modulus.workspace(&stream, items)?,
            sums: WordSums::new(&stream, words, items)?,
            operands: spectra(shape.operands())?,
            products: spectra(shape.sums())?,
            values: stream.buffer(schedule.slots as usize * words, what)?,
        };
        let expansion = Expansion::new(&stream, server)?;
        let columns = Columns::new(&stream, modulus, server, method, &buffers.workspace, pairs)?;
        let inner: Option<Inner> = columns.inner(&stream, modulus, params.precision() + 1)?;
        let numbers = |len: usize| stream.buffer(len, what);
        let (candidates, unsure) = (numbers(params.blocks() * params.candidates())?, numbers(params.blocks())?);
        let (x, y) = (stream.buffer(words, what)?, stream.buffer(words, what)?);

        let expand = expansion.launches(&kernels, server, &x, (&candidates, &unsure))?;
        let expand = Graph::new(expansion.device(), &expand)?;
        let mut sum = columns.launches(
            modulus,
            &kernels,
            params,
            (&candidates, &buffers.values),
            (&buffers.sums, inner.as_ref()),
            &buffers.workspace,
        )?;
        for batch in &schedule.batches {
            sum.extend(buffers.launches(modulus, batch, schedule.slots as usize)?);
        }
        let sum = Graph::new(device, &sum)?;
        let multiply = modulus.product(Operand::new(&x, 1)?, Some(Operand::new(&y, 1)?), &x, &buffers.workspace)?;
        let multiply = Graph::new(device, &multiply)?;
        let values = buffers.values.clone();
        stream.synchronize()?;
        let result = schedule.result as usize;
        Ok(Self { stream, words, x, y, multiply, expand, sum, candidates, unsure, values, result })
    }

    /// The product of two residues.
    pub(super) fn multiply(&self, x: &[u64], y: &[u64]) -> Result<Vec<u64>, Error> {
        self.stream.write(&self.x, 0, x)?;
        self.stream.write(&self.y, 0, y)?;
        self.stream.replay(&self.multiply)?;
        self.read(&self.x, 0)
    }

    /// Recrypts a residue. Returns `None` if an error may have reached its candidates.
    pub(super) fn recrypt(&self, x: &[u64]) -> Result<Option<Vec<u64>>, Error> {
        self.stream.write(&self.x, 0, x)?;
        self.stream.replay(&self.expand)?;
        self.stream.replay(&self.sum)?;
        let mut unsure = vec![0; self.unsure.len()];
        self.stream.read(&self.unsure, 0, &mut unsure)?;
        if unsure.contains(&1) {
            return Ok(None);
        }
        self.read(&self.values, self.result).map(Some)
    }

    /// Recrypts from candidates that the processor computed.
    pub(super) fn recrypt_candidates(&self, candidates: &[Vec<u8>]) -> Result<Vec<u64>, Error> {
        let candidates: Vec<u32> = candidates.iter().flatten().map(|&candidate| candidate.into()).collect();
        self.stream.write(&self.candidates, 0, &candidates)?;
        self.stream.replay(&self.sum)?;
        self.read(&self.values, self.result)
    }

    fn read(&self, from: &Buffer<u64>, place: usize) -> Result<Vec<u64>, Error> {
        let mut words = vec![0; self.words];
        self.stream.read(from, place * self.words, &mut words)?;
        Ok(words)
    }
}

impl Buffers<'_> {
    /// The launches of a batch of the sum of columns.
    fn launches<'p>(&self, modulus: &'p Modulus, batch: &ResidueBatch, slots: usize) -> Result<Vec<Launch<'p>>, Error> {
        let Self { stream, workspace, sums: word_sums, operands: spectra, products, values } = self;
        match batch {
            ResidueBatch::Sums { lists, to } => {
                let lists = Lists::new(stream, lists)?;
                modulus.sums(values, &lists, (values, *to as usize), word_sums, workspace)
            }
            ResidueBatch::Products { operands, sums, to } => {
                let places = stream.buffer_of(operands, "the operands of a sum")?;
                let pairs = Lists::new(stream, sums)?;
                let picked = Operand::new(values, slots)?.picked(&places, operands.len());
                let mut launches = modulus.plan().transform(picked, spectra)?;
                launches.push(modulus.plan().sums(products, spectra, spectra, &pairs)?);
                launches.extend(modulus.reduce_spectra(products, sums.len(), (values, *to as usize), workspace)?);
                Ok(launches)
            }
        }
    }
}
