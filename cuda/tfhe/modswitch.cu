// Modulus switch: rounds LWE ciphertexts to multiples of 1/2N turn, the exponents of a blind rotation.
//
// Grid: jobs. Block: 256 threads. A block reads and writes the n + 1 words of one ciphertext. A thread takes the words of
// one block of the key at a time.
// Ranges: all words in, exponents below 2N out. The result is that of crates/schemes/src/tfhe/modulus_switch.rs.
// Bytes: 4 read and 4 written a word. Operations: 6 a word for keys of independent bits, some 100 for others.
#include "port.h"

#define MAX_BITS 4  // Of a block of the key.

// The nearest multiple of 2^-log turn, the larger one of two.
FN u32 nearest(u32 word, u32 log) { return ((word >> (31 - log)) + 1) >> 1 & ((1u << log) - 1); }

// Rounds the words of a block, up or down, such that (bits + 1) sum r^2 - (sum r)^2 is least for their errors r. Returns
// the sum of the errors. The words with the largest fractions are rounded up. Equal fractions are rounded alike: to round
// up one more of them lowers the sum by 2 unit^2 more than the one before.
FN i64 round_block(u32 *RESTRICT exponents, const u32 *RESTRICT words, u32 bits, u32 log) {
  i64 unit = (i64)1 << (32 - log), sum = 0, squares = 0;
  u32 fractions[MAX_BITS], ranks[MAX_BITS];
  UNROLL for (int i = 0; i < MAX_BITS; i++) {
    i64 fraction = fractions[i] = i < bits ? words[i] & (u32)(unit - 1) : 0;
    sum += fraction;
    squares += fraction * fraction;
  }
  UNROLL for (int i = 0; i < MAX_BITS; i++) {
    ranks[i] = 0;
    UNROLL for (int j = 0; j < MAX_BITS; j++)
      ranks[i] += j < i ? fractions[j] >= fractions[i] : fractions[j] > fractions[i];
  }
  i64 least = (bits + 1) * squares - sum * sum, error = sum;
  u32 up = 0;  // Words that are rounded up.
  UNROLL for (u32 rank = 0; rank < MAX_BITS; rank++) {
    i64 fraction = 0;  // Rounding up a word changes its error from its fraction to that minus a unit.
    UNROLL for (int i = 0; i < MAX_BITS; i++) fraction += ranks[i] == rank ? fractions[i] : 0;
    sum -= unit;
    squares += unit * (unit - 2 * fraction);
    i64 cost = (bits + 1) * squares - sum * sum;
    if (rank < bits && cost < least) { least = cost; error = sum; up = rank + 1; }
  }
  UNROLL for (int i = 0; i < MAX_BITS; i++)
    if (i < bits) exponents[i] = (words[i] >> (32 - log)) + (ranks[i] < up) & ((1u << log) - 1);
  return error;
}

// exponents[job][w] = switched[job][w] rounded. The mean of a bit of the key is 1 / (bits + 1), in blocks of `bits` bits.
// This part of the sum of the mask's rounding errors is the mean error of the phase; the body loses it first. `offset` is
// added to the body (half a box of a table).
// Shapes: exponents[jobs][n + 1], switched[jobs][n + 1]. Ranges: bits in 1..=4, n a multiple of them; log = log2(2N) in
// 9..31.
KERNEL(tfhe_modswitch, 256, 4)(u32 *RESTRICT exponents, const u32 *RESTRICT switched, u32 n, u32 log, u32 offset,
                               u32 bits) {
  SHARED(i64, errors, 8);
  exponents += (u64)BID * (n + 1);
  switched += (u64)BID * (n + 1);
  i64 error = 0;
  if (bits == 1) {
    for (u32 i = TID; i < n; i += 256) {
      u32 word = switched[i], exponent = nearest(word, log);
      error += (i32)(word - (exponent << (32 - log)));
      exponents[i] = exponent;
    }
  } else {
    for (u32 i = bits * TID; i < n; i += bits * 256) error += round_block(exponents + i, switched + i, bits, log);
  }
  error = warp_sum(error);
  if (LANE == 0) errors[TID / 32] = error;
  SYNC();
  if (TID != 0) return;
  i64 sum = 0;
  UNROLL for (int i = 0; i < 8; i++) sum += errors[i];
  exponents[n] = nearest(switched[n] + offset - (u32)(sum / (i64)(bits + 1)), log);
}
