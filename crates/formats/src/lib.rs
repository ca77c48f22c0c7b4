//! Versioned, checksummed files for keys, ciphertexts and circuits.
