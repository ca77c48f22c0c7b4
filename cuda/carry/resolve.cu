// Carries between blocks, after coefficients.cu or add.cu.
//
// Grid: x = blocks = ceil(words / 2048), y = batch. Block: one warp.
// Block x reads the flags of the blocks before it, and adds their carry to its 2048 words of `result`. The last one
// also writes the carry out of the number to `out`, one word an item. `carry` in 0..1 comes into the lowest word.
// Range: words in 1..2^31.
// Almost always a block reads 32 flags and, if there is a carry, changes one word: only words of all ones pass it on.
#include "carry/carry.h"

// The carry that leaves block `last`, if `carry` comes into block 0. The nearest block that does not pass a carry from
// below (or generates one anyway) decides.
FN u32 carry_from(const u32 *RESTRICT flags, u32 last, u32 carry) {
  for (u32 above = last + 1; above > 0; above = above > 32 ? above - 32 : 0) {
    u32 flag = LANE < above ? flags[above - 1 - LANE] : PASSES;
    u32 deciding = BALLOT(flag != PASSES), generating = BALLOT(flag & GENERATES);
    if (deciding) return (deciding & (0u - deciding) & generating) != 0;
  }
  return carry;
}

KERNEL(carry_resolve, 32, 16)
(u64 *RESTRICT result, const u32 *RESTRICT flags, u32 *RESTRICT out, u32 words, u32 carry) {
  u32 block = BID, blocks = block_count(words);
  result += (u64)BID_Y * words;
  flags += (u64)BID_Y * blocks;
  u32 into = block == 0 ? carry : carry_from(flags, block - 1, carry);
  if (block == blocks - 1 && LANE == 0) out[BID_Y] = leaves(flags[block], into);
  for (u32 first = block * BLOCK_WORDS; into && first < words && first < (block + 1) * BLOCK_WORDS; first += 32) {
    u32 at = first + LANE;
    u64 word = at < words ? result[at] : 0;
    u64 added = carries(0, BALLOT(word == ~0ull), 1);
    if (at < words && (added >> LANE & 1)) result[at] = word + 1;
    into = (u32)(added >> 32);
  }
}
