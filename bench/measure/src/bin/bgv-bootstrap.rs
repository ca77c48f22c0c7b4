//! Bootstrapping of bits by BGV: `cargo measure bgv-bootstrap -- --params boot128-16384-8 --bits 50 [--chain 20] [--threads 2]`.
//!
//! Every result is decrypted and compared: bits, products of bootstrapped bits that are bootstrapped again, and a chain of squares. The bound
//! beside a time is that of its transforms and products; one of each is timed in the same run.

use std::process::ExitCode;
use std::time::Instant;

use bench_measure::Result;
use bench_measure::bootstrap::{self, Operations, Scheme, since, value};
use solinas_schemes::bgv::{Bootstrapping, Ciphertext, ClientKey, Evaluator, KeySwitching, Params};
use solinas_schemes::{Control, Entropy, Evaluate, Level};

/// Numbers of transforms, products with keys and other products of a key switch at a level that divides by `dropped` primes.
fn switch(params: &Params, level: usize, terms: usize, dropped: usize) -> [usize; 3] {
    let KeySwitching::Hybrid { group } = params.switching() else { return [0; 3] };
    let (special, groups) = (params.special().len(), level.div_ceil(group));
    let (extended, divisors, stay) = (level + special, special + dropped, level - dropped);
    let digit = |first: usize| {
        let size = group.min(level - first);
        size * (extended - size) + size
    };
    let conversions: usize = (0..level).step_by(group).map(digit).sum();
    [
        groups * extended + 2 * (divisors + stay),
        2 * terms * groups * extended,
        conversions + 2 * (divisors + (divisors + 1) * stay),
    ]
}

fn operations(params: &Params) -> Operations {
    let precision = params.bootstrapping().map_or(0, |bootstrapping| bootstrapping.precision as usize);
    let (levels, steps) = (params.levels(), params.dimension().ilog2());
    let mut sum = [levels + 8, 0, 2 * levels];
    let mut add = |[x, y, z]: [usize; 3]| sum = [sum[0] + x, sum[1] + y, sum[2] + z];
    for round in 0..steps.div_ceil(2) {
        let terms = (1 << (steps - 2 * round).min(2)) - 1;
        add(switch(params, levels, terms, 0));
    }
    for depth in 0..precision - 1 {
        let level = levels - 1 - depth;
        // A digit is found, and all are squared, in the end in their sum.
        add([2 * (level + 1), 0, 2 * (level + 1) * (depth + 1)]);
        let squares = if depth + 2 < precision { depth + 1 } else { 1 };
        (0..squares).for_each(|_| add(switch(params, level, 1, 1)));
        add([0, 0, 4 * level * (depth + 1)]);
    }
    Operations { transforms: sum[0], with_keys: sum[1], others: sum[2] }
}

fn run(name: &str, count: usize, chain: usize) -> Result<()> {
    let params = Params::named(name)?;
    println!(
        "{name}: n = {}, {} towers, log2 QP = {:.1}, {} automorphisms; {:?}, {:?}",
        params.dimension(),
        params.levels(),
        params.log2_total(),
        Bootstrapping::automorphisms(params.dimension()),
        params.switching(),
        params.bootstrapping(),
    );
    let bits = |moduli: &[solinas_field::prime::Modulus]| moduli.iter().map(|q| q.bits()).collect::<Vec<_>>();
    println!("bits of the primes {:?}, special {:?}", bits(params.moduli()), bits(params.special()));
    println!("bootstrapped to level {}; {:?}", params.fresh_level(), params.security());
    let start = Instant::now();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
    println!("client key         {:>10.1} ms", since(start));
    let start = Instant::now();
    let server = client.server_key(&Control::default())?;
    println!("server key         {:>10.1} ms", since(start));
    let key = server.bootstrapping()?;
    println!("bootstrapping key  {:.1} MB", key.bytes() as f64 / 1e6);
    let words = key.keys().flat_map(|key| key.bodies()).map(|poly| poly.words());
    let bound = bootstrap::bound(params.dimension(), params.special()[0], &operations(&params), words)?;
    let evaluator = Evaluator::new(&server);
    let public = server.public();
    let encrypt = |i: usize| -> Result<Ciphertext> {
        let mut plain = vec![0; params.dimension()];
        plain[0] = value(i).into();
        let fresh = public.encrypt(&plain, &mut public.encryption_rng(i as u64)?)?;
        Ok(evaluator.automatic().at_level(&fresh, Level::LOWEST)?)
    };
    let inputs = (0..count).map(encrypt).collect::<Result<Vec<_>>>()?;
    let scheme = Scheme {
        bootstrap: &|x: &Ciphertext| Ok(evaluator.bootstrap(x)?),
        multiply: &|x, y| Ok(evaluator.automatic().multiply(x, y)?),
        decrypt: &|x| Ok(client.decrypt(x)?),
        noise: &|x| Ok([x.noise().log2(), client.measure_noise(x)?.log2()]),
    };
    scheme.run(&inputs, chain, bound)
}

fn main() -> ExitCode {
    bootstrap::main("boot-64-2", run)
}
