//! Programs on arrays: shapes, lifting, and steps against whole-array evaluation.

mod cases;
mod compose;
mod files;
mod generator;
mod laws;
mod shapes;
