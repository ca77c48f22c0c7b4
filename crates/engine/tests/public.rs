//! Programs on public arrays beside encrypted ones agree with plain evaluation, under every scheme.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::evaluated::evaluated;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_engine::program::Op;
use solinas_engine::{
    ClientKey, Control, Error, ErrorKind, Input, KeygenOptions, Plain, Program, ProgramBuilder, Server, Type, Work,
    keygen,
};

/// Small sets: of integers, of bits, and of slots.
const SETS: [(&str, &str, Type); 6] = [
    ("tfhe", "integers-toy", Type::Uint(4)),
    ("tfhe", "gates-toy", Type::Uint(2)),
    ("ntru", "slots-128-3", Type::Mod(257)),
    ("bgv", "slots-128-4", Type::Mod(65537)),
    ("bgv", "bits-64-9", Type::Uint(2)),
    ("lwe", "leveled-16-4", Type::Uint(1)),
];

fn array_of(ty: Type, values: impl IntoIterator<Item = u128>) -> Plain {
    let values: Vec<u128> = values.into_iter().collect();
    Plain::new(ty, Some(vec![values.len()]), values).unwrap()
}

fn keys((scheme, params, _): (&str, &str, Type), rotations: bool) -> (ClientKey, Server) {
    let (params, insecure_seed) = (Some(params.into()), Some(1));
    let scheme = scheme.parse().unwrap();
    let options = KeygenOptions { scheme, params, rotations, research: true, insecure_seed, ..Default::default() };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    (client, Server::new(&key, Some(2)).unwrap())
}

/// `x w - w`, with a weight `w`, or where there are only bits `x w ^ w`.
fn weighted(ty: Type) -> Program {
    let (product, difference) = if ty == Type::Uint(1) { (Op::And, Op::Xor) } else { (Op::Mul, Op::Sub) };
    let mut builder = ProgramBuilder::new();
    let (x, w) = (builder.input("x", ty).unwrap(), builder.input("w", ty).unwrap());
    let product = builder.op(product, &[x, w]).unwrap();
    let result = builder.op(difference, &[product, w]).unwrap();
    builder.output("result", result);
    builder.finish().unwrap()
}

#[test]
fn products_with_public_arrays_are_those_of_plain_evaluation() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for set in SETS {
        let (ty, (client, server)) = (set.2, keys(set, false));
        let modulus = ty.modulus().map_or(1 << ty.width(), u128::from);
        let program = weighted(ty);
        // Arrays in slots fill a part of a polynomial, a whole one, and more.
        let counts: &[usize] = if ty.modulus().is_some() { &[1, 5, 128, 300] } else { &[1, 3] };
        for &count in counts {
            let mut numbers = |count| (0..count).map(|_| u128::from(rng.next_u32()) % modulus).collect::<Vec<_>>();
            let (array, weights) = (array_of(ty, numbers(count)), array_of(ty, numbers(count)));
            let scalar = Plain::scalar(ty, numbers(1)[0]).unwrap();
            for (x, w) in [(&array, &weights), (&scalar, &weights), (&array, &scalar)] {
                let inputs = [client.encrypt(x).unwrap().into(), Input::Public(w.clone())];
                let outputs = server.run(Work::program(&program, &inputs), &Control::default()).unwrap();
                let want = evaluated(&program, &[x.clone(), w.clone()]);
                assert_eq!(client.decrypt(&outputs[0]).unwrap(), want[0], "{set:?} {count}");
            }
        }
    }
}

#[test]
fn a_product_with_a_public_array_takes_no_product_of_ciphertexts() {
    let set = SETS[3];
    let (ty, (client, server)) = (set.2, keys(set, true));
    let mut builder = ProgramBuilder::new();
    let (x, w) = (builder.input("x", ty).unwrap(), builder.input("w", ty).unwrap());
    let dot = builder.dot(x, w).unwrap();
    builder.output("score", dot);
    let program = builder.finish().unwrap();
    let (x, w) = (array_of(ty, 0..200), array_of(ty, (0..200).map(|i| i * i)));
    let encrypted = client.encrypt(&x).unwrap();
    let [score, multiplied] = [Input::from(w.clone()), client.encrypt(&w).unwrap().into()].map(|w| {
        let outputs = server.run(Work::program(&program, &[encrypted.clone().into(), w]), &Control::default()).unwrap();
        assert_eq!(
            client.decrypt(&outputs[0]).unwrap().values,
            [(0..200u128).map(|i| i * i * i).sum::<u128>() % 65537]
        );
        outputs[0].condition().unwrap()
    });
    assert!(score.products > multiplied.products, "{score:?} {multiplied:?}");
}

#[test]
fn public_arrays_that_do_not_suit_are_refused() {
    for set in [SETS[0], SETS[3]] {
        let (ty, (client, server)) = (set.2, keys(set, false));
        let program = weighted(ty);
        let x = Input::from(client.encrypt(&array_of(ty, [1, 2, 3])).unwrap());
        let run =
            |w: Plain| server.run(Work::program(&program, &[x.clone(), w.into()]), &Control::default()).unwrap_err();
        let short = run(array_of(ty, [1, 2]));
        let message = short.to_string();
        assert!(message.contains("shapes [3], [2]") || message.contains("encrypt each row by itself"), "{message}");
        assert!(matches!(short.kind(), ErrorKind::Shape | ErrorKind::Element), "{message}");
        let other = run(array_of(Type::Uint(9), [1, 2, 3]));
        assert!(matches!(other, Error::InputType { .. }), "{other}");
        let one = server.run(Work::program(&program, std::slice::from_ref(&x)), &Control::default()).unwrap_err();
        assert!(matches!(one, Error::InputCount { got: 1, want: 2, .. }), "{one}");
    }
}
