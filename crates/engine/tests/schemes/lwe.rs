//! Circuits and programs under leveled LWE agree with plain arithmetic.

use super::common::{
    self, Setup, check_gates, check_levels_used_up, check_mixed_levels, check_random_circuits, check_refused,
};
use solinas_engine::{
    Ciphertext, ClientKey, Control, EncryptionKey, Error, Form, Inputs, KeygenOptions, Plain, Program, Progress,
    Server, ServerKey, Type, Work, cost, keygen,
};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn options(params: &str, seed: u64) -> KeygenOptions {
    common::options("lwe", params, seed)
}

/// Nine products in a row.
fn bits() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| Setup::new("lwe", "leveled-8-9", 1))
}

#[test]
fn elements_of_an_array_may_be_at_different_levels() {
    check_mixed_levels(bits());
}

#[test]
fn random_circuits_give_what_plain_evaluation_gives() {
    // The first set has three levels, and the levels of lanes differ. The second set has more levels.
    check_random_circuits(&Setup::new("lwe", "leveled-16-3", 1), 40, 12, 20);
    check_random_circuits(bits(), 40, 30, 20);
}

#[test]
fn every_gate_on_every_input() {
    check_gates(bits());
}

#[test]
fn programs_run_until_the_levels_are_used_up() {
    let setup = bits();
    let u8 = Type::Uint(8);
    let encrypt = |values: &[u128]| setup.vector(u8, values);
    let (x, y) = (encrypt(&[200, 3, 77]), encrypt(&[99, 255, 77]));
    assert_eq!(x.condition().unwrap().products, Some(9));
    for (name, want) in [("add", [43, 2, 154]), ("sub", [101, 4, 0]), ("max", [200, 255, 77]), ("xor", [171, 252, 0])] {
        let program = Program::from_op(name, &[u8, u8]).unwrap();
        assert_eq!(setup.run(&program, &[x.clone(), y.clone()]).unwrap(), want, "{name}");
    }
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let estimate = setup
        .server
        .prepare(Work::program(&add, &[x, y]), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap();
    assert_eq!(estimate.products, 3 * cost(&add, "leveled-8-9").unwrap().products);
    assert!(estimate.depth <= 6 && estimate.seconds > 0.0, "{estimate:?}");
    assert!(estimate.to_string().contains(" products, depth "), "{estimate}");
    let message = check_levels_used_up(setup);
    assert!(message.contains("leveled-64-"), "{message}");
}

#[test]
fn a_secure_set_says_before_it_runs_what_it_cannot_do() {
    let bit = Type::Bool;
    assert_eq!(cost(&Program::from_op("and", &[bit, bit]).unwrap(), "leveled-secure-1").unwrap().products, 1);
    let u8 = Type::Uint(8);
    let message = cost(&Program::from_op("add", &[u8, u8]).unwrap(), "leveled-secure-1").unwrap_err().to_string();
    assert!(message.contains("allow 1;") && message.contains("scheme bgv"), "{message}");
    let u2 = Type::Uint(2);
    let message = cost(&Program::from_op("mul", &[u2, u2]).unwrap(), "secure-62").unwrap_err().to_string();
    assert!(message.contains("allow 0;") && message.contains("make keys of leveled-secure-"), "{message}");
}

#[test]
fn sets_without_products_add_until_the_noise_is_too_large() {
    let setup = Setup::new("lwe", "toy-64-2", 1);
    let bit = Type::Bool;
    let xor = Program::from_op("xor", &[bit, bit]).unwrap();
    let encrypt = |value| setup.scalar(bit, value);
    let (mut sum, one) = (encrypt(1), encrypt(1));
    assert_eq!(sum.condition().unwrap().products, Some(0));
    let mut rounds = 0;
    let error = loop {
        let other = if rounds % 2 == 0 { sum.clone() } else { one.clone() };
        match setup.server.run(Work::program(&xor, &[sum.clone(), other]), &Control::default()) {
            Ok(mut out) => sum = out.swap_remove(0),
            Err(error) => break error,
        }
        rounds += 1;
        assert_eq!(setup.client.decrypt(&sum).unwrap().values, [u128::from(rounds % 2 == 0)], "round {rounds}");
    };
    assert!(rounds > 60 && matches!(error, Error::Levels { depth: 0, .. }), "{rounds} {error}");
    let and = Program::from_op("and", &[bit, bit]).unwrap();
    assert!(matches!(setup.run(&and, &[one.clone(), one]), Err(Error::Levels { need: 1, left: 0, .. })));
}

#[test]
fn files_and_bytes_keep_keys_and_ciphertexts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let Setup { client, key, server } = bits();
    let u8 = Type::Uint(8);
    client.save(&path("client.key"), false).unwrap();
    key.save(&path("server.key"), false).unwrap();
    let x = client.encrypt(&Plain::new(u8, Some(vec![2]), vec![200, 3]).unwrap()).unwrap();
    x.save(&path("x.ct")).unwrap();
    assert_eq!(Ciphertext::load(&path("x.ct")).unwrap(), x);
    assert_eq!(Ciphertext::from_bytes(&x.to_bytes().unwrap()).unwrap(), x);
    let [again, of_server] =
        ["client.key", "server.key"].map(|name| EncryptionKey::load(&path(name)).unwrap().allow_research());
    let y = of_server.encrypt(&Plain::scalar(u8, 99).unwrap()).unwrap();
    assert_eq!((again.key_id(), y.key_id()), (client.key_id(), client.key_id()));
    let server_again = Server::new(&ServerKey::load(&path("server.key")).unwrap(), Some(1)).unwrap();
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let inputs = [Ciphertext::load(&path("x.ct")).unwrap(), y];
    let out = server_again.run(Work::program(&add, &inputs), &Control::default()).unwrap();
    assert_eq!(out, server.run(Work::program(&add, &inputs), &Control::default()).unwrap());
    assert_eq!(ClientKey::load(&path("client.key")).unwrap().decrypt(&out[0]).unwrap().values, [43, 102]);
    let bytes = std::fs::metadata(path("server.key")).unwrap().len() as usize;
    let stored = key.params().server_key_bytes;
    assert!((stored..stored + stored / 50 + 8192).contains(&bytes), "{stored} {bytes}");
    // Elements are taken apart and put together.
    let y = Ciphertext::stack(vec![x.get(1).unwrap(), x.get(0).unwrap()]).unwrap();
    assert_eq!(client.decrypt(&y).unwrap().values, [3, 200]);
}

#[test]
fn mistakes_get_typed_errors() {
    let bits = bits();
    let u8 = Type::Uint(8);
    let plain = |ty| Plain::scalar(ty, 1).unwrap();
    let message = bits.client.encrypt(&plain(Type::Mod(257))).unwrap_err().to_string();
    assert!(message.contains("leveled-8-9 holds bools and integers such as u8, not mod257"), "{message}");
    let x = bits.client.encrypt(&plain(u8)).unwrap();
    let error = bits.server.run(Work::Convert { ciphertext: &x, form: Form::Radix }, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("scheme lwe has no radix ciphertexts"), "{error}");
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let foreign = Setup::new("lwe", "leveled-8-9", 2).client.encrypt(&plain(u8)).unwrap();
    let run = bits.server.run(Work::program(&add, &[x, foreign]), &Control::default());
    assert!(matches!(run, Err(Error::KeyMismatch { .. })), "{run:?}");
    for params in ["leveled-8-9", "paper-9326", "toy-64-2"] {
        check_refused(KeygenOptions { research: false, ..options(params, 1) }, "--research");
    }
    check_refused(options("leveled-64", 1), "there is no LWE parameter set");
    check_refused(options("leveled-4000-2", 1), "dimension 4000");
    check_refused(KeygenOptions { rotations: true, ..options("leveled-8-9", 1) }, "no slots to rotate");
    check_refused(KeygenOptions { scheme: "tfhe".parse().unwrap(), ..options("leveled-8-9", 1) }, "--scheme lwe");
}

#[test]
fn keys_and_products_are_watched_and_stopped() {
    let heard = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let listen = |progress: Progress| {
        heard.fetch_max(progress.done, Ordering::Relaxed);
        stop.store(progress.done == 2, Ordering::Relaxed);
    };
    let control = Control { progress: Some(&listen), cancel: Some(&stop) };
    assert!(matches!(keygen(&options("leveled-64-3", 1), &control), Err(Error::Cancelled)));
    assert_eq!(heard.into_inner(), 2);
    let Setup { client, server, .. } = bits();
    let u8 = Type::Uint(8);
    let x = client.encrypt(&Plain::scalar(u8, 3).unwrap()).unwrap();
    let and = Program::from_op("and", &[u8, u8]).unwrap();
    let stop = AtomicBool::new(true);
    let control = Control { progress: None, cancel: Some(&stop) };
    assert!(matches!(server.run(Work::program(&and, &[x.clone(), x]), &control), Err(Error::Cancelled)));
    let server = Setup::new("lwe", "leveled-8-3", 2).server;
    assert!(matches!(
        server
            .prepare(Work::program(&and, Inputs::Fresh { instances: 1 }), &control)
            .and_then(|work| work.estimate(&control)),
        Err(Error::Cancelled)
    ));
    assert!(
        server
            .prepare(Work::program(&and, Inputs::Fresh { instances: 1 }), &Control::default())
            .and_then(|work| work.estimate(&Control::default()))
            .unwrap()
            .seconds
            > 0.0
    );
    // Nothing is left to be measured.
    assert!(
        server
            .prepare(Work::program(&and, Inputs::Fresh { instances: 1 }), &control)
            .and_then(|work| work.estimate(&control))
            .is_ok()
    );
}
