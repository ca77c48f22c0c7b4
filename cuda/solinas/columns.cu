// Transforms of columns of 2^4 to 2^8 points: see columns.h.
#include "solinas/columns.h"

#define COLUMNS(C)                                                                                                   \
  KERNEL(solinas_forward_columns_##C, 256, 2)                                                                        \
  (u64 * RESTRICT data, const twiddle *RESTRICT inner, const twiddle *RESTRICT outer, u32 words,                     \
   u32 log_stride) {                                                                                                 \
    forward_columns<C>(data, words, log_stride, inner, outer);                                                       \
  }                                                                                                                  \
  KERNEL(solinas_inverse_columns_##C, 256, 2)                                                                        \
  (u64 * RESTRICT data, const twiddle *RESTRICT inner, const twiddle *RESTRICT outer, u32 words, u32 log_stride,     \
   u32 last) {                                                                                                       \
    inverse_columns<C>(data, words, log_stride, inner, outer, last);                                                 \
  }
COLUMNS(4)
COLUMNS(5)
COLUMNS(6)
COLUMNS(7)
COLUMNS(8)
