// The levels of transforms of more than 4096 points that rows.cu leaves: the first log N - 12 of the forward transform,
// and the last ones of the inverse, in place.
//
// Grid: x = towers N / 4096, y = items. Block: 256 threads of 16 points at stride N / 16. No shared memory.
// The arguments are those of rows.cu, with log in 13..16.
//
// prime_forward_columns  Range: canonical in, 0..4q out.
// prime_inverse_columns  Range: 0..2q in, canonical out. It divides by N.
//
// Bytes: 8 in and 8 out a point. Operations: a butterfly for each two points and level.
#include "prime/levels.h"

// The points of a thread in its tower.
struct Columns {
  u64 *RESTRICT data;
  const factor *RESTRICT table;
  u64 q;
  u32 at, step;
};

FN Columns columns_of(u64 *RESTRICT data, const factor *RESTRICT table, const modulus *RESTRICT moduli, u32 first,
                      u32 stride, u32 log) {
  u32 thread = BID * 256 + TID, tower = first + (thread >> (log - 4)), at = thread & ((1u << (log - 4)) - 1);
  return {data + (((u64)BID_Y * stride + tower) << log) + at, table + ((u64)tower << log),
          load_constant(&moduli[tower].q), at, log - 4};
}

KERNEL(prime_forward_columns, 256, 2)
(u64 *RESTRICT data, const factor *RESTRICT table, const modulus *RESTRICT moduli, u32 first, u32 stride, u32 log) {
  Columns c = columns_of(data, table, moduli, first, stride, log);
  u64 v[16];
  UNROLL for (u32 r = 0; r < 16; r++) v[r] = c.data[r << c.step];
  split_levels(v, c.table, c.q, c.at + (1u << log), c.step, 0, log - 12);
  UNROLL for (u32 r = 0; r < 16; r++) c.data[r << c.step] = v[r];
}

KERNEL(prime_inverse_columns, 256, 2)
(u64 *RESTRICT data, const factor *RESTRICT table, const modulus *RESTRICT moduli, u32 first, u32 stride, u32 log) {
  Columns c = columns_of(data, table, moduli, first, stride, log);
  u64 v[16];
  UNROLL for (u32 r = 0; r < 16; r++) v[r] = c.data[r << c.step];
  join_levels(v, c.table, c.q, c.at + (1u << log), c.step, 0, log - 12);
  finish(v, c.table, c.q);
  UNROLL for (u32 r = 0; r < 16; r++) c.data[r << c.step] = v[r];
}
