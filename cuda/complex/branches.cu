// The stages below the columns: whole branches in shared memory, and products of spectra in between.
//
// A branch has 2^log points, log in 6..=11: stages of radix 8, 4 and 2 down to tiles of 8 x 8 points, then the tiles.
// `radices` has the base-2 logarithms of the radices of its `stages` stages, two bits each, from the outermost on.
// Grid: x = branches of an item, y = batch. Block: 128 threads. Shared memory: 16 * 2^log bytes, two times as many for
// complex_product. A block reads and writes its branch. `twiddles` holds one list for each stage of the branch, in
// order, then the rows and the columns of the tiles. `start0`, `start1`, `rows` and `columns` are their places in it.
//
// complex_forward:  x <- transform(x), a spectrum.
// complex_inverse:  x <- inverse(x), times 2^log.
// complex_product:  a <- inverse(transform(a) transform(b)), times 2^log. `b` stays.
// complex_square:   a <- inverse(transform(a)^2).
// complex_kept:     a <- inverse(transform(a) b) for a spectrum b; item y takes spectrum y, or spectrum 0 if `one`.
// Bytes: 16 a point in and out for each operand. Shared memory: 2 accesses a point and stage, without bank conflicts.
#include "complex/stage.h"

// Most stages of a branch: its 5 levels above the tiles are one stage or two.
#define STAGES 2

// The stages of a branch, outermost first: base-2 logarithms of the radices, two bits each, and the starts of the
// twiddles of the stages, of the rows of tiles and of their columns.
struct Shape {
  u32 log, stages, radices, starts[STAGES + 2];
};

// Where point i of a branch lies: accesses of 8 neighbouring lanes, in rows and in columns of tiles, use all banks.
FN u32 place(u32 i) { return i ^ (i >> 3 & 7); }

template <int R, bool INVERSE> FN void stage(C *points, const double *RESTRICT twiddles, u32 log, u32 length_log) {
  constexpr int LEVELS = R == 2 ? 1 : R == 4 ? 2 : 3;
  u32 child_log = length_log - LEVELS;
  // The twiddles of the first node of the branch.
  twiddles += (u64)BID * Scalars<R>::count << (log - length_log);
  ROLL for (u32 i = TID; i < 1u << (log - LEVELS); i += THREADS) {
    Column c = column<R>(i, child_log);
    const double *RESTRICT w = twiddles + c.node * Scalars<R>::count;
    C v[R];
    UNROLL for (int r = 0; r < R; r++) v[r] = points[place(c.first + ((u32)r << child_log))];
    if (INVERSE) join<R>(v, w); else split<R>(v, w);
    UNROLL for (int r = 0; r < R; r++) points[place(c.first + ((u32)r << child_log))] = v[r];
  }
  SYNC();
}

template <bool INVERSE> FN void stages(C *points, const double *RESTRICT twiddles, const Shape &s) {
  u32 length = INVERSE ? 6 : s.log;
  ROLL for (u32 i = 0; i < s.stages; i++) {
    u32 at = INVERSE ? s.stages - 1 - i : i, levels = s.radices >> 2 * at & 3;
    const double *RESTRICT w = twiddles + (at == 0 ? s.starts[0] : s.starts[1]);
    if (INVERSE) length += levels;
    if (levels == 3) stage<8, INVERSE>(points, w, s.log, length);
    else if (levels == 2) stage<4, INVERSE>(points, w, s.log, length);
    else stage<2, INVERSE>(points, w, s.log, length);
    if (!INVERSE) length -= levels;
  }
}

// Barrier of the 8 lanes that share a tile.
FN void tile_barrier() { SYNCLANES(0xffu << (LANE & 24u)); }

// The six levels of tile `tile` of this item, whose points lie in a branch from `first` on. Thread c of 8
// holds column c of the tile, and then row c.
FN void tile_forward(C (&v)[8], C *points, const double *RESTRICT twiddles, const Shape &s, u32 first, u32 c, u32 tile) {
  UNROLL for (int r = 0; r < 8; r++) v[r] = points[place(first + 8 * r + c)];
  split8(v, twiddles + s.starts[STAGES] + (u64)tile * 10, 1);
  UNROLL for (int r = 0; r < 8; r++) points[place(first + 8 * r + c)] = v[r];
  tile_barrier();
  UNROLL for (int k = 0; k < 8; k++) v[k] = points[place(first + 8 * c + k)];
  split8(v, twiddles + s.starts[STAGES + 1] + (u64)tile * 80 + c, 8);
}

FN void tile_inverse(C (&v)[8], C *points, const double *RESTRICT twiddles, const Shape &s, u32 first, u32 c, u32 tile) {
  join8(v, twiddles + s.starts[STAGES + 1] + (u64)tile * 80 + c, 8);
  UNROLL for (int k = 0; k < 8; k++) points[place(first + 8 * c + k)] = v[k];
  tile_barrier();
  UNROLL for (int r = 0; r < 8; r++) v[r] = points[place(first + 8 * r + c)];
  join8(v, twiddles + s.starts[STAGES] + (u64)tile * 10, 1);
  UNROLL for (int r = 0; r < 8; r++) points[place(first + 8 * r + c)] = v[r];
}

FN void load(C *points, const C *RESTRICT from, u32 log) {
  ROLL for (u32 i = TID; i < 1u << log; i += THREADS) points[place(i)] = from[i];
}

FN void store(C *RESTRICT to, const C *points, u32 log) {
  ROLL for (u32 i = TID; i < 1u << log; i += THREADS) to[i] = points[place(i)];
}

// What happens to a transformed tile.
enum Work { FORWARD, INVERSE, PRODUCT, SQUARE, KEPT };

template <Work WORK> FN void branch(C *RESTRICT a, const C *RESTRICT b, const double *RESTRICT twiddles, const Shape &s,
                                    u32 one) {
  SHARED_OF_LAUNCH(C, shared);
  u32 log = s.log;
  u64 at = ((u64)BID_Y * gridDim.x + BID) << log;
  C *points = shared, *other = shared + (1u << log);
  a += at;
  if (WORK == PRODUCT) b += at;
  if (WORK == KEPT) b += one ? (u64)BID << log : at;
  load(points, a, log);
  if (WORK == PRODUCT) load(other, b, log);
  SYNC();
  if (WORK != INVERSE) stages<false>(points, twiddles, s);
  if (WORK == PRODUCT) stages<false>(other, twiddles, s);
  u32 c = TID & 7;
  ROLL for (u32 t = TID >> 3; t < 1u << (log - 6); t += THREADS >> 3) {
    u32 first = 64 * t, tile = (BID << (log - 6)) + t;
    C v[8];
    if (WORK == INVERSE) {
      UNROLL for (int k = 0; k < 8; k++) v[k] = points[place(first + 8 * c + k)];
    } else {
      tile_forward(v, points, twiddles, s, first, c, tile);
    }
    if (WORK == PRODUCT) {
      C w[8];
      tile_forward(w, other, twiddles, s, first, c, tile);
      UNROLL for (int k = 0; k < 8; k++) v[k] = mul(v[k], w[k]);
    }
    if (WORK == SQUARE) UNROLL for (int k = 0; k < 8; k++) v[k] = mul(v[k], v[k]);
    if (WORK == KEPT) UNROLL for (int k = 0; k < 8; k++) v[k] = mul(v[k], b[first + 8 * c + k]);
    if (WORK == FORWARD) {
      UNROLL for (int k = 0; k < 8; k++) points[place(first + 8 * c + k)] = v[k];
    } else {
      tile_inverse(v, points, twiddles, s, first, c, tile);
    }
  }
  SYNC();
  if (WORK != FORWARD) stages<true>(points, twiddles, s);
  store(a, points, log);
}

#define BRANCH(name, WORK, BLOCKS)                                                                                    \
  KERNEL(name, 128, BLOCKS)                                                                                     \
  (C *RESTRICT a, const C *b, const double *RESTRICT twiddles, u32 log, u32 stages, u32 radices, u32 start0,    \
   u32 start1, u32 rows, u32 columns, u32 one) {                                                                \
    branch<WORK>(a, b, twiddles, {log, stages, radices, {start0, start1, rows, columns}}, one);                 \
  }
BRANCH(complex_forward, FORWARD, 4)
BRANCH(complex_inverse, INVERSE, 4)
BRANCH(complex_product, PRODUCT, 2)
BRANCH(complex_square, SQUARE, 4)
BRANCH(complex_kept, KEPT, 3)
