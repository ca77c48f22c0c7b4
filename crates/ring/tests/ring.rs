//! Laws of the ring against schoolbook products and the Chinese remainder theorem on long integers, on every back end,
//! with 1 and 2 threads.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use solinas_bigint::Natural;
use solinas_field::Backend;
use solinas_field::prime::{Modulus, primes};
use solinas_ring::{
    Automorphism, BaseConversion, Basis, Coeff, Divisor, Domain, Error, Eval, Hybrid, MixedRadix, ModDown, Rescale,
    RnsPoly, TowerGadget, sample,
};

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Primes of several widths, the later ones larger and smaller than the first.
fn mixed_moduli(n: usize) -> Vec<Modulus> {
    [(50, 2), (30, 1), (61, 1), (51, 1)]
        .iter()
        .flat_map(|&(bits, count)| primes(bits, count, 2 * n as u64).unwrap())
        .collect()
}

fn bases(n: usize) -> Vec<Basis> {
    solinas_testing::back_ends(Backend::available())
        .into_iter()
        .map(|backend| Basis::new(n, &mixed_moduli(n), backend).unwrap())
        .collect()
}

fn threads<T: Send>(count: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon_pool(count).install(work)
}

fn rayon_pool(count: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap()
}

fn small(x: u64) -> Natural {
    Natural::from_words([x])
}

fn modulus(basis: &Basis) -> Natural {
    basis.moduli().fold(small(1), |product, q| &product * &small(q.value()))
}

/// Returns coefficient `j`, in `0..Q`, by the Chinese remainder theorem.
fn value(x: &RnsPoly<Coeff>, j: usize) -> Natural {
    let product = modulus(x.basis());
    let mut sum = small(0);
    for (i, q) in x.basis().moduli().enumerate() {
        let cofactor = product.div_rem(&small(q.value())).unwrap().0;
        let inverse = q.inv(residue(&cofactor, q)).unwrap();
        sum = &sum + &(&cofactor * &small(q.mul(inverse, x.tower(i)[j])));
    }
    sum.rem(&product).unwrap()
}

fn residue(x: &Natural, q: Modulus) -> u64 {
    x.rem(&small(q.value())).unwrap().words().first().copied().unwrap_or(0)
}

/// Returns sign and magnitude of the centred value.
fn centered(x: &RnsPoly<Coeff>, j: usize) -> (bool, Natural) {
    let (product, value) = (modulus(x.basis()), value(x, j));
    let other = product.abs_diff(&value);
    if other < value { (true, other) } else { (false, value) }
}

fn signed_mod((negative, magnitude): &(bool, Natural), m: u64) -> u64 {
    let r = magnitude.rem(&small(m)).unwrap().words().first().copied().unwrap_or(0);
    if *negative { (m - r) % m } else { r }
}

fn schoolbook(f: &RnsPoly<Coeff>, g: &RnsPoly<Coeff>) -> RnsPoly<Coeff> {
    let n = f.basis().dimension();
    RnsPoly::from_towers(f.basis(), |i, out| {
        let q = f.basis().modulus(i);
        for (a, &x) in f.tower(i).iter().enumerate() {
            for (b, &y) in g.tower(i).iter().enumerate() {
                let (at, product) = ((a + b) % n, q.mul(x, y));
                out[at] = if a + b < n { q.add(out[at], product) } else { q.sub(out[at], product) };
            }
        }
    })
}

/// Checks that an operation gives the same words on all back ends and thread counts.
fn agree<D: Domain>(n: usize, seed: u64, operation: impl Fn(&Basis, &mut ChaCha20Rng) -> RnsPoly<D> + Sync) {
    let first = operation(&bases(n)[0], &mut rng(seed));
    for basis in bases(n) {
        for count in [1, 2] {
            let got = threads(count, || operation(&basis, &mut rng(seed)));
            assert!(got.words() == first.words(), "{} with {count} threads", basis.backend());
        }
    }
}

#[test]
fn products_are_negacyclic() {
    for basis in bases(64) {
        let [f, g]: [RnsPoly<Coeff>; 2] = [1, 2].map(|seed| sample::uniform(&basis, &mut rng(seed)));
        let mut product = f.clone().into_eval();
        product.mul_assign(&g.clone().into_eval()).unwrap();
        assert!(product.clone().into_coeff() == schoolbook(&f, &g));
        product.add_product(&f.clone().into_eval(), &g.clone().into_eval()).unwrap();
        let mut twice = schoolbook(&f, &g);
        twice.scale(2);
        assert!(product.into_coeff() == twice);
    }
}

#[test]
fn sums_and_factors_are_those_of_each_prime() {
    for basis in bases(32) {
        let [f, g]: [RnsPoly<Coeff>; 2] = [1, 2].map(|seed| sample::uniform(&basis, &mut rng(seed)));
        let (mut sum, mut difference, mut negative, mut scaled) = (f.clone(), f.clone(), f.clone(), f.clone());
        sum.add_assign(&g).unwrap();
        difference.sub_assign(&g).unwrap();
        negative.negate();
        scaled.scale(-5);
        for (i, q) in basis.moduli().enumerate() {
            for j in 0..32 {
                let (a, b) = (f.tower(i)[j], g.tower(i)[j]);
                assert_eq!(sum.tower(i)[j], q.add(a, b));
                assert_eq!(difference.tower(i)[j], q.sub(a, b));
                assert_eq!(negative.tower(i)[j], q.neg(a));
                assert_eq!(scaled.tower(i)[j], q.neg(q.mul(5, a)));
            }
        }
    }
}

#[test]
fn inverses_multiply_to_one_and_zeros_have_none() {
    for basis in bases(64) {
        let f: RnsPoly<Eval> = sample::uniform(&basis, &mut rng(3));
        let mut one = f.inverse().unwrap();
        one.mul_assign(&f).unwrap();
        assert!(one.words().iter().all(|&word| word == 1));
        assert!(RnsPoly::<Eval>::zero(&basis).inverse().is_none());
    }
}

#[test]
fn automorphisms_agree_in_both_domains_and_compose() {
    for basis in bases(64) {
        let f: RnsPoly<Coeff> = sample::uniform(&basis, &mut rng(4));
        for exponent in [1, 3, 5, 65, 127] {
            let sigma = Automorphism::new(&basis, exponent).unwrap();
            let image = sigma.of_coefficients(&f).unwrap();
            // X^i -> X^(i g), X^N = -1.
            for (i, q) in basis.moduli().enumerate() {
                for j in 0..64 {
                    let (to, x) = (j * exponent % 128, f.tower(i)[j]);
                    assert_eq!(image.tower(i)[to % 64], if to < 64 { x } else { q.neg(x) });
                }
            }
            assert!(sigma.of_values(&f.clone().into_eval()).unwrap().into_coeff() == image);
            let inverse = (1..128).step_by(2).find(|h| h * exponent % 128 == 1).unwrap();
            let back = Automorphism::new(&basis, inverse).unwrap();
            assert!(back.of_coefficients(&image).unwrap() == f);
        }
        assert!(matches!(Automorphism::new(&basis, 4), Err(Error::Automorphism { exponent: 4, .. })));
    }
}

#[test]
fn signed_coefficients_come_back_centred() {
    let coefficients: Vec<i64> = (0..16).map(|i| [0, 1, -1, 1 << 40, -(1 << 61), 1 << 61][i % 6]).collect();
    for basis in bases(16) {
        let x = RnsPoly::from_signed(&basis, &coefficients).unwrap();
        for (j, &c) in coefficients.iter().enumerate() {
            assert_eq!(centered(&x, j), (c < 0, small(c.unsigned_abs())));
        }
    }
}

#[test]
fn exact_conversions_match_long_integers() {
    for basis in bases(16) {
        for count in 1..=basis.len() {
            let part = basis.prefix(count).unwrap();
            let plan = MixedRadix::new(&part);
            let mut x: RnsPoly<Coeff> = sample::uniform(&part, &mut rng(count as u64));
            // The ends of the range: 0, (Q-1)/2, (Q+1)/2, -1.
            let mut corners = RnsPoly::<Coeff>::from_towers(&part, |i, out| {
                let half = part.modulus(i).value() / 2;
                out[..4].copy_from_slice(&[0, half, half + 1, 2 * half]);
            });
            for x in [&mut x, &mut corners] {
                let to = Basis::new(16, &primes(45, 3, 32).unwrap(), basis.backend()).unwrap();
                let converted = plan.convert(x, &to).unwrap();
                let magnitudes = plan.log2_magnitudes(x).unwrap();
                for m in [1, 2, 3, 128, 257, 65537, (1 << 31) - 1] {
                    let got = plan.centered_mod(x, Divisor::new(m).unwrap()).unwrap();
                    for (j, &got) in got.iter().enumerate() {
                        assert_eq!(got, signed_mod(&centered(x, j), m), "{count} towers, modulo {m}");
                    }
                }
                for (j, &magnitude) in magnitudes.iter().enumerate() {
                    let centered = centered(x, j);
                    for (i, q) in to.moduli().enumerate() {
                        assert_eq!(converted.tower(i)[j], signed_mod(&centered, q.value()));
                    }
                    assert!((magnitude - (centered.1.bit_len() as f64 - 0.5)).abs() <= 0.51 || centered.1.is_zero());
                }
            }
        }
    }
}

#[test]
fn fast_conversions_are_off_by_a_multiple_of_q() {
    for basis in bases(16) {
        let to = Basis::new(16, &primes(45, 2, 32).unwrap(), basis.backend()).unwrap();
        let plan = BaseConversion::new(&basis, &to).unwrap();
        let x: RnsPoly<Coeff> = sample::uniform(&basis, &mut rng(5));
        let got = plan.convert(&x).unwrap();
        let product = modulus(&basis);
        for j in 0..16 {
            let x = value(&x, j);
            let candidates = (0..basis.len() as u64).map(|a| &x + &(&product * &small(a)));
            let fits = |c: &Natural| to.moduli().enumerate().all(|(i, q)| residue(c, q) == got.tower(i)[j]);
            assert!(candidates.into_iter().any(|c| fits(&c)));
        }
    }
}

#[test]
fn rescaling_divides_exactly_and_keeps_the_message() {
    for basis in bases(16) {
        for p in [1u64, 2, 3, 128, 257, 65537, 1 << 30] {
            let plan = Rescale::new(&basis, p).unwrap();
            let last = basis.modulus(basis.len() - 1).value();
            let x: RnsPoly<Coeff> = sample::uniform(&basis, &mut rng(p));
            let got = plan.apply_to_coefficients(&x).unwrap();
            assert!(plan.apply(&x.clone().into_eval()).unwrap().into_coeff() == got);
            for j in 0..16 {
                // q c' = c - D modulo Q: D = c - q c', of magnitude up to p q / 2, 0 modulo p.
                let scaled = &value(&got, j) * &small(last);
                let product = modulus(&basis);
                let d = (&(&value(&x, j) + &product) + &product).abs_diff(&scaled).rem(&product).unwrap();
                let other = product.abs_diff(&d);
                let d = if other < d { other } else { d };
                assert!(&d * &small(2) <= &small(p) * &small(last), "p = {p}");
                assert!(d.rem(&small(p)).unwrap().is_zero(), "p = {p}");
            }
        }
        assert!(matches!(Rescale::new(&basis.prefix(1).unwrap(), 2), Err(Error::OnePrime)));
        assert!(matches!(Rescale::new(&basis, 0), Err(Error::PlaintextModulus { .. })));
        assert!(matches!(Rescale::new(&basis, 1 << 31), Err(Error::PlaintextModulus { .. })));
    }
}

#[test]
fn division_by_special_primes_is_near_and_keeps_the_message() {
    for basis in bases(16) {
        let (target, special) = (basis.range(0..3).unwrap(), basis.range(3..5).unwrap());
        for p in [1u64, 2, 257] {
            let plan = ModDown::new(&target, &special, p).unwrap();
            let x: RnsPoly<Coeff> = sample::uniform(&basis, &mut rng(p));
            let got = plan.apply(&x.clone().into_eval()).unwrap().into_coeff();
            let (product, divisor) = (modulus(&basis), modulus(&special));
            for j in 0..16 {
                let scaled = &value(&got, j) * &divisor;
                let d = (&value(&x, j) + &product).abs_diff(&scaled).rem(&product).unwrap();
                let other = product.abs_diff(&d);
                let d = if other < d { other } else { d };
                assert!(&d * &small(2) <= &small(p + 3) * &divisor, "p = {p}");
                assert!(d.rem(&small(p)).unwrap().is_zero(), "p = {p}");
            }
        }
    }
}

/// Checks that the digits of the weighted secret give `x s`.
#[test]
fn gadgets_recompose() {
    for basis in bases(64) {
        let x: RnsPoly<Coeff> = sample::uniform(&basis, &mut rng(6));
        let s: RnsPoly<Eval> = sample::uniform(&basis, &mut rng(7));
        let mut want = x.clone().into_eval();
        want.mul_assign(&s).unwrap();
        for bits in [7, 16, 60] {
            let gadget = TowerGadget::new(&basis, bits).unwrap();
            let keys: Vec<_> = (0..gadget.len()).map(|d| gadget.weighted(d, &s).unwrap()).collect();
            assert!(bits == 60 || gadget.accumulate(&x, &keys).unwrap() == want, "{bits} bits");
            if bits == 60 {
                // The prime of 61 bits takes two digits.
                assert_eq!(gadget.len(), basis.len() + 1);
                assert!(gadget.accumulate(&x, &keys).unwrap() == want);
            }
            assert!(matches!(gadget.accumulate(&x, &keys[1..]), Err(Error::Length { .. })));
        }
        assert!(matches!(TowerGadget::new(&basis, 0), Err(Error::DigitBits { bits: 0 })));
    }
}

#[test]
fn hybrid_decomposition_gives_the_product_with_little_noise() {
    for basis in bases(64) {
        let (target, special) = (basis.range(0..3).unwrap(), basis.range(3..5).unwrap());
        let x: RnsPoly<Eval> = sample::uniform(&target, &mut rng(8));
        let secret = sample::ternary(&mut rng(9), 64);
        let s = RnsPoly::from_signed(&basis, &secret).unwrap().into_eval();
        let mut want = x.clone();
        want.mul_assign(&s.truncated(3).unwrap()).unwrap();
        for group in [1, 2, 3] {
            let plan = Hybrid::new(&target, &special, group).unwrap();
            assert!(plan.extended() == &basis);
            let keys: Vec<_> = (0..plan.len()).map(|g| plan.weighted(g, &s).unwrap()).collect();
            let product = plan.accumulate(&x, &keys).unwrap();
            // P x s exactly, so that the division is exact up to its own rounding.
            let down = ModDown::new(&target, &special, 1).unwrap();
            let mut difference = down.apply(&product).unwrap();
            difference.sub_assign(&want).unwrap();
            let noise = MixedRadix::new(&target).log2_magnitudes(&difference.into_coeff()).unwrap();
            assert!(noise.iter().all(|&bits| bits <= 1.0), "groups of {group}: {noise:?}");
            // A sum of automorphisms is the sum of its terms, and an inverse undoes its automorphism.
            let plans = [5, 127].map(|exponent| Automorphism::new(&basis, exponent).unwrap());
            let terms = [(Some(&plans[0]), &keys[..]), (None, &keys), (Some(&plans[1]), &keys)];
            let sum = plan.accumulate_automorphisms(&x, &terms).unwrap();
            let mut want = product.clone();
            plans.iter().for_each(|plan| want.add_assign(&plan.of_values(&product).unwrap()).unwrap());
            assert!(sum == want);
            let inverse = plans[0].inverse();
            assert_eq!(inverse.exponent(), 77);
            assert!(inverse.of_values(&plans[0].of_values(&product).unwrap()).unwrap() == product);
            assert!(matches!(plan.accumulate(&x, &keys[1..]), Err(Error::Length { .. })));
        }
    }
}

#[test]
fn every_operation_agrees_on_all_back_ends_and_threads() {
    let n = 1 << 12;
    agree(n, 1, |basis, rng| {
        let (x, y): (RnsPoly<Coeff>, RnsPoly<Eval>) = (sample::uniform(basis, rng), sample::uniform(basis, rng));
        let mut z = x.into_eval();
        z.mul_assign(&y).unwrap();
        z.add_product(&y, &y).unwrap();
        z
    });
    for p in [2, 3, 128] {
        agree(n, 2, |basis, rng| {
            let (plan, c): (_, RnsPoly<Eval>) = (Rescale::new(basis, p).unwrap(), sample::uniform(basis, rng));
            let quotient = plan.apply(&c).unwrap();
            // In place, on the double.
            let (mut twice, mut again) = (c.clone(), c);
            twice.scale(2);
            let ops = |i| basis.pointwise(i);
            plan.apply_in_place(&mut again, |i, words| {
                let x = words.to_vec();
                ops(i).add(words, &x);
            })
            .unwrap();
            assert!(again == plan.apply(&twice).unwrap());
            assert_eq!(again.words().len(), 4 * n);
            quotient
        });
    }
    agree(n, 7, |basis, rng| {
        let (target, special) = (basis.range(0..3).unwrap(), basis.range(3..5).unwrap());
        let (plan, down) = (Hybrid::new(&target, &special, 2).unwrap(), ModDown::new(&target, &special, 64).unwrap());
        let keys: Vec<_> = (0..plan.len()).map(|_| sample::uniform(basis, rng)).collect();
        let automorphism = Automorphism::new(basis, 5).unwrap();
        let x: RnsPoly<Eval> = sample::uniform(&target, rng);
        let mut sum = plan.accumulate_automorphisms(&x, &[(None, &keys), (Some(&automorphism), &keys)]).unwrap();
        let mut want = down.apply(&sum).unwrap();
        want.add_assign(&x).unwrap();
        let mut got = x;
        down.add_to(&mut got, &mut sum).unwrap();
        assert!(got == want);
        got
    });
    agree(n, 3, |basis, rng| {
        let down = ModDown::new(&basis.range(0..3).unwrap(), &basis.range(3..5).unwrap(), 257).unwrap();
        down.apply(&sample::uniform(basis, rng)).unwrap()
    });
    agree(n, 4, |basis, rng| {
        let part = basis.prefix(3).unwrap();
        MixedRadix::new(&part).convert(&sample::uniform(&part, rng), basis).unwrap()
    });
    agree(n, 5, |basis, rng| {
        let gadget = TowerGadget::new(basis, 30).unwrap();
        let keys: Vec<_> = (0..gadget.len()).map(|_| sample::uniform(basis, rng)).collect();
        gadget.accumulate(&sample::uniform(basis, rng), &keys).unwrap()
    });
    let decode = |basis: &Basis| {
        MixedRadix::new(basis).centered_mod(&sample::uniform(basis, &mut rng(6)), Divisor::new(2).unwrap()).unwrap()
    };
    let first = decode(&bases(1 << 14)[0]);
    for basis in bases(1 << 14) {
        for count in [1, 2] {
            assert_eq!(threads(count, || decode(&basis)), first);
        }
    }
}

#[test]
fn samplers_have_their_distributions() {
    let n = 1 << 16;
    for sigma in [0.5, 2.39, 19.0] {
        let gaussian = sample::Gaussian::new(sigma).unwrap();
        let x = gaussian.draw_many(&mut rng(1), n);
        let mean = x.iter().sum::<i64>() as f64 / n as f64;
        let variance = x.iter().map(|&x| (x * x) as f64).sum::<f64>() / n as f64;
        let ideal: f64 = (-400..=400)
            .map(|k: i32| f64::from(k).powi(2) * (-f64::from(k).powi(2) / (2.0 * sigma * sigma)).exp())
            .sum();
        let total: f64 = (-400..=400).map(|k: i32| (-f64::from(k).powi(2) / (2.0 * sigma * sigma)).exp()).sum();
        assert!(mean.abs() < 5.0 * sigma / (n as f64).sqrt(), "{mean}");
        assert!((variance * total / ideal - 1.0).abs() < 0.03, "{variance}");
        assert!(x.iter().all(|x| x.abs() <= gaussian.max()));
        assert!((8.0..10.5).contains(&(gaussian.max() as f64 / sigma)) || sigma < 1.0);
    }
    let x = sample::ternary(&mut rng(2), n);
    for value in -1..=1 {
        let count = x.iter().filter(|&&x| x == value).count() as f64;
        assert!((count / n as f64 - 1.0 / 3.0).abs() < 0.01, "{value}: {count}");
    }
    let mut places = [0; 100];
    for seed in 0..400 {
        let x = sample::sparse(&mut rng(seed), 100, 30).unwrap();
        assert_eq!(x.iter().map(|x| x.unsigned_abs()).sum::<u64>(), 30);
        places.iter_mut().zip(x.iter()).for_each(|(count, x)| *count += x.unsigned_abs());
    }
    assert!(places.iter().all(|&count| (70..175).contains(&count)), "{places:?}");
    assert_eq!(sample::sparse(&mut rng(1), 8, 8).unwrap().iter().filter(|&&x| x == 0).count(), 0);
    assert!(matches!(sample::sparse(&mut rng(1), 8, 9), Err(Error::Sampler { .. })));
    assert!(matches!(sample::Gaussian::new(f64::NAN), Err(Error::Sampler { .. })));
}

#[test]
fn what_does_not_fit_is_refused() {
    let basis = &bases(16)[0];
    let zero = RnsPoly::<Eval>::zero(basis);
    let short = zero.truncated(2).unwrap();
    assert!(matches!(zero.clone().add_assign(&short), Err(Error::BasisMismatch { .. })));
    assert!(matches!(zero.clone().mul_assign(&short), Err(Error::BasisMismatch { .. })));
    assert!(matches!(zero.truncated(0), Err(Error::Towers { .. })));
    assert!(matches!(zero.truncated(6), Err(Error::Towers { .. })));
    assert!(matches!(RnsPoly::from_signed(basis, &[0; 15]), Err(Error::Length { .. })));
    assert!(matches!(RnsPoly::<Eval>::from_words(basis, &[0; 15]), Err(Error::Length { .. })));
    let mut words = zero.words().to_vec();
    words[40] = basis.modulus(2).value();
    assert!(matches!(RnsPoly::<Eval>::from_words(basis, &words), Err(Error::Residue { tower: 2, .. })));
    assert!(matches!(basis.joined(basis), Err(Error::Primes { .. })));
    assert!(matches!(Basis::new(16, &[], Backend::Scalar), Err(Error::Primes { towers: 0, .. })));
}

proptest! {
    #[test]
    fn divisors_divide(m in 1u64..1 << 31, x in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()]) {
        let divisor = Divisor::new(m).unwrap();
        prop_assert_eq!(divisor.reduce(x), x % m);
        let centred = divisor.centered(x % m);
        prop_assert_eq!(centred.rem_euclid(m as i64) as u64, x % m);
        prop_assert!(2 * centred.unsigned_abs() <= m);
        if let Some(inverse) = divisor.vartime_inverse(x % m) {
            prop_assert_eq!(u128::from(inverse) * u128::from(x % m) % u128::from(m), u128::from(1 % m));
        }
    }

    #[test]
    fn products_commute_and_distribute(seed in any::<u64>()) {
        let basis = bases(16).pop().unwrap();
        let mut rng = rng(seed);
        let [a, b, c]: [RnsPoly<Eval>; 3] = [(); 3].map(|()| sample::uniform(&basis, &mut rng));
        let product = |x: &RnsPoly<Eval>, y: &RnsPoly<Eval>| { let mut z = x.clone(); z.mul_assign(y).unwrap(); z };
        let sum = |x: &RnsPoly<Eval>, y: &RnsPoly<Eval>| { let mut z = x.clone(); z.add_assign(y).unwrap(); z };
        prop_assert!(product(&a, &b) == product(&b, &a));
        prop_assert!(product(&a, &sum(&b, &c)) == sum(&product(&a, &b), &product(&a, &c)));
    }
}
