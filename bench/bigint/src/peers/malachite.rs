//! malachite: a Rust crate, built in.

use malachite_base::num::arithmetic::traits::Square;
use malachite_nz::natural::Natural;

use bench_common::sample::Work;

/// Name and version.
pub const VERSION: &str = "malachite 0.14.0";

/// A product of naturals. Ours and the C libraries write into words of the caller's; this one allocates its result.
pub struct Product {
    a: Natural,
    /// None for a square.
    b: Option<Natural>,
    out: Natural,
}

impl Product {
    /// Prepares the product of two numbers, or the square of `a` if `b` is `None`.
    pub fn new(a: &[u64], b: Option<&[u64]>) -> Self {
        Self { a: Natural::from_limbs_asc(a), b: b.map(Natural::from_limbs_asc), out: Natural::default() }
    }
}

impl Work for Product {
    fn run(&mut self) {
        self.out = match &self.b {
            Some(b) => &self.a * b,
            None => (&self.a).square(),
        };
    }

    fn result(&self) -> Option<Vec<u64>> {
        Some(self.out.to_limbs_asc())
    }
}
