//! `cvt` and `cvta`.

use super::is_accepted;
use super::law::{TYPES, Type};
use crate::common::{apply, kernel, run};

pub(crate) const OPCODES: &[&str] = &["cvt", "cvta"];

/// The double that a rounding to an integer gives.
fn round(rounding: &str, x: f64) -> Option<f64> {
    Some(match rounding {
        "rni" => x.round_ties_even(),
        "rzi" => x.trunc(),
        "rmi" => x.floor(),
        "rpi" => x.ceil(),
        _ => return None,
    })
}

/// The low bits of the result.
fn law(rounding: &str, saturates: bool, to: &Type, from: &Type, x: u64) -> Option<u64> {
    let narrow = |value: i128| value as u64 & to.mask();
    let limited = |value: i128| narrow(value.clamp(to.least(), to.most()));
    match (to.is_float, from.is_float) {
        (false, false) if rounding.is_empty() => {
            Some(if saturates { limited(from.value(x)) } else { narrow(from.value(x)) })
        }
        (true, false) if rounding == "rn" && !saturates && to.bits == 64 => Some((from.value(x) as f64).to_bits()),
        (true, true) if to.bits == 64 && from.bits == 64 && !saturates => {
            let value = f64::from_bits(x);
            Some(if rounding.is_empty() { x } else { round(rounding, value)?.to_bits() })
        }
        // Out of range is the nearest number in it; NaN is the highest bit.
        (false, true) if from.bits == 64 => {
            let value = round(rounding, f64::from_bits(x))?;
            Some(if value.is_nan() { 1 << (to.bits - 1) } else { limited(value as i128) })
        }
        _ => None,
    }
}

#[test]
fn every_conversion_has_a_law() {
    let doubles =
        [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 126.5, 255.5, 65535.5, 4294967295.5, -2147483648.5, 1e300]
            .into_iter()
            .chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 9007199254740993.0, 1.8446744073709552e19])
            .map(f64::to_bits);
    let doubles: Vec<Vec<u64>> = doubles.map(|x| vec![x]).collect();
    let words = [0, 1, 127, 128, 255, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, (1 << 53) + 1]
        .into_iter()
        .chain([(1 << 53) + 3, i64::MAX as u64, 1 << 63, (1 << 63) + 1024, (1 << 63) + 1025, u64::MAX, u64::MAX - 200]);
    let words: Vec<Vec<u64>> = words.map(|x| vec![x]).collect();
    let mut forms = 0;
    for to in TYPES {
        for from in TYPES {
            for rounding in ["", "rn", "rz", "rni", "rzi", "rmi", "rpi"] {
                for saturates in [false, true] {
                    let words_of = [rounding, if saturates { "sat" } else { "" }, to.name, from.name];
                    let words_of: Vec<&str> = words_of.into_iter().filter(|word| !word.is_empty()).collect();
                    let form = format!("cvt.{} %d, %a", words_of.join("."));
                    // The wider register of the result shows its extension.
                    for letter in [to.letter(), "l"] {
                        let types = format!("{letter}{}", from.letter());
                        if to.bits > 1 && from.bits > 1 && is_accepted(&form, &types) {
                            forms += 1;
                            check(
                                &form,
                                &types,
                                if from.is_float { &doubles } else { &words },
                                |x| {
                                    law(rounding, saturates, to, from, x).unwrap_or_else(|| panic!("{form} has no law"))
                                },
                                to,
                            );
                        } else {
                            assert!(!is_accepted(&form, &types), "{form}: a predicate is no number");
                        }
                    }
                }
            }
        }
    }
    println!("{forms} forms of cvt");
}

fn check(form: &str, types: &str, rows: &[Vec<u64>], law: impl Fn(u64) -> u64, to: &Type) {
    let register = match &types[..1] {
        "h" => 0xFFFF,
        "r" => 0xFFFF_FFFF,
        _ => u64::MAX,
    };
    for (row, result) in rows.iter().zip(apply(form, types, rows)) {
        let low = law(row[0]);
        // A result with a sign fills its register.
        let expected = to.value(low) as u64 & register;
        let same = result == expected || to.is_float && f64::from_bits(result).is_nan() && f64::from_bits(low).is_nan();
        assert!(same, "{form} ({types}) of {:x}: {result:x}, expected {expected:x}", row[0]);
    }
}

#[test]
fn addresses_of_spaces_are_generic_addresses() {
    for space in ["global", "shared", "const"] {
        for way in ["", "to."] {
            let form = format!("cvta.{way}{space}.u64 %d, %a");
            let rows = [vec![0], vec![1 << 40], vec![u64::MAX]];
            assert_eq!(apply(&form, "ll", &rows), rows.concat(), "{form}");
        }
    }
    for form in ["cvta.local.u64 %d, %a", "cvta.global.u32 %d, %a", "cvta.u64 %d, %a"] {
        assert!(!is_accepted(form, "ll") && !is_accepted(form, "rr"), "{form}");
    }
    // A generic access finds shared memory by its address.
    let body = "mov.u64 %t0, s;\ncvta.shared.u64 %t0, %t0;\nst.u64 [%t0], 77;\ncvta.to.shared.u64 %t1, %t0;\n\
        ld.shared.u64 %t2, [%t1];\ncvta.to.global.u64 %t3, %out;\nst.global.u64 [%t3], %t2;";
    assert_eq!(run(&kernel(".shared .align 8 .b8 s[8];", body), 1, &[0], 1).unwrap(), [77]);
}
