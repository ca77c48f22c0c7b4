//! Stand-in until `fft` lands: residues for spectra.
#![allow(missing_docs, dead_code, unreachable_pub, reason = "stand-in")]

use crate::Error;
use crate::mul::karatsuba;
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
    words: usize,
    ring: Ring,
}
#[derive(Debug, Clone)]
pub struct Spectrum {
    residue: Vec<u64>,
}

impl Plan {
    pub fn new(min_bits: usize, ring: Ring, _: &Options) -> Result<Self, Error> {
        Ok(Self { words: min_bits.div_ceil(64).max(1), ring })
    }
    pub fn for_product(a: usize, b: usize, o: &Options) -> Result<Self, Error> {
        Self::new(64 * (a + b) + 64, Ring::Minus, o)
    }
    pub fn pair(min_bits: usize, o: &Options) -> Result<(Self, Self), Error> {
        Ok((Self::new(min_bits, Ring::Minus, o)?, Self::new(min_bits, Ring::Plus, o)?))
    }
    pub fn bits(&self) -> usize {
        64 * self.words
    }
    pub fn words(&self) -> usize {
        self.words
    }
    pub fn spectrum(&self) -> Spectrum {
        Spectrum { residue: vec![0; self.words + 1] }
    }
    pub fn forward(&self, x: &[u64], out: &mut Spectrum) -> Result<(), Error> {
        assert!(x.len() <= self.words, "{} > {}", x.len(), self.words);
        out.residue.fill(0);
        out.residue[..x.len()].copy_from_slice(x);
        Ok(())
    }
    fn fold(&self, product: &[u64]) -> Vec<u64> {
        let n = self.words;
        let mut r = product[..n].to_vec();
        r.push(0);
        match self.ring {
            Ring::Minus => {
                limbs::add(&mut r, &product[n..2 * n]);
                let top = std::mem::take(&mut r[n]) + product[2 * n];
                limbs::add_1(&mut r, top);
                let top = std::mem::take(&mut r[n]);
                limbs::add_1(&mut r, top);
                if r[..n].iter().all(|&w| w == u64::MAX) {
                    r.fill(0)
                }
            }
            Ring::Plus => {
                let high = &product[n..2 * n];
                let b = limbs::sub(&mut r, high);
                if b == 1 {
                    r[n] = 0;
                    if limbs::add_1(&mut r[..n], 1) == 1 {
                        r[n] = 1
                    }
                }
                limbs::add_1(&mut r, product[2 * n]);
            }
        }
        r
    }
    pub fn multiply(&self, a: &mut Spectrum, b: &Spectrum) -> Result<(), Error> {
        let n = self.words + 1;
        let mut p = vec![0; 2 * n];
        let mut s = vec![0; karatsuba::scratch_words(n)];
        karatsuba::mul(&mut p, &a.residue, &b.residue, &mut s);
        a.residue = self.fold(&p);
        Ok(())
    }
    pub fn square(&self, a: &mut Spectrum) -> Result<(), Error> {
        let b = a.clone();
        self.multiply(a, &b)
    }
    pub fn multiply_add(&self, acc: &mut Spectrum, a: &Spectrum, b: &Spectrum) -> Result<(), Error> {
        let mut p = a.clone();
        self.multiply(&mut p, b)?;
        limbs::add(&mut p.residue, &acc.residue);
        let mut wide = p.residue;
        wide.resize(2 * self.words + 2, 0);
        acc.residue = self.fold(&wide);
        Ok(())
    }
    pub fn inverse(&self, s: &mut Spectrum, out: &mut [u64]) -> Result<(), Error> {
        assert!(self.ring == Ring::Minus && out.len() == self.words || out.len() == self.words + 1);
        let len = out.len();
        out.copy_from_slice(&s.residue[..len]);
        Ok(())
    }
}
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
    karatsuba::mul(out, a, b, &mut vec![0; karatsuba::scratch_words(b.len())]);
}
pub fn square(out: &mut [u64], a: &[u64]) {
    karatsuba::square(out, a, &mut vec![0; karatsuba::scratch_words(a.len())])
}
