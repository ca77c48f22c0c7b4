//! Key generation that can be interrupted.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use solinas_schemes::gh::{Checkpoint, ClientKey, KeyGeneration, Params, ServerKey};
use solinas_schemes::{Control, Entropy};
use zeroize::Zeroizing;

use super::Gh;
use crate::{Error, Expect, Header, KeyFiles, Kind, Overwrite, Reader, Writer, source};

/// Least time between two checkpoints that no one asked for.
const INTERVAL: Duration = Duration::from_secs(20);
/// A checkpoint may take this part of the time since the one before.
const SHARE: u32 = 20;
/// More polynomials than any key generation draws: a few have no root.
const MOST_ATTEMPTS: u64 = 1 << 32;

/// Makes a key pair, on the current thread pool.
///
/// With `checkpoint`, what was reached is kept in a file of that name: from the beginning, from time to time, when the work is cancelled, and when the
/// key is made. If the file is there, key generation goes on from it, and makes the key that it would have made. The file is secret, as the key is. It
/// stays: the caller removes it once both keys are stored. It is locked meanwhile, where the file system can.
///
/// # Errors
/// [`Error::Scheme`]: [`ResearchScheme`](solinas_schemes::Error::ResearchScheme), [`Cancelled`](solinas_schemes::Error::Cancelled). [`Error::Checkpoint`] for a checkpoint
/// of other parameters or another seed; [`Error::Busy`] for one that another key generation works on; from the file.
pub fn keygen(
    params: &Params,
    research: bool,
    entropy: Entropy,
    checkpoint: Option<&Path>,
    control: &Control<'_>,
) -> Result<(ClientKey, ServerKey), Error> {
    let Some(path) = checkpoint else {
        return Ok(KeyGeneration::new(params, research, entropy)?.finish(control)?);
    };
    // The file's lock goes over to each file that replaces it.
    let (mut generation, mut lock) = match lock(path)? {
        Some(lock) => (resume(path, params, research, entropy)?, lock),
        None => {
            let generation = KeyGeneration::new(params, research, entropy)?;
            // A place where nothing can be written is found now.
            let lock = store(&generation, path, Overwrite::Never).map_err(|error| match error {
                // Another one began meanwhile.
                Error::Exists { path, .. } => Error::Busy { path },
                other => other,
            })?;
            (generation, lock)
        }
    };
    let (mut last, mut took) = (Instant::now(), Duration::ZERO);
    while !generation.is_done() {
        let stepped = generation.step(control);
        if stepped.is_err() || generation.is_done() {
            // Where this fails, the file before it stays, and there is something else to tell: why the work stopped, or a key.
            lock = store(&generation, path, Overwrite::Always).unwrap_or(lock);
            stepped?;
        } else if last.elapsed() > INTERVAL.max(SHARE * took) {
            let start = Instant::now();
            lock = store(&generation, path, Overwrite::Always)?;
            (last, took) = (Instant::now(), start.elapsed());
        }
    }
    let keys = generation.finish(control)?;
    drop(lock);
    Ok(keys)
}

/// Locks the checkpoint, so that no other key generation works on it. None where there is no file.
fn lock(path: &Path) -> Result<Option<File>, Error> {
    while path.try_exists().map_err(|e| Error::io(path, "open", e))? {
        let (file, _) = source::open(path)?;
        if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::Busy { path: path.to_path_buf() });
        }
        // Whoever had the lock before may have replaced the file, or removed it.
        if source::is_at(&file, path) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Writes the checkpoint, in one step, and locks it.
fn store(generation: &KeyGeneration, path: &Path, overwrite: Overwrite) -> Result<File, Error> {
    let Checkpoint { insecure, seed, attempt, dimension, parts } = generation.checkpoint();
    let header = Header::new(Kind::Checkpoint)
        .scheme(Gh::NAME)
        .params(generation.params().literal())?
        .insecure_seed(insecure)
        .meta("attempt", &attempt)?
        .meta("dimension", &(dimension as u64))?;
    let mut writer = Writer::create(path, header, overwrite)?;
    writer.section("seed", &*seed)?;
    for (name, words) in parts {
        writer.section_u64(name, words)?;
    }
    writer.finish_locked()
}

fn resume(path: &Path, params: &Params, research: bool, entropy: Entropy) -> Result<KeyGeneration, Error> {
    let reader = Reader::open(path, Expect::kind(Kind::Checkpoint))?;
    let other = |problem: String| Err(Error::Checkpoint { path: path.to_path_buf(), problem });
    let stored = Gh::read_params(&reader)?;
    if stored != *params {
        return other(format!("it makes a key of parameters {:?}, not {:?}", stored.name(), params.name()));
    }
    let generation = read_checkpoint(&reader, params, research)?;
    let (chosen, drawn) = ("an insecure seed that was chosen", "the operating system's randomness");
    match entropy {
        Entropy::System if generation.is_insecure() => other(format!("it was begun from {chosen}, not from {drawn}")),
        Entropy::Insecure(seed) if !generation.is_of_insecure_seed(seed) => {
            let found = if generation.is_insecure() { "another insecure seed" } else { drawn };
            other(format!("it was begun from {found}, not from insecure seed {seed}"))
        }
        _ => Ok(generation),
    }
}

/// Reads a checkpoint of a key generation of these parameters.
///
/// # Errors
/// From the file; [`Error::Section`] and [`Error::Field`] for what is not of these parameters; [`ResearchScheme`](solinas_schemes::Error::ResearchScheme) unless `research`.
pub fn read_checkpoint(reader: &Reader, params: &Params, research: bool) -> Result<KeyGeneration, Error> {
    let mut seed = Zeroizing::new([0; 32]);
    seed.copy_from_slice(&reader.section_of_len("seed", 32)?);
    let mut parts = Vec::new();
    for (name, bytes) in reader.sections() {
        if let Some(part) = KeyGeneration::PARTS.into_iter().find(|part| *part == name) {
            let words = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
            parts.push((part, Zeroizing::new(reader.section_u64(name, words)?)));
        }
    }
    let dimension = usize::try_from(reader.meta::<u64>("dimension")?).unwrap_or(usize::MAX);
    let (insecure, attempt) = (reader.header().insecure_seed, reader.meta("attempt")?);
    if attempt > MOST_ATTEMPTS {
        return Err(reader.field("attempt", "no key generation takes as many"));
    }
    let checkpoint = Checkpoint { insecure, seed, attempt, dimension, parts };
    KeyGeneration::resume(params, research, checkpoint).map_err(|error| match error {
        solinas_schemes::Error::ResearchScheme { .. } => error.into(),
        _ => reader.section_error("seed", error),
    })
}
