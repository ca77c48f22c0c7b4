//! Sums of products of rows of words, reduced once.
//!
//! These kernels use the 52-bit multiply-adds of AVX-512 IFMA and primes of up to 50 bits. They add up low and high
//! halves of up to [`TERMS`] products in two registers and reduce the sum `h 2^52 + l` at the end: 2 operations a
//! product.
//!
//! Range: `h < 2^52` since `15 2^48 + 15 < 2^52`. With `w = 2^52 mod q`, `w' = floor(2^52 w/q)` and
//! `v = floor(2^52/q)`, the remainder `h w + l - (floor(h w'/2^52) + floor(l v/2^52)) q` is in `0..4q`, below `2^52`.

use super::modulus::Shoup;
use super::{FAST_PRIME_BITS, Pointwise};

/// Number of products that are added up before a reduction.
#[cfg(target_arch = "x86_64")]
const TERMS: usize = 12;

impl Pointwise {
    /// `dst <- constant + sum_k factors[k] rows[k]`. Shape: `rows` holds rows of as many words as `dst`, one after the
    /// other. Range: the words are below `2^bits`; the constant is a residue.
    ///
    /// # Panics
    /// Panics if `rows` has another number of words.
    pub fn combine(&self, dst: &mut [u64], rows: &[u64], bits: u32, factors: &[Shoup], constant: u64) {
        let len = dst.len();
        assert!(rows.len() == len * factors.len(), "{} rows of {len} words in {}", factors.len(), rows.len());
        let q = self.modulus();
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = x86::lazy(self.backend(), q, bits) {
            let mut first = constant;
            let chunks = factors.chunks(TERMS).zip(rows.chunks((TERMS * len).max(1)));
            for (chunk, (factors, rows)) in chunks.enumerate() {
                // SAFETY: the token proves AVX-512 with IFMA; a chunk has as many rows of `len` words as factors, at
                // most TERMS.
                unsafe { x86::combine(token, q, dst, rows.as_ptr(), factors, (chunk == 0).then_some(first)) };
                first = 0;
            }
            if factors.is_empty() {
                dst.fill(constant);
            }
            return;
        }
        let _ = bits;
        dst.fill(constant);
        for (row, &factor) in rows.chunks_exact(len.max(1)).zip(factors) {
            self.scale_add(dst, row, factor);
        }
    }

    /// `dst[j] <- dst[j] + sum_k x_k y_kj` for both `j`, of terms `(x_k, [y_k0, y_k1])`. Range: in and out canonical.
    ///
    /// # Panics
    /// Panics if slices differ in length.
    pub fn dot_two(&self, dst: [&mut [u64]; 2], terms: &[(&[u64], [&[u64]; 2])]) {
        let [first, second] = dst;
        let len = first.len();
        let alike = |(x, [y, z]): &(&[u64], [&[u64]; 2])| x.len() == len && y.len() == len && z.len() == len;
        assert!(second.len() == len && terms.iter().all(alike), "slices of {len} words and others");
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = x86::lazy(self.backend(), self.modulus(), FAST_PRIME_BITS) {
            for terms in terms.chunks(TERMS) {
                // SAFETY: the token proves AVX-512 with IFMA; the lengths were checked, and there are at most TERMS
                // terms.
                unsafe { x86::dot_two(token, self.modulus(), first, second, terms) };
            }
            return;
        }
        for &(x, [y, z]) in terms {
            self.multiply_add(first, x, y);
            self.multiply_add(second, x, z);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    use super::super::u64_lanes::U64Lanes;
    use super::super::{FAST_PRIME_BITS, Modulus};
    use super::Shoup;
    use crate::Backend;
    use crate::backend::Avx512;

    /// Low and high halves of a sum of products.
    type Sum = [__m512i; 2];

    /// Returns the proof of AVX-512 with IFMA if the modulus and words of `bits` bits allow these kernels.
    pub(super) fn lazy(backend: Backend, q: Modulus, bits: u32) -> Option<Avx512> {
        let fits = q.bits() <= FAST_PRIME_BITS && bits <= FAST_PRIME_BITS;
        match backend {
            Backend::Avx512(token) if fits && is_x86_feature_detected!("avx512ifma") => Some(token),
            _ => None,
        }
    }

    /// The constants of a modulus, in registers.
    #[derive(Clone, Copy)]
    struct Lazy {
        l: Avx512,
        q: __m512i,
        q2: __m512i,
        /// `2^52 - q`.
        minus: __m512i,
        mask: __m512i,
        /// `2^52 mod q`, and its quotient by `q` in units of `2^-52`.
        weight: [__m512i; 2],
        /// `floor(2^52/q)`.
        one: __m512i,
    }

    #[inline(always)]
    fn low(c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `lazy` detected the instructions.
        unsafe { _mm512_madd52lo_epu64(c, a, b) }
    }
    #[inline(always)]
    fn high(c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: as in `low`.
        unsafe { _mm512_madd52hi_epu64(c, a, b) }
    }

    impl Lazy {
        #[inline(always)]
        fn new(l: Avx512, q: Modulus) -> Self {
            let m = q.value();
            let weight = q.shoup(q.reduce(1 << 52));
            let splat = |x| l.splat_word(x);
            Self {
                l,
                q: splat(m),
                q2: splat(2 * m),
                minus: splat((1 << 52) - m),
                mask: splat((1 << 52) - 1),
                weight: [splat(weight.value), splat(weight.quotient >> 12)],
                one: splat((1 << 52) / m),
            }
        }

        #[inline(always)]
        fn add(self, sum: Sum, x: __m512i, y: __m512i) -> Sum {
            [low(sum[0], x, y), high(sum[1], x, y)]
        }

        /// Reduces a sum to `0..q`.
        #[inline(always)]
        fn reduce(self, [sum, carried]: Sum) -> __m512i {
            let l = self.l;
            let (rest, top) = (l.and(sum, self.mask), l.add_word(carried, l.shift_right(sum, 52)));
            let quotient = high(high(l.splat_word(0), top, self.weight[1]), rest, self.one);
            let r = low(low(rest, top, self.weight[0]), quotient, self.minus);
            l.reduce_once(l.reduce_once(l.and(r, self.mask), self.q2), self.q)
        }
    }

    /// Registers that a kernel works on at once.
    const AT_ONCE: usize = 4;

    /// `dst <- first + sum_k factors[k] rows[k]`, where `first` is the constant, or `dst` if there is no constant.
    ///
    /// # Safety
    /// AVX-512 with IFMA; as many rows of `dst.len()` words below 2^50 at `rows` as factors, at most `TERMS`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,fma")]
    pub(super) unsafe fn combine(
        l: Avx512,
        q: Modulus,
        dst: &mut [u64],
        rows: *const u64,
        factors: &[Shoup],
        constant: Option<u64>,
    ) {
        let (c, len) = (Lazy::new(l, q), dst.len());
        let at = dst.as_mut_ptr();
        let zero = l.splat_word(0);
        let mut i = 0;
        while i + 8 * AT_ONCE <= len {
            let mut sums = [[zero; 2]; AT_ONCE];
            for (r, sum) in sums.iter_mut().enumerate() {
                sum[0] = match constant {
                    Some(constant) => l.splat_word(constant),
                    // SAFETY: i + 8 AT_ONCE <= len.
                    None => unsafe { l.load_words(at.add(i + 8 * r)) },
                };
            }
            for (k, factor) in factors.iter().enumerate() {
                let factor = l.splat_word(factor.value);
                for (r, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: row k has len words, and i + 8 AT_ONCE <= len.
                    *sum = c.add(*sum, unsafe { l.load_words(rows.add(k * len + i + 8 * r)) }, factor);
                }
            }
            for (r, &sum) in sums.iter().enumerate() {
                // SAFETY: i + 8 AT_ONCE <= len.
                unsafe { l.store_words(at.add(i + 8 * r), c.reduce(sum)) };
            }
            i += 8 * AT_ONCE;
        }
        for (i, dst) in dst.iter_mut().enumerate().skip(i) {
            // SAFETY: row k has len words.
            let word = |k: usize| unsafe { *rows.add(k * len + i) };
            let products = factors.iter().enumerate().map(|(k, factor)| u128::from(word(k)) * u128::from(factor.value));
            *dst = q.reduce_u128(products.sum::<u128>() + u128::from(constant.unwrap_or(*dst)));
        }
    }

    /// `dst_j <- dst_j + sum_k x_k y_kj`.
    ///
    /// # Safety
    /// AVX-512 with IFMA; slices of one length, residues of at most 50 bits, at most `TERMS` terms.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,fma")]
    pub(super) unsafe fn dot_two(
        l: Avx512,
        q: Modulus,
        first: &mut [u64],
        second: &mut [u64],
        terms: &[(&[u64], [&[u64]; 2])],
    ) {
        const PAIR: usize = 2;
        let (c, len) = (Lazy::new(l, q), first.len());
        let (at, other) = (first.as_mut_ptr(), second.as_mut_ptr());
        let zero = l.splat_word(0);
        let mut i = 0;
        while i + 8 * PAIR <= len {
            let mut sums = [[[zero; 2]; 2]; PAIR];
            for (r, [x, y]) in sums.iter_mut().enumerate() {
                // SAFETY: i + 8 PAIR <= len.
                unsafe { (x[0], y[0]) = (l.load_words(at.add(i + 8 * r)), l.load_words(other.add(i + 8 * r))) };
            }
            for (x, [y, z]) in terms {
                for (r, [first, second]) in sums.iter_mut().enumerate() {
                    let i = i + 8 * r;
                    // SAFETY: all slices have len words, and i + 8 <= len.
                    let [x, y, z] = [x, y, z].map(|words| unsafe { l.load_words(words.as_ptr().add(i)) });
                    (*first, *second) = (c.add(*first, x, y), c.add(*second, x, z));
                }
            }
            for (r, &[x, y]) in sums.iter().enumerate() {
                // SAFETY: i + 8 PAIR <= len.
                unsafe {
                    l.store_words(at.add(i + 8 * r), c.reduce(x));
                    l.store_words(other.add(i + 8 * r), c.reduce(y));
                }
            }
            i += 8 * PAIR;
        }
        for i in i..len {
            for (dst, j) in [(&mut *first, 0), (&mut *second, 1)] {
                let products = terms.iter().map(|(x, y)| u128::from(x[i]) * u128::from(y[j][i]));
                dst[i] = q.reduce_u128(products.sum::<u128>() + u128::from(dst[i]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::super::{Modulus, Pointwise, primes};
    use crate::Backend;

    /// Residues that look random, the largest among them.
    fn residues(q: Modulus, len: usize, seed: u64) -> Vec<u64> {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut word = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        };
        (0..len).map(|i| if i % 5 == 0 { q.value() - 1 } else { word() % q.value() }).collect()
    }

    #[test]
    fn sums_of_products_match_u128() {
        for bits in [20, 48, 50, 51, 61] {
            let all = primes(bits, 2, 32).unwrap();
            let (q, other) = (all[1], all[0]);
            for backend in solinas_testing::back_ends(Backend::available()) {
                let ops = Pointwise::new(q, backend);
                for terms in [0, 1, 3, 12, 13, 30] {
                    for len in [1, 16, 64, 99] {
                        let rows = residues(other, terms * len, 1);
                        let factors: Vec<_> = residues(q, terms, 2).iter().map(|&f| q.shoup(f)).collect();
                        let mut dst = vec![7; len];
                        ops.combine(&mut dst, &rows, bits, &factors, q.value() - 1);
                        for i in 0..len {
                            let term = |k: usize| q.mul(q.reduce(rows[k * len + i]), factors[k].value());
                            assert_eq!(dst[i], (0..terms).fold(q.value() - 1, |sum, k| q.add(sum, term(k))), "{bits}");
                        }
                        let [x, y, z] = [3, 4, 5].map(|seed| residues(q, terms * len, seed));
                        let row = |words: &'_ [u64], k: usize| words[k * len..][..len].to_vec();
                        let rows: Vec<_> = (0..terms).map(|k| (row(&x, k), row(&y, k), row(&z, k))).collect();
                        let borrowed: Vec<_> = rows.iter().map(|(x, y, z)| (&x[..], [&y[..], &z[..]])).collect();
                        let (mut first, mut second) = (vec![q.value() - 1; len], vec![0; len]);
                        ops.dot_two([&mut first, &mut second], &borrowed);
                        for i in 0..len {
                            let sum = |start, y: &[u64]| {
                                (0..terms).fold(start, |sum, k| q.mul_add(x[k * len + i], y[k * len + i], sum))
                            };
                            assert_eq!(first[i], sum(q.value() - 1, &y), "{bits} bits, {terms} terms");
                            assert_eq!(second[i], sum(0, &z), "{bits} bits, {terms} terms");
                        }
                    }
                }
            }
        }
    }
}
