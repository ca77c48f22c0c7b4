//! Finite fields, transforms and every SIMD kernel of Solinas.
