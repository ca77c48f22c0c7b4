//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrays;
mod builders;
mod common;
mod computation;
mod exchange;
mod expressions;
mod foreign_circuits;
mod formats;
mod operations;
mod optimizer;
mod random_programs;
mod unused_logic;
mod yosys_cells;

// Crates above this one include these files too.
#[path = "common/foreign.rs"]
mod foreign;
#[path = "common/lowered.rs"]
mod lowered;
#[path = "common/programs.rs"]
mod programs;
