//! TFHE: every operation bootstraps.

mod elements;
mod engine;
mod gates;
mod keys;
mod schedule;
mod tables;

pub(crate) use elements::Elements;
pub(crate) use engine::{TfheEngine, cost};
pub(crate) use keys::{decrypt, encrypt, info};
