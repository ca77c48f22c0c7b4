//! Times, noise and errors of LWE.
//!
//! ```sh
//! cargo measure lwe -- bits 100000 toy-64-2 toy-256-8 secure-31 tables secure-62
//! cargo measure lwe -- circuits 24 leveled-16-3 leveled-32-3
//! cargo measure lwe -- stream 2332 32 32 FOLDER      # kill it and start it again
//! ```
//!
//! `bench/lwe` times the products of the matrix.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use bench_common::command;
use clap::Parser;
use rand_core::RngCore;
use solinas_schemes::lwe::{
    self, Access, KeyFile, Layout, Modulus, Multiplier, SeededMatrix, StreamedProduct, Vector, fresh,
};
use solinas_schemes::{Control, Entropy, Error, Evaluate, Level};

/// Learning with errors.
#[derive(Parser)]
enum Command {
    /// Encrypts and decrypts random bits
    Bits {
        count: usize,
        /// Parameter sets; after the word `tables`, selections are read by tables
        sets: Vec<String>,
    },
    /// Evaluates random circuits
    Circuits {
        /// Keys of each set
        keys: usize,
        sets: Vec<String>,
    },
    /// Multiplies by a matrix in a file; after a kill it goes on from the last stored state
    Stream {
        #[command(flatten)]
        shape: Shape,
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
}

/// A square matrix.
#[derive(clap::Args)]
struct Shape {
    /// Rows and columns
    n: usize,
    /// Words of the modulus
    words: usize,
    /// Bits of a word
    bits: u32,
}

fn main() -> ExitCode {
    command::main(|command: &Command| match command {
        Command::Bits { count, sets } => bits(*count, sets),
        Command::Circuits { keys, sets } => circuits(*keys, sets),
        Command::Stream { shape, folder } => stream(shape, folder),
    })
}

/// Encrypts and decrypts random bits, and compares. After the word `tables` the selections are read by tables of subset sums, which makes the same
/// ciphertexts in less time, and not one that is the same for all secrets.
fn bits(count: usize, sets: &[String]) -> Result<(), Error> {
    let mut access = Access::Masked;
    for name in sets {
        if name == "tables" {
            access = Access::VartimeTables;
            continue;
        }
        let params = fresh::Params::named(name)?;
        let start = Instant::now();
        let client = fresh::ClientKey::generate(&params, true, Entropy::System, &Control::default())?;
        let public = client.public();
        let made = start.elapsed().as_secs_f64();
        let mut rng = public.encryption_rng(0)?;
        let messages: Vec<bool> = (0..count).map(|_| rng.next_u32() & 1 == 1).collect();
        let (mut wrong, mut largest, mut squares) = (0, 0f64, 0f64);
        let (mut encrypt, mut decrypt) = (0.0, 0.0);
        let mut encryptor = public.encryptor()?;
        encryptor.access = access;
        for messages in messages.chunks(256) {
            let start = Instant::now();
            let ciphertexts = encryptor.encrypt(messages, &mut rng)?;
            encrypt += start.elapsed().as_secs_f64();
            let start = Instant::now();
            for (ciphertext, &message) in ciphertexts.iter().zip(messages) {
                wrong += usize::from(client.decrypt(ciphertext)? != message);
            }
            decrypt += start.elapsed().as_secs_f64();
            for ciphertext in &ciphertexts {
                let noise = client.noise(ciphertext)?;
                largest = largest.max(noise);
                squares += (2.0 * noise).exp2();
            }
        }
        let measured = 0.5 * (squares / count as f64).log2();
        println!(
            "{name}: {wrong} of {count} bits wrong; noise 2^{measured:.2} measured, 2^{:.2} by the formula, largest 2^{largest:.2} of 2^{:.1}; KeyGen {made:.2} s, \
             Enc {:.3} ms a bit, Dec {:.1} us",
            fresh::noise::fresh(&params),
            params.modulus().log2() - 1.0,
            encrypt * 1e3 / count as f64,
            decrypt * 1e6 / count as f64,
        );
    }
    Ok(())
}

/// Random circuits of leveled sets, by as many keys each, against plain bits; and their noise against the formulas. In each level eight products of sums of
/// two, which share a pass over the switching key.
fn circuits(keys: usize, sets: &[String]) -> Result<(), Error> {
    const WIDTH: usize = 8;
    for name in sets {
        let params = lwe::Params::named(name)?;
        let (mut wrong, mut made, mut multiplied) = (0, 0.0, 0.0);
        // For each level: the sum of the squares of measured noises, the formula, and the largest excess over it.
        let mut noises = vec![(0.0, 0.0, f64::MIN); params.depth() + 1];
        for _ in 0..keys {
            let start = Instant::now();
            let client = lwe::ClientKey::generate(&params, true, Entropy::System, &Control::default())?;
            let server = client.server_key(&Control::default())?;
            made += start.elapsed().as_secs_f64();
            let evaluator = lwe::Evaluator::new(&server)?;
            let mut rng = client.public().encryption_rng(0)?;
            let mut plain: Vec<bool> = (0..WIDTH).map(|_| rng.next_u32() & 1 == 1).collect();
            let mut cipher = client.public().encrypt(&plain, &mut rng)?;
            loop {
                for (x, &bit) in cipher.iter().zip(&plain) {
                    wrong += usize::from(client.decrypt(x)? != bit);
                    let (measured, formula) = (client.noise(x)?.log2(), x.noise().log2());
                    let level = &mut noises[x.level().index()];
                    *level = (level.0 + (2.0 * measured).exp2(), formula, level.2.max(measured - formula));
                }
                if cipher[0].level() == Level::LOWEST {
                    break;
                }
                let mut sums = Vec::new();
                let mut bits = Vec::new();
                for _ in 0..2 * WIDTH {
                    let [a, b] = [0; 2].map(|_| rng.next_u32() as usize % WIDTH);
                    bits.push(plain[a] ^ plain[b]);
                    sums.push(evaluator.add(&cipher[a], &cipher[b])?);
                }
                let pairs: Vec<_> = sums.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).collect();
                let start = Instant::now();
                cipher = evaluator.multiply_batch(&pairs, &Control::default())?;
                multiplied += start.elapsed().as_secs_f64();
                plain = bits.chunks_exact(2).map(|pair| pair[0] & pair[1]).collect();
            }
        }
        let per_level = multiplied / (keys * params.depth().max(1)) as f64;
        println!(
            "{name}: {wrong} of {} bits wrong; KeyGen {:.2} s, {WIDTH} products {per_level:.3} s, switching keys {:.1} MB stored, {:.2} GB as matrices",
            keys * WIDTH * noises.len(),
            made / keys as f64,
            params.switch_levels().map(|level| 4 * params.switch_residues(level)).sum::<usize>() as f64 / 1e6,
            params.switch_bytes() as f64 / 1e9,
        );
        let levels = Level::LOWEST.up_to(params.fresh_level());
        for (level, (squares, formula, over)) in levels.zip(&noises).collect::<Vec<_>>().into_iter().rev() {
            println!(
                "  level {level}: noise 2^{:.2} measured, 2^{formula:.2} by the formula, the largest 2^{over:.2} times it; half the modulus 2^{:.1}",
                0.5 * (squares / (keys * WIDTH) as f64).log2(),
                lwe::noise::half(&params, level),
            );
        }
    }
    Ok(())
}

/// A product with a matrix in a file, its state stored after every piece: goes on where it was when it was killed, and compares with the seed form.
fn stream(&Shape { n, words, bits }: &Shape, folder: &Path) -> Result<(), Error> {
    let (path, state) = (folder.join("lwe.tiles"), folder.join("lwe.state"));
    let failed = |error: io::Error| Error::File { path: folder.into(), problem: error.to_string() };
    let modulus = Modulus::of_primes(words, bits)?;
    let seeded = SeededMatrix::new(Layout::new(n, n, &modulus)?, &modulus, &[1; 32])?;
    if !path.exists() {
        let mut out = File::create(&path).map(BufWriter::new).map_err(failed)?;
        KeyFile::write(&seeded, [0; 32], |bytes| out.write_all(bytes).map_err(failed), &Control::default())?;
        out.flush().map_err(failed)?;
        println!("written");
    }
    let file = KeyFile::open(&path)?;
    let vector = [Vector::uniform(&modulus, n, &mut operands())];
    let mut product = match StreamedProduct::resume(&file, &state) {
        Ok(product) => product,
        Err(_) => StreamedProduct::multiply(&file, vector.to_vec())?,
    };
    println!(
        "begins at piece {} of {}; {} MiB in memory",
        product.progress().0,
        product.progress().1,
        product.memory() >> 20
    );
    let start = Instant::now();
    product.run(|product| {
        let new = state.with_extension("new");
        std::fs::write(&new, &*product.state()).and_then(|()| std::fs::rename(&new, &state)).map_err(failed)?;
        Ok(true)
    })?;
    println!("done in {:.2} s", start.elapsed().as_secs_f64());
    let same = product.into_products()? == Multiplier::new()?.multiply(&seeded, &vector)?;
    println!("{}", if same { "the same as by the seed" } else { "WRONG" });
    Ok(())
}

/// A generator for operands.
fn operands() -> impl RngCore {
    use rand_core::SeedableRng;
    rand_chacha::ChaCha20Rng::seed_from_u64(1)
}
