//! The exponentiator against powers of the library.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::tools;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_bigint::{Montgomery, Natural};
use solinas_rtl::Timing;
use solinas_rtl::rsa::{Exponentiator, Powers, Shape, Size, Task};
use tools::figures;

fn exponentiator(size: Size, stalls: u8) -> Option<Exponentiator> {
    tools::or_skip(Exponentiator::new(size, Timing { latency: 1, stalls }, &mut |_| {}))
}

/// An odd number of exactly `bits` bits that the exponentiator takes.
fn modulus(bits: usize, rng: &mut ChaCha8Rng) -> Natural {
    loop {
        let below = Natural::random_bits(bits - 1, rng);
        let odd = &(&(&below >> 1) << 1) + &Natural::one();
        let n = &(&Natural::one() << (bits - 1)) + &odd;
        // Random numbers often share a factor with 2^n - 1; moduli and primes of RSA do not.
        if [8704, 4352, 12_800, 6400].iter().all(|ring| n.vartime_gcd(&ones(*ring)).is_one()) {
            return n;
        }
    }
}

fn ones(bits: usize) -> Natural {
    (&Natural::one() << bits).checked_sub(&Natural::one()).unwrap()
}

/// A modulus, an exponent and its length, and a base.
type Case = (Natural, Natural, usize, Natural);

fn random(bits: usize, exponent_bits: usize, rng: &mut ChaCha8Rng) -> Case {
    let n = modulus(bits, rng);
    let base = Natural::random_below(&n, rng).unwrap();
    (n, Natural::random_bits(exponent_bits, rng), exponent_bits, base)
}

fn powers(exponentiator: &mut Exponentiator, cases: &[&Case]) -> Powers {
    let tasks: Vec<Task<'_>> = cases
        .iter()
        .map(|(modulus, exponent, exponent_bits, base)| Task { modulus, exponent, exponent_bits: *exponent_bits, base })
        .collect();
    let powers = exponentiator.powers(&tasks).unwrap();
    for ((modulus, exponent, _, base), value) in cases.iter().zip(&powers.values) {
        assert!(*value == Montgomery::new(modulus).unwrap().vartime_pow(base, exponent));
    }
    powers
}

#[test]
fn powers_equal_those_of_the_library() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for stalls in [0, 60] {
        let Some(mut exponentiator) = exponentiator(Size::Bits8192, stalls) else { return };
        let (one, three) = (Natural::one(), Natural::from_words(vec![3]));
        let n = modulus(8192, &mut rng);
        let top = n.checked_sub(&one).unwrap();
        // Corners: powers of 0, 1 and N - 1, the exponents 0 and 2^64 - 1, the shortest moduli, the longest one.
        let corners: [Case; 5] = [
            (n.clone(), Natural::ZERO, 64, top.clone()),
            (n.clone(), ones(64), 64, top),
            (ones(8192), three.clone(), 64, &one << 8000),
            (n.clone(), three.clone(), 64, Natural::ZERO),
            (three.clone(), three, 64, &one + &one),
        ];
        let some = if stalls == 0 { &corners[..] } else { &corners[1..2] };
        let mut cycles: Vec<u64> = some
            .iter()
            .filter(|case| case.0.vartime_gcd(&ones(8704)).is_one())
            .map(|case| powers(&mut exponentiator, &[case]).cycles)
            .collect();
        cycles.push(powers(&mut exponentiator, &[&random(8192, 64, &mut rng)]).cycles);
        assert!(stalls > 0 || cycles.windows(2).all(|pair| pair[0] == pair[1]), "{cycles:?}");
        // Halves: alone, and two at a time.
        let (p, q) = (random(4096, 64, &mut rng), random(4095, 128, &mut rng));
        powers(&mut exponentiator, &[&p, &q]);
        powers(&mut exponentiator, &[&q, &p]);
    }
}

#[test]
fn cycles_are_those_of_the_schedule() {
    let Some(mut exponentiator) = exponentiator(Size::Bits8192, 0) else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (bits, shape, moduli) in [(8192, Shape::WHOLE, 1), (4096, Shape::HALF, 1), (4096, Shape::HALF, 2)] {
        let (long, other) = (random(bits, 128, &mut rng), random(bits, 128, &mut rng));
        let short = |case: &Case| (case.0.clone(), &case.1 >> 64, 64, case.3.clone());
        let (shorter, shorter_other) = (short(&long), short(&other));
        let cycles = [(&long, &other), (&shorter, &shorter_other)]
            .map(|(a, b)| powers(&mut exponentiator, &[a, b][..moduli]).cycles);
        let want = shape.exponentiation(128, moduli) - shape.exponentiation(64, moduli);
        assert_eq!(cycles[0] - cycles[1], want, "{bits} bits");
    }
}

#[test]
fn bad_input_is_refused() {
    let Some(mut exponentiator) = exponentiator(Size::Bits8192, 0) else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (one, two) = (Natural::one(), &Natural::one() + &Natural::one());
    let good = random(8192, 64, &mut rng);
    let mut refuse = |case: (&Natural, &Natural, usize, &Natural), want: &str| {
        let (modulus, exponent, exponent_bits, base) = case;
        let error = exponentiator.powers(&[Task { modulus, exponent, exponent_bits, base }]).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    };
    refuse((&(&one << 8192), &one, 64, &one), "the modulus has 8193 bits, but the design takes at most 8192");
    refuse((&good.0.checked_sub(&one).unwrap(), &one, 64, &one), "the modulus is even");
    refuse((&ones(17), &one, 64, &one), "shares a factor with 2^4352 - 1");
    refuse((&good.0, &one, 64, &good.0), "the base is not below the modulus");
    refuse((&good.0, &good.1, 3, &one), "the exponent has");
    refuse((&good.0, &two, 8193, &one), "the exponent has 8256 bits, but the design takes at most 8192");
    // n = 4352, and digits of 17 bits: the two upper digits must be 0.
    for (bits, fits) in [(4318, true), (4319, false), (4335, false), (4336, false), (4352, false)] {
        let long = modulus(bits, &mut rng);
        let loaded = exponentiator.load_key(&long, &long);
        let message = loaded.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert!(loaded.is_ok() == fits && message.contains("too long") != fits, "{bits} bits: {message}");
    }
    powers(&mut exponentiator, &[&good]);
}

// `make rtl` runs this test; `make test` has the short powers above, which take the same passes.
#[test]
#[ignore = "simulates 40 million cycles, for minutes"]
fn private_operations_equal_those_of_the_library() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let Some(mut exponentiator) = exponentiator(Size::Bits8192, 0) else { return };
    let mut whole = 0;
    for i in 0..3 {
        whole = powers(&mut exponentiator, &[&random(8192, 8192, &mut rng)]).cycles;
        println!("8192 bits, power {i}: {whole} cycles; {} a product", Shape::WHOLE.interval(1));
        assert!(whole <= 9_100_000);
    }
    let (p, q) = (random(4096, 4096, &mut rng), random(4096, 4096, &mut rng));
    let crt = powers(&mut exponentiator, &[&p, &q]).cycles;
    println!("8192 bits by CRT: {crt} cycles");
    assert!(crt <= 3_700_000);
    let Some(mut exponentiator) = self::exponentiator(Size::Bits12288, 0) else { return };
    let long = powers(&mut exponentiator, &[&random(12_288, 12_288, &mut rng)]).cycles;
    println!("12,288 bits: {long} cycles");
    let (p, q) = (random(6144, 6144, &mut rng), random(6143, 6144, &mut rng));
    let long_crt = powers(&mut exponentiator, &[&p, &q]).cycles;
    println!("12,288 bits by CRT: {long_crt} cycles");
    let figures = [
        ("product_8192", Shape::WHOLE.interval(1)),
        ("private_8192", whole),
        ("crt_8192", crt),
        ("private_12288", long),
        ("crt_12288", long_crt),
    ];
    figures::record(&["rsa"], &figures);
}
