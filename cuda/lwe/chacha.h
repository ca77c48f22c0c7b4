// Uniform residues from a public seed: the words of crates/field/src/matrix/chacha.rs.
//
// A group is 256 words of a tile, from the 16 blocks of ChaCha8 with the counters 16 g .. 16 g + 15. Word i of the
// block 16 g + c is at place 16 i + c of the group. A word is cut to the bits of the modulus. If it is not below the
// modulus, the first such word of further blocks replaces it. Their counter is the place in the stream, and the third
// word of their nonce is 1, 2, ...
#pragma once
#include "lwe/tile.h"

#define GROUP 256
// Rows of a stream. The nonce has the number of the stream and of the block, and the word.
#define STREAM_ROWS (1u << 22)

// The seed, the first two words of the nonce, and the modulus with the mask of its bits.
struct generator {
  u32 key[8], nonce0, nonce1, modulus, mask;
};

FN void quarter(u32 &a, u32 &b, u32 &c, u32 &d) {
  a += b; d = rotate_left(d ^ a, 16);
  c += d; b = rotate_left(b ^ c, 12);
  a += b; d = rotate_left(d ^ a, 8);
  c += d; b = rotate_left(b ^ c, 7);
}

FN void chacha8(u32 (&x)[16], const generator &of, u32 counter, u32 attempt) {
  u32 start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, of.key[0], of.key[1], of.key[2], of.key[3],
                   of.key[4], of.key[5], of.key[6], of.key[7], counter, of.nonce0, of.nonce1, attempt};
  UNROLL for (int i = 0; i < 16; i++) x[i] = start[i];
  UNROLL for (int round = 0; round < 8; round += 2) {
    UNROLL for (int i = 0; i < 4; i++) quarter(x[i], x[4 + i], x[8 + i], x[12 + i]);
    UNROLL for (int i = 0; i < 4; i++) quarter(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
  }
  UNROLL for (int i = 0; i < 16; i++) x[i] += start[i];
}

// The residue that replaces a rejected word at a place of the stream.
FN u32 drawn_again(const generator &of, u32 place) {
  ROLL for (u32 attempt = 1;; attempt++) {
    u32 x[16], found = ~0u;
    chacha8(x, of, place, attempt);
    UNROLL for (int i = 15; i >= 0; i--) {
      u32 value = x[i] & of.mask;
      if (value < of.modulus) found = value;
    }
    if (found != ~0u) return found;
  }
}

// The residues 16 i + lane of a group of the stream.
FN void residues(u32 (&x)[16], const generator &of, u32 group, u32 lane) {
  chacha8(x, of, 16 * group + lane, 0);
  u32 largest = 0;
  UNROLL for (int i = 0; i < 16; i++) {
    x[i] &= of.mask;
    largest = x[i] > largest ? x[i] : largest;
  }
  if (largest < of.modulus) return;
  ROLL for (u32 k = 0; k < 16; k++) {
    u32 value = 0;
    UNROLL for (u32 i = 0; i < 16; i++) value = i == k ? x[i] : value;
    if (value < of.modulus) continue;
    value = drawn_again(of, group * GROUP + 16 * k + lane);
    UNROLL for (u32 i = 0; i < 16; i++) x[i] = i == k ? value : x[i];
  }
}

// The generator of a tile's rows from `row` on, which lie in one stream.
FN generator generator_of(const u32 (&key)[8], tile t, u32 row, u32 modulus) {
  generator of;
  UNROLL for (int i = 0; i < 8; i++) of.key[i] = key[i];
  of.nonce0 = row / STREAM_ROWS << 16 | t.block;
  of.nonce1 = t.word;
  of.modulus = modulus;
  u32 bits = 32 - CLZ(modulus);
  of.mask = 0xffffffffu >> (32 - bits);
  return of;
}

// The group of the stream that has the first word of a row. Range: the row begins a group.
FN u32 group_of(tile t, u32 row) { return (row % STREAM_ROWS) * t.width / GROUP; }

#define SEED_PARAMETERS \
  u32 key0, u32 key1, u32 key2, u32 key3, u32 key4, u32 key5, u32 key6, u32 key7
#define SEED {key0, key1, key2, key3, key4, key5, key6, key7}
