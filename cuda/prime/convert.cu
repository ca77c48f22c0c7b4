// The fast conversion of residues to other primes: `BaseConversion` of `solinas-ring`, after the scaling by `inverses`.
//
// Grid: x = ceil(towers N / 256), y = items. Block: 256 threads of one word.
// out[item][tower][i] <- sum over k of shares[item][k][i] factors[tower][k], modulo the tower's prime.
// Shapes: out[items][towers][N], shares[items][from][N], factors[towers][from], N = 2^log. Range: canonical in and out.
// Bytes: 8 from read and 8 written a word of `out`. Operations: a product with a factor for each of them.
#include "zq.h"

KERNEL(prime_convert, 256, 4)
(u64 *RESTRICT out, const u64 *RESTRICT shares, const modulus *RESTRICT moduli, const factor *RESTRICT factors,
 u32 towers, u32 from, u32 log) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= towers) return;
  u64 q = load_constant(&moduli[tower].q), sum = 0;
  shares += (((u64)BID_Y * from) << log) + (at & ((1u << log) - 1));
  for (u32 k = 0; k < from; k++) {
    sum = zq_once(sum + zq_scale_lazy(shares[(u64)k << log], load_factor(factors + tower * from + k), q), 2 * q);
  }
  out[(((u64)BID_Y * towers) << log) + at] = zq_once(sum, q);
}
