//! Step 2 of Recrypt: the encrypted columns `v_kj = sum_(a<b) bit_j(z_k(a,b)) eta_ka eta_kb`.

use super::kernels::Kernels;
use super::memory::Shape;
use crate::bigint::{Modulus, WordSums, Workspace};
use crate::complex::{Lists, Operand};
use crate::{Arg, Buffer, Error, Launch, Stream};
use solinas_schemes::gh::{Params, RecryptMethod, ServerKey};

/// The tables of a method.
#[derive(Debug)]
pub(super) enum Columns {
    /// The products of pairs: `S` residues of each block, and the groups of rows that a block of the kernel adds.
    Pairs { table: Buffer<u64>, groups: Buffer<u32> },
    /// The indicators, and the transforms of the indicators that are first in a pair.
    Full { indicators: Buffer<u64>, spectra: Buffer<f64>, sets: Vec<Set> },
}

/// Blocks of the key that the full FFT takes together.
#[derive(Debug)]
pub(super) struct Set {
    /// The first block, and the number of blocks.
    first: usize,
    blocks: usize,
    /// First row, first candidate, and number of rows of each first index of each block.
    groups: Buffer<u32>,
    group_count: usize,
    /// For each column, pairs of the transform of an inner sum and the transform of its first indicator.
    pairs: Lists,
}

/// The buffers of the full FFT: the inner sums, their transforms, and the transforms of the columns.
#[derive(Debug)]
pub(super) struct Inner {
    wide: Buffer<u64>,
    spectra: Buffer<f64>,
    columns: Buffer<f64>,
}

impl Columns {
    /// Makes the tables. `pairs` gives the products of a block if they are known.
    pub(super) fn new(
        stream: &Stream,
        modulus: &Modulus,
        server: &ServerKey,
        method: RecryptMethod,
        workspace: &Workspace,
        pairs: impl Fn(usize) -> Option<Vec<u64>>,
    ) -> Result<Self, Error> {
        let params = server.params();
        let shape = Shape::new(params, modulus.words());
        let (blocks, count, words) = (params.blocks(), params.candidates(), modulus.words());
        if method == RecryptMethod::FullFft {
            let indicators = stream.buffer_of(server.indicators(), "the indicators of a server key")?;
            return Self::full(stream, modulus, params, indicators, shape.blocks_at_once());
        }
        let table = stream.buffer(blocks * count * words, "a pair table")?;
        let groups: Vec<u32> = (0..blocks).flat_map(|k| [k * count, k * count, count]).map(|n| n as u32).collect();
        let groups = stream.buffer_of(&groups, "the groups of a pair table")?;
        let mut indicators = None;
        for k in 0..blocks {
            if let Some(products) = pairs(k) {
                stream.write(&table, k * count * words, &products)?;
                continue;
            }
            let indicators = match &indicators {
                Some(indicators) => indicators,
                None => indicators.insert(stream.buffer_of(server.indicators(), "the indicators of a server key")?),
            };
            let m = params.indicators();
            let mut rest: Vec<[u32; 2]> = Vec::with_capacity(count);
            for (a, pairs) in params.pairs().enumerate() {
                rest.extend((0..pairs).map(|i| [k * m + a, k * m + a + 1 + i].map(|n| n as u32)));
            }
            for (i, pairs) in rest.chunks(shape.items(method)).enumerate() {
                let place = |side: usize| {
                    let places: Vec<u32> = pairs.iter().map(|pair| pair[side]).collect();
                    stream.buffer_of(&places, "the pairs of a pair table")
                };
                let (a, b) = (place(0)?, place(1)?);
                let all = Operand::new(indicators, blocks * m)?;
                let (x, y) = (all.picked(&a, pairs.len()), all.picked(&b, pairs.len()));
                let to = (&table, k * count + i * shape.items(method));
                modulus.product_to(x, Some(y), to, workspace)?.iter().try_for_each(|step| stream.launch(step))?;
            }
        }
        stream.synchronize()?;
        Ok(Self::Pairs { table, groups })
    }

    fn full(
        stream: &Stream,
        modulus: &Modulus,
        params: &Params,
        indicators: Buffer<u64>,
        at_once: usize,
    ) -> Result<Self, Error> {
        let (blocks, m, firsts) = (params.blocks(), params.indicators(), params.first_indices());
        let (count, width) = (params.candidates(), params.precision() + 1);
        let spectra = stream.buffer(blocks * firsts * modulus.spectrum_len(), "the transforms of a server key")?;
        let places: Vec<u32> = (0..blocks).flat_map(|k| (0..firsts).map(move |a| (k * m + a) as u32)).collect();
        let places = stream.buffer_of(&places, "the transforms of a server key")?;
        let all = Operand::new(&indicators, blocks * m)?.picked(&places, blocks * firsts);
        modulus.plan().transform(all, &spectra)?.iter().try_for_each(|step| stream.launch(step))?;
        let set = |first: usize| -> Result<Set, Error> {
            let blocks = at_once.min(blocks - first);
            let mut groups = Vec::new();
            let mut pairs = vec![Vec::new(); blocks * width];
            for k in 0..blocks {
                let mut candidate = (first + k) * count;
                for (a, rows) in params.pairs().enumerate() {
                    groups.extend([(first + k) * m + a + 1, candidate, rows].map(|n| n as u32));
                    candidate += rows;
                    for j in 0..width {
                        let inner = (k * firsts + a) * width + j;
                        pairs[k * width + j].push([inner, (first + k) * firsts + a].map(|n| n as u32));
                    }
                }
            }
            let group_count = groups.len() / 3;
            let groups = stream.buffer_of(&groups, "the groups of a Recrypt")?;
            Ok(Set { first, blocks, groups, group_count, pairs: Lists::new(stream, &pairs)? })
        };
        let sets = (0..blocks).step_by(at_once).map(set).collect::<Result<_, _>>()?;
        stream.synchronize()?;
        Ok(Self::Full { indicators, spectra, sets })
    }

    /// Makes the buffers that the full FFT needs.
    pub(super) fn inner(&self, stream: &Stream, modulus: &Modulus, width: usize) -> Result<Option<Inner>, Error> {
        let Self::Full { sets, .. } = self else { return Ok(None) };
        let groups = sets.iter().map(|set| set.group_count).max().unwrap_or(0);
        let blocks = sets.iter().map(|set| set.blocks).max().unwrap_or(0);
        let what = "the inner sums of a Recrypt";
        Ok(Some(Inner {
            wide: stream.buffer(groups * width * (modulus.words() + 1), what)?,
            spectra: stream.buffer(groups * width * modulus.spectrum_len(), what)?,
            columns: stream.buffer(blocks * width * modulus.spectrum_len(), what)?,
        }))
    }

    /// Residue (p + 1) k + j of `values` <- `v_kj`.
    pub(super) fn launches<'p>(
        &'p self,
        modulus: &'p Modulus,
        kernels: &'p Kernels,
        params: &Params,
        (candidates, values): (&Buffer<u32>, &Buffer<u64>),
        (sums, inner): (&WordSums, Option<&Inner>),
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let width = params.precision() + 1;
        let add = |rows: &Buffer<u64>, groups: &Buffer<u32>, count: usize| {
            let args = vec![
                Arg::read(rows),
                Arg::read(candidates),
                Arg::read(groups),
                Arg::write(&sums.low),
                Arg::write(&sums.high),
                (modulus.words() as u32).into(),
                (width as u32).into(),
            ];
            let grid = [(modulus.words() as u32).div_ceil(256), count as u32, 1];
            Launch { kernel: &kernels.columns, grid, block: 256, shared: 0, args }
        };
        let mut launches = Vec::new();
        match self {
            Self::Pairs { table, groups } => {
                launches.push(add(table, groups, params.blocks()));
                launches.extend(modulus.reduce_sums(sums, params.blocks() * width, (values, 0), workspace)?);
            }
            Self::Full { indicators, spectra, sets } => {
                for set in sets {
                    let Some(inner) = inner else { continue };
                    let items = set.group_count * width;
                    launches.push(add(indicators, &set.groups, set.group_count));
                    launches.extend(modulus.collect(sums, &inner.wide, items, workspace)?);
                    let all = inner.wide.len() / (modulus.words() + 1);
                    let wide = Operand::new(&inner.wide, all)?.first(items)?;
                    let plan = modulus.plan();
                    launches.extend(plan.transform(wide, &inner.spectra)?);
                    launches.push(plan.sums(&inner.columns, &inner.spectra, spectra, &set.pairs)?);
                    let to = (values, set.first * width);
                    launches.extend(modulus.reduce_spectra(&inner.columns, set.blocks * width, to, workspace)?);
                }
            }
        }
        Ok(launches)
    }
}
