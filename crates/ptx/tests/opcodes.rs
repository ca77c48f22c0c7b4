//! Every opcode against the semantics of the PTX manual, at the corners of its operands.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use common::{apply, product};

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

fn s32(value: u64) -> i64 {
    i64::from(value as i32)
}

#[test]
fn sums_and_products() {
    check(
        &[
            ("add.u32 %d, %a, %b", "rrr", |x| x[0] + x[1]),
            ("add.s64 %d, %a, %b", "lll", |x| x[0].wrapping_add(x[1])),
            ("add.u16 %d, %a, %b", "hhh", |x| x[0] + x[1]),
            ("sub.s32 %d, %a, %b", "rrr", |x| x[0].wrapping_sub(x[1])),
            ("sub.u64 %d, %a, 5", "ll", |x| x[0].wrapping_sub(5)),
            ("add.s32 %d, %a, -7", "rr", |x| x[0].wrapping_sub(7)),
            ("mul.lo.s32 %d, %a, %b", "rrr", |x| x[0].wrapping_mul(x[1])),
            ("mul.lo.u64 %d, %a, %b", "lll", |x| x[0].wrapping_mul(x[1])),
            ("mul.hi.u32 %d, %a, %b", "rrr", |x| (x[0] * x[1]) >> 32),
            ("mul.hi.s32 %d, %a, %b", "rrr", |x| ((s32(x[0]) * s32(x[1])) >> 32) as u64),
            ("mul.hi.u64 %d, %a, %b", "lll", |x| ((u128::from(x[0]) * u128::from(x[1])) >> 64) as u64),
            ("mul.hi.s64 %d, %a, %b", "lll", |x| ((i128::from(x[0] as i64) * i128::from(x[1] as i64)) >> 64) as u64),
            ("mul.wide.u32 %d, %a, %b", "lrr", |x| x[0] * x[1]),
            ("mul.wide.s32 %d, %a, %b", "lrr", |x| (s32(x[0]) * s32(x[1])) as u64),
            ("mul.wide.u16 %d, %a, %b", "rhh", |x| x[0] * x[1]),
            ("mul.wide.s16 %d, %a, %b", "rhh", |x| (i64::from(x[0] as i16) * i64::from(x[1] as i16)) as u64),
            ("mad.lo.s32 %d, %a, %b, %c", "rrrr", |x| x[0].wrapping_mul(x[1]).wrapping_add(x[2])),
            ("mad.hi.u32 %d, %a, %b, %c", "rrrr", |x| ((x[0] * x[1]) >> 32) + x[2]),
            ("mad.lo.u64 %d, %a, %b, %c", "llll", |x| x[0].wrapping_mul(x[1]).wrapping_add(x[2])),
            ("mad.wide.u32 %d, %a, %b, %c", "lrrl", |x| (x[0] * x[1]).wrapping_add(x[2])),
            ("mad.wide.s32 %d, %a, %b, %c", "lrrl", |x| ((s32(x[0]) * s32(x[1])) as u64).wrapping_add(x[2])),
            ("div.u32 %d, %a, 7", "rr", |x| x[0] / 7),
            ("div.s32 %d, %a, -7", "rr", |x| (s32(x[0]) / -7) as u64),
            ("div.s32 %d, %a, -1", "rr", |x| s32(x[0]).wrapping_neg() as u64),
            ("rem.s64 %d, %a, -7", "ll", |x| (x[0] as i64 % -7) as u64),
            ("rem.u64 %d, %a, 10", "ll", |x| x[0] % 10),
            ("abs.s32 %d, %a", "rr", |x| s32(x[0]).unsigned_abs()),
            ("neg.s64 %d, %a", "ll", |x| x[0].wrapping_neg()),
            ("min.s32 %d, %a, %b", "rrr", |x| s32(x[0]).min(s32(x[1])) as u64),
            ("max.u32 %d, %a, %b", "rrr", |x| x[0].max(x[1])),
            ("max.s64 %d, %a, %b", "lll", |x| (x[0] as i64).max(x[1] as i64) as u64),
            ("min.u64 %d, %a, %b", "lll", |x| x[0].min(x[1])),
        ],
        &WORDS,
    );
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
fn logic_and_shifts() {
    check(
        &[
            ("and.b32 %d, %a, %b", "rrr", |x| x[0] & x[1]),
            ("or.b64 %d, %a, %b", "lll", |x| x[0] | x[1]),
            ("xor.b32 %d, %a, %b", "rrr", |x| x[0] ^ x[1]),
            ("not.b64 %d, %a", "ll", |x| !x[0]),
            ("and.pred %d, %a, %b", "ppp", |x| x[0] & x[1]),
            ("xor.pred %d, %a, %b", "ppp", |x| x[0] ^ x[1]),
            ("not.pred %d, %a", "pp", |x| x[0] ^ 1),
            ("shl.b32 %d, %a, %b", "rrr", |x| if x[1] < 32 { x[0] << x[1] } else { 0 }),
            ("shl.b64 %d, %a, %b", "llr", |x| if x[1] < 64 { x[0] << x[1] } else { 0 }),
            ("shr.u32 %d, %a, %b", "rrr", |x| if x[1] < 32 { x[0] >> x[1] } else { 0 }),
            ("shr.u64 %d, %a, %b", "llr", |x| if x[1] < 64 { x[0] >> x[1] } else { 0 }),
            ("shr.s32 %d, %a, %b", "rrr", |x| (s32(x[0]) >> x[1].min(63)) as u64),
            ("shr.s64 %d, %a, %b", "llr", |x| ((x[0] as i64) >> x[1].min(63)) as u64),
            ("shf.l.wrap.b32 %d, %a, %b, %c", "rrrr", |x| ((x[1] << 32 | x[0]) << (x[2] % 32)) >> 32),
            ("shf.r.wrap.b32 %d, %a, %b, %c", "rrrr", |x| (x[1] << 32 | x[0]) >> (x[2] % 32)),
            ("shf.l.clamp.b32 %d, %a, %b, %c", "rrrr", |x| ((x[1] << 32 | x[0]) << x[2].min(32)) >> 32),
            ("shf.r.clamp.b32 %d, %a, %b, %c", "rrrr", |x| (x[1] << 32 | x[0]) >> x[2].min(32)),
            ("popc.b64 %d, %a", "rl", |x| x[0].count_ones().into()),
            ("clz.b32 %d, %a", "rr", |x| (x[0] as u32).leading_zeros().into()),
            ("clz.b64 %d, %a", "rl", |x| x[0].leading_zeros().into()),
            ("brev.b32 %d, %a", "rr", |x| (x[0] as u32).reverse_bits().into()),
            ("brev.b64 %d, %a", "ll", |x| x[0].reverse_bits()),
            ("bfind.u32 %d, %a", "rr", |x| (x[0] as u32).checked_ilog2().unwrap_or(u32::MAX).into()),
            ("bfind.s32 %d, %a", "rr", |x| {
                let value = x[0] as i32;
                (if value < 0 { !value } else { value }).checked_ilog2().unwrap_or(u32::MAX).into()
            }),
            ("bfind.shiftamt.u64 %d, %a", "rl", |x| x[0].checked_ilog2().map_or(u32::MAX, |bit| 63 - bit).into()),
            ("lop3.b32 %d, %a, %b, %c, 0xE8", "rrrr", |x| x[0] & x[1] | x[0] & x[2] | x[1] & x[2]),
            ("lop3.b32 %d, %a, %b, %c, 0x96", "rrrr", |x| x[0] ^ x[1] ^ x[2]),
            ("lop3.b32 %d, %a, %b, %c, 0x40", "rrrr", |x| x[0] & x[1] & !x[2]),
            ("selp.b32 %d, %a, %b, %c", "rrrp", |x| if x[2] != 0 { x[0] } else { x[1] }),
        ],
        &WORDS,
    );
}

/// The definition of `bfe` in the manual, bit by bit.
fn bfe(a: u64, position: u64, length: u64, bits: u64, signed: bool) -> u64 {
    let (position, length, top) = (position & 255, length & 255, bits - 1);
    let bit = |at: u64| a >> at & 1;
    let sign = if !signed || length == 0 { 0 } else { bit((position + length - 1).min(top)) };
    (0..bits).map(|i| (if i < length && position + i <= top { bit(position + i) } else { sign }) << i).sum()
}

/// The definition of `bfi`: the bits of `a` into `b`.
fn bfi(a: u64, b: u64, position: u64, length: u64, bits: u64) -> u64 {
    let (position, length) = (position & 255, length & 255);
    let mut result = b;
    for i in (0..length).take_while(|i| position + i < bits) {
        result = result & !(1 << (position + i)) | (a >> i & 1) << (position + i);
    }
    result
}

#[test]
fn fields() {
    let values = [0, 1, 5, 31, 32, 33, 63, 64, 255, 256, 0x8000_0000, 0xDEAD_BEEF_8BAD_F00D];
    check(
        &[
            ("bfe.u32 %d, %a, %b, %c", "rrrr", |x| bfe(x[0], x[1], x[2], 32, false)),
            ("bfe.s32 %d, %a, %b, %c", "rrrr", |x| bfe(x[0], x[1], x[2], 32, true)),
            ("bfe.u64 %d, %a, %b, %c", "llrr", |x| bfe(x[0], x[1], x[2], 64, false)),
            ("bfe.s64 %d, %a, %b, %c", "llrr", |x| bfe(x[0], x[1], x[2], 64, true)),
            ("bfi.b32 %d, %a, %b, %c, %e", "rrrrr", |x| bfi(x[0], x[1], x[2], x[3], 32)),
            ("bfi.b64 %d, %a, %b, %c, %e", "lllrr", |x| bfi(x[0], x[1], x[2], x[3], 64)),
        ],
        &values,
    );
}

/// Bytes of `a` and `b` by four selectors below 8.
fn bytes(x: &[u64], selectors: [u64; 4]) -> u64 {
    let pair = x[0] | x[1] << 32;
    selectors.iter().enumerate().map(|(at, select)| (pair >> (8 * select) & 255) << (8 * at)).sum()
}

#[test]
fn permutations_of_bytes() {
    let values = [0, 1, 2, 3, 0x3210, 0x7654, 0xFEDC, 0x8765_43A9, 0x1234_5678, 0x80FF_7F01];
    check(
        &[
            ("prmt.b32 %d, %a, %b, %c", "rrrr", |x| {
                let select = |at: u64| x[2] >> (4 * at) & 15;
                let pair = x[0] | x[1] << 32;
                (0..4)
                    .map(|at| {
                        let byte = pair >> (8 * (select(at) & 7)) & 255;
                        (if select(at) & 8 == 0 {
                            byte
                        } else if byte & 128 == 0 {
                            0
                        } else {
                            255
                        }) << (8 * at)
                    })
                    .sum()
            }),
            ("prmt.b32.f4e %d, %a, %b, %c", "rrrr", |x| {
                let k = x[2] & 3;
                bytes(x, [k, k + 1, k + 2, k + 3])
            }),
            ("prmt.b32.b4e %d, %a, %b, %c", "rrrr", |x| {
                let k = x[2] & 3;
                bytes(x, [k, (k + 7) & 7, (k + 6) & 7, (k + 5) & 7])
            }),
            ("prmt.b32.rc8 %d, %a, %b, %c", "rrrr", |x| bytes(x, [x[2] & 3; 4])),
            ("prmt.b32.ecl %d, %a, %b, %c", "rrrr", |x| bytes(x, [0, 1, 2, 3].map(|at: u64| at.max(x[2] & 3)))),
            ("prmt.b32.ecr %d, %a, %b, %c", "rrrr", |x| bytes(x, [0, 1, 2, 3].map(|at: u64| at.min(x[2] & 3)))),
            ("prmt.b32.rc16 %d, %a, %b, %c", "rrrr", |x| {
                let k = 2 * (x[2] & 1);
                bytes(x, [k, k + 1, k, k + 1])
            }),
        ],
        &values,
    );
}

#[test]
fn comparisons() {
    check(
        &[
            ("setp.eq.s32 %d, %a, %b", "prr", |x| u64::from(x[0] == x[1])),
            ("setp.lt.s32 %d, %a, %b", "prr", |x| u64::from(s32(x[0]) < s32(x[1]))),
            ("setp.lt.u32 %d, %a, %b", "prr", |x| u64::from(x[0] < x[1])),
            ("setp.hs.u64 %d, %a, %b", "pll", |x| u64::from(x[0] >= x[1])),
            ("setp.gt.u64 %d, %a, -4294967296", "pl", |x| u64::from(x[0] > 0xFFFF_FFFF_0000_0000)),
            ("setp.le.s64 %d, %a, %b", "pll", |x| u64::from(x[0] as i64 <= x[1] as i64)),
            ("setp.ne.and.u32 %d, %a, %b, %c", "prrp", |x| u64::from(x[0] != x[1]) & x[2]),
            ("setp.ge.or.s32 %d, %a, %b, !%c", "prrp", |x| u64::from(s32(x[0]) >= s32(x[1])) | (x[2] ^ 1)),
        ],
        &WORDS,
    );
}

#[test]
fn conversions_of_integers() {
    check(
        &[
            ("cvt.u64.u32 %d, %a", "lr", |x| x[0]),
            ("cvt.s64.s32 %d, %a", "lr", |x| s32(x[0]) as u64),
            ("cvt.u32.u64 %d, %a", "rl", |x| x[0]),
            ("cvt.s64.s8 %d, %a", "lr", |x| i64::from(x[0] as i8) as u64),
            ("cvt.s16.s8 %d, %a", "rr", |x| i64::from(x[0] as i8) as u64),
            ("cvt.u8.u32 %d, %a", "rr", |x| x[0] & 255),
            ("cvt.sat.u8.s32 %d, %a", "rr", |x| s32(x[0]).clamp(0, 255) as u64),
            ("cvt.sat.s8.s64 %d, %a", "rl", |x| (x[0] as i64).clamp(-128, 127) as u64),
            ("cvt.sat.u32.s64 %d, %a", "rl", |x| (x[0] as i64).clamp(0, 0xFFFF_FFFF) as u64),
            ("cvt.sat.s32.u64 %d, %a", "rl", |x| x[0].min(0x7FFF_FFFF)),
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

/// Doubles with every kind of corner.
fn doubles() -> Vec<u64> {
    [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.7,
        -3.7,
        4294967295.5,
        -2147483648.5,
        1e300,
        -1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE / 4.0,
        9007199254740993.0,
        1.8446744073709552e19,
        9.223372036854775e18,
    ]
    .map(f64::to_bits)
    .to_vec()
}

fn double(value: u64) -> f64 {
    f64::from_bits(value)
}

/// As [`Case`], on doubles.
type DoubleCase = (&'static str, &'static str, fn(&[f64]) -> f64);

/// A result that is NaN is compared as NaN: its bits are not defined.
fn check_doubles(cases: &[DoubleCase]) {
    for (instruction, types, law) in cases {
        let rows = product(&doubles(), types.len() - 1);
        for (row, result) in rows.iter().zip(apply(instruction, types, &rows)) {
            let operands: Vec<f64> = row.iter().copied().map(double).collect();
            let expected = law(&operands);
            let same = result == expected.to_bits() || expected.is_nan() && double(result).is_nan();
            assert!(same, "{instruction} of {operands:?}: {}, expected {expected}", double(result));
        }
    }
}

#[test]
fn arithmetic_of_doubles() {
    check_doubles(&[
        ("add.rn.f64 %d, %a, %b", "lll", |x| x[0] + x[1]),
        ("sub.rn.f64 %d, %a, %b", "lll", |x| x[0] - x[1]),
        ("mul.rn.f64 %d, %a, %b", "lll", |x| x[0] * x[1]),
        ("div.rn.f64 %d, %a, %b", "lll", |x| x[0] / x[1]),
        ("fma.rn.f64 %d, %a, %b, %c", "llll", |x| x[0].mul_add(x[1], x[2])),
        ("sqrt.rn.f64 %d, %a", "ll", |x| x[0].sqrt()),
        ("rcp.rn.f64 %d, %a", "ll", |x| 1.0 / x[0]),
        ("neg.f64 %d, %a", "ll", |x| -x[0]),
        ("abs.f64 %d, %a", "ll", |x| x[0].abs()),
        ("copysign.f64 %d, %a, %b", "lll", |x| x[1].copysign(x[0])),
        ("add.rn.f64 %d, %a, 0d3FF8000000000000", "ll", |x| x[0] + 1.5),
        ("cvt.rni.f64.f64 %d, %a", "ll", |x| x[0].round_ties_even()),
        ("cvt.rzi.f64.f64 %d, %a", "ll", |x| x[0].trunc()),
        ("cvt.rmi.f64.f64 %d, %a", "ll", |x| x[0].floor()),
        ("cvt.rpi.f64.f64 %d, %a", "ll", |x| x[0].ceil()),
        // A number wins over NaN, and -0 is below +0.
        ("min.f64 %d, %a, %b", "lll", |x| match (x[0], x[1]) {
            (a, b) if a.is_nan() => b,
            (a, b) if b.is_nan() => a,
            (a, b) if a == b => {
                if a.is_sign_negative() {
                    a
                } else {
                    b
                }
            }
            (a, b) => {
                if a < b {
                    a
                } else {
                    b
                }
            }
        }),
        ("max.f64 %d, %a, %b", "lll", |x| match (x[0], x[1]) {
            (a, b) if a.is_nan() => b,
            (a, b) if b.is_nan() => a,
            (a, b) if a == b => {
                if a.is_sign_negative() {
                    b
                } else {
                    a
                }
            }
            (a, b) => {
                if a > b {
                    a
                } else {
                    b
                }
            }
        }),
    ]);
}

#[test]
fn comparisons_and_conversions_of_doubles() {
    fn saturate(value: f64, low: f64, high: f64, nan: u64) -> u64 {
        if value.is_nan() { nan } else { value.clamp(low, high) as i128 as u64 }
    }
    let long = 18446744073709551615.0;
    assert!(long > 1.8e19);
    check(
        &[
            ("setp.eq.f64 %d, %a, %b", "pll", |x| u64::from(double(x[0]) == double(x[1]))),
            ("setp.ne.f64 %d, %a, %b", "pll", |x| {
                u64::from(double(x[0]) < double(x[1]) || double(x[0]) > double(x[1]))
            }),
            ("setp.neu.f64 %d, %a, %b", "pll", |x| u64::from(double(x[0]) != double(x[1]))),
            ("setp.lt.f64 %d, %a, %b", "pll", |x| u64::from(double(x[0]) < double(x[1]))),
            ("setp.ltu.f64 %d, %a, %b", "pll", |x| {
                u64::from(double(x[0]).partial_cmp(&double(x[1])).is_none_or(|o| o.is_lt()))
            }),
            ("setp.geu.f64 %d, %a, %b", "pll", |x| {
                u64::from(double(x[0]).partial_cmp(&double(x[1])).is_none_or(|o| o.is_ge()))
            }),
            ("setp.num.f64 %d, %a, %b", "pll", |x| u64::from(!double(x[0]).is_nan() && !double(x[1]).is_nan())),
            ("setp.nan.f64 %d, %a, %b", "pll", |x| u64::from(double(x[0]).is_nan() || double(x[1]).is_nan())),
            ("cvt.rzi.s32.f64 %d, %a", "rl", |x| saturate(double(x[0]).trunc(), -2147483648.0, 2147483647.0, 1 << 31)),
            ("cvt.rni.u32.f64 %d, %a", "rl", |x| saturate(double(x[0]).round_ties_even(), 0.0, 4294967295.0, 1 << 31)),
            ("cvt.rmi.s32.f64 %d, %a", "rl", |x| saturate(double(x[0]).floor(), -2147483648.0, 2147483647.0, 1 << 31)),
            ("cvt.rpi.s64.f64 %d, %a", "ll", |x| {
                let value = double(x[0]).ceil();
                if value >= 9.3e18 {
                    i64::MAX as u64
                } else {
                    saturate(value, -9.223372036854776e18, 9.3e18, 1 << 63).min(if value > 0.0 {
                        i64::MAX as u64
                    } else {
                        u64::MAX
                    })
                }
            }),
            ("cvt.rzi.u64.f64 %d, %a", "ll", |x| {
                let value = double(x[0]);
                if value >= 1.8446744073709552e19 {
                    u64::MAX
                } else {
                    saturate(value.trunc(), 0.0, 1.8446744073709552e19, 1 << 63)
                }
            }),
        ],
        &doubles(),
    );
    check(
        &[
            ("cvt.rn.f64.u64 %d, %a", "ll", |x| (x[0] as f64).to_bits()),
            ("cvt.rn.f64.s64 %d, %a", "ll", |x| (x[0] as i64 as f64).to_bits()),
            ("cvt.rn.f64.s32 %d, %a", "lr", |x| (s32(x[0]) as f64).to_bits()),
            ("cvt.rn.f64.u32 %d, %a", "lr", |x| (x[0] as f64).to_bits()),
        ],
        &[WORDS.as_slice(), &[(1 << 53) + 1, (1 << 53) + 3, (1 << 63) + 1024, (1 << 63) + 1025]].concat(),
    );
}
