//! Stamps the methods of `F64Lanes` that differ only in the name of an intrinsic.

macro_rules! float_ops {
    ($v:ty, $f:ty, $load:ident, $store:ident, $set1:ident, $add:ident, $sub:ident, $mul:ident, $fma:ident, $fms:ident, $fnma:ident) => {
        #[inline(always)]
        unsafe fn load(self, src: *const $f) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $load(src) }
        }
        #[inline(always)]
        unsafe fn store(self, dst: *mut $f, v: $v) {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $store(dst, v) }
        }
        #[inline(always)]
        fn splat(self, x: $f) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $set1(x) }
        }
        #[inline(always)]
        fn add(self, a: $v, b: $v) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $add(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: $v, b: $v) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $sub(a, b) }
        }
        #[inline(always)]
        fn mul(self, a: $v, b: $v) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $mul(a, b) }
        }
        #[inline(always)]
        fn mul_add(self, a: $v, b: $v, c: $v) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $fma(a, b, c) }
        }
        #[inline(always)]
        fn mul_sub(self, a: $v, b: $v, c: $v) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $fms(a, b, c) }
        }
        #[inline(always)]
        fn neg_mul_add(self, a: $v, b: $v, c: $v) -> $v {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $fnma(a, b, c) }
        }
        #[inline(always)]
        fn prefetch(self, at: *const $f) {
            // SAFETY: a prefetch never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
        }
    };
}

macro_rules! word_ops {
    ($i:ty, $f:ty, $load:ident, $store:ident, $cast:ty, $set1:ident, $add:ident, $sub:ident, $mul:ident, $xor:ident, $shl:ident, $sar:ident) => {
        #[inline(always)]
        unsafe fn load_u32(self, src: *const u32) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $load(src as *const $cast) }
        }
        #[inline(always)]
        unsafe fn store_u32(self, dst: *mut u32, v: $i) {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $store(dst as *mut $cast, v) }
        }
        #[inline(always)]
        fn splat_u32(self, x: u32) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $set1(x as i32) }
        }
        #[inline(always)]
        fn add_u32(self, a: $i, b: $i) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $add(a, b) }
        }
        #[inline(always)]
        fn sub_u32(self, a: $i, b: $i) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $sub(a, b) }
        }
        #[inline(always)]
        fn mul_u32(self, a: $i, b: $i) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $mul(a, b) }
        }
        #[inline(always)]
        fn xor_u32(self, a: $i, b: $i) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $xor(a, b) }
        }
        #[inline(always)]
        fn shl(self, a: $i, count: u32) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $shl(a, _mm_cvtsi32_si128(count as i32)) }
        }
        #[inline(always)]
        fn sar(self, a: $i, count: u32) -> $i {
            // SAFETY: the token proves the instruction set; pointers as `F64Lanes` requires, unaligned access.
            unsafe { $sar(a, _mm_cvtsi32_si128(count as i32)) }
        }
    };
}

pub(super) use {float_ops, word_ops};
