// Complex doubles and their butterflies, operation for operation those of crates/field/src/fft/{butterfly,tile}.rs.
#pragma once
#include "port.h"

struct __align__(16) C { double re, im; };

FN C add(C a, C b) { return {add_(a.re, b.re), add_(a.im, b.im)}; }
FN C sub(C a, C b) { return {sub_(a.re, b.re), sub_(a.im, b.im)}; }
// a + i b
FN C add_i(C a, C b) { return {sub_(a.re, b.im), add_(a.im, b.re)}; }
// a - i b
FN C sub_i(C a, C b) { return {add_(a.re, b.im), sub_(a.im, b.re)}; }
// a w
FN C mul(C a, C w) { return {fma_(a.re, w.re, -mul_(a.im, w.im)), fma_(a.re, w.im, mul_(a.im, w.re))}; }
// a conj(w)
FN C mul_conj(C a, C w) { return {fma_(a.re, w.re, mul_(a.im, w.im)), fma_(a.im, w.re, -mul_(a.re, w.im))}; }
// i a conj(w)
FN C mul_conj_i(C a, C w) { return {fma_(a.re, w.im, -mul_(a.im, w.re)), fma_(a.re, w.re, mul_(a.im, w.im))}; }
// sum + a b, in the order of the CPU's products with the key.
FN C mul_add(C a, C b, C sum) {
  return {fma_(-a.im, b.im, fma_(a.re, b.re, sum.re)), fma_(a.im, b.re, fma_(a.re, b.im, sum.im))};
}

// Complex number `i` of a list of twiddles. Its parts stand `stride` doubles apart.
FN C twiddle(const double *RESTRICT w, int i, int stride) { return {w[2 * i * stride], w[(2 * i + 1) * stride]}; }

// Two levels of the tree: the four quarters of a residue become its residues at the four grandchildren.
FN void split4(C &x0, C &x1, C &x2, C &x3, C w0, C w1, C w2) {
  C b = mul(x1, w0), c = mul(x2, w1), d = mul(x3, w2);
  C p = add(x0, c), q = sub(x0, c), r = add(b, d), s = sub(b, d);
  x0 = add(p, r); x1 = sub(p, r); x2 = add_i(q, s); x3 = sub_i(q, s);
}

// Inverse of split4, times 4.
FN void join4(C &x0, C &x1, C &x2, C &x3, C w0, C w1, C w2) {
  C p = add(x0, x1), r = sub(x0, x1), q = add(x2, x3), is = sub(x2, x3);
  C b = sub_i(r, is), d = add_i(r, is), m = sub(p, q);
  x0 = add(p, q); x1 = mul_conj(b, w0); x2 = mul_conj(m, w1); x3 = mul_conj(d, w2);
}

// Three levels over the points v[0..8]. `w` holds five twiddles, each part `stride` doubles from the next.
FN void split8(C *v, const double *RESTRICT w, int stride) {
  C a = twiddle(w, 0, stride), b = twiddle(w, 1, stride), c = twiddle(w, 2, stride);
  UNROLL for (int i = 0; i < 2; i++) split4(v[i], v[i + 2], v[i + 4], v[i + 6], a, b, c);
  UNROLL for (int f = 0; f < 8; f += 4) {
    C z = twiddle(w, f ? 4 : 3, stride), u = v[f], x = mul(v[f + 1], z);
    v[f] = add(u, x); v[f + 1] = sub(u, x);
    u = v[f + 2]; x = mul(v[f + 3], z);
    v[f + 2] = add_i(u, x); v[f + 3] = sub_i(u, x);
  }
}

// Inverse of split8, times 8.
FN void join8(C *v, const double *RESTRICT w, int stride) {
  UNROLL for (int f = 0; f < 8; f += 4) {
    C z = twiddle(w, f ? 4 : 3, stride), x = v[f], y = v[f + 1];
    v[f] = add(x, y); v[f + 1] = mul_conj(sub(x, y), z);
    x = v[f + 2]; y = v[f + 3];
    v[f + 2] = add(x, y); v[f + 3] = mul_conj_i(sub(y, x), z);
  }
  C a = twiddle(w, 0, stride), b = twiddle(w, 1, stride), c = twiddle(w, 2, stride);
  UNROLL for (int i = 0; i < 2; i++) join4(v[i], v[i + 2], v[i + 4], v[i + 6], a, b, c);
}
