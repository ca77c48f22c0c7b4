//! Our figures of a GPU. `gpu-lab` has measured them, and `docs/measurements/gpu-h200.json` holds them.

use crate::Cell;
use serde::Deserialize;

const FIGURES: &str = include_str!("../measurements/gpu-h200.json");

/// The note below a table with a column `GPU`.
pub(crate) const NOTE: &str = "Column `GPU` has our figures of an NVIDIA H200, which this run does not measure: see docs/measurements/gpu-2026-11.md. Encryptions there are those of a batch of 256, and Recrypts store the products of all pairs. The column is empty where there is no such figure.";

#[derive(Deserialize)]
struct Figures {
    benches: Vec<Bench>,
}

/// A row of `gpu-lab`.
#[derive(Deserialize)]
struct Bench {
    name: String,
    item: String,
    /// Items of a run.
    count: Option<f64>,
    /// Median seconds of a run.
    seconds: Option<f64>,
}

/// Seconds of one item of a bench. None if there is no such figure.
fn seconds(name: &str, item: &str) -> Option<f64> {
    let figures: Figures = serde_json::from_str(FIGURES).ok()?;
    let bench = figures.benches.into_iter().find(|bench| (bench.name.as_str(), bench.item.as_str()) == (name, item))?;
    Some(bench.seconds? / bench.count?)
}

/// Milliseconds of an operation of the scheme of Gentry and Halevi.
pub(crate) fn gh(set: &str, operation: &str) -> Option<Cell> {
    let seconds = match operation {
        "Encrypt" => seconds(&format!("gh {set}, batches of 256"), "encryption"),
        "multiplication" if set == "small" => seconds("integers of 785,006 bits, one", "product"),
        "Recrypt" => seconds(&format!("gh {set}, pair table"), "recrypt"),
        _ => None,
    };
    seconds.map(|seconds| Cell::measured(1e3 * seconds))
}

/// Seconds of the product of the matrix of wang2014 with a vector, without the reconstruction of the numbers.
pub(crate) fn lwe(from_seed: bool) -> Option<Cell> {
    let form = if from_seed { "from the seed" } else { "resident" };
    seconds(&format!("lwe 9326 x 9326, {form}"), "product").map(Cell::measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_columns() {
        for set in ["small", "medium"] {
            assert!(gh(set, "Recrypt").is_some_and(|cell| cell.ours > 1.0), "{set}");
        }
        assert!(gh("small", "Encrypt").is_some_and(|cell| cell.ours < 1.0));
        assert!(gh("small", "Decrypt").is_none() && gh("large", "Recrypt").is_none());
        assert!([false, true].into_iter().all(|form| lwe(form).is_some_and(|cell| cell.ours < 0.1)));
    }
}
