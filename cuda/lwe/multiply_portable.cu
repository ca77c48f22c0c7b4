// The product with 1 vector of multiply.cu, without inline PTX. For tests.
#define LWE_PORTABLE
#include "lwe/multiply.h"

MULTIPLY(lwe_multiply_portable, 1, 4)
