//! Ciphertexts of NTRU on the emulated device, against the evaluator of the CPU.

use super::stream;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::ring::ntru::{Engine, Value};
use solinas_schemes::ntru::{Ciphertext, ClientKey, Evaluator, Params, ParamsLiteral, Rotation, ServerKey};
use solinas_schemes::{Control, Entropy, Error as SchemeError, Evaluate, Level, RotateSlots};
use std::sync::Arc;

/// A key of a set, and random ciphertexts.
fn key(set: &str, seed: u64) -> (Arc<ServerKey>, Vec<Ciphertext>) {
    let params = Params::named(set).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut encrypt = |_| {
        let mut word = || rng.next_u64() % params.plaintext_modulus();
        let plaintext: Vec<u64> = (0..params.dimension()).map(|_| word()).collect();
        client.public().encrypt(&plaintext, &mut rng).unwrap()
    };
    let ciphertexts = (0..2).map(&mut encrypt).collect();
    (Arc::new(client.server_key(&Control::default()).unwrap()), ciphertexts)
}

/// Every operation at every level, with values that stay on the device from the first level to the last one.
fn operations_agree(set: &str) {
    let (key, ciphertexts) = key(set, 1);
    let (cpu, stream) = (Evaluator::new(&key), stream(1));
    let device = Evaluator::on(Engine::new(&stream, Arc::clone(&key)).unwrap());
    let (mut x, mut y) = (ciphertexts[0].clone(), ciphertexts[1].clone());
    let (mut dx, mut dy): (Value, Value) = (device.upload(x.clone()).unwrap(), device.upload(y.clone()).unwrap());
    loop {
        let same = |got: Result<Value, SchemeError>, want: Ciphertext, what: &str| {
            assert!(device.download(&got.unwrap()).unwrap() == want, "{set}, {what} at level {}", x.level());
        };
        same(device.add(&dx, &dy), cpu.add(&x, &y).unwrap(), "sum");
        same(device.sub(&dx, &dy), cpu.sub(&x, &y).unwrap(), "difference");
        same(device.negate(&dx), cpu.negate(&x).unwrap(), "negative");
        let params = key.params();
        let plaintext: Vec<u64> = (0..params.dimension() as u64).map(|i| i * i % params.plaintext_modulus()).collect();
        let same_or_refused =
            |got: Result<Value, SchemeError>, want: Result<Ciphertext, SchemeError>, what: &str| match want {
                Ok(want) => same(got, want, what),
                Err(want) => assert_eq!(got.unwrap_err().to_string(), want.to_string()),
            };
        same_or_refused(device.add_plain(&dx, &plaintext), cpu.add_plain(&x, &plaintext), "sum with a plaintext");
        let product = device.multiply_plain(&dx, &plaintext);
        same_or_refused(product, cpu.multiply_plain(&x, &plaintext), "product with a plaintext");
        if x.level() == Level::LOWEST {
            break;
        }
        same_or_refused(device.dot(&[&dx, &dy], &[&dy, &dy]), cpu.dot(&[&x, &y], &[&y, &y]), "dot product");
        let product = cpu.multiply_without_switch(&x, &y).unwrap();
        let on_device = device.upload(product.clone()).unwrap();
        same(device.drop_level(&on_device), cpu.drop_level(&product).unwrap(), "lowered product");
        (dx, dy) = (device.multiply(&dx, &dy).unwrap(), device.drop_level(&dy).unwrap());
        (x, y) = (cpu.multiply(&x, &y).unwrap(), cpu.drop_level(&y).unwrap());
        assert!(device.download(&dx).unwrap() == x, "{set}, product");
        assert!(device.download(&dy).unwrap() == y, "{set}, lowered");
    }
    let want = cpu.multiply(&x, &y).unwrap_err();
    assert_eq!(device.multiply(&dx, &dy).unwrap_err().to_string(), want.to_string());
    assert!(device.drop_level(&dx).is_err());
}

#[test]
fn operations_of_ntru_are_those_of_the_cpu() {
    for set in ["paper-512-3", "tight-512-12", "slots-128-3", "boot-64"] {
        operations_agree(set);
    }
}

#[test]
fn operations_of_a_secure_set_of_ntru_are_those_of_the_cpu() {
    operations_agree("secure-8192-1");
}

/// Rotations and the swap of the rows, at each level.
#[test]
fn rotations_of_ntru_are_those_of_the_cpu() {
    let params = Params::named("slots-128-3").unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(5), &Control::default()).unwrap();
    let rotations = [Rotation::Left(1), Rotation::Left(-3), Rotation::Swap];
    let key = Arc::new(client.server_key_with(&rotations, true, &Control::default()).unwrap());
    let plaintext: Vec<u64> = (0..128).map(|i| i * 7 % params.plaintext_modulus()).collect();
    let mut x = client.public().encrypt(&plaintext, &mut ChaCha8Rng::seed_from_u64(5)).unwrap();
    let (cpu, stream) = (Evaluator::new(&key), stream(5));
    let device = Evaluator::on(Engine::new(&stream, Arc::clone(&key)).unwrap());
    loop {
        let value = device.upload(x.clone()).unwrap();
        for rotation in rotations {
            // The second time, the key is there.
            for _ in 0..2 {
                let got = device.download(&device.permute_slots(&value, rotation).unwrap()).unwrap();
                assert!(got == cpu.permute_slots(&x, rotation).unwrap(), "{rotation} at level {}", x.level());
            }
        }
        if x.level() == Level::LOWEST {
            break;
        }
        x = cpu.drop_level(&x).unwrap();
    }
    let (value, missing) = (device.upload(x.clone()).unwrap(), Rotation::Left(2));
    let want = cpu.permute_slots(&x, missing).unwrap_err().to_string();
    assert_eq!(device.permute_slots(&value, missing).unwrap_err().to_string(), want);
}

/// From the highest level and from the lowest one, for both bits.
#[test]
fn bootstraps_of_ntru_are_those_of_the_cpu() {
    let params = Params::named("boot-64").unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(6), &Control::default()).unwrap();
    let key = Arc::new(client.server_key(&Control::default()).unwrap());
    let (cpu, stream) = (Evaluator::new(&key), stream(6));
    let device = Evaluator::on(Engine::new(&stream, Arc::clone(&key)).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for bit in [0, 1] {
        let mut plaintext = vec![0; params.dimension()];
        plaintext[0] = bit;
        let fresh = client.public().encrypt(&plaintext, &mut rng).unwrap();
        let lowest = cpu.automatic().at_level(&fresh, Level::LOWEST).unwrap();
        for x in [fresh, lowest] {
            let want = cpu.bootstrap(&x).unwrap();
            let got = device.bootstrap(&device.upload(x.clone()).unwrap()).unwrap();
            assert!(device.download(&got).unwrap() == want, "bit {bit} from level {}", x.level());
            let product = device.multiply(&got, &got).unwrap();
            assert!(device.download(&product).unwrap() == cpu.multiply(&want, &want).unwrap());
            assert_eq!(client.decrypt(&want).unwrap()[0], bit);
        }
    }
    let (without, x) = self::key("slots-128-3", 7);
    let device = Evaluator::on(Engine::new(&stream, Arc::clone(&without)).unwrap());
    let error = device.bootstrap(&device.upload(x[0].clone()).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), Evaluator::new(&without).bootstrap(&x[0]).unwrap_err().to_string());
}

#[test]
fn ciphertexts_of_another_key_and_level_are_refused() {
    let (stream, (one, x), (_, y)) = (stream(2), key("slots-128-3", 2), key("slots-128-3", 3));
    let device = Evaluator::on(Engine::new(&stream, Arc::clone(&one)).unwrap());
    assert!(matches!(device.upload(y[0].clone()), Err(SchemeError::KeyMismatch { .. })));
    let x = device.upload(x[0].clone()).unwrap();
    let below = device.drop_level(&x).unwrap();
    let error = device.add(&x, &below).unwrap_err();
    assert!(error.to_string().contains("level"), "{error}");
}

#[test]
fn parameters_of_several_dimensions_are_refused() {
    let literal = Params::named("paper-512-6").unwrap().literal().clone();
    let params =
        Params::try_from(ParamsLiteral { floor: Some(1.1), first_bits: None, bits: None, top_bits: None, ..literal })
            .unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(4), &Control::default()).unwrap();
    let error = Engine::new(&stream(3), Arc::new(client.server_key(&Control::default()).unwrap())).unwrap_err();
    assert!(error.to_string().contains("rings of several dimensions"), "{error}");
}

/// The pool rounds small buffers up, and the work of a product comes on top of what a key holds.
#[test]
fn the_bytes_of_a_key_of_ntru_are_estimated() {
    for (set, seed) in [("secure-8192-1", 8), ("boot-1024", 9)] {
        let ((key, _), stream) = (key(set, seed), stream(seed));
        let engine = Engine::new(&stream, Arc::clone(&key)).unwrap();
        let (held, estimate) = (stream.device().live_bytes() as f64, Engine::size_of(&key) as f64);
        println!("{set}: {held} bytes, estimated {estimate}");
        assert!((0.5..1.5).contains(&(held / estimate)), "{set}: {held} bytes, estimated {estimate}");
        drop(engine);
    }
}

/// Threads share an engine, its stream, and the rotation keys that it copies when they are first used.
#[test]
fn threads_share_an_engine() {
    let params = Params::named("slots-128-3").unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(10), &Control::default()).unwrap();
    let key = Arc::new(client.server_key_with(&[Rotation::Swap], true, &Control::default()).unwrap());
    let engine = Engine::new(&stream(10), Arc::clone(&key)).unwrap();
    let (cpu, device) = (Evaluator::new(&key), Evaluator::on(engine));
    let check = |seed: u64| {
        let plaintext: Vec<u64> = (0..128).map(|i| (i * 7 + seed) % params.plaintext_modulus()).collect();
        let x = client.public().encrypt(&plaintext, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        let value = device.upload(x.clone()).unwrap();
        for _ in 0..3 {
            let product = device.multiply(&value, &device.swap_rows(&value).unwrap()).unwrap();
            let want = cpu.multiply(&x, &cpu.swap_rows(&x).unwrap()).unwrap();
            assert!(device.download(&product).unwrap() == want, "thread {seed}");
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || check(seed)))));
}
