// Numbers from their residues, by the Chinese remainder theorem: step "reconstruct" of algorithm 6.1 (wang2014).
//
// Grid: ceil(numbers / 32). Block: 32 threads, one number each. Shared memory of the launch: 128 (words + limbs) bytes.
// A block reads 32 residues of each word and all constants. It writes 32 numbers.
// Ranges: residues below their words. limbs * 32 bits hold M 2^j for every multiple. Numbers are below M.
// Bytes: 4 a residue and a limb. Operations: words * limbs products a number, and `multiples` subtractions.
#include "lwe/tile.h"
#include "lwe/word.h"

// numbers[i] = the number below M that is residues[w][i] modulo each moduli[w], lowest limb first.
// Shapes: numbers[count][limbs], residues[words][count], moduli[words], inverses[words] = floor(2^64 / modulus),
// scales[words] = 1 / (M / modulus) modulo modulus, cofactors[words][limbs] = M / modulus,
// multiples[several][limbs] = M 2^j from the largest j to 0.
KERNEL(lwe_reconstruct, 32, 8)(u32 *RESTRICT numbers, const u32 *RESTRICT residues, const u32 *RESTRICT moduli,
                               const u64 *RESTRICT inverses, const u32 *RESTRICT scales, const u32 *RESTRICT cofactors,
                               const u32 *RESTRICT multiples, u32 count, u32 words, u32 limbs, u32 several) {
  // First the scaled residues of the block, then its numbers, 32 of each word and limb.
  SHARED_OF_LAUNCH(u32, shared);
  u32 own = BID * 32 + TID, index = own < count ? own : count - 1, *x = shared + 32 * words;
  for (u32 w = 0; w < words; w++) {
    u64 product = (u64)residues[(u64)w * count + index] * scales[w];
    shared[32 * w + TID] = reduce(product, moduli[w], inverses[w]);
  }
  sum96 carry = {};
  for (u32 limb = 0; limb < limbs; limb++) {
    for (u32 w = 0; w < words; w++) multiply_add(carry, shared[32 * w + TID], cofactors[w * limbs + limb]);
    x[32 * limb + TID] = carry.low;
    carry = {carry.middle, carry.high, 0};
  }
  // Subtracts each multiple that is not larger. The time does not depend on the numbers.
  for (u32 j = 0; j < several; j++, multiples += limbs) {
    u32 borrow = 0;
    for (u32 limb = 0; limb < limbs; limb++) {
      u64 rest = (u64)x[32 * limb + TID] - multiples[limb] - borrow;
      borrow = (u32)(rest >> 63);
    }
    u32 keep = borrow - 1;
    borrow = 0;
    for (u32 limb = 0; limb < limbs; limb++) {
      u64 rest = (u64)x[32 * limb + TID] - (multiples[limb] & keep) - borrow;
      x[32 * limb + TID] = (u32)rest;
      borrow = (u32)(rest >> 63);
    }
  }
  SYNCWARP();
  u32 numbers_of_block = count - BID * 32 < 32 ? count - BID * 32 : 32;
  numbers += (u64)BID * 32 * limbs;
  for (u32 i = TID; i < numbers_of_block * limbs; i += 32) numbers[i] = x[32 * (i % limbs) + i / limbs];
}
