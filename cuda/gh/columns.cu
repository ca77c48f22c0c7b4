// Step 2 of Recrypt: sums of residues, one for each bit of their candidates.
//
// gh_columns: Grid: x = ceil(words / 256), y = groups. Block: 256 threads of a word. A group is three numbers: its first
// row, its first candidate, and the number of its rows. Row i of a group is added to the sum of bit b if candidate i has
// this bit. The sum of bit b of group y is item bits y + bits - 1 - b, as carry_sums writes it: the low 64 bits of the
// sum of each word to `low`, and the others to `high`.
// Range: candidates below 2^bits, bits in 1..=5, fewer than 2^23 rows in a group.
// Bytes: 8 a word and row in (rows of candidate 0 are not read), 12 a word and bit out. All threads of a block take the
// same branches.
#include "port.h"

#define BITS 5

KERNEL(gh_columns, 256, 4)
(const u64 *RESTRICT rows, const u32 *RESTRICT candidates, const u32 *RESTRICT groups, u64 *RESTRICT low,
 u32 *RESTRICT high, u32 words, u32 bits) {
  u32 at = BID * 256 + TID;
  if (at >= words) return;
  u32 row = groups[3 * BID_Y], candidate = groups[3 * BID_Y + 1], count = groups[3 * BID_Y + 2];
  u64 sum[BITS] = {0, 0, 0, 0, 0};
  u32 over[BITS] = {0, 0, 0, 0, 0};
  ROLL for (u32 i = 0; i < count; i++) {
    u32 z = candidates[candidate + i];
    if (z == 0) continue;
    u64 word = rows[(u64)(row + i) * words + at];
    UNROLL for (int b = 0; b < BITS; b++) {
      if (z >> b & 1) {
        sum[b] += word;
        over[b] += sum[b] < word;
      }
    }
  }
  UNROLL for (int b = 0; b < BITS; b++) {
    if (b < bits) {
      u64 to = ((u64)BID_Y * bits + bits - 1 - b) * words + at;
      low[to] = sum[b], high[to] = over[b];
    }
  }
}
