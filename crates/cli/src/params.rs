//! `solinas params`: the parameter sets and what they claim.

use crate::error::Result;
use crate::output::Output;
use solinas_runtime::ParamsInfo;

const EXAMPLES: &str = "\
Examples:
  solinas params
  solinas params --json

`integers` sets are fastest on integers, `gates` sets on single gates. The failure probability is that of one bootstrap.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, out: &Output) -> Result<()> {
    let all = solinas_runtime::params();
    out.result(&all, || table(&all))
}

fn table(all: &[ParamsInfo]) -> String {
    let mib = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
    let mut rows =
        vec![["name", "family", "security", "failure", "n", "N", "k", "key file", "in memory", ""].map(str::to_owned)];
    for set in all {
        rows.push([
            set.name.to_string(),
            set.family.to_string(),
            format!("{}/{} bits", set.classical_bits, set.quantum_bits),
            format!("2^{:.1}", set.log2_failure),
            set.lwe_dimension.to_string(),
            set.ring_dimension.to_string(),
            set.glwe_dimension.to_string(),
            mib(set.server_key_bytes as u64),
            mib(set.memory_bytes as u64),
            if set.recommended { "recommended".to_owned() } else { String::new() },
        ]);
    }
    let mut text = columns(&rows);
    text += "\nsecurity: classical/quantum; n, N, k: dimensions of LWE, ring, GLWE\n";
    let mut notes: Vec<String> = Vec::new();
    for set in all {
        notes.push(format!("{}: {}", set.family, set.description));
        notes.push(format!("estimated on {}: {}", set.date, set.estimator));
    }
    notes.sort();
    notes.dedup();
    notes.iter().for_each(|note| text += &format!("{note}\n"));
    text
}

/// Rows of cells as lines of aligned columns.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells: String = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        cells.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
