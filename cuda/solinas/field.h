// The functions of gl.h on pairs of words, for tests.
//
// Grid: x covers `count` pairs, 64 a block. Block: 64 threads of one pair.
// A thread reads a[i] and b[i], any words, and twiddles[i], and writes FIELD_RESULTS canonical words from
// FIELD_RESULTS i on: see field_results.
#pragma once
#include "gl.h"

#define FIELD_RESULTS 43

struct results {
  u64 *next;
};

FN void put(results &out, wide x) { *out.next++ = gl_canonical(gl_lift(x)); }

template <int S> FN void put_twists(results &out, wide x) {
  put(out, gl_twist<S, 0>(x));
  put(out, gl_twist<S, 1>(x));
  put(out, gl_twist<S, 2>(x));
  if constexpr (S < 28) put_twists<S + 4>(out, x);
}

FN void field_results(results out, u64 a, u64 b, twiddle w) {
  wide x = gl_widen(a), y = gl_widen(b);
  *out.next++ = gl_reduce(a);
  put(out, gl_add(x, y));
  put(out, gl_sub(x, y));
  put(out, gl_phi(x));
  put(out, gl_phi2(x));
  put(out, gl_product(a, b));
  put(out, gl_multiply(a, w));
  put(out, gl_carry((i64)a, (i64)b));
  *out.next++ = gl_word(gl_lift(x));
  *out.next++ = gl_pack(gl_lift_packed(gl_sub(x, y)));
  // The differences times 2^(S + 32 q), S = 0, 4 .. 28, q = 0, 1, 2, and times 2^S.
  put_twists<0>(out, gl_sub(x, y));
  put(out, gl_shl<0>(gl_sub(x, y)));
  put(out, gl_shl<1>(gl_sub(x, y)));
  put(out, gl_shl<8>(gl_sub(x, y)));
  put(out, gl_shl<12>(gl_sub(x, y)));
  put(out, gl_shl<16>(gl_sub(x, y)));
  put(out, gl_shl<20>(gl_sub(x, y)));
  put(out, gl_shl<24>(gl_sub(x, y)));
  put(out, gl_shl<25>(gl_sub(x, y)));
  put(out, gl_shl<26>(gl_sub(x, y)));
}

#define FIELD(name)                                                                                                  \
  KERNEL(name, 64, 1)                                                                                                \
  (u64 *RESTRICT out, const u64 *RESTRICT a, const u64 *RESTRICT b, const twiddle *RESTRICT twiddles, u32 count) {   \
    u32 i = BID * 64 + TID;                                                                                          \
    if (i < count) field_results({out + (u64)i * FIELD_RESULTS}, a[i], b[i], twiddles[i]);                           \
  }
