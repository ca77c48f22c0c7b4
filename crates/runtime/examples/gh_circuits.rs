//! Random circuits under Gentry and Halevi's scheme, checked against plain evaluation:
//! `cargo run --release -p solinas-runtime --example gh_circuits -- 1000 ci-15`.

#[path = "../tests/schemes/random_circuit.rs"]
mod random_circuit;

use solinas_runtime::{Control, KeygenOptions, Scheme, Server, keygen};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let count: u64 = args.next().as_deref().unwrap_or("1000").parse()?;
    let params = args.next().unwrap_or_else(|| "ci-15".into());
    let options = KeygenOptions {
        scheme: Scheme::Gh,
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
        let estimate = if optimize {
            server.estimate_circuit(&netlist, true, &Control::default())
        } else {
            server.estimate_circuit(&netlist, false, &Control::default())
        }?;
        deepest = deepest.max(estimate.depth);
        gates += netlist.gates().len();
        recrypts += estimate.recrypts;
        products += estimate.products;
    }
    println!(
        "{params}: {count} circuits of {gates} nodes, every other one optimised: {recrypts} recrypts, {products} products, {deepest} recrypts deep at most; \
         all right: {:.1} s",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
