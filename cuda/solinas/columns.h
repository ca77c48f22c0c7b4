// Transforms of columns: 2^C points at a distance of 2^log_stride, C in 4..8, log_stride >= 12 - C.
//
// Grid: x = words / 4096, y = batch. Block: 256 threads of 16 points; 34.9 KB of shared memory if C > 4.
// An item of `words` words consists of nodes of 2^(C + log_stride) words. A block reads and writes 2^(12 - C)
// neighbouring columns of one node: 2^C segments of 2^(12 - C) words.
//
// Forward  Order: natural to bit-reversed. Range: packed if `outer`, otherwise any; out packed. If `outer` is not null,
//          word i of the item is multiplied by outer[i & outer_mask] first.
// Inverse  Order: bit-reversed to natural. The result is multiplied by 2^C and by the constants in `inner` and `outer`.
//          Word i is multiplied by outer[i & outer_mask] first. Range: packed in; out canonical if `last`, otherwise
//          packed.
// `inner` is described in tile.h; it is not read if C = 4.
// Bytes: 8 in and 8 out a point, 16 more for `outer`. Operations: see README.md.
#pragma once
#include "solinas/tile.h"

// The columns of this block.
struct Columns {
  u32 first;  // word of the item at place 0 of the tile
  u32 log_stride;
};

template <int C> FN Columns columns_of_block(u32 log_stride) {
  u32 log_blocks = log_stride - (12 - C);  // blocks of a node
  return {(BID >> log_blocks) << (C + log_stride) | (BID & ((1u << log_blocks) - 1)) << (12 - C), log_stride};
}

// The word of the item at a point of a stage from bit Q on.
template <int C, int Q> FN u32 word_of(Columns columns, Point p) {
  constexpr int W = 12 - C;
  u32 at = p.at - (p.j << Q);
  return columns.first + ((at >> W) << columns.log_stride) + (at & ((1u << W) - 1)) +
         (p.j << (Q - W + columns.log_stride));
}

template <int C>
FN void forward_columns(u64 *RESTRICT data, u32 words, u32 log_stride, const twiddle *RESTRICT inner,
                        const twiddle *RESTRICT outer, u32 outer_mask) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  constexpr int RHO = first_bits(C), W = 12 - C, Q = 12 - RHO;
  Columns columns = columns_of_block<C>(log_stride);
  data += (u64)BID_Y * words;
  wide v[16];
  if (outer) {
    each_point<Q, RHO>([&](int r, Point p) {
      u32 i = word_of<C, Q>(columns, p);
      v[r] = gl_multiply(data[i], load_twiddle(outer, i & outer_mask));
    });
  } else {
    each_point<Q, RHO>([&](int r, Point p) { v[r] = gl_widen(data[word_of<C, Q>(columns, p)]); });
  }
  forward_tile<W, C>(v, s, inner, [](wide a) { return gl_lift_packed(a); });
  each_point<W, 4>([&](int r, Point p) { data[word_of<C, W>(columns, p)] = gl_pack(v[r]); });
}

template <int C>
FN void inverse_columns(u64 *RESTRICT data, u32 words, u32 log_stride, const twiddle *RESTRICT inner,
                        const twiddle *RESTRICT outer, u32 outer_mask, u32 last) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  constexpr int RHO = first_bits(C), W = 12 - C, Q = 12 - RHO;
  Columns columns = columns_of_block<C>(log_stride);
  data += (u64)BID_Y * words;
  wide v[16];
  each_point<W, 4>([&](int r, Point p) {
    u32 i = word_of<C, W>(columns, p);
    v[r] = gl_multiply(data[i], load_twiddle(outer, i & outer_mask));
  });
  inverse_tile<W, C>(v, s, inner, [=](wide a) { return last ? gl_lift(a) : gl_lift_packed(a); });
  each_point<Q, RHO>([&](int r, Point p) {
    u64 word = gl_word(v[r]);
    data[word_of<C, Q>(columns, p)] = last ? gl_reduce(word) : word ^ GL_FLIP;
  });
}

// Digit `index` of `bits` bits, bits in 1..32, of the integer of `words` 32-bit words, little-endian.
FN u32 digit(const u32 *RESTRICT source, u32 words, u32 bits, u32 index) {
  u32 bit = index * bits, word = bit >> 5;
  u32 low = word < words ? source[word] : 0, high = word + 1 < words ? source[word + 1] : 0;
  return (u32)(((u64)high << 32 | low) >> (bit & 31)) & (0xFFFFFFFFu >> (32 - bits));
}

// Forward columns of the digits of integers: see digits.cu.
template <int C>
FN void digit_columns(u64 *RESTRICT data, u32 words, u32 log_stride, const twiddle *RESTRICT inner,
                      const u32 *RESTRICT source, u32 source_words, u32 bits, bool half) {
  SHARED(u64, s, C > 4 ? TILE_WORDS(4096) : 1);
  constexpr int RHO = first_bits(C), W = 12 - C, Q = 12 - RHO, R = 1 << RHO;
  Columns columns = columns_of_block<C>(log_stride);
  data += (u64)BID_Y * words;
  wide v[16];
  auto lift = [](wide a) { return gl_lift_packed(a); };
  auto load = [&](int r, Point p) {
    v[r] = {digit(source, source_words, bits, word_of<C, Q>(columns, p)), 0};
  };
  if (half) {
    each_point<Q, RHO>([&](int r, Point p) {
      if (p.j < R / 2) load(r, p);
      else v[r] = {0, 0};
    });
    stage<RHO, false>(v, lift);
  } else {
    each_point<Q, RHO>(load);
    stage<RHO, false>(v, lift);
  }
  forward_rest<W, C>(v, s, inner, lift);
  each_point<W, 4>([&](int r, Point p) { data[word_of<C, W>(columns, p)] = gl_pack(v[r]); });
}
