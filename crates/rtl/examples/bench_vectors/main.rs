//! Writes test vectors for the benches of `rtl/bench`, from the arithmetic of `solinas-field` and
//! `solinas-bigint`: `cargo run -p solinas-rtl --example bench_vectors -- FOLDER`.
//!
//! A file has a vector a line: a head, the inputs and the outputs, in the format of `$readmemh`. The low seven bits of the
//! head are the cycles of noise before the vector; its top bit says that the outputs are not compared.

mod common;
mod gh;
mod line;
mod multiplier;
mod rsa;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("the folder for the vectors is missing");
        return ExitCode::FAILURE;
    };
    match write(&PathBuf::from(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Writes one file for each bench.
fn write(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    let files = [
        ("sol_norm", common::norm()),
        ("sol_canon", common::canon()),
        ("sol_fold192", common::fold()),
        ("sol_mulrot", common::products()),
        ("sol_dft16", common::points(16)),
        ("sol_kernel_d", common::kernel(16)),
        ("sol_kernel_s", common::inverse(16, &[16, 11])),
        ("sol_carry", common::carries()),
        ("sol_twiddle", common::twiddles()),
        ("sol_bank", common::bank()),
        ("sol_xnet", common::network()),
        ("sol_mul_loader", multiplier::loads()),
        ("sol_mul_twiddles", multiplier::twiddles()),
        ("sol_mul_unload", multiplier::unloads()),
        ("sol_sto_carry", multiplier::stored_carries(true)),
        ("sol_sto_carry_together", multiplier::stored_carries(false)),
        ("sol_sto_twiddles", multiplier::stored_twiddles()),
        ("sol_sto_constants", multiplier::stored_constants()),
        ("sol_rsa_dft8", common::points(8)),
        ("sol_rsa_kernel", common::kernel(8)),
        ("sol_rsa_inverse", common::inverse(8, &[9])),
        ("sol_rsa_twist", rsa::twist()),
        ("sol_rsa_untwist", rsa::untwist()),
        ("sol_rsa_twiddle", rsa::twiddles()),
        ("sol_rsa_local", rsa::local_carries()),
        ("sol_rsa_carry", rsa::carries()),
        ("sol_rsa_window", rsa::windows()),
        ("sol_rsa_exponent", rsa::exponents()),
        ("sol_gh_sum", gh::sums()),
        ("sol_gh_sink", gh::sinks()),
        ("sol_gh_compare", gh::comparisons()),
        ("sol_gh_candidates", gh::candidates()),
    ];
    let mut vectors = 0;
    for (name, lines) in &files {
        let path = folder.join(format!("{name}.hex"));
        let text: String = lines.iter().flat_map(|line| [line.0.trim_end_matches('_'), "\n"]).collect();
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        vectors += lines.len();
    }
    println!("{vectors} vectors for {} benches in {}", files.len(), folder.display());
    Ok(())
}
