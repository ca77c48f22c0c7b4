// Products of the transpose of a stored matrix with vectors: sums over its rows, not reduced.
//
// Grid: (tiles, slices). Block: 256 threads. A thread has four columns, and every (1024 / width)-th row of its slice.
// A block reads `per_slice` rows of one tile, and the factors of these rows for each vector. It adds to 96-bit sums of
// the columns of its tile.
// Ranges: words of the matrix and factors are any words. The sum over all launches has less than 2^32 terms.
// Bytes: 4 a word, 4 a row and vector, 24 a column, slice and vector. Operations: three a word and vector.
#pragma once
#include "lwe/tile.h"

// Four columns of a row, and its factors.
template <int V> struct row_part {
  uint4 columns;
  u32 factor[V];
};

template <int V> FN row_part<V> load_row(const u32 *RESTRICT columns, const u32 *RESTRICT factors) {
  row_part<V> part = {load_constant((const uint4 *)columns)};
  if (V % 4) {
    UNROLL for (int v = 0; v < V; v++) part.factor[v] = load_constant(factors + v);
  } else {
    UNROLL for (int v = 0; v < V / 4; v++) {
      uint4 four = load_constant((const uint4 *)factors + v);
      part.factor[4 * v] = four.x; part.factor[4 * v + 1] = four.y;
      part.factor[4 * v + 2] = four.z; part.factor[4 * v + 3] = four.w;
    }
  }
  return part;
}

template <int V> FN void multiply_add(sum96 (&own)[V][4], const row_part<V> &part) {
  UNROLL for (int v = 0; v < V; v++) {
    multiply_add(own[v][0], part.columns.x, part.factor[v]);
    multiply_add(own[v][1], part.columns.y, part.factor[v]);
    multiply_add(own[v][2], part.columns.z, part.factor[v]);
    multiply_add(own[v][3], part.columns.w, part.factor[v]);
  }
}

// sums[slice][vector][..][place] += sum over rows of matrix[row][column] * factors[word][first_row + row][vector].
// Shapes: matrix has, from word `start` on, `rows` rows of each of the launch's tiles, from tile `first_tile` on;
// factors[words][all_rows][V].
template <int V>
FN void multiply(u32 *RESTRICT sums, const u32 *RESTRICT matrix, const u32 *RESTRICT factors, u64 start, u32 first_tile,
                 u32 words, u32 columns, u32 rows, u32 first_row, u32 all_rows, u32 per_slice) {
  constexpr int ROWS = V == 1 ? 4 : 2;
  SHARED(uint4, shared, 3 * COLUMNS / 4);
  tile t = tile_of(first_tile + BID, words, columns);
  u32 quads = t.width / 4, quad = TID % quads, group = TID / quads, groups = 256 / quads;
  u32 from = BID_Y * per_slice, end = rows - from < per_slice ? rows : from + per_slice;
  u32 row = from + group, rows_of_step = ROWS * groups, step = groups * t.width;
  matrix += start + (u64)rows * (t.place - tile_of(first_tile, words, columns).place) + (u64)row * t.width + 4 * quad;
  factors += ((u64)t.word * all_rows + first_row + row) * V;

  sum96 own[V][4] = {};
  if (group < groups) {
    // The loads of some rows come first, so that they wait together.
    ROLL for (; row + rows_of_step - groups < end; row += rows_of_step) {
      row_part<V> parts[ROWS];
      UNROLL for (int i = 0; i < ROWS; i++, matrix += step, factors += groups * V) {
        parts[i] = load_row<V>(matrix, factors);
      }
      UNROLL for (int i = 0; i < ROWS; i++) multiply_add<V>(own, parts[i]);
    }
    ROLL for (; row < end; row += groups, matrix += step, factors += groups * V) {
      multiply_add<V>(own, load_row<V>(matrix, factors));
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
