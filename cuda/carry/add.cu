// sums <- a + b (invert = 0) or a - b (invert = 1), up to the carries between blocks.
//
// Grid: x = ceil(words / 2048), y = batch. Block: 256 threads of 8 words.
// A block reads its 2048 words of a and b, and writes those of `sums` and its entry of `flags`. An item has `words`
// words and ceil(words / 2048) flags. a - b is a plus the complement of b plus 1: resolve.cu takes this 1 as the carry
// into the lowest word, and its carry out is 1 if a >= b. `sums` may be a or b.
// Range: words in 1..2^31.
// Bytes: 16 in and 8 out a word.
#include "carry/carry.h"

KERNEL(carry_add, 256, 4)
(u64 *sums, const u64 *a, const u64 *b, u32 *RESTRICT flags, u32 words, u32 invert) {
  SHARED(u32, warps, WARPS);
  u64 item = (u64)BID_Y * words, mask = invert ? ~0ull : 0;
  u32 generate[ROUNDS], propagate[ROUNDS];
  u64 word[ROUNDS];
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    u64 at = word_place(v), x = 0, y = 0;
    if (at < words) x = a[item + at], y = b[item + at] ^ mask;
    word[v] = x + y;
    generate[v] = BALLOT(word[v] < x);
    // Past the end the carry goes on to the flags.
    propagate[v] = BALLOT(at >= words || word[v] == ~0ull);
  }
  u32 block = add_carries(word, generate, propagate, warps);
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    if (word_place(v) < words) sums[item + word_place(v)] = word[v];
  }
  if (TID == 0) flags[(u64)BID_Y * block_count(words) + BID] = block;
}
