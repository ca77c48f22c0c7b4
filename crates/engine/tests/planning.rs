//! Planning has limits, and can be stopped; sizes of ciphertexts are known before they are made.
#![allow(clippy::unwrap_used, reason = "tests")]

use solinas_circuits::build::Recipe;
use solinas_engine::program::Op;
use solinas_engine::{
    Control, Error, Inputs, KeygenOptions, Plain, Program, ProgramBuilder, Scheme, Server, Type, Work, cost_under,
    keygen,
};
use std::sync::atomic::AtomicBool;

/// Quotients of neighbours.
fn divisions(count: usize, ty: Type) -> Program {
    let mut builder = ProgramBuilder::new();
    let values: Vec<_> = (0..=count).map(|i| builder.input(format!("x{i}"), ty).unwrap()).collect();
    for (i, pair) in values.windows(2).enumerate() {
        let quotient = builder.op(Op::Div, pair).unwrap();
        builder.output(format!("q{i}"), quotient);
    }
    builder.finish().unwrap()
}

#[test]
fn a_program_above_the_limits_is_refused_after_its_first_operation() {
    let program = divisions(2000, Type::Uint(128));
    for params in ["integers-128", "gates-128"] {
        let error = cost_under(None, &program, params, &Control::default()).unwrap_err();
        assert!(matches!(error, Error::Planning { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("needs about") && message.contains("split the program"), "{message}");
    }
}

#[test]
fn planning_is_cancelled_under_every_scheme() {
    let cancel = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancel), ..Control::default() };
    let program = divisions(2, Type::Uint(8));
    let netlist = program.lower(Recipe::default()).unwrap();
    for (scheme, params) in [
        ("tfhe", "integers-128"),
        ("tfhe", "gates-128"),
        ("gh", "ci-15"),
        ("ntru", "boot-64"),
        ("bgv", "boot-64-2"),
        ("lwe", "leveled-8-9"),
    ] {
        let error = cost_under(scheme.parse::<Scheme>().unwrap(), &program, params, &control).unwrap_err();
        assert!(matches!(error, Error::Cancelled), "{params}: {error}");
        let error = cost_under(None, &crate::circuit(&netlist), params, &control).unwrap_err();
        assert!(matches!(error, Error::Cancelled), "{params}: {error}");
    }
}

#[test]
fn planning_in_slots_is_cancelled_too() {
    let ty = Type::Mod(65537);
    let mut builder = ProgramBuilder::new();
    let x = builder.input("x", ty).unwrap();
    let y = builder.op(Op::Add, &[x, x]).unwrap();
    builder.output("y", y);
    let cancel = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancel), ..Control::default() };
    let cost = cost_under("bgv".parse::<Scheme>().unwrap(), &builder.finish().unwrap(), "slots-128-4", &control);
    assert!(matches!(cost, Err(Error::Cancelled)), "{cost:?}");
}

#[test]
fn planning_and_measuring_are_cancelled() {
    for (scheme, params) in [("tfhe", "gates-toy"), ("gh", "ci-15"), ("ntru", "tight-64-12")] {
        let params = Some(params.into());
        let options = KeygenOptions {
            scheme: scheme.parse().unwrap(),
            params,
            research: true,
            insecure_seed: Some(1),
            ..KeygenOptions::default()
        };
        let (client, key) = keygen(&options, &Control::default()).unwrap();
        let server = Server::new(&key, Some(1)).unwrap();
        let ty = Type::Uint(2);
        let program = Program::from_op("add", &[ty; 2]).unwrap();
        let netlist = program.lower(Recipe::default()).unwrap();
        let (circuit, gates) = (crate::circuit(&netlist), crate::gates(&netlist));
        let one = client.encrypt(&Plain::scalar(ty, 1).unwrap()).unwrap();
        let inputs = [one.clone(), one];
        let cancel = AtomicBool::new(true);
        let control = Control { cancel: Some(&cancel), ..Control::default() };
        let all = [
            Work::program(&program, &inputs),
            Work::program(&program, Inputs::Fresh { instances: 1 }),
            Work::program(&circuit, &inputs),
            Work::program(&circuit, Inputs::Fresh { instances: 1 }),
            Work::program(&gates, Inputs::Fresh { instances: 1 }),
        ];
        for (i, work) in all.iter().enumerate() {
            let cancelled = server.prepare(work.clone(), &control).and_then(|prepared| prepared.estimate(&control));
            assert!(matches!(cancelled, Err(Error::Cancelled)), "{scheme}, work {i}: {cancelled:?}");
        }
        for (i, work) in all.into_iter().enumerate() {
            let prepared = server.prepare(work, &Control::default()).unwrap();
            assert!(prepared.count().is_ok());
            for estimate in [prepared.estimate(&control), prepared.estimate_on(4, &control)] {
                assert!(matches!(estimate, Err(Error::Cancelled)), "{scheme}, work {i}: {estimate:?}");
            }
        }
    }
}

#[test]
fn work_on_fresh_inputs_has_a_cost_and_cannot_run() {
    let options = KeygenOptions {
        params: Some("gates-toy".into()),
        research: true,
        insecure_seed: Some(1),
        ..KeygenOptions::default()
    };
    let (_, key) = keygen(&options, &Control::default()).unwrap();
    let server = Server::new(&key, Some(1)).unwrap();
    let program = Program::from_op("and", &[Type::Bool; 2]).unwrap();
    let circuit = crate::circuit(&program.lower(Recipe::default()).unwrap());
    let too_many = server.prepare(Work::program(&program, Inputs::Fresh { instances: 1 << 60 }), &Control::default());
    assert!(matches!(too_many, Err(Error::Value { .. })), "{too_many:?}");
    let works = [
        Work::program(&program, Inputs::Fresh { instances: 3 }),
        Work::program(&circuit, Inputs::Fresh { instances: 3 }),
    ];
    for work in works {
        let prepared = server.prepare(work, &Control::default()).unwrap();
        assert_eq!(prepared.count().unwrap().bootstraps, 3);
        let run = prepared.run(&Control::default());
        assert!(matches!(run, Err(Error::InputCount { got: 0, want: 2, .. })), "{run:?}");
    }
}

#[test]
fn a_plan_that_is_known_is_not_made_again() {
    let options = KeygenOptions {
        params: Some("gates-toy".into()),
        research: true,
        insecure_seed: Some(1),
        ..KeygenOptions::default()
    };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let server = Server::new(&key, Some(1)).unwrap();
    let program = Program::from_op("and", &[Type::Bool; 2]).unwrap();
    let bit = client.encrypt(&Plain::scalar(Type::Bool, 1).unwrap()).unwrap();
    let inputs = [bit.clone(), bit];
    let cancel = AtomicBool::new(true);
    let control = Control { cancel: Some(&cancel), ..Control::default() };
    let estimate = |program: &Program, control: &Control<'_>| {
        let fresh = Work::program(program, Inputs::Fresh { instances: 1 });
        server.prepare(fresh, control)?.estimate(control).map(|estimate| estimate.bootstraps)
    };
    assert!(matches!(estimate(&program, &control), Err(Error::Cancelled)));
    assert_eq!(estimate(&program, &Control::default()).unwrap(), 1);
    assert_eq!(estimate(&program, &control).unwrap(), 1, "nothing is left to cancel");
    assert!(matches!(server.run(Work::program(&program, &inputs), &control), Err(Error::Cancelled)));
    assert!(matches!(estimate(&Program::from_op("or", &[Type::Bool; 2]).unwrap(), &control), Err(Error::Cancelled)));
}
