// K4 of a product, first part: words <- sum_i coefficients[i] 2^(bits i), up to the carries between blocks.
//
// Grid: x = ceil(words / 2048), y = batch. Block: 256 threads of 8 words.
// A block reads the coefficients that overlap its words and writes these words and its entry of `flags`. An item has
// `count` coefficients (any 64-bit words), `words` words of the result and ceil(words / 2048) flags. The result is
// modulo 2^(64 words). Range: bits in 2..32, `reciprocal` = ceil(2^64 / bits), bits count + 127 below 2^32.
// Then resolve.cu adds the carries between blocks.
// Bytes: 64 / bits coefficients of 8 bytes in and 8 bytes out a word.
#include "carry/carry.h"

struct sum {
  u64 low;
  u32 high;  // at most 64
};

// The sum of the parts of the coefficients that fall into word w. Coefficient i has the bits from bits i on.
FN sum gather(const u64 *RESTRICT coefficients, u32 count, u32 bits, u64 reciprocal, u32 w) {
  sum s = {0, 0};
  // The first i with bits i > 64 (w - 1), and then those with bits i < 64 (w + 1).
  u32 first = w == 0 ? 0 : (u32)mulhi64(64 * (u64)(w - 1), reciprocal) + 1;
  i32 shift = (i32)(first * bits - 64 * w);
  for (u32 i = first; i < count && shift < 64; i++, shift += (i32)bits) {
    u64 c = coefficients[i], part = shift >= 0 ? c << shift : c >> -shift;
    s.low += part;
    s.high += s.low < part;
  }
  return s;
}

KERNEL(carry_coefficients, 256, 4)
(const u64 *RESTRICT coefficients, u64 *RESTRICT result, u32 *RESTRICT flags, u64 reciprocal, u32 count, u32 words,
 u32 bits) {
  SHARED(u32, warps, WARPS);
  coefficients += (u64)BID_Y * count;
  result += (u64)BID_Y * words;
  u32 generate[ROUNDS], propagate[ROUNDS];
  u64 word[ROUNDS];
  // Every lane knows the high part of the word before the warp's.
  u32 base = (u32)word_place(0) - LANE;
  u32 before = base == 0 ? 0 : gather(coefficients, count, bits, reciprocal, base - 1).high;
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    sum s = gather(coefficients, count, bits, reciprocal, (u32)word_place(v));
    u32 below = SHFL_UP(s.high, 1), carry = LANE == 0 ? before : below;
    before = SHFL(s.high, 31);
    word[v] = s.low + carry;
    generate[v] = BALLOT(word[v] < carry);
    propagate[v] = BALLOT(word[v] == ~0ull);
  }
  u32 block = add_carries(word, generate, propagate, warps);
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    if (word_place(v) < words) result[word_place(v)] = word[v];
  }
  if (TID == 0) flags[(u64)BID_Y * block_count(words) + BID] = block;
}
