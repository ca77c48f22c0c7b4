// K2 of a product: forward rows of 256 points of both operands, the product, inverse rows.
//
// Grid: x = words / 2048, y = batch. Block: 128 threads of 16 points, 33.9 KB of shared memory.
// A block reads the 2048 words from 2048 x on of its items of a and b, and writes those of c, which may be a or b. If a
// and b are the same address, it transforms a once. An item has `words` words, a multiple of 2048.
// Order: as columns.h leaves it, in and out. Range: packed in and out. Word i of an operand is multiplied by
// outer[i & outer_mask] before its transform. The mask is 2^32 - 1 or 2^k - 1, k at least 11. The result is multiplied
// by 256.
// Bytes: 16 in and 8 out a point, 16 for `outer`. Operations: see README.md.
#include "solinas/tile.h"

KERNEL(solinas_product_rows, 128, 4)
(u64 *c, const u64 *a, const u64 *b, const twiddle *RESTRICT forward, const twiddle *RESTRICT inverse,
 const twiddle *RESTRICT outer, u32 words, u32 outer_mask) {
  SHARED(u64, s, TILE_WORDS(2048));
  SHARED(u64, kept, 2048);  // the spectrum of a, of which each thread uses its own points
  u32 first = BID * 2048;
  u64 item = (u64)BID_Y * words + first;
  outer += first & outer_mask;
  wide v[16];
  // One body for both operands: two copies of it would spill registers.
  ROLL for (const u64 *source = a;; source = b) {
    each_point<4, 4>([&](int r, Point p) {
      v[r] = gl_multiply(source[item + p.at], load_twiddle(outer, p.at));
    });
    forward_tile<0, 8>(v, s, forward, [](wide x) { return gl_lift(x); });
    if (source == b) break;
    UNROLL for (int r = 0; r < 16; r++) kept[128 * r + TID] = gl_word(v[r]);
    SYNCWARP();  // all lanes have read what they now write
  }
  // To square, both factors are the spectrum of the last operand.
  if (a == b) UNROLL for (int r = 0; r < 16; r++) kept[128 * r + TID] = gl_word(v[r]);
  UNROLL for (int r = 0; r < 16; r++) v[r] = gl_product(kept[128 * r + TID], gl_word(v[r]));
  inverse_tile<0, 8>(v, s, inverse, [](wide x) { return gl_lift_packed(x); });
  each_point<4, 4>([&](int r, Point p) { c[item + p.at] = gl_pack(v[r]); });
}
