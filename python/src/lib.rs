//! The compiled half of the Python package `solinas`: thin classes around the engine; everything users see is typed Python above it.
//!
//! Long calls release the interpreter's lock, and no panic leaves as one: see [`error::guarded`].

mod batches;
mod bigint;
mod ciphertext;
mod circuit;
mod error;
mod expr;
mod files;
mod find;
mod job;
mod keys;
mod params;
mod pir;
mod plan;
mod program;
mod remote;
mod server;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<expr::PyExpr>()?;
    module.add_class::<expr::PyInput>()?;
    module.add_class::<program::PyProgram>()?;
    module.add_class::<circuit::PyCircuit>()?;
    module.add_class::<ciphertext::PyCiphertext>()?;
    module.add_class::<keys::PyClientKey>()?;
    module.add_class::<keys::PyPublicKey>()?;
    module.add_class::<keys::PyServerKey>()?;
    module.add_class::<plan::PyPlan>()?;
    module.add_class::<server::PyServer>()?;
    module.add_class::<batches::PyBatches>()?;
    module.add_class::<remote::PyRemote>()?;
    module.add_class::<job::PyJob>()?;
    module.add_class::<bigint::PyBigInteger>()?;
    module.add_class::<bigint::PyBigModulus>()?;
    module.add_class::<pir::PyPirBuilder>()?;
    module.add_class::<pir::PyPirDatabase>()?;
    module.add_class::<pir::PyPirClient>()?;
    module.add_function(wrap_pyfunction!(expr::stored, module)?)?;
    module.add_function(wrap_pyfunction!(program::evaluate, module)?)?;
    module.add_class::<files::PyLock>()?;
    module.add_function(wrap_pyfunction!(files::write_text, module)?)?;
    module.add_function(wrap_pyfunction!(keys::keygen, module)?)?;
    module.add_function(wrap_pyfunction!(params::params, module)?)?;
    module.add_function(wrap_pyfunction!(params::gpus, module)?)?;
    module.add_function(wrap_pyfunction!(find::find_params, module)?)?;
    module.add_function(wrap_pyfunction!(find::find_bgv, module)?)?;
    module.add_function(wrap_pyfunction!(params::cost, module)?)
}
