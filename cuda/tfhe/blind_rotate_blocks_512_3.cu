// Blind rotation for N = 512, k = 3, one digit, blocks of 3 bits: the gates sets. See tfhe/blind_rotate_blocks.h.
//
// Grid: ceil(jobs / a), for a accumulators a block. Block: 64 a threads, a in {2, 4}. Shared
// memory: 101,376 + 16,384 a bytes.
// A block reads the whole key, and the exponents and the boxes of its jobs. It writes their accumulators.
// Ranges: exponents below 1024. For digits of 17 bits, doubles stay below 2^37; to_torus needs less than 2^51.
// Bytes a step and block: 196,608 of the key. Bytes a job: 64 of boxes, 4 a coefficient.
// Operations a step and accumulator: 134,912 on doubles.
#include "tfhe/blind_rotate_blocks.h"

KERNEL(tfhe_blind_rotate_blocks_512_3, 256, 1)(u32 *RESTRICT accumulators, const double *RESTRICT key,
                                               const u32 *RESTRICT exponents, const u32 *RESTRICT boxes,
                                               const u32 *RESTRICT table, u32 jobs, u32 n, u32 base_log,
                                               const double *RESTRICT twiddles, const double *RESTRICT monomials) {
  blind_rotate_blocks<512, 3, 3>(accumulators, key, exponents, boxes, table, jobs, n, base_log, twiddles, monomials);
}
