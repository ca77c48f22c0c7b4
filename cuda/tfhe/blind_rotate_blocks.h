// Blind rotation under a block-binary key: all steps of a bootstrap in one launch. Parameters: ring dimension N, GLWE
// dimension K, bits L of a block, one digit.
//
// One step, for the bits s_j of a block and their exponents e_j, is acc <- acc + sum_j (X^(e_j) - 1) D [.] GGSW(s_j),
// where D are the digits of acc. The words are those of crates/field/src/torus/block.rs, since every operation on
// doubles is the same: one thread holds a point of all outputs, and it sums bits and rows in the CPU's order.
//
// Work: see tfhe/transform.h. The T threads of polynomial p also multiply: each of them takes 16 / P of its 16 points,
// for all P = K + 1 polynomials. So a monomial and a product of it with a digit are computed once. A thread keeps the
// digits and sums of its own polynomial at these points in registers, and its words too.
#pragma once
#include "tfhe/transform.h"

// Shared memory of an accumulator. The launch gives sizeof(BlockAccumulator) for each.
template <int N, int K> struct BlockAccumulator {
  C points[K + 1][N / 2];
};

// The key on its way through shared memory. A stage holds what the threads of a block multiply next: the rows of BITS bits
// at one point of each thread. RUNS pairs of a polynomial p and 16 points of it have RUN doubles each. A step has STEP
// stages, and COUNT stages are in shared memory at a time.
template <int N, int K, int L> struct Stages {
  static constexpr int P = K + 1, M = 16 / P, BITS = P == 2 ? L : 1, STEP = M * L / BITS, COUNT = P == 2 ? 4 : 6;
  static constexpr int QS = N / 256, RUNS = P * QS, RUN = BITS * P * P * 16;
  static constexpr int STRIDE = RUN + 8;  // 64 bytes more, so that neighbouring runs lie in other banks.
  static constexpr int LEN = RUNS * STRIDE;
  static_assert(STEP % COUNT == 0, "a stage of a step has one place");

  double *memory;
  const double *RESTRICT from;  // The first double of this thread's run, in this step.
  double *to;                   // The same in the first stage.
  int chunk, lanes;             // The first 16 bytes that the thread copies, and the distance to the next ones.
  const double *RESTRICT last;  // `from` of the last step.

  FN_METHOD Stages(double *shared, const double *RESTRICT key, u32 steps) {
    memory = shared;
    lanes = THREADS / RUNS;
    int run = TID / lanes;
    chunk = TID % lanes;
    from = key + (16 * (run % QS) + M * (run / QS)) * L * P * P * 16 + 2 * chunk;
    last = from + (u64)(steps - 1) * L * P * P * N;
    to = memory + run * STRIDE + 2 * chunk;
    UNROLL for (int stage = 0; stage + 1 < COUNT; stage++) start(stage);
  }

  // Starts the copies of a stage, which may belong to the next step.
  FN_METHOD void start(int stage) {
    const double *RESTRICT source = from + (stage >= STEP ? L * P * P * N : 0);
    int within = stage % STEP;
    if (source <= last) {
      source += (within * BITS) * P * P * 16;
      double *target = to + stage % COUNT * LEN;
      _Pragma("unroll 4") for (int i = chunk; i < RUN / 2; i += lanes) {
        copy_async(target, source);
        source += 2 * lanes;
        target += 2 * lanes;
      }
    }
    COPY_GROUP();
  }

  // Waits for a stage, and starts the one that takes the place of the stage before.
  FN_METHOD void enter(int stage) {
    COPY_WAIT(COUNT - 2);
    SYNC();
    start(stage + COUNT - 1);
  }

  FN_METHOD void next_step() { from += L * P * P * N; }
};

// a w - 1
FN C mul_less_one(C a, C w) { return {fma_(a.re, w.re, -fma_(a.im, w.im, 1.0)), fma_(a.re, w.im, mul_(a.im, w.re))}; }

// The angle of the first point of a tile, in units of 1/2N turn.
template <int N> FN u32 angle_of(u32 tile) {
  u32 angle = 1;
  UNROLL for (int bit = 0; 128 << bit < N; bit++) angle += tile >> bit & 1 ? N >> (6 + bit) : 0;
  return angle;
}

// Exchanges points 0..4 of each tile of `v` with points 4..8, for a thread that multiplies the latter ones.
FN void exchange(C (&v)[16], int first) {
  if (first & 4) UNROLL for (int i = 0; i < 16; i++) if (!(i & 4)) {
    C point = v[i];
    v[i] = v[i + 4];
    v[i + 4] = point;
  }
}

// The monomials of a block at the points of a thread. Tables: e(i / 2N); for each exponent modulo 64, the real and then
// the imaginary parts of the factors of 8 lanes; for each exponent modulo 8, the factors of 8 registers.
template <int N, int L> struct Monomials {
  C bases[L];  // At register 0 of the thread's tile.
  const C *RESTRICT registers[L];

  FN_METHOD Monomials(const double *RESTRICT tables, const u32 *RESTRICT exponents, u32 angle, int c) {
    const C *RESTRICT roots = (const C *)tables;
    UNROLL for (int bit = 0; bit < L; bit++) {
      u32 e = exponents[bit];
      const double *RESTRICT lanes = tables + 4 * N + 16 * (e & 63) + c;
      bases[bit] = mul(roots[e * angle & (2 * N - 1)], {lanes[0], lanes[8]});
      registers[bit] = roots + 2 * N + 512 + 8 * (e & 7);
    }
  }
};

// Points i ^ first of thread t, for i below 16 / P, of all outputs: the sum over bits and rows, in this order, of digit
// times (monomial - 1) times key. The digits and sums of polynomial p are in `v`, those of the others in `points`. `key`
// points to point c of the run of point `first`.
template <int N, int K, int L> FN void multiply(C (&v)[16], C (*points)[N / 2], const Monomials<N, L> &monomials,
                                                Stages<N, K, L> &stages, int p, int t, int first) {
  constexpr int P = K + 1;
  typedef Stages<N, K, L> S;
  const double *key = stages.memory + (p * S::QS + (t >> 3)) * S::STRIDE + (t & 7);
  UNROLL for (int i = 0; i < 16 / P; i++) {
    int at = place_of(t, i ^ first);
    C digits[P], sums[P];
    UNROLL for (int bit = 0; bit < L; bit++) {
      int stage = (i * L + bit) / S::BITS;
      if (bit % S::BITS == 0) stages.enter(stage);
      if (bit == 0) UNROLL for (int row = 0; row < P; row++) {
        digits[row] = v[i];
        if (row != p) digits[row] = points[row][at];
        sums[row] = {0.0, 0.0};
      }
      C factor = mul_less_one(monomials.bases[bit], monomials.registers[bit][(first & 7) + i]);
      UNROLL for (int row = 0; row < P; row++) {
        C digit = mul(digits[row], factor);
        UNROLL for (int o = 0; o < P; o++) {
          const double *of_output = key + stage % S::COUNT * S::LEN + ((bit % S::BITS * P + row) * P + o) * 16;
          sums[o] = mul_add(digit, {of_output[0], of_output[8]}, sums[o]);
        }
      }
    }
    UNROLL for (int o = 0; o < P; o++) {
      if (o == p) v[i] = sums[o]; else points[o][at] = sums[o];
    }
  }
}

// The kernel. `accumulators[jobs][K + 1][N]` receives the rotated test polynomials.
// Inputs: key[n / L] blocks in the order of crates/field; exponents[jobs][n + 1] below 2N, the body's last;
// boxes[tables][16]: coefficient j of test polynomial table[job] is boxes[table[job]][16 j / N]; twiddles: see Twiddles;
// monomials: see Monomials. Range: base_log in 1..32, one digit of that many bits; n is a multiple of L.
template <int N, int K, int L> FN void blind_rotate_blocks(u32 *RESTRICT accumulators, const double *RESTRICT key,
                                                           const u32 *RESTRICT exponents, const u32 *RESTRICT boxes,
                                                           const u32 *RESTRICT table, u32 jobs, u32 n, u32 base_log,
                                                           const double *RESTRICT twiddles,
                                                           const double *RESTRICT monomials) {
  constexpr int P = K + 1, T = N / 32, M = 16 / P;
  typedef BlockAccumulator<N, K> Shared;
  SHARED_OF_LAUNCH(double, memory);
  Shared *shared = (Shared *)(memory + Stages<N, K, L>::COUNT * Stages<N, K, L>::LEN);
  Stages<N, K, L> stages(memory, key, n / L);
  Thread<N, P> thread(jobs);
  int t = thread.t, p = thread.p, first = M * p;
  C(*all)[N / 2] = shared[thread.slot].points, *points = all[p];
  exponents += (u64)thread.job * (n + 1);

  u32 own[2][16];  // Coefficients N/2 h + T i + t.
  u32 turn = exponents[n];
  const u32 *RESTRICT box = boxes + 16 * table[thread.job];
  UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++)
    own[h][i] = p == K ? test_polynomial<N>(box, N / 2 * h + T * i + t, turn) : 0;

  u32 angle = angle_of<N>(2 * (t >> 3) + (first >> 3));
  ROLL for (u32 step = 0; step < n; step += L) {
    C v[16];
    UNROLL for (int i = 0; i < 16; i++) v[i] = {digit_of(own[0][i], base_log), digit_of(own[1][i], base_log)};
    forward<N>(v, points, twiddles, t, first & 8);
    exchange(v, first);
    UNROLL for (int i = M; i < 16; i++) points[place_of(t, i ^ first)] = v[i];
    Monomials<N, L> of_block(monomials, exponents + step, angle, t & 7);
    multiply<N, K, L>(v, all, of_block, stages, p, t, first);  // Its first barrier waits for all rows.
    stages.next_step();
    SYNC();  // All sums are there.
    UNROLL for (int i = M; i < 16; i++) v[i] = points[place_of(t, i ^ first)];
    exchange(v, first);
    inverse<N>(v, points, twiddles, t, first & 8);
    UNROLL for (int i = 0; i < 16; i++) {
      own[0][i] += to_torus(v[i].re);
      own[1][i] += to_torus(v[i].im);
    }
  }
  if (thread.wanted >= jobs) return;
  u32 *out = accumulators + ((u64)thread.job * P + p) * N;
  UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++) out[N / 2 * h + T * i + t] = own[h][i];
}
