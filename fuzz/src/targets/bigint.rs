//! Integers against GMP. On operands with long runs of ones and zeros, every operation gives GMP's result. A text that is not a number is an error.

use solinas_bigint::{Error, Method, Modulus, ModulusOptions, Natural, mul};

#[allow(unsafe_code, reason = "GMP is C; this is the only unsafe code here")]
#[allow(dead_code, reason = "shared with the tests of the crate")]
#[path = "../../../crates/bigint/tests/common/gmp.rs"]
mod gmp;
use gmp::Gmp;

/// Largest lengths of operands in words: for products and divisions, and for operations of at least quadratic time.
const LONG: usize = 4000;
const SHORT: usize = 120;

/// Interprets the bytes as an operation and its operands.
pub fn run(data: &[u8]) {
    let Some((&operation, data)) = data.split_first() else { return };
    let mut bytes = Bytes(data);
    match operation % 11 {
        0 => sums(&bytes.natural(LONG), &bytes.natural(LONG)),
        1 => products(&bytes.natural(LONG), &bytes.natural(LONG)),
        2 => quotients(&bytes.natural(LONG), &bytes.natural(LONG)),
        3 => divisors(&bytes.natural(SHORT), &bytes.natural(SHORT)),
        4 => shifts(&bytes.natural(LONG), usize::from(bytes.short())),
        5 => digits(&bytes.natural(LONG / 4)),
        6 => text(bytes.0),
        7 => residues(&bytes.natural(SHORT), &bytes.natural(2 * SHORT), &bytes.natural(SHORT)),
        8 => residues(&bytes.natural(LONG / 2), &bytes.natural(LONG), &bytes.natural(LONG / 2)),
        9 => divisors(&bytes.natural(LONG / 4), &bytes.natural(LONG / 4)),
        _ => powers(&bytes.natural(SHORT / 4), &bytes.natural(SHORT / 2), &bytes.natural(4)),
    }
}

/// The rest of the input.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        byte
    }

    fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number of at most `words` words: plain bytes, or runs of ones and zeros, or one of these plus a power of two.
    fn natural(&mut self, words: usize) -> Natural {
        let kind = self.byte();
        let mut value = Natural::ZERO;
        if kind & 1 == 0 {
            let len = usize::from(self.byte()).min(8 * words).min(self.0.len());
            let (bytes, rest) = self.0.split_at(len);
            self.0 = rest;
            value = Natural::from_le_bytes(bytes);
        } else {
            let mut bits = vec![0u64; words];
            let (mut at, mut one) = (0, kind & 2 == 0);
            for _ in 0..kind >> 4 {
                let end = (at + usize::from(self.short())).min(64 * words);
                if one {
                    fill(&mut bits, at, end);
                }
                (at, one) = (end, !one);
            }
            value += &Natural::from_words(bits);
        }
        match kind >> 2 & 3 {
            0 => {
                let at = usize::from(self.short()) % (64 * words);
                (&value + &Natural::power_of_two(at)).low_bits(64 * words)
            }
            1 => {
                let at = usize::from(self.short()) % (64 * words);
                value.abs_diff(&Natural::power_of_two(at))
            }
            _ => value,
        }
    }
}

/// Sets the bits from `at` to `end`.
fn fill(words: &mut [u64], at: usize, end: usize) {
    for (i, word) in words.iter_mut().enumerate().take(end.div_ceil(64)).skip(at / 64) {
        let low = at.saturating_sub(64 * i);
        let high = end.saturating_sub(64 * i).min(64);
        if low < high {
            *word |= (u64::MAX >> (64 - (high - low))) << low;
        }
    }
}

fn sums(a: &Natural, b: &Natural) {
    let gmp = Gmp::get();
    assert_eq!((a + b).words(), gmp.add(a.words(), b.words()));
    assert_eq!(a.abs_diff(b).words(), gmp.abs_diff(a.words(), b.words()));
    assert_eq!(a.checked_sub(b).is_none(), a < b);
}

fn products(a: &Natural, b: &Natural) {
    let gmp = Gmp::get();
    assert_eq!((a * b).words(), gmp.mul(a.words(), b.words()));
    assert_eq!(a.square().words(), gmp.mul(a.words(), a.words()));
    // Leading zero words do not change the number.
    let mut padded = a.words().to_vec();
    padded.resize(a.words().len() + 3, 0);
    assert_eq!(Natural::from_words(mul::product(&padded, b.words())), a * b);
}

fn quotients(a: &Natural, b: &Natural) {
    let gmp = Gmp::get();
    for (a, b) in [(a, b), (&(a * b), b)] {
        match a.div_rem(b) {
            Ok((quotient, remainder)) => {
                assert_eq!(quotient.words(), gmp.quotient(a.words(), b.words()));
                assert_eq!(remainder.words(), gmp.remainder(a.words(), b.words()));
            }
            Err(error) => assert!(error == Error::DivisionByZero && b.is_zero()),
        }
    }
}

fn divisors(a: &Natural, b: &Natural) {
    let gmp = Gmp::get();
    assert_eq!(a.vartime_gcd(b).words(), gmp.gcd(a.words(), b.words()));
    match a.vartime_inverse(b) {
        Ok(inverse) => assert_eq!(Some(inverse.into_words()), gmp.inverse(a.words(), b.words())),
        Err(Error::ModulusTooSmall { modulus }) => assert_eq!(b.to_u64(), Some(modulus)),
        Err(_) => assert_eq!(gmp.inverse(a.words(), b.words()), None),
    }
}

fn shifts(a: &Natural, count: usize) {
    let gmp = Gmp::get();
    assert_eq!((a << count).words(), gmp.shl(a.words(), count));
    assert_eq!((a >> count).words(), gmp.shr(a.words(), count));
    assert_eq!(&(&(a >> count) << count) + &a.low_bits(count), *a);
}

fn digits(a: &Natural) {
    let text = a.to_decimal();
    assert_eq!(text, Gmp::get().to_decimal(a.words()));
    assert_eq!(text.parse().as_ref(), Ok(a));
    assert_eq!(Natural::from_hex(&a.to_hex()).as_ref(), Ok(a));
    assert_eq!(&Natural::from_be_bytes(&a.to_be_bytes()), a);
    assert_eq!(&Natural::from_le_bytes(&a.to_le_bytes()), a);
}

fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match Natural::from_decimal(text) {
        Ok(value) => assert!(is_number && value.words() == Gmp::get().parse_decimal(text)),
        Err(_) => assert!(!is_number),
    }
    let is_hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert_eq!(Natural::from_hex(text).is_ok(), is_hex);
}

/// The modulus by every method that supports it.
fn moduli(value: &Natural) -> Vec<Modulus> {
    let methods = [None, Some(Method::Montgomery), Some(Method::FftMontgomery), Some(Method::Barrett)];
    // The inverse of a long number takes too long here.
    let mclaughlin = (value.words().len() <= SHORT).then_some(Some(Method::McLaughlin));
    let with = |method| match Modulus::with_options(value, &ModulusOptions { method, ..Default::default() }) {
        Ok(modulus) => Some(modulus),
        Err(Error::ModulusTooSmall { modulus }) => {
            assert_eq!(value.to_u64(), Some(modulus));
            None
        }
        Err(Error::EvenModulus) if value.is_even() => None,
        Err(Error::NotInvertible { .. }) if method == Some(Method::McLaughlin) => None,
        Err(error) => panic!("{method:?} refuses {value:?}: {error}"),
    };
    methods.into_iter().chain(mclaughlin).filter_map(with).collect()
}

fn residues(value: &Natural, a: &Natural, b: &Natural) {
    let gmp = Gmp::get();
    for modulus in moduli(value) {
        let rem = |words: Vec<u64>| gmp.remainder(&words, value.words());
        let words = |result: Result<Natural, Error>| result.expect("a plan that was built works").into_words();
        assert_eq!(words(modulus.reduce(a)), rem(a.words().to_vec()), "{modulus:?}");
        assert_eq!(words(modulus.mul(a, b)), rem(gmp.mul(a.words(), b.words())), "{modulus:?}");
        assert_eq!(words(modulus.square(b)), rem(gmp.mul(b.words(), b.words())), "{modulus:?}");
        assert_eq!(words(modulus.add(a, b)), rem(gmp.add(a.words(), b.words())), "{modulus:?}");
        let difference = modulus.sub(a, b).expect("a plan that was built works");
        assert_eq!(words(modulus.add(&difference, b)), rem(a.words().to_vec()), "{modulus:?}");
        let prepared = modulus.prepare(b).expect("a plan that was built works");
        assert_eq!(words(modulus.mul_prepared(a, &prepared)), rem(gmp.mul(a.words(), b.words())), "{modulus:?}");
    }
}

fn powers(value: &Natural, base: &Natural, exponent: &Natural) {
    let gmp = Gmp::get();
    for modulus in moduli(value) {
        let want = gmp.pow_mod(base.words(), exponent.words(), value.words());
        for power in [modulus.pow(base, exponent), modulus.vartime_pow(base, exponent)] {
            assert_eq!(power.expect("a plan that was built works").into_words(), want, "{modulus:?}");
        }
    }
}

/// Each operation on short bytes and on long runs.
pub fn seeds() -> Vec<Vec<u8>> {
    // Three operands: eight bytes; ones up to bit 9999; runs of ones, zeros and ones, plus a power of two.
    let bytes = [8, 8, 1, 2, 3, 4, 5, 6, 7, 255];
    let ones = [0x19, 0x0f, 0x27];
    let runs = [0x31, 0xff, 0x3f, 0x40, 0x9c, 0x80, 0xbb, 0x39, 0x05];
    let mut seeds = Vec::new();
    for operation in 0..11 {
        for operands in
            [[&bytes[..], &ones[..], &runs[..]], [&runs[..], &runs[..], &bytes[..]], [&ones[..], &ones[..], &ones[..]]]
        {
            seeds.push([&[operation][..], &operands.concat()].concat());
        }
    }
    seeds.push(b"\x06123456789012345678901234567890".to_vec());
    seeds.push(b"\x0612345678g".to_vec());
    seeds
}
