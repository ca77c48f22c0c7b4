// Division by the last prime q of a basis, preserving a plaintext modulus p: `Rescale` of `solinas-ring`.
//
// Grid: x = ceil(towers N / 256), y = items. Block: 256 threads of one word. `towers` is that of the quotient.
// c has `towers` + 1 towers of N = 2^log words an item, and the last one holds coefficients modulo q.
// Range: canonical in and out. p is in 1..2^31.
#include "zq.h"

// The constants of a division: q, p, floor((2^64 - 1) / p), 1/q mod p.
struct alignas(16) division {
  u64 q, p, reciprocal, inverse;
};

// d[item][tower] <- D modulo the tower's prime: the number of least magnitude that is c modulo q and 0 modulo p.
// Shapes: d[items][towers][N], minus[towers] = -q modulo each prime. Bytes: 8 read and 8 written a word.
KERNEL(prime_correction, 256, 4)
(u64 *RESTRICT d, const u64 *RESTRICT c, const modulus *RESTRICT moduli, const factor *RESTRICT minus,
 const division *RESTRICT constants, u32 towers, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= towers) return;
  u64 q = load_constant(&constants->q), p = load_constant(&constants->p);
  u64 reciprocal = load_constant(&constants->reciprocal), inverse = load_constant(&constants->inverse);
  u64 x = c[(((u64)BID_Y * (towers + 1) + towers) << log) + (at & ((1u << log) - 1))];
  bool negative = x > q / 2;
  u64 magnitude = negative ? q - x : x;
  // D = x - q k, where k has the sign of x if both p/2 and -p/2 are possible.
  u64 k = zq_small(zq_small(magnitude, p, reciprocal) * inverse, p, reciprocal);
  i64 quotient = k > p / 2 ? (i64)k - (i64)p : (i64)k;
  modulus m = load_modulus(moduli + tower);
  u64 first = zq_reduce_signed(negative ? -(i64)magnitude : (i64)magnitude, m);
  u64 second = zq_reduce_signed(negative ? -quotient : quotient, m);
  d[(((u64)BID_Y * towers) << log) + at] = zq_add(first, zq_scale(second, load_factor(minus + tower), m.q), m.q);
}

// quotient <- (c - d) / q, of values. Shapes: quotient, d[items][towers][N], inverses[towers] = 1/q modulo each prime.
// Bytes: 16 read and 8 written a word.
KERNEL(prime_divide, 256, 4)
(u64 *quotient, const u64 *RESTRICT c, const u64 *d, const modulus *RESTRICT moduli, const factor *RESTRICT inverses,
 u32 towers, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= towers) return;
  u64 q = load_constant(&moduli[tower].q), to = (((u64)BID_Y * towers) << log) + at;
  u64 from = (((u64)BID_Y * (towers + 1)) << log) + at;
  quotient[to] = zq_scale(c[from] + q - d[to], load_factor(inverses + tower), q);
}
