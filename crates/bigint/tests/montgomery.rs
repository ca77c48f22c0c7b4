//! Compares powers at word level with GMP's, on every multiplier.
#![allow(clippy::unwrap_used, reason = "a comparison that fails may panic")]

use crate::common;

use std::collections::BTreeMap;

use common::gmp::Gmp;
use common::operands::Pattern;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use solinas_bigint::{Error, Montgomery, Natural};
use solinas_field::Backend;
use solinas_field::limbs::Multiplier;

/// Returns every multiplier that this CPU runs, within any back end.
fn multipliers() -> Vec<Multiplier> {
    let all = solinas_testing::back_ends(Backend::available()).into_iter().flat_map(Multiplier::available);
    all.map(|m| (m.name(), m)).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Checks that all results for one modulus equal GMP's.
fn compare(modulus: &[u64], operands: &[Vec<u64>], exponents: &[Vec<u64>]) {
    let gmp = Gmp::get();
    let m = Natural::from_words(modulus);
    for multiplier in multipliers() {
        let plan = Montgomery::with_multiplier(&m, multiplier).unwrap();
        let name = multiplier.name();
        for (a, b) in operands.iter().zip(operands.iter().rev()) {
            let (x, y) = (Natural::from_words(a.clone()), Natural::from_words(b.clone()));
            assert_eq!(plan.reduce(&x).words(), gmp.remainder(a, modulus), "{x:x} mod {m:x} on {name}");
            assert_eq!(
                plan.mul(&x, &y).words(),
                gmp.remainder(&gmp.mul(a, b), modulus),
                "{x:x} {y:x} mod {m:x} on {name}"
            );
            assert_eq!(plan.square(&x).words(), gmp.remainder(&gmp.mul(a, a), modulus), "{x:x}^2 mod {m:x} on {name}");
            for e in exponents {
                let exponent = Natural::from_words(e.clone());
                let expected = gmp.pow_mod(a, e, modulus);
                assert_eq!(plan.pow(&x, &exponent).words(), expected, "{x:x}^{exponent:x} mod {m:x} on {name}");
                assert_eq!(plan.vartime_pow(&x, &exponent).words(), expected, "{x:x}^{exponent:x} mod {m:x} on {name}");
            }
        }
    }
}

/// Numbers of `len` words of every pattern.
fn patterns(len: usize, random: &mut ChaCha8Rng) -> Vec<Vec<u64>> {
    Pattern::ALL.iter().map(|pattern| pattern.words(len, random)).collect()
}

#[test]
fn powers_equal_gmp_modulo_words_of_every_shape() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut moduli =
        vec![3, 5, 7, u64::MAX, u64::MAX - 58, (1 << 63) + 1, (1 << 32) - 1, (1 << 32) + 1, 0xffff_ffff_0000_0001];
    moduli.extend((2..64).map(|k| (1u64 << k) - 1));
    for m in moduli {
        let mut operands = patterns(1, &mut random);
        operands.extend([vec![], vec![1], vec![m - 1], vec![m], vec![m, 1], vec![u64::MAX; 3]]);
        let exponents = [vec![], vec![1], vec![2], vec![m], vec![m - 1], vec![65_537], vec![u64::MAX]];
        compare(&[m], &operands, &exponents);
    }
}

#[test]
fn powers_equal_gmp_at_many_lengths() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for len in (2..=10).chain([13, 16, 20, 25, 33, 41, 48]) {
        // Longer powers take longer, so there are fewer of them.
        let (moduli, numbers) = if len <= 10 { (6, 3) } else { (2, 1) };
        let mut all = patterns(len, &mut random);
        all.rotate_left(len % 6);
        for mut modulus in all.into_iter().take(moduli) {
            modulus[0] |= 1;
            let mut operands = patterns(len, &mut random);
            operands.rotate_left(len % 5);
            operands.truncate(numbers);
            operands.push(patterns(2 * len + 1, &mut random).swap_remove(2));
            compare(&modulus, &operands, &[vec![65_537], Pattern::Runs.words(2, &mut random)]);
        }
    }
}

#[test]
fn powers_with_exponents_as_long_as_the_modulus_equal_gmp() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for len in [16, 24] {
        // 2^k - 1, the highest and the lowest bit, random.
        let mut sparse = vec![0; len];
        (sparse[0], sparse[len - 1]) = (1, 1 << 63);
        let mut dense = Pattern::Random.words(len, &mut random);
        dense[0] |= 1;
        for modulus in [vec![u64::MAX; len], sparse, dense] {
            let operands = [Pattern::Random.words(len, &mut random), Pattern::Ones.words(len, &mut random)];
            let exponents = [
                vec![u64::MAX; len],
                Pattern::PowerOfTwo.words(len, &mut random),
                Pattern::Random.words(len + 1, &mut random),
            ];
            compare(&modulus, &operands, &exponents);
        }
    }
}

#[test]
fn moduli_that_cannot_serve_are_refused() {
    for (modulus, error) in [
        (Natural::ZERO, Error::ModulusTooSmall { modulus: 0 }),
        (Natural::one(), Error::ModulusTooSmall { modulus: 1 }),
        (Natural::from(2u64), Error::EvenModulus),
        (Natural::power_of_two(4096), Error::EvenModulus),
    ] {
        assert_eq!(Montgomery::new(&modulus).err(), Some(error));
    }
}
