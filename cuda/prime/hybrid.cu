// Key switches by groups of towers: the digits of polynomials, and their products with keys (`Hybrid` of `solinas-ring`).
//
// Block: 256 threads of one word. `towers` is the number of all primes, those of Q and then those of P; N = 2^log.
// Range: canonical in and out.
//
// prime_digits: Grid: x = ceil(towers N / 256), y = items groups. Digit g of an item is the fast conversion of the towers
// g size .. g size + size of its shares (as far as there are any) to all primes, in coefficients.
// Shapes: digits[items][groups][towers][N], shares[items][from][N], factors[towers][from]. Bytes: 8 size read and 8
// written a word. Operations: `size` products with a factor.
//
// prime_dot: Grid: x = ceil(towers N / 256), y = items. Word i of a tower of `sums` is the sum over terms t and groups g of
// digit[g][places[t][i]] keys[t][g][places[t][i]]: each term is a sum of products, whose words it then permutes.
// Shapes: sums[items][towers][N], digits as above, keys[terms][groups][towers][N], places[terms][N] with places below N.
// Bytes: 16 read a word, term and group, and 8 written a word.
#include "zq.h"

KERNEL(prime_digits, 256, 4)
(u64 *RESTRICT digits, const u64 *RESTRICT shares, const modulus *RESTRICT moduli, const factor *RESTRICT factors,
 u32 towers, u32 from, u32 size, u32 groups, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log, item = BID_Y / groups, first = (BID_Y - item * groups) * size;
  if (tower >= towers) return;
  u32 end = first + size < from ? first + size : from;
  u64 q = load_constant(&moduli[tower].q), sum = 0;
  shares += (((u64)item * from) << log) + (at & ((1u << log) - 1));
  for (u32 k = first; k < end; k++) {
    sum = zq_once(sum + zq_scale_lazy(shares[(u64)k << log], load_factor(factors + tower * from + k), q), 2 * q);
  }
  digits[(((u64)BID_Y * towers) << log) + at] = zq_once(sum, q);
}

KERNEL(prime_dot, 256, 4)
(u64 *RESTRICT sums, const u64 *RESTRICT digits, const u64 *RESTRICT keys, const u32 *RESTRICT places,
 const modulus *RESTRICT moduli, u32 towers, u32 groups, u32 terms, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log, below = (1u << log) - 1;
  if (tower >= towers) return;
  modulus m = load_modulus(moduli + tower);
  u64 sum = 0, words = (u64)towers << log;
  digits += (u64)BID_Y * groups * words;
  for (u32 t = 0; t < terms; t++) {
    u32 from = (at & ~below) + load_constant(places + ((u64)t << log) + (at & below));
    for (u32 g = 0; g < groups; g++) {
      sum = zq_add(sum, zq_multiply(digits[g * words + from], keys[((u64)t * groups + g) * words + from], m), m.q);
    }
  }
  sums[(u64)BID_Y * words + at] = sum;
}
