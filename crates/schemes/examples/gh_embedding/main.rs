//! Simulates the noise of recrypted Gentry-Halevi ciphertexts in double precision, at every root of `x^n + 1`, with no integer modulo `d`:
//! beside the bound that ciphertexts carry, and at sets too large to run.
//!
//! ```
//! cargo run --release -p solinas-schemes --example gh_embedding -- --params large --keys 2 --samples 4
//! ```
//!
//! Draws keys (indicators, and `v` as complex normal values at the roots), and for each of them so many sets of candidates, as Recrypt would see them;
//! follows the columns and the symmetric polynomials at each root; and multiplies pairs of recrypted ciphertexts of one key. Prints quantiles of
//! `log2 max |a|` less the bound, and of the margins `log2(d / |[c w]_d|)`: at the worst coefficient of `a w`, and root mean square.

mod simulation;

use std::error::Error;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use simulation::{Key, log2_norm, product};
use solinas_schemes::gh::{Params, noise};

/// Mean, standard deviation, and quantiles.
fn print(name: &str, values: &mut [f64]) {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| values[((values.len() - 1) as f64 * part).round() as usize];
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    print!("{name:<42} {:>6} {mean:>7.1} {deviation:>5.1}", values.len());
    for part in [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
        print!(" {:>6.1}", at(part));
    }
    println!();
}

/// `log2` of the probability of a value below the limit: counted where 10 are, else by the line through the quantiles of 10 and 100 (a
/// tail that falls faster than that makes it less). `values` ascend.
fn log2_tail(values: &[f64], limit: f64) -> Option<f64> {
    let (count, below) = (values.len() as f64, values.partition_point(|&value| value < limit));
    if below >= 10 {
        return Some((below as f64 / count).log2());
    }
    let (near, far) = (*values.get(100)?, *values.get(10)?);
    let slope = 10f64.log2() / (near - far);
    Some((10.0 / count).log2() - slope * (far - limit))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut name, mut keys, mut samples, mut seed, mut threads) = ("toy".to_string(), 4, 4usize, 1, 2);
    let mut words = std::env::args().skip(1);
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--params" => name = value,
            "--keys" => keys = value.parse::<usize>()?.max(1),
            "--samples" => samples = value.parse::<usize>()?.max(2),
            "--seed" => seed = value.parse()?,
            "--threads" => threads = value.parse()?,
            _ => {
                return Err(format!("{option} {value}: expected --params, --keys, --samples, --seed, --threads").into());
            }
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let params = Params::named(&name)?;
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let bound = noise::recrypted(&params);
    let (mut norms, mut worst, mut typical) = (Vec::new(), Vec::new(), Vec::new());
    let (mut product_norms, mut product_worst, mut product_typical) = (Vec::new(), Vec::new(), Vec::new());
    let mut key_norms = Vec::new();
    for _ in 0..keys {
        let key = Key::draw(&params, &mut rng);
        let all = key.recrypted(samples, &mut rng);
        let mut key_norm = f64::MIN;
        for (index, values) in all.iter().enumerate() {
            let norm = log2_norm(values) - bound;
            norms.push(norm);
            key_norm = key_norm.max(norm);
            let (a, b) = key.margins(values);
            worst.push(a);
            typical.push(b);
            for other in &all[index + 1..(index + 5).min(samples)] {
                let product = product(values, other);
                product_norms.push(log2_norm(&product) - 2.0 * bound);
                let (a, b) = key.margins(&product);
                product_worst.push(a);
                product_typical.push(b);
            }
        }
        key_norms.push(key_norm);
    }
    println!(
        "{name}: bound of a recrypted 2^{bound:.1}, margins {:.1}, of a product {:.1}; Recrypt needs {}",
        noise::margin(&params, bound),
        noise::margin(&params, 2.0 * bound),
        noise::recrypt_need(&params)
    );
    println!(
        "{:<42} {:>6} {:>7} {:>5} {:>6}",
        "", "count", "mean", "sd", "least; quantiles 0.1, 1, 10, 50, 90, 99, 99.9 %; most"
    );
    print("recrypted: log2 max |a| less its bound", &mut norms);
    print("  largest of each key", &mut key_norms);
    print("product: log2 max |a| less its bound", &mut product_norms);
    print("recrypted: margin, worst coefficient", &mut worst);
    print("recrypted: margin, root mean square", &mut typical);
    print("product: margin, worst coefficient", &mut product_worst);
    print("product: margin, root mean square", &mut product_typical);
    let mut above: Vec<f64> = norms.iter().map(|norm| -norm).collect();
    above.sort_by(f64::total_cmp);
    let need = noise::recrypt_need(&params);
    for (event, values, limit) in [
        ("max |a| of a recrypted above its bound", &above, 0.0),
        ("margin of a recrypted below its bound", &worst, noise::margin(&params, bound)),
        ("margin of a product below its bound", &product_worst, noise::margin(&params, 2.0 * bound)),
        ("margin of a product below Recrypt's need", &product_worst, need),
    ] {
        match log2_tail(values, limit) {
            Some(log2) => println!("{event}: probability 2^{log2:.0}"),
            None => println!("{event}: too few samples to tell"),
        }
    }
    Ok(())
}
