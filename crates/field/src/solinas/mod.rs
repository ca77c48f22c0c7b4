//! The prime field F_p, p = 2^64 - 2^32 + 1, and its exact transforms.
