//! Key generation (Gentry and Halevi 2011; the six steps of the specification).

use core::ops::ControlFlow;

use rand_core::RngCore;
use solinas_bigint::Natural;
use zeroize::{Zeroize, Zeroizing};

use super::encrypt::{Noise, encrypt_many};
use super::lattice::{Resultant, Signed, split};
use super::modulus::{Arithmetic, Modulus};
use super::params::pair;
use super::{ClientKey, Error, Params, PublicKey, ServerKey, embedding, noise};
use crate::random::SecretSeed;
use crate::security::Status;

/// What key generation is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The lattice: `d` and the first coefficients of `w`, level by level.
    Lattice,
    /// The root `r`, and an odd coefficient of `w`.
    Root,
    /// The sparse subset sum.
    Squash,
    /// The encrypted indicators, by the powers of `r`.
    Indicators,
}

impl Stage {
    /// What it does, for a progress bar.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lattice => "the lattice of key generation",
            Self::Root => "the root of key generation",
            Self::Squash => "the subset sum of key generation",
            Self::Indicators => "the encrypted indicators of key generation",
        }
    }
}

/// Hears the stage, and how many of how many steps of it are done; stops the work by [`ControlFlow::Break`].
pub type Progress<'a> = &'a (dyn Fn(Stage, usize, usize) -> ControlFlow<()> + Sync);

fn report(progress: Progress<'_>, stage: Stage, done: usize, of: usize) -> Result<(), Error> {
    match progress(stage, done, of) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled { stage: stage.name() }),
    }
}

/// Makes a key pair from the operating system's randomness, on the current thread pool.
///
/// # Errors
/// [`Error::ResearchOnly`] unless `research`, as all parameters are; [`Error::Cancelled`]; [`Error::Entropy`].
pub fn generate(params: &Params, research: bool, progress: Progress<'_>) -> Result<(ClientKey, ServerKey), Error> {
    let seed = SecretSeed::from_os().map_err(|error| Error::Entropy(error.to_string()))?;
    from_seed(params, research, &seed, false, progress)
}

/// A reproducible key pair, for tests and benchmarks alone; what it makes is marked as insecure.
///
/// # Errors
/// [`Error::ResearchOnly`] unless `research`; [`Error::Cancelled`].
pub fn generate_insecure(
    params: &Params,
    research: bool,
    seed: u64,
    progress: Progress<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    from_seed(params, research, &SecretSeed::insecure(seed), true, progress)
}

fn from_seed(
    params: &Params,
    research: bool,
    seed: &SecretSeed,
    insecure: bool,
    progress: Progress<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    if let (Status::ResearchOnly { why }, false) = (params.security().status, research) {
        return Err(Error::ResearchOnly { why });
    }
    let mut attempt = 0;
    let lattice = loop {
        let v = Secret::draw(params, &mut seed.derive("gh lattice").stream(attempt));
        attempt += 1;
        if let Some(lattice) = Lattice::of(params, &v, progress)? {
            break lattice;
        }
    };
    let choices = Choices::draw(params, &lattice.modulus, seed);
    assemble(params, insecure, &lattice, &choices, progress)
}

/// The polynomial `v`: `n` coefficients of `t` bits in two's complement, `slot` words each.
pub(super) struct Secret {
    pub(super) slot: usize,
    pub(super) words: Zeroizing<Vec<u64>>,
}

impl Secret {
    /// Coefficients uniform in `-2^(t-1)..2^(t-1)`, the first one more where their sum would be even.
    fn draw(params: &Params, rng: &mut impl RngCore) -> Self {
        let bits = params.coefficient_bits();
        let slot = bits / 64 + 1;
        let mut words = Zeroizing::new(vec![0; params.dimension() * slot]);
        words.fill_with(|| rng.next_u64());
        let top = bits % 64;
        for coefficient in words.chunks_exact_mut(slot) {
            // The top word keeps `top` bits and the sign of the highest bit drawn.
            coefficient[slot - 1] = if top == 0 {
                ((coefficient[slot - 2] as i64) >> 63) as u64
            } else {
                (((coefficient[slot - 1] << (64 - top)) as i64) >> (64 - top)) as u64
            };
        }
        let mut v = Self { slot, words };
        v.make_odd();
        v
    }

    fn make_odd(&mut self) {
        let sum = self.words.iter().step_by(self.slot).fold(0, |sum, low| sum ^ low);
        if sum & 1 == 0 {
            solinas_field::limbs::add_1(&mut self.words[..self.slot], 1);
        }
    }

    /// Whether `(1/n) sum 1/|v(zeta)|` is small enough for the noise bounds.
    fn is_well_conditioned(&self, params: &Params) -> bool {
        let t = params.coefficient_bits() as f64;
        let value = |words: &[u64]| {
            let (&top, low) = words.split_last().unwrap_or((&0, &[]));
            let start = (top as i64 as f64, 64.0 * low.len() as f64);
            let scaled = |value: f64, weight: f64| value * (weight - t).exp2();
            let low = low.iter().enumerate().map(|(i, &word)| scaled(word as f64, 64.0 * i as f64));
            low.sum::<f64>() + scaled(start.0, start.1)
        };
        let mut coefficients = Zeroizing::new(self.words.chunks_exact(self.slot).map(value).collect::<Vec<_>>());
        let inverses = Zeroizing::new(embedding::magnitudes(&coefficients));
        coefficients.zeroize();
        let mean = inverses.iter().map(|magnitude| magnitude.recip()).sum::<f64>() / inverses.len() as f64;
        -mean.log2() >= noise::capacity(params) - t
    }
}

/// Steps 1 to 4: the modulus, its root and the secret.
pub(super) struct Lattice {
    pub(super) modulus: Modulus,
    pub(super) d: Natural,
    pub(super) r: Vec<u64>,
    pub(super) w: Zeroizing<Vec<u64>>,
}

impl Lattice {
    /// `None` where another `v` has to be drawn: an ill-conditioned one, or no root.
    pub(super) fn of(params: &Params, v: &Secret, progress: Progress<'_>) -> Result<Option<Self>, Error> {
        if !v.is_well_conditioned(params) {
            return Ok(None);
        }
        let n = params.dimension();
        let levels = n.ilog2() as usize;
        let Resultant { d, w } = split(&v.words, v.slot, |level| report(progress, Stage::Lattice, level, levels))?;
        report(progress, Stage::Root, 0, 2)?;
        let (sign, d) = (d.negative, d.magnitude.clone());
        if d.is_even() || d.bit_len() < 2 {
            return Ok(None);
        }
        let residue = |x: &Signed| -> Result<Natural, Error> {
            let rest = x.magnitude.rem(&d)?;
            Ok(if x.negative != sign && !rest.is_zero() { d.abs_diff(&rest) } else { rest })
        };
        let [w0, w1] = [Zeroizing::new(residue(&w[0])?), Zeroizing::new(residue(&w[1])?)];
        let modulus = Modulus::new(&d, 1, Arithmetic::default())?;
        let [Ok(w0_inverse), Ok(w1_inverse)] = [w0.vartime_inverse(&d), w1.vartime_inverse(&d)] else {
            return Ok(None);
        };
        let product = |a: &Natural, b: &Natural| modulus.mul(&modulus.residue(a), &modulus.residue(b));
        let r = product(&w0, &w1_inverse)?;
        let inverse = modulus.forward(&product(&w1, &w0_inverse)?)?;
        if modulus.vartime_pow(&r, n as u64)? != modulus.neg(&modulus.one()) {
            return Ok(None);
        }
        report(progress, Stage::Root, 1, 2)?;
        // The first centred coefficient that is odd: w_(i+1) = w_i / r.
        let mut w = Zeroizing::new(modulus.residue(&w0));
        for _ in 0..n {
            // Centred, it is w or w - d, and d is odd.
            let twice = &Natural::from_words(w.to_vec()) << 1;
            if (w[0] & 1 == 1) != (twice > d) {
                return Ok(Some(Self { modulus, d, r, w }));
            }
            *w = modulus.mul_spectrum(&w, &inverse)?;
        }
        Ok(None)
    }
}

/// The random choices of steps 5 and 6.
pub(super) struct Choices {
    /// `x_k`, but for the last block.
    pub(super) x: Vec<Vec<u64>>,
    /// `l_k`, secret.
    pub(super) indices: Zeroizing<Vec<usize>>,
    /// Noise of the indicators, block by block.
    pub(super) noises: Vec<Noise>,
}

impl Choices {
    fn draw(params: &Params, modulus: &Modulus, seed: &SecretSeed) -> Self {
        let d = Natural::from_words(modulus.d());
        let mut rng = seed.derive("gh subset sum").stream(0);
        let mut x = || Natural::random_below(&d, &mut rng).map(|x| modulus.residue(&x)).unwrap_or_default();
        let x = (1..params.blocks()).map(|_| x()).collect();
        // Uniform in 0..S: the bias of 64 bits onto fewer than 2^16 values is below 2^-48.
        let mut index = || ((u128::from(rng.next_u64()) * params.candidates() as u128) >> 64) as usize;
        let indices = Zeroizing::new((0..params.blocks()).map(|_| index()).collect());
        let noise = seed.derive("gh indicators");
        let count = (params.blocks() * params.indicators()) as u64;
        let noises = (0..count).map(|i| Noise::draw(params, &mut noise.stream(i))).collect();
        Self { x, indices, noises }
    }
}

/// Steps 5 and 6.
pub(super) fn assemble(
    params: &Params,
    insecure: bool,
    lattice: &Lattice,
    choices: &Choices,
    progress: Progress<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    let Lattice { modulus, d, r, w } = lattice;
    let (s, m) = (params.blocks(), params.indicators());
    let public = PublicKey::from_parts(params.clone(), insecure, d.clone(), Natural::from_words(r.clone()))?;
    // x_(s-1) = (w - sum_k x_k R^(l_k)) R^(-l_(s-1)), with R^-1 = ((d + 1) / 2)^rho.
    let half = modulus.residue(&(&(d + &Natural::one()) >> 1));
    let two = modulus.residue(&Natural::from(2u64).rem(d)?);
    let exponent_bits = (params.ratio_bits() * params.candidates()).ilog2() + 1;
    let power =
        |base: &[u64], k: usize| modulus.pow(base, (params.ratio_bits() * choices.indices[k]) as u64, exponent_bits);
    let mut rest = w.clone();
    for (k, x) in choices.x.iter().enumerate() {
        report(progress, Stage::Squash, k, s)?;
        modulus.sub(&mut rest, &modulus.mul(x, &power(&two, k)?)?);
    }
    report(progress, Stage::Squash, s - 1, s)?;
    let last = modulus.mul(&rest, &power(&half, s - 1)?)?;
    let x: Vec<u64> = choices.x.iter().flatten().chain(&last).copied().collect();

    let bits = Zeroizing::new(
        (0..s * m)
            .map(|i| {
                let (a, b) = pair(choices.indices[i / m], m);
                i % m == a || i % m == b
            })
            .collect::<Vec<_>>(),
    );
    let step = |done, of| report(progress, Stage::Indicators, done, of);
    let indicators = encrypt_many(&public, &bits, &choices.noises, modulus.arithmetic(), step)?;
    let indicators: Vec<u64> = indicators.into_iter().flat_map(|ciphertext| ciphertext.words).collect();
    let server = ServerKey::from_parts(public.clone(), x, indicators)?;
    Ok((ClientKey::from_parts(public, Natural::from_words(w.to_vec()))?, server))
}
