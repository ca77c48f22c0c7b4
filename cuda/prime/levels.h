// Levels of the negacyclic transform on the 16 points that a thread holds in registers.
//
// The polynomial's modulus splits along a binary tree, from X^N + 1 to linear factors. Level d has 2^d nodes of N / 2^d
// words each. Node i of it has the factor table[2^d + i] = psi^brv(2^d + i), as in `NttPlan::factors`.
#pragma once
#include "zq.h"

// (a, b) <- (a + b w, a - b w). Range: 0..4q in and out.
FN void split(u64 &a, u64 &b, factor w, u64 q) {
  u64 u = zq_once(a, 2 * q), p = zq_scale_lazy(b, w, q);
  a = u + p;
  b = u + 2 * q - p;
}

// (a, b) <- (a + b, (a - b) w). Range: 0..2q in and out.
FN void join(u64 &a, u64 &b, factor w, u64 q) {
  u64 difference = a + 2 * q - b;
  a = zq_once(a + b, 2 * q);
  b = zq_scale_lazy(difference, w, q);
}

// One of the four levels on points `place + (r << log) - N`, r < 16. `place` is N plus the number of the first point in
// its polynomial. Bits log to log + 3 of it are 0. `table` is that of the polynomial's prime.
template <u32 LEVEL, class F>
FN void each_pair(u64 (&v)[16], const factor *RESTRICT table, u32 place, u32 log, F f) {
  constexpr u32 HALF = 8 >> LEVEL;
  const factor *RESTRICT nodes = table + (place >> (log + 4 - LEVEL));
  UNROLL for (u32 node = 0; node < 8 / HALF; node++) {
    factor w = load_factor(nodes + node);
    UNROLL for (u32 j = 0; j < HALF; j++) f(v[2 * node * HALF + j], v[2 * node * HALF + j + HALF], w);
  }
}

// Levels `from` to `to` - 1 of the four.
FN void split_levels(u64 (&v)[16], const factor *RESTRICT table, u64 q, u32 place, u32 log, u32 from, u32 to) {
  auto f = [q](u64 &a, u64 &b, factor w) { split(a, b, w, q); };
  if (from <= 0 && to > 0) each_pair<0>(v, table, place, log, f);
  if (from <= 1 && to > 1) each_pair<1>(v, table, place, log, f);
  if (from <= 2 && to > 2) each_pair<2>(v, table, place, log, f);
  if (from <= 3 && to > 3) each_pair<3>(v, table, place, log, f);
}

// The inverse of `split_levels`, times 2 for each level. `table` has the inverse factors.
FN void join_levels(u64 (&v)[16], const factor *RESTRICT table, u64 q, u32 place, u32 log, u32 from, u32 to) {
  auto f = [q](u64 &a, u64 &b, factor w) { join(a, b, w, q); };
  if (from <= 3 && to > 3) each_pair<3>(v, table, place, log, f);
  if (from <= 2 && to > 2) each_pair<2>(v, table, place, log, f);
  if (from <= 1 && to > 1) each_pair<1>(v, table, place, log, f);
  if (from <= 0 && to > 0) each_pair<0>(v, table, place, log, f);
}

// Divides by N after the root's level: number 0 of the inverse table is 1/N, and number 1 contains it. Range: 0..2q in,
// canonical out.
FN void finish(u64 (&v)[16], const factor *RESTRICT table, u64 q) {
  factor scale = load_factor(table);
  UNROLL for (int r = 0; r < 8; r++) v[r] = zq_scale(v[r], scale, q);
  UNROLL for (int r = 8; r < 16; r++) v[r] = zq_once(v[r], q);
}

// The first of the points point + (r << log), r < 16, of thread u.
FN u32 first_point(u32 u, u32 log) { return (u >> log << (log + 4)) | (u & ((1u << log) - 1)); }
