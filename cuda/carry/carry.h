// Carries between words, warps and blocks.
//
// A warp has 32 * ROUNDS neighbouring words, lane l the words 32 v + l, v < ROUNDS. A word generates a carry if its sum
// overflowed, and propagates one if it is all ones. It never does both. Let G be the lanes that generate, Q those that
// propagate, and c the carry into the lowest word. The carries into the words of 32 lanes are ((2 G + c) + Q) xor Q.
#pragma once
#include "port.h"

#define ROUNDS 8
#define WARPS 8
#define BLOCK_WORDS (32 * ROUNDS * WARPS)

// What a group of words does with a carry into its lowest word.
#define GENERATES 1u   // a carry leaves it if none comes in
#define PASSES 2u      // a carry leaves it if one comes in

// The carries into 32 words; bit 32 is the carry out.
FN u64 carries(u32 generate, u32 propagate, u32 carry) {
  return (2 * (u64)generate + carry + propagate) ^ propagate;
}

FN u32 leaves(u32 flags, u32 carry) { return carry ? flags >> 1 : flags & 1; }

// Adds the carries to the sums of a block, as if none came into its lowest word. Returns the flags of the block.
// In: generate[v] and propagate[v] of the words of this warp. `warps` is shared memory for WARPS flags.
FN u32 add_carries(u64 (&sum)[ROUNDS], const u32 (&generate)[ROUNDS], const u32 (&propagate)[ROUNDS], u32 *warps) {
  u32 warp = TID >> 5, without = 0, with = 1;
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    without = (u32)(carries(generate[v], propagate[v], without) >> 32);
    with = (u32)(carries(generate[v], propagate[v], with) >> 32);
  }
  if (LANE == 0) warps[warp] = without * GENERATES | with * PASSES;
  SYNC();
  u32 carry = 0, block_without = 0, block_with = 1;
  UNROLL for (u32 w = 0; w < WARPS; w++) {
    if (w == warp) carry = block_without;
    block_without = leaves(warps[w], block_without);
    block_with = leaves(warps[w], block_with);
  }
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    u64 into = carries(generate[v], propagate[v], carry);
    sum[v] += into >> LANE & 1;
    carry = (u32)(into >> 32);
  }
  return block_without * GENERATES | block_with * PASSES;
}

// Blocks of a number, each with its flags.
FN u32 block_count(u32 words) { return (words + BLOCK_WORDS - 1) / BLOCK_WORDS; }

// The place in the number of word v of this thread.
FN u64 word_place(int v) { return (u64)BID * BLOCK_WORDS + (TID >> 5) * (32 * ROUNDS) + 32 * (u32)v + LANE; }
