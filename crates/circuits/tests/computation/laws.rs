//! Laws of programs on arrays, on random programs:
//! steps give what evaluation of whole arrays gives, whatever the batches, their order, the memory and the pauses are; a lifted program gives the results of
//! the program of each element; a program of single values is one step, as it is.

use super::generator::{Case, Kind, below, case, larger, pick, plain};
use crate::common::rng;
use rand_chacha::ChaCha8Rng;
use solinas_circuits::Plain;
use solinas_circuits::program::{Axes, Function, How, Op, Program, ProgramBuilder, Range, Shape, Type};
use solinas_circuits::steps::reduce::FAN_IN;
use solinas_circuits::steps::{Batch, Kernel, Machine, Port, Source, Step, Steps, THIN, Value, split};
use std::collections::HashMap;
use std::sync::Arc;

fn kind(seed: u64) -> Kind {
    Kind { large: seed.is_multiple_of(10), packed: seed.is_multiple_of(3) }
}

fn want(case: &Case) -> Vec<Plain> {
    case.shaped.program().evaluate_arrays(&case.inputs).unwrap()
}

fn shape(sizes: &[usize]) -> Shape {
    Shape::new(sizes.iter().copied()).unwrap()
}

#[test]
fn steps_give_what_evaluation_of_whole_arrays_gives() {
    let (mut count, mut packed) = (0, 0);
    for seed in 0..solinas_testing::rounds(1000, 100_000) as u64 {
        let case = case(seed, kind(seed));
        let steps = split(&case.shaped).unwrap();
        count += steps.steps.len();
        packed += steps.kernels.iter().filter(|kernel| matches!(kernel, Kernel::Packed(_))).count();
        for kernel in &steps.kernels {
            assert!(!matches!(kernel, Kernel::Program(program) if !program.is_of_scalars()), "{kernel:?}");
        }
        let rng = &mut rng(seed);
        let (batch, budget) = (pick(rng, &[1, 7, 64, 100_000]), pick(rng, &[0, 50, usize::MAX]));
        let got = steps.evaluate(&case.inputs, batch, budget).unwrap();
        assert_eq!(got, want(&case), "seed {seed}: {:#?}\n{steps:#?}", case.shaped);
    }
    println!("{count} steps, {packed} of them packed");
    assert!(packed > 100);
}

/// Batches end in any order, several at a time; the run stops and goes on from its state.
fn interrupted(rng: &mut ChaCha8Rng, steps: &Steps, inputs: &[Plain]) -> (Vec<Plain>, usize) {
    let mut machine = Machine::new(steps, usize::MAX, None).unwrap();
    let mut flying: Vec<(Batch, Vec<Vec<Value>>)> = Vec::new();
    let mut restarts = 0;
    loop {
        if flying.len() < 5
            && below(rng, 3) > 0
            && let Some(next) = machine.next(1 + below(rng, 90))
        {
            let results = steps.compute(next.step, next.lanes.len(), &machine.inputs(&next), inputs).unwrap();
            flying.push((next, results));
        } else if !flying.is_empty() {
            let (batch, results) = flying.swap_remove(below(rng, flying.len()));
            machine.finish(&batch, results);
        } else if machine.is_finished() {
            let progress = machine.progress(|_| 3);
            assert_eq!(progress.done, progress.total);
            return (steps.results(&machine, inputs), restarts);
        }
        if below(rng, 20) == 0 {
            restarts += 1;
            machine = Machine::new(steps, usize::MAX, Some(machine.checkpoint())).unwrap();
            // One of the batches goes on; it was handed out first of its step, or it is refused.
            flying.truncate(1);
            flying.retain(|(batch, _)| machine.resume(batch).is_ok());
        }
    }
}

/// Kernels with constants, copies of outputs, and any number of combinations of public values give the same results.
#[test]
fn public_values_may_be_constants_of_kernels() {
    let (mut divided, mut copied) = (0, 0);
    for seed in 0..solinas_testing::rounds(600, 50_000) as u64 {
        let case = case(seed, kind(seed));
        let rng = &mut rng(seed);
        let public: HashMap<u32, Plain> =
            (0..).zip(&case.inputs).filter(|_| below(rng, 2) == 0).map(|(at, plain)| (at, plain.clone())).collect();
        let encrypted: Vec<Plain> = (0..)
            .zip(&case.inputs)
            .filter(|(at, _)| !public.contains_key(at))
            .map(|(_, plain)| plain.clone())
            .collect();
        let program = Arc::new(case.shaped.program().with_public(&public).unwrap());
        let shapes: Vec<Shape> = encrypted.iter().map(|plain| plain.shape.clone()).collect();
        let most = pick(rng, &[1, 2, 16, usize::MAX]);
        let copies: Vec<bool> = program.outputs.iter().map(|_| below(rng, 3) == 0).collect();
        let plain = split(&program.at(&shapes).unwrap()).unwrap();
        let steps = plain.clone().with_copies(|output| copies[output]).unwrap().with_constants(most).unwrap();
        divided += usize::from(steps.steps.len() > plain.steps.len());
        copied += copies.iter().filter(|copied| **copied).count();
        let (batch, budget) = (pick(rng, &[1, 7, 64, 100_000]), pick(rng, &[0, 50, usize::MAX]));
        let want = want(&case);
        assert_eq!(steps.evaluate(&encrypted, batch, budget).unwrap(), want, "seed {seed}: {:#?}", case.shaped);
        assert_eq!(interrupted(rng, &steps, &encrypted).0, want, "seed {seed}");
        let types = steps.slot_types().unwrap();
        for (step, kernel) in steps.steps.iter().map(|step| (step, steps.kernel(step))) {
            let lanes = if let Kernel::Packed(_) = kernel { None } else { Some(step.lanes) };
            let found = step.out.iter().map(|slot| &types[slot.0 as usize]);
            assert!(found.clone().map(|found| found.ty).eq(kernel.result_types()), "seed {seed}");
            assert!(lanes.is_none_or(|lanes| found.clone().all(|found| found.shape.size() == lanes)), "seed {seed}");
            if let (Kernel::Program(program), usize::MAX) = (kernel, most) {
                let reads = step.ports.iter().enumerate().any(|(port, _)| reads_public(&steps, step, port));
                assert!(!reads, "seed {seed}: {program:?}");
            }
        }
    }
    assert!(divided > 50 && copied > 50, "{divided} {copied}");
}

fn reads_public(steps: &Steps, step: &Step, port: usize) -> bool {
    let Port::Lanes(layout) = step.ports[port] else { return false };
    (0..step.lanes).any(|lane| matches!(steps.source(steps.layouts.at(layout, lane).0), Source::Public(_)))
}

#[test]
fn a_packed_kernel_has_arrays_of_one_length() {
    let ty = Type::Mod(257);
    let mut builder = ProgramBuilder::new();
    let [a, b] = ["a", "b"].map(|name| builder.input(name, ty).unwrap());
    let sum = builder.op(Op::Reduce { how: How::Sum, axes: Axes::All }, &[a]).unwrap();
    let scaled = builder.op(Op::Mul, &[sum, b]).unwrap();
    builder.output("scaled", scaled);
    let program = Arc::new(builder.finish().unwrap());
    let inputs = [8usize, 4].map(|len| Plain::new(ty, shape(&[len]), (1..=len).map(|i| i as u128)).unwrap());
    let steps = split(&program.at(&[shape(&[8]), shape(&[4])]).unwrap()).unwrap();
    assert_eq!(steps.steps.len(), 2);
    assert_eq!(steps.evaluate(&inputs, 1, 0).unwrap(), program.evaluate_arrays(&inputs).unwrap());
}

#[test]
fn order_of_batches_and_pauses_change_nothing() {
    let mut restarts = 0;
    for seed in 0..solinas_testing::rounds(400, 20_000) as u64 {
        let case = case(seed, Kind { large: seed.is_multiple_of(4), packed: seed.is_multiple_of(5) });
        let steps = split(&case.shaped).unwrap();
        let (got, more) = interrupted(&mut rng(seed), &steps, &case.inputs);
        assert_eq!(got, want(&case), "seed {seed}: {:#?}", case.shaped);
        restarts += more;
    }
    println!("{restarts} restarts");
    assert!(restarts > 30);
}

#[test]
fn states_of_other_runs_are_refused() {
    let program = |op| Arc::new(Program::from_op(op, &[Type::Uint(8); 2]).unwrap());
    let steps = |op, sizes| split(&program(op).at(&[shape(sizes), shape(sizes)]).unwrap()).unwrap();
    let (add, longer) = (steps("add", &[3]), steps("add", &[300]));
    let mut machine = Machine::new(&longer, 0, None).unwrap();
    let batch = machine.next(100).unwrap();
    machine.finish(&batch, vec![vec![7u8; 100]]);
    assert!(Machine::new(&longer, 0, Some(machine.checkpoint())).is_ok());
    let mut cut = machine.checkpoint();
    cut.live[0].2.pop();
    let mut other = machine.checkpoint();
    other.live[0].0.0 = 99;
    for (steps, cursor) in [(&add, machine.checkpoint()), (&longer, cut), (&longer, other)] {
        let error = Machine::new(steps, 0, Some(cursor)).unwrap_err();
        assert!(error.to_string().contains("start the run anew"), "{error}");
    }
}

#[test]
fn lifted_programs_give_what_the_program_gives_of_each_element() {
    for seed in 0..solinas_testing::rounds(400, 20_000) as u64 {
        let case = case(seed, Kind { large: false, packed: false });
        let rng = &mut rng(seed);
        let program = case.shaped.program();
        let outer = shape(&pick(rng, &[vec![2], vec![3], vec![2, 2], vec![1], vec![]]));
        let batched: Vec<bool> = (0..case.inputs.len()).map(|i| i == 0 || below(rng, 3) > 0).collect();
        let lifted = Arc::new(case.shaped.lift(&outer, &batched).unwrap());
        let rows = outer.size();
        let each: Vec<Vec<Plain>> = (0..rows)
            .map(|_| {
                let of = |(input, batched): (&Plain, &bool)| {
                    if *batched { plain(rng, input.ty, input.shape.clone()) } else { input.clone() }
                };
                case.inputs.iter().zip(&batched).map(of).collect()
            })
            .collect();
        let stack = |all: Vec<&Plain>| Plain {
            ty: all[0].ty,
            shape: all[0].shape.under(&outer).unwrap(),
            values: all.iter().flat_map(|plain| plain.values.clone()).collect(),
        };
        let inputs: Vec<Plain> = (0..case.inputs.len())
            .map(|i| if batched[i] { stack(each.iter().map(|row| &row[i]).collect()) } else { case.inputs[i].clone() })
            .collect();
        let wants: Vec<Vec<Plain>> = each.iter().map(|row| program.evaluate_arrays(row).unwrap()).collect();
        let want: Vec<Plain> =
            (0..program.outputs.len()).map(|k| stack(wants.iter().map(|row| &row[k]).collect())).collect();
        assert_eq!(lifted.evaluate_arrays(&inputs).unwrap(), want, "seed {seed}: {program:#?}\n{lifted:#?}");
        let shapes: Vec<Shape> = inputs.iter().map(|input| input.shape.clone()).collect();
        let steps = split(&lifted.at(&shapes).unwrap()).unwrap();
        assert_eq!(steps.evaluate(&inputs, 64, usize::MAX).unwrap(), want, "seed {seed}");
    }
}

#[test]
fn a_program_of_single_values_is_its_own_kernel() {
    let program = larger();
    for sizes in [&[][..], &[5], &[3, 100]] {
        let steps = split(&Arc::new(program.clone()).at(&[(); 4].map(|()| shape(sizes))).unwrap()).unwrap();
        let [Kernel::Program(kernel)] = &steps.kernels[..] else { panic!("{steps:?}") };
        assert_eq!((steps.steps.len(), &kernel.nodes, &kernel.outputs), (1, &program.nodes, &program.outputs));
        assert_eq!(kernel.input_types(), program.input_types());
    }
    // So is one across the elements of packed arrays, with scalars.
    let mut builder = ProgramBuilder::new();
    let [a, b] = ["a", "b"].map(|name| builder.input(name, Type::Mod(257)).unwrap());
    let rotated = builder.rotate_elements(a, 3).unwrap();
    let dot = builder.dot(rotated, b).unwrap();
    builder.output("dot", dot);
    let program = builder.finish().unwrap();
    for sizes in [[&[][..], &[]], [&[5], &[5]], [&[5], &[]]] {
        let steps = split(&Arc::new(program.clone()).at(&sizes.map(shape)).unwrap()).unwrap();
        let [Kernel::Packed(kernel)] = &steps.kernels[..] else { panic!("{steps:?}") };
        assert_eq!((&kernel.nodes, &kernel.outputs), (&program.nodes, &program.outputs));
    }
}

#[test]
fn few_independent_lanes_of_a_level_are_one_step() {
    for (count, steps) in [(THIN - 1, 1), (THIN, 2)] {
        let mut builder = ProgramBuilder::new();
        let [x, y] = ["x", "y"].map(|name| builder.input(name, Type::Uint(8)).unwrap());
        let rolled = builder.op(Op::Roll { by: 1, axes: Axes::All }, &[y]).unwrap();
        for (name, op, value) in [("p", Op::Neg, x), ("q", Op::Not, rolled)] {
            let value = builder.op(op, &[value]).unwrap();
            builder.output(name, value);
        }
        let program = Arc::new(builder.finish().unwrap());
        assert_eq!(split(&program.at(&[shape(&[count]), shape(&[count])]).unwrap()).unwrap().steps.len(), steps);
    }
}

/// `reduce(x * w)` along a dimension.
fn products(how: How, sizes: &[usize], first: bool) -> Arc<Program> {
    let mut builder = ProgramBuilder::new();
    let [x, w] = ["x", "w"].map(|name| builder.input(name, Type::Uint(8)).unwrap());
    let mut product = builder.op(Op::Mul, &[x, w]).unwrap();
    if first && sizes.len() == 2 {
        product = builder.op(Op::Permute(vec![1, 0]), &[product]).unwrap();
    }
    let sum = builder.op(Op::Reduce { how, axes: Axes::Last(1) }, &[product]).unwrap();
    builder.output("result", sum);
    Arc::new(builder.finish().unwrap())
}

#[test]
fn sums_of_products_take_few_levels() {
    for (count, lanes) in [(100, &[100, 1][..]), (300, &[300, 18, 1]), (1000, &[1000, 62, 1])] {
        let shapes = [shape(&[count]), shape(&[count])];
        let steps = split(&products(How::Sum, &[count], false).at(&shapes).unwrap()).unwrap();
        assert_eq!(steps.steps.iter().map(|step| step.lanes).collect::<Vec<_>>(), lanes);
    }
}

#[test]
fn the_last_level_of_a_reduction_computes_what_is_read() {
    for (read, results) in [(&[0][..], 1), (&[1], 1), (&[0, 1], 2)] {
        let mut builder = ProgramBuilder::new();
        let x = builder.input("x", Type::Uint(8)).unwrap();
        let how = How::Function(builder.function(Function::Program(larger())));
        let first = builder.op(Op::Reduce { how, axes: Axes::All }, &[x, x]).unwrap();
        for &index in read {
            let value = if index == 0 { first } else { builder.op(Op::Result(index), &[first]).unwrap() };
            builder.output(format!("y{index}"), value);
        }
        let steps = split(&Arc::new(builder.finish().unwrap()).at(&[shape(&[300])]).unwrap()).unwrap();
        assert_eq!(steps.steps.iter().map(|step| step.out.len()).collect::<Vec<_>>(), [2, results]);
    }
}

/// The elements that are kept at once do not grow with the array. In long runs, arrays have 10^6 elements.
#[test]
fn a_reduction_keeps_few_elements() {
    const BUDGET: usize = 16_384;
    let side = if solinas_testing::is_long() { 1000 } else { 100 };
    let count = side * side;
    for how in [How::Sum, How::Max] {
        for (sizes, first) in [(vec![count], false), (vec![side, side], false), (vec![side, side], true)] {
            let shape = shape(&sizes);
            let array = |modulus: usize| {
                Plain::new(Type::Uint(8), shape.clone(), (0..count).map(|i| (i % modulus) as u128)).unwrap()
            };
            let inputs = [array(251), array(13)];
            let shaped = products(how, &sizes, first).at(&[shape.clone(), shape.clone()]).unwrap();
            let steps = split(&shaped).unwrap();
            let mut machine = Machine::new(&steps, BUDGET, None).unwrap();
            while let Some(next) = machine.next(256) {
                let results = steps.compute(next.step, next.lanes.len(), &machine.inputs(&next), &inputs).unwrap();
                machine.finish(&next, results);
            }
            let along = if first { "columns" } else { "rows" };
            let lanes: Vec<usize> = steps.steps.iter().map(|step| step.lanes).collect();
            println!("{how:?} of {sizes:?} along {along}: peak {} elements, lanes {lanes:?}", machine.peak());
            // A lane needs its neighbours in every row.
            let rows = if first { side } else { 1 };
            assert!(machine.peak() < BUDGET + 6 * FAN_IN * (rows + 256), "{}", machine.peak());
            assert_eq!(steps.results(&machine, &inputs), shaped.program().evaluate_arrays(&inputs).unwrap());
        }
    }
}

/// Chains of operations are followed without recursion. In long runs they have 10^6 operations.
#[test]
fn long_chains_need_no_stack() {
    let take = |i: usize| Op::Take(if i.is_multiple_of(2) { vec![2, 0, 1] } else { vec![1, 2, 0] });
    let flip = |_| Op::Slice(vec![Range { start: 2, step: -1, len: 3 }]);
    let negate = |_| Op::Neg;
    for op in [&take as &dyn Fn(usize) -> Op, &flip, &negate] {
        let mut builder = ProgramBuilder::new();
        let mut value = builder.input("x", Type::Uint(8)).unwrap();
        for i in 0..solinas_testing::rounds(10_000, 1_000_000) {
            value = builder.op(op(i), &[value]).unwrap();
        }
        builder.output("y", value);
        let shaped = Arc::new(builder.finish().unwrap()).at(&[shape(&[3])]).unwrap();
        let steps = split(&shaped).unwrap();
        let inputs = [Plain::new(Type::Uint(8), shape(&[3]), [1u128, 2, 3]).unwrap()];
        // Each chain is an even number of operations that undo each other.
        assert_eq!(steps.evaluate(&inputs, 8, 0).unwrap(), inputs);
    }
}

/// A state from elsewhere is refused, or the run goes on from it. It never reads what the state does not hold.
#[test]
fn forged_states_are_refused_or_go_on() {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..solinas_testing::rounds(300, 10_000) as u64 {
        let case = case(seed, kind(seed));
        let steps = split(&case.shaped).unwrap();
        let rng = &mut rng(seed);
        let mut cursor = Machine::new(&steps, 0, None).unwrap().checkpoint();
        for (step, done) in steps.steps.iter().zip(&mut cursor.done) {
            *done = below(rng, step.lanes + 1);
            cursor.live.extend(step.out.iter().filter(|_| *done > 0).map(|slot| (*slot, *done, Vec::new())));
        }
        let Ok(mut machine) = Machine::new(&steps, usize::MAX, Some(cursor)) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        while let Some(next) = machine.next(50) {
            let results = steps.compute(next.step, next.lanes.len(), &machine.inputs(&next), &case.inputs).unwrap();
            machine.finish(&next, results);
        }
        assert_eq!(steps.results(&machine, &case.inputs), want(&case), "seed {seed}");
    }
    assert!(refused > 0 && accepted > 0, "{refused} {accepted}");
}

/// The fields of a plain array are public, so its values need not be those of its shape and type.
#[test]
fn values_that_are_not_those_of_their_shape_are_refused() {
    let program = Arc::new(Program::from_op("add", &[Type::Uint(8); 2]).unwrap());
    let good = Plain::new(Type::Uint(8), shape(&[2]), [1u128, 2]).unwrap();
    let steps = split(&program.at(&[shape(&[2]), shape(&[2])]).unwrap()).unwrap();
    for values in [vec![1u128], vec![1, 2, 3], vec![1, 256]] {
        let bad = Plain { values: values.into_iter().map(Into::into).collect(), ..good.clone() };
        let inputs = [good.clone(), bad];
        assert!(program.evaluate_arrays(&inputs).is_err() && steps.evaluate(&inputs, 1, 0).is_err(), "{inputs:?}");
    }
}
