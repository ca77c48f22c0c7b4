//! Plans of the negacyclic transforms.

use super::modulus::Shoup;
use super::{FAST_PRIME_BITS, MAX_PRIME_BITS, Modulus, Pointwise, WIDE_PRIME_BITS, enter, scalar};
use crate::buffer::AlignedVec;
use crate::{Backend, Error};

/// Smallest ring dimension of a plan.
pub const MIN_DIMENSION: usize = 1 << 4;
/// Largest ring dimension of a plan.
pub const MAX_DIMENSION: usize = 1 << 17;

/// The arithmetic of a plan's butterflies. All of them give the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Portable words, for every prime. It is the kernel of the scalar back end and of dimensions below a tile.
    Scalar,
    /// Doubles and fused multiply-adds, for primes below 2^50, on AVX2 or AVX-512.
    Double,
    /// Words by products of half words, for primes below 2^61, on AVX2 or AVX-512.
    Word,
    /// Words by 52-bit multiply-adds, for primes below 2^51, on AVX-512 with IFMA.
    Ifma,
}

impl Kernel {
    /// Returns `scalar`, `double`, `word` or `ifma`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Double => "double",
            Self::Word => "word",
            Self::Ifma => "ifma",
        }
    }

    /// Returns whether this kernel runs modulo `modulus` on `backend`.
    pub fn runs(self, modulus: Modulus, backend: Backend) -> bool {
        let has_at_most = |bits| modulus.bits() <= bits;
        match (self, backend) {
            (Self::Scalar, _) => true,
            (Self::Double, Backend::Avx2(_) | Backend::Avx512(_)) => has_at_most(FAST_PRIME_BITS),
            (Self::Word, Backend::Avx2(_) | Backend::Avx512(_)) => has_at_most(MAX_PRIME_BITS),
            #[cfg(target_arch = "x86_64")]
            (Self::Ifma, Backend::Avx512(_)) => has_at_most(WIDE_PRIME_BITS) && is_x86_feature_detected!("avx512ifma"),
            _ => false,
        }
    }
}

/// Factors of one direction.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) values: AlignedVec<u64>,
    pub(super) quotients: AlignedVec<u64>,
}

impl Table {
    pub(super) fn shoup(&self, i: usize) -> Shoup {
        Shoup { value: self.values[i], quotient: self.quotients[i] }
    }

    fn new(kernel: Kernel, q: Modulus, factors: &[u64]) -> Self {
        let mut values = AlignedVec::zeroed(factors.len());
        let mut quotients = AlignedVec::zeroed(if kernel == Kernel::Double { 0 } else { factors.len() });
        for (i, &factor) in factors.iter().enumerate() {
            let w = q.shoup(factor);
            match kernel {
                Kernel::Double => values[i] = (q.centered(factor) as f64).to_bits(),
                Kernel::Ifma if q.bits() == WIDE_PRIME_BITS => (values[i], quotients[i]) = montgomery(q, factor),
                Kernel::Ifma => (values[i], quotients[i]) = (w.value, w.quotient >> 12),
                Kernel::Scalar | Kernel::Word => (values[i], quotients[i]) = (w.value, w.quotient),
            }
        }
        Self { values, quotients }
    }
}

/// Returns `2^52 w mod q`, and its product with `1/q` modulo `2^52`: the constants of Montgomery's reduction for the
/// factor `w`.
pub(super) fn montgomery(q: Modulus, w: u64) -> (u64, u64) {
    let value = q.mul(w, q.reduce(1 << 52));
    // The value is right in 3 bits at first; each step doubles the number of right bits.
    let inverse = (0..5).fold(q.value(), |x, _| x.wrapping_mul(2u64.wrapping_sub(q.value().wrapping_mul(x))));
    (value, value.wrapping_mul(inverse) & ((1 << 52) - 1))
}

/// Plan of the negacyclic transform of `N` points modulo `q`. It holds factors, kernel and back end.
///
/// At place `p`, the transform of `f` has the value `f(psi^(2 brv(p) + 1))`. Here `psi` is [`root`](Self::root), of
/// order `2N`, and `brv` reverses the `log2 N` bits of `p` ([`exponent`](Self::exponent)). In that domain, products
/// modulo `X^N + 1` are pointwise. Every kernel and back end gives the same words, all in `0..q`.
///
/// ```
/// use solinas_field::{Backend, prime::{NttPlan, primes}};
/// let q = primes(50, 1, 2 << 10)?[0];
/// let plan = NttPlan::new(q, 1 << 10, Backend::detect()?)?;
/// let (mut f, mut g) = (vec![0; 1 << 10], vec![0; 1 << 10]);
/// (f[1], g[(1 << 10) - 1]) = (2, 3);                // 2 X and 3 X^(N-1)
/// plan.forward(&mut f);
/// plan.forward(&mut g);
/// plan.pointwise().multiply(&mut f, &g);
/// plan.inverse(&mut f);
/// assert_eq!(f[0], q.value() - 6);                  // 6 X^N = -6
/// # Ok::<(), solinas_field::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NttPlan {
    modulus: Modulus,
    dimension: usize,
    root: u64,
    kernel: Kernel,
    backend: Backend,
    passes: Vec<enter::Pass>,
    forward: Table,
    inverse: Table,
}

/// Returns the low `bits` bits of `i` in reverse order.
fn reverse(i: usize, bits: u32) -> usize {
    i.reverse_bits() >> (usize::BITS - bits)
}

/// Arranges a table in heap order as a kernel of `lanes` lanes reads it: the heap below `N / lanes`, then tile by tile
/// the vectors of its last levels.
fn arrange(heap: &[u64], lanes: usize) -> Vec<u64> {
    let base = heap.len() / lanes;
    let mut out = heap[..base].to_vec();
    for first in (base..2 * base).step_by(lanes) {
        for h in 1..lanes {
            let level = h.ilog2();
            out.extend((first..first + lanes).map(|node| heap[(node << level) + h - (1 << level)]));
        }
    }
    out
}

/// The factors of both directions in heap order: entry `m + i` is that of node `i` among the `m` of its level,
/// `psi^brv(m + i)` or its inverse. Of the inverse direction, entry 0 is `1/N`, and entry 1 contains it.
fn heaps(q: Modulus, dimension: usize, root: u64) -> [Vec<u64>; 2] {
    let bits = dimension.ilog2();
    let heap = |root: u64| {
        let mut heap = vec![0; dimension];
        let (step, mut power) = (q.shoup(root), 1);
        for j in 0..dimension {
            heap[reverse(j, bits)] = power;
            power = q.mul_shoup(power, step);
        }
        heap
    };
    // psi^(2N - 1) = 1 / psi.
    let mut inverse = heap(q.pow(root, 2 * dimension as u64 - 1));
    let scale = q.pow(q.value().div_ceil(2), u64::from(bits));
    inverse[0] = scale;
    inverse[1] = q.mul(inverse[1], scale);
    [heap(root), inverse]
}

impl NttPlan {
    /// Makes a plan for ring dimension `N` modulo a prime that is 1 modulo `2N`, with the fastest kernel.
    ///
    /// # Errors
    /// [`Error::RingDimension`] unless `N` is a power of two in `2^4 ..= 2^17`; [`Error::RootOfUnity`] unless `2N`
    /// divides `q - 1`.
    pub fn new(modulus: Modulus, dimension: usize, backend: Backend) -> Result<Self, Error> {
        // Fastest first.
        let runs = |kernel: &Kernel| kernel.runs(modulus, backend) && dimension >= enter::lanes(backend).pow(2);
        let kernel = [Kernel::Ifma, Kernel::Double, Kernel::Word].into_iter().find(runs).unwrap_or(Kernel::Scalar);
        Self::with_kernel(modulus, dimension, backend, kernel)
    }

    /// Makes a plan as [`Self::new`] does, with a given kernel, for measurements.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::NttKernel`] if the kernel does not run there.
    pub fn with_kernel(modulus: Modulus, dimension: usize, backend: Backend, kernel: Kernel) -> Result<Self, Error> {
        if !dimension.is_power_of_two() || !(MIN_DIMENSION..=MAX_DIMENSION).contains(&dimension) {
            return Err(Error::RingDimension { dimension, min: MIN_DIMENSION, max: MAX_DIMENSION });
        }
        let root = modulus.root_of_unity(2 * dimension as u64)?;
        let lanes = if kernel == Kernel::Scalar { 1 } else { enter::lanes(backend) };
        if !kernel.runs(modulus, backend) || dimension < lanes * lanes {
            let (kernel, backend) = (kernel.name(), backend.name());
            return Err(Error::NttKernel { kernel, modulus: modulus.value(), dimension, backend });
        }
        let q = modulus;
        let [forward, inverse] = heaps(q, dimension, root);
        let table = |heap: &[u64]| Table::new(kernel, q, &arrange(heap, lanes));
        let (forward, inverse) = (table(&forward), table(&inverse));
        let passes = enter::passes(dimension, lanes);
        Ok(Self { modulus, dimension, root, kernel, backend, passes, forward, inverse })
    }

    /// The prime `q`.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// Ring dimension `N`.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// `psi`, a primitive root of unity of order `2N`.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// The factors of the forward and of the inverse transform in heap order, for other engines. Shape: N each.
    ///
    /// Entry `m + i` is the factor of node `i` among the `m` nodes of its level: `psi^brv(m + i)`, or its inverse. Of
    /// the inverse transform, entry 0 is `1/N`, and entry 1 contains the factor `1/N`.
    pub fn factors(&self) -> [Vec<Shoup>; 2] {
        let shoup = |heap: Vec<u64>| heap.into_iter().map(|factor| self.modulus.shoup(factor)).collect();
        heaps(self.modulus, self.dimension, self.root).map(shoup)
    }

    /// Back end on which the plan runs.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Arithmetic of the butterflies.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Returns products and sums of polynomials in either domain.
    pub fn pointwise(&self) -> Pointwise {
        Pointwise::new(self.modulus, self.backend)
    }

    /// Returns the odd power `2 brv(place) + 1` of `psi` at which place `place` of a transform is the value.
    pub fn exponent(&self, place: usize) -> usize {
        2 * reverse(place, self.dimension.ilog2()) + 1
    }

    fn check(&self, x: &[u64]) {
        assert!(x.len() == self.dimension, "a polynomial of N = {} words, not {}", self.dimension, x.len());
        debug_assert!(x.iter().all(|&x| x < self.modulus.value()), "words are residues below q");
    }

    /// Transforms `x` in place. Order: from coefficients in natural order to values in bit-reversed order. Range: in
    /// and out `0..q`.
    ///
    /// # Panics
    /// Panics if `x` does not have `N` words.
    pub fn forward(&self, x: &mut [u64]) {
        self.check(x);
        match self.kernel {
            Kernel::Scalar => scalar::forward(self.modulus, &self.forward, x),
            _ => enter::forward(self.call(&self.forward), x),
        }
    }

    /// Computes the inverse of [`Self::forward`] in place. Range: in and out `0..q`.
    ///
    /// # Panics
    /// Panics if `x` does not have `N` words.
    pub fn inverse(&self, x: &mut [u64]) {
        self.check(x);
        match self.kernel {
            Kernel::Scalar => scalar::inverse(self.modulus, &self.inverse, x),
            _ => enter::inverse(self.call(&self.inverse), x),
        }
    }

    fn call<'a>(&'a self, table: &'a Table) -> enter::Call<'a> {
        enter::Call { kernel: self.kernel, backend: self.backend, modulus: self.modulus, passes: &self.passes, table }
    }
}
