//! Random circuits under Gentry and Halevi's scheme, checked against plain evaluation:
//! `cargo run --release -p solinas-engine --example gh_circuits -- 1000 ci-15`.

#[path = "../tests/schemes/random_circuit.rs"]
mod random_circuit;

use clap::Parser;
use solinas_engine::{Control, KeygenOptions, Program, Server, Work, keygen};
use std::time::Instant;

/// Runs random circuits under Gentry and Halevi's scheme.
#[derive(Parser)]
struct Args {
    /// Number of circuits
    #[arg(default_value_t = 1000)]
    count: u64,
    #[arg(default_value = "ci-15")]
    params: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Args { count, params } = Args::parse();
    let options = KeygenOptions {
        scheme: "gh".parse().expect("a registered scheme"),
        params: Some(params.clone()),
        research: true,
        insecure_seed: Some(1),
        ..Default::default()
    };
    let (client, key) = keygen(&options, &Control::default())?;
    let server = Server::new(&key, None)?;
    let start = Instant::now();
    let (mut gates, mut recrypts, mut products, mut deepest) = (0, 0, 0, 0);
    for seed in 0..count {
        let mut rng = random_circuit::rng(seed);
        let netlist = random_circuit::circuit(&mut rng, 50);
        let optimize = seed % 2 == 1;
        if !random_circuit::agrees(&client, &server, &netlist, optimize, &mut rng)? {
            return Err(format!("the circuit of seed {seed} is wrong").into());
        }
        gates += netlist.gates().len();
        let program = Program::of_circuit(netlist, optimize)?;
        let estimate = server.prepare(Work::from(&program), &Control::default())?.estimate(&Control::default())?;
        deepest = deepest.max(estimate.depth);
        recrypts += estimate.recrypts;
        products += estimate.products;
    }
    println!(
        "{params}: {count} circuits of {gates} nodes, every other one optimized: {recrypts} recrypts, {products} products, {deepest} recrypts deep at most; \
         all right: {:.1} s",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
