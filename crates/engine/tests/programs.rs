//! Programs and circuits on encrypted data agree with plain arithmetic, in both families.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::test_runner::{Config, TestRunner};
use solinas_engine::program::{OPERATIONS, Op};
use solinas_engine::{
    Ciphertext, ClientKey, Control, Error, ErrorKind, Form, Input, Inputs, KeygenOptions, Natural, Plain, Program,
    ProgramBuilder, PublicKey, Server, Type, Work, build, import, keygen,
};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

struct Setup {
    client: ClientKey,
    public: PublicKey,
    server: Server,
}

fn setup(name: &str) -> Setup {
    let options =
        KeygenOptions { params: Some(name.into()), research: true, insecure_seed: Some(11), ..Default::default() };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let public = client.public_key().unwrap();
    Setup { client, public, server: Server::new(&key, Some(2)).unwrap() }
}

fn gates() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| setup("gates-toy"))
}

fn integers() -> &'static Setup {
    static KEY: OnceLock<Setup> = OnceLock::new();
    KEY.get_or_init(|| setup("integers-toy"))
}

impl Setup {
    /// The outputs of a program. Its first input is encrypted with the client key, the second with the public key, and so on. The outputs
    /// are decrypted in their full form and in the compact one.
    fn run(&self, program: &Program, inputs: &[Vec<u128>]) -> Vec<Vec<Natural>> {
        let inputs: Vec<Ciphertext> = program
            .inputs
            .iter()
            .zip(inputs)
            .enumerate()
            .map(|(place, (input, values))| {
                let plain = Plain::new(input.ty, Some(vec![values.len()]), values.clone()).unwrap();
                if place % 2 == 0 { self.client.encrypt(&plain) } else { self.public.encrypt(&plain) }.unwrap()
            })
            .collect();
        let outputs = self.server.run(Work::program(program, &inputs), &Control::default()).unwrap();
        let decrypted = |output: &Ciphertext| {
            let full = self.client.decrypt(output).unwrap();
            assert_eq!(self.client.decrypt(&self.server.compact(output).unwrap()).unwrap(), full);
            full.values
        };
        outputs.iter().map(decrypted).collect()
    }
}

/// Types of the operands of an operation.
fn operands(name: &str, ty: Type, arity: usize) -> Vec<Type> {
    match (name, arity) {
        ("select", _) => vec![Type::Bool, ty, ty],
        ("shl" | "shr" | "rotate_left" | "rotate_right", _) => vec![ty, Type::Uint(2)],
        (_, arity) => vec![ty; arity],
    }
}

/// The bits of the largest unsigned value of a type of at most 128 bits.
fn mask(ty: Type) -> u128 {
    ty.mask().to_u128().unwrap()
}

/// Runs a program on lanes of inputs and compares with plain arithmetic.
fn agrees(setup: &Setup, program: &Program, name: &str, lanes: &[Vec<u128>]) {
    let inputs: Vec<Vec<u128>> =
        (0..program.inputs.len()).map(|input| lanes.iter().map(|lane| lane[input]).collect()).collect();
    let got = setup.run(program, &inputs);
    for (i, lane) in lanes.iter().enumerate() {
        let got: Vec<Natural> = got.iter().map(|output| output[i].clone()).collect();
        assert_eq!(got, program.evaluate(lane).unwrap(), "{name} of {lane:?} as {}", program.inputs[0].ty);
    }
}

/// Every operation on every input of a small type.
fn every_operation_exhaustively(setup: &Setup, ty: Type) {
    for operation in OPERATIONS {
        let Ok(program) = Program::from_op(operation.name, &operands(operation.name, ty, operation.arity)) else {
            continue;
        };
        let mut lanes = vec![Vec::new()];
        for input in &program.inputs {
            let values = 0..=mask(input.ty);
            lanes = lanes.iter().flat_map(|lane| values.clone().map(move |v| [&lane[..], &[v]].concat())).collect();
        }
        agrees(setup, &program, operation.name, &lanes);
    }
}

/// Operations at a width, on corners and random inputs.
fn sampled(setup: &Setup, names: &[&str], ty: Type) {
    let mut state = 0x1234_5678_9abc_def1u128;
    for name in names {
        let program = Program::from_op(name, &operands(name, ty, 2)).unwrap();
        let mut lane = |corner: Option<u128>| -> Vec<u128> {
            let mut value = |mask: u128| {
                state = state.wrapping_mul(0x2d99_7879_26d4_6932_a4c1_f325_80f5_b171).wrapping_add(99);
                (state ^ state >> 64) & mask
            };
            vec![corner.unwrap_or_else(|| value(mask(ty))), value(mask(program.inputs[1].ty))]
        };
        let lanes = [lane(Some(mask(ty))), lane(Some(mask(ty) >> 1)), lane(None)];
        agrees(setup, &program, name, &lanes);
    }
}

#[test]
fn every_operation_on_gates() {
    every_operation_exhaustively(gates(), Type::Uint(2));
    every_operation_exhaustively(gates(), Type::Int(2));
    sampled(gates(), &["mul", "div", "rem", "max", "rotate_left"], Type::Int(7));
    for width in [16, 32, 48, 64, 128] {
        sampled(gates(), &["add", "lt"], Type::Uint(width));
    }
}

#[test]
fn every_operation_on_tables() {
    every_operation_exhaustively(integers(), Type::Uint(2));
    every_operation_exhaustively(integers(), Type::Int(1));
    sampled(integers(), &["mul", "div", "shr", "min"], Type::Int(7));
    for width in [16, 32, 48, 64, 128] {
        sampled(integers(), &["add", "lt", "eq"], Type::Uint(width));
    }
    sampled(integers(), &["mul"], Type::Uint(16));
}

#[test]
fn circuits_run_in_both_families() {
    let mut b = solinas_circuits::Builder::new();
    let (x, y) = (b.input("x", 6, false), b.input("y", 6, false));
    let product = build::mul(&mut b, build::Multiplier::Oh2018, &x, &y);
    b.output("z", &product, false);
    let netlist =
        import::read_bristol(&solinas_circuits::export::write_bristol(&b.finish().unwrap()).unwrap()).unwrap();
    for setup in [gates(), integers()] {
        let encrypt = |value| setup.client.encrypt(&Plain::scalar(Type::Uint(6), value).unwrap()).unwrap();
        let out = setup
            .server
            .run(Work::program(&crate::circuit(&netlist), &[encrypt(37), encrypt(29)]), &Control::default())
            .unwrap();
        assert_eq!(setup.client.decrypt(&out[0]).unwrap().values, [37 * 29 % 64]);
    }
}

/// A circuit of a wide port and a narrow one: NOT of every bit but the first, which is an AND of the ends of the wide port and of the
/// narrow one.
fn wide_circuit(width: usize) -> solinas_circuits::Netlist {
    let mut b = solinas_circuits::Builder::new();
    let (x, y) = (b.input("x", width, false), b.input("y", 2, false));
    let ends = b.and(x[0], x[width - 1]);
    let both = b.and(ends, y[1]);
    let out: Vec<_> = (0..width).map(|i| if i == 0 { both } else { b.not(x[i]) }).collect();
    b.output("z", &out, false);
    b.output("both", &[both], false);
    b.finish().unwrap()
}

#[test]
fn ports_of_any_width_take_arrays_of_bools() {
    const WIDTH: usize = 2050;
    let netlist = wide_circuit(WIDTH);
    let x: Vec<u128> = (0..2 * WIDTH as u128).map(|i| u128::from(i % 3 == 0)).collect();
    let want = |bits: &[u128]| {
        let both = bits[0] & bits[WIDTH - 1];
        (bits.iter().enumerate().map(|(i, bit)| if i == 0 { both } else { 1 - bit }).collect::<Vec<_>>(), both)
    };
    for Setup { client, server, .. } in [gates(), integers()] {
        let encrypt = |ty, shape: &[usize], values: &[u128]| {
            let shape = (!shape.is_empty()).then(|| shape.to_vec());
            client.encrypt(&Plain::new(ty, shape, values.to_vec()).unwrap()).unwrap()
        };
        let run = |x: &Ciphertext, y: &Ciphertext| {
            let inputs = [x.clone(), y.clone()];
            let estimate = server
                .prepare(Work::program(&crate::circuit(&netlist), &inputs), &Control::default())
                .and_then(|work| work.estimate(&Control::default()))
                .unwrap();
            assert!(estimate.bootstraps >= 1, "{estimate}");
            let out = server.run(Work::program(&crate::circuit(&netlist), &inputs), &Control::default()).unwrap();
            out.iter().map(|out| client.decrypt(out).unwrap()).collect::<Vec<_>>()
        };
        let (bits, y) = (encrypt(Type::Bool, &[WIDTH], &x[..WIDTH]), encrypt(Type::Uint(2), &[], &[2]));
        let (z, both) = want(&x[..WIDTH]);
        let shape = Some(vec![WIDTH]);
        let whole = [Plain::new(Type::Bool, shape, z).unwrap(), Plain::scalar(Type::Bool, both).unwrap()];
        assert_eq!(run(&bits, &y), whole);
        assert_eq!(run(&bits, &encrypt(Type::Bool, &[2], &[0, 1])), whole, "a narrow port by its bits, too");
        // Two values side by side.
        let got = run(&encrypt(Type::Bool, &[2, WIDTH], &x), &y);
        let (first, second) = (want(&x[..WIDTH]), want(&x[WIDTH..]));
        assert_eq!(got[0], Plain::new(Type::Bool, Some(vec![2, WIDTH]), [first.0, second.0].concat()).unwrap());
        assert_eq!(got[1], Plain::new(Type::Bool, Some(vec![2]), vec![first.1, second.1]).unwrap());
        let refused = |input: Ciphertext| {
            server
                .run(Work::program(&crate::circuit(&netlist), &[input, y.clone()]), &Control::default())
                .unwrap_err()
                .to_string()
        };
        let message = refused(encrypt(Type::Uint(128), &[], &[1]));
        assert!(message.contains("\"x\" has 2050 bits, got one u128") && message.contains("--bits 2050"), "{message}");
        let message = refused(encrypt(Type::Bool, &[WIDTH - 1], &x[..WIDTH - 1]));
        assert!(message.contains("an array of bool of shape [2049]"), "{message}");
    }
}

#[test]
fn public_values_are_inputs_of_circuits() {
    const WIDTH: usize = 2050;
    let program = crate::circuit(&wide_circuit(WIDTH));
    let x: Vec<u128> = (0..WIDTH as u128).map(|i| u128::from(i % 3 != 1)).collect();
    for Setup { client, server, .. } in [gates(), integers()] {
        let x = Plain::new(Type::Bool, Some(vec![WIDTH]), x.clone()).unwrap();
        let encrypted: Vec<Input> =
            vec![client.encrypt(&x).unwrap().into(), Plain::scalar(Type::Uint(2), 2).unwrap().into()];
        let y = Plain::new(Type::Bool, Some(vec![3, 2]), vec![0, 1, 1, 0, 1, 1]).unwrap();
        let public: Vec<Input> = vec![x.into(), client.encrypt(&y).unwrap().into()];
        for (inputs, want) in [(&encrypted, vec![1]), (&public, vec![1, 0, 1])] {
            let out = server.run(Work::program(&program, inputs), &Control::default()).unwrap();
            assert_eq!(client.decrypt(&out[1]).unwrap().values, want);
        }
    }
}

#[test]
fn circuits_are_priced_without_ciphertexts_or_keys() {
    let netlist = wide_circuit(512);
    for (setup, set) in [(gates(), "gates-toy"), (integers(), "integers-toy")] {
        let (estimate, cost) = (
            setup
                .server
                .prepare(Work::program(&crate::circuit(&netlist), Inputs::Fresh { instances: 1 }), &Control::default())
                .and_then(|work| work.estimate(&Control::default()))
                .unwrap(),
            solinas_engine::cost_under(None, &crate::circuit(&netlist), set, &Control::default()).unwrap(),
        );
        assert!(estimate.seconds > 0.0 && cost.seconds == 0.0);
        assert_eq!((estimate.bootstraps, estimate.depth), (cost.bootstraps, cost.depth));
    }
    for params in solinas_engine::params() {
        match solinas_engine::cost_under(None, &crate::circuit(&netlist), &params.name, &Control::default()) {
            Ok(cost) => assert!(cost.bootstraps + cost.products + cost.recrypts > 0, "{}: {cost}", params.name),
            Err(Error::Modular { .. } | Error::Levels { .. } | Error::Memory { .. } | Error::Exhausted { .. }) => {}
            Err(other) => panic!("{}: {other}", params.name),
        }
    }
}

#[test]
fn constant_programs_run_without_inputs_and_report_no_steps() {
    let mut builder = ProgramBuilder::new();
    let constant = builder.constant(5, Type::Uint(4)).unwrap();
    builder.output("five", constant);
    let program = builder.finish().unwrap();
    let reported = AtomicBool::new(false);
    let report = |_| reported.store(true, Ordering::Relaxed);
    let control = Control { progress: Some(&report), cancel: None };
    for setup in [gates(), integers()] {
        let work = Work::program(&program, Inputs::Fresh { instances: 3 });
        let prepared = setup.server.prepare(work.clone(), &Control::default()).unwrap();
        assert!(prepared.estimate(&Control::default()).unwrap().seconds.is_sign_positive());
        let outputs = setup.server.run(work, &control).unwrap();
        assert_eq!(setup.client.decrypt(&outputs[0]).unwrap().to_strings(), ["5"]);
    }
    assert!(!reported.load(Ordering::Relaxed), "there are no steps to report");
}

#[test]
fn bristol_adder64_runs_encrypted() {
    let netlist = import::read(include_str!("../../circuits/tests/public/bristol_adder64.txt")).unwrap();
    let (a, b) = (0xffff_ffff_0000_0001u128, 0x0000_0001_ffff_ffffu128);
    let encrypt = |value| gates().client.encrypt(&Plain::scalar(Type::Uint(64), value).unwrap()).unwrap();
    let out = gates()
        .server
        .run(Work::program(&crate::circuit(&netlist), &[encrypt(a), encrypt(b)]), &Control::default())
        .unwrap();
    assert_eq!(gates().client.decrypt(&out[0]).unwrap().values, [(a + b) & u128::from(u64::MAX)]);
}

#[test]
fn forms_convert_into_each_other() {
    let Setup { client, server, .. } = integers();
    for ty in [Type::Uint(7), Type::Bool, Type::Int(8)] {
        let plain = Plain::new(ty, Some(vec![2]), vec![mask(ty), 1]).unwrap();
        let radix = client.encrypt(&plain).unwrap();
        let bits =
            server.run(Work::Convert { ciphertext: &radix, form: Form::Bits }, &Control::default()).unwrap().remove(0);
        assert_eq!((bits.form(), client.decrypt(&bits).unwrap()), (Form::Bits, plain.clone()));
        let back =
            server.run(Work::Convert { ciphertext: &bits, form: Form::Radix }, &Control::default()).unwrap().remove(0);
        assert_eq!((back.form(), client.decrypt(&back).unwrap()), (Form::Radix, plain));
    }
}

#[test]
fn results_go_on_as_inputs() {
    // Each step's outputs carry more noise than fresh ciphertexts; what they feed is planned for it.
    let u6 = Type::Uint(6);
    let step = |name| Program::from_op(name, &[u6, u6]).unwrap();
    for setup in [gates(), integers()] {
        let x = setup.client.encrypt(&Plain::new(u6, Some(vec![3]), vec![1, 42, 63]).unwrap()).unwrap();
        let (mut y, mut want) = (x.clone(), [1u128, 42, 63]);
        for name in ["mul", "add", "sub", "mul", "max", "xor", "add"] {
            let program = step(name);
            y = setup.server.run(Work::program(&program, &[y, x.clone()]), &Control::default()).unwrap().swap_remove(0);
            for (want, x) in want.iter_mut().zip([1, 42, 63]) {
                *want = program.evaluate(&[*want, x]).unwrap()[0].to_u128().unwrap();
            }
            assert_eq!(setup.client.decrypt(&y).unwrap().values, want, "{name}");
        }
    }
}

#[test]
fn one_ciphertext_serves_as_every_input() {
    let u6 = Type::Uint(6);
    let program = Program::from_op("mul", &[u6, u6]).unwrap();
    let choose = Program::from_op("select", &[Type::Bool, u6, u6]).unwrap();
    for setup in [gates(), integers()] {
        let encrypt = |ty, value| setup.client.encrypt(&Plain::scalar(ty, value).unwrap()).unwrap();
        let yes = encrypt(Type::Bool, 1);
        // A result of MUX gates, the noisiest there is, then multiplied with itself.
        let x = setup
            .server
            .run(Work::program(&choose, &[yes, encrypt(u6, 23), encrypt(u6, 9)]), &Control::default())
            .unwrap();
        let x = x[0].clone();
        let square = setup.server.run(Work::program(&program, &[x.clone(), x]), &Control::default()).unwrap();
        assert_eq!(setup.client.decrypt(&square[0]).unwrap().values, [23 * 23 % 64]);
    }
}

/// More noise in a sum than any key allows, were the inputs not refreshed before.
#[test]
fn one_ciphertext_serves_as_hundreds_of_inputs() {
    let u2 = Type::Uint(2);
    let mut builder = ProgramBuilder::new();
    let inputs: Vec<_> = (0..200).map(|i| builder.input(format!("x{i}"), u2).unwrap()).collect();
    let sum = builder.op(Op::Add, &[inputs[0], inputs[199]]).unwrap();
    let less = builder.op(Op::Lt, &[inputs[1], sum]).unwrap();
    builder.output("sum", sum);
    builder.output("less", less);
    let program = builder.finish().unwrap();
    for setup in [gates(), integers()] {
        let x = setup.client.encrypt(&Plain::scalar(u2, 3).unwrap()).unwrap();
        let out = setup.server.run(Work::program(&program, &vec![x; 200]), &Control::default()).unwrap();
        let out: Vec<_> =
            out.iter().map(|out| setup.client.decrypt(out).unwrap().values[0].to_u128().unwrap()).collect();
        assert_eq!(out, [2, 0]);
    }
}

/// Gates of one operand many times over, which optimized circuits do not have.
#[test]
fn gates_of_repeated_operands_run_as_they_are() {
    let mut b = solinas_circuits::Builder::verbatim();
    let (x, y) = (b.input("x", 2, false), b.input("y", 1, false)[0]);
    let mux = b.mux(x[0], x[1], y);
    let mut outputs = vec![mux, b.xor3(mux, mux, mux), b.xor3(mux, mux, y), b.maj(mux, mux, mux), b.maj(mux, y, mux)];
    outputs.extend([b.mux(mux, mux, y), b.mux(mux, mux, mux), b.and(mux, mux), b.xor(mux, mux)]);
    b.output("z", &outputs, false);
    let netlist = b.finish().unwrap();
    let want = [(0, 0), (1, 0), (3, 0), (2, 1), (3, 1)]
        .map(|(x, y)| (x, y, netlist.evaluate(&[x, y]).unwrap()[0].to_u128().unwrap()));
    for setup in [gates(), integers()] {
        for (x, y, want) in want {
            let inputs = [(Type::Uint(2), x), (Type::Bool, y)]
                .map(|(ty, value)| setup.client.encrypt(&Plain::scalar(ty, value).unwrap()).unwrap());
            let out = setup.server.run(Work::program(&crate::gates(&netlist), &inputs), &Control::default()).unwrap();
            assert_eq!(setup.client.decrypt(&out[0]).unwrap().values, [want], "{x} {y}");
        }
    }
}

#[test]
fn arrays_longer_than_a_batch_and_empty_ones_run() {
    let program = Program::from_op("xor", &[Type::Bool, Type::Bool]).unwrap();
    for len in [0, 70] {
        let values: Vec<u128> = (0..len).map(|i| i % 3 % 2).collect();
        let want: Vec<u128> = values.iter().map(|value| value ^ 1).collect();
        assert_eq!(gates().run(&program, &[values, vec![1; len as usize]]), [want]);
    }
}

#[test]
fn files_hold_no_empty_arrays() {
    use solinas_formats::{Header, Kind, Writer};
    let empty = Plain::new(Type::Uint(8), Some(vec![0]), Vec::<Natural>::new()).unwrap();
    let saved = gates().client.encrypt(&empty).and_then(|array| array.to_bytes()).unwrap_err();
    let header = Header::new(Kind::Ciphertext).scheme("tfhe").meta("type", &"u8").unwrap();
    let header = header.meta("form", &Form::Bits).unwrap().meta("shape", &Some([2, 0])).unwrap();
    let loaded = Ciphertext::from_bytes(&Writer::in_memory(header).into_bytes().unwrap()).unwrap_err();
    for error in [saved, loaded] {
        assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
        assert!(error.to_string().contains("at least one element"), "{error}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let Setup { client, server, .. } = gates();
    let options = KeygenOptions {
        params: Some("gates-toy".into()),
        research: true,
        insecure_seed: Some(11),
        ..Default::default()
    };
    let (_, key) = keygen(&options, &Control::default()).unwrap();
    let one = Server::new(&key, Some(1)).unwrap();
    let u4 = Type::Uint(4);
    // There are at least as many lanes as threads, so both servers choose the schedule with the fewest bootstraps.
    let a = client.encrypt(&Plain::new(u4, Some(vec![3]), vec![3, 9, 15]).unwrap()).unwrap();
    let program = Program::from_op("mul", &[u4, u4]).unwrap();
    let inputs = [a.clone(), a];
    assert_eq!(
        one.run(Work::program(&program, &inputs), &Control::default()).unwrap(),
        server.run(Work::program(&program, &inputs), &Control::default()).unwrap()
    );
}

#[test]
fn keys_and_ciphertexts_survive_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let Setup { client, server, .. } = gates();
    let path = folder.path().join("client.key");
    client.save(&path, false).unwrap();
    assert!(client.save(&path, false).is_err(), "a key is never replaced unasked");
    let loaded = ClientKey::load(&path).unwrap().allow_research();
    let text = ["-8", "7"];
    let x = loaded.encrypt(&Plain::parse(Type::Int(4), &text, Some(vec![2])).unwrap()).unwrap();
    x.save(&folder.path().join("x.ct")).unwrap();
    let x = Ciphertext::load(&folder.path().join("x.ct")).unwrap();
    let program = Program::from_op("neg", &[Type::Int(4)]).unwrap();
    let y = server.run(Work::program(&program, &[x]), &Control::default()).unwrap();
    assert_eq!(client.decrypt(&y[0]).unwrap().to_strings(), ["-8", "-7"]);
    let wrong = solinas_engine::ServerKey::load(&path).unwrap_err().to_string();
    assert!(wrong.contains("client key"), "{wrong}");
}

#[test]
fn mistakes_get_typed_errors() {
    let Setup { client, server, .. } = gates();
    let u4 = Type::Uint(4);
    let add = Program::from_op("add", &[u4, u4]).unwrap();
    let x = client.encrypt(&Plain::scalar(u4, 1).unwrap()).unwrap();
    let wide = client.encrypt(&Plain::scalar(Type::Uint(5), 1).unwrap()).unwrap();
    let foreign = integers().client.encrypt(&Plain::scalar(u4, 1).unwrap()).unwrap();
    let control = Control::default();
    assert!(matches!(
        server.run(Work::program(&add, std::slice::from_ref(&x)), &control),
        Err(Error::InputCount { .. })
    ));
    assert!(matches!(server.run(Work::program(&add, &[x.clone(), wide]), &control), Err(Error::InputType { .. })));
    assert!(matches!(
        server.run(Work::program(&add, &[x.clone(), foreign.clone()]), &control),
        Err(Error::KeyMismatch { .. })
    ));
    assert!(matches!(client.decrypt(&foreign), Err(Error::KeyMismatch { .. })));
    assert!(matches!(Plain::scalar(u4, 16), Err(Error::Value { .. })));
    assert!(matches!(Plain::parse(Type::Int(4), &["-9"], None), Err(Error::Value { .. })));
    let cancelled = std::sync::atomic::AtomicBool::new(true);
    let control = Control { cancel: Some(&cancelled), ..Default::default() };
    assert!(matches!(server.run(Work::program(&add, &[x.clone(), x]), &control), Err(Error::Cancelled)));
}

#[test]
fn parsing_and_printing_are_inverse() {
    let strategy = (1u16..=2048, proptest::bool::ANY, proptest::collection::vec(proptest::num::u32::ANY, 64));
    TestRunner::new(Config::default())
        .run(&strategy, |(width, signed, value)| {
            let ty = if signed { Type::Int(width) } else { Type::Uint(width) };
            let plain = Plain::new(ty, None, vec![Natural::from_digits(32, value).low(width.into())]).unwrap();
            assert_eq!(Plain::parse(ty, &plain.to_strings(), None).unwrap(), plain);
            Ok(())
        })
        .unwrap();
}
