//! The exponentiator against powers of the library.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod tools;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_bigint::{Montgomery, Natural};
use solinas_rtl::Timing;
use solinas_rtl::rsa::{Exponentiator, Size, Task};

fn exponentiator(size: Size, stalls: u8) -> Option<Exponentiator> {
    tools::or_skip(Exponentiator::new(size, Timing { latency: 1, stalls }, &mut |_| {}))
}

/// An odd number of exactly so many bits.
fn modulus(bits: usize, rng: &mut ChaCha8Rng) -> Natural {
    let top = &Natural::one() << (bits - 1);
    let below = Natural::random_bits(bits - 1, rng);
    let odd = if below.words().first().is_some_and(|word| word % 2 == 1) { below } else { &below + &Natural::one() };
    &top + &odd
}

#[test]
fn short_exponents_of_whole_moduli() {
    let Some(mut exponentiator) = exponentiator(Size::Bits8192, 0) else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for case in 0..2 {
        let n = modulus(8192, &mut rng);
        let base = Natural::random_below(&n, &mut rng).unwrap();
        let exponent = Natural::random_bits(64, &mut rng);
        let task = Task { modulus: &n, exponent: &exponent, exponent_bits: 64, base: &base };
        let powers = match exponentiator.powers(&[task]) {
            Err(error) => { println!("{error}"); continue }
            Ok(powers) => powers,
        };
        println!("case {case}: {} cycles, {} to load", powers.cycles, powers.load_cycles);
        let want = Montgomery::new(&n).unwrap().pow(&base, &exponent);
        assert!(powers.values[0] == want, "case {case}");
    }
}

#[test]
fn debug() {
    let Some(mut exponentiator) = exponentiator(Size::Bits8192, 0) else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let n = modulus(8192, &mut rng);
    let ring = (&Natural::one() << 8704).checked_sub(&Natural::one()).unwrap();
    let rinv = ring.rem(&n).unwrap().inverse(&n).unwrap();
    println!("N {:?}", n.words());
    let two = &Natural::one() + &Natural::one();
    for (b, e) in [(Natural::one(), 0u64), (Natural::one(), 1), (two.clone(), 0), (two.clone(), 1), (two.clone(), 2), (two.clone(), 1 << 62)] {
        let exponent = Natural::from_words(vec![e]);
        let got = exponentiator.powers(&[Task { modulus: &n, exponent: &exponent, exponent_bits: 64, base: &b }]).unwrap().values[0].clone();
        let want = Montgomery::new(&n).unwrap().pow(&b, &exponent);
        print!("base {:?} exponent {e}: bits {} ", b.words(), got.bit_len());
        let mut x = want.clone();
        let mut y = want.clone();
        for k in 0..6 {
            let neg = |x: &Natural| n.checked_sub(x).unwrap();
            if got.rem(&n).unwrap() == x { print!("R^-{k} "); }
            if got.rem(&n).unwrap() == neg(&x) { print!("-R^-{k} "); }
            if got.rem(&n).unwrap() == y { print!("R^{k} "); }
            if got.rem(&n).unwrap() == neg(&y) { print!("-R^{k} "); }
            x = (&x * &rinv).rem(&n).unwrap();
            y = (&y * &ring).rem(&n).unwrap();
        }
        println!();
    }
}
