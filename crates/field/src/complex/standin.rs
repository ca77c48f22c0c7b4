//! Stand-in with the interface of the transforms that are being written.
#![allow(missing_docs, reason = "stand-in")]

use crate::{Backend, Error};
use core::f64::consts::TAU;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    Minus,
    Plus,
}

#[derive(Debug)]
pub struct Plan {
    digits: usize,
    wrap: Wrap,
}

pub const MAX_DIGITS: usize = 1 << 27;
type Complex = (f64, f64);

fn mul(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn root(num: usize, den: usize) -> Complex {
    let (s, c) = (TAU * (num % den) as f64 / den as f64).sin_cos();
    (c, s)
}

fn dft(x: &[Complex], stride: usize, n: usize, sign: bool) -> Vec<Complex> {
    if n == 1 {
        return vec![x[0]];
    }
    let p = [2, 3, 5, 7].into_iter().find(|p| n % p == 0).unwrap_or(n);
    let parts: Vec<_> = (0..p).map(|j| dft(&x[j * stride..], stride * p, n / p, sign)).collect();
    (0..n)
        .map(|k| {
            (0..p).fold((0.0, 0.0), |sum, j| {
                let w = root(j * k, n);
                let t = mul(parts[j][k % (n / p)], (w.0, if sign { -w.1 } else { w.1 }));
                (sum.0 + t.0, sum.1 + t.1)
            })
        })
        .collect()
}

impl Plan {
    pub fn new(digits: usize, wrap: Wrap, _: Backend, _: usize) -> Result<Self, Error> {
        Ok(Self { digits, wrap })
    }

    pub fn next_digits(at_least: usize) -> usize {
        [1, 3, 5, 7]
            .map(|m| (m * at_least.div_ceil(m).next_power_of_two()).max(m * 128))
            .into_iter()
            .min()
            .unwrap_or(128)
    }

    pub fn digits(&self) -> usize {
        self.digits
    }

    pub fn spectrum_len(&self) -> usize {
        2 * self.digits
    }

    fn weight(&self, j: usize) -> Complex {
        if self.wrap == Wrap::Plus { root(j, 2 * self.digits) } else { (1.0, 0.0) }
    }

    pub fn forward(&self, digit_bits: u32, x: &[u64], spectrum: &mut [f64]) {
        let n = self.digits;
        let mut d = vec![0i64; n];
        let mut carry = 0;
        for (j, d) in d.iter_mut().enumerate() {
            let at = j * digit_bits as usize;
            let word = |i: usize| u128::from(x.get(i).copied().unwrap_or(0));
            let v = (word(at / 64) | word(at / 64 + 1) << 64) >> (at % 64) & ((1 << digit_bits) - 1);
            let v = v as i64 + carry;
            carry = i64::from(v >= 1 << (digit_bits - 1));
            *d = v - (carry << digit_bits);
        }
        d[0] += if self.wrap == Wrap::Plus { -carry } else { carry };
        let z: Vec<_> = (0..n).map(|j| mul(self.weight(j), (d[j] as f64, 0.0))).collect();
        for (s, z) in spectrum.chunks_exact_mut(2).zip(dft(&z, 1, n, false)) {
            s.copy_from_slice(&[z.0, z.1]);
        }
    }

    pub fn multiply(&self, a: &mut [f64], b: &[f64]) {
        for (a, b) in a.chunks_exact_mut(2).zip(b.chunks_exact(2)) {
            let z = mul((a[0], a[1]), (b[0], b[1]));
            a.copy_from_slice(&[z.0, z.1]);
        }
    }

    pub fn square(&self, a: &mut [f64]) {
        let b = a.to_vec();
        self.multiply(a, &b);
    }

    pub fn multiply_add(&self, acc: &mut [f64], a: &[f64], b: &[f64]) {
        let mut p = a.to_vec();
        self.multiply(&mut p, b);
        acc.iter_mut().zip(p).for_each(|(x, y)| *x += y);
    }

    pub fn inverse(&self, digit_bits: u32, spectrum: &mut [f64], out: &mut [u64]) {
        let n = self.digits;
        let z: Vec<_> = spectrum.chunks_exact(2).map(|s| (s[0], s[1])).collect();
        let z = dft(&z, 1, n, true);
        let mut c: Vec<i64> = (0..n)
            .map(|j| {
                let w = self.weight(j);
                (mul(z[j], (w.0, -w.1)).0 / n as f64).round() as i64
            })
            .collect();
        let mut carry: i64 = 0;
        loop {
            for c in &mut c {
                let v = *c + carry;
                *c = v & ((1 << digit_bits) - 1);
                carry = v >> digit_bits;
            }
            if carry == 0 {
                break;
            }
            if self.wrap == Wrap::Plus {
                if carry == 1 && c.iter().all(|&c| c == 0) {
                    break;
                }
                carry = -carry;
            }
        }
        out.fill(0);
        if self.wrap == Wrap::Plus && carry == 1 {
            out[n * digit_bits as usize / 64] = 1;
        }
        if self.wrap == Wrap::Minus && c.iter().all(|&c| c == (1 << digit_bits) - 1) {
            return;
        }
        for (j, c) in c.iter().enumerate() {
            let at = j * digit_bits as usize;
            let v = (*c as u128) << (at % 64);
            out[at / 64] |= v as u64;
            if v >> 64 != 0 {
                out[at / 64 + 1] |= (v >> 64) as u64;
            }
        }
    }

    pub fn convolve(&self, digit_bits: u32, x: &[u64], y: Option<&[u64]>, out: &mut [u64], scratch: &mut [f64]) {
        let (a, b) = scratch.split_at_mut(self.spectrum_len());
        self.forward(digit_bits, x, a);
        match y {
            Some(y) => {
                self.forward(digit_bits, y, b);
                self.multiply(a, b);
            }
            None => self.square(a),
        }
        self.inverse(digit_bits, a, out);
    }
}
