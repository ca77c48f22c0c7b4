// Transforms of rows of 2^1 to 2^8 points: see rows.h.
#include "solinas/rows.h"

#define ROWS(C)                                                                                                      \
  KERNEL(solinas_forward_rows_##C, 256, 2)                                                                           \
  (u64 * RESTRICT data, const twiddle *RESTRICT inner, const twiddle *RESTRICT outer, u32 words, u32 outer_mask) {   \
    forward_rows<C>(data, words, inner, outer, outer_mask);                                                          \
  }                                                                                                                  \
  KERNEL(solinas_inverse_rows_##C, 256, 2)                                                                           \
  (u64 * RESTRICT data, const twiddle *RESTRICT inner, u64 scale, u32 words, u32 last) {                             \
    inverse_rows<C>(data, words, inner, scale, last);                                                                \
  }
ROWS(1)
ROWS(2)
ROWS(3)
ROWS(4)
ROWS(5)
ROWS(6)
ROWS(7)
ROWS(8)
