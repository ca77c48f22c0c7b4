//! The `solinas` command as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bgv;
mod bigint;
mod book;
#[path = "../../../circuits/tests/common/cases.rs"]
mod cases;
mod circuits;
mod common;
mod compact;
mod computation;
mod cycle;
mod device;
mod errors;
mod faults;
mod find;
mod gh;
mod golden;
mod library;
mod lwe;
mod manual;
mod ntru;
mod operations;
mod plans;
mod random;
mod recognise;
mod report;
mod rsa;
mod rsa_keys;
mod rsa_rtl;
mod rtl;
mod safety;
mod service;
mod targets;
mod terminal;
mod work;
