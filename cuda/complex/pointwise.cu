// Products of spectra, point by point.
//
// complex_multiply: sum <- a b. complex_multiply_add: sum <- sum + a b. Grid: x = ceil(points / 128), y = batch.
// Block: 128 threads, a point each. Item y takes the spectrum y of `b`, or spectrum 0 if `one`. `sum` may be `a`.
// Bytes: 48 a point, or 64.
#include "complex/stage.h"

KERNEL(complex_multiply, 128, 8)(C *sum, const C *a, const C *b, u32 points, u32 one) {
  u32 i = BID * 128 + TID;
  if (i >= points) return;
  u64 at = (u64)BID_Y * points + i;
  sum[at] = mul(a[at], b[one ? i : at]);
}

KERNEL(complex_multiply_add, 128, 8)(C *sum, const C *a, const C *b, u32 points, u32 one) {
  u32 i = BID * 128 + TID;
  if (i >= points) return;
  u64 at = (u64)BID_Y * points + i;
  sum[at] = add(sum[at], mul(a[at], b[one ? i : at]));
}
