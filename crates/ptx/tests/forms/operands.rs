//! Operands that are literals, negated predicates or vectors, and chains of carries.

use crate::common::{apply, product};

const WORDS: [u64; 12] = [
    0,
    1,
    2,
    31,
    33,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0001,
    u64::MAX,
];

/// One instruction: its text, the types of its registers, and what it computes.
type Case = (&'static str, &'static str, fn(&[u64]) -> u64);

fn check(cases: &[Case], values: &[u64]) {
    for (instruction, types, law) in cases {
        let rows = product(values, types.len() - 1);
        let width = |ty: u8| match ty {
            b'p' => 1,
            b'h' => 0xFFFF,
            b'r' => 0xFFFF_FFFF,
            _ => u64::MAX,
        };
        for (row, result) in rows.iter().zip(apply(instruction, types, &rows)) {
            let operands: Vec<u64> = row
                .iter()
                .zip(&types.as_bytes()[1..])
                .map(|(&value, &ty)| if ty == b'p' { u64::from(value != 0) } else { value & width(ty) })
                .collect();
            let expected = law(&operands) & width(types.as_bytes()[0]);
            assert_eq!(result, expected, "{instruction} of {operands:x?}: {result:x}, expected {expected:x}");
        }
    }
}

/// The whole chain is one statement of the table: `%u` and `%t3` are registers of the harness.
#[test]
fn carries() {
    check(
        &[
            ("add.cc.u32 %u1, %a, %b; addc.u32 %d, %c, 0", "rrrr", |x| x[2] + ((x[0] + x[1]) >> 32)),
            ("add.cc.u32 %u1, %a, %b; addc.cc.u32 %u2, %c, -1; addc.u32 %d, 0, 0", "rrrr", |x| {
                (x[2] + 0xFFFF_FFFF + ((x[0] + x[1]) >> 32)) >> 32
            }),
            ("sub.cc.u32 %u1, %a, %b; subc.u32 %d, %c, 0", "rrrr", |x| x[2].wrapping_sub(u64::from(x[0] < x[1]))),
            ("sub.cc.u64 %t3, %a, %b; subc.cc.u64 %t3, %c, 0; subc.u64 %d, 0, 0", "llll", |x| {
                0u64.wrapping_sub(u64::from(x[2] < u64::from(x[0] < x[1])))
            }),
            ("add.cc.u64 %t3, %a, %b; addc.u64 %d, %c, 0", "llll", |x| {
                x[2].wrapping_add(u64::from(x[0].checked_add(x[1]).is_none()))
            }),
            ("mad.lo.cc.u32 %u1, %a, %b, %c; addc.u32 %d, 0, 0", "rrrr", |x| {
                (((x[0] * x[1]) & 0xFFFF_FFFF) + x[2]) >> 32
            }),
            ("mad.lo.cc.u32 %u1, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0", "rrrr", |x| (x[0] * x[1] + x[2]) >> 32),
            ("mad.hi.cc.u32 %u1, %a, %b, %c; addc.u32 %d, 0, 0", "rrrr", |x| (((x[0] * x[1]) >> 32) + x[2]) >> 32),
            ("add.cc.u32 %u1, %a, %b; madc.lo.cc.u32 %d, %a, %b, %c", "rrrr", |x| {
                (x[0] * x[1]).wrapping_add(x[2]).wrapping_add((x[0] + x[1]) >> 32)
            }),
            ("add.cc.u32 %u1, %a, %b; madc.hi.cc.u32 %u2, %a, %b, %c; addc.u32 %d, 0, 0", "rrrr", |x| {
                (((x[0] * x[1]) >> 32) + x[2] + ((x[0] + x[1]) >> 32)) >> 32
            }),
            // A plain sum leaves the flag as it is.
            ("add.cc.u32 %u1, %a, %b; add.u32 %u2, %u1, %a; addc.u32 %d, 0, 0", "rrr", |x| (x[0] + x[1]) >> 32),
        ],
        &WORDS,
    );
}

#[test]
fn literals_and_vectors() {
    check(
        &[
            ("sub.u64 %d, %a, 5", "ll", |x| x[0].wrapping_sub(5)),
            ("add.s32 %d, %a, -7", "rr", |x| x[0].wrapping_sub(7)),
            ("div.s32 %d, %a, -1", "rr", |x| x[0].wrapping_neg()),
            ("lop3.b32 %d, %a, %b, %c, 0xE8", "rrrr", |x| x[0] & x[1] | x[0] & x[2] | x[1] & x[2]),
            ("setp.gt.u64 %d, %a, -4294967296", "pl", |x| u64::from(x[0] > 0xFFFF_FFFF_0000_0000)),
            ("setp.ge.or.u32 %d, %a, %b, !%c", "prrp", |x| u64::from(x[0] >= x[1]) | (x[2] ^ 1)),
            ("add.rn.f64 %d, %a, 0d3FF8000000000000", "ll", |x| (f64::from_bits(x[0]) + 1.5).to_bits()),
            ("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %a; mov.b64 %d, {hi, lo}; }", "ll", |x| x[0].rotate_left(32)),
            ("{ .reg .b16 p, q; mov.b32 {p, q}, %a; mov.b32 %d, {q, p}; }", "rr", |x| {
                (x[0] as u32).rotate_left(16).into()
            }),
            ("{ .reg .b16 p, q, r, s; mov.b64 {p, q, r, s}, %a; mov.b64 %d, {s, r, q, p}; }", "ll", |x| {
                (0..4).map(|at| (x[0] >> (16 * at) & 0xFFFF) << (48 - 16 * at)).sum()
            }),
        ],
        &WORDS,
    );
}
