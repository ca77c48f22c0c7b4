// Products, sums and permutations of polynomials, tower by tower, of values or coefficients.
//
// Grid: x = ceil(towers N / 256), y = items. Block: 256 threads of one word. The kernels handle the first `towers`
// towers of N = 2^log words. Operands a and b have `a_towers` and `b_towers` towers an item. Of 0 towers, all items
// share one operand. c has `c_towers` an item, and may be a or b, except in prime_permute.
// Range: canonical in and out. Bytes: 8 a word of each operand and of the result.
#include "zq.h"

// One word of a thread: its tower, and its place in an item.
struct Word {
  bool exists;
  u32 tower, at;
};

FN Word word_of(u32 towers, u32 log) {
  u32 at = BID * 256 + TID;
  return {at < towers << log, at >> log, at};
}

// The place of the thread's word in an operand of that many towers an item.
FN u64 place(Word w, u32 towers, u32 log) { return (((u64)BID_Y * towers) << log) + w.at; }

#define OPERANDS                                                                                                       \
  u64 *c, const u64 *a, const u64 *b, const modulus *RESTRICT moduli, u32 towers, u32 c_towers, u32 a_towers,          \
      u32 b_towers, u32 log

// c <- f(c, a, b, modulus of the tower).
template <class F>
FN void of_two(OPERANDS, F f) {
  Word w = word_of(towers, log);
  if (!w.exists) return;
  u64 *to = c + place(w, c_towers, log);
  *to = f(to, a[place(w, a_towers, log)], b[place(w, b_towers, log)], load_modulus(moduli + w.tower));
}

// c <- a b.
KERNEL(prime_multiply, 256, 4)(OPERANDS) {
  of_two(c, a, b, moduli, towers, c_towers, a_towers, b_towers, log,
         [](const u64 *, u64 a, u64 b, modulus m) { return zq_multiply(a, b, m); });
}

// c <- c + a b.
KERNEL(prime_multiply_add, 256, 4)(OPERANDS) {
  of_two(c, a, b, moduli, towers, c_towers, a_towers, b_towers, log,
         [](const u64 *c, u64 a, u64 b, modulus m) { return zq_add(*c, zq_multiply(a, b, m), m.q); });
}

// c <- a + b.
KERNEL(prime_add, 256, 4)(OPERANDS) {
  of_two(c, a, b, moduli, towers, c_towers, a_towers, b_towers, log,
         [](const u64 *, u64 a, u64 b, modulus m) { return zq_add(a, b, m.q); });
}

// c <- a - b.
KERNEL(prime_sub, 256, 4)(OPERANDS) {
  of_two(c, a, b, moduli, towers, c_towers, a_towers, b_towers, log,
         [](const u64 *, u64 a, u64 b, modulus m) { return zq_sub(a, b, m.q); });
}

// c <- factors[tower] a. Shape: factors[towers].
KERNEL(prime_scale, 256, 4)
(u64 *c, const u64 *a, const factor *RESTRICT factors, const modulus *RESTRICT moduli, u32 towers, u32 c_towers,
 u32 a_towers, u32 log) {
  Word w = word_of(towers, log);
  if (!w.exists) return;
  u64 q = load_constant(&moduli[w.tower].q);
  c[place(w, c_towers, log)] = zq_scale(a[place(w, a_towers, log)], load_factor(factors + w.tower), q);
}

// c[p] <- a[places[p]] in each tower. Shape: places[N]. Range: places below N.
KERNEL(prime_permute, 256, 4)
(u64 *RESTRICT c, const u64 *RESTRICT a, const u32 *RESTRICT places, u32 towers, u32 c_towers, u32 a_towers, u32 log) {
  Word w = word_of(towers, log);
  if (!w.exists) return;
  u32 below = (1u << log) - 1, from = load_constant(places + (w.at & below));
  Word source = {true, w.tower, (w.at & ~below) + from};
  c[place(w, c_towers, log)] = a[place(source, a_towers, log)];
}
