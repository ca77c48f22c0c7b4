//! The encryption schemes of Solinas.
#![forbid(unsafe_code)]
