// Transforms of rows of 2^C points, C in 1..12, in place.
//
// Grid: x = ceil(words / 4096), y = batch. Block: 256 threads of 16 points; 34.9 KB of shared memory if C > 4.
// A block reads and writes the 4096 words from 4096 x on of its item, or those before `words`. An item has `words`
// words, a multiple of 2^C; it is aligned to 16 bytes.
//
// Forward  Order: natural to that of `Plan::exponent`. Range: packed if `outer`, otherwise any; out canonical. If
//          `outer` is not null, word i is multiplied by outer[i & outer_mask] first. The mask is 2^32 - 1
//          or 2^k - 1, k at least 12.
// Inverse  Order: that of `Plan::exponent` to natural. The result is multiplied by 2^C and by the constant in `inner`
//          (for C <= 4, by `scale` if `last`). Range: any in; out canonical if `last`, otherwise packed.
// `inner` is described in tile.h; it is not read if C <= 4.
// Bytes: 8 in and 8 out a point, 16 more for `outer`. Operations: see README.md.
#pragma once
#include "solinas/tile.h"

struct alignas(16) pair {
  u64 a, b;
};

// Whether the row of point p is one of the `left` words.
template <int C> FN bool exists(Point p, u32 left) { return (p.at >> C << C) < left; }

// Half of a thread's 16 neighbouring points u, 16 u + k and 16 u + k + 8, k < 8. From 64 points on, the two lowest
// base-8 digits of a place in a spectrum are exchanged: with 64 h + 16 l = 16 u, they go to 64 h + 8 k + 2 l and + 1.
FN u32 pair_place(u32 u, int k) { return ((u >> 2) << 5) + 4 * (u32)k + (u & 3); }

template <int C>
FN void forward_rows(u64 *RESTRICT data, u32 words, const twiddle *RESTRICT inner, const twiddle *RESTRICT outer,
                     u32 outer_mask) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  constexpr int RHO = first_bits(C), Q = C - RHO;
  u32 first = BID * 4096, left = words - first;
  bool twiddled = outer != nullptr;
  data += (u64)BID_Y * words + first;
  outer += first & outer_mask;
  wide v[16];
  if (twiddled) {
    each_point<Q, RHO>([&](int r, Point p) {
      v[r] = exists<C>(p, left) ? gl_multiply(data[p.at], load_twiddle(outer, p.at)) : wide{0, 0};
    });
  } else {
    each_point<Q, RHO>([&](int r, Point p) { v[r] = gl_widen(exists<C>(p, left) ? data[p.at] : 0); });
  }
  forward_tile<0, C>(v, s, inner, [](wide a) { return gl_lift(a); });
  if constexpr (C < 6) {
    each_point<0, C < 4 ? C : 4>([&](int r, Point p) { if (exists<C>(p, left)) data[p.at] = gl_canonical(v[r]); });
  } else {
    u32 u = column<4>(0);
    if (16 * u < left)
      UNROLL for (int k = 0; k < 8; k++) {
        ((pair *)data)[pair_place(u, k)] = {gl_canonical(v[k]), gl_canonical(v[k + 8])};
      }
  }
}

template <int C>
FN void inverse_rows(u64 *RESTRICT data, u32 words, const twiddle *RESTRICT inner, u64 scale, u32 last) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  u32 first = BID * 4096, left = words - first;
  data += (u64)BID_Y * words + first;
  wide v[16];
  if constexpr (C < 6) {
    each_point<0, C < 4 ? C : 4>([&](int r, Point p) { v[r] = gl_widen(exists<C>(p, left) ? data[p.at] : 0); });
  } else {
    u32 u = column<4>(0);
    UNROLL for (int k = 0; k < 8; k++) {
      pair x = 16 * u < left ? ((const pair *)data)[pair_place(u, k)] : pair{0, 0};
      v[k] = gl_widen(x.a), v[k + 8] = gl_widen(x.b);
    }
  }
  inverse_tile<0, C>(v, s, inner, [=](wide a) { return last ? gl_lift(a) : gl_lift_packed(a); });
  constexpr int RHO = first_bits(C);
  each_point<C - RHO, RHO>([&](int r, Point p) {
    u64 word = gl_word(v[r]);
    if (C <= 4 && last) word = gl_word(gl_lift(gl_product(word, scale)));
    if (exists<C>(p, left)) data[p.at] = last ? gl_reduce(word) : word ^ GL_FLIP;
  });
}
