//! Programs across the elements of vectors of slots agree with plain evaluation.

#![allow(clippy::unwrap_used, reason = "tests")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_runtime::program::{Elements, Op};
use solinas_runtime::{
    Ciphertext, ClientKey, Control, Error, KeygenOptions, Plain, Program, ProgramBuilder, Progress, Scheme, Server,
    ServerKey, Type, cost, keygen,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Of polynomials of 128 slots, three products in a row.
const SET: &str = "slots-128-3";
const TY: Type = Type::Mod(257);

struct Setup {
    client: ClientKey,
    key: ServerKey,
    server: Server,
}

fn options(rotations: bool) -> KeygenOptions {
    KeygenOptions {
        scheme: Scheme::Ntru,
        params: Some(SET.into()),
        rotations,
        research: true,
        insecure_seed: Some(1),
        ..Default::default()
    }
}

fn setup() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| {
        let (client, key) = keygen(&options(true), &Control::default()).unwrap();
        let server = Server::new(&key, Some(2)).unwrap();
        Setup { client, key, server }
    })
}

fn numbers(rng: &mut ChaCha8Rng, count: usize) -> Vec<u128> {
    (0..count).map(|_| u128::from(rng.next_u32() % 257)).collect()
}

fn encrypt(elements: &Elements) -> Ciphertext {
    let shape = match elements {
        Elements::Scalar(_) => None,
        Elements::Array(values) => Some(vec![values.len()]),
    };
    setup().client.encrypt(&Plain::new(TY, shape, elements.values().to_vec()).unwrap()).unwrap()
}

fn decrypt(ciphertext: &Ciphertext) -> Elements {
    let plain = setup().client.decrypt(ciphertext).unwrap();
    match plain.shape {
        None => Elements::Scalar(plain.values[0]),
        Some(_) => Elements::Array(plain.values),
    }
}

fn run(program: &Program, inputs: &[Elements]) -> Result<Vec<Elements>, Error> {
    let inputs: Vec<_> = inputs.iter().map(encrypt).collect();
    Ok(setup().server.run(program, &inputs, &Control::default())?.iter().map(decrypt).collect())
}

#[test]
fn arrays_of_any_length_are_rotated_summed_and_multiplied() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (count, rotations) in [
        (1, vec![1]),
        (2, vec![1]),
        (5, vec![3, -1]),
        (64, vec![1, 63]),
        (65, vec![1, 64]),
        (128, vec![1, -1, 64, 77]),
        (130, vec![1, 129]),
        (300, vec![150, -1000]),
        (384, vec![128, 200]),
    ] {
        let [a, b] = [(); 2].map(|()| Elements::Array(numbers(&mut rng, count)));
        for by in rotations {
            let program = Program::rotation(TY, by).unwrap();
            let inputs = [a.clone()];
            assert_eq!(run(&program, &inputs).unwrap(), program.evaluate_arrays(&inputs).unwrap(), "{count} by {by}");
        }
        for (name, inputs) in [("sum", &[a.clone()][..]), ("dot", &[a.clone(), b.clone()])] {
            let program = Program::from_op(name, &vec![TY; inputs.len()]).unwrap();
            assert_eq!(run(&program, inputs).unwrap(), program.evaluate_arrays(inputs).unwrap(), "{name} of {count}");
        }
    }
}

/// A few operations, those across elements among them, on values of a scalar and two arrays.
fn random_program(rng: &mut ChaCha8Rng) -> Program {
    let mut builder = ProgramBuilder::new();
    let mut values: Vec<_> = ["a", "b", "c"].map(|name| builder.input(name, TY).unwrap()).into();
    values.push(builder.constant(u128::from(rng.next_u32() % 257), TY).unwrap());
    for _ in 0..6 {
        let mut pick = || values[rng.next_u32() as usize % values.len()];
        let (x, y) = (pick(), pick());
        let by = i64::from(rng.next_u32() % 301) - 150;
        let (op, args) = match rng.next_u32() % 8 {
            0 => (Op::Mul, vec![x, y]),
            1 | 2 => (Op::RotateElements(by), vec![x]),
            3 | 4 => (Op::SumElements, vec![x]),
            5 => (Op::Sub, vec![x, y]),
            6 => (Op::Neg, vec![x]),
            _ => (Op::Add, vec![x, y]),
        };
        values.push(builder.op(op, &args).unwrap());
    }
    for (index, &value) in values[4..].iter().rev().take(2).enumerate() {
        builder.output(format!("v{index}"), value);
    }
    builder.finish().unwrap()
}

#[test]
fn random_programs_give_what_plain_evaluation_gives_or_are_refused_before_they_run() {
    let mut refused = 0;
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let program = random_program(&mut rng);
        let count = [3, 64, 100, 128, 131][seed as usize % 5];
        let inputs = [
            Elements::Array(numbers(&mut rng, count)),
            Elements::Array(numbers(&mut rng, count)),
            Elements::Scalar(u128::from(rng.next_u32() % 257)),
        ];
        let want = program.evaluate_arrays(&inputs).unwrap();
        match run(&program, &inputs) {
            Ok(got) => assert_eq!(got, want, "seed {seed}"),
            Err(Error::Levels { .. }) => {
                refused += 1;
                let inputs: Vec<_> = inputs.iter().map(encrypt).collect();
                assert!(setup().server.count_inputs(&program, &inputs).is_err(), "seed {seed}");
            }
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(refused < 12, "{refused}");
}

#[test]
fn sums_of_results_leave_out_what_is_past_the_last_element() {
    // Not so after a constant is added, also in another run and from a file.
    let values = Elements::Array(vec![1, 2, 3]);
    let mut builder = ProgramBuilder::new();
    let a = builder.input("a", TY).unwrap();
    let one = builder.constant(1, TY).unwrap();
    let sum = builder.op(Op::Add, &[a, one]).unwrap();
    builder.output("result", sum);
    let more = builder.finish().unwrap();
    let Setup { server, .. } = setup();
    let control = Control::default();
    let moved = server.run(&more, &[encrypt(&values)], &control).unwrap().remove(0);
    let sum = Program::from_op("sum", &[TY]).unwrap();
    for (ciphertext, want, masks) in [(encrypt(&values), 6, 0.0), (moved, 9, 3.0)] {
        let stored = Ciphertext::from_bytes(&ciphertext.to_bytes().unwrap()).unwrap();
        assert!(stored == ciphertext);
        for ciphertext in [ciphertext, stored] {
            let before = ciphertext.condition().unwrap();
            let result = server.run(&sum, &[ciphertext], &control).unwrap().remove(0);
            assert_eq!(decrypt(&result), Elements::Scalar(want));
            // A mask takes some bits of noise, and a sum without one seven, of 128 slots.
            let after = result.condition().unwrap();
            assert_eq!(after.products, before.products);
            let took = before.margin - after.margin;
            assert!(took > 6.9 + masks && took < 8.0 + 5.0 * masks, "{took} {masks}");
        }
    }
}

#[test]
fn scalars_come_out_without_a_shape_and_go_on_as_inputs() {
    let (a, b) = (Elements::Array(vec![5, 6, 7]), Elements::Scalar(100));
    let mut builder = ProgramBuilder::new();
    let [x, y] = ["x", "y"].map(|name| builder.input(name, TY).unwrap());
    let two = builder.constant(2, TY).unwrap();
    let sum = builder.sum_elements(x).unwrap();
    let centred = builder.op(Op::Sub, &[x, sum]).unwrap();
    let product = builder.op(Op::Mul, &[y, sum]).unwrap();
    let twice = builder.op(Op::Mul, &[y, two]).unwrap();
    for (name, value) in [("centred", centred), ("product", product), ("twice", twice), ("two", two)] {
        builder.output(name, value);
    }
    let program = builder.finish().unwrap();
    let inputs = [encrypt(&a), encrypt(&b)];
    let out = setup().server.run(&program, &inputs, &Control::default()).unwrap();
    let shapes: Vec<_> = out.iter().map(|out| out.shape().map(<[usize]>::to_vec)).collect();
    assert_eq!(shapes, [Some(vec![3]), None, None, None]);
    assert_eq!(out.iter().map(decrypt).collect::<Vec<_>>(), program.evaluate_arrays(&[a.clone(), b]).unwrap());
    // As of many elements, so of many polynomials.
    let many = Elements::Array((0..300).map(|i| i % 257).collect());
    let all = [many, decrypt(&out[1])];
    assert_eq!(run(&program, &all).unwrap(), program.evaluate_arrays(&all).unwrap());
    // Where all are scalars, nothing goes across them.
    let scalars = [Elements::Scalar(4), Elements::Scalar(9)];
    assert_eq!(run(&program, &scalars).unwrap(), program.evaluate_arrays(&scalars).unwrap());
    let empty =
        setup().server.run(&program, &[encrypt(&Elements::Array(vec![])), encrypt(&all[1])], &Control::default());
    assert!(matches!(empty, Err(Error::Empty { .. })), "{empty:?}");
}

#[test]
fn estimates_count_rotations_and_progress_comes_to_its_end() {
    let Setup { server, key, .. } = setup();
    let dot = Program::from_op("dot", &[TY; 2]).unwrap();
    let estimate = server.estimate(&dot, 1).unwrap();
    // log2 of a row, and the swap.
    assert_eq!((estimate.products, estimate.rotations), (1, 7));
    assert_eq!(estimate.to_string(), "0 bootstraps, 1 product, 7 rotations, depth 1");
    assert!(estimate.seconds > 0.0 && estimate.memory_bytes as usize == server.memory_bytes());
    assert_eq!(cost(&dot, SET).unwrap().rotations, 7);
    assert_eq!(cost(&Program::from_op("mul", &[TY; 2]).unwrap(), SET).unwrap().rotations, 0);
    let inputs = [0, 1].map(|seed| encrypt(&Elements::Array(numbers(&mut ChaCha8Rng::seed_from_u64(seed), 300))));
    let counted = server.count_inputs(&dot, &inputs).unwrap();
    assert_eq!((counted.products, counted.rotations), (3, 7));
    let heard = Mutex::new(Vec::new());
    let listen = |progress: Progress| heard.lock().unwrap().push((progress.done, progress.total));
    server.run(&dot, &inputs, &Control { progress: Some(&listen), cancel: None }).unwrap();
    let heard = heard.into_inner().unwrap();
    assert_eq!((heard.len(), heard.iter().max()), (11, Some(&(10, 10))), "{heard:?}");
    // Stopped at the second automorphism.
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let listen = |_: Progress| stop.store(count.fetch_add(1, Ordering::Relaxed) >= 5, Ordering::Relaxed);
    let stopped = server.run(&dot, &inputs, &Control { progress: Some(&listen), cancel: Some(&stop) });
    assert!(matches!(stopped, Err(Error::Cancelled)) && count.into_inner() < 8);
    // The key file holds the rotations, and its size is what is said.
    let bytes = key.to_bytes().unwrap();
    assert!(bytes.len() > server.memory_bytes() && bytes.len() < server.memory_bytes() + (1 << 16));
    let again = Server::new(&ServerKey::from_bytes(&bytes).unwrap(), Some(1)).unwrap();
    let sum = again.run(&dot, &inputs, &Control::default()).unwrap();
    assert_eq!(decrypt(&sum[0]), decrypt(&server.run(&dot, &inputs, &Control::default()).unwrap()[0]));
}

#[test]
fn keys_without_rotations_say_how_to_make_them() {
    let (client, key) = keygen(&options(false), &Control::default()).unwrap();
    let server = Server::new(&key, Some(1)).unwrap();
    // The key itself is the same one.
    assert_eq!(key.key_id(), setup().key.key_id());
    let x = client.encrypt(&Plain::new(TY, Some(vec![4]), vec![1, 2, 3, 4]).unwrap()).unwrap();
    for program in [Program::from_op("sum", &[TY]).unwrap(), Program::rotation(TY, 1).unwrap()] {
        for error in [
            server.run(&program, std::slice::from_ref(&x), &Control::default()).unwrap_err(),
            server.estimate(&program, 1).unwrap_err(),
        ] {
            assert!(matches!(error, Error::NoRotations { .. }), "{error}");
            assert!(error.to_string().contains("--rotations"), "{error}");
        }
    }
    // By nothing, and of a scalar, it needs none.
    let nowhere = server.run(&Program::rotation(TY, -4).unwrap(), std::slice::from_ref(&x), &Control::default());
    assert_eq!(client.decrypt(&nowhere.unwrap()[0]).unwrap().values, [1, 2, 3, 4]);
    for (scheme, params) in [(Scheme::Tfhe, "gates-40"), (Scheme::Ntru, "tight-64-1")] {
        let options = KeygenOptions { scheme, params: Some(params.into()), ..options(true) };
        let error = keygen(&options, &Control::default()).unwrap_err().to_string();
        assert!(error.contains("slots"), "{error}");
    }
}
