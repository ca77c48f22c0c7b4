// The rows of a seeded matrix, for products with several vectors and for matrices that stay on the device.
//
// Grid: ceil(words / 4096). Block: 256 threads, one block of ChaCha8 each.
// A block writes 4096 words. Ranges: words below their modulus.
// Bytes: 4 a word. Operations: about 27 a word.
#include "lwe/chacha.h"

// matrix[row][column] = the residues of the rows first_row .. first_row + rows of a tile.
// Shapes: matrix has these rows from word `start` on; first and moduli are as in `seeded.cu`. Ranges: first_row and rows
// are multiples of 32, and the rows lie in one stream of 2^22 rows.
KERNEL(lwe_expand, 256, 2)(u32 *RESTRICT matrix, const u32 *RESTRICT first, const u32 *RESTRICT moduli, u64 start,
                           u32 index, u32 words, u32 columns, u32 first_row, u32 rows, u32 all_rows, SEED_PARAMETERS) {
  u32 key[8] = SEED;
  tile t = tile_of(index, words, columns);
  u32 group = BID * 16 + TID / 16, lane = TID % 16;
  if (group >= rows * t.width / GROUP) return;
  generator of = generator_of(key, t, first_row, moduli[t.word]);
  u32 x[16];
  residues(x, of, group_of(t, first_row) + group, lane);
  if (first && t.block == 0 && lane == 0) {
    u32 units = t.width / 16;
    first += (u64)t.word * all_rows + first_row;
    UNROLL for (u32 i = 0; i < 16; i++) {
      u32 unit = 16 * group + i;
      if (unit % units == 0) x[i] = first[unit / units];
    }
  }
  u32 *out = matrix + start + (u64)group * GROUP + lane;
  UNROLL for (int i = 0; i < 16; i++) out[16 * i] = x[i];
}
