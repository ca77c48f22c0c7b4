//! The whole cycle, noise against the formulas, and agreement with the Python oracle.

mod bootstrap;
mod cycle;
mod oracle;
