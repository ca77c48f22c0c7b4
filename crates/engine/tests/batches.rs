//! Batches that other machines compute: results that are not those of the batch, and work of unusual shapes.

use crate::computation::{by_others, keys, keys_of};
use solinas_circuits::program::{Axes, Op, Shape};
use solinas_engine::{
    Batches, Ciphertext, ClientKey, Control, Error, Form, Input, Inputs, LaneBatch, Plain, Program, ProgramBuilder,
    Server, Type, Work,
};

const U4: Type = Type::Uint(4);

fn encrypted(client: &ClientKey, ty: Type, shape: &[usize], values: &[u128]) -> Ciphertext {
    let shape = (!shape.is_empty()).then(|| shape.to_vec());
    client.encrypt(&Plain::new(ty, shape, values.to_vec()).unwrap()).unwrap()
}

fn batches(server: &Server, work: Work<'_>) -> Batches {
    let control = Control::default();
    server.prepare(work, &control).unwrap().batches(&control).unwrap()
}

#[test]
fn results_of_another_batch_are_refused() {
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let (other, _) = keys_of("tfhe", "integers-toy", 1, 9);
    let control = Control::default();
    let square = Program::from_op("mul", &[U4; 2]).unwrap();
    let inputs = [encrypted(&client, U4, &[3], &[1, 2, 3]), encrypted(&client, U4, &[3], &[3, 2, 1])];
    let work = || Work::program(&square, &inputs);
    let want = server.run(work(), &control).unwrap();
    let mut batches = batches(&server, work());
    let batch = batches.next(&control).unwrap().unwrap();
    let good = server.run_batch(&batch, &control).unwrap();
    let bits = server.run(Work::Convert { ciphertext: &good[0], form: Form::Bits }, &control).unwrap();
    let wrong = [
        (vec![], "1 result, got 0"),
        (vec![good[0].clone(); 2], "1 result, got 2"),
        (vec![good[0].slice(0..2).unwrap()], "3 elements, got 2"),
        (vec![good[0].get(0).unwrap()], "3 elements, got 1"),
        (vec![Ciphertext::stack(vec![good[0].clone(), good[0].clone()]).unwrap()], "3 elements, got 6"),
        (vec![encrypted(&client, Type::Uint(5), &[3], &[0; 3])], "u5"),
        (vec![encrypted(&client, Type::Bool, &[3], &[0; 3])], "bool"),
        (vec![encrypted(&other, U4, &[3], &[0; 3])], "key"),
        (vec![server.compact(&good[0]).unwrap()], "compact"),
        (bits, "form"),
    ];
    for (results, part) in wrong {
        let error = batches.finish(results).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("; "), "{part}: {error}");
        assert!(batches.outputs().unwrap_err().to_string().contains("batches are left"));
    }
    // The batch is still the one that is out.
    batches.finish(good).unwrap();
    assert!(batches.next(&control).unwrap().is_none() && batches.next(&control).unwrap().is_none());
    assert_eq!(batches.outputs().unwrap(), want);
}

/// One value for all lanes, constants, moved elements, and no elements.
#[test]
fn batches_of_unusual_shapes_have_the_bytes_of_a_run() {
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let control = Control::default();
    let one = || encrypted(&client, U4, &[], &[5]);
    let shape = |sizes: &[usize]| Shape::new(sizes.iter().copied()).unwrap();
    let mut all: Vec<(&str, usize, Program, Vec<Ciphertext>)> = Vec::new();
    {
        let mut b = ProgramBuilder::new();
        let x = b.input("x", U4).unwrap();
        let wide = b.op(Op::BroadcastTo(shape(&[5])), &[x]).unwrap();
        let square = b.op(Op::Mul, &[wide, wide]).unwrap();
        b.output("square", square);
        all.push(("one value for all lanes", 1, b.finish().unwrap(), vec![one()]));
    }
    {
        let mut b = ProgramBuilder::new();
        let x = b.input("x", U4).unwrap();
        let wide = b.op(Op::BroadcastTo(shape(&[5])), &[x]).unwrap();
        b.output("wide", wide);
        all.push(("a copied value", 0, b.finish().unwrap(), vec![one()]));
    }
    {
        let mut b = ProgramBuilder::new();
        let c = b.constant(3u128, U4).unwrap();
        let wide = b.op(Op::BroadcastTo(shape(&[4])), &[c]).unwrap();
        let array = b.array(solinas_circuits::Plain::new(U4, shape(&[3]), [1u128, 2, 3]).unwrap()).unwrap();
        b.output("c", c);
        b.output("wide", wide);
        b.output("array", array);
        all.push(("constants", 0, b.finish().unwrap(), vec![]));
    }
    {
        let mut b = ProgramBuilder::new();
        let x = b.input("x", U4).unwrap();
        let back = b.op(Op::Roll { by: 1, axes: Axes::All }, &[x]).unwrap();
        b.output("back", back);
        b.output("x", x);
        all.push(("moved", 0, b.finish().unwrap(), vec![encrypted(&client, U4, &[2, 2], &[1, 2, 3, 4])]));
    }
    let add = || Program::from_op("add", &[U4; 2]).unwrap();
    let empty = |sizes: &[usize]| encrypted(&client, U4, sizes, &[]);
    all.push(("empty", 0, add(), vec![empty(&[0]), one()]));
    all.push(("empty of two dimensions", 0, add(), vec![empty(&[3, 0]), empty(&[3, 0])]));
    all.push(("one element", 1, add(), vec![encrypted(&client, U4, &[1], &[1]), one()]));
    all.push(("one value", 1, add(), vec![one(), one()]));
    for (name, most, program, inputs) in all {
        let work = || Work::program(&program, Inputs::Given(inputs.iter().cloned().map(Input::Encrypted).collect()));
        let want = server.run(work(), &control).unwrap();
        assert!(by_others(&server, &server, work(), false) == want, "{name}: other bytes");
        let (mut counted, mut count) = (batches(&server, work()), 0);
        while let Some(batch) = counted.next(&control).unwrap() {
            counted.finish(server.run_batch(&batch, &control).unwrap()).unwrap();
            count += 1;
        }
        assert_eq!(count, most, "{name}");
        let plain = |results: &[Ciphertext]| results.iter().map(|x| client.decrypt(x).unwrap()).collect::<Vec<_>>();
        let hidden = by_others(&server, &server, work(), true);
        assert_eq!(plain(&hidden), plain(&want), "{name}");
        for result in hidden.iter().filter(|result| result.len() > 1) {
            let [a, b] = [0, 1].map(|at| result.get(at).unwrap());
            assert!(a != b, "{name}: two elements that hide the program are equal");
        }
    }
}

#[test]
fn work_without_plans_has_no_batches() {
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let control = Control::default();
    let x = encrypted(&client, U4, &[3], &[1, 2, 3]);
    for form in [Form::Bits, Form::Radix] {
        let work = Work::Convert { ciphertext: &x, form };
        let error = server.prepare(work, &control).unwrap().batches(&control).unwrap_err().to_string();
        assert!(error.contains("a conversion has no batches; "), "{error}");
    }
    let (client, server) = keys("ntru", "slots-128-3", 1);
    let ty = Type::Mod(257);
    let x = encrypted(&client, ty, &[2], &[1, 2]);
    let mul = Program::from_op("mul", &[ty; 2]).unwrap();
    let prepared = server.prepare(Work::program(&mul, &[x.clone(), x]), &control).unwrap();
    assert!(matches!(prepared.batches(&control), Err(Error::NoPlan { .. })));
}

#[test]
fn a_worker_refuses_other_work() {
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let control = Control::default();
    let x = encrypted(&client, U4, &[3], &[1, 2, 3]);
    let bits = server.run(Work::Convert { ciphertext: &x, form: Form::Bits }, &control).unwrap().remove(0);
    let mul = Program::from_op("mul", &[U4; 2]).unwrap();
    let inputs = [bits, x];
    let work = || Work::program(&mul, &inputs);
    assert!(by_others(&server, &server, work(), false) == server.run(work(), &control).unwrap());
    let LaneBatch { program, plan, inputs: lanes, hides } = batches(&server, work()).next(&control).unwrap().unwrap();
    let refused = |program: &Program, inputs: Vec<Ciphertext>, part: &str| {
        let batch = LaneBatch { program: program.clone(), plan: plan.clone(), inputs, hides };
        let error = server.run_batch(&batch, &control).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("; "), "{part}: {error}");
    };
    refused(&Program::from_op("neg", &[U4]).unwrap(), vec![lanes[0].clone()], "another program");
    refused(&program, vec![lanes[0].clone()], "expected 2 inputs");
    refused(&program, vec![lanes[0].clone(), lanes[1].slice(0..2).unwrap()], "shapes [3], [2]");
    refused(&program, vec![lanes[0].clone(), encrypted(&client, Type::Bool, &[3], &[0; 3])], "bool");
    refused(&program, vec![lanes[0].clone(), server.compact(&lanes[1]).unwrap()], "compact");
}

/// Ports of either sign, of bools, of one bit, and wider than an integer, with a public value.
#[test]
fn circuits_of_all_ports_are_computed_by_others() {
    use solinas_circuits::Builder;
    let (client, server) = keys("tfhe", "integers-toy", 2);
    let mut b = Builder::new();
    let (x, y, c) = (b.input("x", 4, true), b.input("y", 4, false), b.input("c", 1, false)[0]);
    let wide = b.input("wide", 2050, false);
    let sum: Vec<_> = x.iter().zip(&y).map(|(x, y)| b.xor(*x, *y)).collect();
    let flags: Vec<_> = wide.iter().enumerate().map(|(at, bit)| if at < 2 { b.and(*bit, c) } else { *bit }).collect();
    let carry = b.and(c, x[0]);
    b.output("x", &sum, true);
    b.output("wide", &flags, false);
    b.output("c", &[carry], false);
    let program = Program::of_circuit(b.finish().unwrap(), true).unwrap();
    let control = Control::default();
    let wide = Plain::new(Type::Bool, Some(vec![2050]), (0..2050).map(|i| u128::from(i % 3 == 0)).collect::<Vec<_>>());
    let wide = client.encrypt(&wide.unwrap()).unwrap();
    for public in [false, true] {
        for x in [
            encrypted(&client, Type::Int(4), &[2], &[3, 9]),
            encrypted(&client, U4, &[2], &[3, 9]),
            encrypted(&client, Type::Bool, &[2, 4], &[1, 1, 0, 0, 1, 0, 0, 1]),
        ] {
            let c = Plain::scalar(Type::Uint(1), 1u128).unwrap();
            let c = if public { Input::Public(c) } else { client.encrypt(&c).unwrap().into() };
            let inputs = vec![x.into(), encrypted(&client, Type::Int(4), &[], &[5]).into(), c, wide.clone().into()];
            let work = || Work::program(&program, Inputs::Given(inputs.clone()));
            let want = server.run(work(), &control).unwrap();
            assert_eq!(client.decrypt(&want[0]).unwrap().values, [6u128, 12], "{public}");
            assert!(by_others(&server, &server, work(), false) == want, "{public}: other bytes");
        }
    }
}
