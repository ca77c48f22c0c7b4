//! Reductions of arrays against plain arithmetic.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_circuits::program::{Program, ProgramBuilder};
use solinas_runtime::{
    Ciphertext, ClientKey, Control, KeygenOptions, Plain, Plan, Progress, Reduced, Reduction, Server, ServerKey, Type,
    keygen,
};
use std::sync::Mutex;

const U4: Type = Type::Uint(4);

fn keys(params: &str) -> (ClientKey, ServerKey) {
    let options = KeygenOptions {
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(3),
        ..KeygenOptions::default()
    };
    keygen(&options, &Control::default()).unwrap()
}

fn encrypt(client: &ClientKey, ty: Type, values: &[u128]) -> Ciphertext {
    client.encrypt(&Plain::new(ty, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
}

/// `2 a + b`: it is not commutative, and it shows the order of the elements, though it is not associative.
fn order() -> Program {
    let mut builder = ProgramBuilder::new();
    let (a, b) = (builder.input("a", U4).unwrap(), builder.input("b", U4).unwrap());
    let sum = builder.sum(&[a, a, b]).unwrap();
    builder.output("result", sum);
    builder.finish().unwrap()
}

/// Combines neighbours, level by level.
fn in_pairs(values: &[u128], f: impl Fn(u128, u128) -> u128) -> u128 {
    let mut row = values.to_vec();
    while row.len() > 1 {
        let odd = row.len() % 2;
        let last = row[row.len() - odd..].to_vec();
        row = row.chunks_exact(2).map(|pair| f(pair[0], pair[1])).chain(last).collect();
    }
    row[0]
}

#[test]
fn reductions_are_those_of_plain_arithmetic() {
    let control = Control::default();
    for (params, lens) in [("integers-toy", &[1, 2, 21][..]), ("gates-toy", &[18][..])] {
        let (client, key) = keys(params);
        let server = Server::new(&key, Some(2)).unwrap();
        for &len in lens {
            let values: Vec<u128> = (0..len).map(|i| (i * i + 3) % 16).collect();
            let array = encrypt(&client, U4, &values);
            let program = order();
            let cases = [
                (Reduction::Sum, values.iter().sum::<u128>() % 16),
                (Reduction::Max, *values.iter().max().unwrap()),
                (Reduction::Min, *values.iter().min().unwrap()),
                (Reduction::Program(&program), in_pairs(&values, |a, b| (2 * a + b) % 16)),
            ];
            for (reduction, want) in cases {
                let result = server.reduce(reduction, &array, &control).unwrap();
                assert!(result.shape().is_none());
                assert_eq!(client.decrypt(&result).unwrap().values, [want], "{params} {len} {reduction:?}");
            }
        }
        for bools in
            [[0; 18], [1; 18], std::array::from_fn(|i| u128::from(i == 17)), std::array::from_fn(|i| u128::from(i > 0))]
        {
            let array = encrypt(&client, Type::Bool, &bools);
            let cases = [(Reduction::Any, bools.contains(&1)), (Reduction::All, !bools.contains(&0))];
            for (reduction, want) in cases {
                let result = server.reduce(reduction, &array, &control).unwrap();
                assert_eq!(client.decrypt(&result).unwrap().values, [u128::from(want)], "{params} {reduction:?}");
            }
        }
    }
}

#[test]
fn levels_that_are_planned_before_give_the_bytes_of_the_whole() {
    let control = Control::default();
    for params in ["integers-toy", "gates-toy"] {
        let (client, key) = keys(params);
        let server = Server::new(&key, Some(2)).unwrap();
        let array = encrypt(&client, U4, &[3, 9, 1, 12, 7]);
        // Maxima of the gates family have more noise than fresh values.
        let max = Program::from_op("max", &[U4; 2]).unwrap();
        let reduction = Reduction::Program(&max);
        let levels = reduction.levels(U4, array.len()).unwrap();
        let plans = server.prepare_levels(&levels, Reduced::Array(&array), &control).unwrap();
        let plans: Vec<Plan> = plans.iter().map(|prepared| prepared.plan().unwrap()).collect();
        let mut row = array.clone();
        for (level, plan) in levels.iter().zip(&plans) {
            assert_eq!(level.elements(), row.len());
            let prepared = server.prepare_level(level, &row, Some(plan), &control).unwrap();
            assert_eq!(prepared.plan().unwrap().id(), plan.id(), "{params}");
            row = level.next(&row, prepared.run(&control).unwrap()).unwrap();
        }
        let whole = server.reduce(reduction, &array, &control).unwrap();
        assert_eq!(row.get(0).unwrap().to_bytes().unwrap(), whole.to_bytes().unwrap(), "{params}");
        let error = server.prepare_level(&levels[0], &row, None, &control).unwrap_err().to_string();
        assert!(error.contains("run the levels in order"), "{error}");
    }
}

#[test]
fn progress_grows_to_the_total() {
    let (client, key) = keys("integers-toy");
    let server = Server::new(&key, Some(2)).unwrap();
    let array = encrypt(&client, U4, &[1; 20]);
    let seen = Mutex::new(Vec::new());
    let report = |progress: Progress| seen.lock().unwrap().push((progress.done, progress.total));
    let control = Control { progress: Some(&report), cancel: None };
    server.reduce(Reduction::Sum, &array, &control).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.is_sorted() && seen.iter().all(|&(_, total)| total == seen[0].1), "{seen:?}");
    assert_eq!(seen.last().unwrap().0, seen[0].1);
}

#[test]
fn what_cannot_be_reduced_is_refused_by_name() {
    let control = Control::default();
    let (client, key) = keys("integers-toy");
    let server = Server::new(&key, Some(1)).unwrap();
    let array = encrypt(&client, U4, &[1, 2]);
    let bools = encrypt(&client, Type::Bool, &[1, 0]);
    let compare = Program::from_op("lt", &[U4; 2]).unwrap();
    let unary = Program::from_op("neg", &[U4]).unwrap();
    let other = Program::from_op("add", &[Type::Uint(8); 2]).unwrap();
    for (reduction, input, want) in [
        (Reduction::Any, &array, "takes an array of bool"),
        (Reduction::All, &array, "takes an array of bool"),
        (Reduction::Sum, &bools, "takes an array of integers"),
        (Reduction::Max, &bools, "takes an array of integers"),
        (Reduction::Program(&compare), &array, "takes (u4, u4) and returns (bool)"),
        (Reduction::Program(&unary), &array, "takes (u4) and returns (u4)"),
        (Reduction::Program(&other), &array, "give a program of (u4, u4) that returns u4"),
        (Reduction::Sum, &array.get(0).unwrap(), "this is one value"),
    ] {
        let message = server.reduce(reduction, input, &control).unwrap_err().to_string();
        assert!(message.contains(want), "{message}");
    }
}
