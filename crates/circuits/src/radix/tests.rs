#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod derived;

use super::{Lowered, Style, lower};
use crate::Natural;
use crate::lut::{Budget, LutGraph};
use crate::program::{Input, Node, Op, Output, Program, Type, ValueId};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const STYLES: [Style; 2] = [Style::FewestRotations, Style::LowestDepth];

/// A program of one operation on inputs of these types.
fn program(op: Op, types: &[Type], ty: Type) -> Program {
    let inputs: Vec<_> =
        types.iter().enumerate().map(|(i, &ty)| Input { name: format!("x{i}"), ty, shape: None }).collect();
    let mut nodes: Vec<_> = (0..).zip(types).map(|(i, &ty)| Node { op: Op::Input(i), args: vec![], ty }).collect();
    nodes.push(Node { op, args: (0..types.len() as u32).map(ValueId).collect(), ty });
    let outputs = vec![Output { name: "y".into(), value: ValueId(types.len() as u32) }];
    Program { inputs, nodes, outputs, ..Program::default() }
}

fn width(ty: Type) -> u32 {
    super::lower::bits(ty).into()
}

fn small(value: &Natural) -> u128 {
    value.to_u128().unwrap()
}

fn low(v: u128, w: u32) -> u128 {
    if w < 128 { v & ((1 << w) - 1) } else { v }
}

fn signed(v: u128, w: u32) -> i128 {
    (v << (128 - w)) as i128 >> (128 - w)
}

/// The defined result of the operation, as low bits.
fn expected(op: &Op, types: &[Type], ty: Type, x: &[u128]) -> u128 {
    let w = width(types[0]);
    let s = matches!(types[0], Type::Int(_));
    let (a, b) = (x[0], x.get(1).copied().unwrap_or(0));
    let (sa, sb) = (signed(a, w), signed(b, w));
    let order = if s { sa.cmp(&sb) } else { a.cmp(&b) };
    let bit = |b: bool| u128::from(b);
    let sh = b.min(128) as u32;
    let shl = |v: u128, by: u32| v.checked_shl(by).unwrap_or(0);
    let rot = |by: u32| if by == 0 { a } else { a << by | a >> (w - by) };
    let by = (b % u128::from(w)) as u32;
    let r = match op {
        Op::Neg => a.wrapping_neg(),
        Op::Not => !a,
        Op::Abs => {
            if s {
                sa.unsigned_abs()
            } else {
                a
            }
        }
        Op::LeadingZeros => u128::from(a.leading_zeros() - (128 - w)),
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Div if b == 0 => u128::MAX,
        Op::Rem if b == 0 => a,
        Op::Div => {
            if s {
                sa.wrapping_div(sb) as u128
            } else {
                a / b
            }
        }
        Op::Rem => {
            if s {
                sa.wrapping_rem(sb) as u128
            } else {
                a % b
            }
        }
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Min => {
            if order.is_lt() {
                a
            } else {
                b
            }
        }
        Op::Max => {
            if order.is_gt() {
                a
            } else {
                b
            }
        }
        Op::Eq => bit(a == b),
        Op::Ne => bit(a != b),
        Op::Lt => bit(order.is_lt()),
        Op::Le => bit(order.is_le()),
        Op::Gt => bit(order.is_gt()),
        Op::Ge => bit(order.is_ge()),
        Op::Shl => shl(a, sh),
        Op::Shr => {
            if s {
                (sa >> sh.min(127)) as u128
            } else {
                a.checked_shr(sh).unwrap_or(0)
            }
        }
        Op::RotateLeft => rot(by),
        Op::RotateRight => rot((w - by) % w),
        Op::Select => {
            if a == 1 {
                x[1]
            } else {
                x[2]
            }
        }
        Op::Cast => {
            if s {
                sa as u128
            } else {
                a
            }
        }
        Op::Lookup(t) => small(&t[a as usize]),
        Op::Sum => x.iter().fold(0, |sum: u128, x| sum.wrapping_add(*x)),
        Op::Index => x[1 + (a.min(x.len() as u128 - 2) as usize)],
        op => derived::expected(op, w, s, a, b),
    };
    low(r, width(ty))
}

/// Checks an operation on many cases: `cases[lane][operand]`.
fn check(op: &Op, types: &[Type], ty: Type, style: Style, cases: &[Vec<u128>]) {
    let lowered = lower(&program(op.clone(), types, ty), style, Budget::default())
        .unwrap_or_else(|e| panic!("{op:?} {types:?} {style:?}: {e}"));
    lowered.graph.validate().unwrap();
    let out = run(&lowered, cases);
    for (case, out) in cases.iter().zip(out) {
        assert_eq!(out, expected(op, types, ty, case), "{op:?} {types:?} -> {ty:?} {style:?} of {case:?}");
    }
}

fn run(lowered: &Lowered, cases: &[Vec<u128>]) -> Vec<u128> {
    let mut lanes: Vec<Vec<u8>> = Vec::new();
    for (k, layout) in lowered.inputs.iter().enumerate() {
        let first = lanes.len();
        lanes.resize(first + layout.blocks, Vec::with_capacity(cases.len()));
        for case in cases {
            for (lane, b) in lanes[first..].iter_mut().zip(layout.encode(case[k])) {
                lane.push(b);
            }
        }
    }
    let out = lowered.graph.eval_batch(&lanes).unwrap();
    let layout = &lowered.outputs[0];
    (0..cases.len()).map(|i| small(&layout.decode(&out.iter().map(|lane| lane[i]).collect::<Vec<_>>()))).collect()
}

const UNARY: [Op; 8] =
    [Op::Neg, Op::Not, Op::Abs, Op::LeadingZeros, Op::TrailingZeros, Op::CountOnes, Op::Ilog2, Op::Sqrt];
const DIVISION: [Op; 6] = [Op::Div, Op::Rem, Op::DivFloor, Op::RemFloor, Op::DivEuclid, Op::RemEuclid];
const BINARY: [Op; 11] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Min,
    Op::Max,
    Op::SaturatingAdd,
    Op::SaturatingSub,
    Op::SaturatingMul,
];
const OVERFLOW: [Op; 3] = [Op::AddOverflows, Op::SubOverflows, Op::MulOverflows];
const COMPARE: [Op; 6] = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
const SHIFT: [Op; 4] = [Op::Shl, Op::Shr, Op::RotateLeft, Op::RotateRight];

/// All operations on a type, with the types of operands and result.
fn operations(ty: Type, amounts: &[u16]) -> Vec<(Op, Vec<Type>, Type)> {
    let mut all = Vec::new();
    all.extend(UNARY.map(|op| (op, vec![ty], ty)));
    all.extend(BINARY.into_iter().chain(DIVISION).map(|op| (op, vec![ty; 2], ty)));
    all.extend(OVERFLOW.map(|op| (op, vec![ty; 2], Type::Bool)));
    all.extend(COMPARE.map(|op| (op, vec![ty; 2], Type::Bool)));
    for &w in amounts {
        all.extend(SHIFT.map(|op| (op, vec![ty, Type::Uint(w)], ty)));
    }
    all.push((Op::Select, vec![Type::Bool, ty, ty], ty));
    all
}

/// All values of all operands.
fn exhaustive(types: &[Type]) -> Vec<Vec<u128>> {
    types.iter().fold(vec![vec![]], |cases, &ty| {
        let extend = |case: Vec<u128>| (0..1u128 << width(ty)).map(move |v| [case.clone(), vec![v]].concat());
        cases.into_iter().flat_map(extend).collect()
    })
}

struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn word(&mut self) -> u64 {
        self.0.random()
    }

    /// A corner value, or a value of random length, so that small and nearly equal values occur.
    fn value(&mut self, w: u32) -> u128 {
        let v = u128::from(self.word()) << 64 | u128::from(self.word());
        let top = 1u128 << (w - 1);
        let corners = [0, 1, 2, 3, top, top - 1, top + 1, u128::MAX, u128::MAX - 1];
        low(
            match self.word() % 4 {
                0 => corners[(self.word() % 9) as usize],
                1 => v >> (self.word() % 128),
                2 => (v >> (self.word() % 128)).wrapping_neg(),
                _ => v,
            },
            w,
        )
    }

    fn cases(&mut self, types: &[Type], count: usize) -> Vec<Vec<u128>> {
        let mut cases = Vec::with_capacity(count);
        for _ in 0..count {
            let mut case: Vec<_> = types.iter().map(|&ty| self.value(width(ty))).collect();
            match self.word() % 8 {
                0 if types.len() == 2 => case[1] = low(case[0], width(types[1])),
                1 if types.len() == 2 => case[1] = low(u128::from(self.word() % 140), width(types[1])),
                _ => {}
            }
            cases.push(case);
        }
        cases
    }
}

#[test]
fn operations_agree_with_plain_arithmetic_exhaustively() {
    for w in 1..=5 {
        for ty in [Type::Uint(w), Type::Int(w)] {
            for (op, types, result) in operations(ty, &[1, 2, 3, w, 6]) {
                for style in STYLES {
                    check(&op, &types, result, style, &exhaustive(&types));
                }
            }
        }
    }
}

#[test]
fn boolean_operations_agree_with_plain_arithmetic() {
    for (op, types, ty) in operations(Type::Bool, &[1, 2]) {
        for style in STYLES {
            check(&op, &types, ty, style, &exhaustive(&types));
        }
    }
}

#[test]
fn operations_agree_with_plain_arithmetic_on_large_widths() {
    let mut random = Random::new(1);
    for w in [6, 7, 8, 9, 13, 16, 31, 32, 33, 48, 63, 64, 65, 127, 128] {
        for ty in [Type::Uint(w), Type::Int(w)] {
            for (op, types, result) in operations(ty, &[7, w]) {
                let division = DIVISION.contains(&op);
                if division && w > 16 && ![33, 64, 128].contains(&w) {
                    continue;
                }
                let count = if division || op.name().contains("mul") { 300 } else { 600 };
                let cases = random.cases(&types, count);
                for style in STYLES {
                    check(&op, &types, result, style, &cases);
                }
            }
        }
    }
}

#[test]
fn lookups_agree_with_their_tables() {
    let mut random = Random::new(2);
    for w in 1..=8 {
        for out in [1, 3, 8, 64] {
            let table: Vec<Natural> = (0..1 << w).map(|_| u128::from(random.word()).into()).collect();
            check(
                &Op::Lookup(table),
                &[Type::Uint(w)],
                Type::Uint(out),
                Style::FewestRotations,
                &exhaustive(&[Type::Uint(w)]),
            );
        }
    }
}

#[test]
fn casts_agree_with_plain_arithmetic() {
    let mut random = Random::new(3);
    let widths = [1, 2, 3, 4, 5, 8, 17, 63, 64, 127, 128];
    for from in widths {
        for to in widths {
            for ty in [Type::Uint(from), Type::Int(from)] {
                let mut cases = random.cases(&[ty], 100);
                cases.extend(if from < 6 { exhaustive(&[ty]) } else { vec![] });
                check(&Op::Cast, &[ty], Type::Int(to), Style::FewestRotations, &cases);
            }
        }
    }
}

/// A binary operation with a public second operand.
fn with_constant(op: &Op, ty: Type, other: Type, result: Type, constant: u128) -> Program {
    let node = |op, args: &[u32], ty| Node { op, args: args.iter().copied().map(ValueId).collect(), ty };
    let nodes = vec![
        node(Op::Input(0), &[], ty),
        node(Op::Const(constant.into()), &[], other),
        node(op.clone(), &[0, 1], result),
    ];
    Program {
        inputs: vec![Input { name: "x".into(), ty, shape: None }],
        nodes,
        outputs: vec![Output { name: "y".into(), value: ValueId(2) }],
        functions: Vec::new(),
    }
}

#[test]
fn operations_with_constants_agree_with_plain_arithmetic() {
    let mut random = Random::new(4);
    for w in [1, 2, 3, 5, 8, 13, 32, 128] {
        for ty in [Type::Uint(w), Type::Int(w)] {
            for k in 0..9 {
                let c = if k < 6 { low(k, w.into()) } else { random.value(w.into()) };
                let ops = BINARY.into_iter().chain(DIVISION).map(|op| (op, ty, ty));
                let ops = ops.chain(OVERFLOW.map(|op| (op, ty, Type::Bool)));
                for (op, other, result) in ops.chain(SHIFT.map(|op| (op, Type::Uint(w), ty))) {
                    if w > 32 && DIVISION.contains(&op) && k != 3 {
                        continue;
                    }
                    for style in STYLES {
                        let lowered =
                            lower(&with_constant(&op, ty, other, result, c), style, Budget::default()).unwrap();
                        let cases = random.cases(&[ty], 50);
                        for (case, out) in cases.iter().zip(run(&lowered, &cases)) {
                            let wanted = expected(&op, &[ty, other], result, &[case[0], c]);
                            assert_eq!(out, wanted, "{op:?} {ty:?} {style:?} of {case:?} and {c}");
                        }
                    }
                }
            }
        }
    }
}

/// A program of random operations on one integer type, and its values for given inputs.
fn random_program(random: &mut Random, ty: Type, length: usize) -> Program {
    let mut pick = |n: usize| (random.word() % n as u64) as usize;
    let mut nodes = Vec::new();
    let types = [ty, ty, Type::Bool, Type::Uint(3)];
    for (i, ty) in (0..).zip(types) {
        nodes.push(Node { op: Op::Input(i), args: vec![], ty });
    }
    nodes.push(Node { op: Op::Const((pick(200) as u128).into()), args: vec![], ty });
    while nodes.len() < length {
        let all = operations(ty, &[3]);
        let boolean = operations(Type::Bool, &[]);
        let from = if pick(5) == 0 { &boolean } else { &all };
        let (op, types, result) = from[pick(from.len())].clone();
        // Prefers recent values, so that noise and linear blocks accumulate.
        let args = types.iter().map(|&ty| {
            let of_type: Vec<_> = (0..nodes.len()).filter(|&i| nodes[i].ty == ty).collect();
            ValueId(of_type[of_type.len() - 1 - pick(of_type.len().min(4))] as u32)
        });
        let args = args.collect();
        nodes.push(Node { op, args, ty: result });
    }
    let inputs = types.iter().map(|&ty| Input { name: "x".into(), ty, shape: None }).collect();
    let outputs = (0..nodes.len() as u32).map(|i| Output { name: "y".into(), value: ValueId(i) }).collect();
    Program { inputs, nodes, outputs, ..Program::default() }
}

fn listing(program: &Program) -> String {
    let line = |(i, n): (usize, &Node)| {
        let args: Vec<_> = n.args.iter().map(|a| a.0).collect();
        format!("\n{i}: {:?} {args:?} {:?}", n.op, n.ty)
    };
    program.nodes.iter().enumerate().map(line).collect()
}

#[test]
fn programs_agree_with_plain_arithmetic() {
    let mut random = Random::new(5);
    for round in 0..240 {
        let ty = [Type::Uint(8), Type::Int(5), Type::Int(8), Type::Uint(7), Type::Uint(2), Type::Int(12)][round % 6];
        let program = random_program(&mut random, ty, 24);
        let lowered = lower(&program, STYLES[round / 6 % 2], Budget::default())
            .unwrap_or_else(|e| panic!("{e}: {}", listing(&program)));
        for _ in 0..40 {
            let x: Vec<_> = program.inputs.iter().map(|i| random.value(width(i.ty))).collect();
            let mut values: Vec<u128> = Vec::new();
            for node in &program.nodes {
                let args: Vec<_> = node.args.iter().map(|a| values[a.0 as usize]).collect();
                let types: Vec<_> = node.args.iter().map(|a| program.nodes[a.0 as usize].ty).collect();
                values.push(match &node.op {
                    Op::Input(i) => x[*i as usize],
                    Op::Const(c) => low(small(c), width(node.ty)),
                    op => expected(op, &types, node.ty, &args),
                });
            }
            assert_eq!(lowered.eval(&x).unwrap(), values, "{}", listing(&program));
        }
    }
}

/// A program of one operation on a number of values of a type, with an index before them if the operation takes one.
fn many(op: Op, index: Option<Type>, ty: Type, values: usize) -> Program {
    let types: Vec<_> = index.into_iter().chain(std::iter::repeat_n(ty, values)).collect();
    program(op, &types, ty)
}

#[test]
fn sums_and_indices_of_many_values_match_plain_arithmetic() {
    let mut random = Random::new(3);
    for style in STYLES {
        for ty in [Type::Uint(1), Type::Uint(5), Type::Int(8), Type::Uint(33)] {
            for count in [1, 2, 3, 5, 17, 40] {
                let types = vec![ty; count];
                let mut cases = random.cases(&types, 40);
                cases.push(vec![low(u128::MAX, width(ty)); count]);
                check(&Op::Sum, &types, ty, style, &cases);
            }
        }
        for index in [Type::Uint(1), Type::Uint(3), Type::Uint(4), Type::Uint(9)] {
            for (count, ty) in
                [(1, Type::Uint(8)), (2, Type::Bool), (3, Type::Int(5)), (8, Type::Uint(8)), (21, Type::Uint(4))]
            {
                let types: Vec<_> = std::iter::once(index).chain(vec![ty; count]).collect();
                let cases: Vec<_> = (0..1u128 << width(index))
                    .map(|i| std::iter::once(i).chain((0..count).map(|_| random.value(width(ty)))).collect())
                    .collect();
                check(&Op::Index, &types, ty, style, &cases);
            }
        }
    }
}

/// A program that repeats an operation on its own results, and the same program lowered without templates.
fn repeated(op: &Op, types: &[Type], style: Style) -> (LutGraph, LutGraph) {
    let mut program = program(op.clone(), types, types[0]);
    let mut radix = super::Radix::new(style, Budget::default());
    let inputs: Vec<_> = types.iter().map(|&ty| radix.input(super::lower::bits(ty))).collect();
    let (signed, w) = (types[0].signed(), super::lower::bits(types[0]));
    let mut first = inputs[0].clone();
    let mut outputs = Vec::new();
    for round in 0..3 {
        let args = [&[first.clone()], &inputs[1..]].concat();
        let (op, result) = super::template::part(op, signed);
        let results = radix.apply(op, &args, signed, w).unwrap().unwrap();
        let results: Vec<_> = results.into_iter().map(|value| radix.settled(value).unwrap()).collect();
        first = results[result].clone();
        outputs.extend(first.blocks.iter().cloned());
        let last = program.nodes.len() as u32 - 1;
        if round > 0 {
            program.outputs.push(Output { name: format!("y{round}"), value: ValueId(last) });
        }
        let again = Node {
            args: [&[ValueId(last)], &program.nodes[types.len()].args[1..]].concat(),
            ..program.nodes[types.len()].clone()
        };
        program.nodes.push(again);
    }
    (lower(&program, style, Budget::default()).unwrap().graph, radix.builder.finish(&outputs).unwrap().optimize())
}

#[test]
fn templates_and_direct_lowering_agree() {
    let mut random = Random::new(5);
    for op in [Op::Mul, Op::Div, Op::Rem, Op::Shl, Op::Shr, Op::RotateLeft, Op::RotateRight] {
        for (style, ty) in STYLES.into_iter().flat_map(|s| [(s, Type::Uint(8)), (s, Type::Int(13))]) {
            let shift = matches!(op, Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight);
            let types = [ty, if shift { Type::Uint(4) } else { ty }];
            let (copied, direct) = repeated(&op, &types, style);
            copied.validate().unwrap();
            let (copies, directs) = (copied.stats(), direct.stats());
            assert!(copies.rotations <= directs.rotations, "{op:?} {ty:?} {style:?}: {copies:?}, {directs:?}");
            assert!(copies.depth <= directs.depth, "{op:?} {ty:?} {style:?}: {copies:?}, {directs:?}");
            let lanes: Vec<Vec<u8>> =
                copied.inputs().iter().map(|&max| (0..200).map(|_| random.word() as u8 & max).collect()).collect();
            assert!(
                copied.eval_batch(&lanes).unwrap() == direct.eval_batch(&lanes).unwrap(),
                "{op:?} {ty:?} {style:?}"
            );
        }
    }
}

#[test]
fn sums_go_by_columns_and_indices_by_trees() {
    let stats = |program: &Program| lower(program, STYLES[0], Budget::default()).unwrap().graph.stats();
    let sum = stats(&many(Op::Sum, None, Type::Uint(16), 1000));
    assert!(sum.rotations <= 2664, "a third of the 7,992 that 999 additions take: {}", sum.rotations);
    let index = stats(&many(Op::Index, Some(Type::Uint(8)), Type::Uint(32), 256));
    assert!(index.rotations <= 4100 && index.depth <= 12, "{} rotations, depth {}", index.rotations, index.depth);
}

/// Comparisons of values whose upper blocks are copies of one block: the sign, or a shared result.
#[test]
fn comparisons_of_repeated_blocks_are_lowered_and_agree_with_plain_arithmetic() {
    let mut random = Random::new(6);
    let (i8, i32, i64) = (Type::Int(8), Type::Int(32), Type::Int(64));
    let extended = |from, to, op: Op| {
        let node = |op, args: &[u32], ty| Node { op, args: args.iter().copied().map(ValueId).collect(), ty };
        let ty = if matches!(op, Op::Min | Op::Max) { to } else { Type::Bool };
        let shift = node(Op::Const(u128::from(width(to) - 8).into()), &[], Type::Uint(8));
        Program {
            functions: Vec::new(),
            inputs: vec![Input { name: "x".into(), ty: from, shape: None }],
            nodes: vec![
                node(Op::Input(0), &[], from),
                node(Op::Cast, &[0], to),
                shift,
                node(Op::Shr, &[1, 2], to),
                node(Op::Const(low(u128::MAX - 4, width(to)).into()), &[], to),
                node(op.clone(), &[1, 4], ty),
                node(op.clone(), &[3, 4], ty),
                node(op, &[3, 1], ty),
            ],
            outputs: [5, 6, 7].map(|v| Output { name: format!("y{v}"), value: ValueId(v) }).into(),
        }
    };
    for (from, to) in [(i32, i64), (i8, Type::Uint(64)), (i64, i64), (Type::Bool, Type::Uint(48)), (Type::Int(1), i64)]
    {
        for op in COMPARE.into_iter().chain([Op::Min, Op::Max]) {
            for (style, input_weight) in STYLES.into_iter().flat_map(|style| [1, 60, 160].map(|w| (style, w))) {
                let program = extended(from, to, op.clone());
                let budget = Budget { input_weight, ..Budget::default() };
                let lowered = lower(&program, style, budget).unwrap_or_else(|e| panic!("{e}: {}", listing(&program)));
                for case in random.cases(&[from], 12) {
                    assert_eq!(lowered.eval(&case).unwrap(), program.evaluate(&case).unwrap(), "{}", listing(&program));
                }
            }
        }
    }
    // Only the sign matters.
    let mut program = extended(i32, i64, Op::Lt);
    program.nodes[4].op = Op::Const(Natural::ZERO);
    program.outputs.truncate(1);
    let stats = lower(&program, STYLES[0], Budget::default()).unwrap().graph.stats();
    assert!(stats.rotations <= 13 && stats.depth <= 5, "{stats:?}");
}

#[test]
fn rotations_stay_within_their_targets() {
    let cost = |op: Op, types: &[Type], ty, style| {
        let stats = lower(&program(op, types, ty), style, Budget::default()).unwrap().graph.stats();
        (stats.rotations, stats.depth)
    };
    let u64s = [Type::Uint(64); 2];
    let [fewest, lowest] = STYLES;
    assert_eq!(cost(Op::Add, &u64s, u64s[0], fewest), (32, 32));
    assert_eq!(cost(Op::Add, &u64s, u64s[0], lowest), (122, 5));
    assert!(cost(Op::Mul, &u64s, u64s[0], fewest).0 <= 822);
    assert!(cost(Op::Mul, &u64s, u64s[0], lowest).1 <= 11);
    assert!(cost(Op::Lt, &u64s, Type::Bool, fewest) <= (22, 4));
    assert!(cost(Op::Eq, &u64s, Type::Bool, fewest) <= (18, 3));
    assert_eq!(cost(Op::Xor, &u64s, u64s[0], fewest), (32, 1));
    assert_eq!(cost(Op::Select, &[Type::Bool, u64s[0], u64s[0]], u64s[0], fewest), (32, 1));
    assert_eq!(cost(Op::Min, &u64s, u64s[0], fewest), (54, 5));
    assert!(cost(Op::Div, &u64s, u64s[0], fewest).0 <= 2240);
    assert!(cost(Op::Shl, &[u64s[0], Type::Uint(6)], u64s[0], fewest).0 <= 96);
}

#[test]
fn ill_typed_programs_are_refused() {
    let lowered = |p: &Program| lower(p, Style::default(), Budget::default());
    let (u8, u9) = (Type::Uint(8), Type::Uint(9));
    assert!(matches!(lowered(&program(Op::Add, &[u8, u9], u8)), Err(super::Error::Operands { node: 2, .. })));
    assert!(matches!(lowered(&program(Op::Add, &[u8], u8)), Err(super::Error::Operands { .. })));
    let short = Op::Lookup(vec![Natural::ONE; 3]);
    assert!(matches!(lowered(&program(short, &[u8], u8)), Err(super::Error::Operands { .. })));
    let wide = Type::Uint(2049);
    assert!(matches!(lowered(&program(Op::Not, &[wide], wide)), Err(super::Error::Width { width: 2049, .. })));
    let mut p = program(Op::Not, &[u8], u8);
    p.outputs[0].value = ValueId(7);
    assert!(matches!(lowered(&p), Err(super::Error::Output { value: 7, .. })));
}

#[test]
fn bits_and_blocks_convert_into_each_other() {
    let mut radix = super::Radix::new(Style::default(), Budget::default());
    let a = radix.input(7);
    let bits = radix.bits(&a).unwrap();
    let again = super::Radix::from_bits(&bits);
    let outputs: Vec<_> = bits.iter().chain(&again.blocks).cloned().collect();
    let graph = radix.builder.finish(&outputs).unwrap();
    assert_eq!(graph.stats().rotations, 3, "the top block of an odd width is a bit");
    for v in 0..128u8 {
        let blocks = [v & 3, v >> 2 & 3, v >> 4 & 3, v >> 6];
        let out = graph.eval(&blocks).unwrap();
        assert_eq!(out[..7], (0..7).map(|i| v >> i & 1).collect::<Vec<_>>());
        assert_eq!(out[7..], blocks);
    }
}
