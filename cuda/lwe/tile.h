// The order of a matrix of residues, and sums of 96 bits.
//
// A matrix has its columns in blocks of 1024. A tile is the part of one block modulo one word, row after row; its width
// is the number of its columns, a multiple of 16. Tiles are in the order of crates/schemes/src/lwe/matrix/layout.rs:
// all words of the first block, then of the next one. The place of a column of a tile is the number of columns before
// it in that order. Results and sums are in the order of places.
//
// sums[slice][vector][part][place] has the three 32-bit parts of a sum, the lowest part first. A slice is the share of
// one block of threads. Launches add to the sums, so zeros come first.
//
// Carry chains have two forms: inline PTX, and portable code if LWE_PORTABLE is defined. Tests compare both.
#pragma once
#include "port.h"

#define COLUMNS 1024  // Columns of a block of the matrix, except the last one.

struct sum96 {
  u32 low, middle, high;
};

// s + t.
FN void add(sum96 &s, sum96 t) {
  u64 low = (u64)s.low + t.low, middle = (u64)s.middle + t.middle + (low >> 32);
  s = {(u32)low, (u32)middle, s.high + t.high + (u32)(middle >> 32)};
}

// s + a b.
FN void multiply_add(sum96 &s, u32 a, u32 b) {
#ifdef LWE_PORTABLE
  u64 product = (u64)a * b;
  add(s, {(u32)product, (u32)(product >> 32), 0});
#else
  asm("mad.lo.cc.u32 %0, %3, %4, %0;\n\tmadc.hi.cc.u32 %1, %3, %4, %1;\n\taddc.u32 %2, %2, 0;"
      : "+r"(s.low), "+r"(s.middle), "+r"(s.high) : "r"(a), "r"(b));
#endif
}

struct tile {
  u32 block, word, width, place;
};

// Tile number `index` of a matrix modulo `words` words. `columns` includes the padding to a multiple of 16.
FN tile tile_of(u32 index, u32 words, u32 columns) {
  u32 block = index / words, word = index % words, rest = columns - block * COLUMNS;
  u32 width = rest < COLUMNS ? rest : COLUMNS;
  return {block, word, width, block * COLUMNS * words + word * width};
}

// Adds the sums of a block of threads, shared[part][column], to those of a slice and vector.
FN void add_slice(u32 *RESTRICT sums, const u32 *shared, tile t, u64 index, u32 places) {
  u32 *parts = sums + index * 3 * places + t.place;
  for (u32 column = TID; column < t.width; column += THREADS) {
    sum96 s = {parts[column], parts[places + column], parts[2 * (u64)places + column]};
    add(s, {shared[column], shared[COLUMNS + column], shared[2 * COLUMNS + column]});
    parts[column] = s.low;
    parts[places + column] = s.middle;
    parts[2 * (u64)places + column] = s.high;
  }
}
