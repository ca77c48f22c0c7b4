//! GMP, the reference for every result. The tests find it in the system when they run, and never link it.

use std::ffi::{CString, c_char, c_int, c_long, c_ulong, c_void};
use std::sync::OnceLock;

use libloading::Library;

/// GMP's integer: allocated words, signed number of words, words.
#[repr(C)]
struct Mpz {
    alloc: c_int,
    size: c_int,
    words: *mut u64,
}

type Init = unsafe extern "C" fn(*mut Mpz);
type Import = unsafe extern "C" fn(*mut Mpz, usize, c_int, usize, c_int, usize, *const c_void);
type Unary = unsafe extern "C" fn(*mut Mpz, *const Mpz, c_ulong);
type Binary = unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz);
type Ternary = unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz, *const Mpz);
type Invert = unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz) -> c_int;
type SetText = unsafe extern "C" fn(*mut Mpz, *const c_char, c_int) -> c_int;
type SizeInBase = unsafe extern "C" fn(*const Mpz, c_int) -> usize;
type GetText = unsafe extern "C" fn(*mut c_char, c_int, *const Mpz) -> *mut c_char;

/// The functions of GMP that the tests use, on words, lowest first.
pub(crate) struct Gmp {
    library: Library,
}

impl Gmp {
    /// Returns the library of the system.
    ///
    /// # Panics
    /// Panics if there is none; the message says what to install.
    pub(crate) fn get() -> &'static Self {
        static GMP: OnceLock<Gmp> = OnceLock::new();
        GMP.get_or_init(|| {
            let names = ["libgmp.so.10", "libgmp.10.dylib", "libgmp-10.dll"];
            // SAFETY: loading GMP runs no code that could interfere with this process.
            let library = names.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
            let library = library.unwrap_or_else(|| {
                panic!("these tests compare with GMP: install its shared library (Debian: apt-get install libgmp10)")
            });
            let gmp = Self { library };
            // SAFETY: this symbol is a constant of this type.
            assert_eq!(gmp.symbol::<*const c_int, _>("__gmp_bits_per_limb", |bits| unsafe { **bits }), 64);
            gmp
        })
    }

    /// Returns a symbol of GMP with the type from its manual.
    fn symbol<F: Copy, T>(&self, name: &str, then: impl FnOnce(&F) -> T) -> T {
        // SAFETY: each caller names a symbol with its type in GMP's manual.
        match unsafe { self.library.get::<F>(name) } {
            Ok(symbol) => then(&symbol),
            Err(error) => panic!("this GMP has no {name}: {error}"),
        }
    }

    fn number(&self, words: &[u64]) -> Number<'_> {
        let mut number = Number { gmp: self, value: Mpz { alloc: 0, size: 0, words: std::ptr::null_mut() } };
        // SAFETY: the number has the size of GMP's, which this fills.
        self.symbol::<Init, _>("__gmpz_init", |init| unsafe { init(&mut number.value) });
        // SAFETY: the number is initialised; GMP reads `len` words of 8 bytes in native order.
        self.symbol::<Import, _>("__gmpz_import", |import| unsafe {
            import(&mut number.value, words.len(), -1, 8, 0, 0, words.as_ptr().cast());
        });
        number
    }

    fn binary(&self, name: &str, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (mut out, a, b) = (self.number(&[]), self.number(a), self.number(b));
        // SAFETY: three initialised numbers.
        self.symbol::<Binary, _>(name, |f| unsafe { f(&mut out.value, &a.value, &b.value) });
        out.words()
    }

    /// a + b.
    pub(crate) fn add(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.binary("__gmpz_add", a, b)
    }

    /// |a - b|.
    pub(crate) fn abs_diff(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.binary("__gmpz_sub", a, b)
    }

    /// a b.
    pub(crate) fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.binary("__gmpz_mul", a, b)
    }

    /// Greatest common divisor.
    pub(crate) fn gcd(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.binary("__gmpz_gcd", a, b)
    }

    /// a / b, rounded down; b not zero.
    pub(crate) fn quotient(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.binary("__gmpz_tdiv_q", a, b)
    }

    /// a modulo b; b not zero.
    pub(crate) fn remainder(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.binary("__gmpz_tdiv_r", a, b)
    }

    /// a 2^count.
    pub(crate) fn shl(&self, a: &[u64], count: usize) -> Vec<u64> {
        self.shift("__gmpz_mul_2exp", a, count)
    }

    /// a / 2^count, rounded down.
    pub(crate) fn shr(&self, a: &[u64], count: usize) -> Vec<u64> {
        self.shift("__gmpz_tdiv_q_2exp", a, count)
    }

    fn shift(&self, name: &str, a: &[u64], count: usize) -> Vec<u64> {
        let (mut out, a) = (self.number(&[]), self.number(a));
        // SAFETY: two initialised numbers.
        self.symbol::<Unary, _>(name, |f| unsafe { f(&mut out.value, &a.value, count as c_ulong) });
        out.words()
    }

    /// base^exponent modulo m; m not zero.
    pub(crate) fn pow_mod(&self, base: &[u64], exponent: &[u64], m: &[u64]) -> Vec<u64> {
        let (mut out, base, exponent, m) = (self.number(&[]), self.number(base), self.number(exponent), self.number(m));
        // SAFETY: four initialised numbers.
        self.symbol::<Ternary, _>("__gmpz_powm", |f| unsafe {
            f(&mut out.value, &base.value, &exponent.value, &m.value);
        });
        out.words()
    }

    /// 1/a modulo m, if there is one; m not zero.
    pub(crate) fn inverse(&self, a: &[u64], m: &[u64]) -> Option<Vec<u64>> {
        let (mut out, a, m) = (self.number(&[]), self.number(a), self.number(m));
        // SAFETY: three initialised numbers.
        let found = self.symbol::<Invert, _>("__gmpz_invert", |f| unsafe { f(&mut out.value, &a.value, &m.value) });
        (found != 0).then(|| out.words())
    }

    /// Reads digits. The tests do not use GMP's answer to other characters.
    pub(crate) fn parse_decimal(&self, text: &str) -> Vec<u64> {
        let mut out = self.number(&[]);
        let Ok(text) = CString::new(text) else { panic!("digits have no zero byte") };
        // SAFETY: an initialised number, and a text that ends with a zero byte.
        let status = self.symbol::<SetText, _>("__gmpz_set_str", |f| unsafe { f(&mut out.value, text.as_ptr(), 10) });
        assert_eq!(status, 0, "GMP takes these digits");
        out.words()
    }

    /// Decimal digits.
    pub(crate) fn to_decimal(&self, a: &[u64]) -> String {
        let a = self.number(a);
        // SAFETY: an initialised number.
        let size = self.symbol::<SizeInBase, _>("__gmpz_sizeinbase", |f| unsafe { f(&a.value, 10) });
        let mut text = vec![0u8; size + 2];
        // SAFETY: the buffer has the size that GMP's manual asks for; GMP ends the text with a zero byte.
        self.symbol::<GetText, _>("__gmpz_get_str", |f| unsafe { f(text.as_mut_ptr().cast(), 10, &a.value) });
        text.into_iter().take_while(|&byte| byte != 0).map(char::from).collect()
    }

    /// Returns whether GMP considers a to be prime.
    pub(crate) fn is_probable_prime(&self, a: &[u64]) -> bool {
        type IsPrime = unsafe extern "C" fn(*const Mpz, c_int) -> c_int;
        let a = self.number(a);
        // SAFETY: an initialised number.
        self.symbol::<IsPrime, _>("__gmpz_probab_prime_p", |f| unsafe { f(&a.value, 20) }) != 0
    }
}

/// An integer of GMP's, freed on drop.
struct Number<'a> {
    gmp: &'a Gmp,
    value: Mpz,
}

impl Number<'_> {
    /// The words of the magnitude, without leading zero words.
    fn words(&self) -> Vec<u64> {
        let len = c_long::from(self.value.size).unsigned_abs() as usize;
        if len == 0 {
            return Vec::new();
        }
        // SAFETY: GMP keeps `size` words there.
        unsafe { std::slice::from_raw_parts(self.value.words, len) }.to_vec()
    }
}

impl Drop for Number<'_> {
    fn drop(&mut self) {
        // SAFETY: an initialised number, not used again.
        self.gmp.symbol::<Init, _>("__gmpz_clear", |clear| unsafe { clear(&mut self.value) });
    }
}
