//! Expressions and the programs that they freeze to.

use crate::programs::{self, Limits};
use rand_core::RngCore;
use solinas_circuits::expr::{Callee, Expr, Leaf, Source, foreign, freeze, reachable};
use solinas_circuits::program::{Axes, How, Op, Shape, Type, ValueType};
use solinas_circuits::{Builder, Error, Natural, Plain, Program, ProgramBuilder};
use std::sync::Arc;

const U8: Type = Type::Uint(8);

#[derive(Debug, Clone, PartialEq)]
struct Value(Plain);

impl Leaf for Value {
    fn value_type(&self) -> ValueType {
        self.0.value_type()
    }
}

type Node = Arc<Expr<Value>>;

fn array(values: &[u128]) -> Value {
    Value(Plain::new(U8, shape(&[values.len()]), values.iter().copied()).unwrap())
}

fn one(value: u128) -> Node {
    Expr::value(Value(Plain::scalar(U8, value).unwrap()))
}

fn constant(value: u128) -> Node {
    Expr::constant(value.into(), U8)
}

fn shape(sizes: &[usize]) -> Shape {
    Shape::new(sizes.iter().copied()).unwrap()
}

fn op(op: Op, args: &[&Node]) -> Node {
    Expr::op(op, args.iter().map(|arg| Arc::clone(arg)).collect(), U8).unwrap()
}

/// The indices of a move of one array.
fn indices(node: &Node) -> Option<Vec<u64>> {
    match node.source().as_deref() {
        Some(Source::Elements(indices, _)) => Some(indices.clone()),
        _ => None,
    }
}

fn evaluated(roots: &[Node]) -> Vec<Value> {
    let (program, inputs) = freeze(&[], roots).unwrap();
    let inputs: Vec<Plain> = inputs.into_iter().map(|Value(plain)| plain).collect();
    program.evaluate_arrays(&inputs).unwrap().into_iter().map(Value).collect()
}

fn names(program: &Program) -> Vec<&str> {
    program.nodes.iter().map(|node| node.op.name()).collect()
}

/// The nodes of a program as expressions.
fn replayed(program: &Program, inputs: &[Node]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for node in &program.nodes {
        nodes.push(match &node.op {
            Op::Input(input) => Arc::clone(&inputs[*input as usize]),
            Op::Const(bits) => Expr::constant(bits.clone(), node.ty),
            op => {
                let args = node.args.iter().map(|arg| Arc::clone(&nodes[arg.0 as usize])).collect();
                Expr::op(op.clone(), args, node.ty).unwrap()
            }
        });
    }
    nodes
}

#[test]
fn random_programs_freeze_to_what_they_compute_whatever_results_are_kept() {
    let limits = Limits { widest: 16, operations: 20, effort: 400 };
    for seed in 0..solinas_testing::rounds(200, 10_000) as u64 {
        let rng = &mut programs::rng(seed);
        let program = programs::program(rng, limits).unwrap();
        let plain = |(value, input): (_, &solinas_circuits::program::Input)| Plain::scalar(input.ty, value).unwrap();
        let inputs: Vec<Plain> = programs::inputs(rng, &program).into_iter().zip(&program.inputs).map(plain).collect();
        let want: Vec<Value> = program.evaluate_arrays(&inputs).unwrap().into_iter().map(Value).collect();
        let leaves: Vec<Node> = inputs.iter().cloned().map(|input| Expr::value(Value(input))).collect();
        let nodes = replayed(&program, &leaves);
        let roots: Vec<Node> =
            program.outputs.iter().map(|output| Arc::clone(&nodes[output.value.0 as usize])).collect();
        assert_eq!(evaluated(&roots), want, "seed {seed}");

        // The operations are those of the program that the outputs need, in order.
        let (frozen, _) = freeze(&[], &roots).unwrap();
        let needed = reachable(&roots);
        let is_operation = |source: &Source<Value>| !matches!(source, Source::Operation(Op::Const(_), _));
        let own: Vec<_> = needed.iter().filter(|(_, source)| source.as_deref().is_some_and(is_operation)).collect();
        let ops = |program: &Program| {
            let all = program.nodes.iter().filter(|node| !matches!(node.op, Op::Input(_) | Op::Const(_)));
            all.map(|node| (node.op.clone(), node.ty)).collect::<Vec<_>>()
        };
        assert_eq!(ops(&frozen).len(), own.len(), "seed {seed}");

        // The program of parameters is that of values, whose inputs have shapes.
        let parameters: Vec<Node> =
            program.inputs.iter().map(|input| Expr::parameter(input.name.clone(), input.ty)).collect();
        let open = replayed(&program, &parameters);
        let ends: Vec<Node> = program.outputs.iter().map(|output| Arc::clone(&open[output.value.0 as usize])).collect();
        let (traced, none) = freeze(&parameters, &ends).unwrap();
        assert!(none.is_empty());
        assert_eq!(traced.evaluate_arrays(&inputs).unwrap().into_iter().map(Value).collect::<Vec<_>>(), want);
        assert_eq!(ops(&traced), ops(&frozen), "seed {seed}");

        for node in &nodes {
            if node.result().is_none() && rng.next_u64().is_multiple_of(3) {
                node.keep(evaluated(std::slice::from_ref(node)).remove(0));
                assert!(node.source().is_none());
            }
        }
        assert_eq!(evaluated(&roots), want, "seed {seed}");
    }
}

#[test]
fn equal_constants_are_one_value_and_leaves_are_read_when_they_are_used() {
    let (x, y) = (one(7), one(9));
    let sum = op(Op::Add, &[&op(Op::Mul, &[&y, &constant(3)]), &op(Op::Mul, &[&x, &constant(3)])]);
    let (program, inputs) = freeze(&[], &[Arc::clone(&sum), sum]).unwrap();
    assert_eq!(names(&program), ["input", "const", "mul", "input", "mul", "add"]);
    assert_eq!(inputs, [y.result().unwrap().clone(), x.result().unwrap().clone()]);
    let outputs: Vec<_> = program.outputs.iter().map(|output| (output.name.as_str(), output.value.0)).collect();
    assert_eq!(outputs, [("y1", 5), ("y2", 5)]);
}

#[test]
fn a_chain_as_long_as_memory_allows_is_frozen_kept_and_released() {
    let long = if solinas_testing::is_long() { 1_000_000 } else { 100_000 };
    let chain = |start: &Node| (0..long).fold(Arc::clone(start), |value, _| op(Op::Not, &[&value]));
    let start = one(5);
    drop(chain(&start));
    let end = chain(&start);
    assert_eq!(reachable(&[Arc::clone(&end)]).len(), long + 1);
    end.keep(Value(Plain::scalar(U8, 5u128).unwrap()));
    assert_eq!(Arc::strong_count(&start), 1);
}

#[test]
fn a_result_stays_and_its_operands_are_released() {
    let (x, y) = (one(7), one(9));
    let function = Arc::new(Program::from_op("add", &[U8, U8]).unwrap());
    let of = |sizes: &[usize]| ValueType { ty: U8, shape: shape(sizes) };
    let stack = Expr::stack(vec![Arc::clone(&x), Arc::clone(&y)], of(&[2]));
    let call = |callee, args| Expr::call(callee, args, vec![of(&[])]).remove(0);
    for node in [
        op(Op::Add, &[&x, &y]),
        Arc::clone(&stack),
        stack.elements(vec![1, 0], shape(&[2])),
        call(Callee::Program(Arc::clone(&function)), vec![Arc::clone(&x), Arc::clone(&y)]),
        call(Callee::Reduction(function, Axes::All), vec![stack]),
        Expr::public(array(&[1])),
    ] {
        assert!(node.source().is_some());
        node.keep(array(&[1]));
        node.keep(array(&[2]));
        assert_eq!(node.result(), Some(&array(&[1])));
        assert!(node.source().is_none());
    }
    assert_eq!((Arc::strong_count(&x), Arc::strong_count(&y)), (1, 1));
}

#[test]
fn moves_of_moves_are_one_move() {
    let x = Expr::value(array(&[10, 11, 12, 13, 14, 15]));
    let part = x.elements(vec![5, 3, 1], shape(&[3]));
    assert_eq!(indices(&part.elements(vec![2, 0], shape(&[2]))), Some(vec![1, 5]));
    assert!(Arc::ptr_eq(&part, &part.elements(vec![0, 1, 2], shape(&[3]))));
    let element = part.elements(vec![1], Shape::scalar());
    let stack = Expr::stack(vec![element, one(3)], ValueType { ty: U8, shape: shape(&[2]) });
    assert!(indices(&stack.elements(vec![1, 0], shape(&[1, 2]))).is_none());
    assert!(stack.elements(vec![1], Shape::scalar()).source().is_none());
    let join = Expr::stack(vec![Arc::clone(&stack), part], ValueType { ty: U8, shape: shape(&[5]) });
    let turned = join.elements(vec![4, 3, 2, 1, 0], shape(&[5]));
    assert_eq!(evaluated(&[turned]), [array(&[11, 13, 15, 3, 13])]);
}

#[test]
fn calls_have_several_results() {
    let of = |ty, sizes: &[usize]| ValueType { ty, shape: shape(sizes) };
    let mut builder = ProgramBuilder::new();
    let [a, i, b, j] = ["a", "i", "b", "j"].map(|name| builder.input(name, U8).unwrap());
    let stays = builder.op(Op::Ge, &[a, b]).unwrap();
    for (name, pair) in [("value", [a, b]), ("index", [i, j])] {
        let chosen = builder.op(Op::Select, &[stays, pair[0], pair[1]]).unwrap();
        builder.output(name, chosen);
    }
    let larger = Arc::new(builder.finish().unwrap());
    let (values, indices) = (Expr::value(array(&[4, 9, 9, 2])), Expr::public(array(&[0, 1, 2, 3])));
    let best =
        Expr::call(Callee::Reduction(Arc::clone(&larger), Axes::All), vec![values, indices], vec![of(U8, &[]); 2]);
    let inlined = Expr::call(Callee::Program(larger), vec![one(1), one(2), one(3), one(4)], vec![of(U8, &[]); 2]);

    let mut gates = Builder::new();
    let (x, y) = (gates.input("x", 1, false)[0], gates.input("y", 1, false)[0]);
    let (sum, carry) = (gates.xor(x, y), gates.and(x, y));
    gates.output("sum", &[sum], false);
    gates.output("carry", &[carry], false);
    let bit = |bit: u128| Expr::value(Value(Plain::scalar(Type::Bool, bit).unwrap()));
    let circuit = Callee::Circuit(Arc::new(gates.finish().unwrap()));
    let adder = Expr::call(circuit, vec![bit(1), bit(1)], vec![of(Type::Bool, &[]); 2]);

    let results = evaluated(&[best, inlined, adder].concat());
    let values: Vec<Natural> = results.iter().map(|Value(plain)| plain.values[0].clone()).collect();
    assert_eq!(values, [9u128, 1, 3, 4, 0, 1].map(Natural::from));
}

#[test]
fn what_operands_do_not_fit_is_refused_when_it_is_made() {
    let (x, long, bit) = (Expr::value(array(&[1, 2, 3])), Expr::value(array(&[1, 2])), constant(1));
    let made = |op, args| Expr::op(op, args, U8).err().unwrap();
    assert!(matches!(made(Op::Add, vec![Arc::clone(&x), long]), Error::Shape { .. }));
    assert!(matches!(made(Op::Add, vec![Arc::clone(&x)]), Error::Arity { .. }));
    let select = made(Op::Select, vec![bit, Arc::clone(&x), Arc::clone(&x)]);
    assert!(matches!(select, Error::OperandTypes { .. }));
    let function = Op::Reduce { how: How::Function(0), axes: Axes::All };
    assert!(Expr::op(function, vec![Arc::clone(&x)], U8).is_err());
    assert!(Expr::op(Op::Call(0), vec![x], U8).is_err());

    let (own, other) = (Expr::<Value>::parameter("a", U8), Expr::parameter("b", U8));
    let mixed = op(Op::Add, &[&own, &other]);
    let (found, _) = foreign(&[Arc::clone(&own)], &[Arc::clone(&mixed)]).unwrap();
    assert!(Arc::ptr_eq(&found, &other) && foreign(&[Arc::clone(&own), other], &[Arc::clone(&mixed)]).is_none());
    assert!(matches!(freeze(&[own], &[mixed]), Err(Error::BadPort { name, .. }) if name == "b"));
}

#[test]
fn threads_keep_results_of_expressions_that_others_freeze() {
    let mut values = vec![one(1)];
    for _ in 0..200 {
        let last = Arc::clone(&values[values.len() - 1]);
        values.push(op(Op::Add, &[&last, &values[0]]));
    }
    let compute = |start: usize, step: usize| {
        for (at, node) in values.iter().enumerate().skip(start).step_by(step) {
            let result = evaluated(std::slice::from_ref(node)).remove(0);
            assert_eq!(result, Value(Plain::scalar(U8, at as u128 + 1).unwrap()));
            node.keep(result);
        }
    };
    std::thread::scope(|scope| {
        let all = [(200, 1), (0, 3), (1, 7), (0, 50)];
        for (start, step) in all {
            scope.spawn(move || compute(start, step));
        }
    });
}
