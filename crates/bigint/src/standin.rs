//! Stand-in until `fft` lands.
#![allow(missing_docs, dead_code, unreachable_pub, reason = "stand-in")]

use crate::Error;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::complex::{self, Wrap};

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
    plan: complex::Plan,
    digit: u32,
    ring: Ring,
}
#[derive(Debug, Clone)]
pub struct Spectrum {
    s: AlignedVec<f64>,
}

fn digit(n: usize) -> u32 {
    ((45.0 - (n as f64).log2()) / 2.0) as u32 + 1
}

fn shape(min_bits: usize) -> (usize, u32) {
    let mut n = complex::Plan::next_digits(128);
    while n * (digit(n) as usize) < min_bits {
        n = complex::Plan::next_digits(n + 1);
    }
    let mut b = digit(n);
    while b > 4 && n / 64 * (b as usize - 1) * 64 >= min_bits {
        b -= 1
    }
    (n, b)
}

impl Plan {
    pub fn new(min_bits: usize, ring: Ring, o: &Options) -> Result<Self, Error> {
        let (n, b) = shape(min_bits);
        let wrap = match ring {
            Ring::Minus => Wrap::Minus,
            Ring::Plus => Wrap::Plus,
        };
        let backend = match o.backend {
            Some(b) => b,
            None => Backend::detect()?,
        };
        Ok(Self { plan: complex::Plan::new(n, wrap, backend, o.threads.max(1))?, digit: b, ring })
    }
    pub fn for_product(a: usize, b: usize, o: &Options) -> Result<Self, Error> {
        Self::new(64 * (a + b) + 64, Ring::Plus, o)
    }
    pub fn pair(min_bits: usize, o: &Options) -> Result<(Self, Self), Error> {
        Ok((Self::new(min_bits, Ring::Minus, o)?, Self::new(min_bits, Ring::Plus, o)?))
    }
    pub fn bits(&self) -> usize {
        64 * self.words()
    }
    pub fn words(&self) -> usize {
        self.plan.words(self.digit)
    }
    pub fn spectrum(&self) -> Spectrum {
        Spectrum { s: self.plan.spectrum() }
    }
    pub fn forward(&self, x: &[u64], out: &mut Spectrum) -> Result<(), Error> {
        self.plan.forward(self.digit, x, &mut out.s);
        Ok(())
    }
    pub fn multiply(&self, a: &mut Spectrum, b: &Spectrum) -> Result<(), Error> {
        self.plan.multiply(&mut a.s, &b.s);
        Ok(())
    }
    pub fn square(&self, a: &mut Spectrum) -> Result<(), Error> {
        self.plan.square(&mut a.s);
        Ok(())
    }
    pub fn multiply_add(&self, acc: &mut Spectrum, a: &Spectrum, b: &Spectrum) -> Result<(), Error> {
        self.plan.multiply_add(&mut acc.s, &a.s, &b.s);
        Ok(())
    }
    pub fn inverse(&self, s: &mut Spectrum, out: &mut [u64]) -> Result<(), Error> {
        if self.plan.wrap() == Wrap::Plus && out.len() == self.words() {
            let mut t = vec![0; out.len() + 1];
            self.plan.inverse(self.digit, &mut s.s, &mut t);
            out.copy_from_slice(&t[..out.len()]);
        } else {
            self.plan.inverse(self.digit, &mut s.s, out);
        }
        Ok(())
    }
}
fn convolve(out: &mut [u64], a: &[u64], b: Option<&[u64]>) {
    thread_local! { static PLANS: std::cell::RefCell<std::collections::BTreeMap<usize, std::rc::Rc<(Plan, std::cell::RefCell<AlignedVec<f64>>)>>> = const { std::cell::RefCell::new(std::collections::BTreeMap::new()) }; }
    let min_bits = 64 * (a.len() + b.unwrap_or(a).len()) + 64;
    let (n, digit) = shape(min_bits);
    let p = PLANS.with(|m| {
        m.borrow_mut()
            .entry(n)
            .or_insert_with(|| {
                let p = Plan::new(min_bits, Ring::Plus, &Options::default()).unwrap_or_else(|_| panic!());
                let scratch = AlignedVec::zeroed(2 * p.plan.spectrum_len());
                (p, scratch.into()).into()
            })
            .clone()
    });
    let mut scratch = p.1.borrow_mut();
    let p = &p.0;
    let mut t = vec![0; p.plan.words(digit) + 1];
    let len = if b.is_some() { 2 } else { 1 } * p.plan.spectrum_len();
    p.plan.convolve(digit, a, b, &mut t, &mut scratch[..len]);
    out.copy_from_slice(&t[..out.len()]);
}
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    convolve(out, a, Some(b))
}
pub fn square(out: &mut [u64], a: &[u64]) {
    convolve(out, a, None)
}
