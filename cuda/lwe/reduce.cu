// Residues of the sums of all slices.
//
// Grid: (ceil(places / 256), vectors). Block: 256 threads, one place each.
// A block reads 256 sums of each slice of its vector. It writes 256 residues.
// Ranges: the sum over all slices is below 2^96, and there are less than 2^32 slices. Residues are below their word.
// Bytes: 12 a place and slice, 4 a place. Operations: three reductions a place.
#include "lwe/tile.h"
#include "lwe/word.h"

// residues[vector][place] = sum over slices of sums[slice][vector][..][place], modulo the word of the place.
// Shapes: moduli[words], inverses[words] = floor(2^64 / modulus); the launch has as many vectors as a slice.
KERNEL(lwe_reduce, 256, 4)(u32 *RESTRICT residues, const u32 *RESTRICT sums, const u32 *RESTRICT moduli,
                           const u64 *RESTRICT inverses, u32 slices, u32 vectors, u32 words, u32 columns) {
  u32 places = words * columns, place = BID * 256 + TID;
  if (place >= places) return;
  u64 low = 0, middle = 0, high = 0;
  for (u32 slice = 0; slice < slices; slice++) {
    const u32 *parts = sums + ((u64)slice * vectors + BID_Y) * 3 * places + place;
    low += parts[0];
    middle += parts[places];
    high += parts[2 * (u64)places];
  }
  middle += low >> 32;
  high += middle >> 32;
  u32 block = place / (COLUMNS * words), rest = columns - block * COLUMNS;
  u32 word = place % (COLUMNS * words) / (rest < COLUMNS ? rest : COLUMNS), m = moduli[word];
  u64 inverse = inverses[word];
  u32 residue = reduce(high, m, inverse);
  residue = reduce((u64)residue << 32 | (u32)middle, m, inverse);
  residues[(u64)BID_Y * places + place] = reduce((u64)residue << 32 | (u32)low, m, inverse);
}
