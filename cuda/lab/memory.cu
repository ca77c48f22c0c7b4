// Ceilings of memory: copies, repeated reads, shared memory; and a kernel that does nothing.
//
// Grid: any. Block: 256 threads. Each kernel states what a thread reads and writes.
// Ranges: all words.
#include "port.h"

// out[i] = in[i], i < pairs, in pairs of words. Bytes: 16 read and 16 written a pair.
KERNEL(lab_copy, 256, 8)(ulonglong2 *RESTRICT out, const ulonglong2 *RESTRICT in, u64 pairs) {
  for (u64 i = (u64)BID * 256 + TID; i < pairs; i += (u64)GRID_X * 256) out[i] = in[i];
}

// The sum of all words, `rounds` times, in one word a thread. Ranges: `pairs` a power of two, `rounds` below it.
// Bytes: 16 `rounds` read a pair, 8 written a thread.
KERNEL(lab_read, 256, 8)(u64 *RESTRICT out, const ulonglong2 *RESTRICT in, u64 pairs, u32 rounds) {
  u64 sum = 0, thread = (u64)BID * 256 + TID;
  for (u32 round = 0; round < rounds; round++) {
    // Each round starts elsewhere, so that the compiler reads again.
    for (u64 i = thread; i < pairs; i += (u64)GRID_X * 256) {
      ulonglong2 pair = in[i ^ round];
      sum += pair.x ^ pair.y;
    }
  }
  out[thread] = sum;
}

// Reads of shared memory without bank conflicts: 8 words a round. Bytes: 64 `rounds` read a thread, 8 written.
KERNEL(lab_shared, 256, 8)(u64 *RESTRICT out, u32 rounds) {
  SHARED(u64, words, 512);
  words[TID] = TID;
  words[TID + 256] = BID;
  SYNC();
  u64 sum = 0;
  for (u32 round = 0; round < rounds; round++) {
    UNROLL for (u32 i = 0; i < 8; i++) sum += words[(TID + 32 * (round + i)) % 512] ^ round;
  }
  out[(u64)BID * 256 + TID] = sum;
}

// Writes one word a thread.
KERNEL(lab_nothing, 256, 8)(u32 *RESTRICT out) { out[BID * 256 + TID] = TID; }
