//! Operations against plain polynomial arithmetic.

use super::super::*;
use super::{World, literal, rng};
use crate::control::CANCELLED;
use crate::level::tests::level;
use crate::slots;
use crate::{Control, Entropy, Evaluate, Level, Progress, RotateSlots};
use rand_core::RngCore;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn chains_of_squares_and_products_decrypt_with_the_formulas_noise() {
    for params in [
        Params::named("paper-512-3").unwrap(),
        Params::named("tight-512-12").unwrap(),
        Params::named("tight-1024-2").unwrap(),
        Params::named("slots-128-3").unwrap(),
        Params::try_from(literal("p3", 256, 3, 3)).unwrap(),
        Params::try_from(literal("p65537", 256, 65537, 2)).unwrap(),
        Params::try_from(literal("p16", 256, 16, 3)).unwrap(),
        Params::try_from(ParamsLiteral { keys: KeyDistribution::Ternary, ..literal("ternary", 512, 2, 3) }).unwrap(),
        Params::try_from(ParamsLiteral { failure_bits: 128, ..literal("rare", 512, 2, 3) }).unwrap(),
        Params::try_from(ParamsLiteral { failure_bits: 128, ..literal("rare-p3", 256, 3, 3) }).unwrap(),
    ] {
        chain(&mut World::new(params));
    }
}

/// Products of distinct ciphertexts, then of each with itself, down to the last level, one operation at a time and composed.
fn chain(world: &mut World) {
    let server = world.server.clone();
    let evaluator = Evaluator::new(&server);
    let ((mut a, mut x), (mut b, mut y)) = (world.fresh(), world.fresh());
    world.check(&x, &a, "fresh");
    while x.level() > Level::LOWEST {
        // Sums of two, as the parameters allow.
        let (sum, plain_sum) = (evaluator.add(&x, &y).unwrap(), world.sum(&a, &b));
        assert!(world.client.decrypt(&sum).unwrap() == plain_sum);
        assert!(world.client.decrypt(&evaluator.sub(&sum, &y).unwrap()).unwrap() == a);
        let want = world.product(&a, &b);
        let product = evaluator.multiply_without_switch(&x, &y).unwrap();
        world.check(&product, &want, "product");
        let switched = evaluator.key_switch(&product).unwrap();
        world.check(&switched, &want, "key switch");
        let mut reduced = evaluator.modulus_switch(&switched).unwrap();
        world.check(&reduced, &want, "mod reduce");
        if reduced.stage() == Stage::Wide {
            reduced = evaluator.ring_reduce(&reduced).unwrap();
            world.check(&reduced, &want, "ring reduce");
        }
        assert!(evaluator.multiply(&x, &y).unwrap() == reduced);
        // The sum's product too: the parameters' terms.
        let product = evaluator.multiply(&sum, &sum).unwrap();
        assert!(world.client.decrypt(&product).unwrap() == world.product(&plain_sum, &plain_sum));
        let dot = evaluator.dot(&[&x, &y], &[&y, &x]).unwrap();
        world.check(&dot, &world.sum(&want, &want), "dot product");
        (a, x) = (want.clone(), reduced.clone());
        (b, y) = (want, reduced);
    }
    assert!(matches!(evaluator.multiply(&x, &x), Err(Error::OutOfLevels { .. })));
}

#[test]
fn reduced_rings_keep_every_component() {
    let params = Params::try_from(ParamsLiteral { floor: Some(1.1), ..literal("rings", 512, 2, 6) }).unwrap();
    let dimensions: Vec<usize> = Level::LOWEST.up_to(level(7)).map(|level| params.dimension_at(level)).collect();
    assert!(dimensions.windows(2).all(|pair| pair[0] <= pair[1]) && dimensions[0] < 512, "{dimensions:?}");
    for level in Level::LOWEST.up_to(level(7)) {
        let n = params.dimension_at(level);
        let factor = |n| params::root_hermite_factor(n, params.log2_modulus(level));
        assert!(n == 512 || factor(n) <= 1.1);
        assert!(n == 16 || factor(n / 2) > 1.1, "level {level}");
    }
    let mut world = World::new(params);
    chain(&mut world);
    let ((a, x), (b, y)) = (world.fresh(), world.fresh());
    let server = world.server.clone();
    let automatic = Evaluator::new(&server).automatic();
    // Operands of different rings.
    let low = automatic.at_level(&x, level(2)).unwrap();
    assert!(low.parts().len() > 1);
    world.check(&low, &a, "lowered");
    let product = automatic.multiply(&low, &y).unwrap();
    assert!(world.client.decrypt(&product).unwrap() == world.product(&a, &b));
    let plain: Vec<u64> = a.iter().map(|x| 1 - x).collect();
    let sum = automatic.manual().add_plain(&low, &plain).unwrap();
    assert!(world.client.decrypt(&sum).unwrap().iter().all(|&x| x == 1));
    let mut sparse = vec![0; 512];
    (sparse[0], sparse[3], sparse[511]) = (1, 1, 1);
    let scaled = automatic.manual().multiply_plain(&low, &sparse).unwrap();
    assert!(world.client.decrypt(&scaled).unwrap() == world.product(&a, &sparse));
    let w = low.parts().len();
    let alone = automatic.manual().component(&low, 1).unwrap();
    let want: Vec<u64> = a.iter().enumerate().map(|(i, &x)| if i % w == 1 { x } else { 0 }).collect();
    assert!(world.client.decrypt(&alone).unwrap() == want);
    assert!(automatic.manual().component(&low, w).is_err());
}

#[test]
fn automatic_evaluation_aligns_levels_and_degrees() {
    let mut world = World::named("tight-512-3");
    let server = world.server.clone();
    let (manual, automatic) = (Evaluator::new(&server), Evaluator::new(&server).automatic());
    let ((a, x), (b, y)) = (world.fresh(), world.fresh());
    let raw = manual.multiply_without_switch(&x, &y).unwrap();
    let ab = world.product(&a, &b);
    assert!(matches!(manual.add(&raw, &x), Err(Error::DegreeMismatch { lhs: 2, rhs: 1 })));
    let sum = automatic.add(&raw, &x).unwrap();
    assert_eq!((sum.level(), sum.degree()), (level(3), 1));
    assert!(world.client.decrypt(&sum).unwrap() == world.sum(&ab, &a));
    assert!(
        matches!(manual.add(&sum, &x), Err(Error::LevelMismatch { lhs, rhs, .. }) if [lhs, rhs] == [3, 4].map(level))
    );
    let switched = manual.key_switch(&raw).unwrap();
    assert!(matches!(manual.add(&switched, &switched), Err(Error::Stage { got: "key-switched", .. })));
    assert!(matches!(manual.modulus_switch(&x), Err(Error::Stage { got: "ready", .. })));
    assert!(matches!(manual.ring_reduce(&x), Err(Error::Stage { .. })));
    let difference = automatic.sub(&switched, &raw).unwrap();
    assert!(world.client.decrypt(&difference).unwrap().iter().all(|&x| x == 0));
    let cube = automatic.multiply(&raw, &x).unwrap();
    assert!(world.client.decrypt(&cube).unwrap() == world.product(&ab, &a));
    assert!(
        matches!(automatic.at_level(&cube, level(4)), Err(Error::BelowLevel { level: from, target }) if [from, target] == [2, 4].map(level))
    );
    let negative = manual.negate(&x).unwrap();
    assert!(world.client.decrypt(&manual.add(&negative, &x).unwrap()).unwrap().iter().all(|&x| x == 0));
    assert!(matches!(manual.multiply(&raw, &x), Err(Error::Degree { degree: 2, .. })));
    let constant = server.public().trivial(&a).unwrap();
    world.check_bound(&constant, &a, "trivial");
    assert!(world.client.decrypt(&manual.multiply(&constant, &y).unwrap()).unwrap() == ab);
}

/// Plaintexts that are large at few roots, all of them there: `steps` of them, or as many as decrypt.
fn repeated_products(world: &mut World, steps: usize, plaintexts: impl Fn(&World, u64) -> Vec<u64>) -> usize {
    let server = world.server.clone();
    let evaluator = Evaluator::new(&server);
    let (mut a, mut x) = world.fresh();
    for step in 0..steps {
        let plain = plaintexts(world, step as u64);
        match evaluator.multiply_plain(&x, &plain) {
            Ok(product) => (a, x) = (world.product(&plain, &a), product),
            Err(Error::Noise { .. }) => return step,
            Err(error) => panic!("{error}"),
        }
        world.check_bound(&x, &a, &format!("product {step}"));
    }
    steps
}

#[test]
fn products_with_plaintexts_of_one_sign_stay_below_the_formula() {
    let mut world = World::named("paper-512-1");
    let ones = repeated_products(&mut world, 20, |world, _| vec![1; world.params.dimension()]);
    let bits = repeated_products(&mut world, 20, |world, step| {
        let mut rng = crate::random::SecretSeed::insecure(40 + step).stream(0);
        (0..world.params.dimension()).map(|_| rng.next_u64() & 1).collect()
    });
    let binomial = repeated_products(&mut world, 100, |world, _| {
        let mut plain = vec![0; world.params.dimension()];
        (plain[0], plain[1]) = (1, 1);
        plain
    });
    // Q has 88 bits, fresh ciphertexts 10: refused in time, and not much before.
    assert!(
        (6..20).contains(&ones) && (7..20).contains(&bits) && (55..100).contains(&binomial),
        "{ones} {bits} {binomial}"
    );
    let mut world = World::new(Params::try_from(literal("p257", 128, 257, 2)).unwrap());
    assert!((2..20).contains(&repeated_products(&mut world, 20, |_, _| vec![128; 128])));
}

#[test]
fn squares_of_sums_with_plaintexts_of_one_sign_stay_below_the_formula() {
    let params =
        ParamsLiteral { primes_per_level: 2, bits: Some(30), first_bits: Some(40), ..literal("wide", 512, 2, 4) };
    let mut world = World::new(Params::try_from(params).unwrap());
    let server = world.server.clone();
    let evaluator = Evaluator::new(&server);
    let ones = vec![1; 512];
    let (mut a, mut x) = world.fresh();
    loop {
        (a, x) = (world.sum(&a, &ones), evaluator.add_plain(&x, &ones).unwrap());
        world.check_bound(&x, &a, "sum");
        if x.level() == Level::LOWEST {
            break;
        }
        let square = evaluator.multiply_without_switch(&x, &x).unwrap();
        a = world.product(&a, &a);
        world.check_bound(&square, &a, "square");
        x = evaluator.multiply(&x, &x).unwrap();
        world.check_bound(&x, &a, "square, divided");
    }
}

#[test]
fn messages_of_one_sign_are_encrypted_with_mean_zero() {
    for (p, value) in [(2, 1), (3, 1), (3, 2), (257, 128), (257, 3), (1 << 16, 1 << 15)] {
        let primes = if p > 1 << 12 { 2 } else { 1 };
        let world = World::new(
            Params::try_from(ParamsLiteral { primes_per_level: primes, ..literal("ones", 2048, p, 1) }).unwrap(),
        );
        let public = world.server.public();
        let plain = vec![value; 2048];
        let mut mask = zeroize::Zeroizing::new(vec![0; 2048]);
        public.balance(&plain, &mut mask, &mut rng());
        let centered = public.context().plaintext.centered(value);
        let messages: Vec<i64> = mask.iter().map(|e| centered + p as i64 * e).collect();
        assert!(messages.iter().all(|&m| m == value as i64 || m == value as i64 - p as i64));
        // Without it, 2048 times the message.
        let deviation = (2048.0 * (value * (p - value)) as f64).sqrt();
        let sum: i64 = messages.iter().sum();
        assert!((sum as f64).abs() < 5.0 * deviation, "p = {p}, {value}: {sum}");
        let x = public.encrypt(&plain, &mut public.encryption_rng(1).unwrap()).unwrap();
        world.check(&x, &plain, "fresh");
    }
}

#[test]
fn high_degrees_decrypt_without_a_key_switch() {
    let mut world = World::named("paper-512-7");
    let server = world.server.clone();
    let evaluator = Evaluator::new(&server);
    let ((a, x), (b, y)) = (world.fresh(), world.fresh());
    let square = evaluator.multiply_without_switch(&x, &y).unwrap();
    let cube = evaluator.multiply_without_switch(&square, &x).unwrap();
    let want = world.product(&world.product(&a, &b), &a);
    assert_eq!(cube.degree(), 3);
    assert!(world.client.decrypt(&cube).unwrap() == want);
    assert!(matches!(evaluator.key_switch(&cube), Err(Error::Degree { degree: 3, .. })));
}

#[test]
fn slots_add_and_multiply_one_by_one() {
    for name in ["slots-128-2", "slots-64-2"] {
        let mut world = World::named(name);
        let encoder = world.params.slots().unwrap();
        let p = world.params.plaintext_modulus();
        let slots =
            |seed: u64| (0..encoder.slots() as u64).map(|i| (i * i * seed + 3 * i + seed) % p).collect::<Vec<_>>();
        let (a, b) = (slots(5), slots(11));
        assert_eq!(encoder.decode(&encoder.encode(&a).unwrap()).unwrap(), a);
        let mut rng = world.server.public().encryption_rng(1).unwrap();
        let mut encrypt =
            |slots: &[u64]| world.server.public().encrypt(&encoder.encode(slots).unwrap(), &mut rng).unwrap();
        let (x, y) = (encrypt(&a), encrypt(&b));
        let automatic = Evaluator::new(&world.server).automatic();
        // (x y + x) y
        let z = automatic.multiply(&automatic.add(&automatic.multiply(&x, &y).unwrap(), &x).unwrap(), &y).unwrap();
        let got = encoder.decode(&world.client.decrypt(&z).unwrap()).unwrap();
        let want: Vec<u64> = a.iter().zip(&b).map(|(a, b)| (a * b + a) % p * b % p).collect();
        assert_eq!(got, want, "{name}");
        world.nonce += 1;
    }
    let tight = Params::named("tight-512-1").unwrap();
    assert!(matches!(tight.slots(), Err(Error::Slots { error: slots::Error::NoSlots { example: 12289, .. }, .. })));
}

#[test]
fn rotated_slots_are_those_of_a_plain_rotation() {
    for name in ["slots-128-2", "slots-64-3"] {
        let mut world = World::named(name);
        let encoder = world.params.slots().unwrap();
        let (n, half) = (encoder.slots(), encoder.slots() / 2);
        let p = world.params.plaintext_modulus();
        let rotations = [Rotation::Left(1), Rotation::Left(5), Rotation::Left(-3), Rotation::Swap];
        let x = world.fresh().1;
        let missing = Evaluator::new(&world.server).swap_rows(&x).unwrap_err();
        assert!(missing.to_string().ends_with("this one has none"), "{missing}");
        world.server = world.client.server_key_with(&rotations, true, &Control::default()).unwrap();
        let key = world.server.rotation_key().unwrap();
        let evaluator = Evaluator::new(&world.server);
        let a: Vec<u64> = (0..n as u64).map(|i| (i * i * 7 + i) % p).collect();
        let mut rng = world.server.public().encryption_rng(1).unwrap();
        let fresh = world.server.public().encrypt(&encoder.encode(&a).unwrap(), &mut rng).unwrap();
        let moved = |a: &[u64], rotation| -> Vec<u64> {
            let from = |i: usize| match rotation {
                Rotation::Left(k) => i / half * half + (i % half + k.rem_euclid(half as i64) as usize) % half,
                _ => (i + half) % n,
            };
            (0..n).map(|i| a[from(i)]).collect()
        };
        for level in Level::LOWEST.up_to(world.params.fresh_level()).rev() {
            let x = evaluator.automatic().at_level(&fresh, level).unwrap();
            for rotation in rotations {
                let rotated = evaluator.permute_slots(&x, rotation).unwrap();
                assert_eq!(rotated.level(), level);
                world.check(&rotated, &encoder.encode(&moved(&a, rotation)).unwrap(), &rotation.to_string());
            }
        }
        // Sums of all places of a row, by rotations one after the other: no level is used.
        let (mut x, mut want) = (fresh.clone(), a.clone());
        for _ in 0..6 {
            x = evaluator.rotate(&x, 1).unwrap();
            want = moved(&want, Rotation::Left(1));
        }
        let product = evaluator.multiply(&x, &fresh).unwrap();
        let product = encoder.decode(&world.client.decrypt(&product).unwrap()).unwrap();
        assert_eq!(product, want.iter().zip(&a).map(|(x, y)| x * y % p).collect::<Vec<_>>());
        // A whole turn less 3 is 3 back.
        let same = evaluator.rotate(&fresh, half as i64 - 3).unwrap();
        assert!(same == evaluator.rotate(&fresh, -3).unwrap());
        let missing = evaluator.rotate(&fresh, 2).unwrap_err();
        assert!(missing.to_string().contains("a rotation by 5"), "{missing}");
        assert!(evaluator.slot_rotations().is_none(), "programs need rotations by every power of two");
        let words: Vec<&[u64]> = key.polynomials().map(|poly| poly.words()).collect();
        let stored = RotationKey::from_parts(world.server.public(), &rotations, words.iter().copied()).unwrap();
        assert!(stored == *key && stored.bytes() == key.bytes());
        let damaged = RotationKey::from_parts(world.server.public(), &rotations, words[1..].iter().copied());
        assert!(damaged.is_err());
        let stopped = world.client.server_key_with(&rotations, true, &CANCELLED);
        assert!(matches!(stopped, Err(Error::Cancelled(_))));
    }
    let bits = World::named("tight-512-1");
    let none = bits.client.server_key_with(&[Rotation::Swap], true, &Control::default());
    assert!(matches!(none, Err(Error::Slots { error: slots::Error::NoSlots { .. }, .. })));
}

#[test]
fn keys_without_an_inverse_modulo_a_special_prime_are_drawn_again() {
    for name in ["slots-64-2", "boot-64"] {
        let params = Params::named(name).unwrap();
        let context = context::Context::new(&params).unwrap();
        let special = keygen::special_basis(&context).unwrap().unwrap();
        assert!(special.moduli().all(|q| !params.moduli().contains(&q)));
        // p f' + 1 is zero modulo a special prime, and no other.
        let (q, p) = (special.modulus(0), params.plaintext_modulus());
        let mut zero = zeroize::Zeroizing::new(vec![0; 64]);
        zero[0] = q.neg(q.pow(p, q.value() - 2)) as i64;
        let good = zeroize::Zeroizing::new(vec![0; 64]);
        let mut draws = [zero.clone(), good.clone()].into_iter();
        let top = &context.level(params.fresh_level()).basis;
        let drawn = keygen::draw_invertible(&params, [top, &special].into_iter(), || draws.next().unwrap()).unwrap();
        assert_eq!(drawn, good);
        let other = keygen::draw_invertible(&params, [top].into_iter(), || zero.clone()).unwrap();
        assert_eq!(other, zero, "{name}");
    }
    let params = Params::named("tight-512-1").unwrap();
    assert!(keygen::special_basis(&context::Context::new(&params).unwrap()).unwrap().is_none());
}

#[test]
fn key_generation_hears_of_each_step_and_can_be_stopped() {
    let params = Params::named("tight-64-5").unwrap();
    let heard = Mutex::new(Vec::new());
    let listen = |Progress { done, total, .. }: Progress| heard.lock().unwrap().push((done, total));
    let control = Control { progress: Some(&listen), cancel: None };
    let client = ClientKey::generate(&params, true, Entropy::Insecure(7), &control).unwrap();
    let of_client = std::mem::take(&mut *heard.lock().unwrap());
    assert_eq!(of_client, (1..=12).map(|done| (done, 12)).collect::<Vec<_>>());
    let server = client.server_key(&control).unwrap();
    assert!(server == super::keys(&params, 7).1);
    assert_eq!(heard.into_inner().unwrap(), (1..=5).map(|done| (done, 5)).collect::<Vec<_>>());
    for last in [1, 8, 11] {
        let cancel = AtomicBool::new(false);
        let stop = |progress: Progress| cancel.store(progress.done >= last, Ordering::Relaxed);
        let control = Control { progress: Some(&stop), cancel: Some(&cancel) };
        let stopped = ClientKey::generate(&params, true, Entropy::System, &control);
        assert!(matches!(stopped, Err(Error::Cancelled(_))), "{last}");
    }
}

#[test]
fn a_key_that_has_the_rotations_of_programs_and_more_rotates_slots() {
    let params = Params::named("slots-64-1").unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(7), &Control::default()).unwrap();
    let all = Rotation::all(&params);
    let more: Vec<_> = all.iter().copied().chain([Rotation::Left(3)]).collect();
    // The same automorphism as a rotation by a quarter of the slots to the left.
    let named_otherwise: Vec<_> =
        all.iter().map(|&r| if r == Rotation::Left(16) { Rotation::Left(-16) } else { r }).collect();
    for (rotations, rotates) in [(&all[..], true), (&more, true), (&named_otherwise, true), (&all[1..], false)] {
        let server = client.server_key_with(rotations, true, &Control::default()).unwrap();
        assert_eq!(Evaluator::new(&server).slot_rotations().is_some(), rotates, "{rotations:?}");
    }
}

/// Each step of either key counts alike in the progress of both.
#[test]
fn progress_of_a_pair_of_keys_counts_each_step_alike() {
    for (name, rotations) in [("boot-64-2", false), ("slots-64-2", true), ("tight-64-5", false)] {
        let params = Params::named(name).unwrap();
        let wanted = if rotations { Rotation::all(&params) } else { Vec::new() };
        let [of_client, of_server] =
            [keygen::client_steps(&params), keygen::server_steps(&params, wanted.len())].map(|steps| steps as u64);
        let heard = Mutex::new(Vec::new());
        let listen = |Progress { done, total, .. }: Progress| heard.lock().unwrap().push((done, total));
        let control = Control { progress: Some(&listen), cancel: None };
        let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
        if rotations { client.server_key_with(&wanted, true, &control) } else { client.server_key(&control) }.unwrap();
        let mut steps = std::mem::take(&mut *heard.lock().unwrap());
        // Threads may report out of order.
        steps.sort_unstable();
        assert_eq!(steps, (1..=of_server).map(|done| (done, of_server)).collect::<Vec<_>>(), "{name}");
        Ntru::key_pair(&params, true, rotations, Entropy::Insecure(1), &control).unwrap();
        let (heard, total) = (heard.into_inner().unwrap(), 100 * (of_client + of_server));
        assert!(
            heard.contains(&(100 * of_client, total)) && heard.last() == Some(&(total, total)),
            "{name}: {heard:?}"
        );
    }
}

#[test]
fn threads_make_no_difference() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut world = World::named("tight-4096-2");
            let ((_, x), (_, y)) = (world.fresh(), world.fresh());
            let product = Evaluator::new(&world.server).multiply(&x, &y).unwrap();
            (world.client.decrypt(&product).unwrap(), product)
        })
    };
    assert!(run(1) == run(2));
}

/// Why each level has its own key: with `f_1 = f_2` the hint is `m f`, which decrypts, and it is public.
#[test]
fn one_key_for_two_levels_is_broken_by_its_hint() {
    let params = Params::named("paper-512-1").unwrap();
    let context = context::Context::new(&params).unwrap();
    let gaussian = solinas_ring::sample::Gaussian::new(params.sigma()).unwrap();
    let mut rng = rng();
    let mut draw = || gaussian.draw_many(&mut rng, 512);
    let key = draw();
    let (g, masks) = (draw(), vec![[draw(), draw(), draw()]]);
    let choices = keygen::Choices { keys: vec![key.clone(), key], wide: vec![None, None], g };
    let (_, server) = super::assembled(context.clone(), choices, masks);
    let plain: Vec<u64> = (0..512).map(|i| i * i / 7 % 2).collect();
    let cipher = server.public().encrypt(&plain, &mut server.public().encryption_rng(0).unwrap()).unwrap();
    // From here on with what is public.
    let mut noise = cipher.parts()[0].clone();
    noise.mul_assign(server.hints().next().unwrap()).unwrap();
    assert_eq!(
        context.decode(&context.level(level(2)).basis, &[zeroize::Zeroizing::new(noise.into_coeff())]).unwrap(),
        plain
    );
    // With keys of their own it is of no use.
    let mut world = World::new(params);
    let (plain, cipher) = world.fresh();
    let mut noise = cipher.parts()[0].clone();
    noise.mul_assign(world.server.hints().next().unwrap()).unwrap();
    assert_ne!(
        context.decode(&context.level(level(2)).basis, &[zeroize::Zeroizing::new(noise.into_coeff())]).unwrap(),
        plain
    );
}
