//! Transforms of a few points in registers.

use super::lanes::FieldLanes;

/// Transform of `R` points, `X[k] = sum_j x[j] w^(j k)`, where `w` is the root of unity of order `R` in {2, 3, 4, 5, 8,
/// 16, 17}. Order: `x` natural, `X` bit-reversed for powers of two, otherwise natural. Range: `|x0|, |x1| <= 2^33` in,
/// below `2^60` out. The output range excludes the constant added to input 0, which every output contains once.
///
/// # Safety
/// `kernel` points to the factors of [`rader`] if `R` is 5 or 17.
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn dft<L: FieldLanes, const R: usize>(l: L, x: [L::X; R], kernel: *const u64) -> [L::X; R] {
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

/// Transform of a prime number `N + 1` of points that has the generator 3, by Rader's cyclic convolution: with
/// `a[q] = x[3^q]` and `b[q] = w^(3^-q)`, output `3^-p` is `x[0] + (a * b)[p]`. The factors are the transform of `b`,
/// divided by `N`, in the order of [`dft`].
///
/// # Safety
/// `kernel` points to `N` twiddles.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn rader<L: FieldLanes, const N: usize>(l: L, x: &[L::X], out: &mut [L::X], kernel: *const u64) {
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
#[cfg_attr(not(unoptimised), inline(always))]
fn dft8<L: FieldLanes>(l: L, x: [L::X; 8]) -> [L::X; 8] {
    let mut out = x;
    let (even, u) = butterflies(l, [x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]]);
    out[..4].copy_from_slice(&dft4(l, even));
    // The root is 2^24 and its square i = 2^48 = f 2^16. The odd outputs are u0 +- i u2 and sums of 2^24 u1, 2^72 u3 =
    // f^2 2^8 u3, ... No factor is applied after another, which keeps the shifts below 24.
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
fn times_i<L: FieldLanes>(l: L, x: L::X) -> L::X {
    l.phi(l.shl::<16>(x))
}

#[inline(always)]
fn butterflies<L: FieldLanes>(l: L, a: [L::X; 4], b: [L::X; 4]) -> ([L::X; 4], [L::X; 4]) {
    let mut sums = a;
    let mut differences = a;
    for j in 0..4 {
        sums[j] = l.add(a[j], b[j]);
        differences[j] = l.sub(a[j], b[j]);
    }
    (sums, differences)
}

#[inline(always)]
fn dft4<L: FieldLanes>(l: L, x: [L::X; 4]) -> [L::X; 4] {
    let (s0, d0) = (l.add(x[0], x[2]), l.sub(x[0], x[2]));
    let (s1, d1) = (l.add(x[1], x[3]), times_i(l, l.sub(x[1], x[3])));
    [l.add(s0, s1), l.sub(s0, s1), l.add(d0, d1), l.sub(d0, d1)]
}

/// Inverse of [`dft`] times `R`: the transform of the inputs at negated places. Order: `x` as the outputs of [`dft`],
/// out natural.
///
/// # Safety
/// As [`dft`].
#[cfg_attr(not(unoptimised), inline(always))]
pub(super) unsafe fn inverse_dft<L: FieldLanes, const R: usize>(l: L, x: [L::X; R], kernel: *const u64) -> [L::X; R] {
    /// Entries of `$x` at these places, written out so that they stay in registers.
    macro_rules! pick {
        ($out:ident = $x:ident[$($place:literal),*]) => { $out.copy_from_slice(&[$($x[$place]),*]) };
    }
    // Places of the inputs at negated indices, and of the outputs.
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
