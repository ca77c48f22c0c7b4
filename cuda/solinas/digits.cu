// K1 of a product: the digits of integers, then forward columns of 2^4 to 2^8 points.
//
// Grid: x = words / 4096, y = batch, z = operand. Block: 256 threads of 16 points.
// A block writes the columns of `data` that columns.h states, packed. Operand z starts at word z * operand_words of
// `data`, and its item y at word y * words of that. The columns are the first of the transform: 2^(C + log_stride) =
// words. Digit i of `bits` bits of the integer of a_words (b_words) 32-bit words, little-endian, is coefficient i. The
// others are zero. If half of the words suffice for the digits, the first level is a copy.
// Reads: the words of the digits, in segments of 2^(12 - C) bits bits.
#include "solinas/columns.h"

#define DIGITS(C)                                                                                                    \
  KERNEL(digit_columns_##C, 256, 2)                                                                                  \
  (u64 * RESTRICT data, const u32 *RESTRICT a, const u32 *RESTRICT b, const twiddle *RESTRICT inner,                 \
   u64 operand_words, u32 words, u32 log_stride, u32 a_words, u32 b_words, u32 bits) {                               \
    const u32 *source = BID_Z ? b : a;                                                                               \
    u32 source_words = BID_Z ? b_words : a_words;                                                                    \
    u32 half = 32 * (u64)source_words <= (u64)(words / 2) * bits;                                                    \
    digit_columns<C>(data + BID_Z * operand_words, words, log_stride, inner, source, source_words, bits, half);      \
  }
DIGITS(4)
DIGITS(5)
DIGITS(6)
DIGITS(7)
DIGITS(8)
