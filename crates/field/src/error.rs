//! Error type of the crate.

/// Errors that this crate returns to its callers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The transform does not support the ring dimension.
    #[error("ring dimension {dimension} is not a power of two in {min}..={max}")]
    RingDimension {
        /// The dimension asked for.
        dimension: usize,
        /// Smallest supported.
        min: usize,
        /// Largest supported.
        max: usize,
    },
    /// A decomposition does not fit a torus word, or has too many rows for the kernels.
    #[error("a decomposition of {levels} levels in base 2^{base_log} does not fit a 32-bit torus word")]
    Decomposition {
        /// Base-2 logarithm of the base.
        base_log: u32,
        /// Number of levels.
        levels: u32,
    },
    /// The kernels are not built for this GLWE dimension.
    #[error("GLWE dimension k = {k} is not in 1..=4: choose one in this range")]
    GlweDimension {
        /// The dimension asked for.
        k: usize,
    },
    /// The kernels are not built for blocks of this length.
    #[error("{block_bits} key bits in a block are not in 1..={max}: choose a number in this range")]
    BlockBits {
        /// The number asked for.
        block_bits: usize,
        /// Largest supported number.
        max: usize,
    },
    /// A transform over F_p has no such length.
    #[error(
        "a transform of {len} points is not supported: choose m * 2^k in 2..={max}, m one of 1, 3, 5, 17 (see `Plan::length_for`)"
    )]
    TransformLength {
        /// The length asked for, in points.
        len: usize,
        /// Largest supported.
        max: usize,
    },
    /// A slice does not have the length that the plan expects.
    #[error("{what}: the slice has {len} words, but the plan works on {expected}: pass slices of the plan's length")]
    Length {
        /// The operation.
        what: &'static str,
        /// Words given.
        len: usize,
        /// Words expected.
        expected: usize,
    },
    /// The kernels do not split or carry digits of this size.
    #[error("{what}: digits of {bits} bits are not supported: choose 1..={max} (see `solinas::max_digit_bits`)")]
    DigitBits {
        /// The operation.
        what: &'static str,
        /// Bits asked for.
        bits: u32,
        /// Largest supported.
        max: u32,
    },
    /// The coefficients start past the end of the words that receive their sum.
    #[error(
        "carry: {coefficients} coefficients of {digit_bits} bits each reach past {words} words; give {needed} or more"
    )]
    TooFewWords {
        /// Coefficients to add up.
        coefficients: usize,
        /// Bits from one to the next.
        digit_bits: u32,
        /// Words given.
        words: usize,
        /// Words needed.
        needed: usize,
    },
    /// A plan was asked to run on no thread.
    #[error("a plan needs at least one thread: pass 1 to run on the caller's thread")]
    Threads,
    /// `SOLINAS_BACKEND` names no back end, or one this CPU cannot run.
    #[error("back end {name:?} is not available on this CPU: choose one of {available}, or unset SOLINAS_BACKEND")]
    Backend {
        /// The name asked for.
        name: String,
        /// The available back ends.
        available: String,
    },
    /// The modulus is not a prime in the range of the word transforms.
    #[error("{value} is not an odd prime below 2^{max_bits}: take one from prime::primes(bits, count, 2 * N)")]
    Prime {
        /// The modulus asked for.
        value: u64,
        /// Bits of the largest.
        max_bits: u32,
    },
    /// There are fewer primes of the requested shape than requested.
    #[error(
        "{found} of {count} primes of {bits} bits that are 1 modulo {step} exist (bits in 2..={max_bits}, a step of 1 or more): \
         ask for more bits or fewer primes"
    )]
    TooFewPrimes {
        /// Bits asked for.
        bits: u32,
        /// They are to be 1 modulo this.
        step: u64,
        /// Number asked for.
        count: usize,
        /// Number that exist.
        found: usize,
        /// Bits of the widest prime.
        max_bits: u32,
    },
    /// The field has no root of unity of this order.
    #[error(
        "there is no root of unity of order {order} modulo {modulus}: the order must be a power of two that divides {modulus} - 1"
    )]
    RootOfUnity {
        /// The prime.
        modulus: u64,
        /// The order asked for.
        order: u64,
    },
    /// The requested kernel cannot run: the prime is too wide, the dimension is too small, or the CPU lacks it.
    #[error(
        "the {kernel} kernel does not run {dimension} points modulo {modulus} on the {backend} back end: leave the choice to NttPlan::new"
    )]
    NttKernel {
        /// The kernel's name.
        kernel: &'static str,
        /// The prime.
        modulus: u64,
        /// The ring dimension.
        dimension: usize,
        /// The back end's name.
        backend: &'static str,
    },
    /// No plan of `complex` supports this number of digits.
    #[error("{digits} digits are not 2 m 2^k with m in 1, 3, 5, 7 between {min} and {max}; the next such is {next}")]
    Digits {
        /// The number asked for.
        digits: usize,
        /// Fewest.
        min: usize,
        /// Most.
        max: usize,
        /// The next that is supported.
        next: usize,
    },
}
