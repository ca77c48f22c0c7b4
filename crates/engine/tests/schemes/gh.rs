//! Circuits and programs under Gentry and Halevi's scheme agree with plain arithmetic.

use super::common::{self, Setup, check_gates, check_refused};
use super::random_circuit;
use solinas_circuits::{Builder, Gate, Netlist};
use solinas_engine::{
    Ciphertext, ClientKey, Control, EncryptionKey, Error, Form, Inputs, KeygenOptions, Plain, Program, ProgramBuilder,
    Scheme, Server, ServerKey, ServerOptions, Type, Work, cost, keygen, program::Op,
};
use solinas_schemes::gh::{Params, RecryptMethod, noise};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

fn options(params: &str, seed: u64) -> KeygenOptions {
    common::options("gh", params, seed)
}

/// The CI-size set that evaluates circuits of any depth.
fn setup() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| Setup::new("gh", "ci-15", 1))
}

fn encrypt(client: &ClientKey, ty: Type, value: u128) -> Ciphertext {
    client.encrypt(&Plain::scalar(ty, value).unwrap()).unwrap()
}

/// The product of all bits of a port, one after the other `rounds` times, each time xored with a bit: deep, and never constant.
fn chain(rounds: usize) -> Netlist {
    let mut b = Builder::verbatim();
    let bits = b.input("x", 4, false);
    let mut value = bits[0];
    for i in 0..rounds {
        let flipped = b.gate(Gate::Binary(solinas_circuits::BinaryOp::Xor, value, bits[i % 4]));
        value = b.gate(Gate::Binary(solinas_circuits::BinaryOp::Or, flipped, bits[(i + 1) % 4]));
        value = b.gate(Gate::Binary(solinas_circuits::BinaryOp::Nand, value, flipped));
    }
    b.output("y", &[value], false);
    b.finish().unwrap()
}

#[test]
fn random_circuits_give_what_plain_evaluation_gives() {
    let Setup { client, server, .. } = setup();
    let mut recrypts = 0;
    for seed in 0..200 {
        let mut rng = random_circuit::rng(seed);
        let netlist = random_circuit::circuit(&mut rng, 50);
        assert!(random_circuit::agrees(client, server, &netlist, seed % 2 == 1, &mut rng).unwrap(), "seed {seed}");
        recrypts += server
            .prepare(Work::program(&crate::gates(&netlist), Inputs::Fresh { instances: 1 }), &Control::default())
            .and_then(|work| work.estimate(&Control::default()))
            .unwrap()
            .recrypts;
    }
    assert!(recrypts > 100, "many are deep enough for a recryption: {recrypts}");
}

#[test]
fn every_gate_on_every_input() {
    check_gates(setup());
}

#[test]
fn programs_run_and_results_go_on_as_inputs() {
    let Setup { client, server, .. } = setup();
    let u4 = Type::Uint(4);
    let values = [3u128, 9, 15];
    let x = client.encrypt(&Plain::new(u4, Some(vec![3]), values.to_vec()).unwrap()).unwrap();
    let (mut y, mut want) = (x.clone(), values);
    for name in ["mul", "add", "max", "mul", "sub", "div", "mul"] {
        let program = Program::from_op(name, &[u4, u4]).unwrap();
        y = server.run(Work::program(&program, &[y, x.clone()]), &Control::default()).unwrap().swap_remove(0);
        for (want, value) in want.iter_mut().zip(values) {
            *want = program.evaluate(&[*want, value]).unwrap()[0].to_u128().unwrap();
        }
        assert_eq!(client.decrypt(&y).unwrap().values, want, "{name}");
    }
}

#[test]
fn results_do_not_depend_on_threads_nor_on_the_method() {
    let Setup { client, key, server } = setup();
    let x = client.encrypt(&Plain::new(Type::Uint(4), Some(vec![2]), vec![5, 14]).unwrap()).unwrap();
    let recrypts = |netlist: &Netlist| {
        server
            .prepare(Work::program(&crate::gates(netlist), Inputs::Fresh { instances: 1 }), &Control::default())
            .and_then(|work| work.estimate(&Control::default()))
            .unwrap()
            .recrypts
    };
    let netlist = (1..100).map(chain).find(|netlist| recrypts(netlist) > 0).unwrap();
    // Two elements a run.
    let recrypts = 2 * recrypts(&netlist);
    assert!(recrypts < 64, "one run is not worth the largest table: {recrypts}");
    let run = |server: &Server| {
        server.run(Work::program(&crate::gates(&netlist), std::slice::from_ref(&x)), &Control::default()).unwrap()
    };
    let want = run(server);
    let params = Params::named("ci-15").unwrap();
    let method = |server: &Server| {
        let tables = server.memory_bytes() - 8 * params.server_key_words();
        RecryptMethod::ALL.into_iter().find(|method| method.memory(&params) == tables as u64).unwrap()
    };
    use RecryptMethod::{FullFft, PairTable, PartialFft};
    let middle = FullFft.memory(&params);
    for (threads, memory, methods) in [
        (1, None, [FullFft, PairTable]),
        // Room for the least tables alone, and for those of the middle.
        (2, Some(PartialFft.memory(&params)), [PartialFft, PartialFft]),
        (2, Some(middle), [FullFft, RecryptMethod::fitting(&params, middle).unwrap()]),
    ] {
        let server =
            Server::with_options(key, &ServerOptions { threads: Some(threads), memory, ..ServerOptions::default() })
                .unwrap();
        assert_eq!(run(&server), want, "{methods:?}");
        assert_eq!(method(&server), methods[0]);
        // From many recryptions on, with larger tables.
        for _ in 0..64 / recrypts {
            assert_eq!(run(&server), want, "{methods:?}");
        }
        assert_eq!(method(&server), methods[1]);
    }
}

#[test]
fn too_little_memory_is_told_before_the_work_with_what_would_do() {
    let error = Server::with_options(
        &setup().key,
        &ServerOptions { threads: Some(1), memory: Some(1 << 16), ..ServerOptions::default() },
    );
    let message = error.unwrap_err().to_string();
    assert!(message.contains("0 MiB are allowed") && message.contains("allow 1 MiB by --memory"), "{message}");
}

#[test]
fn costs_count_recrypts_and_products_before_anything_runs() {
    let u8 = Type::Uint(8);
    let add = Program::from_op("add", &[u8, u8]).unwrap();
    let mul = Program::from_op("mul", &[u8, u8]).unwrap();
    let (sum, product) = (cost(&add, "toy").unwrap(), cost(&mul, "toy").unwrap());
    assert_eq!((sum.bootstraps, sum.recrypts, sum.depth), (0, 0, 0));
    assert!(sum.products >= 7 && product.products > sum.products, "{sum} {product}");
    assert!(sum.to_string().contains("0 recrypts"), "{sum}");
    let Setup { server, .. } = setup();
    let estimate = server
        .prepare(Work::program(&add, Inputs::Fresh { instances: 3 }), &Control::default())
        .and_then(|work| work.estimate(&Control::default()))
        .unwrap();
    assert_eq!(estimate.products, 3 * cost(&add, "ci-15").unwrap().products);
    assert!(estimate.seconds > 0.0 && estimate.bootstrap_seconds > 0.0);
}

#[test]
fn a_set_that_no_recryption_helps_refuses_deep_circuits_and_runs_shallow_ones() {
    let Setup { client, server, .. } = Setup::new("gh", "ci-3", 3);
    let x = encrypt(&client, Type::Uint(4), 11);
    let run = |rounds| {
        server.run(Work::program(&crate::gates(&chain(rounds)), std::slice::from_ref(&x)), &Control::default())
    };
    let out = run(1).unwrap();
    assert_eq!(client.decrypt(&out[0]).unwrap().values, chain(1).evaluate(&[11]).unwrap());
    let error = run(40).unwrap_err();
    assert!(matches!(error, Error::TooDeep { .. }) && error.to_string().contains("ci-15"), "{error}");
}

#[test]
fn files_keep_values_and_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let Setup { client, key, server } = setup();
    client.save(&at("client.key"), false).unwrap();
    key.save(&at("server.key"), false).unwrap();
    let loaded = ClientKey::load(&at("client.key")).unwrap().allow_research();
    let again = Server::new(&ServerKey::load(&at("server.key")).unwrap(), Some(1)).unwrap();
    let i4 = Type::Int(4);
    // The server key encrypts, too.
    let public = EncryptionKey::load(&at("server.key")).unwrap().allow_research();
    assert_eq!((public.key_id(), public.params().name), (client.key_id(), "ci-15".to_owned()));
    for x in [
        loaded.encrypt(&Plain::parse(i4, &["-8", "7"], Some(vec![2])).unwrap()).unwrap(),
        public.encrypt(&Plain::parse(i4, &["-8", "7"], Some(vec![2])).unwrap()).unwrap(),
    ] {
        x.save(&at("x.ct")).unwrap();
        let loaded = Ciphertext::load(&at("x.ct")).unwrap();
        assert_eq!(loaded, x);
        assert_eq!((loaded.scheme().name(), loaded.form(), loaded.params_name()), ("gh", Form::Bits, "ci-15"));
        let program = Program::from_op("neg", &[i4]).unwrap();
        let y = again.run(Work::program(&program, std::slice::from_ref(&loaded)), &Control::default()).unwrap();
        assert_eq!(y, server.run(Work::program(&program, &[x]), &Control::default()).unwrap());
        let y = Ciphertext::from_bytes(&y[0].to_bytes().unwrap()).unwrap();
        assert_eq!(client.decrypt(&y).unwrap().to_strings(), ["-8", "-7"]);
    }
    let part = Ciphertext::load(&at("x.ct")).unwrap();
    let stacked = Ciphertext::stack(vec![part.get(1).unwrap(), part.get(0).unwrap()]).unwrap();
    assert_eq!(client.decrypt(&stacked).unwrap().to_strings(), ["7", "-8"]);
    assert!(part.get(2).is_err());
}

#[test]
fn sums_and_products_of_public_bits_are_read_back() {
    let Setup { client, server, .. } = setup();
    let u4 = Type::Uint(4);
    let [add, mul, xor] = ["add", "mul", "xor"].map(|op| Program::from_op(op, &[u4, u4]).unwrap());
    let mut b = ProgramBuilder::new();
    let x = b.input("x", u4).unwrap();
    let fifteen = b.constant(15, u4).unwrap();
    let or = b.op(Op::Or, &[x, fifteen]).unwrap();
    b.output("or", or);
    let run = |program: &Program, inputs: &[Ciphertext]| {
        let out = server.run(Work::program(program, inputs), &Control::default()).unwrap().swap_remove(0);
        Ciphertext::from_bytes(&out.to_bytes().unwrap()).unwrap()
    };
    let x = encrypt(client, u4, 9);
    let mut value = run(&b.finish().unwrap(), std::slice::from_ref(&x));
    let mut want = 15;
    for program in [&xor, &add, &mul, &add, &add, &xor, &add, &mul] {
        let other = if want == 0 { x.clone() } else { value.clone() };
        let plain = if want == 0 { 9 } else { want };
        value = run(program, &[value, other]);
        want = program.evaluate(&[want, plain]).unwrap()[0].to_u128().unwrap();
        assert_eq!(client.decrypt(&value).unwrap().values, [want]);
    }
}

#[test]
fn mistakes_get_typed_errors() {
    let Setup { client, server, .. } = setup();
    let other = Setup::new("gh", "ci-15", 2);
    let tfhe = KeygenOptions { params: Some("gates-40".into()), insecure_seed: Some(1), ..Default::default() };
    let (tfhe, tfhe_key) = keygen(&tfhe, &Control::default()).unwrap();
    let u4 = Type::Uint(4);
    let program = Program::from_op("add", &[u4, u4]).unwrap();
    let x = encrypt(client, u4, 3);
    let control = Control::default();
    for (foreign, word) in
        [(encrypt(&other.client, u4, 3), "belongs to key"), (encrypt(&tfhe, u4, 3), "is of scheme tfhe")]
    {
        let refused = |error: Error| assert!(error.to_string().contains(word), "{error}");
        refused(server.run(Work::program(&program, &[x.clone(), foreign.clone()]), &control).unwrap_err());
        refused(client.decrypt(&foreign).unwrap_err());
        refused(Ciphertext::stack(vec![x.clone(), foreign]).unwrap_err());
    }
    let tfhe_server = Server::new(&tfhe_key, Some(1)).unwrap();
    assert!(matches!(
        tfhe_server.run(Work::program(&program, &[x.clone(), x.clone()]), &control),
        Err(Error::SchemeMismatch { .. })
    ));
    assert!(matches!(
        server.run(Work::Convert { ciphertext: &x, form: Form::Radix }, &control),
        Err(Error::SchemeForm { .. })
    ));
    let cancelled = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancelled), ..Default::default() };
    assert!(matches!(server.run(Work::program(&program, &[x.clone(), x]), &control), Err(Error::Cancelled)));
    assert!(matches!(keygen(&options("ci-15", 9), &control), Err(Error::Cancelled)));

    check_refused(KeygenOptions { research: false, ..options("toy", 1) }, "research only");
    check_refused(KeygenOptions { params: None, ..options("toy", 1) }, "choose one of toy, small");
    check_refused(options("huge", 1), "toy");
    assert!("bfv".parse::<Scheme>().unwrap_err().to_string().contains("tfhe, gh, ntru, bgv, lwe"));
}

#[test]
fn a_run_stops_after_the_step_in_flight() {
    let Setup { client, server, .. } = setup();
    let x = encrypt(client, Type::Uint(4), 9);
    let (stop, steps) = (AtomicBool::new(false), AtomicBool::new(false));
    let progress = |progress: solinas_engine::Progress| {
        assert!(progress.done <= progress.total);
        if progress.done > 0 {
            steps.store(true, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
        }
    };
    let control = Control { progress: Some(&progress), cancel: Some(&stop) };
    let run = server.run(Work::program(&crate::gates(&chain(200)), &[x]), &control);
    assert!(matches!(run, Err(Error::Cancelled)) && steps.load(Ordering::Relaxed), "{run:?}");
}

/// The bytes of a file with its noise section set to a bound, sums of hashes made anew.
fn with_noise(x: &Ciphertext, noise: f64) -> Result<Ciphertext, Error> {
    use solinas_formats::{Expect, KeyFiles, Kind, Reader, Writer, gh as files, pack};
    let bytes = x.to_bytes()?;
    let reader = Reader::from_bytes("x", &bytes[..], Expect::kind(Kind::Ciphertext))?;
    let words: usize = reader.meta("words")?;
    let (ty, form): (String, String) = (reader.meta("type")?, reader.meta("form")?);
    let header = files::Gh::header(Kind::Ciphertext, &files::Gh::read_params(&reader)?, x.key_id(), true)?
        .meta("words", &words)?
        .meta("type", &ty)?
        .meta("form", &form)?
        .meta("shape", &x.shape())?;
    let mut writer = Writer::in_memory(header);
    writer.section("residues", &reader.section("residues")?)?;
    writer.section("noise", &pack::u64_to_le(&vec![noise.to_bits(); x.ty().width()]))?;
    Ciphertext::from_bytes(&writer.into_bytes()?)
}

#[test]
fn exhausted_ciphertexts_are_refused_and_forged_bounds_too() {
    let Setup { client, server, .. } = setup();
    let u4 = Type::Uint(4);
    let x = encrypt(client, u4, 6);
    let neg = Program::from_op("neg", &[u4]).unwrap();
    let run = |x: Ciphertext| server.run(Work::program(&neg, &[x]), &Control::default());
    // Room to decrypt, not to compute.
    let tired = with_noise(&x, 377.0).unwrap();
    assert_eq!(client.decrypt(&tired).unwrap().values, [6]);
    // The estimate counts with the noise there is, too, and with all elements.
    let estimate = |x: &Ciphertext| {
        server
            .prepare(Work::program(&neg, std::slice::from_ref(x)), &Control::default())
            .and_then(|work| work.estimate(&Control::default()))
    };
    assert!(matches!(estimate(&tired), Err(Error::Exhausted { .. })));
    let noisy = with_noise(&x, 370.0).unwrap();
    assert_eq!(
        (
            estimate(&x).unwrap().recrypts,
            server
                .prepare(Work::program(&neg, Inputs::Fresh { instances: 1 }), &Control::default())
                .and_then(|work| work.estimate(&Control::default()))
                .unwrap()
                .recrypts
        ),
        (0, 0)
    );
    assert!(estimate(&noisy).unwrap().recrypts > 0);
    let three = Ciphertext::stack(vec![x.clone(), noisy.clone(), x.clone()]).unwrap();
    assert_eq!(estimate(&three).unwrap().recrypts, 3 * estimate(&noisy).unwrap().recrypts);
    let mut b = Builder::new();
    let bits = b.input("x", 4, false);
    let and = b.binary(solinas_circuits::BinaryOp::And, bits[0], bits[1]);
    b.output("y", &[and], false);
    let and = b.finish().unwrap();
    let circuit = |x: &Ciphertext| {
        server
            .prepare(Work::program(&crate::circuit(&and), std::slice::from_ref(x)), &Control::default())
            .and_then(|work| work.estimate(&Control::default()))
            .unwrap()
    };
    assert_eq!((circuit(&x).products, circuit(&three).products), (1, 3));
    assert!(circuit(&x).recrypts == 0 && circuit(&noisy).recrypts > 0);
    let error = run(tired).unwrap_err();
    assert!(matches!(error, Error::Exhausted { .. }) && error.to_string().contains("encrypt it again"), "{error}");
    let spent = with_noise(&x, noise::capacity(&Params::named("ci-15").unwrap()) - 0.5).unwrap();
    assert!(client.decrypt(&spent).unwrap_err().to_string().contains("encrypt its inputs again"));
    assert!(matches!(run(spent), Err(Error::Exhausted { .. })));
    // Much, but not too much: recrypted where needed.
    let out = run(with_noise(&x, 370.0).unwrap()).unwrap();
    assert_eq!(client.decrypt(&out[0]).unwrap().values, [10]);
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e308, 1e-320, -0.0, 0.0] {
        assert!(with_noise(&x, bad).unwrap_err().to_string().contains("noise"), "{bad}");
    }
}
