//! Encrypted random values from a public seed: their bits, equal bytes everywhere, computations on them, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_circuits::program::Program;
use solinas_engine::{
    Ciphertext, ClientKey, Control, Error, Form, KeygenOptions, Natural, Plain, Progress, Server, ServerKey,
    ServerOptions, Type, Work, keygen,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const TYPES: [Type; 5] = [Type::Bool, Type::Uint(1), Type::Uint(5), Type::Int(4), Type::Uint(16)];

fn keys(params: &str, seed: u64) -> (ClientKey, ServerKey) {
    let options = KeygenOptions {
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(seed),
        ..KeygenOptions::default()
    };
    keygen(&options, &Control::default()).unwrap()
}

fn random(server: &Server, ty: Type, shape: Option<Vec<usize>>, seed: &str) -> Ciphertext {
    server.random(ty, shape, seed.as_bytes(), &Control::default()).unwrap()
}

#[test]
fn bytes_are_those_of_the_seed_the_type_and_the_key() {
    for params in ["integers-toy", "gates-toy"] {
        let (client, key) = keys(params, 3);
        let servers = [Some(1), Some(2), Some(5)].map(|threads| Server::new(&key, threads).unwrap());
        for ty in TYPES {
            let all = servers.each_ref().map(|server| random(server, ty, Some(vec![2, 3]), "seed"));
            assert!(all[0] == all[1] && all[0] == all[2], "{params} {ty}");
            let bytes = all[0].to_bytes().unwrap();
            assert!(bytes == all[1].to_bytes().unwrap());
            assert!(Ciphertext::from_bytes(&bytes).unwrap() == all[0]);
            assert_eq!((all[0].ty(), all[0].shape()), (ty, Some(&[2, 3][..])));
            assert!(all[0].is_insecure() && all[0].plan().is_none() && all[0].key_id() == client.key_id());
            // A shorter array is the beginning of a longer one, and a scalar its first element.
            let values = client.decrypt(&all[0]).unwrap().values;
            assert!(values.iter().all(|value| ty.holds(value)), "{params} {ty}: {values:?}");
            assert!(random(&servers[0], ty, None, "seed") == all[0].get(0).unwrap());
            assert!(random(&servers[0], ty, Some(vec![4]), "seed") == all[0].slice(0..4).unwrap());
            assert!(random(&servers[0], ty, Some(vec![2, 3]), "Seed") != all[0]);
        }
        // Other types, seeds and keys give other values.
        let (other, other_key) = keys(params, 4);
        let draw = |client: &ClientKey, server: &Server, ty: Type, seed: &str| {
            let bits = client.decrypt(&random(server, ty, Some(vec![6]), seed)).unwrap().values;
            bits.iter().map(|value| value.low(16)).collect::<Vec<_>>()
        };
        let all = [
            draw(&client, &servers[1], Type::Uint(16), "seed"),
            draw(&client, &servers[1], Type::Uint(17), "seed"),
            draw(&client, &servers[1], Type::Int(16), "seed"),
            draw(&client, &servers[1], Type::Uint(16), "seed "),
            draw(&other, &Server::new(&other_key, None).unwrap(), Type::Uint(16), "seed"),
        ];
        for (i, values) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|before| before != values), "{params}: {all:?}");
        }
    }
}

/// The bits of 200 numbers: each of them is balanced, and each pair of them.
#[test]
fn every_bit_is_balanced_and_independent_of_the_others() {
    for params in ["integers-toy", "gates-toy"] {
        let (client, key) = keys(params, 3);
        let server = Server::new(&key, None).unwrap();
        let (ty, count) = (Type::Int(5), 200);
        let values = client.decrypt(&random(&server, ty, Some(vec![count]), "balance")).unwrap().values;
        let balance = |what: String, bit: &dyn Fn(&Natural) -> bool| {
            let ones = values.iter().filter(|value| bit(value)).count() as f64;
            let deviation = (ones - count as f64 / 2.0) / (count as f64 / 4.0).sqrt();
            assert!(deviation.abs() < 4.0, "{params}, {what}: {deviation} standard deviations");
        };
        for i in 0..ty.width() {
            balance(format!("bit {i}"), &|value| value.bit(i));
            for j in 0..i {
                balance(format!("bits {j} and {i}"), &|value| value.bit(i) != value.bit(j));
            }
        }
    }
}

#[test]
fn programs_compute_on_random_values() {
    for params in ["integers-toy", "gates-toy"] {
        let (client, key) = keys(params, 3);
        let server = Server::new(&key, None).unwrap();
        let (a, b) = (random(&server, Type::Uint(7), Some(vec![3]), "a"), random(&server, Type::Uint(7), None, "b"));
        let [x, y] = [&a, &b].map(|ciphertext| client.decrypt(ciphertext).unwrap().values);
        let inputs = [a.clone(), b.clone()];
        for operation in ["add", "lt", "mul"] {
            let program = Program::from_op(operation, &[Type::Uint(7); 2]).unwrap();
            let got = server.run(Work::program(&program, &inputs), &Control::default()).unwrap();
            let want: Vec<Natural> = x.iter().map(|x| program.evaluate(&[x, &y[0]]).unwrap()[0].clone()).collect();
            assert_eq!(client.decrypt(&got[0]).unwrap().values, want, "{params} {operation}");
        }
        assert_eq!(client.decrypt(&server.compact(&a).unwrap()).unwrap().values, x);
        let fresh = client.encrypt(&Plain::new(Type::Uint(7), None, vec![99]).unwrap()).unwrap();
        let both = Ciphertext::stack(vec![a, fresh]).unwrap();
        assert_eq!(client.decrypt(&both).unwrap().values, [&x[..], &[99u128.into()]].concat());
        if params == "integers-toy" {
            let bits = Work::Convert { ciphertext: &b, form: Form::Bits };
            let bits = server.run(bits, &Control::default()).unwrap();
            assert_eq!(client.decrypt(&bits[0]).unwrap().values, y);
        }
    }
}

#[test]
fn devices_give_the_bytes_of_the_processor() {
    let (_, key) = keys("gates-toy", 3);
    let on = |name: &str| {
        let options = ServerOptions { device: Some(name.parse().unwrap()), ..ServerOptions::default() };
        random(&Server::with_options(&key, &options).unwrap(), Type::Uint(9), Some(vec![5]), "device")
    };
    let want = on("cpu");
    for name in ["auto", "emulated", "emulated:2"] {
        assert!(on(name) == want, "{name}");
    }
}

#[test]
fn progress_is_reported_and_a_run_stops() {
    let (_, key) = keys("gates-toy", 3);
    let server = Server::new(&key, Some(1)).unwrap();
    let seen = Mutex::new(Vec::new());
    let note = |progress: Progress| seen.lock().unwrap().push((progress.done, progress.total));
    let control = Control { progress: Some(&note), cancel: None };
    server.random(Type::Uint(8), Some(vec![10]), b"seed", &control).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.first() == Some(&(0, 80)) && seen.last() == Some(&(80, 80)) && seen.len() > 2, "{seen:?}");
    assert!(seen.is_sorted());
    let cancel = AtomicBool::new(false);
    let stop = |progress: Progress| cancel.store(progress.done > 0, Ordering::Relaxed);
    let control = Control { progress: Some(&stop), cancel: Some(&cancel) };
    let error = server.random(Type::Uint(8), Some(vec![10]), b"seed", &control).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
}

#[test]
fn wrong_requests_are_refused_by_name() {
    let (_, key) = keys("integers-toy", 3);
    let server = Server::new(&key, None).unwrap();
    let refused = |server: &Server, ty: Type, shape: Option<Vec<usize>>, seed: &[u8], want: &str| {
        let error = server.random(ty, shape, seed, &Control::default()).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    };
    refused(&server, Type::Mod(257), None, b"seed", "holds bools and integers such as u8, not mod257");
    refused(&server, Type::Uint(8), None, b"", "the seed is empty");
    refused(&server, Type::Uint(0), None, b"seed", "u0");
    refused(&server, Type::Uint(2049), None, b"seed", "u2049");
    refused(&server, Type::Uint(8), Some(vec![1 << 40]), b"seed", "take fewer values at a time");
    refused(&server, Type::Uint(8), Some(vec![usize::MAX, 3]), b"seed", "take fewer values at a time");
    assert!(random(&server, Type::Uint(8), Some(vec![3, 0]), "seed").is_empty());
    let options = KeygenOptions {
        scheme: "bgv".parse().unwrap(),
        params: Some("bits-64-12".into()),
        research: true,
        insecure_seed: Some(1),
        ..KeygenOptions::default()
    };
    let (_, other) = keygen(&options, &Control::default()).unwrap();
    refused(&Server::new(&other, None).unwrap(), Type::Bool, None, b"seed", "only those of scheme tfhe do");
}
