//! Programs across the elements of vectors of slots agree with plain evaluation.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::evaluated::evaluated;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_engine::program::Op;
use solinas_engine::{
    Ciphertext, ClientKey, Control, Error, Inputs, KeygenOptions, Plain, Program, ProgramBuilder, Progress, Server,
    ServerKey, Type, Work, cost, keygen,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Sets with polynomials of 128 slots and three or four products in a row.
const SETS: [(&str, &str, Type); 2] =
    [("ntru", "slots-128-3", Type::Mod(257)), ("bgv", "slots-128-4", Type::Mod(65537))];

struct Setup {
    client: ClientKey,
    key: ServerKey,
    server: Server,
    ty: Type,
}

fn options((scheme, params, _): (&str, &str, Type), rotations: bool) -> KeygenOptions {
    let (params, insecure_seed) = (Some(params.into()), Some(1));
    let scheme = scheme.parse().unwrap();
    KeygenOptions { scheme, params, rotations, research: true, insecure_seed, ..Default::default() }
}

fn setups() -> &'static [Setup; 2] {
    static KEYS: OnceLock<[Setup; 2]> = OnceLock::new();
    KEYS.get_or_init(|| {
        SETS.map(|set| {
            let (client, key) = keygen(&options(set, true), &Control::default()).unwrap();
            let server = Server::new(&key, Some(2)).unwrap();
            Setup { client, key, server, ty: set.2 }
        })
    })
}

impl Setup {
    fn modulus(&self) -> u128 {
        self.ty.modulus().unwrap().into()
    }

    fn scalar(&self, value: u128) -> Plain {
        Plain::new(self.ty, None, vec![value]).unwrap()
    }

    fn array(&self, values: impl IntoIterator<Item = u128>) -> Plain {
        let values: Vec<u128> = values.into_iter().collect();
        Plain::new(self.ty, Some(vec![values.len()]), values).unwrap()
    }

    fn numbers(&self, rng: &mut ChaCha8Rng, count: usize) -> Plain {
        self.array((0..count).map(|_| u128::from(rng.next_u32()) % self.modulus()))
    }

    fn encrypt(&self, plain: &Plain) -> Ciphertext {
        self.client.encrypt(plain).unwrap()
    }

    fn decrypt(&self, ciphertext: &Ciphertext) -> Plain {
        self.client.decrypt(ciphertext).unwrap()
    }

    fn run(&self, program: &Program, inputs: &[Plain]) -> Result<Vec<Plain>, Error> {
        let inputs: Vec<_> = inputs.iter().map(|input| self.encrypt(input)).collect();
        let outputs = self.server.run(Work::program(program, &inputs), &Control::default())?;
        Ok(outputs.iter().map(|output| self.decrypt(output)).collect())
    }
}

#[test]
fn arrays_of_any_length_are_rotated_summed_and_multiplied() {
    for setup in setups() {
        let (ty, mut rng) = (setup.ty, ChaCha8Rng::seed_from_u64(1));
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
            let inputs = [(); 2].map(|()| setup.numbers(&mut rng, count));
            let mut programs: Vec<_> = rotations.iter().map(|&by| Program::rotation(ty, by).unwrap()).collect();
            programs.extend([Program::from_op("sum", &[ty]).unwrap(), Program::from_op("dot", &[ty; 2]).unwrap()]);
            for program in programs {
                let inputs = &inputs[..program.inputs.len()];
                let want = evaluated(&program, inputs);
                assert_eq!(setup.run(&program, inputs).unwrap(), want, "{count}: {program:?}");
            }
        }
    }
}

/// Numbers that plans find equal in every slot, or the same in every polynomial, are rotated and summed as any others.
#[test]
fn arrays_of_equal_numbers_are_arrays() {
    for setup in setups() {
        let (ty, mut rng) = (setup.ty, ChaCha8Rng::seed_from_u64(2));
        let mut builder = ProgramBuilder::new();
        let [a, s] = ["a", "s"].map(|name| builder.input(name, ty).unwrap());
        let [zero, five] = [0, 5].map(|constant| builder.constant(constant, ty).unwrap());
        let zeros = builder.op(Op::Mul, &[a, zero]).unwrap();
        for (name, number) in [("public", five), ("scalar", s)] {
            let equal = builder.op(Op::Add, &[zeros, number]).unwrap();
            let rotated = builder.op(Op::RotateElements(1), &[equal]).unwrap();
            let more = builder.op(Op::Add, &[rotated, a]).unwrap();
            let sum = builder.op(Op::SumElements, &[more]).unwrap();
            builder.output(name, rotated);
            builder.output(format!("{name}s"), sum);
        }
        let program = builder.finish().unwrap();
        for count in [3, 130] {
            let inputs = [setup.numbers(&mut rng, count), setup.scalar(7)];
            assert_eq!(setup.run(&program, &inputs).unwrap(), evaluated(&program, &inputs), "{count}");
        }
    }
}

/// A few operations, those across elements among them, on values of two arrays and a scalar.
fn random_program(ty: Type, rng: &mut ChaCha8Rng) -> Program {
    let mut builder = ProgramBuilder::new();
    let mut values: Vec<_> = ["a", "b", "c"].map(|name| builder.input(name, ty).unwrap()).into();
    // With 0 and 1, of which plans know more than that they are public.
    let constants = [0, 1, u128::from(rng.next_u32() % 257)];
    values.extend(constants.map(|constant| builder.constant(constant, ty).unwrap()));
    let given = values.len();
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
    for (index, &value) in values[given..].iter().rev().take(2).enumerate() {
        builder.output(format!("v{index}"), value);
    }
    builder.finish().unwrap()
}

#[test]
fn random_programs_give_what_plain_evaluation_gives_or_are_refused_before_they_run() {
    for setup in setups() {
        let mut refused = 0;
        for seed in 0..80 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let program = random_program(setup.ty, &mut rng);
            let count = [3, 64, 130, 128, 300][seed as usize % 5];
            let [a, b] = [(); 2].map(|()| setup.numbers(&mut rng, count));
            let inputs = [a, b, setup.scalar(u128::from(rng.next_u32() % 257))];
            match setup.run(&program, &inputs) {
                Ok(got) => assert_eq!(got, evaluated(&program, &inputs), "seed {seed}"),
                Err(Error::Levels { .. }) => {
                    refused += 1;
                    let inputs: Vec<_> = inputs.iter().map(|input| setup.encrypt(input)).collect();
                    assert!(
                        setup
                            .server
                            .prepare(Work::program(&program, &inputs), &Control::default())
                            .and_then(|work| work.count())
                            .is_err(),
                        "seed {seed}"
                    );
                }
                Err(other) => panic!("seed {seed}: {other}"),
            }
        }
        assert!(refused < 24, "{refused}");
    }
}

#[test]
fn sums_of_results_leave_out_what_is_past_the_last_element() {
    for setup in setups() {
        // After a constant is added, the slots past the last element are not 0 and a sum needs a mask. That holds in
        // another run and for a ciphertext from a file, too.
        let values = setup.array([1, 2, 3]);
        let mut builder = ProgramBuilder::new();
        let a = builder.input("a", setup.ty).unwrap();
        let one = builder.constant(1, setup.ty).unwrap();
        let sum = builder.op(Op::Add, &[a, one]).unwrap();
        builder.output("result", sum);
        let more = builder.finish().unwrap();
        let (server, control) = (&setup.server, Control::default());
        let moved = server.run(Work::program(&more, &[setup.encrypt(&values)]), &control).unwrap().remove(0);
        let sum = Program::from_op("sum", &[setup.ty]).unwrap();
        for (ciphertext, want, masked) in [(setup.encrypt(&values), 6, false), (moved, 9, true)] {
            let stored = Ciphertext::from_bytes(&ciphertext.to_bytes().unwrap()).unwrap();
            assert!(stored == ciphertext);
            for ciphertext in [ciphertext, stored] {
                let before = ciphertext.condition().unwrap();
                let result = server.run(Work::program(&sum, &[ciphertext]), &control).unwrap().remove(0);
                assert_eq!(setup.decrypt(&result), setup.scalar(want));
                // A sum of 128 slots takes seven bits of noise, and a mask before it some more.
                let after = result.condition().unwrap();
                assert_eq!(after.products, before.products);
                let took = before.margin - after.margin;
                assert!(if masked { took > 15.0 } else { took > 6.9 && took < 10.0 }, "{took} {masked}");
            }
        }
    }
}

#[test]
fn scalars_come_out_without_a_shape_and_go_on_as_inputs() {
    for setup in setups() {
        let (a, b) = (setup.array([5, 6, 7]), setup.scalar(100));
        let mut builder = ProgramBuilder::new();
        let [x, y] = ["x", "y"].map(|name| builder.input(name, setup.ty).unwrap());
        let two = builder.constant(2, setup.ty).unwrap();
        let sum = builder.sum_elements(x).unwrap();
        let centred = builder.op(Op::Sub, &[x, sum]).unwrap();
        let product = builder.op(Op::Mul, &[y, sum]).unwrap();
        let twice = builder.op(Op::Mul, &[y, two]).unwrap();
        for (name, value) in [("centred", centred), ("product", product), ("twice", twice), ("two", two)] {
            builder.output(name, value);
        }
        let program = builder.finish().unwrap();
        let inputs = [setup.encrypt(&a), setup.encrypt(&b)];
        let out = setup.server.run(Work::program(&program, &inputs), &Control::default()).unwrap();
        let shapes: Vec<_> = out.iter().map(|out| out.shape().map(<[usize]>::to_vec)).collect();
        assert_eq!(shapes, [Some(vec![3]), None, None, None]);
        let plain: Vec<_> = out.iter().map(|out| setup.decrypt(out)).collect();
        assert_eq!(plain, evaluated(&program, &[a, b]));
        // As of many elements, so of many polynomials.
        let all = [setup.array((0..300).map(|i| i % 257)), plain[1].clone()];
        assert_eq!(setup.run(&program, &all).unwrap(), evaluated(&program, &all));
        // Where all are scalars, nothing goes across them.
        let scalars = [setup.scalar(4), setup.scalar(9)];
        assert_eq!(setup.run(&program, &scalars).unwrap(), evaluated(&program, &scalars));
        let empty = setup.run(&program, &[setup.array([]), scalars[0].clone()]);
        assert!(matches!(empty, Err(Error::Empty { .. })), "{empty:?}");
    }
}

#[test]
fn estimates_count_rotations_and_progress_comes_to_its_end() {
    for (setup, (scheme, set, ty)) in setups().iter().zip(SETS) {
        let (server, control) = (&setup.server, Control::default());
        let dot = Program::from_op("dot", &[ty; 2]).unwrap();
        let estimate = server
            .prepare(Work::program(&dot, Inputs::Fresh { instances: 1 }), &Control::default())
            .and_then(|work| work.estimate(&Control::default()))
            .unwrap();
        // log2 of a row, and the swap.
        assert_eq!((estimate.products, estimate.rotations), (1, 7));
        assert!(estimate.to_string().ends_with("1 product, 7 rotations, depth 1"), "{estimate}");
        assert!(estimate.seconds > 0.0 && estimate.memory_bytes as usize == server.memory_bytes());
        if scheme == "ntru" {
            // Both schemes have sets of the other's name.
            assert_eq!(cost(&dot, set).unwrap().rotations, 7);
            assert_eq!(cost(&Program::from_op("mul", &[ty; 2]).unwrap(), set).unwrap().rotations, 0);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let inputs = [(); 2].map(|()| setup.encrypt(&setup.numbers(&mut rng, 300)));
        let counted =
            server.prepare(Work::program(&dot, &inputs), &Control::default()).and_then(|work| work.count()).unwrap();
        assert_eq!((counted.products, counted.rotations), (3, 7));
        let heard = Mutex::new(Vec::new());
        let listen = |progress: Progress| heard.lock().unwrap().push((progress.done, progress.total));
        let result =
            server.run(Work::program(&dot, &inputs), &Control { progress: Some(&listen), cancel: None }).unwrap();
        let heard = heard.into_inner().unwrap();
        assert_eq!((heard.len(), heard.iter().max()), (11, Some(&(10, 10))), "{heard:?}");
        // Stopped at the second automorphism.
        let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
        let listen = |_: Progress| stop.store(count.fetch_add(1, Ordering::Relaxed) >= 5, Ordering::Relaxed);
        let stopped =
            server.run(Work::program(&dot, &inputs), &Control { progress: Some(&listen), cancel: Some(&stop) });
        assert!(matches!(stopped, Err(Error::Cancelled)) && count.into_inner() < 8);
        // The key file holds the rotations.
        let bytes = setup.key.to_bytes().unwrap();
        let again = Server::new(&ServerKey::from_bytes(&bytes).unwrap(), Some(1)).unwrap();
        assert_eq!(again.memory_bytes(), server.memory_bytes());
        let sum = again.run(Work::program(&dot, &inputs), &control).unwrap();
        assert_eq!(setup.decrypt(&sum[0]), setup.decrypt(&result[0]));
    }
}

#[test]
fn keys_without_rotations_say_how_to_make_them() {
    let ty = SETS[0].2;
    let (client, key) = keygen(&options(SETS[0], false), &Control::default()).unwrap();
    let server = Server::new(&key, Some(1)).unwrap();
    // The key itself is the same one.
    assert_eq!(key.key_id(), setups()[0].key.key_id());
    assert!(server.memory_bytes() < setups()[0].server.memory_bytes());
    let x = client.encrypt(&Plain::new(ty, Some(vec![4]), vec![1, 2, 3, 4]).unwrap()).unwrap();
    for program in [Program::from_op("sum", &[ty]).unwrap(), Program::rotation(ty, 1).unwrap()] {
        for error in [
            server.run(Work::program(&program, std::slice::from_ref(&x)), &Control::default()).unwrap_err(),
            server
                .prepare(Work::program(&program, Inputs::Fresh { instances: 1 }), &Control::default())
                .and_then(|work| work.estimate(&Control::default()))
                .unwrap_err(),
        ] {
            assert!(matches!(error, Error::NoRotations { .. }), "{error}");
            assert!(error.to_string().contains("--rotations"), "{error}");
        }
    }
    // By nothing, and of a scalar, it needs none.
    let nowhere =
        server.run(Work::program(&Program::rotation(ty, -4).unwrap(), std::slice::from_ref(&x)), &Control::default());
    assert_eq!(client.decrypt(&nowhere.unwrap()[0]).unwrap().values, [1, 2, 3, 4]);
    let bits = [("ntru", "tight-64-1"), ("bgv", "bits-64-2"), ("lwe", "leveled-64-2")];
    for set in bits.into_iter().chain([("tfhe", "gates-toy")]).map(|(scheme, params)| (scheme, params, ty)) {
        let error = keygen(&options(set, true), &Control::default()).unwrap_err().to_string();
        assert!(error.contains("slots") || error.contains("bits, not vectors"), "{error}");
    }
}
