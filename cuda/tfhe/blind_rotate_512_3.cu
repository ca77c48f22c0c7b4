// Blind rotation for N = 512, k = 3, one digit: the gates sets. See tfhe/blind_rotate.h.
//
// Grid: ceil(jobs / a), for a accumulators a block. Block: 64 a threads, a in {2, 4}. Shared memory: 24,576 a bytes.
// A block reads the whole key, and the exponents and the boxes of its jobs. It writes their accumulators.
// Ranges: exponents below 1024. For digits of 18 bits, doubles stay below 2^36; to_torus needs less than 2^51.
// Bytes a step and block: 65,536 of the key. The twiddles stay in registers. Bytes a job: 64 of boxes, 4 a coefficient.
// Operations a step and accumulator: 86,016 on doubles.
#include "tfhe/blind_rotate.h"

KERNEL(tfhe_blind_rotate_512_3, 256, 1)(u32 *RESTRICT accumulators, const double *RESTRICT key,
                                        const u32 *RESTRICT exponents, const u32 *RESTRICT boxes,
                                        const u32 *RESTRICT table, u32 jobs, u32 n, u32 base_log,
                                        const double *RESTRICT twiddles) {
  blind_rotate<512, 3>(accumulators, key, exponents, boxes, table, jobs, n, base_log, twiddles);
}
