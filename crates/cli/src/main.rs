//! The `solinas` command.
#![forbid(unsafe_code)]

fn main() {}
