//! FLINT, at its best: fft_small, with transformed operands where its version offers them.

use std::cell::RefCell;
use std::env;
use std::ffi::{OsString, c_char, c_int, c_long, c_ulong, c_void};
use std::rc::Rc;

use bench_common::dynamic::{open, text};
use bench_common::numbers::trimmed;
use bench_common::sample::Work;
use bench_common::{Gmp, functions};

functions! {
    Functions {
        mul = "flint_mpn_mul": fn(*mut u64, *const u64, c_long, *const u64, c_long) -> u64;
        set_num_threads = "flint_set_num_threads": fn(c_int);
        preinvn = "flint_mpn_preinvn": fn(*mut u64, *const u64, c_long);
        mulmod_preinvn = "flint_mpn_mulmod_preinvn":
            fn(*mut u64, *const u64, *const u64, c_long, *const u64, *const u64, c_ulong);
    }
}

functions! {
    /// fft_small's products.
    FftSmall {
        default_ctx = "get_default_mpn_ctx": fn() -> *mut c_void;
        mul = "mpn_ctx_mpn_mul": fn(*mut c_void, *mut u64, *const u64, c_ulong, *const u64, c_ulong);
    }
}

functions! {
    /// fft_small's transformed operands (3.7).
    Plans {
        init = "fft_small_plan_init_mpn": fn(*mut Opaque, *mut c_void, c_ulong, c_ulong, c_ulong, c_int) -> c_int;
        init_cyclic = "fft_small_plan_init_mpn_cyclic": fn(*mut Opaque, *mut c_void, *mut c_ulong, c_ulong) -> c_int;
        clear = "fft_small_plan_clear": fn(*mut Opaque);
        op_init = "fft_small_op_init": fn(*mut Opaque, *const Opaque);
        op_clear = "fft_small_op_clear": fn(*mut Opaque);
        forward = "fft_small_fft_mpn": fn(*mut Opaque, *const u64, c_ulong, *const Opaque);
        op_mul = "fft_small_op_mul": fn(*mut Opaque, *const Opaque, *const Opaque, *const Opaque);
        inverse = "fft_small_ifft": fn(*mut Opaque, *const Opaque);
        export = "fft_small_export_mpn": fn(*mut u64, c_ulong, *const Opaque, *const Opaque);
    }
}

/// Room for FLINT's plan (608 bytes in 3.7) or transformed operand (56).
#[repr(C, align(64))]
struct Opaque([u8; 4096]);

impl Opaque {
    fn zeroed() -> Box<Self> {
        Box::new(Self([0; 4096]))
    }
}

/// FLINT's functions on slices of words.
#[derive(Clone, Copy)]
pub struct Flint {
    f: Functions,
    fft_small: Option<FftSmall>,
    plans: Option<Plans>,
    version: *const c_char,
}

impl Flint {
    /// The libraries that `SOLINAS_FLINT` names, a colon between two, or the system's.
    pub fn find() -> Vec<Self> {
        match env::var_os("SOLINAS_FLINT") {
            Some(paths) => env::split_paths(&paths).filter_map(|path| Self::load(path.into())).collect(),
            None => ["libflint.so", "libflint.dylib"]
                .into_iter()
                .find_map(|name| Self::load(name.into()))
                .into_iter()
                .collect(),
        }
    }

    fn load(path: OsString) -> Option<Self> {
        let library = open([path])?;
        // SAFETY: `flint_version` is an array of characters that ends with a zero.
        let version: *const c_char = *unsafe { library.get::<*const c_char>(b"flint_version") }.ok()?;
        // SAFETY: as above.
        let is_3_7 = unsafe { text(version) }.starts_with("3.7");
        Some(Self {
            f: Functions::load(library).ok()?,
            fft_small: FftSmall::load(library).ok(),
            plans: is_3_7.then(|| Plans::load(library).ok()).flatten(),
            version,
        })
    }

    /// Name and version.
    pub fn column(&self) -> String {
        // SAFETY: FLINT's constant.
        format!("FLINT {}", unsafe { text(self.version) })
    }

    /// Whether it was built with its fast transforms.
    pub fn has_fft_small(&self) -> bool {
        self.fft_small.is_some()
    }

    /// Threads of whatever is called from now on.
    pub fn set_threads(&self, threads: usize) {
        // SAFETY: no preconditions.
        unsafe { (self.f.set_num_threads)(threads as c_int) };
    }

    /// `out <- a b` by FLINT's own choice of algorithm. Shape: `out` of both lengths, neither operand empty.
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64]) {
        let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
        assert!(out.len() == a.len() + b.len() && !b.is_empty());
        // SAFETY: the lengths were checked, and `out` overlaps nothing.
        unsafe { (self.f.mul)(out.as_mut_ptr(), a.as_ptr(), a.len() as _, b.as_ptr(), b.len() as _) };
    }

    /// `out <- a b` by fft_small, which squares where `a` is `b`. Shape: `out` of both lengths.
    pub fn mul_fft_small(&self, out: &mut [u64], a: &[u64], b: &[u64]) {
        let Some(fft) = self.fft_small else { return self.mul(out, a, b) };
        assert!(out.len() == a.len() + b.len() && a.len() >= b.len() && !b.is_empty());
        let ctx = fft.ctx();
        // SAFETY: the lengths were checked, and `out` overlaps nothing.
        unsafe { (fft.mul)(ctx, out.as_mut_ptr(), a.as_ptr(), a.len() as _, b.as_ptr(), b.len() as _) };
    }

    /// `a b` with the transform of `b` made beforehand, where this version of FLINT has that.
    pub fn product_with_transformed(&self, a: &[u64], b: &[u64]) -> Option<impl Work + use<>> {
        let plan = Plan::new(self, a.len(), b.len())?;
        let b = plan.transformed(b);
        let (a, mut t) = (a.to_vec(), plan.operand());
        let len = a.len() + b.words;
        Some(bench_common::sample::Job::new(len, move |out: &mut [u64]| plan.multiply(out, &a, &b, &mut t)))
    }

    /// `a b mod m` by `flint_mpn_mulmod_preinvn`, the inverse made beforehand and everything shifted to the top beforehand.
    pub fn mulmod_preinvn(&self, a: &[u64], b: &[u64], m: &[u64]) -> impl Work + use<> {
        let n = m.len();
        assert!(a.len() == n && b.len() == n);
        let norm = m[n - 1].leading_zeros();
        let shift = |x: &[u64]| -> Vec<u64> {
            let low = std::iter::once(0).chain(x.iter().copied());
            let carry = |low: u64| if norm == 0 { 0 } else { low >> (64 - norm) };
            x.iter().zip(low).map(|(&x, low)| x << norm | carry(low)).collect()
        };
        let (a, b, m) = (shift(a), shift(b), shift(m));
        let mut inverse = vec![0; n];
        // SAFETY: the lengths were checked, and the top bit of `m` is set.
        unsafe { (self.f.preinvn)(inverse.as_mut_ptr(), m.as_ptr(), n as _) };
        Preinvn { f: self.f, a, b, m, inverse, norm, out: vec![0; n] }
    }

    /// `a b mod m` by Barrett's method on FLINT's transforms. The inverse and the modulus are transformed beforehand.
    /// The last product is computed modulo `2^k - 1`, at half the length. There are six transforms.
    pub fn mulmod_barrett(&self, gmp: Gmp, a: &[u64], b: &[u64], m: &[u64]) -> Option<impl Work + use<>> {
        let n = m.len();
        // floor(2^(128 n) / m), of n + 1 words.
        let mut power = vec![0; 2 * n + 1];
        power[2 * n] = 1;
        let (mut mu, mut rest) = (vec![0; n + 2], vec![0; n]);
        gmp.div_rem(&mut mu, &mut rest, &power, m);
        let mu = trimmed(&mu).to_vec();
        let quotients = Plan::new(self, n + 1, mu.len())?;
        let cyclic = Plan::cyclic(self, n + 2)?;
        let state = Barrett {
            mu: quotients.transformed(&mu),
            m_transformed: cyclic.transformed(m),
            t: quotients.operand(),
            u: cyclic.operand(),
            x: vec![0; 2 * n],
            y: vec![0; n + 1 + mu.len()],
            z: vec![0; cyclic.words + OVERHANG],
            quotients,
            cyclic,
            m: m.to_vec(),
            flint: *self,
            gmp,
        };
        let state = Rc::new(RefCell::new(state));
        let (a, b) = (a.to_vec(), b.to_vec());
        Some(bench_common::sample::Job::new(n, move |out: &mut [u64]| state.borrow_mut().multiply(out, &a, &b)))
    }
}

impl FftSmall {
    fn ctx(&self) -> *mut c_void {
        // SAFETY: no preconditions; FLINT keeps one for each thread.
        unsafe { (self.default_ctx)() }
    }
}

struct Preinvn {
    f: Functions,
    a: Vec<u64>,
    b: Vec<u64>,
    m: Vec<u64>,
    inverse: Vec<u64>,
    norm: u32,
    out: Vec<u64>,
}

impl Work for Preinvn {
    fn run(&mut self) {
        let (out, a, b, m) = (self.out.as_mut_ptr(), self.a.as_ptr(), self.b.as_ptr(), self.m.as_ptr());
        // SAFETY: all have as many words as the modulus, whose top bit is set.
        unsafe {
            (self.f.mulmod_preinvn)(out, a, b, self.m.len() as _, m, self.inverse.as_ptr(), self.norm.into());
        }
    }

    fn result(&self) -> Option<Vec<u64>> {
        let high = self.out.iter().skip(1).copied().chain([0]);
        let carry = |high: u64| if self.norm == 0 { 0 } else { high << (64 - self.norm) };
        Some(self.out.iter().zip(high).map(|(&x, high)| x >> self.norm | carry(high)).collect())
    }
}

/// A cyclic plan's result is a few words longer than a residue: `(2 digit bits + log2 points) / 64 + 1`.
const OVERHANG: usize = 8;

/// A plan of FLINT's for products of naturals.
struct Plan {
    f: Plans,
    plan: Box<Opaque>,
    /// Number of words of the longest result, or of the residues of a cyclic plan.
    words: usize,
    cyclic: bool,
}

/// A transform of FLINT's.
struct Operand {
    f: Plans,
    op: Box<Opaque>,
    words: usize,
}

impl Plan {
    /// A plan for products of operands of these lengths, in words.
    fn new(flint: &Flint, a: usize, b: usize) -> Option<Self> {
        let (f, ctx) = (flint.plans?, flint.fft_small?.ctx());
        let mut plan = Opaque::zeroed();
        // SAFETY: there is room for a plan, and the context lives as long as the thread.
        let made = unsafe { (f.init)(&mut *plan, ctx, a as _, b as _, 1, 0) };
        // The export of a plan has the precision that FLINT derives from one product of these lengths.
        (made != 0).then_some(Self { f, plan, words: a + b, cyclic: false })
    }

    /// For products modulo `2^(64 k) - 1` with the smallest `k >= words` that FLINT has.
    fn cyclic(flint: &Flint, words: usize) -> Option<Self> {
        let (f, ctx) = (flint.plans?, flint.fft_small?.ctx());
        let (mut plan, mut words) = (Opaque::zeroed(), words as c_ulong);
        // SAFETY: as above.
        let made = unsafe { (f.init_cyclic)(&mut *plan, ctx, &mut words, 1) };
        (made != 0).then_some(Self { f, plan, words: words as usize, cyclic: true })
    }

    fn operand(&self) -> Operand {
        let mut op = Opaque::zeroed();
        // SAFETY: there is room for an operand, and the plan was made.
        unsafe { (self.f.op_init)(&mut *op, &*self.plan) };
        Operand { f: self.f, op, words: 0 }
    }

    fn forward(&self, operand: &mut Operand, x: &[u64]) {
        assert!(x.len() <= self.words);
        operand.words = x.len();
        // SAFETY: the operand was made for this plan, and `x` is not longer than the plan allows.
        unsafe { (self.f.forward)(&mut *operand.op, x.as_ptr(), x.len() as _, &*self.plan) };
    }

    fn transformed(&self, x: &[u64]) -> Operand {
        let mut operand = self.operand();
        self.forward(&mut operand, x);
        operand
    }

    /// `out <- a b`, by way of `t`. Shape: both lengths, or [`OVERHANG`] words more than a residue for a cyclic plan.
    fn multiply(&self, out: &mut [u64], a: &[u64], b: &Operand, t: &mut Operand) {
        assert_eq!(out.len(), if self.cyclic { self.words + OVERHANG } else { a.len() + b.words });
        self.forward(t, a);
        let op: *mut Opaque = &mut *t.op;
        // SAFETY: both operands were made for this plan; FLINT allows the product to be one of them.
        unsafe {
            (self.f.op_mul)(op, op, &*b.op, &*self.plan);
            (self.f.inverse)(op, &*self.plan);
            (self.f.export)(out.as_mut_ptr(), out.len() as _, op, &*self.plan);
        }
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: made in `new` or `cyclic`.
        unsafe { (self.f.clear)(&mut *self.plan) };
    }
}

impl Drop for Operand {
    fn drop(&mut self) {
        // SAFETY: made in `operand`.
        unsafe { (self.f.op_clear)(&mut *self.op) };
    }
}

struct Barrett {
    mu: Operand,
    m_transformed: Operand,
    t: Operand,
    u: Operand,
    x: Vec<u64>,
    y: Vec<u64>,
    z: Vec<u64>,
    quotients: Plan,
    cyclic: Plan,
    m: Vec<u64>,
    flint: Flint,
    gmp: Gmp,
}

impl Barrett {
    fn multiply(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        let (n, k, gmp) = (self.m.len(), self.cyclic.words, self.gmp);
        self.flint.mul_fft_small(&mut self.x, a, b);
        self.quotients.multiply(&mut self.y, &self.x[n - 1..], &self.mu, &mut self.t);
        // The quotient, at most two too small.
        let q = &self.y[n + 1..];
        self.cyclic.multiply(&mut self.z, q, &self.m_transformed, &mut self.u);
        let z = fold(&mut self.z, k);
        // The product modulo 2^(64 k) - 1, then less q m: that is below 3 m, and 3 m < 2^(64 k) - 1.
        let mut x = vec![0; k];
        let low = self.x.len().min(k);
        x[..low].copy_from_slice(&self.x[..low]);
        let mut carry = if self.x.len() > k {
            let high = &self.x[k..];
            let carry = gmp.add_assign(&mut x[..high.len()], high);
            increment_by(&mut x[high.len()..], carry)
        } else {
            0
        };
        while carry != 0 {
            carry = increment_by(&mut x, carry);
        }
        if gmp.sub_assign(&mut x, z) != 0 {
            decrement(&mut x);
        }
        let m = &self.m;
        while x[n] != 0 || !gmp.less(&x[..n], m) {
            let borrow = gmp.sub_assign(&mut x[..n], m);
            x[n] -= borrow;
        }
        out.copy_from_slice(&x[..n]);
    }
}

/// The residue modulo `2^(64 k) - 1` of a number of `k + OVERHANG` words.
fn fold(z: &mut [u64], k: usize) -> &[u64] {
    let (low, high) = z.split_at_mut(k);
    let mut carry = 0;
    for (i, &word) in high.iter().enumerate() {
        carry += increment_by(&mut low[i..], word);
    }
    while carry != 0 {
        carry = increment_by(low, carry);
    }
    low
}

fn increment_by(x: &mut [u64], mut carry: u64) -> u64 {
    for word in x {
        if carry == 0 {
            break;
        }
        let (sum, over) = word.overflowing_add(carry);
        (*word, carry) = (sum, over.into());
    }
    carry
}

fn decrement(x: &mut [u64]) {
    for word in x {
        let (difference, under) = word.overflowing_sub(1);
        *word = difference;
        if !under {
            break;
        }
    }
}
