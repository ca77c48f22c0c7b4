// Blind rotation: all CMUX steps of a bootstrap in one launch. Parameters: ring dimension N, GLWE dimension K, one digit.
//
// One step, for key bit s_i and exponent e, is acc <- acc + GGSW(s_i) [.] (X^e - 1) acc. The words are those of
// crates/field/src/torus/blind_rotate.rs, since every operation on doubles is the same: one thread holds a point, and it
// sums the rows of the product in the CPU's order. A step with exponent 0 adds zero, so it needs no branch.
//
// Work: T = N / 32 threads hold a polynomial, 16 complex points each. Polynomials of fewer than 32 threads share a warp
// with the same polynomial of the next accumulator. All lanes of a warp then read the same rows of the key.
//
// The transform goes through shared memory twice: from points at stride T (the levels at strides of 64 and more) to
// columns of tiles of 8 x 8 points, and from columns to rows. A thread stores only where it has just loaded, so each
// exchange has one barrier. `place` spreads every access of 8 lanes over all banks.
#pragma once
#include "c64.h"

// Shared memory of an accumulator. The launch gives sizeof(Accumulator) for each.
template <int N, int K> struct Accumulator {
  C points[K + 1][N / 2];
  u32 words[K + 1][N];
};

// Twiddles of NegacyclicPlan in one list: passes at strides of 64 and more, then tiles' rows, then tiles' columns.
template <int N> struct Twiddles {
  static constexpr int rows = N == 512 ? 6 : 30, columns = rows + 10 * (N / 128);
};

#define MAGIC 6755399441055744.0  // 1.5 * 2^52: adding it rounds a smaller double to an integer, in the low bits.

// A digit as a double, exactly.
FN double digit_to_double(u32 digit) { return sub_(from_bits(0x43300000u, digit ^ 0x80000000u), 4503601774854144.0); }

// The fraction of x in units of 2^-32. Range: |x| < 2^51. Equal to `to_torus` of crates/field/src/simd.
FN u32 to_torus(double x) {
  double fraction = sub_(x, sub_(add_(x, MAGIC), MAGIC));
  return low_bits(fma_(fraction, 4294967296.0, MAGIC));
}

// Where point `i` of a polynomial lies.
FN int place(int i) { return i ^ (i >> 3 & 7); }

// Orders the accesses of the threads of a polynomial.
template <int T> FN void polynomial_barrier() {
  if (T <= 32) SYNCWARP(); else SYNC();
}

// The levels at strides of 64 and more, on the points T i + t in v[i]: radix 4, once for N = 512, twice for N = 2048.
template <int N> FN void split_strided(C (&v)[16], const double *RESTRICT w) {
  C a = twiddle(w, 0, 1), b = twiddle(w, 1, 1), c = twiddle(w, 2, 1);
  UNROLL for (int i = 0; i < 4; i++) split4(v[i], v[i + 4], v[i + 8], v[i + 12], a, b, c);
  if (N == 2048) UNROLL for (int i = 0; i < 16; i += 4) {
    const double *RESTRICT node = w + 6 + 6 * (i / 4);
    split4(v[i], v[i + 1], v[i + 2], v[i + 3], twiddle(node, 0, 1), twiddle(node, 1, 1), twiddle(node, 2, 1));
  }
}

// Inverse of split_strided, times 4 or 16.
template <int N> FN void join_strided(C (&v)[16], const double *RESTRICT w) {
  if (N == 2048) UNROLL for (int i = 0; i < 16; i += 4) {
    const double *RESTRICT node = w + 6 + 6 * (i / 4);
    join4(v[i], v[i + 1], v[i + 2], v[i + 3], twiddle(node, 0, 1), twiddle(node, 1, 1), twiddle(node, 2, 1));
  }
  C a = twiddle(w, 0, 1), b = twiddle(w, 1, 1), c = twiddle(w, 2, 1);
  UNROLL for (int i = 0; i < 4; i++) join4(v[i], v[i + 4], v[i + 8], v[i + 12], a, b, c);
}

// Forward transform: points T i + t in v[i], to the points of two tiles. Point 8 h + k of `v` is point (c, k) of tile
// 2 q + h, where t = 8 q + c. It lies at place(64 (2 q + h) + 8 c + k) of `points`, too.
template <int N> FN void forward(C (&v)[16], C *points, const double *RESTRICT twiddles, int t) {
  constexpr int T = N / 32;
  int q = t >> 3, c = t & 7;
  split_strided<N>(v, twiddles);
  UNROLL for (int i = 0; i < 16; i++) points[place(T * i + t)] = v[i];
  polynomial_barrier<T>();
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + h;
    UNROLL for (int r = 0; r < 8; r++) v[8 * h + r] = points[place(64 * tile + 8 * r + c)];
    split8(v + 8 * h, twiddles + Twiddles<N>::rows + 10 * tile, 1);
    UNROLL for (int r = 0; r < 8; r++) points[place(64 * tile + 8 * r + c)] = v[8 * h + r];
  }
  SYNCWARP();
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + h;
    UNROLL for (int k = 0; k < 8; k++) v[8 * h + k] = points[place(64 * tile + 8 * c + k)];
    split8(v + 8 * h, twiddles + Twiddles<N>::columns + 80 * tile + c, 8);
    UNROLL for (int k = 0; k < 8; k++) points[place(64 * tile + 8 * c + k)] = v[8 * h + k];
  }
}

// Inverse of `forward`, times N / 2. It begins with the points in `v` alone.
template <int N> FN void inverse(C (&v)[16], C *points, const double *RESTRICT twiddles, int t) {
  constexpr int T = N / 32;
  int q = t >> 3, c = t & 7;
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + h;
    join8(v + 8 * h, twiddles + Twiddles<N>::columns + 80 * tile + c, 8);
    UNROLL for (int k = 0; k < 8; k++) points[place(64 * tile + 8 * c + k)] = v[8 * h + k];
  }
  SYNCWARP();
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + h;
    UNROLL for (int r = 0; r < 8; r++) v[8 * h + r] = points[place(64 * tile + 8 * r + c)];
    join8(v + 8 * h, twiddles + Twiddles<N>::rows + 10 * tile, 1);
    UNROLL for (int r = 0; r < 8; r++) points[place(64 * tile + 8 * r + c)] = v[8 * h + r];
  }
  polynomial_barrier<T>();
  UNROLL for (int i = 0; i < 16; i++) v[i] = points[place(T * i + t)];
  join_strided<N>(v, twiddles);
}

// Points 8 h + k of tiles 2 q + h of output p: the sum over the rows of digit times key, in the rows' order. `v` holds
// the digits of row p and receives the sums. The digits of the other rows come from `accumulator`. `ggsw` points to
// row 0, output p, point c of the run 16 q of the key.
template <int N, int K> FN void multiply(C (&v)[16], const Accumulator<N, K> &accumulator, const double *RESTRICT ggsw,
                                         int p, int t) {
  constexpr int P = K + 1;
  int q = t >> 3, c = t & 7;
  UNROLL for (int i = 0; i < 16; i++) {
    C sum = {0.0, 0.0};
    UNROLL for (int row = 0; row < P; row++) {
      C digit = v[i];
      if (row != p) digit = accumulator.points[row][place(64 * (2 * q + i / 8) + 8 * c + i % 8)];
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
  constexpr int P = K + 1, T = N / 32, SHARE = T < 32 ? 32 / T : 1;
  static_assert(N == 512 || N == 2048, "the strided levels of other dimensions are not written");
  typedef Accumulator<N, K> Shared;
  SHARED_OF_LAUNCH(Shared, shared);
  int t = TID % T, p = TID / (T * SHARE) % P;
  u32 slot = TID / (T * SHARE * P) * SHARE + TID / T % SHARE, wanted = BID * (THREADS / (T * P)) + slot;
  u32 job = wanted < jobs ? wanted : jobs - 1;  // A slot without a job repeats the last one and writes nothing.
  Shared &accumulator = shared[slot];
  C *points = accumulator.points[p];
  u32 *words = accumulator.words[p];
  exponents += (u64)job * (n + 1);

  u32 own[2][16];  // Coefficients N/2 h + T i + t, also in `words`.
  u32 turn = exponents[n];
  const u32 *RESTRICT box = boxes + 16 * table[job];
  UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++) {
    u32 j = N / 2 * h + T * i + t, from = (j + turn) & (2 * N - 1);
    u32 value = p == K ? box[(from & (N - 1)) * 16 / N] : 0;
    own[h][i] = from & N ? 0 - value : value;
    words[j] = own[h][i];
  }

  key += (16 * (t >> 3) * P * P + p) * 16 + (t & 7);
  u32 right = 32 - base_log, half = (1u << right) >> 1;  // A word plus half a unit of its digit, cut, is the digit.
  ROLL for (u32 step = 0; step < n; step++) {
    u32 e = exponents[step];
    polynomial_barrier<T>();  // The words are whole, and the points of the last step have been read.
    C v[16];
    UNROLL for (int i = 0; i < 16; i++) {
      double digit[2];
      UNROLL for (int h = 0; h < 2; h++) {
        u32 from = (N / 2 * h + T * i + t - e) & (2 * N - 1), word = words[from & (N - 1)];
        u32 difference = (from & N ? 0 - word : word) - own[h][i];
        digit[h] = digit_to_double((u32)((i32)(difference + half) >> right));
      }
      v[i] = {digit[0], digit[1]};
    }
    forward<N>(v, points, twiddles, t);
    SYNC();  // All rows are there.
    multiply<N, K>(v, accumulator, key, p, t);
    key += P * P * N;
    SYNC();  // All rows have been read.
    inverse<N>(v, points, twiddles, t);
    UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++) {
      own[h][i] += to_torus(h ? v[i].im : v[i].re);
      words[N / 2 * h + T * i + t] = own[h][i];
    }
  }
  if (wanted >= jobs) return;
  u32 *out = accumulators + ((u64)job * P + p) * N;
  UNROLL for (int h = 0; h < 2; h++) UNROLL for (int i = 0; i < 16; i++) out[N / 2 * h + T * i + t] = own[h][i];
}
