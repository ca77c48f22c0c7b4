//! Programs on arrays under keys: the cases that numpy wrote, pauses, plans, and private programs.

use crate::cases::{Case, cases};
use crate::evaluated::evaluated;
use solinas_circuits::program::{Axes, How, Op, ProgramFile, Shape};
use solinas_engine::{
    Ciphertext, ClientKey, Control, Input, Inputs, KeygenOptions, LaneBatch, Plain, Plan, PrepareOptions, Program,
    ProgramBuilder, Progress, Ran, RunState, Server, Type, Work, keygen,
};
use std::sync::Mutex;

pub(crate) fn keys(scheme: &str, params: &str, threads: usize) -> (ClientKey, Server) {
    keys_of(scheme, params, threads, 4)
}

/// The keys of a seed.
pub(crate) fn keys_of(scheme: &str, params: &str, threads: usize, seed: u64) -> (ClientKey, Server) {
    let options = KeygenOptions {
        scheme: scheme.parse().unwrap(),
        params: Some(params.into()),
        research: true,
        insecure_seed: Some(seed),
        rotations: params.starts_with("slots"),
        ..KeygenOptions::default()
    };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let server = Server::new(&key, Some(threads)).unwrap();
    (client, server)
}

/// Every second input is public in a second run.
fn given(client: &ClientKey, inputs: &[Plain], public: bool) -> Vec<Input> {
    let one = |(at, plain): (usize, &Plain)| match public && at % 2 == 1 {
        true => Input::Public(plain.clone()),
        false => Input::Encrypted(client.encrypt(plain).unwrap()),
    };
    inputs.iter().enumerate().map(one).collect()
}

/// The results of batches whose halves another server computes.
pub(crate) fn by_others(planner: &Server, worker: &Server, work: Work<'_>, hides: bool) -> Vec<Ciphertext> {
    let control = Control::default();
    let options = PrepareOptions { private_program: hides, ..PrepareOptions::default() };
    let mut batches = planner.prepare_with(work, options, &control).unwrap().batches(&control).unwrap();
    while let Some(batch) = batches.next(&control).unwrap() {
        assert!(batches.next(&control).unwrap_err().to_string().contains("give them to `finish` first"));
        assert!(batches.outputs().unwrap_err().to_string().contains("batches are left"));
        let lanes = batch.inputs.iter().filter(|input| input.shape().is_some()).map(Ciphertext::len).next();
        let parts = lanes.map_or(vec![None], |lanes| vec![Some(0..lanes / 2), Some(lanes / 2..lanes)]);
        let part = |part: &Option<std::ops::Range<usize>>| {
            let cut = |input: &Ciphertext| match part {
                Some(part) if input.shape().is_some() => input.slice(part.clone()).unwrap(),
                _ => input.clone(),
            };
            let inputs = batch.inputs.iter().map(cut).collect();
            let (program, plan) = (batch.program.clone(), batch.plan.clone());
            worker.run_batch(&LaneBatch { program, plan, inputs, hides: batch.hides }, &control).unwrap()
        };
        let parts: Vec<_> =
            parts.iter().filter(|part| part.as_ref().is_none_or(|part| !part.is_empty())).map(part).collect();
        let whole = |output: usize| {
            let parts: Vec<_> = parts.iter().map(|part| part[output].clone()).collect();
            if parts.len() == 1 { parts[0].clone() } else { Ciphertext::stack(parts).unwrap() }
        };
        batches.finish((0..parts[0].len()).map(whole).collect()).unwrap();
    }
    assert!(batches.finish(Vec::new()).unwrap_err().to_string().contains("no batch was handed out"));
    batches.outputs().unwrap()
}

#[test]
fn cases_give_what_numpy_gives_under_keys() {
    let (integers, slots) = (keys("tfhe", "integers-toy", 2), keys("ntru", "slots-128-3", 2));
    // A server with one thread, another rule for plans, and the same key.
    let worker = keys("tfhe", "integers-toy", 1).1;
    let (mut ran, mut left_out) = (0, Vec::new());
    for Case { name, program, inputs, outputs, error } in cases() {
        let program = ProgramFile::read(&program.to_string()).unwrap().program;
        let inputs: Vec<Plain> = inputs.iter().map(|input| input.plain().into()).collect();
        let packed = program.nodes.iter().find_map(|node| node.ty.modulus());
        let (client, server) = if packed.is_some() { &slots } else { &integers };
        if packed.is_some_and(|modulus| modulus != 257) {
            left_out.push(name);
            continue;
        }
        for public in [false, true] {
            let inputs = given(client, &inputs, public);
            let results = server.run(Work::program(&program, Inputs::Given(inputs.clone())), &Control::default());
            if let Some(part) = &error {
                let error = results.unwrap_err().to_string();
                assert!(error.contains(part), "{name}: {error}");
                continue;
            }
            let results = results.unwrap_or_else(|error| panic!("{name}, public {public}: {error}"));
            // A third of them, for time.
            if public && packed.is_none() && ran % 3 == 0 {
                let others = by_others(server, &worker, Work::program(&program, Inputs::Given(inputs)), false);
                assert!(others == results, "{name}: batches have other bytes");
            }
            assert_eq!(results.len(), outputs.len(), "{name}");
            for (result, want) in results.iter().zip(&outputs) {
                assert_eq!(client.decrypt(result).unwrap(), want.plain().into(), "{name}, public {public}");
            }
            ran += 1;
        }
    }
    assert!(left_out.is_empty() && ran >= 250, "{ran} ran; not {left_out:?}");
}

/// The largest of the sums of products of rows, and how many sums are larger than 100.
fn scores(ty: Type) -> Program {
    let mut builder = ProgramBuilder::new();
    let [x, w] = ["x", "w"].map(|name| builder.input(name, ty).unwrap());
    let products = builder.op(Op::Mul, &[x, w]).unwrap();
    let sums = builder.op(Op::Reduce { how: How::Sum, axes: Axes::Last(1) }, &[products]).unwrap();
    let most = builder.op(Op::Reduce { how: How::Max, axes: Axes::All }, &[sums]).unwrap();
    let limit = builder.constant(3u128, ty).unwrap();
    let above = builder.op(Op::Gt, &[sums, limit]).unwrap();
    builder.output("most", most);
    builder.output("above", above);
    builder.output("x", x);
    builder.finish().unwrap()
}

/// Inputs of [`scores`], and its results in the clear.
fn scored(ty: Type, rows: usize, columns: usize) -> (Vec<Plain>, Vec<Plain>) {
    let values = |seed: usize, count: usize| (0..count).map(|i| ((i * 7 + seed) % 4) as u128).collect::<Vec<_>>();
    let x = Plain::new(ty, Some(vec![rows, columns]), values(1, rows * columns)).unwrap();
    let w = Plain::new(ty, Some(vec![columns]), values(2, columns)).unwrap();
    let inputs = vec![x, w];
    let want = evaluated(&scores(ty), &inputs);
    (inputs, want)
}

fn decrypted(client: &ClientKey, results: &[Ciphertext]) -> Vec<Plain> {
    results.iter().map(|result| client.decrypt(result).unwrap()).collect()
}

fn bytes(results: &[Ciphertext]) -> Vec<Vec<u8>> {
    results.iter().map(|result| result.to_bytes().unwrap()).collect()
}

#[test]
fn pauses_and_plans_change_no_byte() {
    let ty = Type::Uint(4);
    for params in ["integers-toy", "gates-toy"] {
        let (client, server) = keys("tfhe", params, 2);
        let control = Control::default();
        let (program, (plain, want)) = (scores(ty), scored(ty, 5, 3));
        for public in [false, true] {
            let inputs = Inputs::Given(given(&client, &plain, public));
            let work = || Work::program(&program, inputs.clone());
            let prepared = server.prepare(work(), &control).unwrap();
            let results = prepared.run(&control).unwrap();
            assert_eq!(decrypted(&client, &results), want, "{params}");
            // It stops wherever it can, and goes on from the bytes of its state.
            let (mut state, mut pauses): (Option<RunState>, usize) = (None, 0);
            let in_parts = loop {
                match prepared.run_until(state.as_ref(), |_| true, &control).unwrap() {
                    Ran::Done(results) => break results,
                    Ran::Paused(paused) => {
                        pauses += 1;
                        let read = RunState::from_bytes(&paused.to_bytes().unwrap()).unwrap();
                        assert!(read == *paused, "{params}");
                        state = Some(read);
                    }
                }
            };
            assert!(pauses > 5, "{params}: {pauses} pauses");
            assert_eq!(bytes(&in_parts), bytes(&results), "{params}");
            // The plan, from its bytes, on another number of threads.
            let plan = Plan::from_bytes(&prepared.plan().unwrap().to_bytes().unwrap()).unwrap();
            let (_, other) = keys("tfhe", params, 1);
            let pinned = other.prepare_with(work(), (&plan).into(), &control).unwrap();
            assert_eq!(pinned.plan().unwrap().id(), plan.id());
            let pinned = pinned.auditable(true).run(&control).unwrap();
            assert!(pinned.iter().all(|result| result.plan() == Some(plan.id())), "{params}");
            let unnamed = |x: &Ciphertext| x.reshape(x.shape().map(<[usize]>::to_vec)).unwrap();
            assert_eq!(decrypted(&client, &pinned), want);
            assert_eq!(pinned.iter().map(unnamed).collect::<Vec<_>>(), results, "{params}");
            // Another program does not take it, and its state does not go on with other inputs.
            let neg = Program::from_op("neg", &[ty]).unwrap();
            let x = [client.encrypt(&plain[0]).unwrap()];
            let error = server.prepare_with(Work::program(&neg, &x), (&plan).into(), &control).unwrap_err().to_string();
            assert!(error.contains("of another program"), "{error}");
            let others = Inputs::Given(given(&client, &plain, public));
            let prepared = server.prepare(Work::program(&program, others), &control).unwrap();
            let error = prepared.run_until(state.as_ref(), |_| true, &control).unwrap_err().to_string();
            assert!(error.contains("of other inputs"), "{error}");
        }
    }
}

#[test]
fn results_of_several_steps_hide_the_program() {
    let ty = Type::Uint(4);
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let control = Control::default();
    let (program, (plain, want)) = (scores(ty), scored(ty, 3, 2));
    let inputs = Inputs::Given(given(&client, &plain, true));
    let work = || Work::program(&program, inputs.clone());
    let shown = server.prepare(work(), &control).unwrap();
    let (plan, cost) = (shown.plan().unwrap(), shown.count().unwrap());
    let hides = PrepareOptions { private_program: true, ..PrepareOptions::default() };
    let hidden = server.prepare_with(work(), hides, &control).unwrap();
    assert!(hidden.count().unwrap().bootstraps > cost.bootstraps);
    let [a, b] = [(); 2].map(|()| hidden.run(&control).unwrap());
    assert_eq!(decrypted(&client, &a), want);
    assert!(a.iter().zip(&b).all(|(a, b)| a != b), "results are made anew each time");
    // A state names what its run is.
    let Ran::Paused(state) = hidden.run_until(None, |_| true, &control).unwrap() else { panic!("it ended") };
    let error = shown.run_until(Some(&state), |_| true, &control).unwrap_err().to_string();
    assert!(error.contains("of another program or plan") || error.contains("that hides the program"), "{error}");
    let pinned = server.prepare_with(work(), PrepareOptions { plan: Some(&plan), ..hides }, &control).unwrap();
    assert_eq!(decrypted(&client, &pinned.run(&control).unwrap()), want);
    assert_eq!(decrypted(&client, &by_others(&server, &server, work(), true)), want);
}

#[test]
fn circuits_are_computed_by_others_too() {
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let ty = Type::Uint(4);
    let netlist = Program::from_op("mul", &[ty; 2]).unwrap().lower(solinas_circuits::build::Recipe::default()).unwrap();
    let program = Program::of_circuit(netlist, true).unwrap();
    let inputs = [vec![3, 7, 15], vec![5, 1, 15]]
        .map(|values| Input::Encrypted(client.encrypt(&Plain::new(ty, Some(vec![3]), values).unwrap()).unwrap()));
    let work = || Work::program(&program, &inputs);
    let results = server.run(work(), &Control::default()).unwrap();
    assert_eq!(decrypted(&client, &results), [Plain::new(ty, Some(vec![3]), vec![15, 7, 1]).unwrap()]);
    assert!(by_others(&server, &keys("tfhe", "integers-toy", 1).1, work(), false) == results);
}

#[test]
fn costs_and_progress_are_known_before_a_run() {
    let ty = Type::Uint(4);
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let (program, (plain, _)) = (scores(ty), scored(ty, 40, 4));
    let seen = Mutex::new(Vec::new());
    let report = |progress: Progress| seen.lock().unwrap().push((progress.done, progress.total));
    let control = Control { progress: Some(&report), cancel: None };
    let prepared =
        server.prepare(Work::program(&program, Inputs::Given(given(&client, &plain, false))), &control).unwrap();
    let count = prepared.count().unwrap();
    assert_eq!(
        prepared.schedule().iter().map(|step| step.waves.iter().sum::<u64>() * step.lanes).sum::<u64>(),
        count.bootstraps
    );
    assert!(prepared.estimate(&Control::default()).unwrap().seconds > 0.0);
    prepared.run(&control).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.is_sorted() && seen.iter().all(|&(_, total)| total == count.bootstraps), "{count:?} {seen:?}");
    // Without inputs, shapes that are declared count.
    let mut builder = ProgramBuilder::new();
    let x = builder.array_input("x", ty, Shape::new([1000]).unwrap()).unwrap();
    let sum = builder.op(Op::Reduce { how: How::Max, axes: Axes::All }, &[x]).unwrap();
    builder.output("most", sum);
    let program = builder.finish().unwrap();
    let fresh = server.prepare((&program).into(), &Control::default()).unwrap().count().unwrap();
    let without_key = solinas_engine::cost(&program, "integers-toy").unwrap();
    assert!(fresh.bootstraps > 999 && fresh.bootstraps == without_key.bootstraps, "{fresh:?} {without_key:?}");
}

/// A short program may name 2^36 elements. It ends with the limit of planning, before anything of that size is made.
#[test]
fn arrays_beyond_the_limit_are_refused_before_they_are_made() {
    let ty = Type::Uint(4);
    let (client, server) = keys("tfhe", "integers-toy", 1);
    let large = Shape::new([1 << 18, 1 << 18]).unwrap();
    let mut builder = ProgramBuilder::new();
    let x = builder.input("x", ty).unwrap();
    let one = Shape::new([1]).unwrap();
    let weight = builder.array(solinas_circuits::Plain::new(ty, one, [3u128]).unwrap()).unwrap();
    let [wide, weights] = [x, weight].map(|value| builder.op(Op::BroadcastTo(large.clone()), &[value]).unwrap());
    let products = builder.op(Op::Mul, &[wide, weights]).unwrap();
    let sum = builder.op(Op::Reduce { how: How::Sum, axes: Axes::All }, &[products]).unwrap();
    builder.output("sum", sum);
    let program = builder.finish().unwrap();
    let x = [client.encrypt(&Plain::scalar(ty, 5i64).unwrap()).unwrap()];
    let error = server.prepare(Work::program(&program, &x), &Control::default()).unwrap_err();
    assert!(error.to_string().contains("SOLINAS_PLAN_NODES"), "{error}");
    let error = solinas_engine::cost(&program, "integers-toy").unwrap_err();
    assert!(error.to_string().contains("SOLINAS_PLAN_NODES"), "{error}");
}

/// A cast that repeats the sign gives blocks of equal noise, and later steps are planned with it.
#[test]
fn repeated_blocks_count_in_later_steps() {
    for params in ["gates-toy", "integers-toy"] {
        let (client, server) = keys("tfhe", params, 2);
        let mut builder = ProgramBuilder::new();
        let x = builder.input("x", Type::Int(2)).unwrap();
        let wide = builder.cast(x, Type::Int(8)).unwrap();
        let turned = builder.op(Op::Roll { by: 1, axes: Axes::All }, &[wide]).unwrap();
        let product = builder.op(Op::Mul, &[wide, turned]).unwrap();
        let sum = builder.op(Op::Reduce { how: How::Sum, axes: Axes::All }, &[product]).unwrap();
        builder.output("sum", sum);
        let program = builder.finish().unwrap();
        // -1, -2, 1, 0 in two bits.
        let plain =
            [Plain::new(Type::Int(2), Some(vec![70]), (0..70).map(|i| [3u128, 2, 1, 0][i % 4]).collect()).unwrap()];
        let inputs = Inputs::Given(given(&client, &plain, false));
        let results = server.run(Work::program(&program, inputs), &Control::default()).unwrap();
        assert_eq!(decrypted(&client, &results), evaluated(&program, &plain), "{params}");
    }
}

/// Lanes with equal operands give the same ciphertext, so a sum of them has more noise than one of independent values.
#[test]
fn equal_lanes_count_in_later_steps() {
    let ty = Type::Uint(4);
    for params in ["gates-toy", "integers-toy"] {
        let (client, server) = keys("tfhe", params, 2);
        let mut builder = ProgramBuilder::new();
        let [x, y] = ["x", "y"].map(|name| builder.input(name, ty).unwrap());
        let products = builder.op(Op::Mul, &[x, y]).unwrap();
        let sum = builder.op(Op::Reduce { how: How::Sum, axes: Axes::All }, &[products]).unwrap();
        builder.output("sum", sum);
        let program = builder.finish().unwrap();
        let plain = [5u128, 3].map(|value| Plain::scalar(ty, value as i64).unwrap());
        let [x, y] = plain.each_ref().map(|plain| client.encrypt(plain).unwrap());
        let different = Ciphertext::stack((0..70).map(|_| client.encrypt(&plain[0]).unwrap()).collect()).unwrap();
        let equal = Ciphertext::stack(vec![x.clone(); 70]).unwrap();
        let control = Control::default();
        let plan = server.prepare(Work::program(&program, &[different, y.clone()]), &control).unwrap().plan().unwrap();
        let inputs = [equal, y];
        let results = server.run(Work::program(&program, &inputs), &control).unwrap();
        assert_eq!(client.decrypt(&results[0]).unwrap().values, [70 * 15 % 16], "{params}");
        // The step that reads them is planned again by the model of the plan, so it gives the same bytes on every number of threads.
        let pinned = |server: &Server| {
            let pinned = server.prepare_with(Work::program(&program, &inputs), (&plan).into(), &control).unwrap();
            pinned.run(&control).unwrap()
        };
        assert_eq!(pinned(&server), results, "{params}");
        assert_eq!(pinned(&keys("tfhe", params, 1).1), results, "{params}");
    }
}

/// A value that an earlier run computed from the same ciphertexts has the noise of the one that this run computes.
#[test]
fn results_of_earlier_runs_count_in_later_steps() {
    let ty = Type::Bool;
    let (client, server) = keys("tfhe", "gates-toy", 2);
    let control = Control::default();
    let arrays = [1u128, 0].map(|bit| client.encrypt(&Plain::new(ty, Some(vec![70]), vec![bit; 70]).unwrap()).unwrap());
    let [x, y] = arrays.each_ref().map(|array| Ciphertext::stack(vec![array.get(0).unwrap(); 70]).unwrap());
    let and = Program::from_op("and", &[ty; 2]).unwrap();
    let earlier = server.run(Work::program(&and, &[x.clone(), y.clone()]), &control).unwrap().remove(0);
    let mut builder = ProgramBuilder::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.input(name, ty).unwrap());
    let both = builder.op(Op::And, &[a, b]).unwrap();
    let rolled = builder.op(Op::Roll { by: 1, axes: Axes::All }, &[both]).unwrap();
    let result = builder.op(Op::Xor, &[rolled, c]).unwrap();
    builder.output("result", result);
    let program = builder.finish().unwrap();
    let other = client.encrypt(&Plain::new(ty, Some(vec![70]), vec![0u128; 70]).unwrap()).unwrap();
    let plan =
        server.prepare(Work::program(&program, &[x.clone(), y.clone(), other]), &control).unwrap().plan().unwrap();
    let inputs = [x, y, earlier];
    let results = server.run(Work::program(&program, &inputs), &control).unwrap();
    assert_eq!(client.decrypt(&results[0]).unwrap().values, vec![0u128; 70]);
    let pinned = server.prepare_with(Work::program(&program, &inputs), (&plan).into(), &control).unwrap();
    assert_eq!(pinned.run(&control).unwrap(), results);
}

/// Public weights of many values: those that many lanes share, those of one kernel, and those that are read.
#[test]
fn many_public_values_are_constants_or_are_read() {
    let ty = Type::Uint(16);
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let program = Program::from_op("add", &[ty; 2]).unwrap();
    for count in [70usize, 300, 4200] {
        let values = |factor: usize| (0..count).map(|i| ((i * factor) % (1 << 16)) as u128).collect::<Vec<_>>();
        let plain = |factor: usize| Plain::new(ty, Some(vec![count]), values(factor)).unwrap();
        let (x, w) = (plain(3), plain(5));
        let inputs = Inputs::Given(vec![client.encrypt(&x).unwrap().into(), w.into()]);
        let prepared = server.prepare(Work::program(&program, inputs), &Control::default()).unwrap();
        let sum = prepared.run(&Control::default()).unwrap().remove(0);
        let want: Vec<u128> = (0..count).map(|i| (8 * i as u128) % (1 << 16)).collect();
        assert_eq!(client.decrypt(&sum).unwrap(), Plain::new(ty, Some(vec![count]), want).unwrap(), "{count}");
    }
}
