//! The laws of instructions on registers, from the text of the PTX manual.

/// A type of an instruction.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    pub(crate) is_signed: bool,
    pub(crate) is_float: bool,
}

const fn of(name: &'static str, bits: u32) -> Type {
    let first = name.as_bytes()[0];
    Type { name, bits, is_signed: first == b's', is_float: first == b'f' }
}

pub(crate) const TYPES: &[Type] = &[
    of("pred", 1),
    of("b8", 8),
    of("u8", 8),
    of("s8", 8),
    of("b16", 16),
    of("u16", 16),
    of("s16", 16),
    of("f16", 16),
    of("b32", 32),
    of("u32", 32),
    of("s32", 32),
    of("f32", 32),
    of("b64", 64),
    of("u64", 64),
    of("s64", 64),
    of("f64", 64),
];

impl Type {
    /// The letter of a register that holds it, for `apply`.
    pub(crate) fn letter(&self) -> &'static str {
        match self.bits {
            1 => "p",
            16 => "h",
            8 | 32 => "r",
            _ => "l",
        }
    }

    pub(crate) fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The number that the low bits of a register mean.
    pub(crate) fn value(&self, word: u64) -> i128 {
        let word = i128::from(word & self.mask());
        if self.is_signed && word >> (self.bits - 1) == 1 { word - (1 << self.bits) } else { word }
    }

    pub(crate) fn least(&self) -> i128 {
        if self.is_signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    pub(crate) fn most(&self) -> i128 {
        self.least() + i128::from(self.mask())
    }
}

/// The exact product, as its low 128 bits.
fn product(ty: &Type, a: u64, b: u64) -> i128 {
    ty.value(a).wrapping_mul(ty.value(b))
}

/// The result of an instruction, in the bits of its register. `None` for one without a law.
pub(crate) fn law(opcode: &str, words: &str, ty: &Type, x: &[u64]) -> Option<u64> {
    if opcode == "selp" {
        return Some(if x[2] != 0 { x[0] } else { x[1] });
    }
    if opcode == "mov" {
        return Some(x[0]);
    }
    if opcode == "setp" {
        let (name, combine) = words.split_once('.').unwrap_or((words, ""));
        let holds = if ty.is_float { compare_doubles(name, x)? } else { compare(name, ty, x)? };
        return Some(match combine {
            "and" => u64::from(holds) & x[2],
            "or" => u64::from(holds) | x[2],
            "xor" => u64::from(holds) ^ x[2],
            _ => u64::from(holds),
        });
    }
    if ty.is_float {
        return doubles(opcode, words, x);
    }
    let bits = ty.bits;
    let v = |at: usize| ty.value(x[at]);
    let unsigned = |at: usize| x[at] & ty.mask();
    let narrow = |value: i128| value as u64 & ty.mask();
    let wide = |value: i128| value as u64 & (u64::MAX >> (64 - 2 * bits));
    Some(match (opcode, words) {
        ("add", "") => narrow(v(0) + v(1)),
        ("sub", "") => narrow(v(0) - v(1)),
        ("mul", "lo") => narrow(product(ty, x[0], x[1])),
        ("mul", "hi") => narrow(product(ty, x[0], x[1]) >> bits),
        ("mul", "wide") if bits < 64 => wide(product(ty, x[0], x[1])),
        ("mad", "lo") => narrow(product(ty, x[0], x[1]).wrapping_add(v(2))),
        ("mad", "hi") => narrow((product(ty, x[0], x[1]) >> bits) + v(2)),
        ("mad", "wide") if bits < 64 => wide(product(ty, x[0], x[1]) + i128::from(x[2])),
        ("div", "") => narrow(v(0) / v(1)),
        ("rem", "") => narrow(v(0) % v(1)),
        ("min", "") => narrow(v(0).min(v(1))),
        ("max", "") => narrow(v(0).max(v(1))),
        ("abs", "") => narrow(v(0).abs()),
        ("neg", "") => narrow(-v(0)),
        ("and", "") => x[0] & x[1],
        ("or", "") => x[0] | x[1],
        ("xor", "") => x[0] ^ x[1],
        ("not", "") => !x[0] & ty.mask(),
        ("shl", "") => narrow(v(0) << x[1].min(64)),
        ("shr", "") => narrow(v(0) >> x[1].min(64)),
        ("shf", words) => {
            let (direction, mode) = words.split_once('.')?;
            let (pair, n) = (x[1] << 32 | x[0], if mode == "wrap" { x[2] % 32 } else { x[2].min(32) });
            if direction == "l" { (u128::from(pair) << n >> 32) as u64 & 0xFFFF_FFFF } else { pair >> n & 0xFFFF_FFFF }
        }
        ("popc", "") => (0..bits).map(|at| x[0] >> at & 1).sum(),
        ("clz", "") => (0..bits).rev().take_while(|at| x[0] >> at & 1 == 0).count() as u64,
        ("brev", "") => (0..bits).map(|at| (x[0] >> at & 1) << (bits - 1 - at)).sum(),
        ("bfind", words) => {
            let sign = u64::from(v(0) < 0);
            match (0..bits).rev().find(|at| x[0] >> at & 1 != sign) {
                None => 0xFFFF_FFFF,
                Some(at) => u64::from(if words == "shiftamt" { bits - 1 - at } else { at }),
            }
        }
        ("bfe", "") => {
            let (position, length) = (x[1] as u32 & 255, x[2] as u32 & 255);
            let bit = |at: u32| x[0] >> at & 1;
            let sign = if ty.is_signed && length > 0 { bit((position + length - 1).min(bits - 1)) } else { 0 };
            let of = |at| if at < length && position + at < bits { bit(position + at) } else { sign };
            (0..bits).map(|at| of(at) << at).sum()
        }
        ("bfi", "") => {
            let (position, length) = (x[2] as u32 & 255, x[3] as u32 & 255);
            let inside = |at: u32| at >= position && at < position + length;
            let of = |at: u32| if inside(at) { x[0] >> (at - position) & 1 } else { x[1] >> at & 1 };
            (0..bits).map(|at| of(at) << at).sum()
        }
        ("lop3", "") => {
            let bit = |at: u32| {
                let row = (x[0] >> at & 1) << 2 | (x[1] >> at & 1) << 1 | x[2] >> at & 1;
                x[3] >> row & 1
            };
            (0..32).map(|at| bit(at) << at).sum()
        }
        ("prmt", words) => permute(words, unsigned(0) | unsigned(1) << 32, x[2])?,
        _ => return None,
    })
}

/// The bytes that `prmt` selects of eight.
fn permute(mode: &str, pair: u64, c: u64) -> Option<u64> {
    let k = c & 3;
    let selectors: [u64; 4] = match mode {
        "" => [c, c >> 4, c >> 8, c >> 12],
        "f4e" => [k, k + 1, k + 2, k + 3],
        "b4e" => [k, k + 7, k + 6, k + 5].map(|at| at % 8),
        "rc8" => [k; 4],
        "ecl" => [0, 1, 2, 3].map(|at: u64| at.max(k)),
        "ecr" => [0, 1, 2, 3].map(|at: u64| at.min(k)),
        "rc16" => [0, 1, 0, 1].map(|at| at + 2 * (k & 1)),
        _ => return None,
    };
    let byte = |select: u64| {
        let byte = pair >> (8 * (select & 7)) & 255;
        if select & 8 == 0 { byte } else { 255 * (byte >> 7) }
    };
    Some(selectors.iter().enumerate().map(|(at, &select)| byte(select) << (8 * at)).sum())
}

fn compare(name: &str, ty: &Type, x: &[u64]) -> Option<bool> {
    let (a, b) = (ty.value(x[0]), ty.value(x[1]));
    Some(match name {
        "eq" => a == b,
        "ne" => a != b,
        "lt" | "lo" => a < b,
        "le" | "ls" => a <= b,
        "gt" | "hi" => a > b,
        "ge" | "hs" => a >= b,
        _ => return None,
    })
}

fn compare_doubles(name: &str, x: &[u64]) -> Option<bool> {
    let (a, b) = (f64::from_bits(x[0]), f64::from_bits(x[1]));
    let unordered = a.is_nan() || b.is_nan();
    Some(match name {
        "num" => !unordered,
        "nan" => unordered,
        "eq" => a == b,
        "ne" => !unordered && a != b,
        "lt" => a < b,
        "le" => a <= b,
        "gt" => a > b,
        "ge" => a >= b,
        "equ" => unordered || a == b,
        "neu" => a != b,
        "ltu" => unordered || a < b,
        "leu" => unordered || a <= b,
        "gtu" => unordered || a > b,
        "geu" => unordered || a >= b,
        _ => return None,
    })
}

fn doubles(opcode: &str, words: &str, x: &[u64]) -> Option<u64> {
    let v = |at: usize| f64::from_bits(x[at]);
    // A number wins over NaN, and -0 is below +0.
    let order =
        |a: f64, b: f64| a.partial_cmp(&b).filter(|order| order.is_ne()).map_or(a.is_sign_negative(), |o| o.is_lt());
    let value = match (opcode, words) {
        ("add", "rn") => v(0) + v(1),
        ("sub", "rn") => v(0) - v(1),
        ("mul", "rn") => v(0) * v(1),
        ("div", "rn") => v(0) / v(1),
        ("fma", "rn") => v(0).mul_add(v(1), v(2)),
        ("sqrt", "rn") => v(0).sqrt(),
        ("rcp", "rn") => 1.0 / v(0),
        ("neg", "") => f64::from_bits(x[0] ^ 1 << 63),
        ("abs", "") => f64::from_bits(x[0] & !(1 << 63)),
        ("copysign", "") => f64::from_bits(x[0] & 1 << 63 | x[1] & !(1 << 63)),
        ("min" | "max", "") if v(0).is_nan() => v(1),
        ("min" | "max", "") if v(1).is_nan() => v(0),
        ("min", "") => {
            if order(v(0), v(1)) {
                v(0)
            } else {
                v(1)
            }
        }
        ("max", "") => {
            if order(v(0), v(1)) {
                v(1)
            } else {
                v(0)
            }
        }
        _ => return None,
    };
    Some(value.to_bits())
}

/// The result of a form with the carry flag, and the flag after it.
pub(crate) fn carry(opcode: &str, words: &str, ty: &Type, x: &[u64], flag: bool) -> Option<(u64, bool)> {
    let (parts, writes) = words.strip_suffix("cc").map_or((words, false), |parts| (parts.trim_end_matches('.'), true));
    let flag_in = i128::from(flag && opcode.ends_with('c'));
    let unsigned = |at: usize| i128::from(x[at] & ty.mask());
    let product = || product(ty, x[0], x[1]);
    let low = |value: i128| value & i128::from(ty.mask());
    let sum = match (opcode, parts) {
        ("add" | "addc", "") => unsigned(0) + unsigned(1) + flag_in,
        ("sub" | "subc", "") => unsigned(0) - unsigned(1) - flag_in,
        ("mad" | "madc", "lo") => low(product()) + unsigned(2) + flag_in,
        ("mad" | "madc", "hi") => low(product() >> ty.bits) + unsigned(2) + flag_in,
        _ => return None,
    };
    let out = sum < 0 || sum > i128::from(ty.mask());
    Some((sum as u64 & ty.mask(), if writes { out } else { flag }))
}
