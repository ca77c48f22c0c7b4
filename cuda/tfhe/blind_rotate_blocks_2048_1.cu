// Blind rotation for N = 2048, k = 1, one digit, blocks of 3 bits: the integers sets. See tfhe/blind_rotate_blocks.h.
//
// Grid: ceil(jobs / a), for a accumulators a block. Block: 128 a threads, a in 1..2. Shared
// memory: 102,400 + 32,768 a bytes.
// A block reads the whole key, and the exponents and the boxes of its jobs. It writes their accumulators.
// Ranges: exponents below 4096. For digits of 23 bits, doubles stay below 2^46; to_torus needs less than 2^51.
// Bytes a step and block: 196,608 of the key. Bytes a job: 64 of boxes, 4 a coefficient.
// Operations a step and accumulator: 255,488 on doubles.
#include "tfhe/blind_rotate_blocks.h"

KERNEL(tfhe_blind_rotate_blocks_2048_1, 256, 1)(u32 *RESTRICT accumulators, const double *RESTRICT key,
                                                const u32 *RESTRICT exponents, const u32 *RESTRICT boxes,
                                                const u32 *RESTRICT table, u32 jobs, u32 n, u32 base_log,
                                                const double *RESTRICT twiddles, const double *RESTRICT monomials) {
  blind_rotate_blocks<2048, 1, 3>(accumulators, key, exponents, boxes, table, jobs, n, base_log, twiddles, monomials);
}
