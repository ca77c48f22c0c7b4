// Products of ciphertexts of two parts.
//
// prime_tensor: low <- (x_0 y_0, x_0 y_1 + x_1 y_0) and high <- x_1 y_1, or these added to what they hold if `add`.
// Grid: x = ceil(towers N / 256), y = items. Block: 256 threads of one word. N = 2^log.
// Shapes: low, x, y[items][2][towers][N], high[items][towers][N]. x may be y. Range: canonical in and out.
// Bytes: 32 read and 24 written a word, and 24 read if `add`. Operations: 4 products.
#include "zq.h"

KERNEL(prime_tensor, 256, 4)
(u64 *RESTRICT low, u64 *RESTRICT high, const u64 *x, const u64 *y, const modulus *RESTRICT moduli, u32 towers, u32 log,
 u32 add) {
  u32 at = BID * 256 + TID, tower = at >> log;
  if (tower >= towers) return;
  modulus m = load_modulus(moduli + tower);
  u64 words = (u64)towers << log, first = 2 * BID_Y * words + at, second = first + words;
  u64 x0 = x[first], x1 = x[second], y0 = y[first], y1 = y[second];
  u64 low0 = zq_multiply(x0, y0, m), high1 = zq_multiply(x1, y1, m);
  u64 low1 = zq_add(zq_multiply(x0, y1, m), zq_multiply(x1, y0, m), m.q);
  u64 *to = high + BID_Y * words + at;
  if (add) {
    low0 = zq_add(low0, low[first], m.q);
    low1 = zq_add(low1, low[second], m.q);
    high1 = zq_add(high1, *to, m.q);
  }
  low[first] = low0, low[second] = low1, *to = high1;
}
