// One stage of the transform of `complex`: a split of nodes by the radices 1, 2, 4, 8 and the odd factors 3, 5, 7.
//
// The stages are those of crates/field/src/complex, operation for operation, so its bound of the rounding errors holds.
// A node of `length` points becomes R nodes of length / R points. A thread holds the points of one column: those at the
// same place of the R nodes.
#pragma once
#include "c64.h"

// Twiddles of a pass over the odd factor: c^j for j < 7 as complex numbers, then cos and sin of 2 pi s / R for s < 7.
#define ODD_ROOTS 14

// a + b c with a real c
FN C add_scaled(C a, C b, double c) { return {fma_(b.re, c, a.re), fma_(b.im, c, a.im)}; }

// The short transform of odd length R: out_s = sum_j b_j e(j s / R), or e(-j s / R) for the inverse.
template <int R, bool INVERSE> FN void odd_transform(C (&b)[R], const double *RESTRICT roots) {
  C first = b[0], out = b[0], sums[R], differences[R];
  UNROLL for (int j = 1; j <= R / 2; j++) {
    sums[j] = add(b[j], b[R - j]);
    differences[j] = sub(b[j], b[R - j]);
    out = add(out, sums[j]);
  }
  UNROLL for (int s = 1; s <= R / 2; s++) {
    C even = first, odd;
    UNROLL for (int j = 1; j <= R / 2; j++) {
      double cos = roots[2 * (j * s % R)], sin = roots[2 * (j * s % R) + 1];
      even = add_scaled(even, sums[j], cos);
      odd = j == 1 ? C{mul_(differences[j].re, sin), mul_(differences[j].im, sin)} : add_scaled(odd, differences[j], sin);
    }
    C plus = add_i(even, odd), minus = sub_i(even, odd);
    b[s] = INVERSE ? minus : plus;
    b[R - s] = INVERSE ? plus : minus;
  }
  b[0] = out;
}

// The stage over the points v[0..R] of a column. `w` holds the twiddles of the node.
template <int R> FN void split(C (&v)[R], const double *RESTRICT w) {
  if constexpr (R == 2) {
    C x = mul(v[1], twiddle(w, 0, 1)), u = v[0];
    v[0] = add(u, x);
    v[1] = sub(u, x);
  } else if constexpr (R == 4) {
    split4(v[0], v[1], v[2], v[3], twiddle(w, 0, 1), twiddle(w, 1, 1), twiddle(w, 2, 1));
  } else if constexpr (R == 8) {
    split8(v, w, 1);
  } else if constexpr (R > 1) {
    UNROLL for (int j = 1; j < R; j++) v[j] = mul(v[j], twiddle(w, j, 1));
    odd_transform<R, false>(v, w + ODD_ROOTS);
  }
}

// Inverse of `split`, times R.
template <int R> FN void join(C (&v)[R], const double *RESTRICT w) {
  if constexpr (R == 2) {
    C x = v[0], y = v[1];
    v[0] = add(x, y);
    v[1] = mul_conj(sub(x, y), twiddle(w, 0, 1));
  } else if constexpr (R == 4) {
    join4(v[0], v[1], v[2], v[3], twiddle(w, 0, 1), twiddle(w, 1, 1), twiddle(w, 2, 1));
  } else if constexpr (R == 8) {
    join8(v, w, 1);
  } else if constexpr (R > 1) {
    odd_transform<R, true>(v, w + ODD_ROOTS);
    UNROLL for (int j = 1; j < R; j++) v[j] = mul_conj(v[j], twiddle(w, j, 1));
  }
}

// Doubles of the twiddles of a node of radix R. An odd factor has one node.
template <int R> struct Scalars { static constexpr int count = R == 2 ? 2 : R == 4 ? 6 : R == 8 ? 10 : 0; };

// A column of a stage over `points` points that are nodes of R * child points each.
struct Column {
  u32 node, first;
};

template <int R> FN Column column(u32 i, u32 child_log) {
  u32 node = i >> child_log;
  return {node, ((node * R) << child_log) + (i & ((1u << child_log) - 1))};
}
