// Arithmetic modulo an odd word m of up to 32 bits.
#pragma once
#include "port.h"

// x mod m. `inverse` is floor(2^64 / m). Range: any x.
FN u32 reduce(u64 x, u32 m, u64 inverse) {
  // The quotient falls short by at most 1.
  u64 rest = x - mulhi64(x, inverse) * m;
  return (u32)(rest < m ? rest : rest - m);
}
