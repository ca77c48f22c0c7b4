//! Circuits of gates: read, evaluated on plain bits, counted, drawn, written.

use pyo3::prelude::*;
use solinas_circuits::export::{write_blif, write_bristol, write_dot, write_svg, write_yosys_json};
use solinas_circuits::import::read;
use solinas_circuits::program::Program;
use solinas_circuits::{GateCosts, Netlist, Port, bits};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Failure, guarded};
use crate::program::PyProgram;

/// A combinational circuit.
#[pyclass(module = "solinas._core", name = "Circuit", frozen)]
pub(crate) struct PyCircuit {
    pub(crate) netlist: Arc<Netlist>,
}

/// Name, bits and sign of ports.
fn described(ports: &[Port]) -> Vec<(String, usize, bool)> {
    ports.iter().map(|port| (port.name.clone(), port.bits.len(), port.signed)).collect()
}

#[pymethods]
impl PyCircuit {
    /// Reads the text of a Bristol, BLIF or Yosys JSON file.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str) -> PyResult<Self> {
        guarded(py, || Ok(Self { netlist: Arc::new(read(text)?) }))
    }

    #[getter]
    fn inputs(&self) -> Vec<(String, usize, bool)> {
        described(self.netlist.inputs())
    }

    #[getter]
    fn outputs(&self) -> Vec<(String, usize, bool)> {
        described(self.netlist.outputs())
    }

    /// Number of gates of each kind, without inputs and constants.
    #[getter]
    fn gates(&self) -> BTreeMap<String, usize> {
        let mut kinds = self.netlist.stats(&GateCosts::default()).by_kind;
        kinds.retain(|kind, _| kind != "input" && kind != "const");
        kinds
    }

    /// The bits of each output as hexadecimal digits, from those of each input.
    fn evaluate(&self, py: Python<'_>, inputs: Vec<String>) -> PyResult<Vec<String>> {
        let netlist = &self.netlist;
        guarded(py, || {
            let mut all = Vec::with_capacity(netlist.input_bits());
            for (port, text) in netlist.inputs().iter().zip(&inputs) {
                all.extend(bits::parse(text, port.bits.len(), port.signed)?);
            }
            let results = netlist.evaluate_bits(&all)?;
            let mut rest = &results[..];
            let output = |port: &Port| {
                let (bits, others) = rest.split_at(port.bits.len());
                rest = others;
                bits::to_hex(bits)
            };
            Ok(netlist.outputs().iter().map(output).collect())
        })
    }

    /// An equivalent circuit of fewer bootstraps.
    fn optimize(&self, py: Python<'_>) -> PyResult<Self> {
        guarded(py, || Ok(Self { netlist: Arc::new(self.netlist.optimize(&GateCosts::default())) }))
    }

    /// The program that calls the circuit.
    fn program(&self, py: Python<'_>) -> PyResult<PyProgram> {
        guarded(py, || Ok(Program::of_circuit((*self.netlist).clone(), true)?.into()))
    }

    /// A picture.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok(write_svg(&self.netlist, &GateCosts::default())))
    }

    /// The text of a file: `bristol`, `blif`, `yosys` or `dot`.
    fn to_text(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let netlist = &self.netlist;
        match format {
            "bristol" => guarded(py, || Ok(write_bristol(netlist)?)),
            "blif" => guarded(py, || Ok(write_blif(netlist))),
            "yosys" => guarded(py, || Ok(write_yosys_json(netlist))),
            "dot" => guarded(py, || Ok(write_dot(netlist))),
            _ => {
                Err(Failure::Format(format!("there is no format {format:?}; choose bristol, blif, yosys or dot"))
                    .into())
            }
        }
    }
}
