//! Butterflies on complex numbers in lanes: one or two levels of the tree at once.

use super::tile::TILE;
use crate::simd::F64Lanes;

/// A complex number in each lane.
pub(crate) struct C<V>(pub(crate) V, pub(crate) V);
impl<V: Copy> Clone for C<V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<V: Copy> Copy for C<V> {}

#[inline(always)]
pub(crate) fn add<L: F64Lanes>(l: L, a: C<L::V>, b: C<L::V>) -> C<L::V> {
    C(l.add(a.0, b.0), l.add(a.1, b.1))
}
#[inline(always)]
pub(crate) fn sub<L: F64Lanes>(l: L, a: C<L::V>, b: C<L::V>) -> C<L::V> {
    C(l.sub(a.0, b.0), l.sub(a.1, b.1))
}
/// `a + i b`.
#[inline(always)]
pub(crate) fn add_i<L: F64Lanes>(l: L, a: C<L::V>, b: C<L::V>) -> C<L::V> {
    C(l.sub(a.0, b.1), l.add(a.1, b.0))
}
/// `a - i b`.
#[inline(always)]
pub(crate) fn sub_i<L: F64Lanes>(l: L, a: C<L::V>, b: C<L::V>) -> C<L::V> {
    C(l.add(a.0, b.1), l.sub(a.1, b.0))
}
/// `a w`.
#[inline(always)]
pub(crate) fn mul<L: F64Lanes>(l: L, a: C<L::V>, w: C<L::V>) -> C<L::V> {
    C(l.mul_sub(a.0, w.0, l.mul(a.1, w.1)), l.mul_add(a.0, w.1, l.mul(a.1, w.0)))
}
/// `a conj(w)`.
#[inline(always)]
pub(crate) fn mul_conj<L: F64Lanes>(l: L, a: C<L::V>, w: C<L::V>) -> C<L::V> {
    C(l.mul_add(a.0, w.0, l.mul(a.1, w.1)), l.mul_sub(a.1, w.0, l.mul(a.0, w.1)))
}

/// Applies two levels of the tree. `v` holds the four quarters of a residue; the result holds its residues at the four
/// grandchildren.
#[inline(always)]
pub(crate) fn split4<L: F64Lanes>(l: L, v: [C<L::V>; 4], w: [C<L::V>; 3]) -> [C<L::V>; 4] {
    let (b, c, d) = (mul(l, v[1], w[0]), mul(l, v[2], w[1]), mul(l, v[3], w[2]));
    let (p, q) = (add(l, v[0], c), sub(l, v[0], c));
    let (r, s) = (add(l, b, d), sub(l, b, d));
    [add(l, p, r), sub(l, p, r), add_i(l, q, s), sub_i(l, q, s)]
}

/// Inverse of [`split4`], times 4.
#[inline(always)]
pub(crate) fn join4<L: F64Lanes>(l: L, v: [C<L::V>; 4], w: [C<L::V>; 3]) -> [C<L::V>; 4] {
    let (p, r) = (add(l, v[0], v[1]), sub(l, v[0], v[1]));
    let (q, is) = (add(l, v[2], v[3]), sub(l, v[2], v[3]));
    let (b, d) = (sub_i(l, r, is), add_i(l, r, is));
    [add(l, p, q), mul_conj(l, b, w[0]), mul_conj(l, sub(l, p, q), w[1]), mul_conj(l, d, w[2])]
}

#[inline(always)]
pub(crate) fn split2<L: F64Lanes>(l: L, u: C<L::V>, v: C<L::V>, w: C<L::V>) -> [C<L::V>; 2] {
    let v = mul(l, v, w);
    [add(l, u, v), sub(l, u, v)]
}

/// Inverse of [`split2`], times 2.
#[inline(always)]
pub(crate) fn join2<L: F64Lanes>(l: L, u: C<L::V>, v: C<L::V>, w: C<L::V>) -> [C<L::V>; 2] {
    [add(l, u, v), mul_conj(l, sub(l, u, v), w)]
}

/// Transposes a square of `WIDTH` registers.
#[inline(always)]
pub(crate) fn transpose<L: F64Lanes>(l: L, v: &mut [C<L::V>]) {
    let zero = l.splat(0.0);
    let (mut re, mut im) = ([zero; TILE], [zero; TILE]);
    for (i, v) in v.iter().enumerate() {
        (re[i], im[i]) = (v.0, v.1);
    }
    l.transpose(&mut re[..L::WIDTH]);
    l.transpose(&mut im[..L::WIDTH]);
    for (i, v) in v.iter_mut().enumerate() {
        *v = C(re[i], im[i]);
    }
}
