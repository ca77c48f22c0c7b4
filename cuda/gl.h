// The prime field F_p, p = 2^64 - 2^32 + 1, in the forms of docs/derivations/solinas-transform.md. Let f = 2^32. Then
// f^2 = f - 1 and f^3 = -1 modulo p.
//
//   canonical  a word below p
//   any        a word, which represents its residue
//   packed     two signed 32-bit digits in a word, v = v0 + v1 f, v0 in the low half
//   wide       two signed 64-bit numbers, x = x0 + x1 f: room for a transform of 16 points without reductions
//   lifted     a wide element to which a multiple of p was added, so that 0 < x0 < 2^61 + 2^32 and
//              0 < x1 < 2^61 + 2^60. A packed one has 2^31 + 2^31 f more.
//
// Carry chains have two forms: inline PTX, and portable code if GL_PORTABLE is defined. Tests compare both.
#pragma once
#include "port.h"

#define GL_P 0xFFFFFFFF00000001ull
#define GL_FLIP 0x8000000080000000ull

struct wide {
  i64 x0, x1;
};

// A factor w = w0 + w1 f and its multiple w f = u0 + u1 f, in signed 32-bit digits.
struct alignas(16) twiddle {
  i32 w0, w1, u0, u1;
};

FN twiddle load_twiddle(const twiddle *RESTRICT table, u64 index) {
  int4 w = ((const int4 *)table)[index];
  return {w.x, w.y, w.z, w.w};
}

FN u32 low_half(u64 a) { return (u32)a; }
FN u32 high_half(u64 a) { return (u32)(a >> 32); }

// a b, and a b + c, which lies between -2^63 and 2^63 - 1.
#ifdef GL_PORTABLE
FN i64 multiply(i32 a, i32 b) { return (i64)a * b; }
FN i64 multiply_add(i32 a, i32 b, i64 c) { return (i64)a * b + c; }
#else
FN i64 multiply(i32 a, i32 b) {
  i64 r;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
  return r;
}
FN i64 multiply_add(i32 a, i32 b, i64 c) {
  i64 r;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
  return r;
}
#endif

FN wide gl_add(wide a, wide b) { return {a.x0 + b.x0, a.x1 + b.x1}; }
FN wide gl_sub(wide a, wide b) { return {a.x0 - b.x0, a.x1 - b.x1}; }

// a 2^S, without a reduction. Range: the halves of the result are below 2^63 in magnitude.
template <int S> FN wide gl_shl(wide a) { return {(i64)((u64)a.x0 << S), (i64)((u64)a.x1 << S)}; }

// a f and a f^2. Range: halves at most doubled.
FN wide gl_phi(wide a) { return {-a.x1, a.x0 + a.x1}; }
FN wide gl_phi2(wide a) { return {-(a.x0 + a.x1), a.x0}; }

// The same element with smaller halves. With a half = l + h f, 0 <= l < f, it is (l0 - h1) + (l1 + h0 + h1) f. To add h
// without its sign's extension, add h + 2^31, and take the constant back.
// Range: any halves in; x0 between -2^31 and 2^32 + 2^31, x1 between -2^32 and 2^33 out.
FN wide gl_carry(i64 a0, i64 a1) {
  u64 l0 = low_half((u64)a0), h0 = high_half((u64)a0) ^ 0x80000000u;
  u64 l1 = low_half((u64)a1), h1 = high_half((u64)a1) ^ 0x80000000u;
  u64 x1 = l1 + h0 + h1;
  return {(i64)(l0 - h1 + (1ull << 31)), (i64)((u64)(high_half(x1) - 1) << 32 | low_half(x1))};
}

// a 2^(S + 32 PHI), PHI in 0..3. Range: a 2^S below 2^63 in magnitude in, halves of at most 2^34 out.
template <int S, int PHI> FN wide gl_twist(wide a) {
  wide s = gl_shl<S>(a), c = gl_carry(s.x0, s.x1);
  if constexpr (PHI == 1) return gl_phi(c);
  else if constexpr (PHI == 2) return gl_phi2(c);
  else return c;
}

// Any word. Range: out halves in 0..2^32.
FN wide gl_widen(u64 a) { return {low_half(a), high_half(a)}; }

// A packed word. Range: out halves between -2^31 and 2^31 - 1.
FN wide gl_unpack(u64 v) { return {(i32)low_half(v), (i32)high_half(v)}; }

// v w for a packed v that is not -2^31 - 2^31 f. Range: out as gl_carry.
FN wide gl_multiply(u64 v, twiddle w) {
  i32 v0 = (i32)low_half(v), v1 = (i32)high_half(v);
  return gl_carry(multiply_add(v1, w.u0, multiply(v0, w.w0)), multiply_add(v1, w.u1, multiply(v0, w.w1)));
}

// a b for any two words. Range: out x0 between -2^33 and 2^32, x1 in 0..2^33.
FN wide gl_product(u64 a, u64 b) {
  u64 lo = a * b, hi = mulhi64(a, b);
  return {(i64)low_half(lo) - (i64)high_half(hi) - (i64)low_half(hi), (i64)high_half(lo) + (i64)low_half(hi)};
}

// L = 2^29 p, and with it 2^31 + 2^31 f. A transform adds one of them to its input 0, whose factor is 1 in every output.
FN wide gl_lift(wide a) { return gl_add(a, {(1ll << 60) + (1ll << 29), (1ll << 61) - (1ll << 29) - (1ll << 28)}); }
FN wide gl_lift_packed(wide a) { return gl_lift(gl_add(a, {1ll << 31, 1ll << 31})); }

// A lifted element as any word but 0. With x1 = a + b f: x0 + x1 f = (x0 + b (f - 1)) + a f, where the bracket is below
// 2^63. If the sum wraps, 2^64 = f - 1 is added, and the sum cannot wrap again.
FN u64 gl_word(wide x) {
  u32 a = low_half((u64)x.x1), b = high_half((u64)x.x1);
  u64 s = (u64)x.x0 + ((u64)b << 32) - b;
  u32 s0 = low_half(s), s1 = high_half(s), carry;
#ifdef GL_PORTABLE
  s1 += a;
  carry = s1 < a;
#else
  asm("add.cc.u32 %0, %0, %2; addc.u32 %1, 0, 0;" : "+r"(s1), "=r"(carry) : "r"(a));
#endif
  return ((u64)s1 << 32 | s0) + ((u64)carry << 32) - carry;
}

// A lifted packed element as a packed word, never -2^31 - 2^31 f.
FN u64 gl_pack(wide x) { return gl_word(x) ^ GL_FLIP; }

// The canonical form of any word: p = (2^32 - 1) f + 1.
FN u64 gl_reduce(u64 a) {
  bool above = a >= GL_P;
  u32 low = low_half(a) - above, high = above ? 0 : high_half(a);
  return (u64)high << 32 | low;
}

// A lifted element in canonical form.
FN u64 gl_canonical(wide x) { return gl_reduce(gl_word(x)); }
