//! The tables of factors that `cuda/solinas/tile.h`, `rows.h` and `columns.h` describe.

use solinas_field::solinas::{P, inv, mul, naive, pow, root_of_unity};

/// A factor `w = w0 + w1 f` and `w f = u0 + u1 f`, `f = 2^32`: `[w0, w1, u0, u1]`.
pub type Twiddle = [i32; 4];

/// Two signed digits of an element.
fn digits(w: u64) -> [i32; 2] {
    let split = |w: i128| (w as i32, (w - i128::from(w as i32)) >> 32);
    let (low, high) = split(w.into());
    match i32::try_from(high) {
        Ok(high) => [low, high],
        Err(_) => {
            // Below p - 2^63, a high digit is at least -2^31.
            let (low, high) = split(i128::from(w) - i128::from(P));
            [low, high as i32]
        }
    }
}

/// The twiddle of a factor.
pub fn twiddle(w: u64) -> Twiddle {
    let ([w0, w1], [u0, u1]) = (digits(w), digits(mul(w, 1 << 32)));
    [w0, w1, u0, u1]
}

/// Direction of a transform. The table of an inverse one has an additional factor.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    Forward,
    Inverse(u64),
}

impl Direction {
    /// The factors `w^0 .. w^(n-1)`, `w` of order `n`, without the additional one.
    fn powers(self, n: usize) -> Vec<u64> {
        // The field has roots of the orders of all plans.
        let root = root_of_unity(n as u64).unwrap_or(1);
        let root = if matches!(self, Self::Forward) { root } else { inverse(root) };
        core::iter::successors(Some(1), |&w| Some(mul(w, root))).take(n).collect()
    }

    fn scale(self) -> u64 {
        if let Self::Inverse(scale) = self { scale } else { 1 }
    }
}

/// `1 / x` for x that is not 0.
pub(super) fn inverse(x: u64) -> u64 {
    inv(x).unwrap_or(0)
}

fn reversed(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

/// Bits of the first stage of a transform of `2^log` points.
fn first_bits(log: u32) -> u32 {
    if log.is_multiple_of(4) { 4 } else { log % 4 }
}

/// `inner` of a transform of `2^log` points.
pub(super) fn inner(log: u32, direction: Direction) -> Vec<Twiddle> {
    let (mut table, mut level, mut scale) = (Vec::new(), log, direction.scale());
    while level > 4 {
        let (bits, n) = (first_bits(level), 1usize << level);
        let (powers, radix, columns) = (direction.powers(n), 1usize << bits, n >> bits);
        let factor = |k: usize, i: usize| twiddle(mul(powers[reversed(k, bits) * i % n], scale));
        match direction {
            Direction::Forward => {
                for j in 0..16 {
                    let columns = columns / 16;
                    let row = |k| (0..columns).map(move |i| (k, j * columns + i));
                    table.extend((0..radix).flat_map(row).map(|(k, i)| factor(k, i)));
                }
            }
            Direction::Inverse(_) => {
                table.extend((0..radix).flat_map(|k| (0..columns).map(move |i| (k, i))).map(|(k, i)| factor(k, i)));
            }
        }
        (level, scale) = (level - bits, 1);
    }
    // A kernel gets some buffer even if it reads none.
    if table.is_empty() { vec![twiddle(1)] } else { table }
}

/// `outer` of a node of `2^log` points, whose columns have `2^bits` points.
pub(super) fn outer(log: u32, bits: u32, direction: Direction) -> Vec<Twiddle> {
    let powers = direction.powers(1 << log);
    let factor = |i: usize| {
        let (k, i) = (reversed(i >> (log - bits), bits), i & ((1 << (log - bits)) - 1));
        twiddle(mul(powers[k * i % powers.len()], direction.scale()))
    };
    (0..powers.len()).map(factor).collect()
}

/// `outer` below the root's pass of a transform of `odd 2^log` points.
pub(super) fn below_root(odd: usize, log: u32, direction: Direction) -> Vec<Twiddle> {
    let powers = direction.powers(odd << log);
    let factor = |i: usize| powers[(i >> log) * (i & ((1 << log) - 1)) % powers.len()];
    (0..powers.len()).map(|i| twiddle(mul(factor(i), direction.scale()))).collect()
}

/// The factors of Rader's convolution in a pass of `odd` points, or any table if there are none.
pub(super) fn rader(odd: usize) -> Vec<Twiddle> {
    if odd == 3 {
        return vec![twiddle(1)];
    }
    let (len, root) = (odd as u64 - 1, root_of_unity(odd as u64).unwrap_or(1));
    // 1/3 is 3^(odd - 2).
    let third = (0..odd - 2).fold(1, |power, _| 3 * power % odd as u64);
    let exponents = core::iter::successors(Some(1), |&e| Some(e * third % odd as u64)).take(odd - 1);
    let b: Vec<u64> = exponents.map(|e| mul(pow(root, e), inverse(len))).collect();
    let natural = naive::dft(&b, root_of_unity(len).unwrap_or(1), 0, 1);
    (0..odd - 1).map(|i| twiddle(natural[reversed(i, len.trailing_zeros())])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twiddle_is_its_factor_in_signed_digits() {
        let value = |[low, high]: [i32; 2]| (i128::from(low) + (i128::from(high) << 32)).rem_euclid(P.into()) as u64;
        let ends = [1 << 31, (1 << 31) - 1, 1 << 32, 1 << 63, (1 << 63) - 1, (1 << 63) + (1 << 31)];
        for w in [0, 1, 2, P - 1, P / 2].into_iter().chain(ends) {
            let [w0, w1, u0, u1] = twiddle(w);
            assert_eq!((value([w0, w1]), value([u0, u1])), (w, mul(w, 1 << 32)), "{w:#x}");
        }
    }
}
