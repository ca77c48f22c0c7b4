//! The multiplier against the products of `solinas-bigint`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::tools;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_bigint::Natural;
use solinas_rtl::Timing;
use solinas_rtl::multiplier::{Multiplier, Part, Size};
use solinas_rtl::schedule::Schedule;
use tools::figures;

/// Corner and random operands.
fn cases(bits: usize, random: usize) -> Vec<(Natural, Natural)> {
    let one = Natural::one();
    let ones = |bits: usize| (&one << bits).checked_sub(&one).unwrap();
    // (2^n + 2) / 3 for an even n.
    let three = Natural::from_words(vec![3]);
    let thirds = |n: usize| {
        let (third, rest) = (&(&one << n) + &Natural::from_words(vec![2])).div_rem(&three).unwrap();
        assert!(rest == Natural::ZERO);
        third
    };
    let mut rng = ChaCha8Rng::seed_from_u64(bits as u64);
    let mut cases = vec![
        (Natural::ZERO, Natural::ZERO),
        (Natural::ZERO, ones(bits)),
        (one.clone(), one.clone()),
        (ones(bits), one.clone()),
        (ones(bits), ones(bits)),
        // A carry that runs through the whole product, and runs of ones and zeros.
        (ones(bits), &one << (bits - 1)),
        (ones(bits / 2 + 17), &(&one << (bits / 2 - 20)) + &one),
        (&one << (bits - 1), &one << (bits - 1)),
        // 3 times 0x55...56 is 2^n + 2: the carry of the lowest digit runs through all digits, of both halves.
        (thirds(bits - 24), &(&three << (bits - 24)) + &three),
    ];
    for _ in 0..random {
        cases.push((Natural::random_bits(bits, &mut rng), Natural::random_bits(bits, &mut rng)));
    }
    cases
}

fn check(multiplier: &mut Multiplier, cases: &[(Natural, Natural)]) -> Vec<solinas_rtl::multiplier::Product> {
    let operands: Vec<_> = cases.iter().map(|(a, b)| (a, b)).collect();
    let products = multiplier.multiply(&operands, Part::All).unwrap();
    for (i, ((a, b), product)) in cases.iter().zip(&products).enumerate() {
        assert!(product.value == a * b, "product {i}");
    }
    products
}

fn small(stalls: u8) -> Option<Multiplier> {
    tools::or_skip(Multiplier::new(Size::Small, Timing { latency: 7, stalls }, &mut |_| {}))
}

#[test]
fn small_products_equal_those_of_the_library_with_and_without_stalls() {
    for stalls in [0, 40, 128, 250] {
        let Some(mut multiplier) = small(stalls) else { return };
        check(&mut multiplier, &cases(Size::Small.bits(), 40));
    }
}

#[test]
fn squares_and_parts_equal_those_of_the_product() {
    let bits = Size::Small.bits();
    let low = |x: &Natural| x.checked_sub(&(&(x >> bits) << bits)).unwrap();
    for stalls in [0, 100] {
        let Some(mut multiplier) = small(stalls) else { return };
        let cases = cases(bits, 10);
        let squares: Vec<_> = cases.iter().map(|(a, _)| (a.clone(), a.clone())).collect();
        check(&mut multiplier, &squares);
        let operands: Vec<_> = cases.iter().map(|(a, b)| (a, b)).collect();
        for (part, want) in [(Part::Low, (&low) as &dyn Fn(&Natural) -> Natural), (Part::High, &|x| x >> bits)] {
            let products = multiplier.multiply(&operands, part).unwrap();
            for ((a, b), product) in cases.iter().zip(products) {
                let want = want(&(a * b));
                // The upper half may lack the carry of a run of ones.
                let one_less = part == Part::High && &product.value + &Natural::one() == want;
                assert!(product.value == want || one_less, "{part:?}");
            }
        }
    }
}

#[test]
fn a_reset_in_the_middle_of_a_product_leaves_nothing_behind() {
    let Some(mut multiplier) = small(60) else { return };
    let cases = cases(Size::Small.bits(), 3);
    let operands: Vec<_> = cases.iter().map(|(a, b)| (a, b)).collect();
    for cycles in (1..900).step_by(37) {
        multiplier.interrupt(&operands[8..], Part::All, cycles).unwrap();
        check(&mut multiplier, &cases[8..9]);
    }
}

#[test]
fn a_product_beyond_the_limit_of_cycles_leaves_the_next_one_right() {
    let Some(mut multiplier) = small(0) else { return };
    let cases = cases(Size::Small.bits(), 1);
    multiplier.set_limit(300);
    let error = multiplier.multiply(&[(&cases[3].0, &cases[3].1)], Part::All).unwrap_err().to_string();
    assert_eq!(error, "the simulated multiplier gave no result in 300 cycles; please report this");
    multiplier.set_limit(1 << 20);
    check(&mut multiplier, &cases);
}

#[test]
fn an_operand_that_is_too_long_is_refused() {
    let Some(mut multiplier) = small(0) else { return };
    let long = &Natural::one() << multiplier.bits();
    let error = multiplier.multiply(&[(&Natural::one(), &long)], Part::All).unwrap_err().to_string();
    assert_eq!(
        error,
        "the second operand has 24577 bits, but the design takes at most 24576; compute it on the device cpu"
    );
}

#[test]
#[ignore = "builds and runs the full instance, for minutes"]
fn full_products_equal_those_of_the_library_within_the_stated_cycles() {
    let Some(mut multiplier) = tools::or_skip(Multiplier::new(Size::Full, Timing::default(), &mut |_| {})) else {
        return;
    };
    let cases = cases(Size::Full.bits(), 44);
    let products = check(&mut multiplier, &cases);
    let streamed: Vec<u64> = products.windows(2).map(|pair| pair[1].last_beat - pair[0].last_beat).collect();
    let single = check(&mut multiplier, &cases[8..9])[0].clone();
    let cycles = single.last_beat + 1 - single.first_load;
    println!("{} products; one takes {cycles} cycles; streamed, one every {streamed:?} cycles", products.len());
    assert!(cycles <= 20_600);
    figures::record(&["multiplier"], &[("product", cycles), ("streamed", streamed[0])]);
    assert!(streamed.iter().all(|cycles| *cycles == Schedule::new(Size::Full).unwrap().interval));
}
