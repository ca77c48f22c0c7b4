// Transforms of a tile: 16 points a thread, exchanged through shared memory.
//
// A tile is an array of 2^t points, t = 11 or 12. A place in it has t bits. A transform of 2^C points runs over bits
// W .. W + C of the place: W = 0 for rows, W > 0 for columns. The other bits count independent transforms.
// A stage transforms R = 2^RHO of these bits from bit Q on. The remaining bits of the place, in their order, are a
// number u. Each thread has 16 / R values of u, and R points for each of them. The 32 lanes of a warp have neighbouring
// u, and a warp has a contiguous range of u. Hence the stages of rows of at most 512 points stay within a warp.
//
// The first stage has radix 2^(C mod 4) (16 if C is a multiple of 4), the others 16. Between two stages of a node of
// L = R M points, its point (k, i) is multiplied by w^(k i), w of order L, k < R, i < M. The table `inner` holds these
// factors for the whole row, then for the nodes below it:
//   forward  entry j (L / 16) + (reversed k) (M / 16) + i: exponent k (j (M / 16) + i), i < M / 16, j < 16
//   inverse  entry (reversed k) M + i: exponent -k i
#pragma once
#include "solinas/dft.h"

// Words of shared memory for a tile of `count` points. Strides of 16 and of 256 go round the banks.
#define TILE_WORDS(count) ((count) + (count) / 16 + (count) / 256)
FN constexpr u32 padded(u32 place) { return place + (place >> 4) + (place >> 8); }

FN constexpr int first_bits(int c) { return c % 4 ? c % 4 : 4; }

// The g-th of 2^(4 - RHO) values of u of this thread.
template <int RHO> FN u32 column(int g) { return ((TID >> 5) << (9 - RHO)) + 32 * (u32)g + LANE; }

// The place of u, j = 0. The place of u and j is this plus j << Q.
template <int Q, int RHO> FN u32 place(u32 u) { return (u >> Q) << (Q + RHO) | (u & ((1u << Q) - 1)); }

// Orders all reads and writes of shared memory among the threads that exchange points.
template <int W, int C> FN void exchange() {
  if constexpr (W + C <= 9) SYNCWARP();
  else SYNC();
}

struct Point {
  u32 u, j;
  u64 at;    // its place in the tile
  u64 slot;  // its word in shared memory
};

// Calls body(register, point) for the 16 points of this thread. Points of one u are 16 / R registers apart.
template <int Q, int RHO, class Body> FN void each_point(Body body) {
  constexpr int R = 1 << RHO, G = 16 / R;
  UNROLL for (int g = 0; g < G; g++) {
    u32 u = column<RHO>(g);
    u64 at = place<Q, RHO>(u), slot = padded(place<Q, RHO>(u));
    // The places of u and of j have no bits in common, so that their slots add up. Sums of 64 bits become a register
    // and a constant offset of the load.
    UNROLL for (int j = 0; j < R; j++) {
      body(j * G + g, Point{u, (u32)j, at + ((u32)j << Q), slot + padded((u32)j << Q)});
    }
  }
}

// The transforms of one stage. `lift` is gl_lift or gl_lift_packed.
template <int RHO, bool INVERSE, class Lift> FN void stage(wide (&v)[16], Lift lift) {
  constexpr int R = 1 << RHO, G = 16 / R;
  UNROLL for (int g = 0; g < G; g++) {
    wide x[R];
    UNROLL for (int j = 0; j < R; j++) x[j] = v[j * G + g];
    x[0] = lift(x[0]);
    if constexpr (INVERSE) inverse_dft<R>(x);
    else dft<R>(x);
    UNROLL for (int j = 0; j < R; j++) v[j * G + g] = x[j];
  }
}

// What follows the first stage of forward transforms of 2^C points. Order: bit-reversed out.
// In: the points of stage <W + C - first_bits(C), first_bits(C)>, lifted by `lift` if there is no other stage, otherwise
// by gl_lift_packed. Out: the points of stage <W, min(C, 4)>, lifted by `lift`.
template <int W, int C, class Lift> FN void forward_rest(wide (&v)[16], u64 *s, const twiddle *inner, Lift lift) {
  constexpr int RHO = first_bits(C), Q = W + C - RHO;
  if constexpr (Q > W) {
    each_point<Q, RHO>([&](int r, Point p) { s[p.slot] = gl_pack(v[r]); });
    exchange<W, C>();
    // The next stage writes where it reads here, so that there is no barrier in between.
    each_point<Q - 4, 4>([&](int r, Point p) {
      u64 index = ((u64)p.j << (C - 4)) + ((p.u >> W) & ((1u << (C - 4)) - 1));
      v[r] = gl_multiply(s[p.slot], load_twiddle(inner, index));
    });
    if constexpr (Q - 4 > W) stage<4, false>(v, [](wide a) { return gl_lift_packed(a); });
    else stage<4, false>(v, lift);
    forward_rest<W, C - RHO>(v, s, inner + (1 << C), lift);
  }
}

// Forward transforms of 2^C points. Order: natural in, bit-reversed out. Range: halves of at most 2^33 in, lifted out
// by `lift`. In and out: as forward_rest.
template <int W, int C, class Lift> FN void forward_tile(wide (&v)[16], u64 *s, const twiddle *inner, Lift lift) {
  constexpr int RHO = first_bits(C);
  if constexpr (C > 4) stage<RHO, false>(v, [](wide a) { return gl_lift_packed(a); });
  else stage<RHO, false>(v, lift);
  forward_rest<W, C>(v, s, inner, lift);
}

// Where `inner` has the factors of nodes of 2^level points.
FN constexpr u32 inner_offset(int c, int level) {
  u32 offset = 0;
  for (; c > level; c -= first_bits(c)) offset += 1u << c;
  return offset;
}

// Inverse transforms of 2^C points, times 2^C, from bit D of the row on. Order: bit-reversed in, natural out. Range: as
// forward_tile. In: the points of stage <W + D, RHO>; out: those of stage <W + C - first_bits(C), first_bits(C)>.
template <int W, int C, int D = 0, class Lift>
FN void inverse_tile(wide (&v)[16], u64 *s, const twiddle *inner, Lift lift) {
  constexpr int RHO = C - D < 4 ? C - D : 4, Q = W + D, DONE = D + RHO;
  if constexpr (DONE == C) {
    stage<RHO, true>(v, lift);
  } else {
    constexpr int NEXT = C - DONE < 4 ? C - DONE : 4;
    stage<RHO, true>(v, [](wide a) { return gl_lift_packed(a); });
    each_point<Q, RHO>([&](int r, Point p) { s[p.slot] = gl_pack(v[r]); });
    exchange<W, C>();
    each_point<W + DONE, NEXT>([&](int r, Point p) {
      u64 index = inner_offset(C, DONE + NEXT) + ((u64)p.j << DONE) + ((p.u >> W) & ((1u << DONE) - 1));
      v[r] = gl_multiply(s[p.slot], load_twiddle(inner, index));
    });
    inverse_tile<W, C, DONE>(v, s, inner, lift);
  }
}
