//! Random circuits of full depth, evaluated with automatic levels, against plain arithmetic.

use super::*;
use crate::level::tests::level;
use crate::{Evaluate, Level};

/// A value of a circuit, plain and encrypted.
struct Value {
    plain: Vec<u64>,
    encrypted: Ciphertext,
}

fn run(name: &str, circuits: u64) {
    let (client, server) = keys(name);
    let (p, n) = (server.params().plaintext_modulus(), server.params().dimension());
    let slots = server.params().slots().unwrap();
    let automatic = Evaluator::new(&server).automatic();
    for circuit in 0..circuits {
        let mut rng = ChaCha20Rng::seed_from_u64(circuit);
        let mut values: Vec<Value> = (0..3)
            .map(|i| {
                let plain = random(p, n, 100 * circuit + i);
                let encrypted = encrypt(&server, &slots.encode(&plain).unwrap(), 100 * circuit + i);
                Value { plain, encrypted }
            })
            .collect();
        let mut deepest_level = server.params().fresh_level();
        // Two more values at each depth, of values at any.
        for depth in 1..=server.params().depth() {
            for last in [false, true] {
                let mut pick = || rng.next_u64() as usize % values.len();
                let (x, y, z) = (pick(), pick(), pick());
                let (a, b, c) = (&values[x], &values[y], &values[z]);
                let kind = rng.next_u64() % 6;
                // One product of the deepest for certain.
                let deepest = values.iter().min_by_key(|value| value.encrypted.level()).unwrap();
                let (a, kind) = if last { (deepest, 5) } else { (a, kind) };
                let pairs = |f: &dyn Fn(u64, u64, u64) -> u64| -> Vec<u64> {
                    (0..n).map(|i| f(a.plain[i], b.plain[i], c.plain[i]) % p).collect()
                };
                let (plain, encrypted) = match kind {
                    0 => (pairs(&|x, y, _| x + y), automatic.add(&a.encrypted, &b.encrypted)),
                    1 => (pairs(&|x, y, _| x + p - y), automatic.sub(&a.encrypted, &b.encrypted)),
                    2 => {
                        let rotated = (0..n).map(|i| a.plain[i / (n / 2) * (n / 2) + (i + 3) % (n / 2)]).collect();
                        (rotated, automatic.rotate(&a.encrypted, 3))
                    }
                    3 => {
                        let known = slots.encode(&c.plain).unwrap();
                        (pairs(&|x, _, z| x + z), automatic.add_plain(&a.encrypted, &known))
                    }
                    4 => (pairs(&|x, _, _| x * 5), automatic.multiply_integer(&a.encrypted, 5)),
                    _ => {
                        let sum = automatic.add(&a.encrypted, &b.encrypted).unwrap();
                        (pairs(&|x, y, z| (x + y) % p * z), automatic.multiply(&sum, &c.encrypted))
                    }
                };
                let encrypted = match encrypted {
                    // Two products at one depth, or sums of more than the parameters' terms: no level is left.
                    Err(Error::OutOfLevels { .. }) if depth > server.params().depth() / 2 => continue,
                    other => other.unwrap_or_else(|error| panic!("circuit {circuit}, depth {depth}: {error}")),
                };
                deepest_level = deepest_level.min(encrypted.level());
                let got = slots.decode(&client.decrypt(&encrypted).unwrap()).unwrap();
                assert_eq!(got, plain, "{name}: circuit {circuit}, depth {depth}, operation {kind}");
                let measured = client.measure_noise(&encrypted).unwrap();
                assert!(measured <= encrypted.noise().scaled(noise::tolerance_above(n)));
                values.push(Value { plain, encrypted });
            }
        }
        assert_eq!(deepest_level, Level::LOWEST, "circuit {circuit} has the full depth");
    }
}

#[test]
fn random_circuits_agree_with_plain_arithmetic() {
    run("slots-64-3", 12);
    run("slots-256-6", 6);
}

#[test]
fn squares_to_the_full_depth_keep_their_noise() {
    for (name, p) in [("slots-256-8", 65537u64), ("bits-256-8", 2)] {
        let (client, server) = keys(name);
        let mut plain = random(p, 256, 9);
        let mut x = encrypt(&server, &plain, 1);
        let evaluator = Evaluator::new(&server);
        for depth in 0..=8 {
            check_noise(&client, &x, &format!("{name} at depth {depth}"));
            assert_eq!(client.decrypt(&x).unwrap(), plain, "{name} at depth {depth}");
            if depth < 8 {
                let sum = evaluator.add(&x, &x).unwrap();
                plain = negacyclic(&plain, &plain, p).into_iter().map(|x| 4 * x % p).collect();
                x = evaluator.multiply(&sum, &sum).unwrap();
            }
        }
        let error = evaluator.multiply(&x, &x).unwrap_err();
        assert!(matches!(error, Error::OutOfLevels { level: Level::LOWEST, depth: 8, .. }), "{error}");
    }
}

#[test]
fn noisy_operands_are_lowered_before_they_are_multiplied() {
    let (client, server) = keys("slots-64-4");
    let slots = server.params().slots().unwrap();
    let x = random(65537, 64, 1);
    let automatic = Evaluator::new(&server).automatic();
    let mut sum = encrypt(&server, &slots.encode(&x).unwrap(), 1);
    // 2^24 times: two such, multiplied as they are, would leave noise of 48 bits more than is usual.
    for _ in 0..24 {
        sum = automatic.add(&sum, &sum).unwrap();
    }
    let product = automatic.multiply(&sum, &sum).unwrap();
    assert_eq!(product.level(), level(3));
    let factor = (1u64 << 48) % 65537;
    let want: Vec<u64> = x.iter().map(|&x| x * x % 65537 * factor % 65537).collect();
    assert_eq!(slots.decode(&client.decrypt(&product).unwrap()).unwrap(), want);
    // Levels that differ, products that are not reduced yet, a degree that is: all are brought together.
    let tensor = automatic.manual().tensor(&product, &product).unwrap();
    let both = automatic.add(&tensor, &sum).unwrap();
    let square = |x: u64| x * x % 65537;
    let scaled: Vec<u64> = x.iter().zip(&want).map(|(&x, &y)| (square(y) + x * ((1 << 24) % 65537)) % 65537).collect();
    assert_eq!(slots.decode(&client.decrypt(&both).unwrap()).unwrap(), scaled);
}
