//! Kernels on little-endian slices of 64-bit words.
