//! Products by transforms over `p = 2^64 - 2^32 + 1` (`wang2014`, section 3.3), with 24-bit digits and radix 16. The roots of order 16 are powers of two.

use super::machine::Machine;

const P: u64 = 0xffff_ffff_0000_0001;
/// `2^64 mod p`, and `2^64 - p`.
const EPSILON: u64 = 0xffff_ffff;
const DIGIT_BITS: u32 = 24;
/// Generator of the multiplicative group. `2^32` divides `p - 1`.
const GENERATOR: u64 = 7;

/// `a b mod p` for tables, without counting.
fn mul_mod(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(P)) as u64
}

fn pow_mod(mut base: u64, mut exponent: u64) -> u64 {
    let mut out = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            out = mul_mod(out, base);
        }
        base = mul_mod(base, base);
        exponent >>= 1;
    }
    out
}

/// Multiplies numbers of up to `points / 2` digits.
pub(crate) struct Multiplier {
    points: usize,
    /// Powers of a root r of order `points` with `r^(points / 16) = 2^12`.
    forward: Vec<u64>,
    /// Powers of the inverse of the root.
    backward: Vec<u64>,
}

/// Constants that stay in registers during a transform.
#[derive(Clone, Copy)]
struct Registers {
    p: u64,
    epsilon: u64,
}

impl Registers {
    fn load(m: &mut Machine) -> Self {
        Self { p: m.load_immediate(P), epsilon: m.load_immediate(EPSILON) }
    }

    /// `a + b`. Range: operands and result are below p.
    #[inline(always)]
    fn add(self, m: &mut Machine, a: u64, b: u64) -> u64 {
        let minus_b = m.dsubu(self.p, b);
        self.sub(m, a, minus_b)
    }

    /// `a - b`. Range: a is below p, and b is at most p. The result is below p.
    #[inline(always)]
    fn sub(self, m: &mut Machine, a: u64, b: u64) -> u64 {
        let difference = m.dsubu(a, b);
        let under = m.sltu(a, b);
        let corrected = m.dsubu(difference, self.epsilon);
        m.movn(difference, corrected, under)
    }

    /// `x mod p`. Range: any word.
    #[inline(always)]
    fn canonical(self, m: &mut Machine, x: u64) -> u64 {
        let less_p = m.daddu(x, self.epsilon);
        let over = m.sltu(less_p, self.epsilon);
        m.movn(x, less_p, over)
    }

    /// `a + b` modulo p. Range: a is any word, b is at most `2^64 - 2^32`, and the result is any word.
    #[inline(always)]
    fn add_words(self, m: &mut Machine, a: u64, b: u64) -> u64 {
        let sum = m.daddu(a, b);
        let over = m.sltu(sum, b);
        let corrected = m.daddu(sum, self.epsilon);
        m.movn(sum, corrected, over)
    }

    /// `b 2^64 = b 2^32 - b`. Range: b is below `2^32`.
    #[inline(always)]
    fn times_2_64(self, m: &mut Machine, b: u64) -> u64 {
        let shifted = m.dsll(b, 32);
        m.dsubu(shifted, b)
    }

    /// `a b`. Range: operands and result are below p. With `a b = u 2^96 + v 2^64 + w`, the result is `w - u + v (2^32 - 1)`.
    #[inline(always)]
    fn mul(self, m: &mut Machine, a: u64, b: u64) -> u64 {
        let product = m.dmultu(a, b);
        let (low, high) = (m.mflo(product), m.mfhi(product));
        let (u, v) = (m.dsrl(high, 32), m.and(high, self.epsilon));
        let difference = self.sub(m, low, u);
        let term = self.times_2_64(m, v);
        let sum = self.add_words(m, difference, term);
        self.canonical(m, sum)
    }

    /// `x 2^by`. Range: x is below p, `by` is below 96, and the result is below p.
    #[inline(always)]
    fn shift(self, m: &mut Machine, x: u64, by: u32) -> u64 {
        match by {
            0 => x,
            1..=32 => {
                let (low, high) = (m.dsll(x, by), m.dsrl(x, 64 - by));
                let term = self.times_2_64(m, high);
                let sum = self.add_words(m, low, term);
                self.canonical(m, sum)
            }
            33..64 => {
                let (low, high) = (m.dsll(x, by), m.dsrl(x, 64 - by));
                let (u, v) = (m.dsrl(high, 32), m.and(high, self.epsilon));
                let difference = self.sub(m, low, u);
                let term = self.times_2_64(m, v);
                let sum = self.add_words(m, difference, term);
                self.canonical(m, sum)
            }
            _ => {
                // The bits from 96 - by on have weight 2^96 = -1. The bits below them have weight 2^64.
                let high = m.dsrl(x, 96 - by);
                let cleared = m.dsll(x, by - 32);
                let low = m.dsrl(cleared, 32);
                let term = self.times_2_64(m, low);
                self.sub(m, term, high)
            }
        }
    }

    /// Transforms sixteen values to the values at the sixteenth roots `2^(12 k)`: radix 2, decimation in frequency. Order: bit-reversed.
    #[inline(always)]
    fn forward_16(self, m: &mut Machine, x: &mut [u64; 16]) {
        let mut half = 8;
        while half > 0 {
            for block in (0..16).step_by(2 * half) {
                for k in 0..half {
                    let (a, b) = (x[block + k], x[block + k + half]);
                    x[block + k] = self.add(m, a, b);
                    let difference = self.sub(m, a, b);
                    x[block + k + half] = self.shift(m, difference, 12 * (8 / half * k) as u32);
                }
            }
            half /= 2;
        }
    }

    /// The inverse transform, times 16. Since `2^-s = -2^(96 - s)`, the sum and the difference are exchanged.
    #[inline(always)]
    fn backward_16(self, m: &mut Machine, x: &mut [u64; 16]) {
        let mut half = 1;
        while half < 16 {
            for block in (0..16).step_by(2 * half) {
                for k in 0..half {
                    let (a, b) = (x[block + k], x[block + k + half]);
                    let by = 12 * (8 / half * k) as u32;
                    let (sum, difference) = if by == 0 {
                        (self.add(m, a, b), self.sub(m, a, b))
                    } else {
                        let minus = self.shift(m, b, 96 - by);
                        (self.sub(m, a, minus), self.add(m, a, minus))
                    };
                    (x[block + k], x[block + k + half]) = (sum, difference);
                }
            }
            half *= 2;
        }
    }
}

/// The index of frequency `k` among sixteen in bit-reversed order.
const fn reversed(k: usize) -> usize {
    (k & 1) << 3 | (k & 2) << 1 | (k & 4) >> 1 | (k & 8) >> 3
}

impl Multiplier {
    /// The tables of transforms of `points` points. Range: `points` is a power of 16.
    pub(crate) fn new(points: usize) -> Self {
        debug_assert!(points.is_power_of_two() && points.trailing_zeros().is_multiple_of(4));
        let any = pow_mod(GENERATOR, (P - 1) / points as u64);
        // Among the roots of this order, selects one whose power of order 16 is 2^12.
        let root = (0..16).map(|k| pow_mod(any, 2 * k + 1)).find(|&root| pow_mod(root, points as u64 / 16) == 1 << 12);
        let powers = |root: u64| std::iter::successors(Some(1), |&x| Some(mul_mod(x, root))).take(points).collect();
        let root = root.unwrap_or(1);
        Self { points, forward: powers(root), backward: powers(pow_mod(root, P - 2)) }
    }

    /// `a b`. Shape: `a` and `b` have the same number of words, a multiple of three. The product has twice that number.
    pub(crate) fn mul(&self, m: &mut Machine, a: &[u64], b: &[u64]) -> Vec<u64> {
        let registers = Registers::load(m);
        let mut x = self.digits(m, a);
        let mut y = self.digits(m, b);
        self.forward(m, registers, &mut x);
        self.forward(m, registers, &mut y);
        for (x, &y) in x.iter_mut().zip(&y) {
            *x = registers.mul(m, *x, y);
        }
        self.backward(m, registers, &mut x);
        carry(m, &mut x);
        pack(m, &x[..a.len() / 3 * 16])
    }

    /// Cuts words into digits. Three words are eight digits of 24 bits.
    fn digits(&self, m: &mut Machine, words: &[u64]) -> Vec<u64> {
        let mask = m.load_immediate((1 << DIGIT_BITS) - 1);
        let mut out = vec![0; self.points];
        for (words, out) in words.chunks_exact(3).zip(out.chunks_exact_mut(8)) {
            for (k, out) in out.iter_mut().enumerate() {
                let (word, at) = (k * 24 / 64, k as u32 * 24 % 64);
                let low = if at == 0 { words[word] } else { m.dsrl(words[word], at) };
                let joined = match at > 40 {
                    true => {
                        let high = m.dsll(words[word + 1], 64 - at);
                        m.or(low, high)
                    }
                    false => low,
                };
                // The highest digit of a word needs no mask.
                *out = if at == 40 { joined } else { m.and(joined, mask) };
            }
        }
        out
    }

    /// Forward transform. Each level splits a block into sixteen. The twiddle factors of a block are powers of its root.
    fn forward(&self, m: &mut Machine, registers: Registers, x: &mut [u64]) {
        let mut len = x.len();
        while len > 1 {
            let (stride, step) = (len / 16, self.points / len);
            for block in x.chunks_exact_mut(len) {
                for i in 0..stride {
                    let mut part: [u64; 16] = std::array::from_fn(|j| block[i + j * stride]);
                    registers.forward_16(m, &mut part);
                    for k in 0..16 {
                        let value = part[reversed(k)];
                        block[i + k * stride] = twiddle(m, registers, value, &self.forward, step * i * k);
                    }
                }
            }
            len = stride;
        }
    }

    /// Inverse of [`Self::forward`]. A shift removes the factor `points`, which is a power of two.
    fn backward(&self, m: &mut Machine, registers: Registers, x: &mut [u64]) {
        let mut len = 16;
        while len <= x.len() {
            let (stride, step) = (len / 16, self.points / len);
            for block in x.chunks_exact_mut(len) {
                for i in 0..stride {
                    let mut part = [0; 16];
                    for k in 0..16 {
                        let value = block[i + k * stride];
                        part[reversed(k)] = twiddle(m, registers, value, &self.backward, step * i * k);
                    }
                    registers.backward_16(m, &mut part);
                    (0..16).for_each(|j| block[i + j * stride] = part[j]);
                }
            }
            len *= 16;
        }
        // 2^-s = -2^(96 - s).
        let by = 96 - self.points.trailing_zeros();
        for x in x {
            let minus = registers.shift(m, *x, by);
            *x = registers.sub(m, 0, minus);
        }
    }
}

/// Propagates carries: coefficients below 2^63 become digits.
fn carry(m: &mut Machine, x: &mut [u64]) {
    let mask = m.load_immediate((1 << DIGIT_BITS) - 1);
    let mut carry = 0;
    for x in x {
        let sum = m.daddu(*x, carry);
        carry = m.dsrl(sum, DIGIT_BITS);
        *x = m.and(sum, mask);
    }
}

/// `value` times a power of the root. The machine loads the constant, unless it is 1.
#[inline(always)]
fn twiddle(m: &mut Machine, registers: Registers, value: u64, powers: &[u64], exponent: usize) -> u64 {
    if exponent == 0 {
        return value;
    }
    let factor = m.load_immediate(powers[exponent]);
    registers.mul(m, value, factor)
}

/// Joins digits to words. Eight digits of 24 bits are three words.
fn pack(m: &mut Machine, digits: &[u64]) -> Vec<u64> {
    let mut out = Vec::with_capacity(digits.len() / 8 * 3);
    for d in digits.chunks_exact(8) {
        for word in 0..3 {
            let mut value = None;
            for (k, &digit) in d.iter().enumerate() {
                let at = k as i32 * 24 - word * 64;
                if at <= -24 || at >= 64 {
                    continue;
                }
                let part = match at {
                    0 => digit,
                    1.. => m.dsll(digit, at as u32),
                    _ => m.dsrl(digit, -at as u32),
                };
                value = Some(value.map_or(part, |value| m.or(value, part)));
            }
            out.push(value.unwrap_or(0));
        }
    }
    out
}
