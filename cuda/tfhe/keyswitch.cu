// Keyswitch of a batch: subtracts digit times key row, an integer matrix product of jobs x rows x columns.
//
// Grid: (ceil((n + 1) / 64), ceil(jobs / 16)). Block: 256 threads.
// A block reads the arguments of 16 jobs and one run of 64 columns of the key. It writes 64 words of each job. Its 8
// warps share the rows; a thread sums 2 columns of 16 jobs.
// Ranges: all words; sums are modulo 2^32, so their order does not show. base_log * levels is at most 32.
// Bytes: 256 a row and 16 jobs of the key, 4 a coefficient and job. Operations: 1024 multiply-adds a row.
#include "port.h"

#define JOBS 16   // Jobs of a block.
#define ROWS 256  // Rows whose digits are in shared memory at a time.

// switched[job] = (0, body) - sum over rows of digit * key row, where half of the mean rounding error has been
// subtracted from the body. The result is that of crates/field/src/torus/keyswitch.rs.
// Shapes: switched[jobs][n + 1], args[jobs][big + 1], key in runs of 64 columns, each run big * levels rows of 64 words.
KERNEL(tfhe_keyswitch, 256, 2)(u32 *RESTRICT switched, const u32 *RESTRICT args, const u32 *RESTRICT key, u32 jobs,
                               u32 big, u32 n, u32 base_log, u32 levels) {
  // First digits[coefficient][level][job], 4 words apart between coefficients; at the end sums[warp][job][column].
  SHARED(uint4, shared, 8 * JOBS * 64 / 4);
  SHARED(i64, errors, JOBS);
  u32 *digits = (u32 *)shared;
  u32 warp = TID / 32, first_job = BID_Y * JOBS, stride = JOBS * levels + 4, per_chunk = ROWS / levels;
  key += (u64)BID * big * levels * 64 + 2 * LANE;

  u32 flip = 0;
  for (u32 level = 1; level <= levels; level++) flip |= 1u << (31 - (level - 1) * base_log);
  u32 dropped = 32 - base_log * levels, offset = flip + (dropped ? (1u << dropped) >> 1 : 0), right = 32 - base_log;

  // A thread cuts the digits of one job, of every 16th coefficient.
  u32 own = TID / 16, own_job = first_job + own;
  const u32 *RESTRICT arg = args + (u64)(own_job < jobs ? own_job : jobs - 1) * (big + 1);
  i64 error = 0;
  u32 sums[JOBS][2] = {};
  for (u32 first = 0; first < big; first += per_chunk) {
    u32 count = big - first < per_chunk ? big - first : per_chunk;
    SYNC();
    for (u32 i = TID % 16; i < count; i += 16) {
      u32 a = arg[first + i], prepared = (a + offset) ^ flip, kept = 0;
      for (u32 level = 0; level < levels; level++) {
        u32 digit = (u32)((i32)(prepared << (level * base_log)) >> right);
        kept = (kept << base_log) + digit;
        digits[i * stride + level * JOBS + own] = digit;
      }
      error += (i32)(a - (kept << dropped));
    }
    SYNC();
    for (u32 i = warp; i < count; i += 8) {
      // Rows of several levels are loaded at once: a warp would wait for each of them in turn.
      _Pragma("unroll 4") for (u32 level = 0; level < levels; level++) {
        uint2 words = *(const uint2 *)(key + ((u64)(first + i) * levels + level) * 64);
        const uint4 *row = (const uint4 *)(digits + i * stride + level * JOBS);
        UNROLL for (int j = 0; j < JOBS; j += 4) {
          uint4 four = row[j / 4];
          sums[j][0] += four.x * words.x; sums[j][1] += four.x * words.y;
          sums[j + 1][0] += four.y * words.x; sums[j + 1][1] += four.y * words.y;
          sums[j + 2][0] += four.z * words.x; sums[j + 2][1] += four.z * words.y;
          sums[j + 3][0] += four.w * words.x; sums[j + 3][1] += four.w * words.y;
        }
      }
    }
  }
  SYNC();
  uint2 *parts = (uint2 *)shared;
  UNROLL for (int j = 0; j < JOBS; j++) parts[(warp * JOBS + j) * 32 + LANE] = make_uint2(sums[j][0], sums[j][1]);
  UNROLL for (int mask = 8; mask; mask >>= 1) error += SHFL_XOR(error, mask);
  if (TID % 16 == 0) errors[own] = error;
  SYNC();
  u32 column = TID % 64, place = 64 * BID + column;
  if (place > n) return;
  for (u32 j = TID / 64; j < JOBS && first_job + j < jobs; j += 4) {
    u32 job = first_job + j, sum = 0;
    UNROLL for (u32 w = 0; w < 8; w++) sum += digits[(w * JOBS + j) * 64 + column];
    u32 body = place == n ? args[(u64)job * (big + 1) + big] - (u32)(errors[j] / 2) : 0;
    switched[(u64)job * (n + 1) + place] = body - sum;
  }
}
