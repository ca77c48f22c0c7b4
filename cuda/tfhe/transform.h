// The transform of blind rotations for one ring dimension N, its digits and its words. Both kinds of rotation share it.
//
// Work: T = N / 32 threads hold a polynomial, 16 complex points each. Polynomials of fewer than 32 threads share a warp
// with the same polynomial of the next accumulator. All lanes of a warp then read the same rows of the key.
//
// The transform goes through shared memory twice: from points at stride T (the levels at strides of 64 and more) to
// columns of tiles of 8 x 8 points, and from columns to rows. A thread stores only where it has just loaded, so each
// exchange has one barrier. `place` spreads every access of 8 lanes over all banks.
#pragma once
#include "c64.h"

// Twiddles of NegacyclicPlan in one list: passes at strides of 64 and more, then tiles' rows, then tiles' columns.
template <int N> struct Twiddles {
  static constexpr int rows = N == 512 ? 6 : 30, columns = rows + 10 * (N / 128);
};

#define MAGIC 6755399441055744.0  // 1.5 * 2^52: adding it rounds a smaller double to an integer, in the low bits.

// Which polynomial of which accumulator a thread holds, for P polynomials of dimension N in an accumulator.
template <int N, int P> struct Thread {
  int t, p;         // The thread of polynomial p.
  u32 slot;         // The accumulator in the block.
  u32 wanted, job;  // A slot without a job, wanted >= jobs, repeats the last one and writes nothing.

  FN_METHOD Thread(u32 jobs) {
    static_assert(N == 512 || N == 2048, "the strided levels of other dimensions are not written");
    constexpr int T = N / 32, SHARE = T < 32 ? 32 / T : 1;
    t = TID % T;
    p = TID / (T * SHARE) % P;
    slot = TID / (T * SHARE * P) * SHARE + TID / T % SHARE;
    wanted = BID * (THREADS / (T * P)) + slot;
    job = wanted < jobs ? wanted : jobs - 1;
  }
};

// Coefficient j of a test polynomial times X^-turn. `box` holds its 16 values.
template <int N> FN u32 test_polynomial(const u32 *RESTRICT box, u32 j, u32 turn) {
  u32 from = (j + turn) & (2 * N - 1), value = box[(from & (N - 1)) * 16 / N];
  return from & N ? 0 - value : value;
}

// A digit as a double, exactly.
FN double digit_to_double(u32 digit) { return sub_(from_bits(0x43300000u, digit ^ 0x80000000u), 4503601774854144.0); }

// The first digit of a word, of base_log bits. The word plus half a unit of the digit, cut, is the digit.
FN double digit_of(u32 word, u32 base_log) {
  u32 right = 32 - base_log;
  return digit_to_double((u32)((i32)(word + ((1u << right) >> 1)) >> right));
}

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

// Where point `i` of thread `t` lies among the points of a polynomial: point (c, i % 8) of tile 2 q + i / 8, with
// t = 8 q + c.
FN int place_of(int t, int i) { return place(128 * (t >> 3) + 64 * (i >> 3) + 8 * (t & 7) + (i & 7)); }

// Forward transform: points T i + t in v[i], to the points of two tiles. v[i] is point i ^ first of the thread, where
// `first` is 0 or 8.
template <int N> FN void forward(C (&v)[16], C *points, const double *RESTRICT twiddles, int t, int first) {
  constexpr int T = N / 32;
  int q = t >> 3, c = t & 7;
  split_strided<N>(v, twiddles);
  UNROLL for (int i = 0; i < 16; i++) points[place(T * i + t)] = v[i];
  polynomial_barrier<T>();
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + (h ^ first >> 3);
    UNROLL for (int r = 0; r < 8; r++) v[8 * h + r] = points[place(64 * tile + 8 * r + c)];
    split8(v + 8 * h, twiddles + Twiddles<N>::rows + 10 * tile, 1);
    UNROLL for (int r = 0; r < 8; r++) points[place(64 * tile + 8 * r + c)] = v[8 * h + r];
  }
  SYNCWARP();
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + (h ^ first >> 3);
    UNROLL for (int k = 0; k < 8; k++) v[8 * h + k] = points[place_of(t, (8 * h + k) ^ first)];
    split8(v + 8 * h, twiddles + Twiddles<N>::columns + 80 * tile + c, 8);
  }
}

// Inverse of `forward`, times N / 2.
template <int N> FN void inverse(C (&v)[16], C *points, const double *RESTRICT twiddles, int t, int first) {
  constexpr int T = N / 32;
  int q = t >> 3, c = t & 7;
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + (h ^ first >> 3);
    join8(v + 8 * h, twiddles + Twiddles<N>::columns + 80 * tile + c, 8);
    UNROLL for (int k = 0; k < 8; k++) points[place_of(t, (8 * h + k) ^ first)] = v[8 * h + k];
  }
  SYNCWARP();
  UNROLL for (int h = 0; h < 2; h++) {
    int tile = 2 * q + (h ^ first >> 3);
    UNROLL for (int r = 0; r < 8; r++) v[8 * h + r] = points[place(64 * tile + 8 * r + c)];
    join8(v + 8 * h, twiddles + Twiddles<N>::rows + 10 * tile, 1);
    UNROLL for (int r = 0; r < 8; r++) points[place(64 * tile + 8 * r + c)] = v[8 * h + r];
  }
  polynomial_barrier<T>();
  UNROLL for (int i = 0; i < 16; i++) v[i] = points[place(T * i + t)];
  join_strided<N>(v, twiddles);
}
