//! Measures our figures beside the published tables.
#![forbid(unsafe_code)]
