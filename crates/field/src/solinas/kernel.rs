//! The passes of the transforms, written once over [`Lanes`].
//!
//! A column of a node is the set of its coefficients at one place of each block. A pass works on columns, `WIDTH` neighbours at a time.

use super::element::reduce_u128;
use super::lanes::Lanes;
use super::tables::{Pass, Tables};
use crate::Backend;
use crate::simd::dispatch;

/// Transform of `R` points, `X[k] = sum_j x[j] w^(j k)`, `w` the root of unity of order `R` in {2, 3, 4, 5, 8, 16, 17}. Order: `x` natural, `X` bit-reversed for powers of two, else natural.
/// Range: `|x0|, |x1| <= 2^33` in, below `2^60` out, without what was added to input 0, which every output contains once.
///
/// # Safety
/// `kernel` points to the factors of [`rader`] if `R` is 5 or 17.
#[inline(always)]
unsafe fn dft<L: Lanes, const R: usize>(l: L, x: [L::X; R], kernel: *const u64) -> [L::X; R] {
    let mut out = x;
    match R {
        2 => {
            out[0] = l.add(x[0], x[1]);
            out[1] = l.sub(x[0], x[1]);
        }
        3 => {
            // The root is f^2 and its square -f.
            let (p, q) = (l.phi2(x[1]), l.phi(x[2]));
            out[0] = l.add(l.add(x[0], x[1]), x[2]);
            out[1] = l.sub(l.add(x[0], p), q);
            out[2] = l.sub(l.add(x[0], l.phi2(x[2])), l.phi(x[1]));
        }
        4 => {
            let four = dft4(l, [x[0], x[1], x[2], x[3]]);
            out.copy_from_slice(&four);
        }
        8 => {
            let eight = dft8(l, [x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]]);
            out.copy_from_slice(&eight);
        }
        16 => {
            let mut sums = [x[0]; 8];
            let mut differences = [x[0]; 8];
            for j in 0..8 {
                sums[j] = l.add(x[j], x[j + 8]);
                differences[j] = l.sub(x[j], x[j + 8]);
            }
            // Times 2^(12 j): 2^12, 2^24, f 2^4, f 2^16, f 2^28, f^2 2^8, f^2 2^20.
            differences[1] = l.twist::<12, 0>(differences[1]);
            differences[2] = l.twist::<24, 0>(differences[2]);
            differences[3] = l.twist::<4, 1>(differences[3]);
            differences[4] = l.twist::<16, 1>(differences[4]);
            differences[5] = l.twist::<28, 1>(differences[5]);
            differences[6] = l.twist::<8, 2>(differences[6]);
            differences[7] = l.twist::<20, 2>(differences[7]);
            out[..8].copy_from_slice(&dft8(l, sums));
            out[8..].copy_from_slice(&dft8(l, differences));
        }
        // SAFETY: the caller's contract.
        5 => unsafe { rader::<L, 4>(l, &x, &mut out, kernel) },
        // SAFETY: the caller's contract.
        17 => unsafe { rader::<L, 16>(l, &x, &mut out, kernel) },
        _ => debug_assert!(false, "no transform of {R} points"),
    }
    out
}

/// The transform of a prime number `N + 1` of points, one that has the generator 3, by Rader's cyclic convolution: with `a[q] = x[3^q]` and `b[q] = w^(3^-q)`, output
/// `3^-p` is `x[0] + (a * b)[p]`. The factors are the transform of `b`, divided by `N`, in the order of [`dft`].
///
/// # Safety
/// `kernel` points to `N` twiddles.
#[inline(always)]
unsafe fn rader<L: Lanes, const N: usize>(l: L, x: &[L::X], out: &mut [L::X], kernel: *const u64) {
    let mut a = [x[0]; N];
    let mut power = 1;
    for (q, a) in a.iter_mut().enumerate() {
        *a = if q == 0 { l.lift_packed(x[power]) } else { x[power] };
        power = 3 * power % (N + 1);
    }
    // SAFETY: no factors are read, as N is a power of two; the kernel is the caller's.
    unsafe {
        let mut spectrum = dft::<L, N>(l, a, core::ptr::null());
        for (i, s) in spectrum.iter_mut().enumerate() {
            let v = l.pack(*s);
            *s = l.mul(v, l.broadcast(kernel.add(2 * i)));
            if i == 0 {
                out[0] = l.add(x[0], l.unpack(v));
                *s = l.add(x[0], *s);
            }
        }
        // The powers of 1/3 are those of 3 backwards.
        let convolution = inverse_dft::<L, N>(l, spectrum, core::ptr::null());
        for p in 0..N {
            power = 3 * power % (N + 1);
            out[power] = convolution[(N - 1 - p) % N];
        }
    }
}

/// [`dft`] of 8 points. Range: `2^34` in magnitude in, below `2^60` out.
#[inline(always)]
fn dft8<L: Lanes>(l: L, x: [L::X; 8]) -> [L::X; 8] {
    let mut out = x;
    let (even, u) = butterflies(l, [x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]]);
    out[..4].copy_from_slice(&dft4(l, even));
    // The root is 2^24 and its square i = 2^48 = f 2^16. The odd outputs are u0 +- i u2 and, of 2^24 u1, 2^72 u3 = f^2 2^8 u3, ...,
    // sums with no factor applied after another, which keeps the shifts below 24.
    let iu2 = times_i(l, u[2]);
    let (e, f) = (l.add(u[0], iu2), l.sub(u[0], iu2));
    let p = l.add(l.shl::<24>(u[1]), l.phi2(l.shl::<8>(u[3])));
    let q = l.add(l.phi2(l.shl::<8>(u[1])), l.shl::<24>(u[3]));
    out[4] = l.add(e, p);
    out[5] = l.sub(e, p);
    out[6] = l.add(f, q);
    out[7] = l.sub(f, q);
    out
}

/// `x 2^48`.
#[inline(always)]
fn times_i<L: Lanes>(l: L, x: L::X) -> L::X {
    l.phi(l.shl::<16>(x))
}

#[inline(always)]
fn butterflies<L: Lanes>(l: L, a: [L::X; 4], b: [L::X; 4]) -> ([L::X; 4], [L::X; 4]) {
    let mut sums = a;
    let mut differences = a;
    for j in 0..4 {
        sums[j] = l.add(a[j], b[j]);
        differences[j] = l.sub(a[j], b[j]);
    }
    (sums, differences)
}

#[inline(always)]
fn dft4<L: Lanes>(l: L, x: [L::X; 4]) -> [L::X; 4] {
    let (s0, d0) = (l.add(x[0], x[2]), l.sub(x[0], x[2]));
    let (s1, d1) = (l.add(x[1], x[3]), times_i(l, l.sub(x[1], x[3])));
    [l.add(s0, s1), l.sub(s0, s1), l.add(d0, d1), l.sub(d0, d1)]
}

/// The inverse of [`dft`] times `R`: the transform of the inputs at negated places. Order: `x` as the outputs of [`dft`], out natural.
///
/// # Safety
/// As [`dft`].
#[inline(always)]
unsafe fn inverse_dft<L: Lanes, const R: usize>(l: L, x: [L::X; R], kernel: *const u64) -> [L::X; R] {
    /// Entries of `$x` at these places; spelt out, so that they stay in registers.
    macro_rules! pick {
        ($out:ident = $x:ident[$($place:literal),*]) => { $out.copy_from_slice(&[$($x[$place]),*]) };
    }
    // The places of the inputs at negated indices, and of the outputs.
    let mut negated = x;
    match R {
        4 => pick!(negated = x[0, 3, 1, 2]),
        8 => pick!(negated = x[0, 7, 3, 5, 1, 6, 2, 4]),
        16 => pick!(negated = x[0, 15, 7, 11, 3, 13, 5, 9, 1, 14, 6, 10, 2, 12, 4, 8]),
        _ => {
            for k in 1..R {
                negated[k] = x[R - k];
            }
        }
    }
    // SAFETY: the caller's contract.
    let y = unsafe { dft::<L, R>(l, negated, kernel) };
    let mut out = y;
    match R {
        4 => pick!(out = y[0, 2, 1, 3]),
        8 => pick!(out = y[0, 4, 2, 6, 1, 5, 3, 7]),
        16 => pick!(out = y[0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]),
        _ => {}
    }
    out
}

/// Where a pass reads and writes, and what it multiplies by.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// First coefficient.
    pub(super) data: *mut u64,
    /// Coefficients in a block: the length over the radix.
    pub(super) stride: usize,
    /// The columns to do, multiples of the width.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The node's factors.
    pub(super) factors: *const u64,
    /// The factors of a transform of 5 or 17 points, see [`rader`].
    pub(super) kernel: *const u64,
}

/// One forward pass over columns of a node: canonical input if `FIRST`, else packed, the upper half taken for zeros if `HALF`; multiplied by the factors if
/// `TWIDDLED`; packed output.
///
/// # Safety
/// The node's data and `R - 1` twiddles are there; the columns are multiples of the width within the stride.
#[inline(always)]
unsafe fn forward_pass<L: Lanes, const R: usize, const FIRST: bool, const HALF: bool, const TWIDDLED: bool>(
    l: L,
    node: Node,
) {
    let mut t = node.from;
    while t < node.to {
        // SAFETY: the caller's contract.
        unsafe {
            let at = node.data.add(t);
            let first = l.load(at);
            let first = if FIRST { l.widen(first) } else { l.unpack(first) };
            let mut x = [l.lift_packed(first); R];
            for j in 1..R {
                if HALF && 2 * j >= R {
                    x[j] = l.zero();
                    continue;
                }
                let v = l.load(at.add(j * node.stride));
                x[j] = if TWIDDLED {
                    let v = if FIRST { l.encode(v) } else { v };
                    l.mul(v, l.broadcast(node.factors.add(2 * (j - 1))))
                } else if FIRST {
                    l.widen(v)
                } else {
                    l.unpack(v)
                };
            }
            for (k, x) in dft::<L, R>(l, x, node.kernel).into_iter().enumerate() {
                l.store(at.add(k * node.stride), l.pack(x));
            }
        }
        t += L::WIDTH;
    }
}

/// The factors that the children of a node owe to an inverse pass.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owed {
    /// None: the children are values.
    Nothing,
    /// For each child `radix - 1` twiddles, one for each of its blocks but the first.
    Blocks { factors: *const u64, radix: usize },
    /// For each child eight first and eight second words: its coefficients are eight.
    Lanes(*const u64),
}

/// One inverse pass over columns of a node, packed (or canonical, if nothing is owed) to packed, or to canonical if `TOP`.
///
/// # Safety
/// As [`forward_pass`], with `R` times the factors of a child.
#[inline(always)]
unsafe fn inverse_pass<L: Lanes, const R: usize, const TOP: bool>(l: L, node: Node, owed: Owed) {
    let mut t = node.from;
    while t < node.to {
        // SAFETY: the caller's contract.
        unsafe {
            match owed {
                // Only short transforms, on one lane, have no blocks of 64 below.
                Owed::Nothing if L::WIDTH == 1 => {
                    inverse_column::<L, R, TOP, WORDS>(l, node, t, core::ptr::null(), 0);
                    t += L::WIDTH;
                }
                // Blocks of 64 are two passes of radix 8.
                Owed::Lanes(factors) if R == 8 => {
                    inverse_column::<L, R, TOP, VECTOR>(l, node, t, factors.add(t), 16);
                    t += L::WIDTH;
                }
                // The block of a column is found anew for each, so that the factors are read where they are used: held in registers, they would not fit.
                Owed::Blocks { factors, radix } => {
                    let j = t >> (node.stride / radix).trailing_zeros();
                    if j == 0 {
                        inverse_column::<L, R, TOP, UNPACK>(l, node, t, factors, 0);
                    } else {
                        let factors = factors.add(2 * (j - 1));
                        inverse_column::<L, R, TOP, BROADCAST>(l, node, t, factors, 2 * (radix - 1));
                    }
                    t += L::WIDTH;
                }
                _ => {
                    debug_assert!(false, "radix {R} above {owed:?}");
                    return;
                }
            }
        }
    }
}

/// How a column's inputs become wide: by kind, with the factors for child 0 and the words from one child's to the next's.
const WORDS: u8 = 0;
const UNPACK: u8 = 1;
const BROADCAST: u8 = 2;
const VECTOR: u8 = 3;

#[inline(always)]
unsafe fn owed_input<L: Lanes, const KIND: u8>(l: L, v: L::V, factors: *const u64) -> L::X {
    // SAFETY: the caller's contract.
    unsafe {
        match KIND {
            WORDS => l.widen(v),
            UNPACK => l.unpack(v),
            BROADCAST => l.mul(v, l.broadcast(factors)),
            _ => l.mul(v, l.twiddles(factors)),
        }
    }
}

/// One register of columns of an inverse pass; child `k`'s factors are at `factors + k step`.
///
/// # Safety
/// As [`inverse_pass`].
#[inline(always)]
unsafe fn inverse_column<L: Lanes, const R: usize, const TOP: bool, const KIND: u8>(
    l: L,
    node: Node,
    t: usize,
    factors: *const u64,
    step: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        let at = node.data.add(t);
        let first = owed_input::<L, KIND>(l, l.load(at), factors);
        let mut x = [if TOP { l.lift_canonical(first) } else { l.lift_packed(first) }; R];
        for k in 1..R {
            x[k] = owed_input::<L, KIND>(l, l.load(at.add(k * node.stride)), factors.wrapping_add(k * step));
        }
        for (j, x) in inverse_dft::<L, R>(l, x, node.kernel).into_iter().enumerate() {
            l.store(at.add(j * node.stride), if TOP { l.canonical(x) } else { l.pack(x) });
        }
    }
}

/// Columns of a node times its factors, which the first block has not: any words to canonical ones.
///
/// # Safety
/// As [`forward_pass`], for radix `radix`.
#[inline(always)]
unsafe fn multiply_columns<L: Lanes>(l: L, radix: usize, node: Node) {
    for j in 1..radix {
        let mut t = node.from;
        while t < node.to {
            // SAFETY: the caller's contract.
            unsafe {
                let at = node.data.add(j * node.stride + t);
                let x = l.mul(l.encode(l.load(at)), l.broadcast(node.factors.add(2 * (j - 1))));
                l.store(at, l.canonical(l.lift_canonical(x)));
            }
            t += L::WIDTH;
        }
    }
}

/// The last forward pass of a block of 64: eight nodes of eight coefficients, transposed. Packed to canonical. Order: value `m` of node `k` goes to `8 m + k`.
///
/// # Safety
/// `block` holds 64 words, `factors` 112.
#[inline(always)]
unsafe fn forward_block<L: Lanes>(l: L, block: *mut u64, factors: *const u64) {
    // SAFETY: the caller's contract. All rows are read before any is written, as the outputs are transposed.
    unsafe {
        let mut rows = [[l.load(block); 8]; 8];
        let groups = 8 / L::WIDTH;
        for (g, row) in rows.iter_mut().enumerate().take(groups) {
            *row = l.load_columns(block, g * L::WIDTH);
        }
        for (g, v) in rows.iter().enumerate().take(groups) {
            let mut x = [l.lift_canonical(l.unpack(v[0])); 8];
            for j in 1..8 {
                x[j] = l.mul(v[j], l.twiddles(factors.add(16 * (j - 1) + g * L::WIDTH)));
            }
            for (m, x) in dft::<L, 8>(l, x, core::ptr::null()).into_iter().enumerate() {
                l.store(block.add(8 * m + g * L::WIDTH), l.canonical(x));
            }
        }
    }
}

/// The inverse of [`forward_block`] without its factors, times 8. Canonical to packed.
///
/// # Safety
/// `block` holds 64 words.
#[inline(always)]
unsafe fn inverse_block<L: Lanes>(l: L, block: *mut u64) {
    // SAFETY: the caller's contract. All rows are read before any is written, as the outputs are transposed.
    unsafe {
        let mut rows = [[l.load(block); 8]; 8];
        let groups = 8 / L::WIDTH;
        for (g, row) in rows.iter_mut().enumerate().take(groups) {
            for (m, v) in row.iter_mut().enumerate() {
                *v = l.load(block.add(8 * m + g * L::WIDTH));
            }
        }
        for (g, v) in rows.iter().enumerate().take(groups) {
            let mut x = [l.lift_packed(l.widen(v[0])); 8];
            for m in 1..8 {
                x[m] = l.widen(v[m]);
            }
            let x = inverse_dft::<L, 8>(l, x, core::ptr::null());
            let mut packed = *v;
            for j in 0..8 {
                packed[j] = l.pack(x[j]);
            }
            l.store_columns(block, g * L::WIDTH, packed);
        }
    }
}

/// The first pass, over columns of the root; `half`: its upper half counts as zeros, for powers of two.
///
/// # Safety
/// As [`forward_pass`].
#[inline(always)]
unsafe fn forward_root_kernel<L: Lanes>(l: L, radix: usize, node: Node, half: bool) {
    let twiddled = !node.factors.is_null();
    macro_rules! pass {
        ($radix:literal) => {
            match (half, twiddled) {
                (false, false) => forward_pass::<L, $radix, true, false, false>(l, node),
                (false, true) => forward_pass::<L, $radix, true, false, true>(l, node),
                (true, false) => forward_pass::<L, $radix, true, true, false>(l, node),
                (true, true) => forward_pass::<L, $radix, true, true, true>(l, node),
            }
        };
    }
    // SAFETY: the caller's contract.
    unsafe {
        if twiddled && radix % 2 == 1 {
            multiply_columns(l, radix, node);
        }
        match radix {
            2 => pass!(2),
            3 => forward_pass::<L, 3, true, false, false>(l, node),
            4 => pass!(4),
            5 => forward_pass::<L, 5, true, false, false>(l, node),
            8 => pass!(8),
            16 => pass!(16),
            17 => forward_pass::<L, 17, true, false, false>(l, node),
            _ => debug_assert!(false, "no pass of radix {radix}"),
        }
    }
}

/// A pass below the first, over columns of a node.
///
/// # Safety
/// As [`forward_pass`].
#[inline(always)]
unsafe fn forward_inner<L: Lanes>(l: L, radix: usize, node: Node) {
    // SAFETY: the caller's contract.
    unsafe {
        match radix {
            2 => forward_pass::<L, 2, false, false, true>(l, node),
            4 => forward_pass::<L, 4, false, false, true>(l, node),
            8 => forward_pass::<L, 8, false, false, true>(l, node),
            16 => forward_pass::<L, 16, false, false, true>(l, node),
            _ => debug_assert!(false, "no pass of radix {radix}"),
        }
    }
}

/// The last inverse pass, over columns of the root, and its factors if it has any.
///
/// # Safety
/// As [`inverse_pass`].
#[inline(always)]
unsafe fn inverse_root_kernel<L: Lanes>(l: L, tables: &Tables, node: Node) {
    // SAFETY: the caller's contract.
    unsafe {
        let (radix, owed) = (tables.passes[0].radix, owed(tables, 0, 0));
        match radix {
            2 => inverse_pass::<L, 2, true>(l, node, owed),
            3 => inverse_pass::<L, 3, true>(l, node, owed),
            4 => inverse_pass::<L, 4, true>(l, node, owed),
            5 => inverse_pass::<L, 5, true>(l, node, owed),
            8 => inverse_pass::<L, 8, true>(l, node, owed),
            16 => inverse_pass::<L, 16, true>(l, node, owed),
            17 => inverse_pass::<L, 17, true>(l, node, owed),
            _ => debug_assert!(false, "no pass of radix {radix}"),
        }
        if !node.factors.is_null() {
            multiply_columns(l, radix, node);
        }
    }
}

/// An inverse pass below the root's, over columns of a node.
///
/// # Safety
/// As [`inverse_pass`].
#[inline(always)]
unsafe fn inverse_inner<L: Lanes>(l: L, radix: usize, node: Node, owed: Owed) {
    // SAFETY: the caller's contract.
    unsafe {
        match radix {
            2 => inverse_pass::<L, 2, false>(l, node, owed),
            4 => inverse_pass::<L, 4, false>(l, node, owed),
            8 => inverse_pass::<L, 8, false>(l, node, owed),
            16 => inverse_pass::<L, 16, false>(l, node, owed),
            _ => debug_assert!(false, "no pass of radix {radix}"),
        }
    }
}

/// The factors a pass's children owe; `node` is the pass's node.
///
/// # Safety
/// The tables are those of the plan; the passes and the node exist.
#[inline(always)]
pub(super) unsafe fn owed(tables: &Tables, pass: usize, node: usize) -> Owed {
    let Some(&Pass { radix, inverse, .. }) = tables.passes.get(pass + 1) else { return Owed::Nothing };
    let first = node * tables.passes[pass].radix;
    let at = tables.inverse.as_ptr().wrapping_add(inverse);
    if tables.blocked && pass + 2 == tables.passes.len() {
        Owed::Lanes(at.wrapping_add(16 * first))
    } else {
        Owed::Blocks { factors: at.wrapping_add(2 * first * (radix - 1)), radix }
    }
}

/// Nodes below the root, and passes over them.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// The passes, from `from` to before `to`.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Number of the first node of pass `from`.
    pub(super) first: usize,
    /// The words of its nodes, and how many.
    pub(super) data: *mut u64,
    pub(super) len: usize,
    /// The columns to do, of a single pass over a single node; else all.
    pub(super) columns: Option<(usize, usize)>,
}

impl Span {
    /// Node `n` of a pass.
    unsafe fn node(&self, pass: Pass, n: usize, factors: *const u64) -> Node {
        let stride = pass.len / pass.radix;
        let (from, to) = self.columns.unwrap_or((0, stride));
        // SAFETY: the caller's span has that node.
        unsafe { Node { data: self.data.add(n * pass.len), stride, from, to, factors, kernel: core::ptr::null() } }
    }
}

/// The passes of a span, one after another.
///
/// # Safety
/// The span is one of the tables' passes and nodes, and its words are there.
#[inline(always)]
unsafe fn forward_kernel<L: Lanes>(l: L, tables: &Tables, span: Span) {
    let mut first = span.first;
    for (i, p) in tables.passes.iter().enumerate().take(span.to).skip(span.from) {
        for n in 0..span.len / p.len {
            // SAFETY: the tables have the factors of every node of the pass, and the data is the caller's.
            unsafe {
                let factors = tables.forward.as_ptr().add(p.forward);
                if tables.blocked && i + 1 == tables.passes.len() {
                    if n % 8 == 0 {
                        forward_block(l, span.data.add(8 * n), factors.add(14 * (first + n)));
                    }
                } else {
                    forward_inner(l, p.radix, span.node(*p, n, factors.add(2 * (first + n) * (p.radix - 1))));
                }
            }
        }
        first *= p.radix;
    }
}

/// The inverse of [`forward_kernel`], except for the factors of pass `from`, which its parent applies.
///
/// # Safety
/// As [`forward_kernel`].
#[inline(always)]
unsafe fn inverse_kernel<L: Lanes>(l: L, tables: &Tables, span: Span) {
    for (i, p) in tables.passes.iter().enumerate().take(span.to).skip(span.from).rev() {
        let first = span.first * (tables.passes[span.from].len / p.len);
        for n in 0..span.len / p.len {
            // SAFETY: the tables have the factors of every node of the pass, and the data is the caller's.
            unsafe {
                if tables.blocked && i + 1 == tables.passes.len() {
                    if n % 8 == 0 {
                        inverse_block(l, span.data.add(8 * n));
                    }
                } else {
                    inverse_inner(l, p.radix, span.node(*p, n, core::ptr::null()), owed(tables, i, first + n));
                }
            }
        }
    }
}

/// The first forward pass over columns of the root, whose upper half counts as zeros if `half`; by the instructions of the tables' back end.
///
/// # Safety
/// The root's words are there, and the columns are multiples of the width.
pub(super) unsafe fn forward_root(backend: Backend, radix: usize, node: Node, half: bool) {
    dispatch!(backend, forward_root_kernel<_>(radix: usize, node: Node, half: bool));
}

/// The last inverse pass over columns of the root.
///
/// # Safety
/// As [`forward_root`].
pub(super) unsafe fn inverse_root(backend: Backend, tables: &Tables, node: Node) {
    dispatch!(backend, inverse_root_kernel<_>(tables: &Tables, node: Node));
}

/// The passes of a span.
///
/// # Safety
/// The span is one of the tables' passes and nodes, its words are there, and its columns are multiples of the width.
pub(super) unsafe fn forward(backend: Backend, tables: &Tables, span: Span) {
    dispatch!(backend, forward_kernel<_>(tables: &Tables, span: Span));
}

/// The inverse of [`forward`], except for the factors of the first pass, which its parent applies.
///
/// # Safety
/// As [`forward`].
pub(super) unsafe fn inverse(backend: Backend, tables: &Tables, span: Span) {
    dispatch!(backend, inverse_kernel<_>(tables: &Tables, span: Span));
}

/// What a pointwise kernel does to its first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointwise {
    /// `c <- a b`.
    Multiply,
    /// `c <- c + a b`.
    MultiplyAdd,
}

/// # Safety
/// The three pointers are to `len` words; `a` and `b` may be `c`.
#[inline(always)]
unsafe fn pointwise_kernel<L: Lanes>(l: L, what: Pointwise, c: *mut u64, a: *const u64, b: *const u64, len: usize) {
    let mut i = 0;
    // SAFETY: the caller's contract.
    unsafe {
        while i + L::WIDTH <= len {
            let mut x = l.lift_canonical(l.mul_words(l.load(a.add(i)), l.load(b.add(i))));
            if what == Pointwise::MultiplyAdd {
                x = l.add(x, l.widen(l.load(c.add(i))));
            }
            l.store(c.add(i), l.canonical(x));
            i += L::WIDTH;
        }
        while i < len {
            let sum = if what == Pointwise::MultiplyAdd { u128::from(c.add(i).read()) } else { 0 };
            // (2^64 - 1)^2 + 2^64 - 1 < 2^128.
            let product = u128::from(a.add(i).read()) * u128::from(b.add(i).read());
            c.add(i).write(reduce_u128(product + sum));
            i += 1;
        }
    }
}

/// `len` products, by a back end's instructions; all canonical.
///
/// # Safety
/// As [`pointwise_kernel`].
pub(super) unsafe fn pointwise(
    backend: Backend,
    what: Pointwise,
    c: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) {
    dispatch!(backend, pointwise_kernel<_>(what: Pointwise, c: *mut u64, a: *const u64, b: *const u64, len: usize));
}
