// Modulus switch: rounds LWE ciphertexts to multiples of 1/2N turn, the exponents of a blind rotation.
//
// Grid: jobs. Block: 256 threads. A block reads and writes the n + 1 words of one ciphertext.
// Ranges: all words in, exponents below 2N out. The result is that of crates/schemes/src/tfhe/evaluate.rs.
// Bytes: 4 read and 4 written a word. Operations: 6 a word.
#include "port.h"

// exponents[job][w] = switched[job][w] rounded. The key is binary, so half of the sum of the mask's rounding errors is
// the mean error of the phase; the body loses it first. `offset` is added to the body (half a box of a table).
// Shapes: exponents[jobs][n + 1], switched[jobs][n + 1]. Range: log = log2(2N) in 1..31.
KERNEL(tfhe_modswitch, 256, 4)(u32 *RESTRICT exponents, const u32 *RESTRICT switched, u32 n, u32 log, u32 offset) {
  SHARED(i64, errors, 8);
  exponents += (u64)BID * (n + 1);
  switched += (u64)BID * (n + 1);
  u32 below = (1u << log) - 1;
  i64 error = 0;
  for (u32 i = TID; i < n; i += 256) {
    u32 word = switched[i], exponent = ((word >> (31 - log)) + 1) >> 1 & below;
    error += (i32)(word - (exponent << (32 - log)));
    exponents[i] = exponent;
  }
  error = warp_sum(error);
  if (LANE == 0) errors[TID / 32] = error;
  SYNC();
  if (TID != 0) return;
  i64 sum = 0;
  UNROLL for (int i = 0; i < 8; i++) sum += errors[i];
  u32 body = switched[n] + offset - (u32)(sum / 2);
  exponents[n] = ((body >> (31 - log)) + 1) >> 1 & below;
}
