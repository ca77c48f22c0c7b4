//! Stand-in until `fft` lands.
#![allow(missing_docs, dead_code, unreachable_pub, reason = "stand-in")]

use solinas_bigint::Error;
use solinas_field::buffer::AlignedVec;
use solinas_field::complex::{self, Wrap};
use solinas_field::{Backend, limbs};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Complex,
    Solinas,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    Minus,
    Plus,
}
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub engine: Option<Engine>,
    pub backend: Option<Backend>,
    pub threads: usize,
    pub terms: usize,
}
#[derive(Debug)]
pub struct Plan {
    bits: u32,
    ring: Ring,
    plan: complex::Plan,
}
#[derive(Debug)]
pub struct Spectrum(AlignedVec<f64>);
impl Clone for Spectrum {
    fn clone(&self) -> Self {
        let mut v = AlignedVec::zeroed(self.0.len());
        v.copy_from_slice(&self.0);
        Self(v)
    }
}

impl Plan {
    pub fn new(min_bits: usize, ring: Ring, o: &Options) -> Result<Self, Error> {
        let mut b = 20u32;
        loop {
            let digits = complex::Plan::next_digits(min_bits.div_ceil(b as usize));
            let log2 = 2.0 * (b as f64 - 1.0) + (digits as f64).log2() + (o.terms.max(1) as f64).log2();
            if log2 <= 46.0 {
                let backend = o.backend.unwrap_or(Backend::detect()?);
                let wrap = if ring == Ring::Minus { Wrap::Minus } else { Wrap::Plus };
                return Ok(Self { bits: b, ring, plan: complex::Plan::new(digits, wrap, backend, 1)? });
            }
            b -= 1;
        }
    }
    pub fn for_product(a: usize, b: usize, o: &Options) -> Result<Self, Error> {
        Self::new(64 * (a + b), Ring::Minus, o)
    }
    pub fn pair(min_bits: usize, o: &Options) -> Result<(Self, Self), Error> {
        Ok((Self::new(min_bits, Ring::Minus, o)?, Self::new(min_bits, Ring::Plus, o)?))
    }
    pub fn bits(&self) -> usize {
        64 * self.words()
    }
    pub fn words(&self) -> usize {
        self.plan.words(self.bits)
    }
    pub fn spectrum(&self) -> Spectrum {
        Spectrum(self.plan.spectrum())
    }
    pub fn forward(&self, x: &[u64], out: &mut Spectrum) -> Result<(), Error> {
        self.plan.forward(self.bits, x, &mut out.0);
        Ok(())
    }
    pub fn multiply(&self, a: &mut Spectrum, b: &Spectrum) -> Result<(), Error> {
        self.plan.multiply(&mut a.0, &b.0);
        Ok(())
    }
    pub fn square(&self, a: &mut Spectrum) -> Result<(), Error> {
        self.plan.square(&mut a.0);
        Ok(())
    }
    pub fn multiply_add(&self, acc: &mut Spectrum, a: &Spectrum, b: &Spectrum) -> Result<(), Error> {
        self.plan.multiply_add(&mut acc.0, &a.0, &b.0);
        Ok(())
    }
    pub fn inverse(&self, s: &mut Spectrum, out: &mut [u64]) -> Result<(), Error> {
        self.plan.inverse(self.bits, &mut s.0, out);
        if self.ring == Ring::Minus && out.iter().all(|&w| w == u64::MAX) {
            out.fill(0);
        }
        Ok(())
    }
}
pub fn unused(a: &mut [u64]) {
    limbs::add_1(a, 1);
}
