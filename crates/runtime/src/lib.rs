//! Runs circuits and programs on encrypted data.
#![forbid(unsafe_code)]
