// Transforms of a few points in registers: X[k] = sum_j x[j] w^(j k), w the root of order R. For R in {2, 4, 8, 16} the
// roots are powers of 2, so there are no products. The ranges are those of docs/derivations/solinas-transform.md:
// halves of at most 2^33 in, below 2^60 out, apart from the constant that lifts input 0.
#pragma once
#include "gl.h"

// i bit-reversed, 0 <= i < R.
FN constexpr int reversed(int i, int R) {
  int r = 0;
  for (int bit = 1; bit < R; bit <<= 1) r = 2 * r + ((i & bit) ? 1 : 0);
  return r;
}

// x 2^48.
FN wide times_i(wide x) { return gl_phi(gl_shl<16>(x)); }

FN void butterfly(wide &a, wide &b) {
  wide sum = gl_add(a, b);
  b = gl_sub(a, b);
  a = sum;
}

// Order: natural in, bit-reversed out, as for all of them.
FN void dft4(wide &a, wide &b, wide &c, wide &d) {
  butterfly(a, c);
  butterfly(b, d);
  d = times_i(d);
  butterfly(a, b);
  butterfly(c, d);
}

// Range: halves of at most 2^34 in, below 2^60 out. The odd outputs are u0 +- i u2 and sums of 2^24 u1, 2^72 u3 =
// f^2 2^8 u3, ...: no factor is applied after another, so that shifts stay below 25 bits.
FN void dft8(wide (&x)[8]) {
  UNROLL for (int j = 0; j < 4; j++) butterfly(x[j], x[j + 4]);
  dft4(x[0], x[1], x[2], x[3]);
  wide u1 = x[5], u3 = x[7], e = x[4], f = times_i(x[6]);
  butterfly(e, f);
  wide p = gl_add(gl_shl<24>(u1), gl_phi2(gl_shl<8>(u3)));
  wide q = gl_add(gl_phi2(gl_shl<8>(u1)), gl_shl<24>(u3));
  butterfly(e, p);
  butterfly(f, q);
  x[4] = e, x[5] = p, x[6] = f, x[7] = q;
}

FN void dft16(wide (&x)[16]) {
  wide even[8], odd[8];
  UNROLL for (int j = 0; j < 8; j++) {
    even[j] = gl_add(x[j], x[j + 8]);
    odd[j] = gl_sub(x[j], x[j + 8]);
  }
  odd[1] = gl_twist<12, 0>(odd[1]);  // 2^(12 j) = 2^s f^q
  odd[2] = gl_twist<24, 0>(odd[2]);
  odd[3] = gl_twist<4, 1>(odd[3]);
  odd[4] = gl_twist<16, 1>(odd[4]);
  odd[5] = gl_twist<28, 1>(odd[5]);
  odd[6] = gl_twist<8, 2>(odd[6]);
  odd[7] = gl_twist<20, 2>(odd[7]);
  dft8(even);
  dft8(odd);
  UNROLL for (int j = 0; j < 8; j++) x[j] = even[j], x[j + 8] = odd[j];
}

template <int R> FN void dft(wide (&x)[R]) {
  if constexpr (R == 2) butterfly(x[0], x[1]);
  else if constexpr (R == 4) dft4(x[0], x[1], x[2], x[3]);
  else if constexpr (R == 8) dft8(x);
  else dft16(x);
}

// The inverse times R: the transform of the inputs at negated places. Order: bit-reversed in, natural out.
template <int R> FN void inverse_dft(wide (&x)[R]) {
  wide y[R];
  UNROLL for (int k = 0; k < R; k++) y[k] = x[reversed((R - k) % R, R)];
  dft<R>(y);
  UNROLL for (int j = 0; j < R; j++) x[j] = y[reversed(j, R)];
}
