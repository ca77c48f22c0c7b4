//! The lanes of the vector units, written once over [`VectorWords`], a register of 64-bit words.
//!
//! A packed word holds two signed 32-bit digits `v0 + v1 f`, as the signed 32-bit multiplication reads them. The digits
//! are never both -2^31, because [`fold`] and [`VectorWords::add_bias`] never give 0. A wide element is a [`Wide`].

use super::{FieldLanes, Twiddle};
use crate::solinas::element::{EPSILON, P, mul};

/// A register of `WIDTH` 64-bit words, and its instructions.
///
/// # Safety
/// Pointers are to `WIDTH` readable (or writable) words; no alignment is needed.
pub(in crate::solinas) trait VectorWords: Copy {
    type R: Copy;
    const WIDTH: usize;
    unsafe fn load(self, src: *const u64) -> Self::R;
    unsafe fn store(self, dst: *mut u64, v: Self::R);
    fn splat(self, x: u64) -> Self::R;
    fn add(self, a: Self::R, b: Self::R) -> Self::R;
    fn sub(self, a: Self::R, b: Self::R) -> Self::R;
    fn and(self, a: Self::R, b: Self::R) -> Self::R;
    fn xor(self, a: Self::R, b: Self::R) -> Self::R;
    fn shl<const SHIFT: u32>(self, a: Self::R) -> Self::R;
    fn shr<const SHIFT: u32>(self, a: Self::R) -> Self::R;
    /// Arithmetic shift right by 32.
    fn sar32(self, a: Self::R) -> Self::R;
    /// Product of the low halves, as signed numbers.
    fn mul_signed(self, a: Self::R, b: Self::R) -> Self::R;
    /// Product of the low halves.
    fn mul_unsigned(self, a: Self::R, b: Self::R) -> Self::R;
    /// `a + b`, plus [`EPSILON`] if the sum wraps; `b` is below 2^63.
    fn add_wrapping(self, a: Self::R, b: Self::R) -> Self::R;
    /// `a + 2^63 + 2^31`, plus [`EPSILON`] if the sum wraps.
    fn add_bias(self, a: Self::R) -> Self::R;
    /// `a - p` if `a` is at least p, otherwise `a`.
    fn reduce(self, a: Self::R) -> Self::R;
    /// See [`FieldLanes::load_columns`].
    unsafe fn load_columns(self, block: *const u64, row: usize) -> [Self::R; 8];
    /// See [`FieldLanes::store_columns`].
    unsafe fn store_columns(self, block: *mut u64, row: usize, columns: [Self::R; 8]);
}

/// `x0 + x1 f`, signed.
pub(in crate::solinas) struct Wide<R>(R, R);
impl<R: Copy> Clone for Wide<R> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<R: Copy> Copy for Wide<R> {}

/// The signed digits of a factor `w = w0 + w1 f` and of `w f = u0 + u1 f`, each in the low half of a word.
pub(in crate::solinas) struct Factor<R> {
    w0: R,
    w1: R,
    u0: R,
    u1: R,
}
impl<R: Copy> Clone for Factor<R> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<R: Copy> Copy for Factor<R> {}

/// An exclusive or with this constant turns unsigned digits with a bias of 2^31 into signed ones.
const DIGIT_SIGNS: u64 = 0x8000_0000_8000_0000;
/// `LIFT0 + LIFT1 f = 2^29 p`, a multiple of p. Its halves are below 2^61 and above those of every wide element, which
/// stay below 2^60 in magnitude.
const LIFT0: u64 = (1 << 60) + (1 << 29);
const LIFT1: u64 = (1 << 61) - (1 << 29) - (1 << 28);
/// Makes the digits of a packed word unsigned.
const BIAS: u64 = 1 << 31;

const _: () = assert!(LIFT0 as u128 + ((LIFT1 as u128) << 32) == (P as u128) << 29);

/// `x` as two signed 32-bit digits, in the halves of a word.
fn digits(x: u64) -> u64 {
    // At least one of x and x - p has an upper digit that fits.
    let signed = if x < 1 << 63 { i128::from(x) } else { i128::from(x) - i128::from(P) };
    let low = signed as i32;
    let high = (signed - i128::from(low)) >> 32;
    let (signed, low) = if i32::try_from(high).is_ok() {
        (signed, low)
    } else {
        let other = signed - i128::from(P);
        (other, other as i32)
    };
    let high = ((signed - i128::from(low)) >> 32) as u64;
    high << 32 | u64::from(low as u32)
}

/// See [`super::encode_twiddle`].
pub(super) fn encode_twiddle(w: u64) -> Twiddle {
    [digits(w), digits(mul(w, 1 << 32))]
}

#[inline(always)]
fn add_bias_and_split<T: VectorWords>(t: T, v: T::R) -> T::R {
    t.xor(t.add_bias(v), t.splat(DIGIT_SIGNS))
}

/// Returns the same element with halves of at most 2^33 in magnitude, for halves below 2^63: with `x = l + h f`, it is
/// `l0 + h0 f + l1 f + h1 (f - 1)`.
#[inline(always)]
fn carry<T: VectorWords>(t: T, x: Wide<T::R>) -> Wide<T::R> {
    let mask = t.splat(EPSILON);
    let (h0, h1) = (t.sar32(x.0), t.sar32(x.1));
    let (l0, l1) = (t.and(x.0, mask), t.and(x.1, mask));
    Wide(t.sub(l0, h1), t.add(t.add(l1, h1), h0))
}

/// Returns a word congruent to a lifted wide element: `x0 + (x1 mod f) f + (x1 div f) (f - 1)`.
#[inline(always)]
fn fold<T: VectorWords>(t: T, x: Wide<T::R>) -> T::R {
    let high = t.mul_unsigned(t.shr::<32>(x.1), t.splat(EPSILON));
    t.add_wrapping(t.shl::<32>(x.1), t.add(x.0, high))
}

impl<T: VectorWords> FieldLanes for T {
    type V = T::R;
    type X = Wide<T::R>;
    type W = Factor<T::R>;
    const WIDTH: usize = T::WIDTH;

    #[inline(always)]
    unsafe fn load(self, src: *const u64) -> T::R {
        // SAFETY: the caller's contract.
        unsafe { VectorWords::load(self, src) }
    }
    #[inline(always)]
    unsafe fn store(self, dst: *mut u64, v: T::R) {
        // SAFETY: the caller's contract.
        unsafe { VectorWords::store(self, dst, v) }
    }
    #[inline(always)]
    unsafe fn broadcast(self, src: *const u64) -> Factor<T::R> {
        let src = src.cast::<u32>();
        // SAFETY: the caller gives a twiddle and a word after it, in which the last upper digit's read ends.
        unsafe {
            Factor {
                w0: self.splat(src.cast::<u64>().read_unaligned()),
                w1: self.splat(src.add(1).cast::<u64>().read_unaligned()),
                u0: self.splat(src.add(2).cast::<u64>().read_unaligned()),
                u1: self.splat(src.add(3).cast::<u64>().read_unaligned()),
            }
        }
    }
    #[inline(always)]
    unsafe fn twiddles(self, src: *const u64) -> Factor<T::R> {
        // SAFETY: the caller's contract.
        let (w, u) = unsafe { (VectorWords::load(self, src), VectorWords::load(self, src.add(8))) };
        Factor { w0: w, w1: self.shr::<32>(w), u0: u, u1: self.shr::<32>(u) }
    }
    #[inline(always)]
    fn zero(self) -> Wide<T::R> {
        Wide(self.splat(0), self.splat(0))
    }
    #[inline(always)]
    fn encode(self, v: T::R) -> T::R {
        add_bias_and_split(self, v)
    }
    #[inline(always)]
    fn widen(self, v: T::R) -> Wide<T::R> {
        Wide(self.and(v, self.splat(EPSILON)), self.shr::<32>(v))
    }
    #[inline(always)]
    fn unpack(self, v: T::R) -> Wide<T::R> {
        Wide(self.mul_signed(v, self.splat(1)), self.sar32(v))
    }
    #[inline(always)]
    fn mul(self, v: T::R, w: Factor<T::R>) -> Wide<T::R> {
        let high = self.shr::<32>(v);
        let s0 = VectorWords::add(self, self.mul_signed(v, w.w0), self.mul_signed(high, w.u0));
        let s1 = VectorWords::add(self, self.mul_signed(v, w.w1), self.mul_signed(high, w.u1));
        // Neither sum reaches 2^63: only four digits of -2^31 would make one.
        carry(self, Wide(s0, s1))
    }
    #[inline(always)]
    fn mul_words(self, a: T::R, b: T::R) -> Wide<T::R> {
        let mask = self.splat(EPSILON);
        let (a1, b1) = (self.shr::<32>(a), self.shr::<32>(b));
        let (p00, p11) = (self.mul_unsigned(a, b), self.mul_unsigned(a1, b1));
        // Neither sum wraps: (f - 1)^2 + f - 1 < f^2.
        let t = VectorWords::add(self, self.mul_unsigned(a, b1), self.shr::<32>(p00));
        let u = VectorWords::add(self, self.mul_unsigned(a1, b), self.and(t, mask));
        let high = VectorWords::add(self, VectorWords::add(self, p11, self.shr::<32>(t)), self.shr::<32>(u));
        // l0 + l1 f + h0 (f - 1) - h1.
        let (h0, h1) = (self.and(high, mask), self.shr::<32>(high));
        let x0 = VectorWords::sub(self, VectorWords::sub(self, self.and(p00, mask), h0), h1);
        Wide(x0, VectorWords::add(self, self.and(u, mask), h0))
    }
    #[inline(always)]
    fn lift_packed(self, x: Wide<T::R>) -> Wide<T::R> {
        Wide(
            VectorWords::add(self, x.0, self.splat(LIFT0 + BIAS)),
            VectorWords::add(self, x.1, self.splat(LIFT1 + BIAS)),
        )
    }
    #[inline(always)]
    fn lift_canonical(self, x: Wide<T::R>) -> Wide<T::R> {
        Wide(VectorWords::add(self, x.0, self.splat(LIFT0)), VectorWords::add(self, x.1, self.splat(LIFT1)))
    }
    #[inline(always)]
    fn pack(self, x: Wide<T::R>) -> T::R {
        self.xor(fold(self, x), self.splat(DIGIT_SIGNS))
    }
    #[inline(always)]
    fn canonical(self, x: Wide<T::R>) -> T::R {
        self.reduce(fold(self, x))
    }
    #[inline(always)]
    fn add(self, a: Wide<T::R>, b: Wide<T::R>) -> Wide<T::R> {
        Wide(VectorWords::add(self, a.0, b.0), VectorWords::add(self, a.1, b.1))
    }
    #[inline(always)]
    fn sub(self, a: Wide<T::R>, b: Wide<T::R>) -> Wide<T::R> {
        Wide(VectorWords::sub(self, a.0, b.0), VectorWords::sub(self, a.1, b.1))
    }
    #[inline(always)]
    fn shl<const SHIFT: u32>(self, a: Wide<T::R>) -> Wide<T::R> {
        Wide(VectorWords::shl::<SHIFT>(self, a.0), VectorWords::shl::<SHIFT>(self, a.1))
    }
    #[inline(always)]
    fn twist<const SHIFT: u32, const PHI: u32>(self, a: Wide<T::R>) -> Wide<T::R> {
        let carried = carry(self, FieldLanes::shl::<SHIFT>(self, a));
        match PHI {
            0 => carried,
            1 => self.phi(carried),
            _ => self.phi2(carried),
        }
    }
    #[inline(always)]
    fn phi(self, a: Wide<T::R>) -> Wide<T::R> {
        Wide(VectorWords::sub(self, self.splat(0), a.1), VectorWords::add(self, a.0, a.1))
    }
    #[inline(always)]
    fn phi2(self, a: Wide<T::R>) -> Wide<T::R> {
        Wide(VectorWords::sub(self, self.splat(0), VectorWords::add(self, a.0, a.1)), a.0)
    }
    #[inline(always)]
    unsafe fn load_columns(self, block: *const u64, row: usize) -> [T::R; 8] {
        // SAFETY: the caller's contract.
        unsafe { VectorWords::load_columns(self, block, row) }
    }
    #[inline(always)]
    unsafe fn store_columns(self, block: *mut u64, row: usize, columns: [T::R; 8]) {
        // SAFETY: the caller's contract.
        unsafe { VectorWords::store_columns(self, block, row, columns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;
    use crate::solinas::element::{add, neg, pow};

    fn signed(x: i64) -> u64 {
        if x < 0 { neg(x.unsigned_abs()) } else { x as u64 }
    }

    /// Returns the element that a pair of signed numbers represents.
    fn value(x0: i64, x1: i64) -> u64 {
        add(signed(x0), mul(signed(x1), 1 << 32))
    }

    /// All pairs of the corners, padded to whole registers.
    fn pairs(corners: &[i64]) -> Vec<(i64, i64)> {
        let mut all: Vec<(i64, i64)> = corners.iter().flat_map(|&a| corners.iter().map(move |&b| (a, b))).collect();
        all.resize(all.len().next_multiple_of(8), (0, 0));
        all
    }

    fn load<T: VectorWords>(t: T, words: impl Iterator<Item = u64>) -> T::R {
        let words: Vec<u64> = words.take(T::WIDTH).collect();
        // SAFETY: WIDTH words.
        unsafe { VectorWords::load(t, words.as_ptr()) }
    }

    fn words<T: VectorWords>(t: T, v: T::R) -> Vec<u64> {
        let mut out = vec![0; T::WIDTH];
        // SAFETY: WIDTH words.
        unsafe { VectorWords::store(t, out.as_mut_ptr(), v) };
        out
    }

    fn wide<T: VectorWords>(t: T, chunk: &[(i64, i64)]) -> Wide<T::R> {
        Wide(load(t, chunk.iter().map(|x| x.0 as u64)), load(t, chunk.iter().map(|x| x.1 as u64)))
    }

    fn unpacked(v: u64) -> u64 {
        value(i64::from(v as i32), i64::from((v >> 32) as i32))
    }

    fn reductions<T: VectorWords>(t: T) {
        let large = 1i64 << 60;
        let all = pairs(&[0, 1, -1, large - 1, 1 - large, large / 2, -large / 2, (1 << 32) - 1, 1 << 32, -(1 << 32)]);
        for chunk in all.chunks_exact(T::WIDTH) {
            let x = wide(t, chunk);
            let canonical = words(t, t.canonical(t.lift_canonical(x)));
            let packed = words(t, t.pack(t.lift_packed(x)));
            let carried = carry(t, x);
            let carried = words(t, t.canonical(t.lift_canonical(carried)));
            for (i, &(x0, x1)) in chunk.iter().enumerate() {
                assert_eq!(canonical[i], value(x0, x1), "{x0} + {x1} f");
                assert_eq!(unpacked(packed[i]), canonical[i], "{x0} + {x1} f");
                assert_eq!(carried[i], canonical[i], "{x0} + {x1} f");
            }
        }
    }

    fn products<T: VectorWords>(t: T) {
        let half = P.div_ceil(2);
        let factors = [
            0,
            1,
            P - 1,
            half,
            half - 1,
            1 << 31,
            1 << 32,
            1 << 63,
            P - (1 << 31),
            pow(7, 12345),
            (1 << 63) - (1 << 31),
        ];
        let digits = pairs(&[0, 1, -1, i32::MAX.into(), (i32::MIN + 1).into(), i32::MIN.into()]);
        // Both digits at the minimum do not occur, see the module.
        let digits: Vec<_> =
            digits.into_iter().map(|d| if d == (i32::MIN.into(), i32::MIN.into()) { (0, 0) } else { d }).collect();
        for w in factors {
            let [first, second] = encode_twiddle(w);
            let table = [first, second, 0];
            // SAFETY: a twiddle and a word after it.
            let factor = unsafe { t.broadcast(table.as_ptr()) };
            assert_eq!((unpacked(first), unpacked(second)), (w, mul(w, 1 << 32)), "{w:#x}");
            for chunk in digits.chunks_exact(T::WIDTH) {
                let v = load(t, chunk.iter().map(|&(d0, d1)| u64::from(d0 as u32) | (d1 as u64) << 32));
                let got = words(t, t.canonical(t.lift_canonical(t.mul(v, factor))));
                let kept = words(t, t.canonical(t.lift_canonical(t.unpack(v))));
                for (i, &(d0, d1)) in chunk.iter().enumerate() {
                    assert_eq!(got[i], mul(value(d0, d1), w), "({d0} + {d1} f) {w:#x}");
                    assert_eq!(kept[i], value(d0, d1), "{d0} + {d1} f");
                }
            }
        }
    }

    fn encodings<T: VectorWords>(t: T) {
        let corners = [
            0,
            1,
            P - 1,
            P,
            u64::MAX,
            1 << 31,
            (1 << 31) - 1,
            (1 << 63) - (1 << 31) - 1,
            (1 << 63) - (1 << 31),
            1 << 63,
            !(1 << 31),
            1 << 32,
        ];
        for a in corners {
            let v = t.splat(a);
            let encoded = words(t, t.encode(v))[0];
            assert_eq!(unpacked(encoded), crate::solinas::reduce(a), "{a:#x}");
            assert_ne!(encoded, DIGIT_SIGNS, "{a:#x}");
            assert_eq!(words(t, t.canonical(t.lift_canonical(t.widen(v))))[0], crate::solinas::reduce(a), "{a:#x}");
            for b in corners {
                let product = t.canonical(t.lift_canonical(t.mul_words(v, t.splat(b))));
                assert_eq!(words(t, product)[0], mul(a, b), "{a:#x} {b:#x}");
            }
        }
    }

    #[test]
    fn lanes_match_elements_at_the_corners() {
        for backend in solinas_testing::back_ends(Backend::available()) {
            match backend {
                Backend::Scalar => {}
                #[cfg(target_arch = "x86_64")]
                Backend::Avx2(t) => {
                    reductions(t);
                    products(t);
                    encodings(t);
                }
                #[cfg(target_arch = "x86_64")]
                Backend::Avx512(t) => {
                    reductions(t);
                    products(t);
                    encodings(t);
                }
                #[cfg(not(target_arch = "x86_64"))]
                _ => {}
            }
        }
    }
}
