//! Gentry and Halevi's scheme: exclusive or is a sum, and is a product, and bits are recrypted as the bounds of their noise demand.

mod elements;
mod engine;
mod keys;
mod run;
mod schedule;

pub(crate) use elements::Elements;
pub(crate) use engine::{GhEngine, cost};
pub(crate) use keys::{Client, Public, info, keygen};

/// Whether a parameter set of the scheme has that name.
pub(crate) fn is_name(name: &str) -> bool {
    solinas_schemes::gh::Params::names().contains(&name)
}
