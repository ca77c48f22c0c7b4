//! Bootstrapping of bits by NTRU: `cargo measure ntru-bootstrap -- --params boot-1024 --bits 1000 [--chain 20] [--threads 2]`.
//!
//! Every result is decrypted and compared: bits, products of bootstrapped bits that are bootstrapped again, and a chain of squares. The bound
//! beside a time is that of its transforms and products; one of each is timed in the same run.

use std::process::ExitCode;
use std::time::Instant;

use bench_measure::Result;
use bench_measure::bootstrap::{self, Operations, Scheme, since, value};
use solinas_schemes::ntru::{BootstrapKey, Ciphertext, ClientKey, Evaluator, Params};
use solinas_schemes::{Control, Entropy, Evaluate, Level};

fn operations(params: &Params, key: &BootstrapKey) -> Operations {
    let precision = params.bootstrapping().map_or(0, |bootstrapping| bootstrapping.precision as usize);
    let (levels, special) = (params.levels(), params.special_moduli().len());
    let (extended, groups) = (levels + special, levels.div_ceil(special));
    let rounds = params.dimension().ilog2().div_ceil(2) as usize;
    let trace = rounds * (levels + groups * extended - levels + special + levels);
    let switches = key.polynomials().count() - 3;
    // Conversions of the digits of a round, and of the residues that a division removes.
    let digit = |first: usize| {
        let size = special.min(levels - first);
        size * (extended - size) + size
    };
    let conversions: usize = (0..levels).step_by(special).map(digit).sum();
    let down = special + special * levels + 2 * levels;
    // At level `l`, a square or a lowering takes l transforms and 3 l products.
    let digits: usize = (0..precision - 2).map(|step| (step + 2) * (levels - 1 - step)).sum();
    let steps = levels + digits + levels + 1 - precision;
    Operations {
        transforms: 1 + levels + trace + steps,
        with_keys: switches * extended,
        others: levels + rounds * (conversions + down) + 3 * steps,
    }
}

fn run(name: &str, count: usize, chain: usize) -> Result<()> {
    let params = Params::named(name)?;
    let (n, levels) = (params.dimension(), params.levels());
    println!(
        "{name}: n = {n}, {levels} towers, log2 Q = {:.1}, {} special primes; {:?}",
        params.log2_modulus(params.fresh_level()),
        params.special_moduli().len(),
        params.bootstrapping(),
    );
    let bits: Vec<u32> = params.moduli().iter().map(|q| q.bits()).collect();
    println!("bits of the primes {bits:?}, bootstrapped to level {}", params.bootstrapped_level());
    println!("{:?}", params.security().status);
    let start = Instant::now();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default())?;
    println!("client key         {:>10.1} ms", since(start));
    let start = Instant::now();
    let server = client.server_key(&Control::default())?;
    println!("server key         {:>10.1} ms", since(start));
    let evaluator = Evaluator::new(&server);
    let key = server.bootstrapping()?;
    println!("bootstrapping key  {:.1} MB", key.bytes() as f64 / 1e6);
    let words = key.polynomials().map(|poly| poly.words());
    let bound = bootstrap::bound(n, params.special_moduli()[0], &operations(&params, key), words)?;
    let (bits, public) = (evaluator.bits()?, server.public());
    let encrypt = |i: usize| -> Result<Ciphertext> {
        let fresh = public.encrypt_bit(value(i), &mut public.encryption_rng(i as u64)?)?;
        Ok(evaluator.automatic().at_level(&fresh, Level::LOWEST)?)
    };
    let inputs = (0..count).map(encrypt).collect::<Result<Vec<_>>>()?;
    let scheme = Scheme {
        bootstrap: &|x: &Ciphertext| Ok(evaluator.bootstrap(x)?),
        multiply: &|x, y| Ok(bits.and(x, y)?),
        decrypt: &|x| Ok(client.decrypt(x)?),
        noise: &|x| Ok([x.noise().log2(), client.measure_noise(x)?.log2()]),
    };
    scheme.run(&inputs, chain, bound)
}

fn main() -> ExitCode {
    bootstrap::main("boot-64", run)
}
