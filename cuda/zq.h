// Residues modulo primes below 2^61.
//
// Residues in memory are canonical, in 0..q. Between the levels of a transform they are lazy, in 0..2q or 0..4q.
// The constants are those of `solinas_field::prime::Modulus`.
#pragma once
#include "port.h"

// A prime q. `word` = floor(2^64 / q), `barrett` = floor(2^(64 + shift) / q), 2^shift < q < 2^(shift + 1).
struct alignas(16) modulus {
  u64 q, word, barrett, shift;
};

// A residue w and floor(2^64 w / q), which makes a product with w cheap (Shoup).
struct alignas(16) factor {
  u64 value, quotient;
};

FN modulus load_modulus(const modulus *at) {
  return {load_constant(&at->q), load_constant(&at->word), load_constant(&at->barrett), load_constant(&at->shift)};
}

FN factor load_factor(const factor *at) {
  ulonglong2 pair = load_constant((const ulonglong2 *)at);
  return {pair.x, pair.y};
}

FN u64 smaller(u64 a, u64 b) { return a < b ? a : b; }

// From 0..2n to 0..n.
FN u64 zq_once(u64 x, u64 n) { return smaller(x, x - n); }

FN u64 zq_add(u64 a, u64 b, u64 q) { return zq_once(a + b, q); }
FN u64 zq_sub(u64 a, u64 b, u64 q) { return smaller(a - b, a - b + q); }

// x w in 0..2q, for any word x.
FN u64 zq_scale_lazy(u64 x, factor w, u64 q) { return x * w.value - mulhi64(x, w.quotient) * q; }
FN u64 zq_scale(u64 x, factor w, u64 q) { return zq_once(zq_scale_lazy(x, w, q), q); }

// x modulo q, for any word x. The quotient falls short by at most 1.
FN u64 zq_reduce(u64 x, modulus m) { return zq_once(x - mulhi64(x, m.word) * m.q, m.q); }

// x modulo q, for any signed word x.
FN u64 zq_reduce_signed(i64 x, modulus m) {
  u64 r = zq_reduce(x < 0 ? 0 - (u64)x : (u64)x, m);
  return x < 0 ? zq_once(m.q - r, m.q) : r;
}

// x modulo p below 2^31, for any word x and reciprocal = floor((2^64 - 1) / p). The quotient falls short by at most 2.
FN u64 zq_small(u64 x, u64 p, u64 reciprocal) {
  u64 rest = x - mulhi64(x, reciprocal) * p;
  return zq_once(zq_once(rest, p), p);
}

// a b, for residues. The quotient falls short by at most 2.
FN u64 zq_multiply(u64 a, u64 b, modulus m) {
  u64 low = a * b, high = mulhi64(a, b);
  // The product is below 2^(2 shift + 2), and its quotient by 2^shift below 2^63. A shift is in 1..60.
  u64 quotient = mulhi64(high << (64 - m.shift) | low >> m.shift, m.barrett);
  return zq_once(zq_once(low - quotient * m.q, 2 * m.q), m.q);
}
