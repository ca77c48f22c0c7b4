//! The whole cycle, the bounds against measured noise, and agreement with the Python oracle.

mod cycle;
mod margins;
mod oracle;
