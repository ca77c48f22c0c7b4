// Sums of many numbers of equal length, and their remainders modulo a number d.
//
// carry_sums: the sums of listed numbers, word by word. Grid: x = ceil(words / 256), y = batch. Block: 256 threads of a
// word. Item y adds the numbers members[starts[y]] .. members[starts[y + 1] - 1] of x. It writes the low 64 bits of the
// sum of each word to `low`, and the others to `high`: `words` values each. Bytes: 8 a word and number in, 12 a word out.
//
// carry_collect: the numbers sum (low_i + 2^64 high_i) 2^(64 i), up to the carries between blocks. Grid:
// x = ceil((words + 1) / 2048), y = batch. Block: 256 threads of 8 words. It writes words + 1 words an item, and flags for
// resolve.cu. Bytes: 12 in and 8 out a word.
//
// carry_quotient: x - q d, up to the carries between blocks, for x of words + 1 words, and d of `words` words. Grid and
// block as carry_collect. Here q = floor(A R / 2^64), where A is x without its lowest `shift` bits, and
// R = floor(2^64 / D) for D = d without them, plus 1 if shift > 0. Bytes: 16 in and 8 out a word.
// Range: A below 2^63; D at least 2^38, or shift = 0 and d at least 2. Then x - q d is in 0..2 d: A R / 2^64 is below
// x / d by at most (A + D) / (D (D - 1)) + A / 2^64.
//
// Range: words below 2^31, fewer than 2^23 numbers in a sum.
#include "carry/carry.h"

KERNEL(carry_sums, 256, 4)
(const u64 *RESTRICT x, const u32 *RESTRICT starts, const u32 *RESTRICT members, u64 *RESTRICT low,
 u32 *RESTRICT high, u32 words) {
  u32 at = BID * 256 + TID;
  if (at >= words) return;
  u64 sum = 0;
  u32 over = 0, end = starts[BID_Y + 1];
  ROLL for (u32 t = starts[BID_Y]; t < end; t++) {
    u64 word = x[(u64)members[t] * words + at];
    sum += word;
    over += sum < word;
  }
  u64 to = (u64)BID_Y * words + at;
  low[to] = sum, high[to] = over;
}

KERNEL(carry_collect, 256, 4)
(const u64 *RESTRICT low, const u32 *RESTRICT high, u64 *RESTRICT result, u32 *RESTRICT flags, u32 words) {
  SHARED(u32, warps, WARPS);
  low += (u64)BID_Y * words;
  high += (u64)BID_Y * words;
  result += (u64)BID_Y * (words + 1);
  u32 generate[ROUNDS], propagate[ROUNDS];
  u64 word[ROUNDS];
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    u64 at = word_place(v);
    u64 here = at < words ? low[at] : 0, below = at > 0 && at <= words ? high[at - 1] : 0;
    word[v] = here + below;
    generate[v] = BALLOT(word[v] < here);
    // Past the end the carry goes on to the flags.
    propagate[v] = BALLOT(at > words || word[v] == ~0ull);
  }
  u32 block = add_carries(word, generate, propagate, warps);
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    if (word_place(v) <= words) result[word_place(v)] = word[v];
  }
  if (TID == 0) flags[(u64)BID_Y * block_count(words + 1) + BID] = block;
}

struct difference {
  u64 low;
  u32 high;
};

// Word i of x - q d, as low + 2^64 high with high in 0..=2. Each word has 2 2^64 more, and each but the first one 2 less.
FN difference subtract(const u64 *RESTRICT x, const u64 *RESTRICT d, u64 q, u64 i, u32 words) {
  u64 part = i < words ? d[i] * q : 0, below = i > 0 ? mulhi64(d[i - 1], q) + 2 : 0;
  u64 here = x[i], low = here - part;
  u32 high = 2 - (here < part) - (low < below);
  return {low - below, high};
}

KERNEL(carry_quotient, 256, 4)
(const u64 *RESTRICT x, const u64 *RESTRICT d, u64 *RESTRICT result, u32 *RESTRICT flags, u64 reciprocal, u32 words,
 u32 shift) {
  SHARED(u32, warps, WARPS);
  x += (u64)BID_Y * (words + 1);
  result += (u64)BID_Y * (words + 1);
  u32 from = shift >> 6, bits = shift & 63;
  u64 top = x[from] >> bits;
  if (bits > 0 && from < words) top |= x[from + 1] << (64 - bits);
  u64 q = mulhi64(top, reciprocal);
  u32 generate[ROUNDS], propagate[ROUNDS];
  u64 word[ROUNDS];
  // Every lane knows the high part of the word before the warp's.
  u64 base = word_place(0) - LANE;
  u32 before = base > 0 && base <= words ? subtract(x, d, q, base - 1, words).high : 0;
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    u64 at = word_place(v);
    difference s = {0, 0};
    if (at <= words) s = subtract(x, d, q, at, words);
    u32 below = SHFL_UP(s.high, 1), carry = LANE == 0 ? before : below;
    before = SHFL(s.high, 31);
    word[v] = s.low + carry;
    generate[v] = BALLOT(at <= words && word[v] < carry);
    propagate[v] = BALLOT(at > words || word[v] == ~0ull);
  }
  u32 block = add_carries(word, generate, propagate, warps);
  UNROLL for (int v = 0; v < ROUNDS; v++) {
    if (word_place(v) <= words) result[word_place(v)] = word[v];
  }
  if (TID == 0) flags[(u64)BID_Y * block_count(words + 1) + BID] = block;
}
