// Products of the transpose of a stored matrix with vectors: sums over its rows, not reduced.
//
// Grid: (tiles, slices). Block: 256 threads. A thread has four columns, and every (1024 / width)-th row of its slice.
// A block reads `per_slice` rows of one tile, and the factors of these rows for each vector. It adds to 96-bit sums of
// the columns of its tile.
// Ranges: words of the matrix and factors are any words. The sum over all launches has less than 2^32 terms.
// Bytes: 4 a word, 4 a row and vector, 24 a column, slice and vector. Operations: three a word and vector.
#pragma once
#include "lwe/tile.h"

// sums[slice][vector][..][place] += sum over rows of matrix[row][column] * factors[word][first_row + row][vector].
// Shapes: matrix has, from word `start` on, `rows` rows of each of the launch's tiles, from tile `first_tile` on;
// factors[words][all_rows][V].
template <int V>
FN void multiply(u32 *RESTRICT sums, const u32 *RESTRICT matrix, const u32 *RESTRICT factors, u64 start, u32 first_tile,
                 u32 words, u32 columns, u32 rows, u32 first_row, u32 all_rows, u32 per_slice) {
  SHARED(uint4, shared, 3 * COLUMNS / 4);
  tile t = tile_of(first_tile + BID, words, columns);
  u32 quads = t.width / 4, quad = TID % quads, group = TID / quads, groups = 256 / quads;
  u32 from = BID_Y * per_slice, end = rows - from < per_slice ? rows : from + per_slice;
  matrix += start + (u64)rows * (t.place - tile_of(first_tile, words, columns).place) + 4 * quad;
  factors += ((u64)t.word * all_rows + first_row) * V;

  sum96 own[V][4] = {};
  if (group < groups) {
    UNROLL_BY_4 for (u32 row = from + group; row < end; row += groups) {
      uint4 a = load_constant((const uint4 *)(matrix + (u64)row * t.width));
      UNROLL for (int v = 0; v < V; v++) {
        u32 factor = load_constant(factors + (u64)row * V + v);
        multiply_add(own[v][0], a.x, factor);
        multiply_add(own[v][1], a.y, factor);
        multiply_add(own[v][2], a.z, factor);
        multiply_add(own[v][3], a.w, factor);
      }
    }
  }
  // The groups of a block add their sums one after the other.
  UNROLL for (int v = 0; v < V; v++) {
    for (u32 turn = 0; turn < groups; turn++) {
      SYNC();
      if (group != turn) continue;
      uint4 *low = shared + quad, *middle = low + COLUMNS / 4, *high = middle + COLUMNS / 4;
      if (turn) {
        uint4 l = *low, m = *middle, h = *high;
        add(own[v][0], {l.x, m.x, h.x});
        add(own[v][1], {l.y, m.y, h.y});
        add(own[v][2], {l.z, m.z, h.z});
        add(own[v][3], {l.w, m.w, h.w});
      }
      *low = make_uint4(own[v][0].low, own[v][1].low, own[v][2].low, own[v][3].low);
      *middle = make_uint4(own[v][0].middle, own[v][1].middle, own[v][2].middle, own[v][3].middle);
      *high = make_uint4(own[v][0].high, own[v][1].high, own[v][2].high, own[v][3].high);
    }
    SYNC();
    add_slice(sums, (const u32 *)shared, t, (u64)BID_Y * V + v, words * columns);
    SYNC();
  }
}

#define MULTIPLY(name, vectors, blocks) \
  KERNEL(name, 256, blocks)(u32 *RESTRICT sums, const u32 *RESTRICT matrix, const u32 *RESTRICT factors, u64 start, \
                            u32 first_tile, u32 words, u32 columns, u32 rows, u32 first_row, u32 all_rows, \
                            u32 per_slice) { \
    multiply<vectors>(sums, matrix, factors, start, first_tile, words, columns, rows, first_row, all_rows, per_slice); \
  }
