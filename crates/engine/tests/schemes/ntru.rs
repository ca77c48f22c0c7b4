//! Circuits and programs under NTRU agree with plain arithmetic.

use super::common::{
    self, Setup, check_bootstraps, check_gates, check_levels_used_up, check_long_sums, check_mixed_levels,
    check_random_circuits, check_refused,
};
use solinas_engine::{
    Ciphertext, ClientKey, Control, EncryptionKey, Error, Form, Inputs, KeygenOptions, Natural, Plain, Program,
    ProgramBuilder, Server, ServerKey, Type, Work, cost, program::Op,
};
use std::sync::OnceLock;

fn options(params: &str, seed: u64) -> KeygenOptions {
    common::options("ntru", params, seed)
}

/// Bits, twelve products in a row.
fn bits() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| Setup::new("ntru", "tight-64-12", 1))
}

/// Vectors of 128 integers modulo 257, three products in a row.
fn slots() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| Setup::new("ntru", "slots-128-3", 1))
}

#[test]
fn elements_of_an_array_may_be_at_different_levels() {
    check_mixed_levels(bits());
}

#[test]
fn random_circuits_give_what_plain_evaluation_gives() {
    check_random_circuits(bits(), 60, 40, 41);
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
    let (x, y) = (encrypt(&[200, 3]), encrypt(&[99, 255]));
    assert_eq!(x.condition().unwrap().products, Some(12));
    for (name, want) in [("add", [43, 2]), ("sub", [101, 4]), ("max", [200, 255]), ("xor", [171, 252])] {
        let program = Program::from_op(name, &[u8, u8]).unwrap();
        assert_eq!(setup.run(&program, &[x.clone(), y.clone()]).unwrap(), want, "{name}");
    }
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let estimate = setup
        .server
        .prepare(Work::program(&add, &[x.clone(), y.clone()]), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap();
    assert_eq!(estimate.products, 2 * cost(&add, "tight-64-12").unwrap().products);
    assert!(estimate.depth <= 6 && estimate.seconds > 0.0, "{estimate:?}");
    let message = check_levels_used_up(setup);
    assert!(message.contains("`solinas params find --scheme ntru --depth "), "{message}");
    let deep = Program::from_op("div", &[u8, u8]).unwrap();
    let message = setup
        .server
        .prepare(Work::program(&deep, Inputs::Fresh { instances: 1 }), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap_err()
        .to_string();
    assert!(message.contains("it takes ") && message.contains("allow 12; have fewer products"), "{message}");
}

/// `(a - b) (a b + 5) - 3 a`.
fn polynomial(ty: Type) -> Program {
    let mut b = ProgramBuilder::new();
    let (x, y) = (b.input("a", ty).unwrap(), b.input("b", ty).unwrap());
    let modulus = u128::from(ty.modulus().unwrap());
    let [five, three] = [5, 3].map(|value| b.constant(value % modulus, ty).unwrap());
    let difference = b.op(Op::Sub, &[x, y]).unwrap();
    let product = b.op(Op::Mul, &[x, y]).unwrap();
    let more = b.op(Op::Add, &[five, product]).unwrap();
    let product = b.op(Op::Mul, &[difference, more]).unwrap();
    let triple = b.op(Op::Mul, &[three, x]).unwrap();
    let result = b.op(Op::Sub, &[product, triple]).unwrap();
    b.output("result", result);
    b.finish().unwrap()
}

#[test]
fn vectors_of_slots_run_programs_of_any_length_with_scalars() {
    let setup = slots();
    let ty = Type::Mod(257);
    let program = polynomial(ty);
    let encrypt = |shape: Option<Vec<usize>>, values: &[u128]| {
        setup.client.encrypt(&Plain::new(ty, shape, values.to_vec()).unwrap()).unwrap()
    };
    let scalar = encrypt(None, &[256]);
    // Less than a polynomial, one, more than two.
    for len in [1, 128, 300] {
        let values: Vec<u128> = (0..len as u128).map(|i| i * i % 257).collect();
        let x = encrypt(Some(vec![len]), &values);
        assert_eq!((x.form(), x.len()), (Form::Slots, len));
        let y = encrypt(Some(vec![len]), &values.iter().rev().copied().collect::<Vec<_>>());
        let want = |y: &dyn Fn(usize) -> u128| -> Vec<Natural> {
            (0..len).map(|i| program.evaluate(&[values[i], y(i)]).unwrap()[0].clone()).collect()
        };
        assert_eq!(setup.run(&program, &[x.clone(), y]).unwrap(), want(&|i| values[len - 1 - i]), "{len}");
        assert_eq!(setup.run(&program, &[x, scalar.clone()]).unwrap(), want(&|_| 256), "{len}");
    }
    let want = program.evaluate(&[256, 256]).unwrap();
    assert_eq!(setup.run(&program, &[scalar.clone(), scalar.clone()]).unwrap(), want);
    let estimate = setup
        .server
        .prepare(Work::program(&program, Inputs::Fresh { instances: 300 }), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap();
    assert_eq!((estimate.products, estimate.depth), (3 * 2, 2), "three polynomials, two products each");
    // As a matrix.
    let matrix = encrypt(Some(vec![2, 3]), &[1, 2, 3, 4, 5, 6]);
    let neg = Program::from_op("neg", &[ty]).unwrap();
    let out = setup.server.run(Work::program(&neg, &[matrix]), &Control::default()).unwrap().swap_remove(0);
    assert_eq!(out.shape(), Some(&[2, 3][..]));
    assert_eq!(setup.client.decrypt(&out).unwrap().to_strings(), ["256", "255", "254", "253", "252", "251"]);
}

#[test]
fn sets_without_slots_compute_on_single_values() {
    for (params, modulus) in [("n256-d2-p3", 3), ("n256-d2-p4-t2", 4)] {
        let setup = Setup::new("ntru", params, 1);
        let program = polynomial(Type::Mod(modulus));
        let encrypt =
            |value| setup.client.encrypt(&Plain::new(Type::Mod(modulus), None, vec![value]).unwrap()).unwrap();
        let [x, y] = [2, 1].map(encrypt);
        assert_eq!(setup.client.decrypt(&x).unwrap().values, [2]);
        assert_eq!(setup.run(&program, &[x, y]).unwrap(), program.evaluate(&[2, 1]).unwrap(), "{params}");
    }
}

#[test]
fn files_keep_values_levels_and_noise() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (setup, ty) in [(bits(), Type::Int(4)), (slots(), Type::Mod(257))] {
        setup.client.save(&at("client.key"), true).unwrap();
        setup.key.save(&at("server.key"), true).unwrap();
        let client = ClientKey::load(&at("client.key")).unwrap().allow_research();
        let server = Server::new(&ServerKey::load(&at("server.key")).unwrap(), Some(1)).unwrap();
        // The server key encrypts, too.
        let public = EncryptionKey::load(&at("server.key")).unwrap().allow_research();
        assert_eq!((public.key_id(), public.params().scheme.name()), (client.key_id(), "ntru"));
        let plain = Plain::parse(ty, &["3", "5", "7"], Some(vec![3])).unwrap();
        let mul = Program::from_op("mul", &[ty, ty]).unwrap();
        for x in [client.encrypt(&plain).unwrap(), public.encrypt(&plain).unwrap()] {
            let out = server.run(Work::program(&mul, &[x.clone(), x]), &Control::default()).unwrap().swap_remove(0);
            out.save(&at("y.ct")).unwrap();
            let loaded = Ciphertext::load(&at("y.ct")).unwrap();
            assert_eq!(loaded, out);
            assert_eq!(loaded.condition(), out.condition());
            assert!(out.condition().unwrap().products < Some(setup.client.params().depth.unwrap()));
            let values = client.decrypt(&Ciphertext::from_bytes(&loaded.to_bytes().unwrap()).unwrap()).unwrap().values;
            let want = if ty.modulus().is_some() { [9, 25, 49] } else { [9, 9, 1] };
            assert_eq!(values, want);
        }
    }
}

#[test]
fn mistakes_get_typed_errors() {
    let (bits, slots) = (bits(), slots());
    let plain = |ty| Plain::scalar(ty, 1).unwrap();
    let (u8, residue) = (Type::Uint(8), Type::Mod(257));
    let message = slots.client.encrypt(&plain(u8)).unwrap_err().to_string();
    assert!(message.contains("slots-128-3 holds mod257, not u8"), "{message}");
    assert!(bits.client.encrypt(&plain(residue)).is_err() && slots.client.encrypt(&plain(Type::Mod(251))).is_err());
    let add = |ty| Program::from_op("add", &[ty, ty]).unwrap();
    assert!(matches!(
        slots
            .server
            .prepare(Work::program(&add(u8), Inputs::Fresh { instances: 1 }), &Control::default())
            .and_then(|work| work.estimate(&Control::default())),
        Err(Error::Modular { .. })
    ));
    let message = bits
        .server
        .prepare(Work::program(&add(residue), Inputs::Fresh { instances: 1 }), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap_err()
        .to_string();
    assert!(message.contains("gates cannot compute mod257 values") && message.contains("ntru"), "{message}");
    for params in ["gates-40", "integers", "ci-15"] {
        assert!(cost(&add(residue), params).unwrap_err().to_string().contains("scheme ntru"), "{params}");
    }
    let x = bits.client.encrypt(&plain(u8)).unwrap();
    let error = bits.server.run(Work::Convert { ciphertext: &x, form: Form::Radix }, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("scheme ntru has no radix ciphertexts"), "{error}");
    let foreign = Setup::new("ntru", "tight-64-12", 2).client.encrypt(&plain(u8)).unwrap();
    let run = bits.server.run(Work::program(&add(u8), &[x, foreign]), &Control::default());
    assert!(matches!(run, Err(Error::KeyMismatch { .. })), "{run:?}");
    check_refused(KeygenOptions { research: false, ..options("tight-64-12", 1) }, "--research");
    check_refused(options("tight-64", 1), "there is no NTRU parameter set");
    check_refused(options("tight-63-2", 1), "power of two");
}

#[test]
fn a_key_that_bootstraps_runs_circuits_of_any_depth() {
    let setup = Setup::new("ntru", "boot-64", 1);
    check_bootstraps(&setup);
    // A prefix network, that the levels of fresh ciphertexts do for.
    let add = Program::from_op("add", &[Type::Uint(64); 2]).unwrap();
    assert_eq!(cost(&add, "boot-64").unwrap().bootstraps, 0);
}

#[test]
fn sums_of_any_length_are_bootstrapped_before_it_is_too_late() {
    check_long_sums(&Setup::new("ntru", "boot-64", 2));
}
