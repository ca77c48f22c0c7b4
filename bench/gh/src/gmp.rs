//! The scheme as one would write it on GMP: the papers' partial-FFT Encrypt, decryption and products, each product by `mpn_mul` and
//! `mpn_tdiv_qr`.

use bench_common::{Gmp, must};
use rand_core::RngCore;
use solinas_schemes::gh::PublicKey;

/// Window of the papers.
const WINDOW: usize = 64;

/// The number with zeros above it, `len` words in all.
pub fn padded(x: &[u64], len: usize) -> Vec<u64> {
    let mut x = x.to_vec();
    x.resize(len, 0);
    x
}

/// Products modulo a number.
pub struct Product {
    gmp: Gmp,
    modulus: Vec<u64>,
    product: Vec<u64>,
    quotient: Vec<u64>,
    out: Vec<u64>,
}

impl Product {
    /// For a modulus whose top word is not zero.
    pub fn new(gmp: Gmp, modulus: &[u64]) -> Self {
        let n = modulus.len();
        Self { gmp, modulus: modulus.to_vec(), product: vec![0; 2 * n], quotient: vec![0; n + 1], out: vec![0; n] }
    }

    /// Words of the modulus.
    pub fn len(&self) -> usize {
        self.modulus.len()
    }

    /// `a b mod m`. Shape: both as long as the modulus.
    pub fn multiply(&mut self, a: &[u64], b: &[u64]) -> &[u64] {
        self.gmp.mul(&mut self.product, a, b);
        self.gmp.div_rem(&mut self.quotient, &mut self.out, &self.product, &self.modulus);
        &self.out
    }

    /// Whether the centred `a b mod m` is odd, for an odd modulus.
    pub fn is_odd(&mut self, a: &[u64], b: &[u64]) -> bool {
        self.multiply(a, b);
        let twice = self.gmp.add_n(&mut self.product[..self.modulus.len()], &self.out, &self.out);
        let negative = twice == 1 || self.gmp.less(&self.modulus, &self.product[..self.modulus.len()]);
        (self.out[0] & 1 == 1) != negative
    }
}

/// Encryption by Horner's rule over windows of 64 powers (`wang2014` 4.3.1).
pub struct Windows<'a> {
    public: &'a PublicKey,
    product: Product,
    powers: Vec<Vec<u64>>,
    step: Vec<u64>,
    value: Vec<u64>,
    nonce: u64,
}

impl<'a> Windows<'a> {
    /// Computes the powers.
    pub fn new(gmp: Gmp, public: &'a PublicKey) -> Self {
        let mut product = Product::new(gmp, public.d().words());
        let len = product.len();
        let r = padded(public.r().words(), len);
        let mut powers = vec![padded(&[1], len)];
        for i in 1..=WINDOW.min(public.params().dimension()) {
            let next = product.multiply(&powers[i - 1], &r).to_vec();
            powers.push(next);
        }
        let step = powers.pop().unwrap_or_default();
        Self { public, product, powers, step, value: vec![0; len], nonce: 0 }
    }

    /// `value <- value + x` or `value - x` modulo d.
    fn add(&mut self, x: &[u64], negative: bool) {
        let (gmp, modulus) = (self.product.gmp, &self.product.modulus);
        if negative {
            if gmp.sub_assign(&mut self.value, x) == 1 {
                gmp.add_assign(&mut self.value, modulus);
            }
        } else if gmp.add_assign(&mut self.value, x) == 1 || !gmp.less(&self.value, modulus) {
            gmp.sub_assign(&mut self.value, modulus);
        }
    }

    /// An encryption of the bit.
    pub fn encrypt(&mut self, bit: bool) -> &[u64] {
        let params = self.public.params();
        let (n, window) = (params.dimension(), self.powers.len());
        self.nonce += 1;
        let mut rng = must(self.public.encryption_rng(self.nonce));
        let threshold = ((params.nonzeros() as u128) << 63) / n as u128;
        let mut draw = || {
            let word = rng.next_u64();
            (u128::from(word >> 1) < threshold).then_some(word & 1 == 1)
        };
        let mut terms: Vec<(usize, bool)> = (0..n).filter_map(|index| Some((index, draw()?))).collect();
        terms.truncate(params.max_nonzeros());
        self.value.fill(0);
        for high in (0..n / window).rev() {
            if high + 1 < n / window {
                let next = self.product.multiply(&self.value, &self.step);
                self.value.copy_from_slice(next);
            }
            for &(index, negative) in terms.iter().filter(|term| term.0 / window == high) {
                let power = std::mem::take(&mut self.powers[index % window]);
                self.add(&power, negative);
                self.powers[index % window] = power;
            }
        }
        let twice = self.value.clone();
        self.add(&twice, false);
        if bit {
            let one = padded(&[1], self.value.len());
            self.add(&one, false);
        }
        &self.value
    }
}
