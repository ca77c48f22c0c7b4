//! Agreement with the oracle.
