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
// prime_dot: Grid: x = ceil(towers N / 256), y = items parts. Word i of a tower of a part of `sums` is the sum over terms t
// and groups g of digit[g][places[t][i]] keys[t][g][part][places[t][i]]: each term is a sum of products, whose words it then
// permutes. Without `places`, it does not. Keys may have more groups, and more towers: those of Q after the first `from` are
// left out.
// Shapes: sums[items][parts][towers][N], digits as above, keys[terms][key_groups][parts][key_towers][N], places[terms][N]
// with places below N. Bytes: 16 read a word, term and group, and 8 written a word.
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
 const modulus *RESTRICT moduli, u32 towers, u32 from, u32 groups, u32 terms, u32 parts, u32 key_groups, u32 key_towers,
 u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log, below = (1u << log) - 1, item = BID_Y / parts, part = BID_Y - item * parts;
  if (tower >= towers) return;
  modulus m = load_modulus(moduli + tower);
  u64 sum = 0, words = (u64)towers << log, key_words = (u64)key_towers << log;
  digits += item * groups * words + ((u64)tower << log);
  keys += part * key_words + ((u64)(tower < from ? tower : tower + key_towers - towers) << log);
  for (u32 t = 0; t < terms; t++) {
    u32 i = at & below;
    if (places) i = load_constant(places + ((u64)t << log) + i);
    for (u32 g = 0; g < groups; g++) {
      u64 key = keys[((u64)t * key_groups + g) * parts * key_words + i];
      sum = zq_add(sum, zq_multiply(digits[g * words + i], key, m), m.q);
    }
  }
  sums[(u64)BID_Y * words + at] = sum;
}
