//! Key generation that can be interrupted.

use std::path::Path;
use std::time::{Duration, Instant};

use solinas_schemes::gh::{self, Checkpoint, ClientKey, KeyGeneration, Params, Progress, ServerKey};
use zeroize::Zeroizing;

use super::SCHEME;
use crate::{Error, Expect, Header, Kind, Overwrite, Reader, Writer};

/// Least time between two checkpoints that no one asked for.
const INTERVAL: Duration = Duration::from_secs(20);
/// A checkpoint may take this part of the time since the one before.
const SHARE: u32 = 20;

/// Makes a key pair, on the current thread pool; from `insecure_seed` for tests and benchmarks alone.
///
/// With `checkpoint`, what was reached is kept in a file of that name: from the beginning, from time to time, and when `progress` stops the work. If the
/// file is there, key generation goes on from it, and makes the key that it would have made. The file is secret, as the
/// key is; it is removed at success.
///
/// # Errors
/// [`Error::Keygen`] from the scheme: [`gh::Error::ResearchOnly`], [`gh::Error::Cancelled`] when `progress` stops it. [`Error::Checkpoint`] for a checkpoint
/// of other parameters or another seed; from the file.
pub fn keygen(
    params: &Params,
    research: bool,
    insecure_seed: Option<u64>,
    checkpoint: Option<&Path>,
    progress: Progress<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    let Some(path) = checkpoint else {
        return Ok(begin(params, research, insecure_seed)?.finish(progress)?);
    };
    let mut generation = if path.try_exists().map_err(|e| Error::io(path, "open", e))? {
        resume(path, params, research, insecure_seed)?
    } else {
        let generation = begin(params, research, insecure_seed)?;
        // A place where nothing can be written is found now.
        store(&generation, path)?;
        generation
    };
    let (mut last, mut took) = (Instant::now(), Duration::ZERO);
    while !generation.is_done() {
        if let Err(error) = generation.step(progress) {
            store(&generation, path)?;
            return Err(error.into());
        }
        if last.elapsed() > INTERVAL.max(SHARE * took) {
            let start = Instant::now();
            store(&generation, path)?;
            (last, took) = (Instant::now(), start.elapsed());
        }
    }
    let keys = generation.finish(progress)?;
    std::fs::remove_file(path).map_err(|e| Error::io(path, "remove", e))?;
    Ok(keys)
}

fn begin(params: &Params, research: bool, insecure_seed: Option<u64>) -> Result<KeyGeneration, gh::Error> {
    match insecure_seed {
        Some(seed) => KeyGeneration::new_insecure(params, research, seed),
        None => KeyGeneration::new(params, research),
    }
}

/// Replaces the checkpoint in one step.
fn store(generation: &KeyGeneration, path: &Path) -> Result<(), Error> {
    let Checkpoint { insecure, seed, attempt, dimension, parts } = generation.checkpoint();
    let header = Header::new(Kind::Checkpoint)
        .scheme(SCHEME)
        .params(generation.params().literal())?
        .insecure_seed(insecure)
        .meta("attempt", &attempt)?
        .meta("dimension", &(dimension as u64))?;
    let mut writer = Writer::create(path, header, Overwrite::Always)?;
    writer.section("seed", &*seed)?;
    for (name, words) in parts {
        writer.section_u64(name, words)?;
    }
    writer.finish()
}

fn resume(path: &Path, params: &Params, research: bool, insecure_seed: Option<u64>) -> Result<KeyGeneration, Error> {
    let reader = Reader::open(path, Expect::kind(Kind::Checkpoint))?;
    let other = |problem: String| Err(Error::Checkpoint { path: path.to_path_buf(), problem });
    let stored = super::params(&reader)?;
    if stored != *params {
        return other(format!("it makes a key of parameters {:?}, not {:?}", stored.name(), params.name()));
    }
    let generation = read_checkpoint(&reader, params, research)?;
    let (chosen, drawn) = ("an insecure seed that was chosen", "the operating system's randomness");
    match insecure_seed {
        None if generation.is_insecure() => other(format!("it was begun from {chosen}, not from {drawn}")),
        Some(seed) if !generation.is_of_insecure_seed(seed) => {
            let found = if generation.is_insecure() { "another insecure seed" } else { drawn };
            other(format!("it was begun from {found}, not from insecure seed {seed}"))
        }
        _ => Ok(generation),
    }
}

/// Reads a checkpoint of a key generation of these parameters.
///
/// # Errors
/// From the file; [`Error::Section`] for parts that are not of these parameters; [`gh::Error::ResearchOnly`] unless `research`.
pub fn read_checkpoint(reader: &Reader, params: &Params, research: bool) -> Result<KeyGeneration, Error> {
    let mut seed = Zeroizing::new([0; 32]);
    seed.copy_from_slice(reader.section_of_len("seed", 32)?);
    let mut parts = Vec::new();
    for (name, bytes) in reader.sections() {
        if let Some(part) = KeyGeneration::PARTS.into_iter().find(|part| *part == name) {
            let words = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
            parts.push((part, Zeroizing::new(reader.section_u64(name, words)?)));
        }
    }
    let dimension = usize::try_from(reader.meta::<u64>("dimension")?).unwrap_or(usize::MAX);
    let insecure = reader.header().insecure_seed;
    let checkpoint = Checkpoint { insecure, seed, attempt: reader.meta("attempt")?, dimension, parts };
    KeyGeneration::resume(params, research, checkpoint).map_err(|error| match error {
        gh::Error::ResearchOnly { .. } => error.into(),
        _ => reader.section_error("seed", error),
    })
}
