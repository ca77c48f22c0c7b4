//! HEXL's transforms, in the library that `../peers/hexl.sh` makes.

use std::ffi::{OsString, c_char, c_void};

use bench_common::dynamic::{open, text};
use bench_common::functions;

functions! {
    /// The exports of `../peers/hexl.cpp`.
    Functions {
        version = "hexl_version": fn() -> *const c_char;
        kernel = "hexl_kernel": fn(u64, u64) -> *const c_char;
        new = "hexl_new": fn(u64, u64) -> *mut c_void;
        drop = "hexl_drop": fn(*mut c_void);
        forward = "hexl_forward": fn(*mut c_void, *mut u64);
        inverse = "hexl_inverse": fn(*mut c_void, *mut u64);
        multiply = "hexl_multiply": fn(*mut u64, *const u64, u64, u64);
    }
}

/// The library.
#[derive(Clone, Copy)]
pub struct Hexl(Functions);

impl Hexl {
    /// The library that `hexl.sh` has made, if it is there.
    pub fn open() -> Option<Self> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/peers/libhexl-ntt.so");
        Functions::load(open([OsString::from(path)])?).ok().map(Self)
    }

    /// Version, compiler and flags.
    pub fn version(self) -> String {
        // SAFETY: the function returns a constant.
        unsafe { text((self.0.version)()) }
    }

    /// A plan, unless HEXL refuses the prime.
    pub fn plan(self, n: usize, q: u64) -> Option<Plan> {
        // SAFETY: HEXL checks the arguments, and the library returns null if it refuses them.
        let ntt = unsafe { (self.0.new)(n as u64, q) };
        (!ntt.is_null()).then_some(Plan { functions: self.0, ntt, n, q })
    }
}

/// Transforms of one dimension modulo one prime.
pub struct Plan {
    functions: Functions,
    ntt: *mut c_void,
    n: usize,
    q: u64,
}

impl Plan {
    /// The kernel that HEXL chooses.
    pub fn kernel(&self) -> String {
        // SAFETY: the function returns a constant.
        unsafe { text((self.functions.kernel)(self.n as u64, self.q)) }
    }

    /// Shape: N. Range: below q in and out.
    pub fn forward(&self, x: &mut [u64]) {
        assert_eq!(x.len(), self.n, "the length of a transform is that of its plan");
        // SAFETY: the plan lives and has the length of `x`.
        unsafe { (self.functions.forward)(self.ntt, x.as_mut_ptr()) }
    }

    /// The inverse with its division by N. Shape: N. Range: below q in and out.
    pub fn inverse(&self, x: &mut [u64]) {
        assert_eq!(x.len(), self.n, "the length of a transform is that of its plan");
        // SAFETY: the plan lives and has the length of `x`.
        unsafe { (self.functions.inverse)(self.ntt, x.as_mut_ptr()) }
    }

    /// `x <- x y`, pointwise. Shape: N. Range: below q in and out.
    pub fn multiply(&self, x: &mut [u64], y: &[u64]) {
        assert_eq!((x.len(), y.len()), (self.n, self.n), "the length of a product is that of its plan");
        // SAFETY: both operands have `n` words.
        unsafe { (self.functions.multiply)(x.as_mut_ptr(), y.as_ptr(), self.n as u64, self.q) }
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the plan came from `new` and ends here.
        unsafe { (self.functions.drop)(self.ntt) }
    }
}
