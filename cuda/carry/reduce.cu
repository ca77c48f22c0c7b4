// The last steps of a reduction modulo d: differences, and the choice of one of two numbers.
//
// carry_subtract: differences <- x - y, up to the carries between blocks, as add.cu does. Grid: x = ceil(words / 2048),
// y = batch. Block: 256 threads of 8 words. Item i of x begins at word i x_stride and has at least `words` words. That of
// y begins at word i y_stride and has y_words words; those above are 0. A stride of 0 means one y for all items.
// `differences` may be x if x_stride is words. The carry out of resolve.cu, with 1 into the lowest word, is 1 if x >= y.
// Bytes: 16 in and 8 out a word.
//
// carry_select: out <- carries[item] ? b : a, the lowest `out_words` words of items of `words` words. Item y becomes item
// first + y of `out`.
// Grid: x = ceil(out_words / 256), y = batch. Block: 256 threads of a word. `out` may be `a` if out_words is words.
// Bytes: 16 in and 8 out a word.
// Range: words below 2^31.
#include "carry/carry.h"

KERNEL(carry_subtract, 256, 4)
(u64 *differences, const u64 *x, const u64 *y, u32 *RESTRICT flags, u32 words, u32 x_stride, u32 y_stride,
 u32 y_words) {
  SHARED(u32, warps, WARPS);
  x += (u64)BID_Y * x_stride;
  y += (u64)BID_Y * y_stride;
  u32 generate[ROUNDS], propagate[ROUNDS];
  u64 word[ROUNDS];
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    u64 at = word_place(v), a = at < words ? x[at] : 0, b = at < y_words && at < words ? y[at] : 0;
    word[v] = a + ~b;
    generate[v] = BALLOT(at < words && word[v] < a);
    // Past the end the carry goes on to the flags.
    propagate[v] = BALLOT(at >= words || word[v] == ~0ull);
  }
  u32 block = add_carries(word, generate, propagate, warps);
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    if (word_place(v) < words) differences[(u64)BID_Y * words + word_place(v)] = word[v];
  }
  if (TID == 0) flags[(u64)BID_Y * block_count(words) + BID] = block;
}

KERNEL(carry_select, 256, 8)
(u64 *out, const u64 *a, const u64 *b, const u32 *RESTRICT carries, u32 words, u32 out_words,
 u32 first) {
  u32 at = BID * 256 + TID;
  if (at >= out_words) return;
  u64 from = (u64)BID_Y * words + at;
  u64 x = a[from], y = b[from];
  out[(u64)(first + BID_Y) * out_words + at] = carries[BID_Y] ? y : x;
}
