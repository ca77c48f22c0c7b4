//! The passes of the transforms, written once over [`FieldLanes`].
//!
//! A column of a node is the set of its coefficients at one place of each block. A pass works on columns, `WIDTH`
//! neighbours at a time.

use super::element::reduce_u128;
use super::lanes::FieldLanes;
use super::points::{dft, inverse_dft};
use super::tables::{Pass, Tables};
use crate::Backend;
use crate::simd::dispatch;

/// The data that a pass reads and writes, and the factors by which it multiplies.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// First coefficient.
    pub(super) data: *mut u64,
    /// Coefficients in a block: the length over the radix.
    pub(super) stride: usize,
    /// The columns to transform, multiples of the width.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The node's factors.
    pub(super) factors: *const u64,
    /// The factors of a transform of 5 or 17 points, see [`dft`].
    pub(super) kernel: *const u64,
}

/// Runs one forward pass over columns of a node. Range: in canonical if `FIRST`, otherwise packed; out packed. If
/// `HALF`, the upper half counts as zeros. If `TWIDDLED`, the pass multiplies by the factors.
///
/// # Safety
/// The node's data and `R - 1` twiddles are there; the columns are multiples of the width within the stride.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_pass<L: FieldLanes, const R: usize, const FIRST: bool, const HALF: bool, const TWIDDLED: bool>(
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
            for (j, x) in x.iter_mut().enumerate().skip(1) {
                if HALF && 2 * j >= R {
                    *x = l.zero();
                    continue;
                }
                let v = l.load(at.add(j * node.stride));
                *x = if TWIDDLED {
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

/// Factors that the children of a node have not applied yet. The next inverse pass applies them.
#[derive(Clone, Copy, Debug)]
pub(super) enum DeferredFactor {
    /// No factors: the children are values.
    None,
    /// For each child, `radix - 1` twiddles, one for each of its blocks except the first.
    PerBlock { factors: *const u64, radix: usize },
    /// For each child, eight first and eight second words: the child has eight coefficients.
    PerLane(*const u64),
}

/// Runs one inverse pass over columns of a node. Range: in packed, or canonical if nothing is deferred; out packed, or
/// canonical if `TOP`.
///
/// # Safety
/// As [`forward_pass`], with `R` times the factors of a child.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_pass<L: FieldLanes, const R: usize, const TOP: bool>(l: L, node: Node, deferred: DeferredFactor) {
    let mut t = node.from;
    while t < node.to {
        // SAFETY: the caller's contract.
        unsafe {
            match deferred {
                // Only short transforms, on one lane, have no blocks of 64 below.
                DeferredFactor::None if L::WIDTH == 1 => {
                    inverse_column::<L, R, TOP, WORDS>(l, node, t, core::ptr::null(), 0);
                    t += L::WIDTH;
                }
                // Blocks of 64 are two passes of radix 8.
                DeferredFactor::PerLane(factors) if R == 8 => {
                    inverse_column::<L, R, TOP, VECTOR>(l, node, t, factors.add(t), 16);
                    t += L::WIDTH;
                }
                // The code computes the block of each column again, so that it reads the factors where it uses them.
                // They would not fit in registers.
                DeferredFactor::PerBlock { factors, radix } => {
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
                    debug_assert!(false, "radix {R} above {deferred:?}");
                    return;
                }
            }
        }
    }
}

/// Kinds of conversion of a column's inputs to wide elements.
const WORDS: u8 = 0;
const UNPACK: u8 = 1;
const BROADCAST: u8 = 2;
const VECTOR: u8 = 3;

#[inline(always)]
unsafe fn deferred_input<L: FieldLanes, const KIND: u8>(l: L, v: L::V, factors: *const u64) -> L::X {
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

/// Runs one register of columns of an inverse pass. Child `k`'s factors are at `factors + k step`.
///
/// # Safety
/// As [`inverse_pass`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_column<L: FieldLanes, const R: usize, const TOP: bool, const KIND: u8>(
    l: L,
    node: Node,
    t: usize,
    factors: *const u64,
    step: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        let at = node.data.add(t);
        let first = deferred_input::<L, KIND>(l, l.load(at), factors);
        let mut x = [if TOP { l.lift_canonical(first) } else { l.lift_packed(first) }; R];
        for (k, x) in x.iter_mut().enumerate().skip(1) {
            *x = deferred_input::<L, KIND>(l, l.load(at.add(k * node.stride)), factors.wrapping_add(k * step));
        }
        for (j, x) in inverse_dft::<L, R>(l, x, node.kernel).into_iter().enumerate() {
            l.store(at.add(j * node.stride), if TOP { l.canonical(x) } else { l.pack(x) });
        }
    }
}

/// Multiplies columns of a node by its factors; the first block has none. Range: any words in, canonical out.
///
/// # Safety
/// As [`forward_pass`], for radix `radix`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn multiply_columns<L: FieldLanes>(l: L, radix: usize, node: Node) {
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

/// Runs the last forward pass of a block of 64: eight nodes of eight coefficients, transposed. Range: in packed, out
/// canonical. Order: value `m` of node `k` goes to `8 m + k`.
///
/// # Safety
/// `block` holds 64 words, `factors` 112.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_block<L: FieldLanes>(l: L, block: *mut u64, factors: *const u64) {
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

/// Inverse of [`forward_block`] without its factors, times 8. Range: in canonical, out packed.
///
/// # Safety
/// `block` holds 64 words.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_block<L: FieldLanes>(l: L, block: *mut u64) {
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

/// Runs the first pass over columns of the root. With `half`, its upper half counts as zeros, for powers of two.
///
/// # Safety
/// As [`forward_pass`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_root_kernel<L: FieldLanes>(l: L, radix: usize, node: Node, half: bool) {
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

/// Runs a pass below the first over columns of a node.
///
/// # Safety
/// As [`forward_pass`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_inner<L: FieldLanes>(l: L, radix: usize, node: Node) {
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

/// Runs the last inverse pass over columns of the root, and applies the root's factors if it has any.
///
/// # Safety
/// As [`inverse_pass`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_root_kernel<L: FieldLanes>(l: L, tables: &Tables, node: Node) {
    // SAFETY: the caller's contract.
    unsafe {
        let (radix, deferred) = (tables.passes[0].radix, deferred_factor(tables, 0, 0));
        match radix {
            2 => inverse_pass::<L, 2, true>(l, node, deferred),
            3 => inverse_pass::<L, 3, true>(l, node, deferred),
            4 => inverse_pass::<L, 4, true>(l, node, deferred),
            5 => inverse_pass::<L, 5, true>(l, node, deferred),
            8 => inverse_pass::<L, 8, true>(l, node, deferred),
            16 => inverse_pass::<L, 16, true>(l, node, deferred),
            17 => inverse_pass::<L, 17, true>(l, node, deferred),
            _ => debug_assert!(false, "no pass of radix {radix}"),
        }
        if !node.factors.is_null() {
            multiply_columns(l, radix, node);
        }
    }
}

/// Runs an inverse pass below the root's over columns of a node.
///
/// # Safety
/// As [`inverse_pass`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_inner<L: FieldLanes>(l: L, radix: usize, node: Node, deferred: DeferredFactor) {
    // SAFETY: the caller's contract.
    unsafe {
        match radix {
            2 => inverse_pass::<L, 2, false>(l, node, deferred),
            4 => inverse_pass::<L, 4, false>(l, node, deferred),
            8 => inverse_pass::<L, 8, false>(l, node, deferred),
            16 => inverse_pass::<L, 16, false>(l, node, deferred),
            _ => debug_assert!(false, "no pass of radix {radix}"),
        }
    }
}

/// Returns the factors that the children of a pass defer; `node` is the pass's node.
///
/// # Safety
/// The tables are those of the plan; the passes and the node exist.
#[inline(always)]
pub(super) unsafe fn deferred_factor(tables: &Tables, pass: usize, node: usize) -> DeferredFactor {
    let Some(&Pass { radix, inverse, .. }) = tables.passes.get(pass + 1) else { return DeferredFactor::None };
    let first = node * tables.passes[pass].radix;
    let at = tables.inverse.as_ptr().wrapping_add(inverse);
    if tables.blocked && pass + 2 == tables.passes.len() {
        DeferredFactor::PerLane(at.wrapping_add(16 * first))
    } else {
        DeferredFactor::PerBlock { factors: at.wrapping_add(2 * first * (radix - 1)), radix }
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
    /// The words of its nodes, and the number of nodes.
    pub(super) data: *mut u64,
    pub(super) len: usize,
    /// The columns to transform, for a single pass over a single node; `None` means all columns.
    pub(super) columns: Option<(usize, usize)>,
}

impl Span {
    /// Returns node `n` of a pass.
    unsafe fn node(&self, pass: Pass, n: usize, factors: *const u64) -> Node {
        let stride = pass.len / pass.radix;
        let (from, to) = self.columns.unwrap_or((0, stride));
        // SAFETY: the caller's span has that node.
        unsafe { Node { data: self.data.add(n * pass.len), stride, from, to, factors, kernel: core::ptr::null() } }
    }
}

/// Runs the passes of a span, one after another.
///
/// # Safety
/// The span is one of the tables' passes and nodes, and its words are there.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn forward_kernel<L: FieldLanes>(l: L, tables: &Tables, span: Span) {
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

/// Inverse of [`forward_kernel`], except for the factors of pass `from`, which its parent applies.
///
/// # Safety
/// As [`forward_kernel`].
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn inverse_kernel<L: FieldLanes>(l: L, tables: &Tables, span: Span) {
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
                    inverse_inner(
                        l,
                        p.radix,
                        span.node(*p, n, core::ptr::null()),
                        deferred_factor(tables, i, first + n),
                    );
                }
            }
        }
    }
}

/// Runs the first forward pass over columns of the root, with the instructions of the tables' back end. If `half`, the
/// upper half counts as zeros.
///
/// # Safety
/// The root's words are there, and the columns are multiples of the width.
pub(super) unsafe fn forward_root(backend: Backend, radix: usize, node: Node, half: bool) {
    dispatch!(backend, forward_root_kernel<_>(radix: usize, node: Node, half: bool));
}

/// Runs the last inverse pass over columns of the root.
///
/// # Safety
/// As [`forward_root`].
pub(super) unsafe fn inverse_root(backend: Backend, tables: &Tables, node: Node) {
    dispatch!(backend, inverse_root_kernel<_>(tables: &Tables, node: Node));
}

/// Runs the passes of a span.
///
/// # Safety
/// The span is one of the tables' passes and nodes, its words are there, and its columns are multiples of the width.
pub(super) unsafe fn forward(backend: Backend, tables: &Tables, span: Span) {
    dispatch!(backend, forward_kernel<_>(tables: &Tables, span: Span));
}

/// Inverse of [`forward`], except for the factors of the first pass, which its parent applies.
///
/// # Safety
/// As [`forward`].
pub(super) unsafe fn inverse(backend: Backend, tables: &Tables, span: Span) {
    dispatch!(backend, inverse_kernel<_>(tables: &Tables, span: Span));
}

/// Operation of a pointwise kernel on its first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointwise {
    /// `c <- a b`.
    Multiply,
    /// `c <- c + a b`.
    MultiplyAdd,
}

/// # Safety
/// The three pointers are to `len` words; `a` and `b` may be `c`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn pointwise_kernel<L: FieldLanes>(
    l: L,
    what: Pointwise,
    c: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) {
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

/// Computes `len` products with the instructions of a back end. Range: canonical in and out.
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
