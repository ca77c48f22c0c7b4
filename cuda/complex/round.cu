// Last pass of an inverse transform: the inverse of the first stage, and rounding.
//
// Kernels complex_round_R, R as in digits.cu. Grid: x = ceil(L / R / 128), y = batch. Block: 128 threads, a column of
// R points each. Reads: the L points of the item, twiddles. Writes: its 2 L coefficients, words for carry_coefficients.
// Coefficient j is c_j + offset, where c_j is the integer nearest to `scale` times the real part of point j, or its
// imaginary part for coefficient j + L. Range: |c_j| below 2^51 - 2^(51 - bits), `magic` = 2^52 + offset. The offset
// 2^51 - 2^(51 - bits) makes all coefficients positive.
// Bytes: 16 a point in and out.
#include "complex/stage.h"

FN u64 rounded(double x, double scale, double magic) {
  double sum = fma_(x, scale, magic);
  return ((u64)high_bits(sum) << 32 | low_bits(sum)) - 0x4330000000000000ull;
}

template <int R> FN void round_points(u64 *RESTRICT coefficients, const C *RESTRICT points,
                                      const double *RESTRICT twiddles, u32 child, u64 scale_bits, u64 magic_bits) {
  u32 at = BID * 128 + TID, half = R * child;
  if (at >= child) return;
  double scale = from_bits((u32)(scale_bits >> 32), (u32)scale_bits);
  double magic = from_bits((u32)(magic_bits >> 32), (u32)magic_bits);
  points += (u64)BID_Y * half;
  coefficients += (u64)BID_Y * 2 * half;
  C v[R];
  UNROLL for (int r = 0; r < R; r++) v[r] = points[r * child + at];
  join<R>(v, twiddles);
  UNROLL for (int r = 0; r < R; r++) {
    coefficients[r * child + at] = rounded(v[r].re, scale, magic);
    coefficients[half + r * child + at] = rounded(v[r].im, scale, magic);
  }
}

#define ROUND(R)                                                                                                    \
  KERNEL(complex_round_##R, 128, 4)                                                                                 \
  (u64 *RESTRICT coefficients, const C *RESTRICT points, const double *RESTRICT twiddles, u32 child, u64 scale,     \
   u64 magic) {                                                                                                     \
    round_points<R>(coefficients, points, twiddles, child, scale, magic);                                           \
  }
ROUND(1) ROUND(2) ROUND(4) ROUND(8) ROUND(3) ROUND(5) ROUND(7)
