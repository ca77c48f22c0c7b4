//! The whole cycle, the bounds compared with measured noise, and agreement with the Python oracle.

mod cycle;
mod margins;
mod oracle;
