//! Step 2 of Recrypt: the encrypted columns `v_kj = sum_(a<b) bit_j(z_k(a,b)) eta_ka eta_kb`.

use rand_core::RngCore;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use solinas_field::limbs;

use super::super::encrypt::SPECTRUM_FACTOR;
use super::super::method::Method;
use super::super::modulus::Modulus;
use super::super::{Error, Params, PublicKey, Residues, ServerKey};
use crate::random::SecretSeed;
use solinas_bigint::Natural;
use solinas_bigint::fft::Spectrum;

/// How the columns are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecryptMethod {
    /// Multiplies the inner sums over `b` by `eta_ka`. Every product is transformed back and reduced (`wang2014`
    /// 4.3.2). Stores no tables.
    PartialFft,
    /// Stores the transforms of `eta_ka`. The products of a column are summed as transforms and reduced once
    /// (`wang2015` 5.2).
    FullFft,
    /// Stores the products `eta_ka eta_kb`. A column is a sum of residues and takes no product.
    PairTable,
}

impl RecryptMethod {
    /// All methods, the fastest first.
    pub const ALL: [Self; 3] = [Self::PairTable, Self::FullFft, Self::PartialFft];

    /// Name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::PartialFft => "partial-FFT recryption",
            Self::FullFft => "full-FFT recryption",
            Self::PairTable => "pair-table recryption",
        }
    }

    /// Approximate bytes of the method's tables, without the server key.
    pub fn memory(self, params: &Params) -> u64 {
        let residue = 8 * params.words() as u64;
        let blocks = params.blocks() as u64;
        // The factors of the expansion have half the length of a product.
        let expansion = blocks * residue * SPECTRUM_FACTOR / 2;
        expansion
            + residue
                * match self {
                    Self::PartialFft => 0,
                    Self::FullFft => blocks * params.first_indices() as u64 * SPECTRUM_FACTOR,
                    Self::PairTable => blocks * params.candidates() as u64,
                }
    }

    /// Returns the first of [`Self::ALL`] whose tables fit in `memory` bytes.
    ///
    /// # Errors
    /// [`Error::Memory`] if none fits. It states the size of the smallest.
    pub fn fitting(params: &Params, memory: u64) -> Result<Self, Error> {
        Self::fastest(params, memory)
    }
}

impl Method for RecryptMethod {
    const BY_SPEED: &'static [Self] = &Self::ALL;

    fn title(self) -> &'static str {
        self.name()
    }

    fn bytes(self, params: &Params) -> u64 {
        self.memory(params)
    }
}

/// Words of a strip of residues that are summed together. 32 sums of a strip take 32 KiB, about a first-level cache.
const STRIP: usize = 128;

pub(super) enum Blocks {
    Partial,
    /// Indexed by block, then by `a`.
    Full(Vec<Vec<Spectrum>>),
    /// Block by block: the first [`STRIP`] words of `S` residues, then their next words, and so on. Zeros pad the last
    /// strip.
    Pairs(Residues),
}

impl Blocks {
    pub(super) fn new(server: &ServerKey, modulus: &Modulus, method: RecryptMethod) -> Result<Self, Error> {
        let params = server.params();
        let blocks = 0..params.blocks();
        Ok(match method {
            RecryptMethod::PartialFft => Self::Partial,
            RecryptMethod::FullFft => {
                let spectra = |k: usize| {
                    let firsts = (0..params.first_indices()).into_par_iter();
                    firsts.map(|a| modulus.forward(server.indicator(k, a))).collect::<Result<_, _>>()
                };
                Self::Full(blocks.map(spectra).collect::<Result<_, _>>()?)
            }
            RecryptMethod::PairTable => {
                let mut table = vec![0; pair_table_words(server.public())];
                let tables = table.par_chunks_exact_mut(block_words(server.public())).enumerate();
                tables.try_for_each(|(k, table)| pair_products(server, modulus, k, table))?;
                Self::Pairs(table.into())
            }
        })
    }

    /// Builds the blocks from a pair table that was computed before. Checks the table.
    pub(super) fn with_pairs(server: &ServerKey, modulus: &Modulus, table: Residues) -> Result<Self, Error> {
        let (words, want) = (table.as_slice().len(), pair_table_words(server.public()));
        if words != want {
            return Err(foreign(format!("it has {words} words instead of {want}")));
        }
        let tables = table.as_slice().par_chunks_exact(block_words(server.public())).enumerate();
        tables.try_for_each(|(k, table)| check_pair_products(server, modulus, k, table))?;
        Ok(Self::Pairs(table))
    }

    pub(super) fn pairs(&self) -> Option<&[u64]> {
        match self {
            Self::Pairs(table) => Some(table.as_slice()),
            _ => None,
        }
    }

    /// The products of block `k`, residue by residue.
    pub(super) fn pair_products(&self, public: &PublicKey, k: usize) -> Option<Vec<u64>> {
        let (count, words) = (public.params().candidates(), public.words());
        let table = &self.pairs()?[k * block_words(public)..][..block_words(public)];
        let word = |i: usize, at: usize| table[(at / STRIP * count + i) * STRIP + at % STRIP];
        Some((0..count).flat_map(|i| (0..words).map(move |at| word(i, at))).collect())
    }

    pub(super) fn method(&self) -> RecryptMethod {
        match self {
            Self::Partial => RecryptMethod::PartialFft,
            Self::Full(_) => RecryptMethod::FullFft,
            Self::Pairs(_) => RecryptMethod::PairTable,
        }
    }

    /// Computes `v_kj`. Shape: by `j` in `0..=p`, then by `k`.
    pub(super) fn columns(
        &self,
        server: &ServerKey,
        modulus: &Modulus,
        candidates: &[Vec<u8>],
    ) -> Result<Vec<Vec<Vec<u64>>>, Error> {
        let params = server.params();
        let bits = params.precision() + 1;
        let blocks: Vec<Vec<Vec<u64>>> = candidates
            .par_iter()
            .enumerate()
            .map(|(k, candidates)| match self {
                Self::Partial => reduced_products(server, modulus, k, candidates),
                Self::Full(spectra) => summed_products(server, modulus, k, candidates, &spectra[k]),
                Self::Pairs(table) => {
                    let mut sums = Sums::new(modulus, bits);
                    let block = block_words(server.public());
                    let table = &table.as_slice()[k * block..][..block];
                    sums.add(|i, start, end| &table[start * candidates.len() + i * STRIP..][..end - start], candidates);
                    Ok(sums.reduced(modulus))
                }
            })
            .collect::<Result<_, _>>()?;
        let mut columns = vec![Vec::with_capacity(params.blocks()); bits];
        for block in blocks {
            for (column, residue) in columns.iter_mut().zip(block) {
                column.push(residue);
            }
        }
        Ok(columns)
    }
}

/// Sums of residues, one for each bit of the candidates, highest bit first. The sums are wide residues.
struct Sums {
    words: usize,
    sums: Vec<Vec<u64>>,
}

impl Sums {
    fn new(modulus: &Modulus, bits: usize) -> Self {
        Self { words: modulus.words(), sums: vec![vec![0; modulus.words() + 1]; bits] }
    }

    /// Adds each summand to the sums of the bits that its candidate has. Fewer than `2^24` summands in total.
    /// `words(i, start, end)` returns these words of summand `i`.
    ///
    /// If there are many summands, each is first added to the bucket of its candidate. Then the buckets are added up,
    /// highest bit first. The upper half of the buckets is the sum of that bit. It is also added to the lower half for
    /// the bits below.
    fn add<'a>(&mut self, words: impl Fn(usize, usize, usize) -> &'a [u64], candidates: &[u8]) {
        let bits = self.sums.len();
        let values = 1 << bits;
        // Cost in additions: one for each summand and two for each bucket, against one for each bit that is set.
        if candidates.len() + 2 * values > candidates.len() * bits / 2 {
            return self.add_by_bit(words, candidates);
        }
        let mut buckets = vec![0u64; values * (STRIP + 1)];
        for start in (0..self.words).step_by(STRIP) {
            let end = (start + STRIP).min(self.words);
            let len = end - start + 1;
            let buckets = &mut buckets[..values * len];
            buckets.fill(0);
            for (i, &candidate) in candidates.iter().enumerate() {
                limbs::add(&mut buckets[usize::from(candidate) * len..][..len], words(i, start, end));
            }
            for (j, sum) in self.sums.iter_mut().enumerate() {
                let (low, high) = buckets[..(values >> j) * len].split_at_mut((values >> (j + 1)) * len);
                for (i, (low, high)) in low.chunks_exact_mut(len).zip(high.chunks_exact(len)).enumerate() {
                    let carry = limbs::add(&mut sum[start..=end], high);
                    add_carry(&mut sum[end + 1..], carry);
                    if i > 0 {
                        limbs::add(low, high);
                    }
                }
            }
        }
    }

    /// Adds by one addition for each bit that is set.
    fn add_by_bit<'a>(&mut self, words: impl Fn(usize, usize, usize) -> &'a [u64], candidates: &[u8]) {
        let top = self.sums.len() - 1;
        for start in (0..self.words).step_by(STRIP) {
            let end = (start + STRIP).min(self.words);
            let mut carries = [0u64; 8];
            for (i, candidate) in candidates.iter().enumerate() {
                let summand = words(i, start, end);
                for (j, (sum, carry)) in self.sums.iter_mut().zip(&mut carries).enumerate() {
                    if candidate >> (top - j) & 1 == 1 {
                        *carry += limbs::add(&mut sum[start..end], summand);
                    }
                }
            }
            for (sum, carry) in self.sums.iter_mut().zip(carries) {
                add_carry(&mut sum[end..], carry);
            }
        }
    }

    fn reduced(mut self, modulus: &Modulus) -> Vec<Vec<u64>> {
        for sum in &mut self.sums {
            modulus.reduce_wide(sum);
            sum.truncate(self.words);
        }
        self.sums
    }
}

/// words <- words + carry, up to the word where the carry ends.
fn add_carry(words: &mut [u64], mut carry: u64) {
    for word in words {
        if carry == 0 {
            return;
        }
        let (sum, over) = word.overflowing_add(carry);
        (*word, carry) = (sum, over.into());
    }
}

/// The inner sums of a block, `sum_b bit_j(z_k(a,b)) eta_kb` for each `a` that has candidates and each bit `j`, highest
/// bit first. The sums are wide residues.
///
/// All sums are computed strip by strip, so that a word of an indicator is read from memory once for all of them. The
/// indicators are in groups of [`GROUP`]. For each strip, the sums of all subsets of each group come first. Then every
/// inner sum adds up one subset sum of each group.
struct InnerSums {
    bits: usize,
    /// Words of a sum.
    len: usize,
    words: Vec<u64>,
}

/// Indicators of a group. Larger groups have more subsets than sums that use them.
const GROUP: usize = 4;
const SUBSETS: usize = 1 << GROUP;

impl InnerSums {
    fn new(server: &ServerKey, k: usize, candidates: &[u8]) -> Self {
        let params = server.params();
        let (bits, words) = (params.precision() + 1, server.public().words());
        let groups = params.indicators().div_ceil(GROUP);
        let subsets = selected_subsets(params, candidates, groups);
        let mut sums = vec![0; subsets.len() / groups * (words + 1)];
        // The words of a strip, and the word above them.
        let mut strips = vec![[0; STRIP]; groups * SUBSETS];
        let mut tops = vec![0; groups * SUBSETS];
        for start in (0..words).step_by(STRIP) {
            let end = (start + STRIP).min(words);
            let len = end - start;
            for group in 0..groups {
                let (strips, tops) = (&mut strips[group * SUBSETS..][..SUBSETS], &mut tops[group * SUBSETS..]);
                let first = group * GROUP;
                for (i, b) in (first..params.indicators().min(first + GROUP)).enumerate() {
                    // The subsets whose last member is b: b itself, and those before together with b.
                    let summand = &server.indicator(k, b)[start..end];
                    let (before, with) = strips.split_at_mut(1 << i);
                    with[0][..len].copy_from_slice(summand);
                    for (subset, (before, with)) in before.iter().zip(with).enumerate().skip(1) {
                        tops[subset | 1 << i] = tops[subset] + limbs::add_to(&mut with[..len], &before[..len], summand);
                    }
                }
            }
            for (sum, subsets) in sums.chunks_exact_mut(words + 1).zip(subsets.chunks_exact(groups)) {
                let chosen = subsets.iter().enumerate().filter(|(_, subset)| **subset != 0);
                let mut chosen = chosen.map(|(group, &subset)| group * SUBSETS + usize::from(subset));
                let sum = &mut sum[start..=end];
                let below = sum[0];
                let Some(first) = chosen.next() else { continue };
                sum[..len].copy_from_slice(&strips[first][..len]);
                sum[len] = tops[first];
                for at in chosen {
                    sum[len] += tops[at] + limbs::add(&mut sum[..len], &strips[at][..len]);
                }
                add_carry(sum, below);
            }
        }
        Self { bits, len: words + 1, words: sums }
    }

    /// The sum of bit `j` of the candidates of the pairs `(a, b)`.
    fn of(&self, a: usize, j: usize) -> &[u64] {
        &self.words[(a * self.bits + j) * self.len..][..self.len]
    }
}

/// For each `a`, each bit and each group, the indicators of the group that [`InnerSums`] adds: bit `i` stands for
/// indicator `i` of the group.
fn selected_subsets(params: &Params, candidates: &[u8], groups: usize) -> Vec<u8> {
    let bits = params.precision() + 1;
    let mut subsets = vec![0; params.first_indices() * bits * groups];
    let mut rest = candidates;
    for (a, (count, subsets)) in params.pairs().zip(subsets.chunks_exact_mut(bits * groups)).enumerate() {
        let (here, after) = rest.split_at(count);
        rest = after;
        for (b, candidate) in (a + 1..).zip(here) {
            for (j, subsets) in subsets.chunks_exact_mut(groups).enumerate() {
                subsets[b / GROUP] |= (candidate >> (bits - 1 - j) & 1) << (b % GROUP);
            }
        }
    }
    subsets
}

/// Columns of [`RecryptMethod::PartialFft`].
fn reduced_products(
    server: &ServerKey,
    modulus: &Modulus,
    k: usize,
    candidates: &[u8],
) -> Result<Vec<Vec<u64>>, Error> {
    let bits = server.params().precision() + 1;
    let inner = InnerSums::new(server, k, candidates);
    let mut columns = vec![vec![0; modulus.words()]; bits];
    for a in 0..server.params().first_indices() {
        let first = modulus.operand(server.indicator(k, a))?;
        columns.par_iter_mut().enumerate().try_for_each(|(j, column)| -> Result<(), Error> {
            modulus.add(column, &modulus.mul_spectrum(inner.of(a, j), &first)?);
            Ok(())
        })?;
    }
    Ok(columns)
}

/// Columns of [`RecryptMethod::FullFft`].
fn summed_products(
    server: &ServerKey,
    modulus: &Modulus,
    k: usize,
    candidates: &[u8],
    firsts: &[Spectrum],
) -> Result<Vec<Vec<u64>>, Error> {
    let inner = InnerSums::new(server, k, candidates);
    let column = |j: usize| {
        let [mut sum, mut operand] = [0, 1].map(|_| modulus.temporary());
        for (a, first) in firsts.iter().enumerate() {
            modulus.forward_to(&mut operand, inner.of(a, j))?;
            modulus.multiply_add(&mut sum, &operand, first)?;
        }
        modulus.reduce(&mut sum)
    };
    (0..=server.params().precision()).into_par_iter().map(column).collect()
}

/// Number of words of a key's pair table, see [`Blocks::Pairs`].
pub(super) fn pair_table_words(public: &PublicKey) -> usize {
    public.params().blocks() * block_words(public)
}

fn block_words(public: &PublicKey) -> usize {
    public.words().next_multiple_of(STRIP) * public.params().candidates()
}

fn foreign(problem: String) -> Error {
    Error::Material { part: "pair table", problem }
}

/// table <- `eta_ka eta_kb` of the first `S` pairs, in the order of [`Blocks::Pairs`]. The table is zero before, and
/// its padding stays zero.
fn pair_products(server: &ServerKey, modulus: &Modulus, k: usize, table: &mut [u64]) -> Result<(), Error> {
    let params = server.params();
    let (count, m) = (params.candidates(), params.indicators());
    let mut done = 0;
    for a in 0..params.first_indices() {
        let first = modulus.operand(server.indicator(k, a))?;
        let seconds = (a + 1..m.min(a + 1 + count - done)).into_par_iter();
        let products: Vec<Vec<u64>> =
            seconds.map(|b| modulus.mul_spectrum(server.indicator(k, b), &first)).collect::<Result<_, _>>()?;
        for product in products {
            for (strip, words) in product.chunks(STRIP).enumerate() {
                table[(strip * count + done) * STRIP..][..words.len()].copy_from_slice(words);
            }
            done += 1;
        }
    }
    Ok(())
}

/// Checks that a block of a table is the output of [`pair_products`]: every `p_i` is below `d`, and
/// `sum c_i p_i = sum_a eta_ka sum_b c_i eta_kb` for random `c_i` of 64 bits.
fn check_pair_products(server: &ServerKey, modulus: &Modulus, k: usize, table: &[u64]) -> Result<(), Error> {
    let (params, words) = (server.params(), modulus.words());
    let count = params.candidates();
    let mut rng = SecretSeed::from_os()?.stream(0);
    let factors: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
    let residue = |sum: Vec<u64>| -> Result<Vec<u64>, Error> {
        Ok(modulus.residue(&Natural::from_words(sum).rem(server.public().d())?))
    };

    let mut sum = vec![0; words.next_multiple_of(STRIP) + 2];
    for (strip, table) in table.chunks_exact(count * STRIP).enumerate() {
        let (part, above) = sum[strip * STRIP..].split_at_mut(STRIP);
        let carry = table
            .chunks_exact(STRIP)
            .zip(&factors)
            .fold(0u128, |carry, (words, &factor)| carry + u128::from(limbs::addmul_1(part, words, factor)));
        for (above, carry) in above.iter_mut().zip([carry as u64, (carry >> 64) as u64]) {
            *above = above.wrapping_add(carry);
        }
    }
    let got = residue(sum)?;

    let mut want = vec![0; words];
    let mut rest = &factors[..];
    for a in 0..params.first_indices() {
        let (here, after) = rest.split_at(rest.len().min(params.indicators() - 1 - a));
        rest = after;
        let mut inner = vec![0; words + 2];
        for (i, &factor) in here.iter().enumerate() {
            let carry = limbs::addmul_1(&mut inner[..words], server.indicator(k, a + 1 + i), factor);
            limbs::add_1(&mut inner[words..], carry);
        }
        modulus.add(&mut want, &modulus.mul(&residue(inner)?, server.indicator(k, a))?);
    }
    if got != want {
        return Err(foreign(format!("block {k} does not belong to this key")));
    }
    let word = |i: usize, at: usize| table[(at / STRIP * count + i) * STRIP + at % STRIP];
    let below = |i: usize| (0..words).rev().map(|at| word(i, at)).lt(modulus.d().iter().rev().copied());
    let filled = (words..words.next_multiple_of(STRIP)).all(|at| (0..count).all(|i| word(i, at) == 0));
    if !filled || !(0..count).all(below) {
        return Err(foreign(format!("a product of block {k} is not below d")));
    }
    Ok(())
}
