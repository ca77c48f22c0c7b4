//! Noise of NTRU beside its formulas.
//!
//! ```sh
//! cargo measure ntru-noise -- picture FILE.svg [SET ..]
//! cargo measure ntru-noise -- sweep [--dimensions 512,1024] [--depths 1-19] [--moduli 2,3,257,65537] [--threads 1,2] [--rings]
//! ```
//!
//! `picture` draws noise along chains of squarings. `sweep` runs every operation for every combination, and compares each result with plain polynomial
//! arithmetic and its noise with the formula. `--rings` halves rings as levels are used up. `SOLINAS_BACKEND` chooses the back end.

mod sweep;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bench_common::command;
use bench_common::svg::{Panel, Series, draw};
use bench_measure::Result;
use clap::Parser;
use solinas_schemes::ntru::{self, ClientKey, Evaluator, Params};
use solinas_schemes::{Control, Entropy};

/// Noise of the NTRU scheme against its formulas.
#[derive(Parser)]
enum Command {
    /// Draws noise along chains of squarings
    Picture {
        /// The SVG file to write
        file: PathBuf,
        #[arg(default_values = ["tight-512-13", "tight-16384-13", "secure-65536-5"])]
        sets: Vec<String>,
    },
    /// Runs every operation at every combination, and compares each result and its noise
    Sweep(sweep::Args),
}

fn main() -> ExitCode {
    command::main(|command: &Command| match command {
        Command::Picture { file, sets } => picture(file, sets),
        Command::Sweep(args) => sweep::run(args),
    })
}

/// Noise after each step of repeated squarings, measured and by the formulas; a panel for each set.
fn picture(file: &Path, sets: &[String]) -> Result<()> {
    let panels = sets.iter().map(|set| panel(set)).collect::<Result<Vec<_>>>()?;
    let highest = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points).map(|point| point.1);
    let top = 10.0 * (highest.fold(0.0, f64::max) / 10.0).ceil();
    std::fs::write(file, draw("Noise of NTRU ciphertexts along chains of squarings", &panels, 380.0, top))?;
    Ok(())
}

fn panel(set: &str) -> Result<Panel> {
    const STEPS: [(&str, &str); 3] =
        [("after a product", "#1f77b4"), ("after a key switch", "#d62728"), ("after a division", "#2ca02c")];
    let params = Params::named(set)?;
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
    let server = client.server_key(&Control::default())?;
    let evaluator = Evaluator::new(&server);
    let plain: Vec<u64> = (0..params.dimension() as u64).map(|i| i * i / 5 % params.plaintext_modulus()).collect();
    let mut x = server.public().encrypt(&plain, &mut server.public().encryption_rng(0)?)?;
    let (mut measured, mut formula) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    for count in 1..=params.depth() {
        let product = evaluator.multiply_without_switch(&x, &x)?;
        let switched = evaluator.key_switch(&product)?;
        let mut reduced = evaluator.modulus_switch(&switched)?;
        for (step, cipher) in [&product, &switched, &reduced].into_iter().enumerate() {
            measured[step].push((count as f64, client.measure_noise(cipher)?.log2()));
            formula[step].push((count as f64, cipher.noise().log2()));
        }
        if reduced.stage() == ntru::Stage::Wide {
            reduced = evaluator.ring_reduce(&reduced)?;
        }
        x = reduced;
    }
    let series = |points: Vec<Vec<(f64, f64)>>, line: bool| {
        let series = points.into_iter().zip(STEPS);
        series.map(move |(points, (name, colour))| Series { name: if line { "" } else { name }, colour, line, points })
    };
    let series = series(measured, false).chain(series(formula, true)).collect();
    let title = format!("{set}: log2 of the standard deviation");
    Ok(Panel {
        title,
        axis: "squaring; dots measured, lines by the formulas",
        names: Vec::new(),
        series,
        levels: Vec::new(),
    })
}
