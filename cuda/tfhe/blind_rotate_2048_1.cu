// Blind rotation for N = 2048, k = 1, one digit: the integers sets. See tfhe/blind_rotate.h.
//
// Grid: ceil(jobs / a), for a accumulators a block. Block: 128 a threads, a in 1..2. Shared memory: 49,152 a bytes.
// A block reads the whole key, and the exponents and the boxes of its jobs. It writes their accumulators.
// Ranges: exponents below 4096. For digits of 23 bits, doubles stay below 2^44; to_torus needs less than 2^51.
// Bytes a step and block: 65,536 of the key. The twiddles stay in registers. Bytes a job: 64 of boxes, 4 a coefficient.
// Operations a step and accumulator: 184,320 on doubles.
#include "tfhe/blind_rotate.h"

KERNEL(tfhe_blind_rotate_2048_1, 256, 1)(u32 *RESTRICT accumulators, const double *RESTRICT key,
                                         const u32 *RESTRICT exponents, const u32 *RESTRICT boxes,
                                         const u32 *RESTRICT table, u32 jobs, u32 n, u32 base_log,
                                         const double *RESTRICT twiddles) {
  blind_rotate<2048, 1>(accumulators, key, exponents, boxes, table, jobs, n, base_log, twiddles);
}
