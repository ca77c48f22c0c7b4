// Products of a stored matrix with 1 vector and with 8 vectors that share a read of it: see `multiply.h`.
#include "lwe/multiply.h"

MULTIPLY(lwe_multiply_1, 1, 4)
MULTIPLY(lwe_multiply_8, 8, 1)
