// K1 of a product: the digits of integers, then forward columns of 2^4 to 2^8 points.
//
// Grid: x = words / 4096, y = 2 batch. Block: 256 threads of 16 points.
// A block writes the columns of `data` that columns.h states, packed. Items y < batch are of the operand a, the others of b. Item y
// starts at word y * words of `data`. The columns are the first of the transform: 2^(C + log_stride) = words. Digit i of `bits` bits of the integer of a_words (b_words) 32-bit words, little-endian, is coefficient i. The
// others are zero. If half of the words suffice for the digits, the first level is a copy.
// Reads: the words of the digits, in segments of 2^(12 - C) bits bits.
#include "solinas/columns.h"

#define DIGITS(C)                                                                                                    \
  KERNEL(digit_columns_##C, 256, 2)                                                                                  \
  (u64 * RESTRICT data, const u32 *RESTRICT a, const u32 *RESTRICT b, const twiddle *RESTRICT inner,                 \
   u32 batch, u32 words, u32 log_stride, u32 a_words, u32 b_words, u32 bits) {                                       \
    bool second = BID_Y >= batch;                                                                                    \
    u32 source_words = second ? b_words : a_words;                                                                   \
    const u32 *source = second ? b + (u64)(BID_Y - batch) * b_words : a + (u64)BID_Y * a_words;                      \
    bool half = 32 * (u64)source_words <= (u64)(words / 2) * bits;                                                   \
    digit_columns<C>(data, words, log_stride, inner, source, source_words, bits, half);                              \
  }
DIGITS(4)
DIGITS(5)
DIGITS(6)
DIGITS(7)
DIGITS(8)
