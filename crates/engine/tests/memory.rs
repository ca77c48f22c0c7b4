//! The memory of runs: what a run needs is known before it begins, and short memory changes no byte of its results.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_engine::{
    Ciphertext, ClientKey, Control, Error, Input, KeygenOptions, Plain, Program, Server, ServerKey, ServerOptions,
    Type, Work, keygen,
};

fn keys(params: &str) -> (ClientKey, ServerKey) {
    let options = KeygenOptions {
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(5),
        scheme: solinas_engine::Scheme::of_params(params).unwrap(),
        ..KeygenOptions::default()
    };
    keygen(&options, &Control::default()).unwrap()
}

fn server(key: &ServerKey, run_memory: Option<u64>) -> Server {
    Server::with_options(key, &ServerOptions { threads: Some(2), run_memory, ..ServerOptions::default() }).unwrap()
}

fn array(client: &ClientKey, ty: Type, count: usize) -> Ciphertext {
    let values: Vec<u128> = (0..count as u128).map(|value| value % 2).collect();
    client.encrypt(&Plain::new(ty, Some(vec![count]), values).unwrap()).unwrap()
}

#[test]
fn short_memory_changes_no_byte_of_results() {
    let (client, key) = keys("gates-40");
    // More elements than run side by side on two threads.
    let x = array(&client, Type::Bool, 70);
    let scalar = client.encrypt(&Plain::scalar(Type::Bool, 1u128).unwrap()).unwrap();
    let program = Program::from_op("xor", &[Type::Bool; 2]).unwrap();
    let inputs = [Input::Encrypted(scalar), Input::Encrypted(x)];
    let run = |run_memory| {
        let server = server(&key, run_memory);
        server.run(Work::program(&program, &inputs), &Control::default()).unwrap()[0].to_bytes().unwrap()
    };
    // The run takes less than what is always allowed, so that it runs one element after the other.
    assert_eq!(run(Some(1)), run(None));
}

#[test]
fn runs_that_do_not_fit_are_refused_before_they_begin() {
    let (client, key) = keys("gates-40");
    let server = server(&key, Some(1));
    let control = Control::default();
    let not = Program::from_op("not", &[Type::Bool]).unwrap();
    let and = Program::from_op("and", &[Type::Bool; 2]).unwrap();
    let large = array(&client, Type::Bool, 1 << 14);
    let is_memory = |error: Error| {
        assert!(matches!(error, Error::Memory { limit_mib: 0, .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("take fewer values at a time"), "{message}");
    };
    is_memory(server.prepare(Work::program(&not, &[large]), &control).unwrap_err());
    // Its results fit, but not while their bytes are made.
    let middle = array(&client, Type::Bool, 2000);
    let prepared = server.prepare(Work::program(&not, &[middle]), &control).unwrap();
    is_memory(prepared.check_memory().unwrap_err());
    is_memory(prepared.run(&control).unwrap_err());
    // Elements of an array under the public key take the masks of a polynomial each.
    let plain = Plain::new(Type::Bool, Some(vec![1 << 14]), vec![1u128; 1 << 14]).unwrap();
    let packed = client.public_key().unwrap().encrypt(&plain).unwrap();
    let inputs = [Input::Encrypted(packed.clone()), Input::Public(plain)];
    is_memory(server.prepare(Work::program(&and, &inputs), &control).unwrap_err());
}
