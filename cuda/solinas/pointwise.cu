// Products of spectra, point by point.
//
// Grid: x covers `count` points, 256 a block. Block: 256 threads of one point. c may be a or b.
// Range: any in, canonical out. Bytes: 16 (24 with the sum) in and 8 out a point.
#include "gl.h"

// c <- a b.
KERNEL(solinas_multiply, 256, 8)(u64 *c, const u64 *a, const u64 *b, u64 count) {
  u64 i = (u64)BID * 256 + TID;
  if (i < count) c[i] = gl_canonical(gl_lift(gl_product(a[i], b[i])));
}

// c <- c + a b.
KERNEL(solinas_multiply_add, 256, 8)(u64 *c, const u64 *a, const u64 *b, u64 count) {
  u64 i = (u64)BID * 256 + TID;
  if (i < count) c[i] = gl_canonical(gl_lift(gl_add(gl_product(a[i], b[i]), gl_widen(c[i]))));
}
