//! Interruptible key generation.

use std::fs::TryLockError;
use std::path::Path;
use std::time::{Duration, Instant};

use solinas_schemes::gh::{Checkpoint, ClientKey, KeyGeneration, Params, ServerKey};
use solinas_schemes::{Control, Entropy};
use zeroize::Zeroizing;

use super::Gh;
use crate::{Error, Expect, Header, KeyFiles, Kind, Lock, Overwrite, Reader, Writer, source};

/// Least time between two periodic checkpoints.
const INTERVAL: Duration = Duration::from_secs(20);
/// The time to write a checkpoint is at most one part in `SHARE` of the time since the one before.
const SHARE: u32 = 20;
/// Largest number of attempts that a checkpoint may state. Real key generations draw a few polynomials.
const MOST_ATTEMPTS: u64 = 1 << 32;

/// Generates a key pair on the current thread pool.
///
/// `checkpoint` names a file for the progress. It is written at the beginning, from time to time, when the work is
/// cancelled, and when the keys are ready. If the file exists, key generation continues from it and makes the same
/// keys. The file is secret, because it determines the secret key. Remove it after both keys are saved. Key generation
/// locks the file if the file system supports locks.
///
/// # Errors
/// [`Error::Scheme`] from the scheme, such as [`ResearchScheme`](solinas_schemes::Error::ResearchScheme) and
/// [`Cancelled`](solinas_schemes::Error::Cancelled). [`Error::Checkpoint`] for a checkpoint of other parameters or
/// another seed. [`Error::Busy`] if another key generation works on it. The errors of [`Reader`] and [`Writer`].
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
    // Each new checkpoint file takes over the lock.
    let (mut generation, mut lock) = match lock(path)? {
        Some(lock) => (resume(path, params, research, entropy)?, lock),
        None => {
            let generation = KeyGeneration::new(params, research, entropy)?;
            // Writes now, to find a path that cannot be written before the work begins.
            let lock = store(&generation, path, Overwrite::Never).map_err(|error| match error {
                // Another key generation began after the check.
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
            // If the write fails, the last checkpoint stays. The result of the step is more important than that error.
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

/// Locks the checkpoint, so that no other key generation uses it. Returns `None` if there is no file.
fn lock(path: &Path) -> Result<Option<Lock>, Error> {
    while path.try_exists().map_err(|e| Error::io(path, "open", e))? {
        let (file, _) = source::open(path)?;
        if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::Busy { path: path.to_path_buf() });
        }
        // The former owner of the lock may have replaced or removed the file.
        if source::is_at(&file, path) {
            return Ok(Some(Lock::held(file)));
        }
    }
    Ok(None)
}

/// Writes the checkpoint in one step and locks it.
fn store(generation: &KeyGeneration, path: &Path, overwrite: Overwrite) -> Result<Lock, Error> {
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
    writer.finish_locked().map(Lock::held)
}

fn resume(path: &Path, params: &Params, research: bool, entropy: Entropy) -> Result<KeyGeneration, Error> {
    let reader = Reader::open(path, Expect::kind(Kind::Checkpoint))?;
    let other = |problem: String| Err(Error::Checkpoint { path: path.to_path_buf(), problem });
    let stored = Gh::read_params(&reader)?;
    if stored != *params {
        return other(format!("it makes a key with parameters {:?}, not {:?}", stored.name(), params.name()));
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

/// Reads the checkpoint of a key generation with these parameters.
///
/// # Errors
/// [`Error::Section`] and [`Error::Field`] for content that does not match the parameters. [`Error::Scheme`] with
/// [`ResearchScheme`](solinas_schemes::Error::ResearchScheme) unless `research`. The errors of [`Reader`].
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
        return Err(reader.field("attempt", "it is larger than in any key generation"));
    }
    let checkpoint = Checkpoint { insecure, seed, attempt, dimension, parts };
    KeyGeneration::resume(params, research, checkpoint).map_err(|error| match error {
        solinas_schemes::Error::ResearchScheme { .. } => error.into(),
        _ => reader.section_error("seed", error),
    })
}
