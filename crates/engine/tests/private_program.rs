//! Private programs: the holder of the client key, who also has the server key, looks for the constant of a program in its result.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_circuits::program::{Op, Program, ProgramBuilder};
use solinas_engine::{
    Ciphertext, ClientKey, Control, CostModel, Error, Inputs, KeygenOptions, Plain, PrepareOptions, Prepared, Server,
    ServerOptions, Type, Work, keygen,
};
use solinas_formats::{Expect, Header, Kind, Reader};

fn setup(params: &str) -> (ClientKey, Server) {
    let options = KeygenOptions {
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(6),
        ..KeygenOptions::default()
    };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let options = ServerOptions { model: Some(CostModel::Fewest), ..ServerOptions::default() };
    (client, Server::with_options(&key, &options).unwrap())
}

/// `x > c`.
fn above(ty: Type, c: u128) -> Program {
    let mut builder = ProgramBuilder::new();
    let x = builder.input("x", ty).unwrap();
    let c = builder.constant(c, ty).unwrap();
    let result = builder.op(Op::Gt, &[x, c]).unwrap();
    builder.output("result", result);
    builder.finish().unwrap()
}

const HIDES: PrepareOptions<'_> = PrepareOptions { plan: None, private_program: true };

/// The private program that returns its input.
fn private_identity(server: &Server, result: &Ciphertext, control: &Control<'_>) -> Result<Prepared, Error> {
    let mut builder = ProgramBuilder::new();
    let value = builder.input("x", result.ty()).unwrap();
    builder.output("y", value);
    let program = builder.finish().unwrap();
    server.prepare_with(Work::program(&program, std::slice::from_ref(result)), HIDES, control)
}

/// A result as that of a private program.
fn hidden(server: &Server, result: &Ciphertext, control: &Control<'_>) -> Result<Ciphertext, Error> {
    Ok(private_identity(server, result, control)?.run(control)?.remove(0))
}

fn header(ciphertext: &Ciphertext) -> Header {
    let reader = Reader::from_bytes("ct", ciphertext.to_bytes().unwrap(), Expect::kind(Kind::Ciphertext)).unwrap();
    reader.header().clone()
}

#[test]
fn a_constant_is_found_from_a_named_plan_and_from_equal_bytes_but_not_from_a_private_program() {
    let control = Control::default();
    let (client, server) = setup("integers-40");
    let eight = Type::Uint(8);
    let x = client.encrypt(&Plain::new(eight, None, vec![77]).unwrap()).unwrap();
    let work = |program: &Program| server.prepare(Work::program(program, std::slice::from_ref(&x)), &control).unwrap();
    // The owner of the constant 200 computes. The client tries all constants.
    let secret = above(eight, 200);
    let named = work(&secret).auditable(true).run(&control).unwrap().remove(0);
    let plain = work(&secret).run(&control).unwrap().remove(0);
    let private = hidden(&server, &plain, &control).unwrap();
    let plan = |c| {
        let fresh = server.prepare(Work::program(&above(eight, c), Inputs::Fresh { instances: 1 }), &control).unwrap();
        fresh.plan().unwrap().id()
    };
    let plans: Vec<_> = (0..256).map(plan).collect();
    let matching = |result: &Ciphertext| {
        let result = server.compact(result).unwrap();
        (0..256).filter(|&c| result.plan() == Some(plans[c])).collect::<Vec<_>>()
    };
    let found = [&named, &plain, &private].map(matching);
    println!(
        "constants with the plan of the compact result: auditable {:?}, default {:?}, private {:?}",
        found[0], found[1], found[2]
    );
    assert_eq!(found, [vec![200], vec![], vec![]]);
    // Without the name of the plan, the client computes the result of each constant.
    let near: Vec<u128> = (196..204).collect();
    let results: Vec<_> = near.iter().map(|&c| work(&above(eight, c)).run(&control).unwrap().remove(0)).collect();
    let equal = |result: &Ciphertext| -> Vec<u128> {
        near.iter().zip(&results).filter(|(_, other)| *other == result).map(|(&c, _)| c).collect()
    };
    let found = [&plain, &private].map(equal);
    println!("constants with the bytes of the result, of {near:?}: default {:?}, private {:?}", found[0], found[1]);
    assert_eq!(found, [vec![200], vec![]]);
    for result in [&named, &plain, &private] {
        assert_eq!(client.decrypt(result).unwrap().values, [0]);
    }
}

#[test]
fn the_record_of_a_private_result_does_not_depend_on_the_program() {
    let control = Control::default();
    for params in ["integers-40", "gates-40"] {
        let (client, server) = setup(params);
        let ty = Type::Uint(4);
        let [x, y] = [9, 3].map(|value| client.encrypt(&Plain::new(ty, None, vec![value]).unwrap()).unwrap());
        let programs = ["add", "xor", "min"].map(|op| Program::from_op(op, &[ty; 2]).unwrap());
        let mut headers = Vec::new();
        let mut inputs = vec![y.clone()];
        for program in &programs {
            let work = server.prepare(Work::program(program, &[x.clone(), y.clone()]), &control).unwrap();
            let result = work.auditable(true).run(&control).unwrap().remove(0);
            assert!(result.plan().is_some());
            let private = hidden(&server, &result, &control).unwrap();
            let again = hidden(&server, &result, &control).unwrap();
            assert!(private != again && private != result, "{params}");
            let wanted = program.evaluate(&[9u128, 3]).unwrap();
            for result in [
                &private,
                &server.compact(&private).unwrap(),
                &Ciphertext::from_bytes(&private.to_bytes().unwrap()).unwrap(),
            ] {
                assert_eq!(client.decrypt(result).unwrap().values, wanted, "{params}");
                assert!(result.plan().is_none());
            }
            headers.push([header(&private), header(&server.compact(&private).unwrap())].map(|mut header| {
                // The only block of a compact bit is in the header.
                header.meta.remove("block");
                header
            }));
            inputs.push(private);
        }
        assert!(headers.windows(2).all(|pair| pair[0] == pair[1]), "{params}: {headers:?}");
        // A private result is an input as others are.
        let sum = Program::from_op("add", &[ty; 2]).unwrap();
        let result = server.run(Work::program(&sum, &inputs[..2]), &control).unwrap().remove(0);
        assert_eq!(client.decrypt(&result).unwrap().values, [15], "{params}");
    }
}

#[test]
fn what_cannot_be_private_says_so() {
    let control = Control::default();
    let (client, server) = setup("gates-40");
    let x = client.encrypt(&Plain::new(Type::Bool, None, vec![1]).unwrap()).unwrap();
    let compact = server.compact(&x).unwrap();
    assert!(matches!(hidden(&server, &compact, &control), Err(Error::Compact { .. })));
    let stop = std::sync::atomic::AtomicBool::new(true);
    let cancelled = Control { cancel: Some(&stop), ..Control::default() };
    assert!(matches!(hidden(&server, &x, &cancelled), Err(Error::Cancelled)));
    let options = KeygenOptions {
        scheme: "bgv".parse().unwrap(),
        params: Some("bits-1024-2".into()),
        research: true,
        insecure_seed: Some(1),
        ..KeygenOptions::default()
    };
    let (client, key) = keygen(&options, &control).unwrap();
    let bit = client.encrypt(&Plain::new(Type::Bool, None, vec![1]).unwrap()).unwrap();
    let error = hidden(&Server::new(&key, Some(1)).unwrap(), &bit, &control).unwrap_err();
    assert!(matches!(error, Error::NoPrivateProgram { .. }) && error.to_string().contains("tfhe"), "{error}");
}

#[test]
fn what_hides_the_program_counts_in_costs_progress_and_pauses() {
    use solinas_engine::{Ran, RunState};
    use std::sync::Mutex;
    for params in ["integers-toy", "gates-toy"] {
        let (client, server) = setup(params);
        let ty = Type::Uint(4);
        let blocks = if params == "integers-toy" { 2 } else { 4 };
        let x = client.encrypt(&Plain::new(ty, Some(vec![3]), vec![9, 3, 15]).unwrap()).unwrap();
        let control = Control::default();
        // A program, and the one that returns its input: what makes a result of several programs private.
        for ops in [&["not"][..], &["add"], &[]] {
            let inputs = vec![x.clone(); ops.first().map_or(1, |op| if *op == "add" { 2 } else { 1 })];
            let (work, wanted): (_, &[u128]) = match ops.first() {
                Some(op) => {
                    let program = Program::from_op(op, &vec![ty; inputs.len()]).unwrap();
                    let plain = server.prepare(Work::program(&program, &inputs), &control).unwrap();
                    let before = plain.count().unwrap();
                    let work = server.prepare_with(Work::program(&program, &inputs), HIDES, &control).unwrap();
                    let hiding = work.count().unwrap().bootstraps - before.bootstraps;
                    assert!(hiding > 0 && hiding.is_multiple_of(3 * blocks), "{params} {op}: {hiding}");
                    (work, if *op == "add" { &[2, 6, 14] } else { &[6, 12, 0] })
                }
                None => (private_identity(&server, &inputs[0], &control).unwrap(), &[9, 3, 15]),
            };
            let (cost, waves) = (work.count().unwrap(), work.schedule().remove(0).waves);
            assert_eq!((waves.iter().sum::<u64>() * 3, waves.len() as u64), (cost.bootstraps, cost.depth), "{params}");
            assert_eq!(work.estimate(&control).unwrap().bootstraps, cost.bootstraps);
            let seen = Mutex::new(Vec::new());
            let report = |now: solinas_engine::Progress| seen.lock().unwrap().push((now.done, now.total));
            let watched = Control { progress: Some(&report), ..control };
            // It pauses before each wave and goes on from the file.
            let (mut state, mut pauses): (Option<RunState>, _) = (None, 0);
            let results = loop {
                let before = state.as_ref().map_or(0, RunState::wave);
                match work.run_until(state.as_ref(), |at| at.wave > before, &watched).unwrap() {
                    Ran::Done(results) => break results,
                    Ran::Paused(paused) => state = Some(RunState::from_bytes(&paused.to_bytes().unwrap()).unwrap()),
                }
                pauses += 1;
            };
            assert_eq!(pauses, waves.len() - 1, "{params}");
            assert_eq!(client.decrypt(&results[0]).unwrap().values, wanted, "{params}");
            let seen = seen.into_inner().unwrap();
            assert!(seen.is_sorted() && seen.iter().all(|&(_, total)| total == cost.bootstraps), "{params}: {seen:?}");
            assert_eq!(seen.last(), Some(&(cost.bootstraps, cost.bootstraps)));
        }
        // A state of the last rounds belongs to no other run.
        let not = Program::from_op("not", &[ty]).unwrap();
        let work = Work::program(&not, std::slice::from_ref(&x));
        let hidden = server.prepare_with(work.clone(), HIDES, &control).unwrap();
        let Ran::Paused(state) = hidden.run_until(None, |at| at.wave == 3, &control).unwrap() else {
            panic!("it did not pause");
        };
        let shown = server.prepare(work, &control).unwrap();
        assert!(matches!(shown.run_until(Some(&state), |_| false, &control), Err(Error::OtherRun { .. })));
    }
}
