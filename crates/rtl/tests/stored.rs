//! The multiplier by stored transforms against products of the library.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::tools;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_bigint::Natural;
use solinas_rtl::Timing;
use solinas_rtl::multiplier::Size;
use solinas_rtl::stored::{Kernels, Product, StoredMultiplier};
use tools::figures;

fn multiplier(size: Size, kernels: Kernels, stalls: u8) -> Option<StoredMultiplier> {
    tools::or_skip(StoredMultiplier::new(size, kernels, Timing { latency: 7, stalls }, &mut |_| {}))
}

fn ones(bits: usize) -> Natural {
    (&Natural::one() << bits).checked_sub(&Natural::one()).unwrap()
}

/// Corners, with the longest carries, and random operands.
fn cases(bits: usize, random: usize) -> Vec<(Natural, Natural)> {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let one = Natural::one();
    let mut cases = vec![
        (Natural::ZERO, ones(bits)),
        (ones(bits), Natural::ZERO),
        (one.clone(), one.clone()),
        (ones(bits), ones(bits)),
        (ones(bits), &one << (bits - 1)),
        (ones(bits / 2 + 17), &(&one << (bits / 2 - 20)) + &one),
        (&one << (bits - 1), &one << (bits - 1)),
    ];
    cases.extend((0..random).map(|_| (Natural::random_bits(bits, &mut rng), Natural::random_bits(bits, &mut rng))));
    cases
}

fn check(multiplier: &mut StoredMultiplier, cases: &[(Natural, Natural)]) -> Vec<Product> {
    let mut products = Vec::new();
    for (i, (a, b)) in cases.iter().enumerate() {
        let spectrum = multiplier.transform(b).unwrap();
        let product = multiplier.multiply(a, &spectrum).unwrap();
        assert!(product.value == a * b, "product {i}");
        let square = multiplier.square(a).unwrap();
        assert!(square.value == a * a, "square {i}");
        products.extend([product, square]);
    }
    products
}

#[test]
fn small_products_and_squares_equal_those_of_the_library() {
    small(Kernels::Two);
}

// Two kernels take every path that one kernel takes, but for the memory of even coefficients. `make rtl` runs this test.
#[test]
#[ignore = "builds a second model"]
fn small_products_and_squares_of_one_kernel_equal_those_of_the_library() {
    small(Kernels::One);
    resets(Kernels::One);
}

fn small(kernels: Kernels) {
    for stalls in [0, 90] {
        let Some(mut multiplier) = multiplier(Size::Small, kernels, stalls) else { return };
        let cases = cases(Size::Small.bits(), if stalls == 0 { 12 } else { 5 });
        let products = check(&mut multiplier, &cases);
        let cycles = |product: &Product| (product.resident, product.unloaded);
        assert!(stalls > 0 || products.iter().all(|product| cycles(product) == cycles(&products[0])));
        // A transform is that of its factor alone, whatever came before.
        assert!(multiplier.transform(&cases[8].1).unwrap() == multiplier.transform(&cases[8].1).unwrap());
    }
}

#[test]
fn a_reset_in_the_middle_leaves_nothing_behind() {
    resets(Kernels::Two);
}

fn resets(kernels: Kernels) {
    let Some(mut multiplier) = multiplier(Size::Small, kernels, 60) else { return };
    let cases = cases(Size::Small.bits(), 1);
    for cycles in (1..1000).step_by(83) {
        multiplier.interrupt(&cases[3].0, cycles).unwrap();
        check(&mut multiplier, &cases[7..]);
    }
}

#[test]
fn bad_input_is_refused() {
    let Some(mut multiplier) = multiplier(Size::Small, Kernels::Two, 0) else { return };
    let long = &Natural::one() << multiplier.bits();
    let error = multiplier.transform(&long).unwrap_err().to_string();
    assert!(error.contains("the operand has 24577 bits, but the design takes at most 24576"), "{error}");
    assert!(multiplier.square(&long).is_err());
    check(&mut multiplier, &cases(Size::Small.bits(), 0)[3..4]);
}

// `make rtl` runs this test.
#[test]
#[ignore = "builds and runs the full instance, for minutes"]
fn full_products_equal_those_of_the_library_within_the_stated_cycles() {
    for (kernels, name, most) in [(Kernels::One, "stored", 20_600), (Kernels::Two, "stored_two_kernels", 16_500)] {
        let Some(mut multiplier) = multiplier(Size::Full, kernels, 0) else { return };
        let products = check(&mut multiplier, &cases(Size::Full.bits(), 8));
        let (resident, unloaded) = (products[0].resident, products[0].unloaded);
        let count = products.len();
        println!("{name}: {count} products and squares, resident after {resident} cycles, unloaded after {unloaded}");
        let figure = |product: &Product| if kernels == Kernels::One { product.resident } else { product.unloaded };
        assert!(products.iter().all(|product| figure(product) <= most), "{name}");
        figures::record(&[name], &[("resident", resident), ("unloaded", unloaded)]);
    }
}
