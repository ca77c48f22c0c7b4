// Comparison of two numbers.
//
// Grid: x = 1, y = batch. Block: 256 threads.
// A block reads its items of a and b, `words` words each, from the top down, 256 at a time, until two words differ. It
// writes 1 to `out`, one word an item, if a > b, 0 if a = b, and -1 if a < b.
// Range: words in 1..2^31.
// Bytes: 16 a word that it reads. The time depends on the operands.
#include "port.h"

KERNEL(carry_compare, 256, 8)(const u64 *RESTRICT a, const u64 *RESTRICT b, i32 *RESTRICT out, u32 words) {
  SHARED(u32, masks, 16);  // of 8 warps: where the words differ, and where a is greater
  u64 item = (u64)BID_Y * words;
  u32 warp = TID >> 5;
  for (u32 above = words; above > 0; above = above > 256 ? above - 256 : 0) {
    // Thread 0 has the highest word.
    bool has = TID < above;
    u64 x = has ? a[item + above - 1 - TID] : 0, y = has ? b[item + above - 1 - TID] : 0;
    u32 differ = BALLOT(x != y), greater = BALLOT(x > y);
    if (LANE == 0) masks[warp] = differ, masks[8 + warp] = greater;
    SYNC();
    i32 order = 0;
    UNROLL for (int w = 7; w >= 0; w--) {
      // The lowest bit that is set is that of the highest word that differs.
      u32 bit = masks[w] & (0u - masks[w]);
      if (bit) order = masks[8 + w] & bit ? 1 : -1;
    }
    if (order != 0 || above <= 256) {
      if (TID == 0) out[BID_Y] = order;
      return;
    }
    SYNC();
  }
}
