// Arguments of a wave of bootstraps: linear combinations of values that stay on the device.
//
// Grid: (ceil(words / 256), jobs). Block: 256 threads, one word each.
// A block reads the terms of its job and 256 words of each value that they name. It writes 256 words of `args`.
// Ranges: all words and coefficients; sums are modulo 2^32. Terms may name a slot twice, in any order.
// Bytes: 4 a term and word, 4 a word written. Operations: one multiply-add a term and word.
#include "port.h"

// args[job][w] = sum over terms of coefficient * values[slot][w], plus constants[job] in the last word (the body).
// Shapes: args[jobs][words], values[slots][words], starts[jobs + 1], terms[starts[jobs]] of (slot, coefficient),
// constants[jobs]. The terms of a job are terms[starts[job] .. starts[job + 1]].
KERNEL(tfhe_linear, 256, 4)(u32 *RESTRICT args, const u32 *RESTRICT values, const u32 *RESTRICT starts,
                            const uint2 *RESTRICT terms, const u32 *RESTRICT constants, u32 words) {
  u32 word = BID * 256 + TID, job = BID_Y;
  if (word >= words) return;
  u32 sum = word + 1 == words ? constants[job] : 0;
  for (u32 i = starts[job], end = starts[job + 1]; i < end; i++) {
    uint2 term = terms[i];
    sum += term.y * values[(u64)term.x * words + word];
  }
  args[(u64)job * words + word] = sum;
}
