//! The programs of `examples` run.

#[path = "../../examples/auction.rs"]
mod auction;
#[path = "../../examples/integers.rs"]
mod integers;
#[path = "../../examples/remote.rs"]
mod remote;
#[path = "../../examples/vectors.rs"]
mod vectors;
