//! Loads, stores and atomic operations of every type, and asynchronous copies of every size.

use super::law::{TYPES, Type};
use crate::common::{kernel, product, run};
use solinas_ptx::Module;

pub(crate) const OPCODES: &[&str] = &["ld", "ldu", "st", "atom", "red", "cp"];

/// Bytes with both signs at every place of every width.
const BYTES: [u64; 2] = [0x8001_FE7F_0180_C33C, 0x7F80_0102_FFFE_8055];

/// Elements of an access, and bits of their registers.
const SHAPES: [(usize, u32); 6] = [(1, 32), (2, 32), (4, 32), (1, 64), (2, 64), (4, 64)];

fn is_accepted(text: &str) -> bool {
    Module::parse(text).is_ok()
}

/// Declarations of four registers `%v` of 32 or 64 bits, and 16 bytes of shared memory.
fn declarations(bits: u32) -> String {
    format!(".shared .align 16 .b8 s[16]; .reg .b{bits} %v<4>;")
}

/// The 16 bytes of the input in shared memory, at `%t0`, or the input itself.
fn source(space: &str) -> &'static str {
    if space == ".shared" {
        "mov.u64 %t0, s;\nld.global.v2.u64 {%t1, %t2}, [%in];\nst.shared.v2.u64 [%t0], {%t1, %t2};\n"
    } else {
        "mov.u64 %t0, %in;\n"
    }
}

/// The registers `%v0`, `%v1`, .. of an access.
fn vector(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|at| format!("%v{at}")).collect();
    if count == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
}

fn word_of(count: usize) -> String {
    if count == 1 { String::new() } else { format!(".v{count}") }
}

/// The element `at` of the bytes, as a word without sign.
fn element(ty: &Type, at: usize) -> u64 {
    let bytes = u128::from(BYTES[0]) | u128::from(BYTES[1]) << 64;
    bytes.checked_shr(ty.bits * at as u32).unwrap_or(0) as u64 & ty.mask()
}

#[test]
fn loads_extend_every_type() {
    let mut forms = 0;
    for (opcode, space) in [("ld", ".global"), ("ld", ".global.nc"), ("ld", ".shared"), ("ld", ""), ("ldu", ".global")]
    {
        for ty in TYPES {
            for (count, bits) in SHAPES {
                let load = format!("{opcode}{space}{}.{} {}, [%t0];\n", word_of(count), ty.name, vector(count));
                let convert = if bits == 64 { "mov.b64" } else { "cvt.u64.u32" };
                let stores: String = (0..count)
                    .map(|at| format!("{convert} %t1, %v{at};\nst.global.u64 [%out+{}], %t1;\n", 8 * at))
                    .collect();
                let text = kernel(&declarations(bits), &format!("{}{load}{stores}", source(space)));
                if !is_accepted(&text) {
                    continue;
                }
                assert!(ty.bits as usize * count <= 128 && ty.bits >= 8, "{load} has more than 16 bytes");
                forms += 1;
                let out = run(&text, 1, &BYTES, count).unwrap();
                for (at, word) in out.into_iter().enumerate() {
                    let expected = ty.value(element(ty, at)) as u64 & (u64::MAX >> (64 - bits));
                    assert_eq!(word, expected, "{load}, element {at}");
                }
            }
        }
    }
    println!("{forms} forms of ld and ldu");
    assert!(forms > 100);
}

#[test]
fn stores_write_their_bytes_and_no_others() {
    let mut forms = 0;
    for space in [".global", ".shared", ""] {
        for ty in TYPES {
            for (count, bits) in SHAPES {
                let store = format!("st{space}{}.{} [%t3], {};\n", word_of(count), ty.name, vector(count));
                // Registers have bits above the type, which the store drops.
                let values: String = (0..count)
                    .map(|at| {
                        let value = element(ty, at) | if ty.bits < bits { 1 << (bits - 1) } else { 0 };
                        format!("mov.b{bits} %v{at}, {};\n", value as i64)
                    })
                    .collect();
                let (before, after) = if space == ".shared" {
                    (
                        "mov.u64 %t3, s;\nst.shared.v2.u64 [%t3], {0, 0};\n",
                        "ld.shared.v2.u64 {%t1, %t2}, [%t3];\nst.global.v2.u64 [%out], {%t1, %t2};\n",
                    )
                } else {
                    ("mov.u64 %t3, %out;\n", "")
                };
                let text = kernel(&declarations(bits), &format!("{before}{values}{store}{after}"));
                if !is_accepted(&text) {
                    continue;
                }
                forms += 1;
                let out = run(&text, 1, &BYTES, 2).unwrap();
                let written = ty.bits as usize * count;
                let expected =
                    (0..count).map(|at| u128::from(element(ty, at)) << (ty.bits as usize * at)).sum::<u128>();
                let got = u128::from(out[0]) | u128::from(out[1]) << 64;
                assert_eq!(got, expected, "{store}: {written} bits");
            }
        }
    }
    println!("{forms} forms of st");
    assert!(forms > 50);
}

/// The new word of memory.
fn atomic_law(name: &str, ty: &Type, old: u64, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (ty.value(old), ty.value(a));
    let narrow = |value: i128| value as u64 & ty.mask();
    Some(match name {
        "add" => narrow(x + y),
        "min" => narrow(x.min(y)),
        "max" => narrow(x.max(y)),
        "and" => old & a,
        "or" => old | a,
        "xor" => old ^ a,
        "exch" => a,
        "cas" => {
            if old == a {
                b
            } else {
                old
            }
        }
        "inc" => {
            if x >= y {
                0
            } else {
                narrow(x + 1)
            }
        }
        "dec" => {
            if x == 0 || x > y {
                a
            } else {
                narrow(x - 1)
            }
        }
        _ => return None,
    })
}

#[test]
fn every_atomic_operation_has_a_law() {
    let words = [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 63, u64::MAX];
    let rows = product(&words, 3);
    let mut forms = 0;
    for (opcode, space, order) in [
        ("atom", ".global", ""),
        ("atom", ".shared", ""),
        ("atom", "", ""),
        ("atom", ".global", ".acq_rel.gpu"),
        ("red", ".global", ""),
        ("red", ".shared", ".relaxed.cta"),
    ] {
        for name in ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"] {
            for ty in TYPES.iter().filter(|ty| ty.bits >= 8) {
                let (returned, third) =
                    (if opcode == "atom" { "%old, " } else { "" }, if name == "cas" { ", %b" } else { "" });
                let operation = format!("{opcode}{order}{space}.{name}.{} {returned}[%t1], %a{third};\n", ty.name);
                let bits = ty.bits.max(16);
                let place = if space == ".shared" {
                    "mov.u64 %t2, s;\nadd.u64 %t1, %t1, %t2;\n"
                } else {
                    "add.u64 %t1, %t1, %out;\n"
                };
                let body = format!(
                    "mul.wide.u32 %t0, %thread, 24;\nadd.u64 %t0, %t0, %in;\nmul.wide.u32 %t1, %thread, 16;\n{place}\
                     mul.wide.u32 %t3, %thread, 16;\nadd.u64 %t3, %t3, %out;\n\
                     ld.global.u64 %t2, [%t0];\nst{space}.u64 [%t1], 0;\nst{space}.b{bits} [%t1], %t2;\n\
                     ld.global.b{bits} %a, [%t0+8];\nld.global.b{bits} %b, [%t0+16];\nmov.b{bits} %old, 0;\n{operation}\
                     ld{space}.b{bits} %t2, [%t1];\nst.global.u64 [%t3], %t2;\ncvt.u64.u{bits} %t2, %old;\n\
                     st.global.u64 [%t3+8], %t2;\n",
                );
                let declarations = format!(".shared .align 16 .b8 s[8192]; .reg .b{bits} %a, %b, %old;");
                let text = kernel(&declarations, &body);
                if !is_accepted(&text) {
                    continue;
                }
                forms += 1;
                let out = run(&text, rows.len() as u32, &rows.concat(), 2 * rows.len()).unwrap();
                for (row, out) in rows.iter().zip(out.chunks(2)) {
                    let [old, a, b] = [0, 1, 2].map(|at| row[at] & ty.mask());
                    let expected = atomic_law(name, ty, old, a, b).unwrap();
                    assert_eq!(out[0], expected, "{operation} on {row:x?}");
                    assert_eq!(out[1], if opcode == "atom" { old } else { 0 }, "the result of {operation} on {row:x?}");
                }
            }
        }
    }
    println!("{forms} forms of atom and red");
    assert!(forms > 60);
}

#[test]
fn asynchronous_copies_move_their_bytes_and_no_others() {
    let bytes = [1, 2].map(|at: u64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).into_iter().chain(BYTES);
    let input: Vec<u64> = bytes.collect();
    let mut forms = Vec::new();
    for kind in ["ca", "cg", "cs", ""] {
        for space in ["shared.global", "shared::cta.global", "global.shared", "shared", "global"] {
            for size in [0, 1, 2, 4, 8, 12, 16, 32] {
                for (base, target) in [("mov.u64 %t0, s;", "%t0"), ("mov.u32 %u0, s;", "%u0")] {
                    let copy = format!("cp.async.{kind}.{space} [{target}+16], [%in+16], {size};").replace("..", ".");
                    let body = format!(
                        "mov.u64 %t3, s;\nst.shared.v2.u64 [%t3+16], {{-1, -1}};\n{base}\n{copy}\ncp.async.wait_all;\n\
                         ld.shared.v2.u64 {{%t1, %t2}}, [%t3+16];\nst.global.v2.u64 [%out], {{%t1, %t2}};\n"
                    );
                    let text = kernel(".shared .align 16 .b8 s[32];", &body);
                    if !is_accepted(&text) {
                        continue;
                    }
                    let out = run(&text, 1, &input, 2).unwrap();
                    let kept = if size == 16 { 0 } else { u128::MAX << (8 * size) };
                    let copied = u128::from(BYTES[0]) | u128::from(BYTES[1]) << 64;
                    assert_eq!(u128::from(out[0]) | u128::from(out[1]) << 64, copied & !kept | kept, "{copy}");
                    forms.push((kind, size));
                }
            }
        }
    }
    // Each with two names of the space and two widths of the address.
    let expected = [("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)].map(|form| [form; 4]).concat();
    forms.sort_by_key(|&(kind, size)| (kind, size));
    assert_eq!(forms, expected);
}
