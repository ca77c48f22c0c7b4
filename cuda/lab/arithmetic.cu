// Ceilings of arithmetic: each kernel repeats one instruction, in eight chains a thread that depend on each other.
//
// Grid: any. Block: 256 threads. A thread writes one word of `out`, so that the compiler keeps its chains.
// Ranges: all words; `steps` rounds of 32 instructions.
// Bytes: 4 a thread. Operations: 32 `steps` a thread.
#include "port.h"

#define CHAINS 8
#define REPEATS 4

// `type` is that of the chains x[0..8], started from the thread's number and `a`. `next` gives the new x[i] from it and
// the chain beside it, y.
#define CHAIN_KERNEL(name, type, next)                                                                                 \
  KERNEL(name, 256, 4)(u32 *RESTRICT out, u32 a, u32 steps) {                                                          \
    u32 thread = BID * 256 + TID;                                                                                      \
    type x[CHAINS];                                                                                                    \
    UNROLL for (int i = 0; i < CHAINS; i++) x[i] = (type)(thread * CHAINS + i + a);                                    \
    ROLL for (u32 step = 0; step < steps; step++) {                                                                    \
      UNROLL for (int repeat = 0; repeat < REPEATS; repeat++) {                                                        \
        UNROLL for (int i = 0; i < CHAINS; i++) {                                                                      \
          type y = x[(i + 1) % CHAINS];                                                                                \
          x[i] = next;                                                                                                 \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    u32 all = 0;                                                                                                       \
    UNROLL for (int i = 0; i < CHAINS; i++) all ^= word_of(x[i]);                                                      \
    out[thread] = all;                                                                                                 \
  }

FN u32 word_of(u32 x) { return x; }
FN u32 word_of(u64 x) { return (u32)x ^ (u32)(x >> 32); }
FN u32 word_of(double x) { return low_bits(x) ^ high_bits(x); }

CHAIN_KERNEL(lab_add, u32, x[i] + y)
CHAIN_KERNEL(lab_multiply, u32, x[i] * a + y)
CHAIN_KERNEL(lab_multiply_wide, u64, (u64)(u32)x[i] * a + y)
CHAIN_KERNEL(lab_multiply_high, u32, mulhi32(x[i], a) + y)
CHAIN_KERNEL(lab_shift, u32, shift_right(x[i], y, 13))
CHAIN_KERNEL(lab_fma, double, fma_(x[i], 0.5, y))
