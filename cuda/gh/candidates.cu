// Step 1 of Recrypt: the candidates of every block, from the expansions of c x_k / d.
//
// gh_candidates: Grid: x = ceil(count / 128), y = blocks. Block: 128 threads, a candidate each. Block y reads an expansion
// of `stride` words. The bit before its point has index `point`. Candidate i is the number of the `precision` + 1 bits
// after bit point - ratio i, rounded to `precision` bits, with the parity on top. The parity is bit point - ratio i, or for
// i = 0 that bit plus the parities of c and x_k. `parities` has that of x_k; the lowest word of `c` has that of c.
// `unsure` gets 1 if the 62 bits from bit `guard` on are all equal, else 0: then an error may have reached the candidates.
// Range: precision at most 4, ratio (count - 1) + precision + 1 <= point < 64 stride, below 2^32.
// Bytes: about ratio / 8 a candidate in, 4 out.
#include "port.h"

// Returns `count` < 64 bits from bit `at` on.
FN u64 bits_at(const u64 *RESTRICT x, u32 words, u32 at, u32 count) {
  u32 word = at >> 6, shift = at & 63;
  u64 low = x[word] >> shift;
  if (shift > 0 && word + 1 < words) low |= x[word + 1] << (64 - shift);
  return low & ((1ull << count) - 1);
}

KERNEL(gh_candidates, 128, 8)
(u32 *RESTRICT candidates, u32 *RESTRICT unsure, const u64 *RESTRICT expansions, const u64 *RESTRICT c,
 const u32 *RESTRICT parities, u32 stride, u32 count, u32 point, u32 ratio, u32 precision, u32 guard) {
  u32 i = BID * 128 + TID;
  if (i >= count) return;
  const u64 *x = expansions + (u64)BID_Y * stride;
  if (i == 0) {
    u64 bits = bits_at(x, stride, guard, 62);
    unsure[BID_Y] = bits == 0 || bits == (1ull << 62) - 1;
  }
  u32 bits = (u32)bits_at(x, stride, point - ratio * i - (precision + 1), precision + 2);
  u32 parity = bits >> (precision + 1);
  if (i == 0) parity ^= (u32)c[0] & parities[BID_Y];
  u32 fraction = bits & ((2u << precision) - 1);
  candidates[(u64)BID_Y * count + i] = ((fraction >> 1) + (fraction & 1)) ^ ((parity & 1) << precision);
}
