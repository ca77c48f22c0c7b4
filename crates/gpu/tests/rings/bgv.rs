//! Ciphertexts of BGV on the emulated device, against the evaluator of the CPU.

use super::stream;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::Error;
use solinas_gpu::ring::bgv::{Engine, Value};
use solinas_schemes::bgv::{
    Ciphertext, ClientKey, Evaluator, KeySwitching, Params, ParamsLiteral, Rotations, ServerKey,
};
use solinas_schemes::leveled::Polynomials;
use solinas_schemes::{Control, Entropy, Error as SchemeError, Evaluate, Level, RotateSlots};
use std::sync::Arc;

/// A key with rotations, and random ciphertexts.
fn key(params: &Params, seed: u64) -> (Arc<ServerKey>, Vec<Ciphertext>) {
    let client = ClientKey::generate(params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let rotations = match params.slots() {
        Ok(_) => Rotations::all(params).unwrap(),
        Err(_) => Rotations::none(params).with_automorphism(5).unwrap(),
    };
    let server = client.server_key_with(&rotations, &Control::default()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut encrypt = |nonce: u64| {
        let mut word = || rng.next_u64() % params.plaintext_modulus();
        let plaintext: Vec<u64> = (0..params.dimension()).map(|_| word()).collect();
        server.public().encrypt(&plaintext, &mut server.public().encryption_rng(nonce).unwrap()).unwrap()
    };
    let ciphertexts = (0..2).map(&mut encrypt).collect();
    (Arc::new(server), ciphertexts)
}

fn named(set: &str) -> Params {
    Params::named(set).unwrap()
}

/// Every operation at every level, with values that stay on the device from the first level to the last one.
fn operations_agree(set: &str) {
    let params = named(set);
    let (key, ciphertexts) = key(&params, 1);
    let (cpu, stream) = (Evaluator::new(&key), stream(1));
    let device = Evaluator::on(Engine::new(&stream, Arc::clone(&key)).unwrap());
    let (mut x, mut y) = (ciphertexts[0].clone(), ciphertexts[1].clone());
    let (mut dx, mut dy): (Value, Value) = (device.upload(x.clone()).unwrap(), device.upload(y.clone()).unwrap());
    let p = params.plaintext_modulus();
    let plaintext: Vec<u64> = (0..params.dimension() as u64).map(|i| i * i % p).collect();
    loop {
        let level = x.level();
        let same = |got: Result<Value, SchemeError>, want: Result<Ciphertext, SchemeError>, what: &str| match want {
            Ok(want) => assert!(device.download(&got.unwrap()).unwrap() == want, "{set}, {what} at level {level}"),
            Err(want) => assert_eq!(got.unwrap_err().to_string(), want.to_string(), "{set}, {what}"),
        };
        same(device.add(&dx, &dy), cpu.add(&x, &y), "sum");
        same(device.sub(&dx, &dy), cpu.sub(&x, &y), "difference");
        same(device.negate(&dx), cpu.negate(&x), "negative");
        same(device.add_plain(&dx, &plaintext), cpu.add_plain(&x, &plaintext), "sum with a plaintext");
        same(device.multiply_plain(&dx, &plaintext), cpu.multiply_plain(&x, &plaintext), "product with a plaintext");
        for constant in [0, 1, p - 1, p / 2] {
            same(
                device.multiply_constant(&dx, constant),
                cpu.multiply_constant(&x, constant),
                "product with a constant",
            );
        }
        same(device.automorphism(&dx, 5), cpu.automorphism(&x, 5), "automorphism");
        same(device.automorphism(&dx, 7), cpu.automorphism(&x, 7), "automorphism without a key");
        if params.slots().is_ok() {
            for step in [0, 1, -1, 5] {
                same(device.rotate(&dx, step), cpu.rotate(&x, step), "rotation");
            }
            same(device.swap_rows(&dx), cpu.swap_rows(&x), "swap of the rows");
        }
        same(device.dot(&[&dx, &dy], &[&dy, &dy]), cpu.dot(&[&x, &y], &[&y, &y]), "dot product");
        same(device.multiply(&dx, &dy), cpu.multiply(&x, &y), "product");
        same(device.drop_level(&dy), cpu.drop_level(&y), "lowered");
        if level == Level::LOWEST {
            break;
        }
        (dx, dy) = (device.multiply(&dx, &dy).unwrap(), device.drop_level(&dy).unwrap());
        (x, y) = (cpu.multiply(&x, &y).unwrap(), cpu.drop_level(&y).unwrap());
    }
}

#[test]
fn operations_of_bgv_are_those_of_the_cpu() {
    for set in ["slots-64-2", "slots-64-3", "wide-32-1", "wide-64-3", "bits-64-3", "boot-64-2"] {
        operations_agree(set);
    }
}

#[test]
fn operations_of_a_secure_set_of_bgv_are_those_of_the_cpu() {
    operations_agree("slots128-8192-3");
}

#[test]
fn bootstraps_of_bgv_are_those_of_the_cpu() {
    let params = named("boot-64-2");
    let (key, _) = key(&params, 2);
    let (cpu, stream) = (Evaluator::new(&key), stream(2));
    let device = Evaluator::on(Engine::new(&stream, Arc::clone(&key)).unwrap());
    for bit in [0, 1] {
        let mut plaintext = vec![0; params.dimension()];
        plaintext[0] = bit;
        let fresh = key.public().encrypt(&plaintext, &mut key.public().encryption_rng(bit).unwrap()).unwrap();
        let lowest = cpu.automatic().at_level(&fresh, Level::LOWEST).unwrap();
        for x in [fresh, lowest] {
            let want = cpu.bootstrap(&x).unwrap();
            let got = device.bootstrap(&device.upload(x.clone()).unwrap()).unwrap();
            assert!(device.download(&got).unwrap() == want, "bit {bit} from level {}", x.level());
            let product = device.multiply(&got, &got).unwrap();
            assert!(device.download(&product).unwrap() == cpu.multiply(&want, &want).unwrap());
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let params = named("slots-64-2");
    let ((one, x), (_, y)) = (key(&params, 3), key(&params, 4));
    let device = Evaluator::on(Engine::new(&stream(3), Arc::clone(&one)).unwrap());
    assert!(matches!(device.upload(y[0].clone()), Err(SchemeError::KeyMismatch { .. })));
    let cpu = Evaluator::new(&one);
    let product = cpu.tensor(&x[0], &x[1]).unwrap();
    assert!(matches!(device.upload(product.clone()), Err(SchemeError::Parts { .. })));
    let product = cpu.relinearize(&product).unwrap();
    assert!(matches!(device.upload(product.clone()), Err(SchemeError::Stage { .. })));
    let value = device.upload(x[0].clone()).unwrap();
    let error = device.bootstrap(&value).unwrap_err();
    assert_eq!(error.to_string(), cpu.bootstrap(&x[0]).unwrap_err().to_string());
    let below = device.drop_level(&value).unwrap();
    assert!(matches!(device.add(&value, &below), Err(SchemeError::LevelMismatch { .. })));
    let sum = device.automatic().add(&value, &below).unwrap();
    let want = cpu.automatic().add(&x[0], &cpu.drop_level(&x[0]).unwrap()).unwrap();
    assert!(*sum.numbers().read().unwrap() == *want.parts());
    let literal = ParamsLiteral { switching: KeySwitching::Digits { bits: 8 }, ..params.literal().clone() };
    let (bits, _) = key(&Params::try_from(literal).unwrap(), 5);
    assert!(matches!(Engine::new(&stream(5), Arc::clone(&bits)), Err(Error::Unsupported { .. })));
}

/// The pool rounds small buffers up, and the work of a product comes on top of what a key holds.
#[test]
fn the_bytes_of_a_key_of_bgv_are_estimated() {
    for (set, seed) in [("bits128-8192-6", 6), ("boot-1024-2", 7)] {
        let ((key, _), stream) = (key(&named(set), seed), stream(seed));
        let engine = Engine::new(&stream, Arc::clone(&key)).unwrap();
        let (held, estimate) = (stream.device().live_bytes() as f64, Engine::size_of(&key) as f64);
        println!("{set}: {held} bytes, estimated {estimate}");
        assert!((0.5..1.5).contains(&(held / estimate)), "{set}: {held} bytes, estimated {estimate}");
        drop(engine);
    }
}
