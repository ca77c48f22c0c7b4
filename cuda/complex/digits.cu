// First pass of a forward transform: balanced digits of integers, folded to complex points, and the first stage.
//
// Kernels complex_digits_R, R in {1, 2, 4, 8} or the odd factor 3, 5, 7. Grid: x = ceil(L / R / 128), y = batch.
// Block: 128 threads, a column of R points each. Item y is an integer of `words` words, the words from word
// stride y + from of x on; with a list of `items`, it is items[y] in place of y. It has L points, and child = L / R
// columns. Point j is d_j + i d_(j + L), where d_j is the balanced digit j of `bits` bits: -2^(bits - 1) ..= 2^(bits - 1). The last digit carries its top bit to digit 0, with a minus sign: 2^(2 L bits) = -1.
// Reads: the words of the item, twiddles. Writes: its L points. Range: bits in 2..=25, 64 words at most 2 L bits.
// Bytes: 16 a point out, bits / 4 a point in. Operations on doubles: those of the stage.
#include "complex/stage.h"

// The `bits` bits from bit `at` on, which may be outside of the words. Range: bits at most 26.
FN u32 window(const u64 *RESTRICT x, u32 words, u64 at, u32 bits) {
  u64 word = at >> 6;
  u32 shift = (u32)at & 63;
  u64 low = word < words ? x[word] >> shift : 0;
  if (shift + bits > 64 && word + 1 < words) low |= x[word + 1] << (64 - shift);
  return (u32)low & ((1u << bits) - 1);
}

// Digit j: the signed number of its bits plus the top bit of the digit below.
FN double digit(const u64 *RESTRICT x, u32 words, u32 bits, u32 digits, u32 j) {
  u32 cut = j == 0 ? window(x, words, 0, bits) << 1 : window(x, words, (u64)j * bits - 1, bits + 1);
  i32 value = (i32)(cut << (31 - bits)) >> (31 - bits);
  value = (value + 1) >> 1;
  if (j == 0) value -= (i32)window(x, words, (u64)digits * bits - 1, 1);
  return sub_(from_bits(0x43300000u, (u32)value ^ 0x80000000u), 4503601774854144.0);
}

template <int R> FN void digits(C *RESTRICT points, const u64 *RESTRICT x, const double *RESTRICT twiddles,
                                const u32 *RESTRICT items, u32 from, u32 stride, u32 words, u32 bits, u32 child) {
  u32 at = BID * 128 + TID, half = R * child;
  if (at >= child) return;
  points += (u64)BID_Y * half;
  x += (u64)(items ? items[BID_Y] : BID_Y) * stride + from;
  C v[R];
  UNROLL for (int r = 0; r < R; r++) {
    u32 j = r * child + at;
    v[r] = {digit(x, words, bits, 2 * half, j), digit(x, words, bits, 2 * half, half + j)};
  }
  split<R>(v, twiddles);
  UNROLL for (int r = 0; r < R; r++) points[r * child + at] = v[r];
}

#define DIGITS(R)                                                                                                   \
  KERNEL(complex_digits_##R, 128, 4)                                                                                \
  (C *RESTRICT points, const u64 *RESTRICT x, const double *RESTRICT twiddles, const u32 *RESTRICT items, u32 from, \
   u32 stride, u32 words, u32 bits, u32 child) {                                                                    \
    digits<R>(points, x, twiddles, items, from, stride, words, bits, child);                                        \
  }
DIGITS(1) DIGITS(2) DIGITS(4) DIGITS(8) DIGITS(3) DIGITS(5) DIGITS(7)
