// The digits of an integer.
#pragma once
#include "port.h"

// Digit `index` of `bits` bits, bits in 1..32, of the integer of `words` 32-bit words, little-endian,
// words at least 1.
FN u32 digit(const u32 *RESTRICT source, u32 words, u32 bits, u32 index) {
  u32 bit = index * bits, word = bit >> 5, last = words - 1;
  // Loads are unconditional: what lies past the end is replaced.
  u32 low = source[word < last ? word : last], high = source[word < last ? word + 1 : last];
  low = word < words ? low : 0;
  high = word < last ? high : 0;
  return (u32)(((u64)high << 32 | low) >> (bit & 31)) & (0xFFFFFFFFu >> (32 - bits));
}
