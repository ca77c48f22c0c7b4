// The last min(12, log N) levels of the forward transform, and the first ones of the inverse, in place.
//
// Grid: x = ceil(towers N / 4096), y = items. Block: 256 threads of 16 points, and 34.8 KB of shared memory.
// An item is a polynomial of `stride` towers of N = 2^log words, log in 4..16. The kernel transforms its towers
// `first` .. `first + towers`. Block x reads and writes 4096 words of them, or those that are left. Tower i has the
// prime moduli[i] and the factors table[N i] .. table[N (i + 1)]. For log > 12, columns.cu has the other levels.
//
// prime_forward_rows  Order: natural to that of `NttPlan::exponent`. Range: 0..4q in, canonical out.
// prime_inverse_rows  Order: back. Range: canonical in; out canonical for log <= 12, otherwise in 0..2q.
//
// Bytes: 8 in and 8 out a point, factors aside. Operations: a butterfly for each two points and level.
#include "prime/levels.h"

#define TILE 4096u

// Word i of a tile in shared memory: threads of a warp hit different banks at every stride.
FN u32 shared_place(u32 i) { return i + (i >> 4); }

// The polynomial of a thread's points.
struct Tower {
  const factor *RESTRICT table;
  u64 q;
};

FN Tower tower_of(const factor *RESTRICT table, const modulus *RESTRICT moduli, u32 tower, u32 log) {
  return {table + ((u64)tower << log), load_constant(&moduli[tower].q)};
}

KERNEL(prime_forward_rows, 256, 2)
(u64 *RESTRICT data, const factor *RESTRICT table, const modulus *RESTRICT moduli, u32 first, u32 towers, u32 stride,
 u32 log) {
  SHARED(u64, s, TILE + TILE / 16);
  u32 begin = BID * TILE, left = (towers << log) - begin, below = (1u << log) - 1;
  data += (((u64)BID_Y * stride + first) << log) + begin;
  u64 v[16];
  u32 levels = log < 12 ? log : 12;
  for (u32 todo = levels; todo > 0;) {
    u32 now = todo < 4 ? todo : 4, bit = todo < 4 ? 0 : todo - 4;
    u32 p = first_point(TID, bit);
    bool exists = p < left;
    if (todo == levels) {
      UNROLL for (u32 r = 0; r < 16; r++) v[r] = exists ? data[p + (r << bit)] : 0;
    } else {
      SYNC();
      UNROLL for (u32 r = 0; r < 16; r++) v[r] = s[shared_place(p + (r << bit))];
    }
    if (exists) {
      Tower t = tower_of(table, moduli, first + ((begin + p) >> log), log);
      split_levels(v, t.table, t.q, ((begin + p) & below) + below + 1, bit, 4 - now, 4);
      if (bit == 0) UNROLL for (u32 r = 0; r < 16; r++) v[r] = zq_once(zq_once(v[r], 2 * t.q), t.q);
    }
    UNROLL for (u32 r = 0; r < 16; r++) s[shared_place(p + (r << bit))] = v[r];
    todo -= now;
  }
  SYNC();
  UNROLL for (u32 r = 0; r < 16; r++) {
    u32 at = TID + 256 * r;
    if (at < left) data[at] = s[shared_place(at)];
  }
}

KERNEL(prime_inverse_rows, 256, 2)
(u64 *RESTRICT data, const factor *RESTRICT table, const modulus *RESTRICT moduli, u32 first, u32 towers, u32 stride,
 u32 log) {
  SHARED(u64, s, TILE + TILE / 16);
  u32 begin = BID * TILE, left = (towers << log) - begin, below = (1u << log) - 1;
  data += (((u64)BID_Y * stride + first) << log) + begin;
  UNROLL for (u32 r = 0; r < 16; r++) {
    u32 at = TID + 256 * r;
    s[shared_place(at)] = at < left ? data[at] : 0;
  }
  u64 v[16];
  u32 levels = log < 12 ? log : 12;
  for (u32 done = 0; done < levels;) {
    // The first pass has 1 to 4 levels, so that the others have 4.
    u32 now = done == 0 ? ((levels - 1) & 3) + 1 : 4, bit = done == 0 ? 0 : done;
    u32 p = first_point(TID, bit);
    bool exists = p < left;
    SYNC();
    UNROLL for (u32 r = 0; r < 16; r++) v[r] = s[shared_place(p + (r << bit))];
    if (exists) {
      Tower t = tower_of(table, moduli, first + ((begin + p) >> log), log);
      join_levels(v, t.table, t.q, ((begin + p) & below) + below + 1, bit, 4 - now, 4);
      if (done + now == log) finish(v, t.table, t.q);
    }
    done += now;
    if (done < levels) {
      UNROLL for (u32 r = 0; r < 16; r++) s[shared_place(p + (r << bit))] = v[r];
    } else if (exists) {
      UNROLL for (u32 r = 0; r < 16; r++) data[p + (r << bit)] = v[r];
    }
  }
}
