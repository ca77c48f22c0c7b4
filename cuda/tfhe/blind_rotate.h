// Blind rotation: all CMUX steps of a bootstrap in one launch. Parameters: ring dimension N, GLWE dimension K, one digit.
//
// One step, for key bit s_i and exponent e, is acc <- acc + GGSW(s_i) [.] (X^e - 1) acc. The words are those of
// crates/field/src/torus/cmux.rs, since every operation on doubles is the same: one thread holds a point, and it
// sums the rows of the product in the CPU's order. A step with exponent 0 adds zero, so it needs no branch.
#pragma once
#include "tfhe/transform.h"

// Shared memory of an accumulator. The launch gives sizeof(Accumulator) for each.
template <int N, int K> struct Accumulator {
  C points[K + 1][N / 2];
  u32 words[K + 1][N];
};

// Points 8 h + k of tiles 2 q + h of output p: the sum over the rows of digit times key, in the rows' order. `v` holds
// the digits of row p and receives the sums. The digits of the other rows come from `accumulator`. `ggsw` points to
// row 0, output p, point c of the run 16 q of the key.
template <int N, int K> FN void multiply(C (&v)[16], const Accumulator<N, K> &accumulator, const double *RESTRICT ggsw,
                                         int p, int t) {
  constexpr int P = K + 1;
  UNROLL for (int i = 0; i < 16; i++) {
    C sum = {0.0, 0.0};
    UNROLL for (int row = 0; row < P; row++) {
      C digit = v[i];
      if (row != p) digit = accumulator.points[row][place_of(t, i)];
      const double *RESTRICT key = ggsw + (i * P + row) * P * 16;
      sum = mul_add(digit, {key[0], key[8]}, sum);
    }
    v[i] = sum;
  }
}

// The kernel. `accumulators[jobs][K + 1][N]` receives the rotated test polynomials.
// Inputs: key[n] GGSW ciphertexts in the order of crates/field; exponents[jobs][n + 1] below 2N, the body's last;
// boxes[tables][16]: coefficient j of test polynomial table[job] is boxes[table[job]][16 j / N]; twiddles: see Twiddles.
// Range: base_log in 1..32, one digit of that many bits.
template <int N, int K> FN void blind_rotate(u32 *RESTRICT accumulators, const double *RESTRICT key,
                                             const u32 *RESTRICT exponents, const u32 *RESTRICT boxes,
                                             const u32 *RESTRICT table, u32 jobs, u32 n, u32 base_log,
                                             const double *RESTRICT twiddles) {
  constexpr int P = K + 1, T = N / 32;
  typedef Accumulator<N, K> Shared;
  SHARED_OF_LAUNCH(Shared, shared);
  Thread<N, P> thread(jobs);
  int t = thread.t, p = thread.p;
  Shared &accumulator = shared[thread.slot];
  C *points = accumulator.points[p];
  u32 *words = accumulator.words[p];
  exponents += (u64)thread.job * (n + 1);

  u32 own[2][16];  // Coefficients N/2 h + T i + t, also in `words`.
  u32 turn = exponents[n];
  const u32 *RESTRICT box = boxes + 16 * table[thread.job];
  UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++) {
    u32 j = N / 2 * h + T * i + t;
    own[h][i] = words[j] = p == K ? test_polynomial<N>(box, j, turn) : 0;
  }

  key += (16 * (t >> 3) * P * P + p) * 16 + (t & 7);
  ROLL for (u32 step = 0; step < n; step++) {
    u32 e = exponents[step];
    polynomial_barrier<T>();  // The words are whole, and the points of the last step have been read.
    C v[16];
    UNROLL for (int i = 0; i < 16; i++) {
      double digit[2];
      UNROLL for (int h = 0; h < 2; h++) {
        u32 from = (N / 2 * h + T * i + t - e) & (2 * N - 1), word = words[from & (N - 1)];
        u32 difference = (from & N ? 0 - word : word) - own[h][i];
        digit[h] = digit_of(difference, base_log);
      }
      v[i] = {digit[0], digit[1]};
    }
    forward<N>(v, points, twiddles, t, 0);
    UNROLL for (int i = 0; i < 16; i++) points[place_of(t, i)] = v[i];
    SYNC();  // All rows are there.
    multiply<N, K>(v, accumulator, key, p, t);
    key += P * P * N;
    SYNC();  // All rows have been read.
    inverse<N>(v, points, twiddles, t, 0);
    UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++) {
      own[h][i] += to_torus(h ? v[i].im : v[i].re);
      words[N / 2 * h + T * i + t] = own[h][i];
    }
  }
  if (thread.wanted >= jobs) return;
  u32 *out = accumulators + ((u64)thread.job * P + p) * N;
  UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++) out[N / 2 * h + T * i + t] = own[h][i];
}
