// Division by the special primes P that follow those of Q, preserving a plaintext modulus p: `ModDown` of `solinas-ring`.
//
// Grid: x = ceil(towers N / 256), y = items. Block: 256 threads of one word. N = 2^log. c has `towers` towers of Q and then
// `special` of P an item. Range: canonical in and out; p below 2^31.
//
// prime_shares: in the towers of P, which hold coefficients: c <- (c + halves) weights. Here x = ceil(special N / 256).
// Shapes: halves[special], weights[special] of factors. Bytes: 8 read and 8 written a word.
//
// prime_special: d <- D modulo each prime of Q: a number near zero that is c modulo P and 0 modulo p. It is the fast
// conversion of the shares, less (P - 1)/2, plus the multiple of P that makes it 0 modulo p.
// Shapes: d[items][towers][N], factors[towers][special] of factors, halves[towers] = -(P - 1)/2, products[towers] = P, of
// factors. Bytes: 8 special read and 8 written a word.
//
// prime_switch_down: d <- D / P modulo each prime of Q, as `SwitchDown` of `solinas-ring`: the sum of the shares times
// factors, a constant, and a correction times the last factor. The correction makes D 0 modulo p. Here `special` counts
// all primes by which it divides.
// Shapes: d[items][towers][N], factors[towers][special + 1] of factors, constants[towers].
//
// prime_add_quotient: quotient <- sum + (c - d)/P, of values. Shapes: quotient, sum, d[items][towers][N], inverses[towers] =
// 1/P of factors. `quotient` may be d or `sum`. Without a sum, it is 0. Bytes: 24 read and 8 written a word.
#include "zq.h"

// p, floor((2^64 - 1) / p), (P - 1)/2 mod p, -1/P mod p; then P/p_i mod p of each special prime.
struct special_plaintext {
  u64 p, reciprocal, half, minus_inverse, cofactors[1];
};

KERNEL(prime_shares, 256, 4)
(u64 *c, const modulus *RESTRICT moduli, const u64 *RESTRICT halves, const factor *RESTRICT weights, u32 towers,
 u32 special, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= special) return;
  u64 q = load_constant(&moduli[towers + tower].q);
  u64 *word = c + ((((u64)BID_Y * (towers + special)) + towers) << log) + at;
  *word = zq_scale(zq_add(*word, load_constant(halves + tower), q), load_factor(weights + tower), q);
}

KERNEL(prime_special, 256, 4)
(u64 *RESTRICT d, const u64 *RESTRICT c, const modulus *RESTRICT moduli, const factor *RESTRICT factors,
 const u64 *RESTRICT halves, const factor *RESTRICT products, const special_plaintext *RESTRICT plaintext, u32 towers,
 u32 special, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= towers) return;
  modulus m = load_modulus(moduli + tower);
  u64 p = load_constant(&plaintext->p), reciprocal = load_constant(&plaintext->reciprocal);
  u64 sum = 0, rest = 0;
  const u64 *shares = c + (((u64)BID_Y * (towers + special) + towers) << log) + (at & ((1u << log) - 1));
  for (u32 k = 0; k < special; k++) {
    u64 share = shares[(u64)k << log];
    sum = zq_once(sum + zq_scale_lazy(share, load_factor(factors + tower * special + k), m.q), 2 * m.q);
    u64 cofactor = load_constant(plaintext->cofactors + k);
    rest = zq_small(rest + zq_small(share, p, reciprocal) * cofactor, p, reciprocal);
  }
  u64 shifted = zq_small(rest + p - load_constant(&plaintext->half), p, reciprocal);
  u64 k = zq_small(shifted * load_constant(&plaintext->minus_inverse), p, reciprocal);
  u64 multiple = zq_reduce_signed(k > p / 2 ? (i64)k - (i64)p : (i64)k, m);
  sum = zq_add(zq_once(sum, m.q), load_constant(halves + tower), m.q);
  d[(((u64)BID_Y * towers) << log) + at] =
      zq_add(sum, zq_scale(multiple, load_factor(products + tower), m.q), m.q);
}

// p, floor((2^64 - 1) / p), a constant; then the factor of each share.
struct switch_plaintext {
  u64 p, reciprocal, constant, factors[1];
};

KERNEL(prime_switch_down, 256, 4)
(u64 *RESTRICT d, const u64 *RESTRICT c, const modulus *RESTRICT moduli, const factor *RESTRICT factors,
 const u64 *RESTRICT constants, const switch_plaintext *RESTRICT plaintext, u32 towers, u32 special, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= towers) return;
  u64 q = load_constant(&moduli[tower].q), p = load_constant(&plaintext->p);
  u64 reciprocal = load_constant(&plaintext->reciprocal), sum = 0, rest = load_constant(&plaintext->constant);
  const u64 *shares = c + (((u64)BID_Y * (towers + special) + towers) << log) + (at & ((1u << log) - 1));
  factors += tower * (special + 1);
  for (u32 k = 0; k < special; k++) {
    u64 share = shares[(u64)k << log];
    sum = zq_once(sum + zq_scale_lazy(share, load_factor(factors + k), q), 2 * q);
    rest = zq_small(rest + zq_small(share, p, reciprocal) * load_constant(plaintext->factors + k), p, reciprocal);
  }
  u64 half = p / 2, correction = rest + half + (rest > half ? 0 : p);
  sum = zq_once(sum + zq_scale_lazy(correction, load_factor(factors + special), q), 2 * q);
  d[(((u64)BID_Y * towers) << log) + at] = zq_add(zq_once(sum, q), load_constant(constants + tower), q);
}

KERNEL(prime_add_quotient, 256, 4)
(u64 *quotient, const u64 *sum, const u64 *RESTRICT c, const u64 *d, const modulus *RESTRICT moduli,
 const factor *RESTRICT inverses, u32 towers, u32 special, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= towers) return;
  u64 q = load_constant(&moduli[tower].q), to = (((u64)BID_Y * towers) << log) + at;
  u64 from = (((u64)BID_Y * (towers + special)) << log) + at;
  u64 divided = zq_scale(c[from] + q - d[to], load_factor(inverses + tower), q);
  quotient[to] = sum ? zq_add(sum[to], divided, q) : divided;
}
