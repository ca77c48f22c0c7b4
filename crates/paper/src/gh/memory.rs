//! Memory of this process, where the system tells (Linux).

use std::fs;

/// Bytes below which two of a thing are made to measure the second: the first fills holes that earlier work left.
const SMALL: u64 = 512 << 20;
/// Taken where the system does not tell what is free.
const DEFAULT_LIMIT: u64 = 4 << 30;

/// Bytes after `name`, in KiB, in the first of the files that has it.
fn field(files: &[&str], name: &str) -> Option<u64> {
    let text = files.iter().find_map(|file| fs::read_to_string(file).ok().filter(|text| text.contains(name)))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Resident bytes: counted page by page where possible.
fn resident() -> Option<u64> {
    field(&["/proc/self/smaps_rollup"], "Rss:").or_else(|| field(&["/proc/self/status"], "VmRSS:"))
}

/// Bytes that a method may take: three quarters of what is free.
pub(crate) fn limit() -> u64 {
    field(&["/proc/meminfo"], "MemAvailable:").map_or(DEFAULT_LIMIT, |free| free / 4 * 3)
}

/// What `build` makes, and by how many bytes that made the process grow. `expected` bytes tell whether it is made twice.
pub(crate) fn grown<T, E>(expected: u64, build: impl Fn() -> Result<T, E>) -> Result<(T, Option<f64>), E> {
    let first = if expected <= SMALL { Some(build()?) } else { None };
    let before = resident();
    let built = build()?;
    let after = resident();
    drop(first);
    Ok((built, before.zip(after).map(|(before, after)| after.saturating_sub(before) as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn growth_is_that_of_what_was_built() {
        let build = || Ok::<_, ()>((0..64).map(|i| vec![i as u8 | 1; 1 << 18]).collect::<Vec<_>>());
        let (built, bytes) = grown(0, build).unwrap();
        let bytes = bytes.unwrap() / (built.len() << 18) as f64;
        // Other tests of this process allocate meanwhile.
        assert!((0.5..8.0).contains(&bytes), "{bytes}");
        assert!(limit() > 1 << 26);
    }
}
