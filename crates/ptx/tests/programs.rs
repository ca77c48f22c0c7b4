//! Random straight-line programs against a direct evaluation, and texts that the parser must refuse.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{HEAD, kernel, run};
use proptest::prelude::*;
use solinas_ptx::Module;

/// Registers of each width in a random program.
const REGISTERS: usize = 6;

/// The registers of one thread.
#[derive(Clone, Debug, Default)]
struct State {
    words: [u32; REGISTERS],
    longs: [u64; REGISTERS],
    flag: bool,
    predicate: bool,
}

/// One instruction: which of the forms below, and its registers.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    form: usize,
    d: usize,
    a: usize,
    b: usize,
    c: usize,
    guard: Option<bool>,
}

type Form = (&'static str, fn(&mut State, Instruction));

/// `D A B C` are numbers of registers: `%r` has 32 bits, `%l` 64.
const FORMS: &[Form] = &[
    ("add.u32 %rD, %rA, %rB", |s, i| s.words[i.d] = s.words[i.a].wrapping_add(s.words[i.b])),
    ("sub.s64 %lD, %lA, %lB", |s, i| s.longs[i.d] = s.longs[i.a].wrapping_sub(s.longs[i.b])),
    ("mul.lo.u64 %lD, %lA, %lB", |s, i| s.longs[i.d] = s.longs[i.a].wrapping_mul(s.longs[i.b])),
    ("mul.hi.s64 %lD, %lA, %lB", |s, i| {
        s.longs[i.d] = ((i128::from(s.longs[i.a] as i64) * i128::from(s.longs[i.b] as i64)) >> 64) as u64;
    }),
    ("mad.wide.u32 %lD, %rA, %rB, %lC", |s, i| {
        s.longs[i.d] = s.longs[i.c].wrapping_add(u64::from(s.words[i.a]) * u64::from(s.words[i.b]));
    }),
    ("add.cc.u32 %rD, %rA, %rB", |s, i| (s.words[i.d], s.flag) = s.words[i.a].overflowing_add(s.words[i.b])),
    ("addc.cc.u32 %rD, %rA, %rB", |s, i| {
        let sum = u64::from(s.words[i.a]) + u64::from(s.words[i.b]) + u64::from(s.flag);
        (s.words[i.d], s.flag) = (sum as u32, sum >> 32 != 0);
    }),
    ("addc.u64 %lD, %lA, %lB", |s, i| {
        s.longs[i.d] = s.longs[i.a].wrapping_add(s.longs[i.b]).wrapping_add(s.flag.into())
    }),
    ("subc.cc.u32 %rD, %rA, %rB", |s, i| {
        let difference = i64::from(s.words[i.a]) - i64::from(s.words[i.b]) - i64::from(s.flag);
        (s.words[i.d], s.flag) = (difference as u32, difference < 0);
    }),
    ("madc.hi.cc.u32 %rD, %rA, %rB, %rC", |s, i| {
        let high = (u64::from(s.words[i.a]) * u64::from(s.words[i.b])) >> 32;
        let sum = high + u64::from(s.words[i.c]) + u64::from(s.flag);
        (s.words[i.d], s.flag) = (sum as u32, sum >> 32 != 0);
    }),
    ("setp.lt.s32 %p, %rA, %rB", |s, i| s.predicate = (s.words[i.a] as i32) < s.words[i.b] as i32),
    ("setp.ge.u64 %p, %lA, %lB", |s, i| s.predicate = s.longs[i.a] >= s.longs[i.b]),
    ("selp.b64 %lD, %lA, %lB, %p", |s, i| s.longs[i.d] = s.longs[if s.predicate { i.a } else { i.b }]),
    ("shl.b64 %lD, %lA, %rB", |s, i| s.longs[i.d] = s.longs[i.a].checked_shl(s.words[i.b]).unwrap_or(0)),
    ("shr.s32 %rD, %rA, %rB", |s, i| s.words[i.d] = (s.words[i.a] as i32 >> s.words[i.b].min(31)) as u32),
    ("shf.r.wrap.b32 %rD, %rA, %rB, 13", |s, i| s.words[i.d] = s.words[i.a] >> 13 | s.words[i.b] << 19),
    ("mov.b64 {%rD, %rC}, %lA", |s, i| {
        s.words[i.d] = s.longs[i.a] as u32;
        s.words[i.c] = (s.longs[i.a] >> 32) as u32;
    }),
    ("mov.b64 %lD, {%rA, %rB}", |s, i| s.longs[i.d] = u64::from(s.words[i.b]) << 32 | u64::from(s.words[i.a])),
    ("lop3.b32 %rD, %rA, %rB, %rC, 0xCA", |s, i| {
        s.words[i.d] = s.words[i.a] & s.words[i.b] | !s.words[i.a] & s.words[i.c];
    }),
    ("prmt.b32 %rD, %rA, %rB, 0x2705", |s, i| {
        let (a, b) = (s.words[i.a].to_le_bytes(), s.words[i.b].to_le_bytes());
        s.words[i.d] = u32::from_le_bytes([b[1], a[0], b[3], a[2]]);
    }),
    ("cvt.s64.s32 %lD, %rA", |s, i| s.longs[i.d] = i64::from(s.words[i.a] as i32) as u64),
    ("xor.b64 %lD, %lA, -2", |s, i| s.longs[i.d] = s.longs[i.a] ^ !1),
    ("not.b32 %rD, %rA", |s, i| s.words[i.d] = !s.words[i.a]),
    ("popc.b64 %rD, %lA", |s, i| s.words[i.d] = s.longs[i.a].count_ones()),
];

fn instruction() -> impl Strategy<Value = Instruction> {
    let register = 0..REGISTERS;
    let guard = prop_oneof![4 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (0..FORMS.len(), register.clone(), register.clone(), register.clone(), register, guard)
        .prop_filter("two targets", |&(_, d, _, _, c, _)| d != c)
        .prop_map(|(form, d, a, b, c, guard)| Instruction { form, d, a, b, c, guard })
}

fn text(program: &[Instruction]) -> String {
    let mut body = String::from(
        "mul.lo.u32 %u0, %thread, 96;\ncvt.u64.u32 %t0, %u0;\nadd.u64 %t1, %t0, %in;\nadd.u64 %t0, %t0, %out;\n",
    );
    for at in 0..REGISTERS {
        body += &format!("ld.global.u64 %l{at}, [%t1+{}];\nld.global.u32 %r{at}, [%t1+{}];\n", 8 * at, 48 + 8 * at);
    }
    body += "setp.eq.u32 %p, 0, 1;\nadd.cc.u32 %u1, 0, 0;\n";
    for i in program {
        let guard = i.guard.map_or("", |wanted| if wanted { "@%p " } else { "@!%p " });
        let mut line = FORMS[i.form].0.to_owned();
        for (name, register) in [("D", i.d), ("A", i.a), ("B", i.b), ("C", i.c)] {
            line = line
                .replace(&format!("%r{name}"), &format!("%r{register}"))
                .replace(&format!("%l{name}"), &format!("%l{register}"));
        }
        body += &format!("{guard}{line};\n");
    }
    for at in 0..REGISTERS {
        body += &format!("st.global.u64 [%t0+{}], %l{at};\nst.global.u32 [%t0+{}], %r{at};\n", 8 * at, 48 + 8 * at);
    }
    kernel(".reg .b32 %r<6>; .reg .b64 %l<6>; .reg .pred %p;", &body)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn programs_compute_what_their_instructions_mean(
        program in prop::collection::vec(instruction(), 1..60),
        input in prop::collection::vec(prop_oneof![any::<u64>(), 0..4u64, Just(u64::MAX), Just(1 << 63)], 12 * 40),
    ) {
        let threads = 40;
        let out = run(&text(&program), threads, &input, 12 * threads as usize).unwrap();
        for (thread, (input, out)) in input.chunks(12).zip(out.chunks(12)).enumerate() {
            let mut state = State::default();
            for at in 0..REGISTERS {
                (state.longs[at], state.words[at]) = (input[at], input[6 + at] as u32);
            }
            for &i in &program {
                if i.guard.is_none_or(|wanted| wanted == state.predicate) {
                    FORMS[i.form].1(&mut state, i);
                }
            }
            let expected: Vec<u64> = state.longs.into_iter().chain(state.words.map(u64::from)).collect();
            prop_assert_eq!(&expected, out, "thread {}", thread);
        }
    }
}

/// The error of a kernel with this body.
fn refusal(body: &str) -> String {
    let declarations = ".reg .b32 %r<4>; .reg .b64 %l<4>; .reg .f64 %f<4>; .reg .f32 %g<4>; .reg .pred %p<4>;";
    Module::parse(&kernel(declarations, body)).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn unknown_instructions_are_errors_with_their_line() {
    for (body, message) in [
        ("frobnicate.u32 %r0, %r1;", "the opcode frobnicate is not supported"),
        ("add.sat.s32 %r0, %r1, %r2;", "add does not know the modifier .sat"),
        ("add.u128 %r0, %r1, %r2;", "add has no type"),
        ("add.f64 %f0, %f1, %f2;", "add without .rn may be fused"),
        ("add.rn.ftz.f64 %f0, %f1, %f2;", "does not know the modifier .ftz"),
        ("mul.rz.f64 %f0, %f1, %f2;", "products of floating numbers are mul.rn.f64"),
        ("add.rn.f32 %g0, %g1, %g2;", "this opcode does not exist for this type, or is not supported"),
        ("add.u32 %r0, %l1, %r2;", "an operand has 32 bits and its register 64"),
        ("add.u64 %r0, %l1, %l2;", "the result has 64 bits and its register 32"),
        ("add.u32 %r0, %r1;", "2 operands do not fit"),
        ("add.u32 %r0, %r1, %r9;", "%r9 is neither declared"),
        ("add.u32 %r0, %r1, x;", "x is not declared"),
        ("@%r1 bra L;\nL:", "%r1 is not a predicate"),
        ("bra L;", "L is not declared"),
        ("L: L: bra L;", "the label L occurs twice"),
        ("bar.sync 0, 64;", "barriers of a part of the block are not supported yet"),
        ("cp.async.bulk.wait_group 0;", "bulk copies of Hopper"),
        ("cp.reduce.async.bulk.global.shared.bulk_group.add.u32 [%l0], [%l1], 16;", "bulk copies of Hopper"),
        ("cp.async.mbarrier.arrive.shared.b64 [%l0];", "copies with an mbarrier"),
        ("cp.async.cg.shared.global [%r0], [%l0], 8;", "cp.async.cg copies 16 bytes"),
        ("cp.async.ca.shared.global [%r0], [%l0], %r1;", "cp.async.ca 4, 8 or 16"),
        ("cp.async.cg.shared.global [%r0], [%l0], 16, %r1;", "4 operands do not fit"),
        ("cp.async.cg.shared.global [%r0], [%r1], 16;", "the source is an address of 64 bits"),
        ("cp.async.cg.global.shared [%l0], [%r0], 16;", "a copy goes from global to shared memory"),
        ("cp.async.cg.shared [%r0], [%l0], 16;", "must follow cp"),
        ("cp.async.wait_group %r0;", "an integer literal"),
        ("cp.async.wait_group;", "0 operands do not fit"),
        ("cp.async.wait_all 0;", "1 operands do not fit"),
        ("cp.async.commit_group 0;", "1 operands do not fit"),
        ("mbarrier.init.shared.b64 [%l0], 1;", "bulk copies and clusters of Hopper"),
        ("shfl.idx.b32 %r0, %r1, 0, 31;", "shfl without .sync"),
        ("atom.global.add.f64 %f0, [%l0], %f1;", "atomic operation"),
        ("st.const.u32 [%l0], 1;", "constant memory cannot be written"),
        ("ld.param.u64 %l0, [a+8];", "the access lies outside of the parameter"),
        ("ld.param.v2.u64 {%l0, %l1}, [b];", "the access lies outside of the parameter"),
        ("ld.param.u64 %l0, [b-8];", "the access lies outside of the parameter"),
        ("mov.u32 %r0, %clock;", "%clock is neither declared"),
        ("ld.global.v4.u64 {%l0, %l1, %l2, %l3}, [%l0];", "an access has at most 16 bytes"),
        (".local .align 8 .b8 depot[64];", ".local is not supported"),
        ("call %r0;", "the opcode call is not supported"),
        ("/* never closed", "a comment has no end"),
    ] {
        let error = refusal(body);
        assert!(error.contains(message), "{body}: {error}");
        let line = kernel("", "").lines().position(|line| line.starts_with("mov.u32 %thread")).unwrap() + 2;
        assert!(error.starts_with(&format!("PTX line {line},")), "{body}: {error}");
    }
}

#[test]
fn modules_are_checked() {
    for (text, message) in [
        (".version 9.0\n", "PTX ISA 9.0 is newer than 8.4"),
        (".address_size 32\n", "addresses must have 64 bits"),
        (".visible .func f() { ret; }", ".func is not supported"),
        (".visible .entry k() .reqnctapercluster 2 { ret; }", "clusters are not there yet"),
        (".visible .entry k() { .shared .b8 x[300000]; ret; }", "at most 232448 bytes"),
        (".visible .entry k() { .reg .b32 %r<9999999>; ret; }", "a number of registers is at most"),
        (".visible .entry k() { }", "has no instructions"),
        (".visible .entry k(", "expected `.`"),
        (".const .u32 x[2] = {1, 2, 3};", "more initial values than elements"),
        (".visible .entry k() { ret;", "expected a name"),
    ] {
        let error = Module::parse(text).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn scopes_hide_names_and_end() {
    let body = "mov.u32 %r0, 1;\n{ .reg .b32 %r0; mov.u32 %r0, 2; { .reg .b32 x; mov.u32 x, %r0; } }\n\
        cvt.u64.u32 %t0, %r0;\nst.global.u64 [%out], %t0;";
    assert_eq!(run(&kernel(".reg .b32 %r<2>;", body), 1, &[0], 1).unwrap(), [1]);
    assert!(refusal("{ .reg .b32 x; }\nmov.u32 %r0, x;").contains("x is not declared"));
    // Labels of scopes are local: the same text twice, as inline assembly has it.
    let wait = "{ .reg .pred q; L: setp.eq.u32 q, 0, 1; @q bra L; }\n";
    assert!(Module::parse(&kernel("", &format!("{wait}{wait}"))).is_ok());
    assert!(Module::parse(HEAD).is_ok_and(|module| module.kernels().next().is_none()));
}
