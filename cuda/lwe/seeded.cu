// Products of the transpose of a seeded matrix with a vector. The words of the matrix stay in registers.
//
// Let u be the units of 16 columns of a tile, and d = gcd(16, u). A period is u / d groups, which are 16 / d whole
// rows. Each thread has one block of ChaCha8 of a period, that is 16 words, and the same columns in every period.
//
// Grid: (tiles, slices, parts). Block: 256 threads. A period has 16 u / d threads; if these are more than 256, `parts`
// blocks share them, else a block works on several periods at once. A block has slice number BID_Y * parts + BID_Z.
// A block reads the factors of its rows. It adds to 96-bit sums of the columns of its tile.
// Ranges: factors are any words. The sum over all launches has less than 2^32 terms.
// Bytes: 4 a row and block, 24 a column and slice. Operations: about 27 a word to generate it, 3 for its product.
#include "lwe/chacha.h"

// sums[slice][..][place] += sum over rows of matrix[row][column] * factors[word][row], for rows first_row .. end_row.
// Shapes: factors[words][all_rows], first[words][all_rows] or null, moduli[words]. Column 0 of the matrix is `first` if
// that is not null. Ranges: first_row, end_row and per_slice are multiples of 32.
// WHOLE: the width is a multiple of 256, so a block of ChaCha8 has words of one row.
template <bool WHOLE>
FN void seeded(u32 *RESTRICT sums, const u32 *RESTRICT factors, const u32 *RESTRICT first, const u32 *RESTRICT moduli,
               u32 first_tile, u32 words, u32 columns, u32 first_row, u32 end_row, u32 all_rows, u32 per_slice,
               const u32 (&key)[8]) {
  SHARED(u32, shared, 3 * COLUMNS);
  tile t = tile_of(first_tile + BID, words, columns);
  u32 units = t.width / 16, rows = 1;
  while (!WHOLE && units * rows % 16) rows *= 2;
  u32 threads = units * rows, periods = threads < 256 ? 256 / threads : 1;
  // The thread's period, its group of it, and its lane.
  u32 period = TID / threads, own = BID_Z * 256 + TID % threads, lane = own % 16, group = own / 16;
  u32 from = first_row + BID_Y * per_slice, end = end_row - from < per_slice ? end_row : from + per_slice;
  factors += (u64)t.word * all_rows;
  bool stores = first && t.block == 0 && lane == 0;
  if (stores) first += (u64)t.word * all_rows;

  // The row of each word within the period, four bits each, and a bit for each word of column 0.
  u64 row_of = 0;
  u32 stored = 0, unit = 16 * group % units, row_in = 16 * group / units;
  UNROLL for (int i = 0; i < 16; i++) {
    row_of |= (u64)row_in << (4 * i);
    stored |= (u32)(unit == 0) << i;
    if (++unit == units) unit = 0, row_in++;
  }
  if (!stores) stored = 0;

  sum96 sum[16] = {};
  if (period < periods && own < threads) {
    u32 modulus = moduli[t.word];
    ROLL for (u32 row = from + period * rows; row < end; row += periods * rows) {
      generator of = generator_of(key, t, row, modulus);
      u32 x[16];
      residues(x, of, group_of(t, row) + group, lane);
      if (WHOLE) {
        if (stored & 1) x[0] = first[row];
        u32 factor = factors[row];
        UNROLL for (int i = 0; i < 16; i++) multiply_add(sum[i], x[i], factor);
      } else {
        UNROLL for (int i = 0; i < 16; i++) {
          u32 of_word = row + ((u32)(row_of >> (4 * i)) & 15);
          if (stored >> i & 1) x[i] = first[of_word];
          multiply_add(sum[i], x[i], factors[of_word]);
        }
      }
    }
  }
  // Within a period, the words i of all threads have different columns. So the block adds them one after the other.
  for (u32 i = TID; i < 3 * COLUMNS; i += 256) shared[i] = 0;
  for (u32 turn = 0; turn < periods; turn++) {
    u32 unit = 16 * group % units;
    UNROLL for (int i = 0; i < 16; i++) {
      SYNC();
      if (period == turn && own < threads) {
        u32 *at = shared + 16 * unit + lane;
        sum96 s = {at[0], at[COLUMNS], at[2 * COLUMNS]};
        add(s, sum[i]);
        at[0] = s.low;
        at[COLUMNS] = s.middle;
        at[2 * COLUMNS] = s.high;
      }
      if (++unit == units) unit = 0;
    }
  }
  SYNC();
  add_slice(sums, shared, t, (u64)BID_Y * GRID_Z + BID_Z, words * columns);
}

#define SEEDED(name, whole, blocks) \
  KERNEL(name, 256, blocks)(u32 *RESTRICT sums, const u32 *RESTRICT factors, const u32 *RESTRICT first, \
                       const u32 *RESTRICT moduli, u32 first_tile, u32 words, u32 columns, u32 first_row, \
                       u32 end_row, u32 all_rows, u32 per_slice, SEED_PARAMETERS) { \
    u32 key[8] = SEED; \
    seeded<whole>(sums, factors, first, moduli, first_tile, words, columns, first_row, end_row, all_rows, per_slice, \
                  key); \
  }
SEEDED(lwe_seeded_whole, true, 2)
SEEDED(lwe_seeded, false, 1)
