//! Circuits and programs under BGV agree with plain arithmetic.

use super::common::{
    self, Setup, check_bootstraps, check_long_sums, check_mixed_levels, check_random_circuits, check_refused,
};
use super::random_circuit;
use rand_core::RngCore;
use solinas_engine::{
    Ciphertext, ClientKey, Control, EncryptionKey, Error, Form, Inputs, KeygenOptions, Natural, Plain, Program,
    ProgramBuilder, Scheme, Server, ServerKey, Type, Work, cost, cost_under, keygen, program::Op,
};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

fn options(params: &str, seed: u64) -> KeygenOptions {
    common::options("bgv", params, seed)
}

/// Bits, twelve products in a row.
fn bits() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| Setup::new("bgv", "bits-64-12", 1))
}

const TY: Type = Type::Mod(65537);
const P: u128 = 65537;

/// Vectors of 128 integers modulo 65537, four products in a row.
fn slots() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| Setup::new("bgv", "slots-128-4", 1))
}

#[test]
fn elements_of_an_array_may_be_at_different_levels() {
    check_mixed_levels(bits());
}

#[test]
fn random_circuits_give_what_plain_evaluation_gives() {
    check_random_circuits(bits(), 40, 40, 26);
}

/// A random program of sums, differences, products, signs and constants on two inputs.
fn random_program(seed: u64) -> Program {
    let mut rng = random_circuit::rng(seed);
    let mut b = ProgramBuilder::new();
    let mut values = vec![b.input("a", TY).unwrap(), b.input("b", TY).unwrap()];
    values.push(b.constant(u128::from(rng.next_u64()) % P, TY).unwrap());
    for _ in 0..12 {
        let [x, y] = [0, 1].map(|_| values[rng.next_u64() as usize % values.len()]);
        let value = match rng.next_u64() % 5 {
            0 => b.op(Op::Sub, &[x, y]),
            1 => b.op(Op::Neg, &[x]),
            2 => b.op(Op::Add, &[x, y]),
            _ => b.op(Op::Mul, &[x, y]),
        };
        values.push(value.unwrap());
    }
    b.output("y", *values.last().unwrap());
    b.output("z", values[values.len() - 3]);
    b.finish().unwrap()
}

#[test]
fn random_programs_on_vectors_give_what_plain_evaluation_gives() {
    let setup = slots();
    let (x, y): (Vec<u128>, Vec<u128>) = (0..150).map(|i| (i * i * 7919 % P, (P - i) % P)).unzip();
    let inputs = [setup.vector(TY, &x), setup.vector(TY, &y)];
    let (mut run, mut refused) = (0, 0);
    for seed in 0..30 {
        let program = random_program(seed);
        match setup.server.run(Work::program(&program, &inputs), &Control::default()) {
            Ok(out) => {
                for (k, out) in out.iter().enumerate() {
                    let got = setup.client.decrypt(out).unwrap().values;
                    // A result that does not depend on an array is a scalar.
                    let len = if out.shape().is_some() { x.len() } else { 1 };
                    let want: Vec<Natural> =
                        (0..len).map(|i| program.evaluate(&[x[i], y[i]]).unwrap()[k].clone()).collect();
                    assert_eq!(got, want, "seed {seed}, output {k}");
                }
                run += 1;
            }
            Err(Error::Levels { .. }) => refused += 1,
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(run > 20, "{run} {refused}");
}

#[test]
fn vectors_of_any_length_go_with_scalars_and_results_go_on() {
    let setup = slots();
    let mul = Program::from_op("mul", &[TY, TY]).unwrap();
    let scalar = setup.scalar(TY, P - 1);
    for len in [1, 128, 300] {
        let values: Vec<u128> = (0..len as u128).map(|i| i * i % P).collect();
        let x = setup.vector(TY, &values);
        assert_eq!((x.form(), x.len()), (Form::Slots, len));
        let negative: Vec<u128> = values.iter().map(|x| (P - x) % P).collect();
        assert_eq!(setup.run(&mul, &[x, scalar.clone()]).unwrap(), negative, "{len}");
    }
    let estimate = setup
        .server
        .prepare(Work::program(&mul, Inputs::Fresh { instances: 300 }), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap();
    assert_eq!((estimate.products, estimate.depth, estimate.counts().as_str()), (3, 1, "3 products"));
    // Squared until no level is left.
    let square = {
        let mut b = ProgramBuilder::new();
        let x = b.input("x", TY).unwrap();
        let y = b.op(Op::Mul, &[x, x]).unwrap();
        b.output("y", y);
        b.finish().unwrap()
    };
    let (mut x, mut want) = (setup.vector(TY, &[3, 65535]), [3, 65535]);
    for left in (0..4).rev() {
        x = setup.server.run(Work::program(&square, &[x]), &Control::default()).unwrap().swap_remove(0);
        want = want.map(|x| x * x % P);
        assert_eq!(setup.client.decrypt(&x).unwrap().values, want);
        assert_eq!(x.condition().unwrap().products, Some(left));
    }
    let error = setup.server.run(Work::program(&square, &[x.clone()]), &Control::default()).unwrap_err();
    assert!(matches!(error, Error::Levels { depth: 4, left: 0, need: 1, .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("encrypt its inputs again")
            && message.contains("make keys of a deeper set, such as slots128-16384-7"),
        "{message}"
    );
    assert!(
        matches!(
            setup
                .server
                .prepare(Work::program(&square, &[x]), &Control::default())
                .and_then(|work| work.estimate(&Control::default())),
            Err(Error::Levels { .. })
        ),
        "told when planned"
    );
    // A constant as a result.
    let mut b = ProgramBuilder::new();
    b.input("x", TY).unwrap();
    let seven = b.constant(7, TY).unwrap();
    b.output("y", seven);
    let seven = setup
        .server
        .run(Work::program(&b.finish().unwrap(), &[setup.vector(TY, &[1, 2])]), &Control::default())
        .unwrap();
    let again = Ciphertext::from_bytes(&seven[0].to_bytes().unwrap()).unwrap();
    assert_eq!(setup.client.decrypt(&again).unwrap().values, [7]);
}

#[test]
fn integers_of_bits_run_until_the_levels_are_used_up() {
    let setup = bits();
    let u8 = Type::Uint(8);
    let encrypt = |values: &[u128]| setup.vector(u8, values);
    let (x, y) = (encrypt(&[200, 3]), encrypt(&[99, 255]));
    for (name, want) in [("add", [43, 2]), ("sub", [101, 4]), ("max", [200, 255]), ("xor", [171, 252])] {
        let program = Program::from_op(name, &[u8, u8]).unwrap();
        assert_eq!(setup.run(&program, &[x.clone(), y.clone()]).unwrap(), want, "{name}");
    }
    let deep = Program::from_op("div", &[u8, u8]).unwrap();
    let message = setup
        .server
        .prepare(Work::program(&deep, Inputs::Fresh { instances: 1 }), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap_err()
        .to_string();
    assert!(message.contains("allow 12; have fewer products"), "{message}");
    assert!(message.contains("a set that bootstraps, such as boot128-16384-8"), "{message}");
    let elements = Ciphertext::stack(vec![x.get(1).unwrap(), y.get(0).unwrap()]).unwrap();
    assert_eq!(setup.client.decrypt(&elements).unwrap().values, [3, 99]);
}

#[test]
fn files_keep_values_levels_and_noise() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (setup, ty) in [(bits(), Type::Int(4)), (slots(), TY)] {
        setup.client.save(&at("client.key"), true).unwrap();
        setup.key.save(&at("server.key"), true).unwrap();
        let bytes = std::fs::metadata(at("server.key")).unwrap().len() as usize;
        let stored = setup.key.params().server_key_bytes;
        assert!((stored..stored + stored / 50 + 8192).contains(&bytes), "{bytes} {stored}");
        let client = ClientKey::load(&at("client.key")).unwrap().allow_research();
        let server = Server::new(&ServerKey::load(&at("server.key")).unwrap(), Some(1)).unwrap();
        let public = EncryptionKey::load(&at("server.key")).unwrap().allow_research();
        assert_eq!((public.key_id(), public.params().scheme.name()), (client.key_id(), "bgv"));
        let plain = Plain::parse(ty, &["3", "5", "7"], Some(vec![3])).unwrap();
        let mul = Program::from_op("mul", &[ty, ty]).unwrap();
        let (seeded, whole) = (client.encrypt(&plain).unwrap(), public.encrypt(&plain).unwrap());
        // A client key replaces half of each ciphertext by a seed.
        let [small, large] = [&seeded, &whole].map(|x| x.to_bytes().unwrap().len());
        assert!(small < large * 3 / 4, "{small} {large}");
        for x in [seeded, whole] {
            let x = Ciphertext::from_bytes(&x.to_bytes().unwrap()).unwrap();
            let out = server.run(Work::program(&mul, &[x.clone(), x]), &Control::default()).unwrap().swap_remove(0);
            out.save(&at("y.ct")).unwrap();
            let loaded = Ciphertext::load(&at("y.ct")).unwrap();
            assert_eq!(loaded, out);
            assert_eq!(loaded.condition(), out.condition());
            assert!(out.condition().unwrap().products < Some(setup.client.params().depth.unwrap()));
            let want = if ty.modulus().is_some() { [9, 25, 49] } else { [9, 9, 1] };
            assert_eq!(client.decrypt(&loaded).unwrap().values, want);
        }
    }
}

#[test]
fn mistakes_get_typed_errors() {
    let (bits, slots) = (bits(), slots());
    let plain = |ty| Plain::scalar(ty, 1).unwrap();
    let u8 = Type::Uint(8);
    let message = slots.client.encrypt(&plain(u8)).unwrap_err().to_string();
    assert!(message.contains("slots-128-4 holds mod65537, not u8"), "{message}");
    assert!(bits.client.encrypt(&plain(TY)).is_err() && slots.client.encrypt(&plain(Type::Mod(257))).is_err());
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
        .prepare(Work::program(&add(TY), Inputs::Fresh { instances: 1 }), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap_err()
        .to_string();
    assert!(message.contains("gates cannot compute mod65537 values") && message.contains("bgv"), "{message}");
    let x = bits.client.encrypt(&plain(u8)).unwrap();
    let error = bits.server.run(Work::Convert { ciphertext: &x, form: Form::Radix }, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("scheme bgv has no radix ciphertexts"), "{error}");
    let foreign = Setup::new("bgv", "bits-64-12", 2).client.encrypt(&plain(u8)).unwrap();
    let run = bits.server.run(Work::program(&add(u8), &[x, foreign]), &Control::default());
    assert!(matches!(run, Err(Error::KeyMismatch { .. })), "{run:?}");
    let x = slots.vector(TY, &[1, 2]);
    assert!(matches!(x.get(0), Err(Error::Packed { slots: 128 })));
    check_refused(KeygenOptions { research: false, ..options("bits-64-12", 1) }, "--research");
    check_refused(options("bits-64", 1), "there is no BGV parameter set");
    check_refused(options("bits-63-2", 1), "power of two");
    assert!(cost(&add(TY), "slots128-8192-3").unwrap().products == 0);
    // Cancelled on the way.
    let (stop, count) = (AtomicBool::new(false), std::sync::atomic::AtomicU64::new(0));
    let progress = |_| {
        if count.fetch_add(1, Ordering::Relaxed) == 3 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let control = Control { progress: Some(&progress), cancel: Some(&stop) };
    assert!(matches!(keygen(&options("slots-128-4", 1), &control), Err(Error::Cancelled)));
}

#[test]
fn a_key_that_bootstraps_runs_circuits_of_any_depth() {
    let setup = Setup::new("bgv", "boot-64-2", 1);
    check_bootstraps(&setup);
    let u8 = Type::Uint(8);
    let div = Program::from_op("div", &[u8, u8]).unwrap();
    assert!(
        cost_under("bgv".parse::<Scheme>().unwrap(), &div, "boot128-16384-8", &Control::default()).unwrap().bootstraps
            > 0
    );
    // Where no set bootstraps, one that does is named.
    let message =
        cost_under("bgv".parse::<Scheme>().unwrap(), &div, "bits-64-2", &Control::default()).unwrap_err().to_string();
    assert!(message.contains("boot128-16384-8"), "{message}");
}

#[test]
fn sums_of_any_length_are_bootstrapped_before_it_is_too_late() {
    check_long_sums(&Setup::new("bgv", "boot-64-2", 2));
}
