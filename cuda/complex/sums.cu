// Sums of products of spectra, by lists.
//
// complex_sums: spectrum y of `sums` <- the sum of a[pairs[2 t]] b[pairs[2 t + 1]] for t in starts[y] .. starts[y + 1].
// Grid: x = ceil(points / 128), y = batch. Block: 128 threads, a point each. `sums` is neither `a` nor `b`, which may be
// the same.
// Bytes: 32 a point and product, 16 a point.
#include "complex/stage.h"

KERNEL(complex_sums, 128, 8)
(C *RESTRICT sums, const C *RESTRICT a, const C *RESTRICT b, const u32 *RESTRICT starts, const u32 *RESTRICT pairs,
 u32 points) {
  u32 i = BID * 128 + TID;
  if (i >= points) return;
  C sum = {0.0, 0.0};
  u32 end = starts[BID_Y + 1];
  ROLL for (u32 t = starts[BID_Y]; t < end; t++) {
    sum = add(sum, mul(a[(u64)pairs[2 * t] * points + i], b[(u64)pairs[2 * t + 1] * points + i]));
  }
  sums[(u64)BID_Y * points + i] = sum;
}
