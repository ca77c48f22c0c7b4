// Transforms of columns: 2^C points at a distance of 2^log_stride, C in 4..8, log_stride >= 12 - C.
//
// Grid: x = words / 4096, y = batch. Block: 256 threads of 16 points; 34.9 KB of shared memory if C > 4.
// An item of `words` words consists of nodes of 2^(C + log_stride) words. A block reads and writes 2^(12 - C)
// neighbouring columns of one node: 2^C segments of 2^(12 - C) words.
//
// Forward  Order: natural to bit-reversed. Range: packed if `outer`, otherwise any; out packed. If `outer` is not null,
//          word i of the item is multiplied by outer[i] first.
// Inverse  Order: bit-reversed to natural. The result is multiplied by 2^C and by the constants in `inner` and `outer`.
//          Word i of a node is multiplied by outer[i] first. Range: packed in; out canonical if `last`, otherwise
//          packed.
// `inner` is described in tile.h; it is not read if C = 4.
// Bytes: 8 in and 8 out a point, 16 more for `outer`. Operations: see README.md.
#pragma once
#include "solinas/digit.h"
#include "solinas/tile.h"

// A distance of 2^8 is that of all transforms of at most 2^16 points. As a constant it makes the offsets of a thread's
// points constants.
struct Stride256 {
  static constexpr u32 log = 8;
};
struct Stride {
  u32 log;
};

// The number of the node of this block, times its words, and its first column.
template <int C> FN u64 node_start(u32 log_stride) { return (u64)(BID >> (log_stride + C - 12)) << (C + log_stride); }
template <int C> FN u32 first_column(u32 log_stride) { return BID << (12 - C) & ((1u << log_stride) - 1); }

// The word of the node at a point of a stage from bit Q on.
template <int C, int Q, class S> FN u64 word_of(S stride, Point p) {
  constexpr int W = 12 - C;
  u32 at = (u32)p.at - (p.j << Q);
  u64 base = first_column<C>(stride.log) + ((at >> W) << stride.log) + (at & ((1u << W) - 1));
  return base + ((u64)p.j << (Q - W + stride.log));
}

// Calls body(register, word, point) for the points of this thread in a stage.
template <int C, int Q, int RHO, class Body> FN void each_word(u32 log_stride, Body body) {
  if (log_stride == 8) {
    each_point<Q, RHO>([&](int r, Point p) { body(r, word_of<C, Q>(Stride256(), p), p); });
  } else {
    each_point<Q, RHO>([&](int r, Point p) { body(r, word_of<C, Q>(Stride{log_stride}, p), p); });
  }
}

template <int C>
FN void forward_columns(u64 *RESTRICT data, u32 words, u32 log_stride, const twiddle *RESTRICT inner,
                        const twiddle *RESTRICT outer) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  constexpr int RHO = first_bits(C), W = 12 - C, Q = 12 - RHO;
  bool twiddled = outer != nullptr;
  data += (u64)BID_Y * words + node_start<C>(log_stride);
  outer += node_start<C>(log_stride);
  wide v[16];
  if (twiddled) {
    each_word<C, Q, RHO>(log_stride, [&](int r, u64 i, Point) {
      v[r] = gl_multiply(data[i], load_twiddle(outer, i));
    });
  } else {
    each_word<C, Q, RHO>(log_stride, [&](int r, u64 i, Point) { v[r] = gl_widen(data[i]); });
  }
  forward_tile<W, C>(v, s, inner, [](wide a) { return gl_lift_packed(a); });
  each_word<C, W, 4>(log_stride, [&](int r, u64 i, Point) { data[i] = gl_pack(v[r]); });
}

template <int C>
FN void inverse_columns(u64 *RESTRICT data, u32 words, u32 log_stride, const twiddle *RESTRICT inner,
                        const twiddle *RESTRICT outer, u32 last) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  constexpr int RHO = first_bits(C), W = 12 - C, Q = 12 - RHO;
  data += (u64)BID_Y * words + node_start<C>(log_stride);
  wide v[16];
  each_word<C, W, 4>(log_stride, [&](int r, u64 i, Point) {
    v[r] = gl_multiply(data[i], load_twiddle(outer, i));
  });
  inverse_tile<W, C>(v, s, inner, [=](wide a) { return last ? gl_lift(a) : gl_lift_packed(a); });
  each_word<C, Q, RHO>(log_stride, [&](int r, u64 i, Point) {
    u64 word = gl_word(v[r]);
    data[i] = last ? gl_reduce(word) : word ^ GL_FLIP;
  });
}

// Forward columns of the digits of integers: see digits.cu.
template <int C>
FN void digit_columns(u64 *RESTRICT data, u32 log_stride, const twiddle *RESTRICT inner,
                      const u32 *RESTRICT source, u32 source_words, u32 bits, bool half) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  constexpr int RHO = first_bits(C), W = 12 - C, Q = 12 - RHO, R = 1 << RHO;
  wide v[16];
  auto lift = [](wide a) { return gl_lift_packed(a); };
  Stride stride{log_stride};
  if (half) {
    each_point<Q, RHO>([&](int r, Point p) {
      v[r] = {p.j < R / 2 ? digit(source, source_words, bits, word_of<C, Q>(stride, p)) : 0, 0};
    });
    stage<RHO, false>(v, lift);
  } else {
    each_point<Q, RHO>([&](int r, Point p) {
      v[r] = {digit(source, source_words, bits, word_of<C, Q>(stride, p)), 0};
    });
    stage<RHO, false>(v, lift);
  }
  forward_rest<W, C>(v, s, inner, lift);
  each_point<W, 4>([&](int r, Point p) { data[word_of<C, W>(stride, p)] = gl_pack(v[r]); });
}
