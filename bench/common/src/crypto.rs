//! OpenSSL's libcrypto, the system's library.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};
use std::ptr;

use crate::dynamic::{open, text};
use crate::functions;
use crate::numbers::{from_bytes, to_bytes};
use crate::sample::Work;

type Bn = *mut c_void;
type Rsa = *mut c_void;
type Context = *mut c_void;
type Montgomery = *mut c_void;

/// `OPENSSL_VERSION`
const VERSION: c_int = 0;
/// `NID_sha256`
const SHA256: c_int = 672;

functions! {
    Functions {
        version = "OpenSSL_version": fn(c_int) -> *const c_char;
        bn_new = "BN_new": fn() -> Bn;
        bn_free = "BN_free": fn(Bn);
        bn_from = "BN_bin2bn": fn(*const c_uchar, c_int, Bn) -> Bn;
        bn_to = "BN_bn2binpad": fn(Bn, *mut c_uchar, c_int) -> c_int;
        ctx_new = "BN_CTX_new": fn() -> Context;
        ctx_free = "BN_CTX_free": fn(Context);
        mont_new = "BN_MONT_CTX_new": fn() -> Montgomery;
        mont_set = "BN_MONT_CTX_set": fn(Montgomery, Bn, Context) -> c_int;
        mont_free = "BN_MONT_CTX_free": fn(Montgomery);
        mont_exp = "BN_mod_exp_mont_consttime": fn(Bn, Bn, Bn, Bn, Context, Montgomery) -> c_int;
        rsa_new = "RSA_new": fn() -> Rsa;
        rsa_free = "RSA_free": fn(Rsa);
        rsa_key = "RSA_set0_key": fn(Rsa, Bn, Bn, Bn) -> c_int;
        rsa_factors = "RSA_set0_factors": fn(Rsa, Bn, Bn) -> c_int;
        rsa_crt = "RSA_set0_crt_params": fn(Rsa, Bn, Bn, Bn) -> c_int;
        rsa_sign = "RSA_sign": fn(c_int, *const c_uchar, c_uint, *mut c_uchar, *mut c_uint, Rsa) -> c_int;
    }
}

/// A private RSA key as words.
pub struct RsaKey {
    /// `p q`
    pub n: Vec<u64>,
    /// 65537
    pub e: Vec<u64>,
    /// `e^-1 mod (p - 1)(q - 1)`
    pub d: Vec<u64>,
    /// The greater prime.
    pub p: Vec<u64>,
    /// The smaller prime.
    pub q: Vec<u64>,
    /// `d mod p - 1`
    pub dp: Vec<u64>,
    /// `d mod q - 1`
    pub dq: Vec<u64>,
    /// `q^-1 mod p`
    pub q_inverse: Vec<u64>,
}

/// libcrypto's functions.
#[derive(Clone, Copy)]
pub struct Crypto(Functions);

impl Crypto {
    /// The library of the system, if there is one.
    pub fn find() -> Option<Self> {
        let library = open(["libcrypto.so.3", "libcrypto.so", "libcrypto.3.dylib"].map(Into::into))?;
        Functions::load(library).ok().map(Self)
    }

    /// Its name and version.
    pub fn version(&self) -> String {
        // SAFETY: a constant string of the library's.
        unsafe { text((self.0.version)(VERSION)) }
    }

    /// `BN_mod_exp_mont_consttime`, with a Montgomery context that exists before.
    pub fn power(&self, base: &[u64], exponent: &[u64], modulus: &[u64]) -> impl Work + use<> {
        Power::new(self.0, base, exponent, modulus)
    }

    /// A PKCS #1 v1.5 signature of a SHA-256 value. The library uses the CRT, blinds, and checks the result with the public exponent.
    pub fn sign(&self, key: &RsaKey, digest: &[u8]) -> impl Work + use<> {
        Signature::new(self.0, key, digest)
    }
}

impl Functions {
    fn number(&self, x: &[u64]) -> Bn {
        let bytes = to_bytes(x);
        // SAFETY: pointer and length are of one slice; a null destination asks for a new number.
        let number = unsafe { (self.bn_from)(bytes.as_ptr(), bytes.len() as c_int, ptr::null_mut()) };
        assert!(!number.is_null(), "libcrypto has no memory");
        number
    }
}

struct Power {
    f: Functions,
    numbers: [Bn; 4],
    context: Context,
    montgomery: Montgomery,
    bytes: usize,
}

impl Power {
    fn new(f: Functions, base: &[u64], exponent: &[u64], modulus: &[u64]) -> Self {
        // SAFETY: these have no preconditions.
        let (out, context, montgomery) = unsafe { ((f.bn_new)(), (f.ctx_new)(), (f.mont_new)()) };
        assert!(!out.is_null() && !context.is_null() && !montgomery.is_null(), "libcrypto has no memory");
        let numbers = [out, f.number(base), f.number(exponent), f.number(modulus)];
        // SAFETY: all three were made above.
        let status = unsafe { (f.mont_set)(montgomery, numbers[3], context) };
        assert_eq!(status, 1, "libcrypto refuses the modulus");
        Self { f, numbers, context, montgomery, bytes: 8 * modulus.len() }
    }
}

impl Work for Power {
    fn run(&mut self) {
        let [out, base, exponent, modulus] = self.numbers;
        // SAFETY: all were made in `new` and live until `drop`.
        let status = unsafe { (self.f.mont_exp)(out, base, exponent, modulus, self.context, self.montgomery) };
        assert_eq!(status, 1, "libcrypto's power failed");
    }

    fn result(&self) -> Option<Vec<u64>> {
        let mut bytes = vec![0; self.bytes];
        // SAFETY: pointer and length are of one slice.
        let len = unsafe { (self.f.bn_to)(self.numbers[0], bytes.as_mut_ptr(), bytes.len() as c_int) };
        assert!(len >= 0);
        Some(from_bytes(&bytes))
    }
}

impl Drop for Power {
    fn drop(&mut self) {
        // SAFETY: all were made in `new` and are not used again.
        unsafe {
            self.numbers.into_iter().for_each(|number| (self.f.bn_free)(number));
            (self.f.mont_free)(self.montgomery);
            (self.f.ctx_free)(self.context);
        }
    }
}

struct Signature {
    f: Functions,
    rsa: Rsa,
    digest: Vec<u8>,
    out: Vec<u8>,
}

impl Signature {
    fn new(f: Functions, key: &RsaKey, digest: &[u8]) -> Self {
        // SAFETY: no preconditions.
        let rsa = unsafe { (f.rsa_new)() };
        assert!(!rsa.is_null(), "libcrypto has no memory");
        let number = |x: &[u64]| f.number(x);
        // SAFETY: the key takes over numbers that were just made.
        let status = unsafe {
            (f.rsa_key)(rsa, number(&key.n), number(&key.e), number(&key.d))
                & (f.rsa_factors)(rsa, number(&key.p), number(&key.q))
                & (f.rsa_crt)(rsa, number(&key.dp), number(&key.dq), number(&key.q_inverse))
        };
        assert_eq!(status, 1, "libcrypto refuses the key");
        Self { f, rsa, digest: digest.to_vec(), out: vec![0; 8 * key.n.len()] }
    }
}

impl Work for Signature {
    fn run(&mut self) {
        let (digest, out) = (self.digest.as_ptr(), self.out.as_mut_ptr());
        let mut len = 0;
        // SAFETY: the digest's pointer and length are of one slice, and the output is as long as the modulus.
        let status = unsafe { (self.f.rsa_sign)(SHA256, digest, self.digest.len() as _, out, &mut len, self.rsa) };
        assert!(status == 1 && len as usize == self.out.len(), "libcrypto's signature failed");
    }

    fn result(&self) -> Option<Vec<u64>> {
        Some(from_bytes(&self.out))
    }
}

impl Drop for Signature {
    fn drop(&mut self) {
        // SAFETY: made in `new`, not used again; it frees the numbers it took over.
        unsafe { (self.f.rsa_free)(self.rsa) };
    }
}
