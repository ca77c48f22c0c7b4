// The root's pass of transforms of m 2^k points, m in {3, 5, 17}: columns of m points.
//
// Grid: x = ceil(stride / 128), y = batch. Block: 128 threads of one column. An item has m * stride words, and column i
// the words i, i + stride, .. A thread reads and writes one column.
// Order: natural. `kernel`: the M - 1 factors of Rader's convolution (odd.h), not read if m is 3.
// Forward  Range: any in, packed out. If bits > 0, the coefficients are not those of `data`: digit i of `bits` bits of
//          the item's integer of source_words 32-bit words, at least 1, little-endian, is coefficient i.
//          The columns below this pass multiply by their `outer`, w^(k i) for word k stride + i.
// Inverse  Range: packed in, canonical out. Word i of an item is multiplied by outer[i] first. The result is
//          multiplied by m and by the constant in `outer`.
// Bytes: 8 in and 8 out a point, 16 more for `outer`.
#include "solinas/digit.h"
#include "solinas/odd.h"

template <int M>
FN void forward_root(u64 *RESTRICT data, const u32 *RESTRICT source, const twiddle *RESTRICT kernel, u32 stride,
                     u32 source_words, u32 bits) {
  u32 column = BID * 128 + TID;
  if (column >= stride) return;
  data += (u64)BID_Y * M * stride + column;
  wide x[M];
  if (bits > 0) {
    source += (u64)BID_Y * source_words;
    UNROLL for (int j = 0; j < M; j++) x[j] = {digit(source, source_words, bits, (u32)j * stride + column), 0};
  } else {
    UNROLL for (int j = 0; j < M; j++) x[j] = gl_widen(data[(u64)j * stride]);
  }
  x[0] = gl_lift_packed(x[0]);
  odd_dft<M>(x, kernel);
  UNROLL for (int k = 0; k < M; k++) data[(u64)k * stride] = gl_pack(x[k]);
}

template <int M>
FN void inverse_root(u64 *RESTRICT data, const twiddle *RESTRICT kernel, const twiddle *RESTRICT outer, u32 stride) {
  u32 column = BID * 128 + TID;
  if (column >= stride) return;
  data += (u64)BID_Y * M * stride + column;
  outer += column;
  wide x[M];
  UNROLL for (int k = 0; k < M; k++) {
    x[(M - k) % M] = gl_multiply(data[(u64)k * stride], load_twiddle(outer, (u64)k * stride));
  }
  x[0] = gl_lift(x[0]);
  odd_dft<M>(x, kernel);
  UNROLL for (int j = 0; j < M; j++) data[(u64)j * stride] = gl_canonical(x[j]);
}

#define ROOT(M)                                                                                                      \
  KERNEL(solinas_forward_root_##M, 128, 2)                                                                           \
  (u64 * RESTRICT data, const u32 *RESTRICT source, const twiddle *RESTRICT kernel, u32 stride, u32 source_words,    \
   u32 bits) {                                                                                                       \
    forward_root<M>(data, source, kernel, stride, source_words, bits);                                               \
  }                                                                                                                  \
  KERNEL(solinas_inverse_root_##M, 128, 2)                                                                           \
  (u64 * RESTRICT data, const twiddle *RESTRICT kernel, const twiddle *RESTRICT outer, u32 stride) {                 \
    inverse_root<M>(data, kernel, outer, stride);                                                                    \
  }
ROOT(3)
ROOT(5)
ROOT(17)
