// Sample extraction: values of a wave from its rotated accumulators, several tables of one rotation included.
//
// Grid: (ceil((k N + 1) / 256), outputs). Block: 256 threads, one word each.
// A block reads one or more words of its accumulator for each word that it writes.
// Ranges: all words; sums are modulo 2^32. The result is that of crates/schemes/src/tfhe/evaluate.rs.
// Bytes: 4 a word and step that is not 0, 4 a word written. Operations: 4 a word and step.
#include "port.h"

// values[slot] = coefficient 0, as an LWE ciphertext, of the sum over v of steps[set][v] X^(v N / 16) times the
// accumulator of `job`. One table alone has the steps 1, 0, .. 0.
// Shapes: values[slots][k N + 1], accumulators[jobs][k + 1][N], outputs of (job, slot, set), steps[sets][16].
KERNEL(tfhe_extract, 256, 4)(u32 *RESTRICT values, const u32 *RESTRICT accumulators, const u32 *RESTRICT outputs,
                             const u32 *RESTRICT steps, u32 ring_dimension, u32 k) {
  u32 word = BID * 256 + TID, words = k * ring_dimension + 1;
  if (word >= words) return;
  u32 job = outputs[3 * BID_Y], slot = outputs[3 * BID_Y + 1], set = outputs[3 * BID_Y + 2];
  u32 polynomial = word / ring_dimension, i = word % ring_dimension;
  const u32 *RESTRICT a = accumulators + ((u64)job * (k + 1) + polynomial) * ring_dimension;
  u32 sum = 0;
  ROLL for (u32 v = 0; v < 16; v++) {
    u32 step = steps[16 * set + v];
    if (step == 0) continue;
    // Word i of the mask is coefficient -i of the sum, of period 2N with the second half negated.
    u32 from = (0 - i - v * (ring_dimension / 16)) & (2 * ring_dimension - 1);
    u32 value = a[from & (ring_dimension - 1)];
    sum += step * (from & ring_dimension ? 0 - value : value);
  }
  values[(u64)slot * words + word] = sum;
}
