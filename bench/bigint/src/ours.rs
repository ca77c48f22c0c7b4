//! Ours.

use solinas_bigint::fft::{Options, Plan};
use solinas_bigint::modular::{Form, McLaughlin};
use solinas_bigint::{Modulus, ModulusOptions, Natural, mul};
use solinas_field::limbs;
use solinas_rsa::{Hash, PrivateKey, SignaturePadding};

pub use solinas_bigint::fft::Engine;

use bench_common::crypto::RsaKey;
use bench_common::must;
use bench_common::numbers::from_bytes;
use bench_common::sample::{Job, Work};

/// The kind of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The product of two numbers.
    Mul,
    /// The square of a number.
    Square,
    /// The product of two numbers, one of which is transformed beforehand.
    Transformed,
}

fn options(engine: Option<Engine>, threads: usize) -> Options {
    Options { engine, threads, ..Options::default() }
}

/// A product by a plan.
pub fn product(engine: Engine, threads: usize, kind: Kind, a: &[u64], b: &[u64]) -> impl Work + use<> {
    let plan = must(Plan::for_product(a.len(), b.len(), &options(Some(engine), threads)));
    let mut y = plan.spectrum();
    if kind == Kind::Transformed {
        must(plan.forward(b, &mut y));
    }
    let (a, b) = (a.to_vec(), b.to_vec());
    Job::new(plan.out_words(), move |out: &mut [u64]| match kind {
        Kind::Mul => must(plan.mul(out, &a, &b)),
        Kind::Square => must(plan.mul_square(out, &a)),
        Kind::Transformed => must(plan.mul_transformed(out, &a, &y)),
    })
}

/// A product, or a square, by the functions that choose their algorithm.
pub fn mul(a: &[u64], b: Option<&[u64]>) -> impl Work + use<> {
    let (a, b) = (a.to_vec(), b.map(<[u64]>::to_vec));
    Job::new(a.len() + b.as_ref().unwrap_or(&a).len(), move |out: &mut [u64]| match &b {
        Some(b) => mul::mul(out, &a, b),
        None => mul::square(out, &a),
    })
}

/// A natural as the result of a run.
struct Run<F> {
    out: Natural,
    run: F,
}

impl<F: FnMut() -> Natural> Run<F> {
    fn new(run: F) -> Self {
        Self { out: Natural::default(), run }
    }
}

impl<F: FnMut() -> Natural> Work for Run<F> {
    fn run(&mut self) {
        self.out = (self.run)();
    }

    fn result(&self) -> Option<Vec<u64>> {
        Some(self.out.words().to_vec())
    }
}

fn natural(x: &[u64]) -> Natural {
    Natural::from_words(x)
}

fn plan(m: &[u64], threads: usize) -> Modulus {
    let options = ModulusOptions { fft: options(None, threads), ..ModulusOptions::default() };
    must(Modulus::with_options(&natural(m), &options))
}

/// A product modulo `m`.
pub fn mulmod(threads: usize, a: &[u64], b: &[u64], m: &[u64]) -> impl Work + use<> {
    let (a, b, m) = (natural(a), natural(b), plan(m, threads));
    Run::new(move || must(m.mul(&a, &b)))
}

/// A product modulo `m` by McLaughlin's form: one factor is in it, the other is plain, and so is the result.
pub fn mulmod_form(threads: usize, a: &[u64], b: &[u64], m: &[u64]) -> impl Work + use<> {
    let form = must(McLaughlin::new(&natural(m), &options(None, threads)));
    let (mut workspace, n) = (form.workspace(), form.residue_words());
    let a = must(form.enter(a, &mut workspace));
    let (mut b, m) = (b.to_vec(), m.to_vec());
    b.resize(n, 0);
    let mut product = vec![0; n];
    Job::new(m.len(), move |out: &mut [u64]| {
        product.copy_from_slice(&a);
        must(form.mul(&mut product, &b, &mut workspace));
        // Below 2m.
        let (low, high) = product.split_at_mut(m.len());
        if high.iter().any(|&word| word != 0) || limbs::vartime_compare(low, &m).is_ge() {
            limbs::sub(low, &m);
        }
        out.copy_from_slice(low);
    })
}

/// A sum modulo `m` into words of the caller's, by the kernel for public numbers.
pub fn addmod_into(a: &[u64], b: &[u64], m: &[u64]) -> impl Work + use<> {
    let (a, b, m) = (a.to_vec(), b.to_vec(), m.to_vec());
    Job::new(m.len(), move |out: &mut [u64]| limbs::vartime_add_mod(out, &a, &b, &m))
}

/// A sum modulo `m` as a new number.
pub fn addmod(a: &[u64], b: &[u64], m: &[u64]) -> impl Work + use<> {
    let (a, b, m) = (natural(a), natural(b), plan(m, 1));
    Run::new(move || must(m.add(&a, &b)))
}

/// `base^exponent mod m` for a secret exponent.
pub fn power(base: &[u64], exponent: &[u64], m: &[u64]) -> impl Work + use<> {
    let (base, exponent, m) = (natural(base), natural(exponent), plan(m, 1));
    Run::new(move || must(m.pow(&base, &exponent)))
}

/// A PKCS #1 v1.5 signature of a SHA-256 value.
pub fn sign(key: &RsaKey, digest: &[u8]) -> impl Work + use<> {
    let [p, q, e] = [&key.p, &key.q, &key.e].map(|x| natural(x));
    let key = must(PrivateKey::from_primes(p, q, e, false));
    Signature { key, digest: digest.to_vec(), out: Vec::new() }
}

struct Signature {
    key: PrivateKey,
    digest: Vec<u8>,
    out: Vec<u8>,
}

impl Work for Signature {
    fn run(&mut self) {
        self.out = must(self.key.sign_digest(SignaturePadding::Pkcs1 { hash: Hash::Sha256 }, &self.digest));
    }

    fn result(&self) -> Option<Vec<u64>> {
        Some(from_bytes(&self.out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transformed_product_is_the_product() {
        let (a, b) = ([3, 5], [7, 0, 9]);
        let mut one = product(Engine::Complex, 1, Kind::Mul, &a, &b);
        let mut other = product(Engine::Complex, 1, Kind::Transformed, &a, &b);
        one.run();
        other.run();
        assert_eq!(one.result(), other.result());
    }
}
