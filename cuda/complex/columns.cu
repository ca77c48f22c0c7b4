// Stages of a transform over the points of global memory, above the branches.
//
// Kernels complex_split_R and complex_join_R, R in {2, 4, 8}. Grid: x = ceil(points / R / 128), y = batch.
// Block: 128 threads, a column of R points each. An item has `points` points, nodes of R * 2^child_log points.
// Reads and writes: the points, in place. Reads: the twiddles of the stage, Scalars<R> doubles a node, in order.
// Range: child_log at least 6. Bytes: 16 a point in and out.
#include "complex/stage.h"

template <int R, bool INVERSE> FN void stage(C *RESTRICT x, const double *RESTRICT twiddles, u32 points, u32 child_log) {
  u32 i = BID * 128 + TID;
  if (i >= points / R) return;
  Column c = column<R>(i, child_log);
  x += (u64)BID_Y * points + c.first;
  const double *RESTRICT w = twiddles + (u64)c.node * Scalars<R>::count;
  C v[R];
  UNROLL for (int r = 0; r < R; r++) v[r] = x[(u32)r << child_log];
  if (INVERSE) join<R>(v, w); else split<R>(v, w);
  UNROLL for (int r = 0; r < R; r++) x[(u32)r << child_log] = v[r];
}

#define STAGE(name, R, INVERSE)                                                                \
  KERNEL(name, 128, 4)(C *RESTRICT x, const double *RESTRICT twiddles, u32 points, u32 child_log) { \
    stage<R, INVERSE>(x, twiddles, points, child_log);                                         \
  }
STAGE(complex_split_2, 2, false) STAGE(complex_split_4, 4, false) STAGE(complex_split_8, 8, false)
STAGE(complex_join_2, 2, true) STAGE(complex_join_4, 4, true) STAGE(complex_join_8, 8, true)
