// Transforms of 3, 5 and 17 points in registers. Order: natural in and out. Range: as dft.h.
#pragma once
#include "solinas/dft.h"

// The root is f^2 and its square -f.
FN void dft3(wide (&x)[3]) {
  wide sum = gl_add(gl_add(x[0], x[1]), x[2]);
  wide first = gl_sub(gl_add(x[0], gl_phi2(x[1])), gl_phi(x[2]));
  x[2] = gl_sub(gl_add(x[0], gl_phi2(x[2])), gl_phi(x[1]));
  x[1] = first;
  x[0] = sum;
}

// Rader's convolution for the primes N + 1 = 5, 17, of which 3 is a generator. With a[q] = x[3^q] and b[q] = w^(3^-q),
// output 3^-p is x[0] + (a * b)[p]. `kernel` is the transform of b, divided by N, in bit-reversed order. Input 0 is
// lifted, and so is each output.
template <int N> FN void rader(wide (&x)[N + 1], const twiddle *RESTRICT kernel) {
  wide a[N];
  int power = 1;  // 3^q
  UNROLL for (int q = 0; q < N; q++) {
    a[q] = x[power];
    power = 3 * power % (N + 1);
  }
  a[0] = gl_lift_packed(a[0]);
  dft<N>(a);
  wide first = x[0];
  UNROLL for (int i = 0; i < N; i++) {
    u64 v = gl_pack(a[i]);
    a[i] = gl_multiply(v, load_twiddle(kernel, i));
    if (i == 0) {
      a[0] = gl_add(a[0], first);
      x[0] = gl_add(first, gl_unpack(v));
    }
  }
  inverse_dft<N>(a);
  // The powers of 1/3 are those of 3 backwards.
  UNROLL for (int p = 0; p < N; p++) {
    power = 3 * power % (N + 1);
    x[power] = a[N - 1 - p];
  }
}

template <int M> FN void odd_dft(wide (&x)[M], const twiddle *RESTRICT kernel) {
  if constexpr (M == 3) dft3(x);
  else rader<M - 1>(x, kernel);
}
