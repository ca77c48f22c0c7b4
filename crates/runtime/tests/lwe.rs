//! Circuits and programs under leveled LWE agree with plain arithmetic.

#![allow(clippy::unwrap_used, reason = "tests")]

mod random_circuit;

use solinas_circuits::{BinaryOp, Builder};
use solinas_runtime::{
    Ciphertext, ClientKey, Control, EncryptionKey, Error, Form, KeygenOptions, Plain, Program, Progress, Scheme,
    Server, ServerKey, Type, cost, keygen,
};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

struct Setup {
    client: ClientKey,
    key: ServerKey,
    server: Server,
}

fn options(params: &str, seed: u64) -> KeygenOptions {
    KeygenOptions {
        scheme: Scheme::Lwe,
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(seed),
        ..Default::default()
    }
}

fn make(params: &str, seed: u64) -> Setup {
    let (client, key) = keygen(&options(params, seed), &Control::default()).unwrap();
    let server = Server::new(&key, Some(2)).unwrap();
    Setup { client, key, server }
}

/// Nine products in a row.
fn bits() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| make("leveled-8-9", 1))
}

fn run(setup: &Setup, program: &Program, inputs: &[Ciphertext]) -> Result<Vec<u128>, Error> {
    let out = setup.server.run(program, inputs, &Control::default())?;
    Ok(setup.client.decrypt(&out[0])?.values)
}

#[test]
fn random_circuits_give_what_plain_evaluation_gives() {
    // Of a set with three levels, where the levels of lanes differ, and of one with more.
    for (setup, depth, most) in [(&make("leveled-16-3", 1), 3, 12), (bits(), 9, 30)] {
        let Setup { client, server, .. } = setup;
        let (mut run, mut refused) = (0, 0);
        for seed in 0..40 {
            let mut rng = random_circuit::rng(seed);
            let netlist = random_circuit::circuit(&mut rng, most);
            match random_circuit::agrees(client, server, &netlist, seed % 2 == 1, &mut rng) {
                Ok(agrees) => {
                    assert!(agrees, "seed {seed}");
                    run += 1;
                }
                Err(Error::Levels { need, left, .. }) => {
                    assert!(need > 0 && left == depth, "{need} {left}");
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(run >= 20 && run + refused == 40, "{run} {refused}");
    }
}

#[test]
fn every_gate_on_every_input() {
    let Setup { client, server, .. } = bits();
    let mut b = Builder::verbatim();
    let [x, y, z] = ["x", "y", "z"].map(|name| b.input(name, 1, false)[0]);
    let mut outputs: Vec<_> = BinaryOp::ALL.iter().map(|&op| b.binary(op, x, y)).collect();
    outputs.extend([b.not(x), b.constant(true), b.constant(false), b.mux(x, y, z), b.xor3(x, y, z), b.maj(x, y, z)]);
    b.output("out", &outputs, false);
    let netlist = b.finish().unwrap();
    let lane = |bit: usize| (0..8).map(|i| i >> bit & 1).collect::<Vec<u128>>();
    let inputs: Vec<_> =
        (0..3).map(|bit| client.encrypt(&Plain::new(Type::Bool, Some(vec![8]), lane(bit)).unwrap()).unwrap()).collect();
    let out = server.run_circuit_as_is(&netlist, &inputs, &Control::default()).unwrap();
    let want: Vec<u128> = (0..8u128).map(|i| netlist.evaluate(&[i & 1, i >> 1 & 1, i >> 2]).unwrap()[0]).collect();
    assert_eq!(client.decrypt(&out[0]).unwrap().values, want);
}

#[test]
fn programs_run_until_the_levels_are_used_up() {
    let setup = bits();
    let u8 = Type::Uint(8);
    let encrypt = |values: &[u128]| {
        setup.client.encrypt(&Plain::new(u8, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
    };
    let (x, y) = (encrypt(&[200, 3, 77]), encrypt(&[99, 255, 77]));
    assert_eq!(x.condition().unwrap().products, Some(9));
    for (name, want) in [("add", [43, 2, 154]), ("sub", [101, 4, 0]), ("max", [200, 255, 77]), ("xor", [171, 252, 0])] {
        let program = Program::from_op(name, &[u8, u8]).unwrap();
        assert_eq!(run(setup, &program, &[x.clone(), y.clone()]).unwrap(), want, "{name}");
    }
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let estimate = setup.server.estimate_inputs(&add, &[x, y]).unwrap();
    assert_eq!(estimate.products, 3 * cost(&add, "leveled-8-9").unwrap().products);
    assert!(estimate.depth <= 6 && estimate.seconds > 0.0, "{estimate:?}");
    assert!(estimate.to_string().contains(" products, depth "), "{estimate}");
    // Results go on as inputs, at their levels, until there is none.
    let u4 = Type::Uint(4);
    let mul = Program::from_op("mul", &[u4, u4]).unwrap();
    let y = setup.client.encrypt(&Plain::unsigned(u4, 7).unwrap()).unwrap();
    let (mut product, mut want, mut runs) = (y.clone(), 7, 0);
    let error = loop {
        match setup.server.run(&mul, &[product.clone(), y.clone()], &Control::default()) {
            Ok(mut out) => product = out.swap_remove(0),
            Err(error) => break error,
        }
        want = (want * 7) & 15;
        runs += 1;
        assert_eq!(setup.client.decrypt(&product).unwrap().values, [want]);
    };
    assert!((2..=9).contains(&runs), "{runs}");
    let message = error.to_string();
    assert!(matches!(error, Error::Levels { depth: 9, .. }), "{message}");
    assert!(message.contains("encrypt its inputs again") && message.contains("leveled-64-"), "{message}");
    assert!(matches!(setup.server.estimate_inputs(&mul, &[product, y]), Err(Error::Levels { .. })), "when planned");
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
    let setup = make("toy-64-2", 1);
    let bit = Type::Bool;
    let xor = Program::from_op("xor", &[bit, bit]).unwrap();
    let encrypt = |value| setup.client.encrypt(&Plain::new(bit, None, vec![value]).unwrap()).unwrap();
    let (mut sum, one) = (encrypt(1), encrypt(1));
    assert_eq!(sum.condition().unwrap().products, Some(0));
    let mut rounds = 0;
    let error = loop {
        let other = if rounds % 2 == 0 { sum.clone() } else { one.clone() };
        match setup.server.run(&xor, &[sum.clone(), other], &Control::default()) {
            Ok(mut out) => sum = out.swap_remove(0),
            Err(error) => break error,
        }
        rounds += 1;
        assert_eq!(setup.client.decrypt(&sum).unwrap().values, [u128::from(rounds % 2 == 0)], "round {rounds}");
    };
    assert!(rounds > 60 && matches!(error, Error::Levels { depth: 0, .. }), "{rounds} {error}");
    let and = Program::from_op("and", &[bit, bit]).unwrap();
    assert!(matches!(run(&setup, &and, &[one.clone(), one]), Err(Error::Levels { need: 1, left: 0, .. })));
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
    let [again, of_server] = ["client.key", "server.key"].map(|name| EncryptionKey::load(&path(name)).unwrap());
    let y = of_server.encrypt(&Plain::unsigned(u8, 99).unwrap()).unwrap();
    assert_eq!((again.key_id(), y.key_id()), (client.key_id(), client.key_id()));
    let server_again = Server::new(&ServerKey::load(&path("server.key")).unwrap(), Some(1)).unwrap();
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let inputs = [Ciphertext::load(&path("x.ct")).unwrap(), y];
    let out = server_again.run(&add, &inputs, &Control::default()).unwrap();
    assert_eq!(out, server.run(&add, &inputs, &Control::default()).unwrap());
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
    let plain = |ty| Plain::unsigned(ty, 1).unwrap();
    let message = bits.client.encrypt(&plain(Type::Mod(257))).unwrap_err().to_string();
    assert!(message.contains("leveled-8-9 holds bits, not mod257"), "{message}");
    let x = bits.client.encrypt(&plain(u8)).unwrap();
    let error = bits.server.convert(&x, Form::Radix, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("scheme lwe has no radix ciphertexts"), "{error}");
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let foreign = make("leveled-8-9", 2).client.encrypt(&plain(u8)).unwrap();
    let run = bits.server.run(&add, &[x, foreign], &Control::default());
    assert!(matches!(run, Err(Error::KeyMismatch { .. })), "{run:?}");
    let refused = |options: KeygenOptions, word: &str| {
        let message = keygen(&options, &Control::default()).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    for params in ["leveled-8-9", "paper-9326", "toy-64-2"] {
        refused(KeygenOptions { research: false, ..options(params, 1) }, "--research");
    }
    refused(options("leveled-64", 1), "there is no LWE parameter set");
    refused(options("leveled-4000-2", 1), "dimension 4000");
    refused(KeygenOptions { rotations: true, ..options("leveled-8-9", 1) }, "no slots to rotate");
    refused(KeygenOptions { scheme: Scheme::Tfhe, ..options("leveled-8-9", 1) }, "--scheme lwe");
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
    let x = client.encrypt(&Plain::unsigned(u8, 3).unwrap()).unwrap();
    let and = Program::from_op("and", &[u8, u8]).unwrap();
    let stop = AtomicBool::new(true);
    let control = Control { progress: None, cancel: Some(&stop) };
    assert!(matches!(server.run(&and, &[x.clone(), x], &control), Err(Error::Cancelled)));
    let server = make("leveled-8-3", 2).server;
    assert!(matches!(server.estimate_watched(&and, 1, &control), Err(Error::Cancelled)));
    assert!(server.estimate(&and, 1).unwrap().seconds > 0.0);
    // Nothing is left to be measured.
    assert!(server.estimate_watched(&and, 1, &control).is_ok());
}
