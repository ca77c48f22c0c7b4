//! Every form of an instruction that the reader accepts computes what the PTX manual says.
//!
//! A form is an opcode with its modifiers and types. The tests try all combinations and keep the accepted ones. They
//! fail if a form has no law. The laws follow the text of the manual, on integers of 128 bits.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod convert;
mod law;
mod memory;
mod operands;
mod threads;

use crate::common::{apply, product, text_of};
use law::{TYPES, Type, law};
use solinas_ptx::{Module, OPCODES};
use std::collections::BTreeSet;

/// Opcodes that work on registers alone, but for `cvt`.
const ARITHMETIC: &[&str] = &[
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "brev", "clz", "copysign", "div", "fma", "lop3", "mad", "madc",
    "max", "min", "mov", "mul", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "selp", "setp", "shf", "shl", "shr",
    "sqrt", "sub", "subc", "xor",
];

const MODIFIERS: &[&str] = &[
    "", "lo", "hi", "wide", "cc", "lo.cc", "hi.cc", "wide.cc", "rn", "rz", "sat", "shiftamt", "l.wrap", "r.wrap",
    "l.clamp", "r.clamp", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16",
];

const COMPARISONS: &[&str] = &[
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

/// The modifiers that an opcode may have.
fn modifiers(opcode: &str) -> Vec<String> {
    if opcode != "setp" {
        return MODIFIERS.iter().map(|&words| words.to_owned()).collect();
    }
    let combined = |name: &&str| ["", ".and", ".or", ".xor"].map(|combine| format!("{name}{combine}"));
    COMPARISONS.iter().flat_map(combined).collect()
}

/// Result and operands of the forms of a type: `t` is a register of the type, `w` one of two times as many bits.
const SHAPES: &[&str] =
    &["tt", "ttt", "tttt", "ttttt", "ttr", "ttrr", "tttrr", "tttp", "ptt", "pttp", "rt", "wtt", "wttw"];

fn shapes(ty: &Type) -> BTreeSet<String> {
    let wide = match ty.bits {
        16 => "r",
        _ => "l",
    };
    SHAPES.iter().map(|shape| shape.replace('t', ty.letter()).replace('w', wide)).collect()
}

/// An instruction with the registers of the harness.
fn instruction(form: &str, operands: usize) -> String {
    format!("{form} {}", ["%d", "%a", "%b", "%c", "%e"][..=operands].join(", "))
}

pub(crate) fn is_accepted(instruction: &str, types: &str) -> bool {
    Module::parse(&text_of(instruction, types)).is_ok()
}

/// Operands of a form, at the corners of its type.
fn rows(opcode: &str, ty: &Type, operands: usize) -> Vec<Vec<u64>> {
    let doubles = [0.0, -0.0, 1.0, -1.5, 1e300, 4.9e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(f64::to_bits);
    let words = [
        0,
        1,
        31,
        0x8000,
        0x7FFF_FFFF,
        0x8000_0000,
        0xFFFF_FFFF,
        0x7FFF_FFFF_FFFF_FFFF,
        0x8000_0000_0000_0001,
        u64::MAX,
    ];
    let few = [0, 3, 33, 0x8000_00FF, 0x8765_4321_8000_0000, u64::MAX];
    let values = match (ty.is_float, operands) {
        (true, _) => &doubles[..],
        (_, ..3) => &words[..],
        _ => &few[..],
    };
    let rows = product(values, operands).into_iter();
    // A division by 0 has no result: see `undefined_results_are_faults`.
    let defined = |row: &Vec<u64>| ty.is_float || !["div", "rem"].contains(&opcode) || ty.value(row[1]) != 0;
    rows.filter(defined).collect()
}

/// The low bits of the operands that the registers hold.
fn held(types: &str, row: &[u64]) -> Vec<u64> {
    let hold = |(letter, &value): (u8, &u64)| match letter {
        b'p' => u64::from(value != 0),
        b'h' => value & 0xFFFF,
        b'r' => value & 0xFFFF_FFFF,
        _ => value,
    };
    types.bytes().skip(1).zip(row).map(hold).collect()
}

fn check(opcode: &str, words: &str, ty: &Type, types: &str) {
    let name = if words.is_empty() { opcode.to_owned() } else { format!("{opcode}.{words}") };
    let (form, operands) = (format!("{name}.{}", ty.name), types.len() - 1);
    let rows = rows(opcode, ty, operands);
    for (row, result) in rows.iter().zip(apply(&instruction(&form, operands), types, &rows)) {
        let held = held(types, row);
        let expected = law(opcode, words, ty, &held).unwrap_or_else(|| panic!("{form} ({types}) has no law"));
        let same =
            result == expected || ty.is_float && f64::from_bits(result).is_nan() && f64::from_bits(expected).is_nan();
        assert!(same, "{form} ({types}) of {held:x?}: {result:x}, expected {expected:x}");
    }
}

#[test]
fn every_form_of_arithmetic_has_a_law() {
    let mut forms = 0;
    for opcode in ARITHMETIC {
        let mut found = 0;
        for words in modifiers(opcode) {
            for ty in TYPES {
                let name = if words.is_empty() { (*opcode).to_owned() } else { format!("{opcode}.{words}") };
                for types in shapes(ty) {
                    let text = instruction(&format!("{name}.{}", ty.name), types.len() - 1);
                    // Forms with the carry flag are in `every_form_with_a_carry_has_a_law`.
                    let carries = words.ends_with("cc") || ["addc", "subc", "madc"].contains(opcode);
                    // They read a flag that must be set first.
                    let set = if carries { "add.cc.u32 %u1, 0, 0; " } else { "" };
                    if !is_accepted(&format!("{set}{text}"), &types) {
                        continue;
                    }
                    found += 1;
                    if carries {
                        check_carry(opcode, &words, ty, &types);
                    } else {
                        check(opcode, &words, ty, &types);
                    }
                }
            }
        }
        assert!(found > 0, "no form of {opcode} was found");
        forms += found;
    }
    println!("{forms} forms of {} opcodes", ARITHMETIC.len());
}

/// Both values of the flag before, the result, and the flag after.
fn check_carry(opcode: &str, words: &str, ty: &Type, types: &str) {
    let operands = types.len() - 1;
    let name = if words.is_empty() { opcode.to_owned() } else { format!("{opcode}.{words}") };
    let form = instruction(&format!("{name}.{}", ty.name), operands);
    let is_difference = opcode.starts_with("sub");
    let rows = rows(opcode, ty, operands);
    for flag in [0, 1] {
        // The harness has no flag of its own: a sum or a difference sets it.
        let set = if is_difference {
            format!("sub.cc.u32 %u1, 0, {flag}; ")
        } else {
            format!("add.cc.u32 %u1, -1, {flag}; ")
        };
        let read = if is_difference { "subc" } else { "addc" };
        let after = form.replace("%d", if ty.bits == 64 { "%t3" } else { "%u2" });
        let after = format!("{set}{after}; {read}.u32 %d, 0, 0");
        let flags = apply(&after, &format!("r{}", &types[1..]), &rows);
        for ((row, result), left) in rows.iter().zip(apply(&format!("{set}{form}"), types, &rows)).zip(flags) {
            let held = held(types, row);
            let law = law::carry(opcode, words, ty, &held, flag == 1);
            let (expected, flag_after) = law.unwrap_or_else(|| panic!("{form} has no law"));
            assert_eq!(result, expected, "{form} of {held:x?} and the flag {flag}");
            let flag_after = u64::from(flag_after);
            let read = if is_difference { flag_after.wrapping_neg() & 0xFFFF_FFFF } else { flag_after };
            assert_eq!(left, read, "the flag after {form} of {held:x?} and the flag {flag}");
        }
    }
}

#[test]
fn every_opcode_has_a_test() {
    let tested: BTreeSet<&str> =
        [ARITHMETIC, convert::OPCODES, memory::OPCODES, threads::OPCODES].concat().into_iter().collect();
    let known: BTreeSet<&str> = OPCODES.iter().copied().collect();
    assert_eq!(tested, known);
}
