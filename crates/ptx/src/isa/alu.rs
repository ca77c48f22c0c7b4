//! Arithmetic on registers: one function for each operation and type, over all lanes of a group.
//!
//! A register lane is a `u64` that holds its value without sign: the bits above the width of the register are 0.

use crate::syntax::Type;

pub(crate) type F1 = fn(&mut [u64], &[u64]);
pub(crate) type F2 = fn(&mut [u64], &[u64], &[u64]);
pub(crate) type F3 = fn(&mut [u64], &[u64], &[u64], &[u64]);
pub(crate) type F4 = fn(&mut [u64], &[u64], &[u64], &[u64], &[u64]);
/// Result, carry flag (read and written), and three operands.
pub(crate) type Carry = fn(&mut [u64], &mut [u64], &[u64], &[u64], &[u64]);

/// A value that a lane holds.
pub(super) trait Word: Copy {
    fn of(lane: u64) -> Self;
    fn lane(self) -> u64;
}

macro_rules! words {
    ($($t:ty, $unsigned:ty;)*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn of(lane: u64) -> Self { lane as Self }
            #[inline(always)]
            fn lane(self) -> u64 { self as $unsigned as u64 }
        }
    )*};
}
words! { u8, u8; i8, u8; u16, u16; i16, u16; u32, u32; i32, u32; u64, u64; i64, u64; }

impl Word for bool {
    #[inline(always)]
    fn of(lane: u64) -> Self {
        lane != 0
    }
    #[inline(always)]
    fn lane(self) -> u64 {
        u64::from(self)
    }
}

impl Word for f64 {
    #[inline(always)]
    fn of(lane: u64) -> Self {
        Self::from_bits(lane)
    }
    #[inline(always)]
    fn lane(self) -> u64 {
        self.to_bits()
    }
}

/// A function over lanes from a function over values of type `$t`.
macro_rules! over {
    ($t:ty, |$a:ident| $e:expr) => {{
        let f: F1 = |d, a| {
            let a = &a[..d.len()];
            for (d, a) in d.iter_mut().zip(a) {
                let $a = <$t as Word>::of(*a);
                *d = Word::lane($e);
            }
        };
        f
    }};
    ($t:ty, |$a:ident, $b:ident| $e:expr) => {{
        let f: F2 = |d, a, b| {
            let (a, b) = (&a[..d.len()], &b[..d.len()]);
            for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
                let ($a, $b) = (<$t as Word>::of(*a), <$t as Word>::of(*b));
                *d = Word::lane($e);
            }
        };
        f
    }};
    ($t:ty, |$a:ident, $b:ident, $c:ident| $e:expr) => {{
        let f: F3 = |d, a, b, c| {
            let (a, b, c) = (&a[..d.len()], &b[..d.len()], &c[..d.len()]);
            for (((d, a), b), c) in d.iter_mut().zip(a).zip(b).zip(c) {
                let ($a, $b, $c) = (<$t as Word>::of(*a), <$t as Word>::of(*b), *c);
                *d = Word::lane($e);
            }
        };
        f
    }};
    ($t:ty, |$a:ident, $b:ident, $c:ident, $x:ident| $e:expr) => {{
        let f: F4 = |d, a, b, c, x| {
            let (a, b, c, x) = (&a[..d.len()], &b[..d.len()], &c[..d.len()], &x[..d.len()]);
            for ((((d, a), b), c), x) in d.iter_mut().zip(a).zip(b).zip(c).zip(x) {
                let ($a, $b, $c, $x) = (<$t as Word>::of(*a), <$t as Word>::of(*b), *c, *x);
                *d = Word::lane($e);
            }
        };
        f
    }};
}

/// An expression for each type of integers, or for each type in a list; `None` for other types.
macro_rules! of_type {
    ($ty:expr, [$($variant:pat => $t:ty),*], $T:ident, $e:expr) => {
        match $ty {
            $($variant => { type $T = $t; Some($e) })*
            _ => None,
        }
    };
    ($ty:expr, width, $T:ident, $e:expr) => {
        of_type!($ty, [
            Type::U16 | Type::S16 | Type::B16 => u16,
            Type::U32 | Type::S32 | Type::B32 => u32,
            Type::U64 | Type::S64 | Type::B64 => u64
        ], $T, $e)
    };
    ($ty:expr, number, $T:ident, $e:expr) => {
        of_type!($ty, [
            Type::U16 => u16, Type::S16 => i16, Type::U32 => u32, Type::S32 => i32, Type::U64 => u64, Type::S64 => i64
        ], $T, $e)
    };
    ($ty:expr, logic, $T:ident, $e:expr) => {
        of_type!($ty, [Type::Pred => bool, Type::B16 => u16, Type::B32 => u32, Type::B64 => u64], $T, $e)
    };
    ($ty:expr, bits, $T:ident, $e:expr) => {
        of_type!($ty, [Type::B32 => u32, Type::B64 => u64], $T, $e)
    };
    ($ty:expr, long_width, $T:ident, $e:expr) => {
        of_type!($ty, [Type::U32 | Type::S32 | Type::B32 => u32, Type::U64 | Type::S64 | Type::B64 => u64], $T, $e)
    };
    ($ty:expr, long, $T:ident, $e:expr) => {
        of_type!($ty, [Type::U32 => u32, Type::S32 => i32, Type::U64 => u64, Type::S64 => i64], $T, $e)
    };
}
pub(super) use {of_type, over};

/// Operations of one operand.
pub(super) fn unary(name: &str, ty: Type) -> Option<F1> {
    match (name, ty) {
        ("neg", Type::F64) => Some(over!(f64, |a| -a)),
        ("abs", Type::F64) => Some(over!(f64, |a| a.abs())),
        ("neg", _) => {
            of_type!(ty, [Type::S16 => i16, Type::S32 => i32, Type::S64 => i64], T, over!(T, |a| a.wrapping_neg()))
        }
        ("abs", _) => {
            of_type!(ty, [Type::S16 => i16, Type::S32 => i32, Type::S64 => i64], T, over!(T, |a| a.wrapping_abs()))
        }
        ("not", _) => of_type!(ty, logic, T, over!(T, |a| !a)),
        ("brev", _) => of_type!(ty, bits, T, over!(T, |a| a.reverse_bits())),
        ("popc", _) => of_type!(ty, bits, T, over!(T, |a| a.count_ones())),
        ("clz", _) => of_type!(ty, bits, T, over!(T, |a| a.leading_zeros())),
        ("bfind", _) => of_type!(ty, long, T, over!(T, |a| find_bit(a.into(), T::BITS, false))),
        ("bfind.shiftamt", _) => of_type!(ty, long, T, over!(T, |a| find_bit(a.into(), T::BITS, true))),
        ("mov", _) => Some(|d, a| d.copy_from_slice(&a[..d.len()])),
        ("high", Type::B64) => Some(over!(u64, |a| a >> 32)),
        ("low", Type::B64) => Some(over!(u64, |a| a as u32)),
        ("sqrt", Type::F64) => Some(over!(f64, |a| a.sqrt())),
        ("rcp", Type::F64) => Some(over!(f64, |a| 1.0 / a)),
        _ => None,
    }
}

/// The position of the highest bit that differs from the sign, or of its distance from the top; -1 if there is none.
fn find_bit(value: i128, bits: u32, from_top: bool) -> u32 {
    let magnitude = (if value < 0 { !value } else { value }) as u64;
    match magnitude.checked_ilog2() {
        None => u32::MAX,
        Some(position) if from_top => bits - 1 - position,
        Some(position) => position,
    }
}

/// Operations of two operands of one type.
pub(super) fn binary(name: &str, ty: Type) -> Option<F2> {
    if ty == Type::F64 {
        return match name {
            "add" => Some(over!(f64, |a, b| a + b)),
            "sub" => Some(over!(f64, |a, b| a - b)),
            "mul" => Some(over!(f64, |a, b| a * b)),
            "div" => Some(over!(f64, |a, b| a / b)),
            "min" => Some(over!(f64, |a, b| least(a, b))),
            "max" => Some(over!(f64, |a, b| if a.is_nan() || b.is_nan() { least(a, b) } else { -least(-a, -b) })),
            "copysign" => Some(over!(f64, |a, b| b.copysign(a))),
            _ => None,
        };
    }
    match name {
        "join" => Some(over!(u64, |a, b| a | b << 32)),
        "add" => of_type!(ty, width, T, over!(T, |a, b| a.wrapping_add(b))),
        "sub" => of_type!(ty, width, T, over!(T, |a, b| a.wrapping_sub(b))),
        "mul.lo" => of_type!(ty, width, T, over!(T, |a, b| a.wrapping_mul(b))),
        "mul.hi" => of_type!(ty, number, T, over!(T, |a, b| high(a.into(), b.into(), T::BITS) as T)),
        "mul.wide" => match ty {
            Type::U16 => Some(over!(u16, |a, b| u32::from(a) * u32::from(b))),
            Type::S16 => Some(over!(i16, |a, b| i32::from(a) * i32::from(b))),
            Type::U32 => Some(over!(u32, |a, b| u64::from(a) * u64::from(b))),
            Type::S32 => Some(over!(i32, |a, b| i64::from(a) * i64::from(b))),
            _ => None,
        },
        // A divisor of 0 is a fault in the lanes that take part.
        "div" => of_type!(ty, number, T, over!(T, |a, b| if b == 0 { 0 } else { a.wrapping_div(b) })),
        "rem" => of_type!(ty, number, T, over!(T, |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) })),
        "min" => of_type!(ty, number, T, over!(T, |a, b| a.min(b))),
        "max" => of_type!(ty, number, T, over!(T, |a, b| a.max(b))),
        "and" => of_type!(ty, logic, T, over!(T, |a, b| a & b)),
        "or" => of_type!(ty, logic, T, over!(T, |a, b| a | b)),
        "xor" => of_type!(ty, logic, T, over!(T, |a, b| a ^ b)),
        _ => None,
    }
}

/// The high half of a product.
#[inline(always)]
fn high(a: i128, b: i128, bits: u32) -> i128 {
    // The product of two 64-bit numbers without sign fits after the wrap: its bits are those of the true product.
    a.wrapping_mul(b) >> bits
}

/// The smaller one. A number is smaller than NaN, and -0 is smaller than +0.
#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        return if b.is_nan() { f64::NAN } else { b };
    }
    if b.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b }
}

/// Shifts: the amount is a `u32`, and one of the width or more shifts everything out.
pub(super) fn shift(name: &str, ty: Type) -> Option<F2> {
    macro_rules! by {
        ($t:ty, |$a:ident, $n:ident| $e:expr) => {{
            let f: F2 = |d, a, n| {
                let (a, n) = (&a[..d.len()], &n[..d.len()]);
                for ((d, a), n) in d.iter_mut().zip(a).zip(n) {
                    let ($a, $n) = (<$t as Word>::of(*a), *n as u32);
                    *d = Word::lane($e);
                }
            };
            f
        }};
    }
    match name {
        "shl" => {
            of_type!(ty, [Type::B16 => u16, Type::B32 => u32, Type::B64 => u64], T, by!(T, |a, n| if n < T::BITS { a << n } else { 0 }))
        }
        _ if ty.is_signed() => of_type!(
            ty, [Type::S16 => i16, Type::S32 => i32, Type::S64 => i64], T,
            by!(T, |a, n| a >> n.min(T::BITS - 1))
        ),
        _ => of_type!(ty, width, T, by!(T, |a, n| if n < T::BITS { a >> n } else { 0 })),
    }
}

/// Operations of three operands. The third is not converted.
pub(super) fn ternary(name: &str, ty: Type) -> Option<F3> {
    match name {
        "mad.lo" => of_type!(ty, width, T, over!(T, |a, b, c| a.wrapping_mul(b).wrapping_add(c as T))),
        "mad.hi" => {
            of_type!(ty, number, T, over!(T, |a, b, c| (high(a.into(), b.into(), T::BITS) as T).wrapping_add(c as T)))
        }
        "mad.wide" => match ty {
            Type::U16 => Some(over!(u16, |a, b, c| (u32::from(a) * u32::from(b)).wrapping_add(c as u32))),
            Type::S16 => Some(over!(i16, |a, b, c| (i32::from(a) * i32::from(b)).wrapping_add(c as i32))),
            Type::U32 => Some(over!(u32, |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c))),
            Type::S32 => Some(over!(i32, |a, b, c| (i64::from(a) * i64::from(b)).wrapping_add(c as i64))),
            _ => None,
        },
        "fma" if ty == Type::F64 => Some(over!(f64, |a, b, c| a.mul_add(b, f64::from_bits(c)))),
        "selp" => Some(over!(u64, |a, b, c| if c != 0 { a } else { b })),
        "bfe" => of_type!(
            ty,
            long,
            T,
            over!(T, |a, b, c| extract(a.into(), T::BITS, T::MIN != 0, b as u32 & 255, c as u32 & 255))
        ),
        _ => None,
    }
}

/// `bfe`: the field of `length` bits at `position`, with zeros or copies of its sign above.
#[inline(always)]
fn extract(value: i128, bits: u32, signed: bool, position: u32, length: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let value = value as u64 & mask;
    if length == 0 {
        return 0;
    }
    let sign = signed && value >> (position + length - 1).min(bits - 1) & 1 == 1;
    let field = if position < bits { value >> position } else { 0 };
    // Bits of the field that exist in the operand.
    let real = length.min(bits.saturating_sub(position));
    let low = if real == 0 { 0 } else { u64::MAX >> (64 - real) };
    (field & low | if sign { !low } else { 0 }) & mask
}

/// `bfi`: the `length` low bits of the first operand at `position` of the second.
pub(super) fn insert(ty: Type) -> Option<F4> {
    of_type!(
        ty,
        bits,
        T,
        over!(T, |a, b, position, length| {
            let (position, length) = (position as u32 & 255, length as u32 & 255);
            if position >= T::BITS || length == 0 {
                b
            } else {
                let mask = (T::MAX >> (T::BITS - length.min(T::BITS))) << position;
                (a << position) & mask | b & !mask
            }
        })
    )
}

/// `lop3`: the fourth operand is the table of the function.
pub(super) fn lop3() -> F4 {
    over!(u32, |a, b, c, table| {
        let c = c as u32;
        let mut result = 0;
        for row in 0..8 {
            if table >> row & 1 == 1 {
                let pick = |word: u32, bit: u32| if row >> bit & 1 == 1 { word } else { !word };
                result |= pick(a, 2) & pick(b, 1) & pick(c, 0);
            }
        }
        result
    })
}

/// `shf`: a shift of 64 bits, of which one word is kept.
pub(super) fn funnel(left: bool, wrap: bool) -> F3 {
    match (left, wrap) {
        (true, true) => over!(u64, |a, b, c| ((b << 32 | a) << (c & 31) >> 32) as u32),
        (true, false) => over!(u64, |a, b, c| ((u128::from(b << 32 | a) << c.min(32)) >> 32) as u32),
        (false, true) => over!(u64, |a, b, c| ((b << 32 | a) >> (c & 31)) as u32),
        (false, false) => over!(u64, |a, b, c| ((b << 32 | a) >> c.min(32)) as u32),
    }
}

/// `prmt`: bytes of a pair of words. `None` for a mode that does not exist.
pub(super) fn permute(mode: Option<&str>) -> Option<F3> {
    /// Selectors of four bytes for each value of two bits, lowest byte in the lowest digit.
    macro_rules! table {
        ($table:expr) => {
            over!(u64, |a, b, c| pick(b << 32 | a, $table[(c & 3) as usize]))
        };
    }
    Some(match mode {
        None => over!(u64, |a, b, c| pick(b << 32 | a, c)),
        Some("f4e") => table!([0x3210, 0x4321, 0x5432, 0x6543]),
        Some("b4e") => table!([0x5670, 0x6701, 0x7012, 0x0123]),
        Some("rc8") => table!([0x0000, 0x1111, 0x2222, 0x3333]),
        Some("ecl") => table!([0x3210, 0x3211, 0x3222, 0x3333]),
        Some("ecr") => table!([0x0000, 0x1110, 0x2210, 0x3210]),
        Some("rc16") => table!([0x1010, 0x3232, 0x1010, 0x3232]),
        Some(_) => return None,
    })
}

/// Four bytes of eight. A digit of the selector is a byte's index; its bit 3 asks for copies of the byte's sign.
#[inline(always)]
fn pick(bytes: u64, selector: u64) -> u32 {
    let mut result = 0;
    for digit in 0..4 {
        let select = (selector >> (4 * digit)) as u32 & 15;
        let byte = (bytes >> (8 * (select & 7))) as u8;
        let byte = if select & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 };
        result |= u32::from(byte) << (8 * digit);
    }
    result
}

/// Whether two numbers differ. NaN is no number.
#[inline(always)]
fn differ(a: f64, b: f64) -> bool {
    matches!(a.partial_cmp(&b), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Greater))
}

/// A comparison. Numbers without sign may be named `lo`, `ls`, `hi`, `hs`; those of doubles with `u` hold for NaN too.
pub(super) fn compare(name: &str, ty: Type) -> Option<F2> {
    if ty == Type::F64 {
        return Some(match name {
            "eq" => over!(f64, |a, b| a == b),
            "ne" => over!(f64, |a, b| differ(a, b)),
            "lt" => over!(f64, |a, b| a < b),
            "le" => over!(f64, |a, b| a <= b),
            "gt" => over!(f64, |a, b| a > b),
            "ge" => over!(f64, |a, b| a >= b),
            "equ" => over!(f64, |a, b| !differ(a, b)),
            "neu" => over!(f64, |a, b| a != b),
            "ltu" => over!(f64, |a, b| !matches!(
                a.partial_cmp(&b),
                Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)
            )),
            "leu" => over!(f64, |a, b| a.partial_cmp(&b) != Some(std::cmp::Ordering::Greater)),
            "gtu" => over!(f64, |a, b| !matches!(
                a.partial_cmp(&b),
                Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
            )),
            "geu" => over!(f64, |a, b| a.partial_cmp(&b) != Some(std::cmp::Ordering::Less)),
            "num" => over!(f64, |a, b| !a.is_nan() && !b.is_nan()),
            "nan" => over!(f64, |a, b| a.is_nan() || b.is_nan()),
            _ => return None,
        });
    }
    let unsigned = matches!(ty, Type::U16 | Type::U32 | Type::U64);
    match name {
        "eq" => of_type!(ty, width, T, over!(T, |a, b| a == b)),
        "ne" => of_type!(ty, width, T, over!(T, |a, b| a != b)),
        "lt" => of_type!(ty, number, T, over!(T, |a, b| a < b)),
        "le" => of_type!(ty, number, T, over!(T, |a, b| a <= b)),
        "gt" => of_type!(ty, number, T, over!(T, |a, b| a > b)),
        "ge" => of_type!(ty, number, T, over!(T, |a, b| a >= b)),
        "lo" if unsigned => compare("lt", ty),
        "ls" if unsigned => compare("le", ty),
        "hi" if unsigned => compare("gt", ty),
        "hs" if unsigned => compare("ge", ty),
        _ => None,
    }
}

/// `add.cc`, `sub.cc`, `mad.cc` and the forms that read the flag.
///
/// `reads` and `writes` say what the instruction does with the flag. A difference sets it if it borrows.
pub(super) fn carry(name: &str, ty: Type, reads: bool, writes: bool) -> Option<Carry> {
    macro_rules! forms {
        ($t:ty, |$a:ident, $b:ident, $c:ident, $f:ident| $e:expr) => {{
            macro_rules! form {
                ($reads:expr, $writes:expr) => {{
                    let f: Carry = |d, flag, a, b, c| {
                        let n = d.len();
                        let (flag, a, b, c) = (&mut flag[..n], &a[..n], &b[..n], &c[..n]);
                        for i in 0..n {
                            let ($a, $b, $c) = (<$t>::of(a[i]), <$t>::of(b[i]), <$t>::of(c[i]));
                            let $f = $reads && flag[i] != 0;
                            let (value, out): ($t, bool) = $e;
                            d[i] = value.lane();
                            if $writes {
                                flag[i] = out.lane();
                            }
                        }
                    };
                    f
                }};
            }
            match (reads, writes) {
                (true, true) => form!(true, true),
                (true, false) => form!(true, false),
                (false, _) => form!(false, true),
            }
        }};
    }
    match name {
        "add" => of_type!(ty, long_width, T, forms!(T, |a, b, _c, f| a.carrying(b, f))),
        "sub" => of_type!(ty, long_width, T, forms!(T, |a, b, _c, f| a.borrowing(b, f))),
        "mad.lo" => of_type!(ty, long_width, T, forms!(T, |a, b, c, f| a.wrapping_mul(b).carrying(c, f))),
        "mad.hi" => {
            of_type!(ty, long, T, forms!(T, |a, b, c, f| (high(a.into(), b.into(), T::BITS) as T).carrying(c, f)))
        }
        _ => None,
    }
}

/// Sums and differences with a carry.
trait Carrying: Sized {
    fn carrying(self, b: Self, carry: bool) -> (Self, bool);
    fn borrowing(self, b: Self, borrow: bool) -> (Self, bool);
}

macro_rules! carrying {
    ($($t:ty, $unsigned:ty;)*) => {$(
        impl Carrying for $t {
            #[inline(always)]
            fn carrying(self, b: Self, carry: bool) -> (Self, bool) {
                let (sum, first) = (self as $unsigned).overflowing_add(b as $unsigned);
                let (sum, second) = sum.overflowing_add(carry as $unsigned);
                (sum as $t, first | second)
            }
            #[inline(always)]
            fn borrowing(self, b: Self, borrow: bool) -> (Self, bool) {
                let (difference, first) = (self as $unsigned).overflowing_sub(b as $unsigned);
                let (difference, second) = difference.overflowing_sub(borrow as $unsigned);
                (difference as $t, first | second)
            }
        }
    )*};
}
carrying! { u32, u32; i32, u32; u64, u64; i64, u64; }
