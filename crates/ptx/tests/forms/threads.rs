//! Instructions of warps and barriers in every form, and the flow of control.

use super::law::{TYPES, Type};
use crate::common::{kernel, run};
use solinas_ptx::{Fault, FaultKind, Module};

pub(crate) const OPCODES: &[&str] = &[
    "activemask",
    "bar",
    "barrier",
    "bra",
    "exit",
    "fence",
    "membar",
    "nanosleep",
    "redux",
    "ret",
    "shfl",
    "trap",
    "vote",
];

const DECLARATIONS: &str = ".reg .b32 %r<8>; .reg .pred %p, %q;";

/// The kernel of a body whose threads write the word `%t1` at the end.
fn text(body: &str) -> String {
    let store = "mul.wide.u32 %t0, %thread, 8;\nadd.u64 %t0, %t0, %out;\nst.global.u64 [%t0], %t1;";
    kernel(DECLARATIONS, &format!("{body}\n{store}"))
}

fn words(body: &str, threads: u32) -> Result<Vec<u64>, Fault> {
    run(&text(body), threads, &[0], threads as usize)
}

fn is_accepted(body: &str) -> bool {
    Module::parse(&text(body)).is_ok()
}

/// A word of thread `t` with both signs among the threads.
fn value(thread: u64) -> u64 {
    (thread * 0x9E37_79B1 + 0x7FFF_FFF0) & 0xFFFF_FFFF
}
const VALUE: &str = "mad.lo.u32 %r0, %thread, 0x9E3779B1, 0x7FFFFFF0;\n";

#[test]
fn every_reduction_of_a_warp_has_a_law() {
    let law = |name: &str, ty: &Type, words: &[u64]| -> Option<u64> {
        let numbers = words.iter().map(|&word| ty.value(word));
        let number = match name {
            "add" => numbers.sum(),
            "min" => numbers.min()?,
            "max" => numbers.max()?,
            "and" => return words.iter().copied().reduce(|a, b| a & b),
            "or" => return words.iter().copied().reduce(|a, b| a | b),
            "xor" => return words.iter().copied().reduce(|a, b| a ^ b),
            _ => return None,
        };
        Some(number as u64 & 0xFFFF_FFFF)
    };
    let mut forms = Vec::new();
    for name in ["add", "min", "max", "and", "or", "xor", "sub"] {
        for ty in TYPES {
            // Lanes with an odd number, and the others, are members of two sets.
            let form = format!("redux.sync.{name}.{}", ty.name);
            let body = format!(
                "{VALUE}and.b32 %r1, %thread, 1;\nsetp.ne.u32 %p, %r1, 0;\nselp.u32 %r2, 0xAAAAAAAA, 0x55555555, %p;\n\
                 {form} %r3, %r0, %r2;\ncvt.u64.u32 %t1, %r3;"
            );
            if !is_accepted(&body) {
                continue;
            }
            for (thread, word) in words(&body, 64).unwrap().into_iter().enumerate() {
                let members: Vec<u64> = (0..64)
                    .filter(|other| other / 32 == thread / 32 && other % 2 == thread % 2)
                    .map(|t| value(t as u64))
                    .collect();
                assert_eq!(Some(word), law(name, ty, &members), "{form}, thread {thread}");
            }
            forms.push(form);
        }
    }
    assert_eq!(forms.len(), 9, "{forms:?}");
}

#[test]
fn shuffles_and_votes_exist_for_their_types() {
    for ty in TYPES {
        for (mode, control) in [("bfly", "1, 31"), ("up", "0, 0"), ("down", "0, 31"), ("idx", "%thread, 31")] {
            let body =
                format!("{VALUE}shfl.sync.{mode}.{} %r1|%p, %r0, {control}, -1;\ncvt.u64.u32 %t1, %r1;", ty.name);
            if !is_accepted(&body) {
                assert_ne!(ty.name, "b32", "{body}");
                continue;
            }
            assert_eq!(ty.bits, 32, "shfl.{}", ty.name);
            for (thread, word) in words(&body, 32).unwrap().into_iter().enumerate() {
                assert_eq!(word, value(thread as u64 ^ u64::from(mode == "bfly")), "{mode}, thread {thread}");
            }
        }
        // Lanes 0 to 4 vote yes.
        for (mode, expected) in [("all", 0), ("any", 1), ("uni", 0), ("ballot", 31)] {
            let (target, read) =
                if mode == "ballot" { ("%r1", "cvt.u64.u32 %t1, %r1;") } else { ("%q", "selp.u64 %t1, 1, 0, %q;") };
            let body = format!("setp.lt.u32 %p, %thread, 5;\nvote.sync.{mode}.{} {target}, %p, -1;\n{read}", ty.name);
            assert_eq!(is_accepted(&body), ty.name == if mode == "ballot" { "b32" } else { "pred" }, "{body}");
            if is_accepted(&body) {
                assert_eq!(words(&body, 32).unwrap(), [expected; 32], "{mode}");
            }
        }
        let mask = format!("activemask.{} %r1;\ncvt.u64.u32 %t1, %r1;", ty.name);
        if is_accepted(&mask) {
            assert_eq!(words(&mask, 40).unwrap()[39], 255, "{mask}");
        }
    }
}

#[test]
fn barriers_of_every_form_let_all_threads_pass() {
    for name in ["bar", "bar.cta", "barrier", "barrier.cta"] {
        for words_of in ["sync", "sync.aligned"] {
            assert_eq!(
                words(&format!("{name}.{words_of} 0;\nmov.u64 %t1, 3;"), 64).unwrap(),
                [3; 64],
                "{name}.{words_of}"
            );
        }
        // 10 of 64 threads say yes.
        for (mode, ty, expected) in [("popc", "u32", 10), ("and", "pred", 0), ("or", "pred", 1)] {
            let (target, read) =
                if mode == "popc" { ("%r1", "cvt.u64.u32 %t1, %r1;") } else { ("%q", "selp.u64 %t1, 1, 0, %q;") };
            let body = format!("setp.lt.u32 %p, %thread, 10;\n{name}.red.{mode}.{ty} {target}, 0, %p;\n{read}");
            assert_eq!(words(&body, 64).unwrap(), [expected; 64], "{body}");
            let wrong = body.replace(&format!(".{ty} "), ".u64 ");
            assert!(!is_accepted(&wrong), "{wrong}");
        }
    }
    assert_eq!(words("bar.warp.sync -1;\nmov.u64 %t1, 3;", 64).unwrap(), [3; 64]);
    // Their effect on the order of accesses is in `threads.rs`.
    let fences = ["membar.cta", "membar.gl", "membar.sys"].map(str::to_owned);
    let strong =
        ["sc", "acq_rel"].iter().flat_map(|kind| ["cta", "gpu", "sys"].map(|scope| format!("fence.{kind}.{scope}")));
    for fence in fences.into_iter().chain(strong) {
        assert_eq!(words(&format!("{fence};\nmov.u64 %t1, 3;"), 33).unwrap(), [3; 33], "{fence}");
    }
    for fence in ["membar", "membar.gpu", "fence.sc", "fence.gpu", "fence.proxy.async", "fence.acq_rel.cluster"] {
        assert!(!is_accepted(&format!("{fence};\nmov.u64 %t1, 3;")), "{fence}");
    }
}

#[test]
fn threads_end_and_branch() {
    for end in ["ret", "ret.uni", "exit"] {
        let body = format!("setp.ge.u32 %p, %thread, 8;\n@%p {end};\nmov.u64 %t1, 3;");
        let out = words(&body, 16).unwrap();
        assert!(out.iter().enumerate().all(|(thread, &word)| word == if thread < 8 { 3 } else { 0 }), "{end}: {out:?}");
    }
    for branch in ["bra", "bra.uni"] {
        let body = format!("mov.u64 %t1, 3;\nnanosleep.u32 100;\n{branch} L;\nmov.u64 %t1, 4;\nL:");
        assert_eq!(words(&body, 4).unwrap(), [3; 4], "{branch}");
    }
    assert!(!is_accepted("bra %r1;\nmov.u64 %t1, 3;"));
    for (body, threads, stops) in [
        ("trap;", 1, true),
        ("setp.eq.u32 %p, %thread, 40;\n@%p trap;", 64, true),
        ("setp.eq.u32 %p, %thread, 40;\n@%p trap;", 32, false),
    ] {
        let result = words(&format!("mov.u64 %t1, 3;\n{body}"), threads);
        assert_eq!(result.err().map(|fault| fault.kind), stops.then_some(FaultKind::Trap), "{body}");
    }
}

/// The manual leaves these results open, so no kernel may use them.
#[test]
fn undefined_results_are_faults() {
    for opcode in ["div", "rem"] {
        for ty in TYPES.iter().filter(|ty| ty.bits >= 16 && !ty.is_float && !ty.name.starts_with('b')) {
            // Thread 5 divides by 0, unless it takes no part.
            let declarations = format!("{DECLARATIONS} .reg .b{} %x, %y;", ty.bits);
            let divide = |guard: &str| {
                let body = format!(
                    "setp.ne.u32 %p, %thread, 5;\nsub.u32 %r1, %thread, 5;\ncvt.u{0}.u32 %y, %r1;\nmov.b{0} %x, 7;\n\
                     {guard} {opcode}.{1} %x, %x, %y;",
                    ty.bits, ty.name
                );
                run(&kernel(&declarations, &body), 32, &[0], 1).map(drop)
            };
            let fault = divide("").unwrap_err();
            assert_eq!(fault.kind, FaultKind::Trap, "{fault}");
            assert_eq!(fault.place.unwrap().thread, [5, 0, 0], "{opcode}.{}", ty.name);
            assert!(divide("@%p").is_ok(), "{opcode}.{}", ty.name);
        }
    }
}
