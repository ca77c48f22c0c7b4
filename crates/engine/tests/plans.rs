//! Plans as values, runs in parts, and parts of arrays: all give the bytes of one run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../formats/tests/common/altered.rs"]
mod altered;

use solinas_circuits::program::Program;
use solinas_engine::{
    Ciphertext, ClientKey, Control, CostModel, Error, Help, Inputs, KeyId, KeygenOptions, Plain, Plan, Position,
    Prepared, Ran, RunState, Scheme, Server, ServerKey, ServerOptions, Type, Work, keygen,
};
use solinas_formats::{Expect, Header, Kind, Reader, Writer};
use solinas_schemes::tfhe::ParamsLiteral;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const U8: Type = Type::Uint(8);

fn keys(params: &str) -> (ClientKey, ServerKey) {
    let options = KeygenOptions {
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(3),
        ..KeygenOptions::default()
    };
    keygen(&options, &Control::default()).unwrap()
}

fn server(key: &ServerKey, threads: usize, model: CostModel) -> Server {
    let options = ServerOptions { threads: Some(threads), model: Some(model), ..ServerOptions::default() };
    Server::with_options(key, &options).unwrap()
}

fn array(ty: Type, values: &[u128]) -> Plain {
    Plain::new(ty, Some(vec![values.len()]), values.to_vec()).unwrap()
}

fn add() -> Program {
    Program::from_op("add", &[U8; 2]).unwrap()
}

fn bytes(results: &[Ciphertext]) -> Vec<u8> {
    results.iter().flat_map(|result| result.to_bytes().unwrap()).collect()
}

/// Compares without printing megabytes.
#[track_caller]
fn same(a: &[Ciphertext], b: &[Ciphertext]) {
    assert!(bytes(a) == bytes(b), "other bytes");
}

fn prepared(server: &Server, program: &Program, inputs: &[Ciphertext]) -> Prepared {
    server.prepare(Work::program(program, inputs), &Control::default()).unwrap()
}

fn pinned(server: &Server, program: &Program, inputs: &[Ciphertext], plan: &Plan) -> Result<Prepared, Error> {
    server.prepare_with(Work::program(program, inputs), plan.into(), &Control::default())
}

/// Two arrays of a few numbers.
fn operands(client: &ClientKey, count: usize) -> [Ciphertext; 2] {
    [3, 91].map(|step| {
        let values: Vec<u128> = (0..count as u128).map(|i| (7 + i * step) % 256).collect();
        client.encrypt(&array(U8, &values)).unwrap()
    })
}

#[test]
fn one_plan_gives_the_same_bytes_on_any_number_of_threads() {
    let control = Control::default();
    for params in ["integers-toy", "gates-toy"] {
        let (client, key) = keys(params);
        let inputs = operands(&client, 3);
        for model in [CostModel::Fewest, CostModel::Shallow, CostModel::Threads(16)] {
            let work = prepared(&server(&key, 1, model), &add(), &inputs).auditable(true);
            let plan = work.plan().unwrap();
            let want = work.run(&control).unwrap();
            assert_eq!(client.decrypt(&want[0]).unwrap().values, [14, 108, 202], "{params} {model}");
            assert_eq!((want[0].plan(), plan.model()), (Some(plan.id()), &*model.to_string()));
            assert_eq!(work.count().unwrap().bootstraps, 3 * plan.bootstraps());
            assert_eq!(work.count().unwrap().depth, plan.waves().len() as u64);
            let read = Plan::from_bytes(&plan.to_bytes().unwrap()).unwrap();
            assert_eq!(read, plan);
            // A server of another model and number of threads.
            for threads in [2, 3] {
                let other = server(&key, threads, CostModel::Threads(threads));
                let again = pinned(&other, &add(), &inputs, &read).unwrap().auditable(true);
                same(&again.run(&control).unwrap(), &want);
            }
        }
    }
}

#[test]
fn a_model_chooses_the_same_plan_on_every_server() {
    let (client, key) = keys("integers-toy");
    let inputs = operands(&client, 1);
    let plan = |threads, model| prepared(&server(&key, threads, model), &add(), &inputs).plan().unwrap();
    let (fewest, shallow) = (plan(1, CostModel::Fewest), plan(1, CostModel::Shallow));
    assert!(fewest.bootstraps() < shallow.bootstraps() && fewest.waves().len() > shallow.waves().len());
    assert_eq!(plan(2, CostModel::Threads(1)).id(), fewest.id());
    assert_eq!(plan(1, CostModel::Threads(64)).id(), shallow.id());
    // Without a model, it is that of the server's threads.
    let default = Server::new(&key, Some(2)).unwrap();
    assert_eq!(prepared(&default, &add(), &inputs).plan().unwrap(), plan(1, CostModel::Threads(2)));
}

#[test]
fn plans_of_other_work_are_refused_by_name() {
    let (client, key) = keys("integers-toy");
    let inputs = operands(&client, 1);
    let server = server(&key, 1, CostModel::Fewest);
    let plan = prepared(&server, &add(), &inputs).plan().unwrap();
    let refused = |result: Result<Prepared, Error>, what: &str| {
        let message = result.err().unwrap().to_string();
        assert!(message.starts_with("the plan is ") && message.contains(what), "{message}");
    };
    let mul = Program::from_op("mul", &[U8; 2]).unwrap();
    refused(pinned(&server, &mul, &inputs, &plan), "another program");
    // The same array twice: its sums have twice the noise of independent ones.
    refused(pinned(&server, &add(), &[inputs[0].clone(), inputs[0].clone()], &plan), "noise weight 1 at most");
    let (other_client, other_key) = keys("gates-toy");
    let others = operands(&other_client, 1);
    let other = Server::new(&other_key, Some(1)).unwrap();
    refused(pinned(&other, &add(), &others, &plan), "integers-toy");
    // Names do not matter.
    let mut renamed = add();
    renamed.inputs[0].name = "left".into();
    renamed.outputs[0].name = "sum".into();
    assert_eq!(prepared(&server, &renamed, &inputs).plan().unwrap().id(), plan.id());
    // A plan of repeated inputs takes independent ones too.
    let repeated = [inputs[0].clone(), inputs[0].clone()];
    let plan = prepared(&server, &add(), &repeated).plan().unwrap();
    let sums = pinned(&server, &add(), &inputs, &plan).unwrap().run(&Control::default()).unwrap();
    assert_eq!(client.decrypt(&sums[0]).unwrap().values, [14]);
    // Fresh inputs have a plan as well, and a conversion has none.
    let fresh = server.prepare(Work::program(&add(), Inputs::Fresh { instances: 1 }), &Control::default()).unwrap();
    assert_eq!(fresh.plan().unwrap(), prepared(&server, &add(), &inputs).plan().unwrap());
    let form = solinas_engine::Form::Bits;
    let conversion = server.prepare(Work::Convert { ciphertext: &inputs[0], form }, &Control::default()).unwrap();
    let error = conversion.plan().unwrap_err();
    // The help has a semicolon of its own.
    assert_eq!(error.what(), "a conversion has no plan");
    assert_eq!(error.to_string(), format!("{}; {}", error.what(), error.help().unwrap()));
}

/// A copy of a plan's file with another field, or another body.
fn forged(plan: &[u8], change: impl Fn(Header) -> Header, body: Option<&[u8]>) -> Vec<u8> {
    let reader = Reader::from_bytes("plan", plan, Expect::kind(Kind::Plan)).unwrap();
    let mut writer = Writer::in_memory(change(reader.header().clone()));
    writer.section("body", body.unwrap_or(&reader.section("body").unwrap())).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

/// Words of headers that an identity leaves out: of plans what is only shown or has no meaning, of paused runs what the file's owner may set, of ciphertexts what anybody with the
/// public key may choose. The key id of a ciphertext is compared with that of the server key.
const FREE: [(Kind, &[&str]); 3] = [
    (Kind::Plan, &["model", "insecure_seed"]),
    (Kind::RunState, &["outputs", "insecure_seed"]),
    (Kind::Ciphertext, &["type", "form", "shape", "noise", "blocks", "masks", "first", "insecure_seed"]),
];

#[test]
fn no_word_of_a_header_can_be_changed_under_an_identity() {
    let control = Control::default();
    let (client, key) = keys("integers-toy");
    let inputs = operands(&client, 2);
    let server = server(&key, 1, CostModel::Fewest);
    let work = prepared(&server, &add(), &inputs);
    let plan = work.plan().unwrap();
    let Ran::Paused(state) = work.run_until(None, |at| at.wave == 2, &control).unwrap() else { panic!("no pause") };
    // Whether a file is taken for the plan, the paused run or an input of this work.
    let is_plan = |bytes: &[u8]| Plan::from_bytes(bytes).is_ok_and(|other| other.id() == plan.id());
    let goes_on = |bytes: &[u8]| {
        let read = RunState::from_bytes(bytes);
        read.and_then(|state| work.run_until(Some(&state), |_| true, &control)).is_ok()
    };
    let is_input = |bytes: &[u8]| {
        let read = Ciphertext::from_bytes(bytes);
        let run = |input: Ciphertext| {
            let not = Program::from_op("not", &[input.ty()])?;
            server.prepare(Work::program(&not, &[input]), &control).map(drop)
        };
        read.and_then(run).is_ok()
    };
    type IsTaken<'a> = &'a dyn Fn(&[u8]) -> bool;
    let files: [(Kind, Vec<u8>, IsTaken<'_>); 3] = [
        (Kind::Plan, plan.to_bytes().unwrap(), &is_plan),
        (Kind::RunState, state.to_bytes().unwrap(), &goes_on),
        (Kind::Ciphertext, inputs[0].to_bytes().unwrap(), &is_input),
    ];
    let mut unbound = Vec::new();
    for (kind, bytes, is_taken) in files {
        assert!(is_taken(&bytes), "{kind}");
        let reader = Reader::from_bytes("file", bytes, Expect::kind(kind)).unwrap();
        let (_, free) = FREE.iter().find(|(of, _)| *of == kind).unwrap();
        let key = reader.key_id().map(|id| id.0);
        let other_key = key.into_iter().map(|mut id| {
            id[3] ^= 1;
            ("key_id".to_owned(), reader.header().clone().key_id(KeyId(id)))
        });
        for (path, header) in altered::altered_headers(reader.header()).into_iter().chain(other_key) {
            let mut writer = Writer::in_memory(header);
            for (section, _) in reader.sections() {
                writer.section(section, &reader.section(section).unwrap()).unwrap();
            }
            let field = path.strip_prefix("no ").unwrap_or(&path);
            // Claims of security come from the library.
            let is_claim = field.strip_prefix("params.").is_some_and(|field| ParamsLiteral::CLAIMS.contains(&field));
            let is_free = is_claim || free.iter().any(|free| field.starts_with(free));
            if !is_free && is_taken(&writer.into_bytes().unwrap()) {
                unbound.push(format!("{kind}: {path}"));
            }
        }
    }
    assert!(unbound.is_empty(), "{unbound:?}");
}

#[test]
fn damaged_and_forged_plans_are_refused() {
    let (client, key) = keys("integers-toy");
    let inputs = operands(&client, 1);
    let server = server(&key, 1, CostModel::Fewest);
    let plan = prepared(&server, &add(), &inputs).plan().unwrap();
    let good = plan.to_bytes().unwrap();
    for index in 0..good.len() {
        let mut bad = good.clone();
        bad[index] ^= 1 << (index % 8);
        assert!(Plan::from_bytes(&bad).is_err(), "byte {index}");
    }
    for len in (0..good.len()).step_by(37) {
        assert!(Plan::from_bytes(&good[..len]).is_err());
    }
    let refused = |bad: &[u8], what: &str| {
        let message = Plan::from_bytes(bad).unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
    };
    refused(&forged(&good, |header| header.meta("plan_version", &2u32).unwrap(), None), "of version 2");
    refused(&forged(&good, |header| header.meta("weight", &9u64).unwrap(), None), "another weight");
    refused(&forged(&good, |header| header.meta("body", &"gates").unwrap(), None), "have another");
    refused(&forged(&good, |header| header.meta("model", &"x").unwrap(), Some(b"")), "body");
    let mul = prepared(&server, &Program::from_op("mul", &[U8; 2]).unwrap(), &inputs).plan().unwrap();
    let mul = mul.to_bytes().unwrap();
    let other = Reader::from_bytes("plan", mul.clone(), Expect::kind(Kind::Plan)).unwrap();
    refused(&forged(&good, |header| header, Some(&other.section("body").unwrap())), "not the hash");
    let source: KeyId = Reader::from_bytes("plan", good, Expect::kind(Kind::Plan)).unwrap().meta("source").unwrap();
    let claims = |header: Header| header.meta("source", &source).unwrap();
    refused(&forged(&mul, claims, None), "not the hash");
}

#[test]
fn a_run_in_parts_gives_the_bytes_of_one_run() {
    let control = Control::default();
    for (params, count) in [("integers-toy", 3), ("gates-toy", 40)] {
        let (client, key) = keys(params);
        let inputs = operands(&client, count);
        let one = server(&key, 1, CostModel::Fewest);
        let work = prepared(&one, &add(), &inputs);
        let want = work.run(&control).unwrap();
        // One wave at a time, each on a server of its own; the state goes through bytes.
        let plan = work.plan().unwrap();
        let (mut state, mut parts): (Option<RunState>, usize) = (None, 0);
        let results = loop {
            let server = server(&key, 1 + parts % 2, CostModel::Shallow);
            let work = pinned(&server, &add(), &inputs, &plan).unwrap();
            let asked = AtomicUsize::new(0);
            let pause = |at: Position| {
                assert!(at.done <= at.lanes && at.wave < at.waves);
                asked.fetch_add(1, Ordering::Relaxed) == 0
            };
            match work.run_until(state.as_ref(), pause, &control).unwrap() {
                Ran::Done(results) => break results,
                Ran::Paused(paused) => {
                    assert!(paused.plan() == plan.id() && paused.key_id() == key.key_id());
                    let read = RunState::from_bytes(&paused.to_bytes().unwrap()).unwrap();
                    assert!(read == *paused);
                    state = Some(read);
                    parts += 1;
                }
            }
        };
        assert!(parts >= plan.waves().len() - 1, "{params}: {parts} parts");
        same(&results, &want);
    }
}

#[test]
fn a_state_of_another_run_is_refused_by_name() {
    let control = Control::default();
    let (client, key) = keys("integers-toy");
    let inputs = operands(&client, 2);
    let one = server(&key, 1, CostModel::Fewest);
    let work = prepared(&one, &add(), &inputs);
    let Ran::Paused(state) = work.run_until(None, |at| at.wave == 2, &control).unwrap() else { panic!("no pause") };
    assert_eq!((state.done(), state.wave()), (0, 2));
    let refused = |work: &Prepared, what: &str| {
        let message = work.run_until(Some(&state), |_| false, &control).unwrap_err().to_string();
        assert!(message.starts_with("the paused run is ") && message.contains(what), "{message}");
    };
    let others = operands(&client, 3);
    refused(&prepared(&one, &add(), &others), "of other inputs");
    refused(&prepared(&one, &Program::from_op("sub", &[U8; 2]).unwrap(), &inputs), "of another program or plan");
    refused(&prepared(&server(&key, 1, CostModel::Shallow), &add(), &inputs), "of another program or plan");
    let options = KeygenOptions {
        params: Some("integers-toy".into()),
        research: true,
        insecure_seed: Some(4),
        ..KeygenOptions::default()
    };
    let (stranger, other_key) = keygen(&options, &control).unwrap();
    let theirs = operands(&stranger, 2);
    refused(&prepared(&Server::new(&other_key, Some(1)).unwrap(), &add(), &theirs), "of another key");
    // Damaged ones.
    let good = state.to_bytes().unwrap();
    for index in (0..good.len()).step_by(101).chain(0..2000) {
        let mut bad = good.clone();
        bad[index] ^= 1 << (index % 8);
        assert!(RunState::from_bytes(&bad).is_err(), "byte {index}");
    }
    // A wave that does not exist, other numbers of elements, results that are missing.
    let reader = Reader::from_bytes("state", good, Expect::kind(Kind::RunState)).unwrap();
    for (field, value) in [
        ("wave", 99u64),
        ("wave", 0),
        ("lanes", 1),
        ("lanes", u64::MAX),
        ("done", 1),
        ("outputs", 0),
        ("done", u64::MAX),
    ] {
        let header = reader.header().clone().meta(field, &value).unwrap();
        let mut writer = Writer::in_memory(header);
        for section in ["results", "live"] {
            writer.section(section, &reader.section(section).unwrap()).unwrap();
        }
        let read = RunState::from_bytes(&writer.into_bytes().unwrap());
        let ran = read.and_then(|state| work.run_until(Some(&state), |_| false, &control));
        assert!(field == "outputs" || ran.is_err(), "{field} {value}");
    }
}

#[test]
fn checkpoints_go_on_after_an_interruption() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("run.state");
    let (client, key) = keys("integers-toy");
    let inputs = operands(&client, 2);
    let work = prepared(&server(&key, 1, CostModel::Fewest), &add(), &inputs);
    let want = work.run(&Control::default()).unwrap();
    // Cancelled in the middle of a wave, long before a state is due. The state is written all the same.
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let half = work.count().unwrap().bootstraps / 2;
    let report = |progress: solinas_engine::Progress| cancel.store(progress.done >= half, Ordering::Relaxed);
    let control = Control { progress: Some(&report), cancel: Some(&cancel) };
    let hour = Duration::from_secs(3600);
    assert!(matches!(work.run_with_checkpoint(&file, hour, &control), Err(Error::Cancelled)));
    assert!(RunState::load(&file).unwrap().wave() > 0);
    let first = std::sync::Mutex::new(None);
    let report = |progress: solinas_engine::Progress| {
        first.lock().unwrap().get_or_insert(progress.done);
    };
    let control = Control { progress: Some(&report), cancel: None };
    same(&work.run_with_checkpoint(&file, Duration::from_secs(60), &control).unwrap(), &want);
    let first = first.into_inner().unwrap().unwrap();
    assert!(half <= first && first < 2 * half, "it went on from {first} of {}", 2 * half);
}

#[test]
fn parts_of_an_array_give_the_bytes_of_the_whole() {
    let control = Control::default();
    let (client, key) = keys("integers-toy");
    let inputs = operands(&client, 5);
    let one = server(&key, 1, CostModel::Threads(64));
    let work = prepared(&one, &add(), &inputs);
    let (plan, want) = (work.plan().unwrap(), work.run(&control).unwrap());
    let part = |range: std::ops::Range<usize>| {
        let inputs = inputs.each_ref().map(|input| input.slice(range.clone()).unwrap());
        pinned(&one, &add(), &inputs, &plan).unwrap().run(&control).unwrap().remove(0)
    };
    let parts = [part(0..1), part(1..4), part(4..5)];
    same(&[Ciphertext::stack(parts.to_vec()).unwrap()], &want);
    assert!(matches!(inputs[0].slice(2..2), Err(Error::EmptyArray)));
    assert!(matches!(inputs[0].slice(4..6), Err(Error::Index { index: 5, len: 5 })));
}

#[test]
fn other_schemes_say_that_they_have_no_plans() {
    let options = KeygenOptions {
        scheme: "bgv".parse::<Scheme>().unwrap(),
        params: Some("bits-1024-2".into()),
        research: true,
        insecure_seed: Some(1),
        ..KeygenOptions::default()
    };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let bit = client.encrypt(&Plain::new(Type::Bool, None, vec![1]).unwrap()).unwrap();
    let and = Program::from_op("and", &[Type::Bool; 2]).unwrap();
    let server = Server::new(&key, Some(1)).unwrap();
    let work = prepared(&server, &and, &[bit.clone(), bit]);
    assert!(matches!(work.plan(), Err(Error::NoPlan { .. })));
    assert!(matches!(work.run_until(None, |_| true, &Control::default()), Err(Error::NoPause { .. })));
}
