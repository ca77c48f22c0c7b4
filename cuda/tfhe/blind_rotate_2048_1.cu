// Blind rotation for N = 2048, k = 1, one digit: the integers sets. See tfhe/blind_rotate.h.
//
// Grid: ceil(jobs / a), for a accumulators a block. Block: 128 a threads, a in 1..2. Shared memory: 49,152 a bytes.
// A block reads the whole key, and the exponents and the boxes of its jobs. It writes their accumulators.
// Ranges: words are canonical by nature; transforms stay below 2^40 for digits of 23 bits.
// Bytes a step and block: 65,536 of the key, 3000 of twiddles. FP64 operations a step and accumulator: 188,416.
#include "tfhe/blind_rotate.h"

KERNEL(tfhe_blind_rotate_2048_1, 256, 1)(u32 *RESTRICT accumulators, const double *RESTRICT key,
                                         const u32 *RESTRICT exponents, const u32 *RESTRICT boxes,
                                         const u32 *RESTRICT table, u32 jobs, u32 n, u32 base_log,
                                         const double *RESTRICT twiddles) {
  blind_rotate<2048, 1>(accumulators, key, exponents, boxes, table, jobs, n, base_log, twiddles);
}
