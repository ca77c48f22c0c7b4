//! Ciphertexts of NTRU on the emulated device, against the evaluator of the CPU.

use super::stream;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::Error;
use solinas_gpu::ring::ntru::{Engine, Value};
use solinas_schemes::ntru::{Ciphertext, ClientKey, Evaluator, Params, ParamsLiteral, ServerKey};
use solinas_schemes::{Control, Entropy, Evaluate, Level};

/// A key of a set, and random ciphertexts.
fn key(set: &str, seed: u64) -> (ServerKey, Vec<Ciphertext>) {
    let params = Params::named(set).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut encrypt = |_| {
        let mut word = || rng.next_u64() % params.plaintext_modulus();
        let plaintext: Vec<u64> = (0..params.dimension()).map(|_| word()).collect();
        client.public().encrypt(&plaintext, &mut rng).unwrap()
    };
    let ciphertexts = (0..2).map(&mut encrypt).collect();
    (client.server_key(&Control::default()).unwrap(), ciphertexts)
}

/// Every operation at every level, with values that stay on the device from the first level to the last one.
fn operations_agree(set: &str) {
    let (key, ciphertexts) = key(set, 1);
    let (cpu, stream) = (Evaluator::new(&key), stream(1));
    let engine = Engine::new(&stream, &key).unwrap();
    let (mut x, mut y) = (ciphertexts[0].clone(), ciphertexts[1].clone());
    let (mut dx, mut dy): (Value, Value) = (engine.load(&x).unwrap(), engine.load(&y).unwrap());
    loop {
        let same = |got: Result<Value, Error>, want: Ciphertext, what: &str| {
            assert!(engine.store(&got.unwrap()).unwrap() == want, "{set}, {what} at level {}", x.level());
        };
        same(engine.add(&dx, &dy), cpu.add(&x, &y).unwrap(), "sum");
        same(engine.sub(&dx, &dy), cpu.sub(&x, &y).unwrap(), "difference");
        same(engine.negate(&dx), cpu.negate(&x).unwrap(), "negative");
        if x.level() == Level::LOWEST {
            break;
        }
        let product = cpu.multiply_without_switch(&x, &y).unwrap();
        let on_device = engine.load(&product).unwrap();
        same(engine.drop_level(&on_device), cpu.drop_level(&product).unwrap(), "lowered product");
        (dx, dy) = (engine.multiply(&dx, &dy).unwrap(), engine.drop_level(&dy).unwrap());
        (x, y) = (cpu.multiply(&x, &y).unwrap(), cpu.drop_level(&y).unwrap());
        assert!(engine.store(&dx).unwrap() == x, "{set}, product");
        assert!(engine.store(&dy).unwrap() == y, "{set}, lowered");
    }
    let want = cpu.multiply(&x, &y).unwrap_err();
    assert_eq!(engine.multiply(&dx, &dy).unwrap_err().to_string(), want.to_string());
    assert!(engine.drop_level(&dx).is_err());
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

#[test]
fn ciphertexts_of_another_key_and_level_are_refused() {
    let (stream, (one, x), (_, y)) = (stream(2), key("slots-128-3", 2), key("slots-128-3", 3));
    let engine = Engine::new(&stream, &one).unwrap();
    assert!(matches!(engine.load(&y[0]), Err(Error::Scheme(_))));
    let x = engine.load(&x[0]).unwrap();
    let below = engine.drop_level(&x).unwrap();
    let error = engine.add(&x, &below).unwrap_err();
    assert!(error.to_string().contains("level"), "{error}");
}

#[test]
fn parameters_of_several_dimensions_are_refused() {
    let literal = Params::named("paper-512-6").unwrap().literal().clone();
    let params =
        Params::try_from(ParamsLiteral { floor: Some(1.1), first_bits: None, bits: None, top_bits: None, ..literal })
            .unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(4), &Control::default()).unwrap();
    let error = Engine::new(&stream(3), &client.server_key(&Control::default()).unwrap()).unwrap_err();
    assert!(error.to_string().contains("rings of several dimensions"), "{error}");
}
