//! GMP, the system's library.

use std::ffi::{CStr, c_char, c_int, c_long};
use std::ptr;

use crate::dynamic::open;
use crate::functions;

/// GMP's `mpz_t`.
#[repr(C)]
struct Mpz {
    alloc: c_int,
    size: c_int,
    words: *mut u64,
}

functions! {
    Functions {
        mpn_mul = "__gmpn_mul": fn(*mut u64, *const u64, c_long, *const u64, c_long) -> u64;
        mpn_mul_basecase = "__gmpn_mul_basecase": fn(*mut u64, *const u64, c_long, *const u64, c_long);
        mpn_sqr = "__gmpn_sqr": fn(*mut u64, *const u64, c_long);
        mpn_add_n = "__gmpn_add_n": fn(*mut u64, *const u64, *const u64, c_long) -> u64;
        mpn_sub_n = "__gmpn_sub_n": fn(*mut u64, *const u64, *const u64, c_long) -> u64;
        mpn_cmp = "__gmpn_cmp": fn(*const u64, *const u64, c_long) -> c_int;
        mpn_tdiv_qr = "__gmpn_tdiv_qr": fn(*mut u64, *mut u64, c_long, *const u64, c_long, *const u64, c_long);
        mpz_init = "__gmpz_init": fn(*mut Mpz);
        mpz_clear = "__gmpz_clear": fn(*mut Mpz);
        mpz_powm = "__gmpz_powm": fn(*mut Mpz, *const Mpz, *const Mpz, *const Mpz);
        mpz_powm_sec = "__gmpz_powm_sec": fn(*mut Mpz, *const Mpz, *const Mpz, *const Mpz);
        mpz_nextprime = "__gmpz_nextprime": fn(*mut Mpz, *const Mpz);
        mpz_invert = "__gmpz_invert": fn(*mut Mpz, *const Mpz, *const Mpz) -> c_int;
    }
}

/// GMP's functions on slices of words.
#[derive(Clone, Copy)]
pub struct Gmp {
    f: Functions,
    version: &'static CStr,
}

fn len(x: &[u64]) -> c_long {
    x.len() as c_long
}

/// A number that GMP only reads. Its words stay ours.
fn read_only(x: &[u64]) -> Mpz {
    let x = crate::numbers::trimmed(x);
    Mpz { alloc: 0, size: x.len() as c_int, words: x.as_ptr().cast_mut() }
}

impl Gmp {
    /// The library of the system, if there is one.
    pub fn find() -> Option<Self> {
        let library = open(["libgmp.so.10", "libgmp.so", "libgmp.dylib"].map(Into::into))?;
        let f = Functions::load(library).ok()?;
        // SAFETY: `__gmp_version` is a constant pointer to a C string, and the library stays.
        let version = unsafe { CStr::from_ptr(**library.get::<*const *const c_char>(b"__gmp_version").ok()?) };
        Some(Self { f, version })
    }

    /// Its version.
    pub fn version(&self) -> String {
        self.version.to_string_lossy().into_owned()
    }

    /// `out <- a b`. Shape: `out` is as long as both operands together; no operand is empty.
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64]) {
        let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
        assert!(out.len() == a.len() + b.len() && !b.is_empty());
        // SAFETY: the lengths were checked, and `out` overlaps nothing.
        unsafe { (self.f.mpn_mul)(out.as_mut_ptr(), a.as_ptr(), len(a), b.as_ptr(), len(b)) };
    }

    /// `out <- a b` by the schoolbook method. Shape: as [`Gmp::mul`], with equal lengths.
    pub fn mul_basecase(&self, out: &mut [u64], a: &[u64], b: &[u64]) {
        assert!(out.len() == a.len() + b.len() && a.len() == b.len() && !b.is_empty());
        // SAFETY: the lengths were checked, and `out` overlaps nothing.
        unsafe { (self.f.mpn_mul_basecase)(out.as_mut_ptr(), a.as_ptr(), len(a), b.as_ptr(), len(b)) };
    }

    /// `out <- a^2`. Shape: `out` is twice as long as `a`.
    pub fn sqr(&self, out: &mut [u64], a: &[u64]) {
        assert!(out.len() == 2 * a.len() && !a.is_empty());
        // SAFETY: the lengths were checked, and `out` overlaps nothing.
        unsafe { (self.f.mpn_sqr)(out.as_mut_ptr(), a.as_ptr(), len(a)) };
    }

    /// `out <- a + b`. Returns the carry. Shape: equal lengths.
    pub fn add_n(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
        assert!(out.len() == a.len() && a.len() == b.len());
        // SAFETY: the lengths were checked.
        unsafe { (self.f.mpn_add_n)(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), len(a)) }
    }

    /// `x <- x + b`. Returns the carry. Shape: equal lengths.
    pub fn add_assign(&self, x: &mut [u64], b: &[u64]) -> u64 {
        assert_eq!(x.len(), b.len());
        // SAFETY: the lengths were checked; GMP allows the result to be an operand.
        unsafe { (self.f.mpn_add_n)(x.as_mut_ptr(), x.as_ptr(), b.as_ptr(), len(b)) }
    }

    /// `x <- x - b`. Returns the borrow. Shape: equal lengths.
    pub fn sub_assign(&self, x: &mut [u64], b: &[u64]) -> u64 {
        assert_eq!(x.len(), b.len());
        // SAFETY: the lengths were checked; GMP allows the result to be the first operand.
        unsafe { (self.f.mpn_sub_n)(x.as_mut_ptr(), x.as_ptr(), b.as_ptr(), len(b)) }
    }

    /// Whether `a < b`. Shape: equal lengths.
    pub fn less(&self, a: &[u64], b: &[u64]) -> bool {
        assert_eq!(a.len(), b.len());
        // SAFETY: the lengths were checked.
        unsafe { (self.f.mpn_cmp)(a.as_ptr(), b.as_ptr(), len(a)) < 0 }
    }

    /// `quotient, remainder <- a / b`. Shape: the quotient has `a.len() - b.len() + 1` words, the remainder as many as `b`. The top word
    /// of `b` is not zero.
    pub fn div_rem(&self, quotient: &mut [u64], remainder: &mut [u64], a: &[u64], b: &[u64]) {
        assert!(a.len() >= b.len() && b.last().is_some_and(|&top| top != 0));
        assert!(quotient.len() == a.len() - b.len() + 1 && remainder.len() == b.len());
        let (q, r) = (quotient.as_mut_ptr(), remainder.as_mut_ptr());
        // SAFETY: the lengths were checked, nothing overlaps.
        unsafe { (self.f.mpn_tdiv_qr)(q, r, 0, a.as_ptr(), len(a), b.as_ptr(), len(b)) };
    }

    /// `out <- base^exponent mod modulus`. The time depends on the operands. Shape: `out` is as long as the modulus.
    pub fn powm(&self, out: &mut [u64], base: &[u64], exponent: &[u64], modulus: &[u64]) {
        assert!(modulus.iter().any(|&word| word != 0));
        self.collect(out, |r| {
            // SAFETY: the operands are numbers; the modulus is not zero.
            unsafe { (self.f.mpz_powm)(r, &read_only(base), &read_only(exponent), &read_only(modulus)) };
        });
    }

    /// `out <- base^exponent mod modulus` for a secret exponent above 0 and an odd modulus. Shape: `out` is as long as the modulus.
    pub fn powm_sec(&self, out: &mut [u64], base: &[u64], exponent: &[u64], modulus: &[u64]) {
        assert!(modulus[0] & 1 == 1 && exponent.iter().any(|&word| word != 0));
        self.collect(out, |r| {
            // SAFETY: the operands are numbers; the modulus is odd and the exponent is not zero.
            unsafe { (self.f.mpz_powm_sec)(r, &read_only(base), &read_only(exponent), &read_only(modulus)) };
        });
    }

    /// The first prime (with overwhelming probability) above `x`. Shape: as `x`.
    pub fn next_prime(&self, x: &[u64]) -> Vec<u64> {
        let mut out = vec![0; x.len()];
        // SAFETY: the operand is a number.
        self.collect(&mut out, |r| unsafe { (self.f.mpz_nextprime)(r, &read_only(x)) });
        out
    }

    /// The inverse of `x`, if there is one. Shape: as the modulus.
    pub fn invert(&self, x: &[u64], modulus: &[u64]) -> Option<Vec<u64>> {
        let mut out = vec![0; modulus.len()];
        let mut exists = false;
        self.collect(&mut out, |r| {
            // SAFETY: the operands are numbers.
            exists = unsafe { (self.f.mpz_invert)(r, &read_only(x), &read_only(modulus)) } != 0;
        });
        exists.then_some(out)
    }

    /// Copies the result of `f`, and fills the words above it with zeros.
    fn collect(&self, out: &mut [u64], f: impl FnOnce(*mut Mpz)) {
        let mut r = Mpz { alloc: 0, size: 0, words: ptr::null_mut() };
        // SAFETY: `r` is written whole.
        unsafe { (self.f.mpz_init)(&mut r) };
        f(&mut r);
        let used = r.size.unsigned_abs() as usize;
        assert!(used <= out.len());
        if used > 0 {
            // SAFETY: `r` has this many words.
            out[..used].copy_from_slice(unsafe { std::slice::from_raw_parts(r.words, used) });
        }
        out[used..].fill(0);
        // SAFETY: `r` was initialised, and is not used again.
        unsafe { (self.f.mpz_clear)(&mut r) };
    }
}
