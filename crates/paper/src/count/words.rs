//! Sums, differences and schoolbook products on little-endian words.

use super::machine::Machine;

/// `x <- x + y`. Returns the carry out. Shape: `y` is at most as long as `x`.
pub(crate) fn add(m: &mut Machine, x: &mut [u64], y: &[u64]) -> u64 {
    let mut carry = 0;
    let (low, high) = x.split_at_mut(y.len());
    for (i, (x, &y)) in low.iter_mut().zip(y).enumerate() {
        let sum = m.daddu(*x, y);
        let over = m.sltu(sum, y);
        if i == 0 {
            (*x, carry) = (sum, over);
            continue;
        }
        *x = m.daddu(sum, carry);
        let over_again = m.sltu(*x, carry);
        carry = m.daddu(over, over_again);
    }
    for x in high {
        if carry == 0 {
            break;
        }
        *x = m.daddu(*x, carry);
        carry = m.sltu(*x, carry);
    }
    carry
}

/// `x <- x - y`. Returns the borrow out. Shape: `y` is at most as long as `x`.
pub(crate) fn sub(m: &mut Machine, x: &mut [u64], y: &[u64]) -> u64 {
    let mut borrow = 0;
    let (low, high) = x.split_at_mut(y.len());
    for (i, (x, &y)) in low.iter_mut().zip(y).enumerate() {
        let under = m.sltu(*x, y);
        let difference = m.dsubu(*x, y);
        if i == 0 {
            (*x, borrow) = (difference, under);
            continue;
        }
        let under_again = m.sltu(difference, borrow);
        *x = m.dsubu(difference, borrow);
        borrow = m.daddu(under, under_again);
    }
    for x in high {
        if borrow == 0 {
            break;
        }
        let under = m.sltu(*x, borrow);
        *x = m.dsubu(*x, borrow);
        borrow = under;
    }
    borrow
}

/// `row + carry <- row + a w`. Returns the carry out. Each word needs one `dmultu`. The first word has no carry in.
#[inline(always)]
pub(crate) fn add_mul_row(m: &mut Machine, row: &mut [u64], a: &[u64], w: u64) -> u64 {
    let mut carry = 0;
    for (i, (x, &a)) in row.iter_mut().zip(a).enumerate() {
        let product = m.dmultu(a, w);
        let (low, high) = (m.mflo(product), m.mfhi(product));
        if i == 0 {
            *x = m.daddu(*x, low);
            let over = m.sltu(*x, low);
            carry = m.daddu(high, over);
            continue;
        }
        let low = m.daddu(low, carry);
        let over = m.sltu(low, carry);
        let high = m.daddu(high, over);
        *x = m.daddu(*x, low);
        let over = m.sltu(*x, low);
        carry = m.daddu(high, over);
    }
    carry
}

/// `out <- a b`, row by row. Shape: the length of `out` is the sum of the lengths of `a` and `b`.
pub(crate) fn mul(m: &mut Machine, out: &mut [u64], a: &[u64], b: &[u64]) {
    out.fill(0);
    for (i, &w) in b.iter().enumerate() {
        let carry = add_mul_row(m, &mut out[i..i + a.len()], a, w);
        out[i + a.len()] = carry;
    }
}
