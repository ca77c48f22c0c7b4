// K1 of a product: the digits of integers, then forward columns of 2^4 to 2^8 points.
//
// Grid: x = words / 4096, y = 2 batch. Block: 256 threads of 16 points.
// A block writes the columns that columns.h states, packed: for y < batch those of item y of a_data from item y of a,
// and from y = batch on those of item y - batch of b_data from the same item of b. An item of the data has `words`
// words. The columns are the first of the transform: 2^(C + log_stride) = words.
// Digit i of `bits` bits, 1 to 32, of the integer of a_words (b_words) 32-bit words, at least 1, little-endian, is
// coefficient i. The others are zero. If half of the words suffice for the digits, the first level is a copy.
// Bytes: those of the digits, in segments of 2^(12 - C) bits bits, and 8 out a point. Operations: see README.md.
#include "solinas/columns.h"

#define DIGITS(C)                                                                                                    \
  KERNEL(solinas_digit_columns_##C, 256, 2)                                                                          \
  (u64 * RESTRICT a_data, u64 *RESTRICT b_data, const u32 *RESTRICT a, const u32 *RESTRICT b,                        \
   const twiddle *RESTRICT inner, u32 batch, u32 words, u32 log_stride, u32 a_words, u32 b_words, u32 bits) {        \
    bool second = BID_Y >= batch;                                                                                    \
    u32 item = second ? BID_Y - batch : BID_Y, source_words = second ? b_words : a_words;                            \
    u64 *data = (second ? b_data : a_data) + (u64)item * words;                                                      \
    const u32 *source = (second ? b : a) + (u64)item * source_words;                                                 \
    bool half = 32 * (u64)source_words <= (u64)(words / 2) * bits;                                                   \
    digit_columns<C>(data, log_stride, inner, source, source_words, bits, half);                                     \
  }
DIGITS(4)
DIGITS(5)
DIGITS(6)
DIGITS(7)
DIGITS(8)
