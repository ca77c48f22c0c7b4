// The residue modulo 2^(64 words) + 1, after coefficients.cu and resolve.cu.
//
// Grid: x = 1, y = batch. Block: one warp. An item has words + 1 words x, and its value is x + offset modulo
// 2^(64 words) + 1. The top word t is replaced by 0: the low words get offset - t, since 2^(64 words) is -1. The result
// is in 0..=2^(64 words), with 1 in the top word for 2^(64 words) alone.
// Range: offset and t below 2^63, words at least 1. Almost always the block changes 32 words: only runs of all ones, or
// of zeros, pass on a carry.
#include "carry/carry.h"

// Adds 1 at word `from`, or subtracts 1. Returns the carry out of the words.
FN u32 step(u64 *RESTRICT x, u32 words, u32 from, bool subtract) {
  u64 passing = subtract ? 0 : ~0ull;
  for (u32 first = from; first < words; first += 32) {
    u32 at = first + LANE;
    u64 word = at < words ? x[at] : 0;
    u64 changed = carries(0, BALLOT(at < words && word == passing), 1);
    if (at < words && (changed >> LANE & 1)) x[at] = subtract ? word - 1 : word + 1;
    // Lanes beyond the words pass nothing on.
    if (words - first < 32) return (u32)(changed >> (words - first)) & 1;
    if (!(changed >> 32)) return 0;
  }
  return 1;
}

KERNEL(carry_wrap, 32, 16)(u64 *RESTRICT result, u32 words, u64 offset) {
  u64 *RESTRICT x = result + (u64)BID_Y * (words + 1);
  u64 top = x[words], low = x[0], moved = offset - top, sum = low + moved;
  bool negative = offset < top;
  u32 carry = negative ? sum > low : sum < low;
  SYNCWARP();  // All lanes have read both words.
  if (LANE == 0) x[0] = sum;
  SYNCWARP();
  u32 out = carry ? step(x, words, 1, negative) : 0;
  SYNCWARP();
  // A carry out of the words is -1, since 2^(64 words) is.
  if (out && !negative) {
    out = step(x, words, 0, true);
    SYNCWARP();
  }
  // Below zero, 2^(64 words) + 1 comes in. Its power is in the borrow.
  if (out) out = step(x, words, 0, false);
  if (LANE == 0) x[words] = out;
}
