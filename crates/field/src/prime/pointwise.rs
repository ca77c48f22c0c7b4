//! Operations on slices of residues, element by element.

use super::modulus::Shoup;
use super::{FAST_PRIME_BITS, MAX_PRIME_BITS, Modulus, WIDE_PRIME_BITS};
use crate::Backend;

/// Operations on slices of residues modulo one prime. Shape: any length. Range: in and out canonical (`0..q`). Every
/// back end gives the same words.
///
/// # Panics
/// Each method panics if its slices differ in length.
#[derive(Clone, Copy, Debug)]
pub struct Pointwise {
    modulus: Modulus,
    backend: Backend,
}

/// In place of the bits of a prime: up to [`FAST_PRIME_BITS`] bits, on a CPU with IFMA.
const FUSED: u32 = 0;

/// One operation: `d <- op(d, x, y)`.
trait Op: Copy {
    /// Number of operands that it reads besides `d`.
    const READS: usize;
    /// Whether its lanes need IFMA.
    const FUSED: bool;
    fn word(self, q: Modulus, d: u64, x: u64, y: u64) -> u64;
    #[cfg(target_arch = "x86_64")]
    fn lanes<L: super::u64_lanes::U64Lanes>(self, c: Constants<L>, d: L::U, x: L::U, y: L::U) -> L::U;
}

/// Operands. Each one that the operation reads has as many words as the destination.
#[derive(Clone, Copy)]
struct Operands {
    dst: *mut u64,
    x: *const u64,
    y: *const u64,
    len: usize,
}

impl Pointwise {
    /// Makes the operations modulo `modulus`.
    pub fn new(modulus: Modulus, backend: Backend) -> Self {
        Self { modulus, backend }
    }

    /// The prime `q`.
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// The back end.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// `dst <- dst + x`.
    pub fn add(&self, dst: &mut [u64], x: &[u64]) {
        self.run(Add, dst, x, &[]);
    }

    /// `dst <- dst - x`.
    pub fn sub(&self, dst: &mut [u64], x: &[u64]) {
        self.run(Sub, dst, x, &[]);
    }

    /// `dst <- x + y`.
    pub fn sum(&self, dst: &mut [u64], x: &[u64], y: &[u64]) {
        self.run(Sum, dst, x, y);
    }

    /// `dst <- x - y`.
    pub fn difference(&self, dst: &mut [u64], x: &[u64], y: &[u64]) {
        self.run(Difference, dst, x, y);
    }

    /// `dst <- -dst`.
    pub fn neg(&self, dst: &mut [u64]) {
        self.run(Neg, dst, &[], &[]);
    }

    /// `dst <- dst x`.
    pub fn multiply(&self, dst: &mut [u64], x: &[u64]) {
        match self.modulus.bits() {
            ..=FAST_PRIME_BITS if self.fuses() => self.run(Mul::<FUSED>, dst, x, &[]),
            ..=FAST_PRIME_BITS => self.run(Mul::<FAST_PRIME_BITS>, dst, x, &[]),
            WIDE_PRIME_BITS => self.run(Mul::<WIDE_PRIME_BITS>, dst, x, &[]),
            _ => self.run(Mul::<MAX_PRIME_BITS>, dst, x, &[]),
        }
    }

    /// `dst <- x y`.
    pub fn product(&self, dst: &mut [u64], x: &[u64], y: &[u64]) {
        match self.modulus.bits() {
            ..=FAST_PRIME_BITS if self.fuses() => self.run(Product::<FUSED>, dst, x, y),
            ..=FAST_PRIME_BITS => self.run(Product::<FAST_PRIME_BITS>, dst, x, y),
            WIDE_PRIME_BITS => self.run(Product::<WIDE_PRIME_BITS>, dst, x, y),
            _ => self.run(Product::<MAX_PRIME_BITS>, dst, x, y),
        }
    }

    /// `dst <- dst + x y`.
    pub fn multiply_add(&self, dst: &mut [u64], x: &[u64], y: &[u64]) {
        match self.modulus.bits() {
            ..=FAST_PRIME_BITS if self.fuses() => self.run(MulAdd::<FUSED>, dst, x, y),
            ..=FAST_PRIME_BITS => self.run(MulAdd::<FAST_PRIME_BITS>, dst, x, y),
            WIDE_PRIME_BITS => self.run(MulAdd::<WIDE_PRIME_BITS>, dst, x, y),
            _ => self.run(MulAdd::<MAX_PRIME_BITS>, dst, x, y),
        }
    }

    /// `dst <- dst x y`.
    pub fn multiply_both(&self, dst: &mut [u64], x: &[u64], y: &[u64]) {
        match self.modulus.bits() {
            ..=FAST_PRIME_BITS if self.fuses() => self.run(MulBoth::<FUSED>, dst, x, y),
            ..=FAST_PRIME_BITS => self.run(MulBoth::<FAST_PRIME_BITS>, dst, x, y),
            WIDE_PRIME_BITS => self.run(MulBoth::<WIDE_PRIME_BITS>, dst, x, y),
            _ => self.run(MulBoth::<MAX_PRIME_BITS>, dst, x, y),
        }
    }

    /// `dst <- w (dst - x)`.
    pub fn sub_scale(&self, dst: &mut [u64], x: &[u64], w: Shoup) {
        self.run(SubScale(w), dst, x, &[]);
    }

    /// `dst <- dst + w x`, for any words `x`.
    pub fn scale_add(&self, dst: &mut [u64], x: &[u64], w: Shoup) {
        self.run(ScaleAdd(w), dst, x, &[]);
    }

    /// `dst <- w dst`.
    pub fn scale(&self, dst: &mut [u64], w: Shoup) {
        self.run(Scale(w), dst, &[], &[]);
    }

    /// `dst <- dst mod q`, for any words.
    pub fn reduce(&self, dst: &mut [u64]) {
        self.run(Reduce, dst, &[], &[]);
    }

    /// `dst <- x mod q`, for signed words of magnitude up to `2^61`. It has no branches.
    pub fn reduce_signed(&self, dst: &mut [u64], x: &[i64]) {
        // SAFETY: signed and unsigned words have one size and alignment, and no invalid values.
        let words = unsafe { core::slice::from_raw_parts(x.as_ptr().cast::<u64>(), x.len()) };
        // A multiple of q between 2^61 and 2^62, so that the sum is a word.
        let offset = (1u64 << 61).div_ceil(self.modulus.value()) * self.modulus.value();
        self.run(ReduceSigned(offset), dst, words, &[]);
    }

    /// Whether products run on the multiply-adds of IFMA.
    fn fuses(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return matches!(self.backend, Backend::Avx512(_)) && is_x86_feature_detected!("avx512ifma");
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    fn run<O: Op>(&self, op: O, dst: &mut [u64], x: &[u64], y: &[u64]) {
        let len = dst.len();
        assert!(O::READS < 1 || x.len() == len, "slices of {len} and {} words", x.len());
        assert!(O::READS < 2 || y.len() == len, "slices of {len} and {} words", y.len());
        let operands = Operands { dst: dst.as_mut_ptr(), x: x.as_ptr(), y: y.as_ptr(), len };
        #[cfg(target_arch = "x86_64")]
        let done = x86::run(self.backend, self.modulus, op, operands);
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        let _ = operands;
        for i in done..len {
            let x = if O::READS > 0 { x[i] } else { 0 };
            let y = if O::READS > 1 { y[i] } else { 0 };
            dst[i] = op.word(self.modulus, dst[i], x, y);
        }
    }
}

#[cfg(target_arch = "x86_64")]
use x86::Constants;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::float::Float;
    use super::super::u64_lanes::U64Lanes;
    use super::{FAST_PRIME_BITS, FUSED, Modulus, Op, Operands, Shoup, WIDE_PRIME_BITS};
    use crate::Backend;
    use crate::backend::{Avx2, Avx512};

    /// The constants of a modulus, in registers.
    #[derive(Clone, Copy)]
    pub(super) struct Constants<L: U64Lanes> {
        pub(super) l: L,
        pub(super) float: Float<L>,
        pub(super) q: L::U,
        q2: L::U,
        q4: L::U,
        barrett: L::U,
        word: L::U,
        shift: u32,
        /// `2^52 - q` and `barrett / 2^12`, of products of 52 bits.
        minus: L::U,
        quotient: L::U,
        mask: L::U,
    }

    impl<L: U64Lanes> Constants<L> {
        #[inline(always)]
        fn new(l: L, q: Modulus) -> Self {
            Self {
                l,
                float: Float::new(l, q.value()),
                q: l.splat_word(q.value()),
                q2: l.splat_word(2 * q.value()),
                q4: l.splat_word(4 * q.value()),
                barrett: l.splat_word(q.barrett()),
                word: l.splat_word(q.word()),
                shift: q.bits() - 1,
                minus: l.splat_word((1u64 << 52).wrapping_sub(q.value())),
                quotient: l.splat_word(q.barrett() >> 12),
                mask: l.splat_word((1 << 52) - 1),
            }
        }

        /// Reduces `0..4q` to `0..q`.
        #[inline(always)]
        pub(super) fn canonical(self, x: L::U) -> L::U {
            self.l.reduce_once(self.l.reduce_once(x, self.q2), self.q)
        }

        /// Multiplies any word by `w`. The result is in `0..4q`.
        #[inline(always)]
        pub(super) fn shoup(self, x: L::U, w: Shoup) -> L::U {
            let l = self.l;
            let (value, quotient) = (l.splat_word(w.value), l.splat_word(w.quotient));
            let quotient = l.high_lazy(x, quotient, l.high(quotient));
            l.sub_word(l.mul_word(x, value), l.mul_word(quotient, self.q))
        }

        /// Reduces any word to `0..q`.
        #[inline(always)]
        pub(super) fn reduce(self, x: L::U) -> L::U {
            let l = self.l;
            let quotient = l.high_lazy(x, self.word, l.high(self.word));
            self.canonical(l.sub_word(x, l.mul_word(quotient, self.q)))
        }

        /// Product of residues modulo a prime of up to `BITS` bits.
        #[inline(always)]
        pub(super) fn product<const BITS: u32>(self, x: L::U, y: L::U) -> L::U {
            match BITS {
                FUSED => self.fused(x, y),
                1..=FAST_PRIME_BITS => self.float.multiply::<false>(x, y, self.q),
                WIDE_PRIME_BITS => self.float.multiply::<true>(x, y, self.q),
                _ => self.mul(x, y),
            }
        }

        /// Product of residues modulo a prime of up to [`FAST_PRIME_BITS`] bits, by Barrett's reduction in words of 52
        /// bits. With `b` bits, `floor(xy/2^(b-1))` is the high word of `2^(52-b) x` times `2y`. The quotient falls short of
        /// `xy/q` by at most 1 for these, 1/2 for its constant and 1 for itself, so the remainder is below 3q.
        #[inline(always)]
        fn fused(self, x: L::U, y: L::U) -> L::U {
            let l = self.l;
            let zero = l.splat_word(0);
            let top = l.add_high_52(zero, l.shift_left(x, 51 - self.shift), l.add_word(y, y));
            let low = l.add_low_52(zero, x, y);
            let quotient = l.add_high_52(zero, top, self.quotient);
            self.canonical(l.and(l.add_low_52(low, quotient, self.minus), self.mask))
        }

        /// Product of residues, by Barrett's reduction.
        #[inline(always)]
        fn mul(self, x: L::U, y: L::U) -> L::U {
            let l = self.l;
            let (high, low) = (l.high_word(x, y), l.mul_word(x, y));
            let top = l.or(l.shift_right(low, self.shift), l.shift_left(high, 64 - self.shift));
            // The quotient falls short by at most 2 of its own and 2 of `high_lazy`, so the remainder is below 5q.
            let quotient = l.high_lazy(top, self.barrett, l.high(self.barrett));
            self.canonical(l.reduce_once(l.sub_word(low, l.mul_word(quotient, self.q)), self.q4))
        }
    }

    #[inline(always)]
    unsafe fn kernel<L: U64Lanes, O: Op>(l: L, q: Modulus, op: O, at: Operands) -> usize {
        let c = Constants::new(l, q);
        let whole = at.len / L::WIDTH * L::WIDTH;
        for i in (0..whole).step_by(L::WIDTH) {
            // SAFETY: `i + WIDTH <= len`; operands that the operation does not read are not read.
            unsafe {
                let d = l.load_words(at.dst.add(i));
                let x = if O::READS > 0 { l.load_words(at.x.add(i)) } else { d };
                let y = if O::READS > 1 { l.load_words(at.y.add(i)) } else { d };
                l.store_words(at.dst.add(i), op.lanes(c, d, x, y));
            }
        }
        whole
    }

    /// Runs the operation on whole registers and returns the number of words done.
    pub(super) fn run<O: Op>(backend: Backend, q: Modulus, op: O, at: Operands) -> usize {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        unsafe fn avx512<O: Op>(token: Avx512, q: Modulus, op: O, at: Operands) -> usize {
            // SAFETY: the caller's contract is the kernel's.
            unsafe { kernel(token, q, op, at) }
        }
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2<O: Op>(token: Avx2, q: Modulus, op: O, at: Operands) -> usize {
            // SAFETY: the caller's contract is the kernel's.
            unsafe { kernel(token, q, op, at) }
        }
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,fma")]
        unsafe fn fused<O: Op>(token: Avx512, q: Modulus, op: O, at: Operands) -> usize {
            // SAFETY: the caller's contract is the kernel's.
            unsafe { kernel(token, q, op, at) }
        }
        match backend {
            Backend::Scalar => 0,
            // SAFETY: the token proves the instruction set; `Pointwise::run` checked the lengths.
            Backend::Avx2(token) => unsafe { avx2(token, q, op, at) },
            // SAFETY: as above; `Pointwise::fuses` detected IFMA.
            Backend::Avx512(token) if O::FUSED => unsafe { fused(token, q, op, at) },
            // SAFETY: as above.
            Backend::Avx512(token) => unsafe { avx512(token, q, op, at) },
        }
    }
}

/// One operation: its name, the operands it reads, on words, in lanes.
macro_rules! op {
    ($name:ident $([$($generic:tt)*] [$($used:tt)*])?, $reads:literal, |$self:ident, $q:ident, $d:ident, $x:ident, $y:ident| $word:expr, |$c:ident| $lanes:expr) => {
        impl $(<$($generic)*>)? Op for $name $(<$($used)*>)? {
            const READS: usize = $reads;
            const FUSED: bool = false $(|| $($used)* == FUSED)?;
            #[inline(always)]
            fn word($self, $q: Modulus, $d: u64, $x: u64, $y: u64) -> u64 {
                let _ = ($x, $y);
                $word
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn lanes<L: super::u64_lanes::U64Lanes>($self, $c: Constants<L>, $d: L::U, $x: L::U, $y: L::U) -> L::U {
                let _ = ($x, $y);
                $lanes
            }
        }
    };
}

#[derive(Clone, Copy)]
struct Add;
#[derive(Clone, Copy)]
struct Sub;
#[derive(Clone, Copy)]
struct Sum;
#[derive(Clone, Copy)]
struct Difference;
#[derive(Clone, Copy)]
struct Neg;
#[derive(Clone, Copy)]
struct Scale(Shoup);
#[derive(Clone, Copy)]
struct Reduce;
/// Carries a multiple of `q` that makes signed words positive.
#[derive(Clone, Copy)]
struct ReduceSigned(u64);
/// For primes of up to `BITS` bits: [`FAST_PRIME_BITS`] and [`WIDE_PRIME_BITS`] by doubles, [`MAX_PRIME_BITS`] in
/// words; or [`FUSED`].
#[derive(Clone, Copy)]
struct Mul<const BITS: u32>;
/// As [`Mul`].
#[derive(Clone, Copy)]
struct MulBoth<const BITS: u32>;
/// As [`Mul`].
#[derive(Clone, Copy)]
struct Product<const BITS: u32>;
#[derive(Clone, Copy)]
struct SubScale(Shoup);
#[derive(Clone, Copy)]
struct ScaleAdd(Shoup);
/// As [`Mul`].
#[derive(Clone, Copy)]
struct MulAdd<const BITS: u32>;

op!(Add, 1, |self, q, d, x, y| q.add(d, x), |c| c.l.reduce_once(c.l.add_word(d, x), c.q));
op!(Sub, 1, |self, q, d, x, y| q.sub(d, x), |c| c.l.reduce_once(c.l.add_word(d, c.l.sub_word(c.q, x)), c.q));
op!(Neg, 0, |self, q, d, x, y| q.neg(d), |c| c.l.reduce_once(c.l.sub_word(c.q, d), c.q));
op!(Reduce, 0, |self, q, d, x, y| q.reduce(d), |c| c.reduce(d));
op!(
    ReduceSigned,
    1,
    |self, q, d, x, y| {
        let _ = d;
        q.reduce(x.wrapping_add(self.0))
    },
    |c| {
        let _ = d;
        c.reduce(c.l.add_word(x, c.l.splat_word(self.0)))
    }
);
op!(Scale, 0, |self, q, d, x, y| q.mul_shoup(d, self.0), |c| c.canonical(c.shoup(d, self.0)));
op!(SubScale, 1, |self, q, d, x, y| q.mul_shoup(q.sub(d, x), self.0), |c| {
    // The factor may be any word, so the difference need not be reduced below q.
    c.canonical(c.shoup(c.l.add_word(d, c.l.sub_word(c.q, x)), self.0))
});
op!(ScaleAdd, 1, |self, q, d, x, y| q.add(d, q.mul_shoup(x, self.0)), |c| {
    c.l.reduce_once(c.l.add_word(d, c.canonical(c.shoup(x, self.0))), c.q)
});
op!(Mul [const BITS: u32] [BITS], 1, |self, q, d, x, y| q.mul(d, x), |c| c.product::<BITS>(d, x));
op!(MulAdd [const BITS: u32] [BITS], 2, |self, q, d, x, y| q.mul_add(x, y, d), |c| {
    c.l.reduce_once(c.l.add_word(d, c.product::<BITS>(x, y)), c.q)
});
op!(MulBoth [const BITS: u32] [BITS], 2, |self, q, d, x, y| q.mul(q.mul(d, x), y), |c| {
    c.product::<BITS>(c.product::<BITS>(d, x), y)
});
op!(Product [const BITS: u32] [BITS], 2, |self, q, d, x, y| {
    let _ = d;
    q.mul(x, y)
}, |c| {
    let _ = d;
    c.product::<BITS>(x, y)
});
op!(
    Sum,
    2,
    |self, q, d, x, y| {
        let _ = d;
        q.add(x, y)
    },
    |c| {
        let _ = d;
        c.l.reduce_once(c.l.add_word(x, y), c.q)
    }
);
op!(
    Difference,
    2,
    |self, q, d, x, y| {
        let _ = d;
        q.sub(x, y)
    },
    |c| {
        let _ = d;
        c.l.reduce_once(c.l.add_word(x, c.l.sub_word(c.q, y)), c.q)
    }
);
