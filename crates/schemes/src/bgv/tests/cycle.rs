//! Each operation, against plain arithmetic and the formula.

use super::*;
use crate::level::tests::level;
use crate::{Control, Evaluate, Level, RotateSlots};

#[test]
fn slots_add_multiply_and_rotate() {
    let (client, server) = keys("slots-128-3");
    let slots = server.params().slots().unwrap();
    let (p, n) = (65537, 128);
    let (x, y) = (random(p, n, 1), random(p, n, 2));
    let (a, b) = (encrypt(&server, &slots.encode(&x).unwrap(), 1), encrypt(&server, &slots.encode(&y).unwrap(), 2));
    let evaluator = Evaluator::new(&server);
    let decrypted = |c: &Ciphertext, what: &str| {
        check_noise(&client, c, what);
        slots.decode(&client.decrypt(c).unwrap()).unwrap()
    };
    let zipped = |f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> { x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect() };
    assert_eq!(decrypted(&a, "fresh"), x);
    assert_eq!(decrypted(&evaluator.add(&a, &b).unwrap(), "sum"), zipped(&|x, y| (x + y) % p));
    assert_eq!(decrypted(&evaluator.sub(&a, &b).unwrap(), "difference"), zipped(&|x, y| (x + p - y) % p));
    assert_eq!(decrypted(&evaluator.negate(&a).unwrap(), "negative"), zipped(&|x, _| (p - x) % p));
    let plain = slots.encode(&y).unwrap();
    assert_eq!(decrypted(&evaluator.add_plain(&a, &plain).unwrap(), "sum with plain"), zipped(&|x, y| (x + y) % p));
    let product = zipped(&|x, y| x * y % p);
    assert_eq!(decrypted(&evaluator.multiply_plain(&a, &plain).unwrap(), "product with plain"), product);
    assert_eq!(decrypted(&evaluator.multiply_integer(&a, -3).unwrap(), "triple"), zipped(&|x, _| (p - x) * 3 % p));

    let tensor = evaluator.tensor(&a, &b).unwrap();
    assert_eq!((tensor.parts().len(), tensor.stage()), (3, Stage::Product));
    assert_eq!(decrypted(&tensor, "tensor"), product);
    let relinearized = evaluator.relinearize(&tensor).unwrap();
    assert_eq!(decrypted(&relinearized, "relinearized"), product);
    let reduced = evaluator.modulus_switch(&relinearized).unwrap();
    assert_eq!((reduced.level(), reduced.stage()), (level(3), Stage::Ready));
    assert_eq!(decrypted(&reduced, "reduced"), product);
    // The other order, and both in one.
    let other = evaluator.relinearize(&evaluator.modulus_switch(&tensor).unwrap()).unwrap();
    assert_eq!(decrypted(&other, "reduced, then relinearized"), product);
    let composed = evaluator.multiply(&a, &b).unwrap();
    assert_eq!(decrypted(&composed, "composed"), product);
    // Sums of what came here in different ways: factors agree.
    let lowered = evaluator.drop_level(&a).unwrap();
    assert_eq!(decrypted(&lowered, "lowered"), x);
    assert_eq!(
        decrypted(
            &evaluator
                .add(&evaluator.drop_level(&composed).unwrap(), &evaluator.drop_level(&lowered).unwrap())
                .unwrap(),
            "two levels down"
        ),
        zipped(&|x, y| (x * y + x) % p)
    );

    let rotated = |x: &[u64], step: usize| -> Vec<u64> {
        x.chunks(n / 2).flat_map(|row| (0..n / 2).map(|j| row[(j + step) % (n / 2)])).collect()
    };
    for step in [0, 1, 2, 5, 63] {
        assert_eq!(decrypted(&evaluator.rotate(&a, step as i64).unwrap(), "rotated"), rotated(&x, step));
    }
    assert_eq!(decrypted(&evaluator.rotate(&composed, -1).unwrap(), "rotated"), rotated(&product, n / 2 - 1));
    let swapped = [&x[n / 2..], &x[..n / 2]].concat();
    assert_eq!(decrypted(&evaluator.swap_rows(&a).unwrap(), "swapped"), swapped);
    let total = |x: &[u64]| vec![x.iter().sum::<u64>() % p; n];
    let sum = evaluator.sum_slots(&a).unwrap();
    assert_eq!(slots.decode(&client.decrypt(&sum).unwrap()).unwrap(), total(&x));
    let inner = evaluator.inner_product(&a, &b).unwrap();
    assert_eq!(slots.decode(&client.decrypt(&inner).unwrap()).unwrap(), total(&product));
    let dot = evaluator.dot(&[&a, &a, &b], &[&b, &a, &b]).unwrap();
    assert_eq!(decrypted(&dot, "dot"), zipped(&|x, y| (x * y + x * x + y * y) % p));
}

#[test]
fn polynomials_modulo_primes_and_others_multiply() {
    for (p, switching, failure_bits) in [
        (2, KeySwitching::Hybrid { group: 1 }, 40),
        (2, KeySwitching::Hybrid { group: 1 }, 128),
        (16, KeySwitching::Hybrid { group: 2 }, 40),
        (15, KeySwitching::Hybrid { group: 2 }, 128),
        (2, KeySwitching::Digits { bits: 20 }, 40),
        (257, KeySwitching::Digits { bits: 8 }, 128),
    ] {
        let literal = ParamsLiteral {
            plaintext_modulus: p,
            switching,
            failure_bits,
            first_bits: None,
            bits: None,
            top_bits: None,
            ..Params::named("bits-64-2").unwrap().literal().clone()
        };
        let params = Params::try_from(literal).unwrap();
        let rotations = Rotations::none(&params).with_automorphism(5).unwrap();
        let (client, server) = keys_with(&params, &rotations, p);
        let (x, y) = (random(p, 64, 3), random(p, 64, 4));
        let evaluator = Evaluator::new(&server);
        let (a, b) = (encrypt(&server, &x, 1), encrypt(&server, &y, 2));
        let product = negacyclic(&x, &y, p);
        let ab = evaluator.multiply(&a, &b).unwrap();
        check_noise(&client, &ab, "product");
        assert_eq!(client.decrypt(&ab).unwrap(), product, "p = {p}");
        let separate = evaluator.modulus_switch(&evaluator.relinearize(&evaluator.tensor(&a, &b).unwrap()).unwrap());
        assert_eq!(client.decrypt(&separate.unwrap()).unwrap(), product, "p = {p}");
        let square = evaluator.multiply(&ab, &ab).unwrap();
        check_noise(&client, &square, "square");
        assert_eq!(client.decrypt(&square).unwrap(), negacyclic(&product, &product, p), "p = {p}");
        if let KeySwitching::Hybrid { .. } = switching {
            let mut rotated = vec![0; 64];
            for (i, &x) in x.iter().enumerate() {
                let at = 5 * i % 128;
                rotated[at % 64] = if at < 64 { x } else { (p - x) % p };
            }
            assert_eq!(client.decrypt(&evaluator.automorphism(&a, 5).unwrap()).unwrap(), rotated);
        }
    }
}

#[test]
fn sums_of_constants_decrypt_until_they_are_refused() {
    for set in ["slots-1024-0", "slots-1024-3"] {
        let (client, server) = keys(set);
        let p = server.params().plaintext_modulus();
        let (evaluator, mut value) = (Evaluator::new(&server), p / 2);
        let mut constant = vec![0; server.params().dimension()];
        constant[0] = value;
        let mut sum = server.public().trivial(&constant).unwrap();
        let mut doublings = 0;
        while let Ok(twice) = evaluator.add(&sum, &sum) {
            (sum, value, doublings) = (twice, value * 2 % p, doublings + 1);
            constant[0] = value;
            assert_eq!(client.decrypt(&sum).unwrap(), constant, "{set}: {doublings}");
        }
        assert!(doublings > 8, "{set}: {doublings}");
    }
}

#[test]
fn secret_key_encrypts_with_less_noise_and_half_the_size() {
    let (client, server) = keys("slots-128-3");
    let x = random(65537, 128, 5);
    let mut rng = server.public().encryption_rng(7).unwrap();
    for level in Level::LOWEST.up_to(server.params().fresh_level()) {
        let seeded = client.encrypt_seeded_at(&x, level, &mut rng).unwrap();
        let stored =
            SeededCiphertext::from_parts(server.public(), level, seeded.noise(), *seeded.seed(), seeded.body().words());
        let ciphertext = server.public().expand(&stored.unwrap()).unwrap();
        check_noise(&client, &ciphertext, "secret");
        assert_eq!(client.decrypt(&ciphertext).unwrap(), x);
        if level > Level::LOWEST {
            let public = server.public().encrypt_at(&x, level, &mut rng).unwrap();
            assert_eq!(client.decrypt(&Evaluator::new(&server).sub(&public, &ciphertext).unwrap()).unwrap(), [0; 128]);
        }
    }
    assert_eq!(client.decrypt(&server.public().trivial(&x).unwrap()).unwrap(), x);
}

#[test]
fn all_back_ends_and_threads_give_the_same_words() {
    let params = Params::named("slots-1024-3").unwrap();
    let x = random(65537, 1024, 6);
    let mut results = Vec::new();
    for backend in solinas_testing::back_ends(solinas_field::Backend::available()) {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            results.push(pool.install(|| {
                let context = context::Context::on(&params, backend).unwrap();
                let client = keygen::client_key(context, &crate::random::SecretSeed::insecure(3), true).unwrap();
                let rotations = Rotations::of_steps(&params, &[3]).unwrap();
                let server = client.server_key_with(&rotations, &Control::default()).unwrap();
                let evaluator = Evaluator::new(&server);
                let a = encrypt(&server, &x, 1);
                let y = evaluator.rotate(&evaluator.multiply(&a, &a).unwrap(), 3).unwrap();
                (a, y.clone(), client.decrypt(&y).unwrap())
            }));
        }
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn keys_and_ciphertexts_are_their_parts() {
    let (client, server) = keys("slots-128-1");
    let public = server.public();
    let stored = PublicKey::from_parts(server.params(), true, *public.seed(), public.b().words()).unwrap();
    assert!(stored == *public && stored.id() == public.id());
    let secret = zeroize::Zeroizing::new(client.secret().to_vec());
    let again = ClientKey::from_parts(stored.clone(), secret).unwrap();
    let rotations: Vec<_> = server.rotation_keys().map(|(exponent, key)| (exponent, key.parts())).collect();
    let other = ServerKey::from_parts(stored.clone(), &server.relinearization().parts(), &rotations, None).unwrap();
    assert!(other == server && other.rotations() == server.rotations());
    let x = random(65537, 128, 8);
    let a = encrypt(&other, &x, 3);
    let words: Vec<Vec<u64>> = a.parts().iter().map(|part| part.words().to_vec()).collect();
    let b = Ciphertext::from_parts(&stored, a.level(), a.stage(), a.noise(), &words).unwrap();
    assert_eq!(a, b);
    assert_eq!(again.decrypt(&b).unwrap(), x);
}
