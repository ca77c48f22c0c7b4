//! Memory of this process, where the system tells (Linux).

use std::fs;

/// Bytes below which things are made more than once, and may take together before that ends.
const SMALL: u64 = 512 << 20;
/// Times a thing is made at most.
const COPIES: usize = 64;
/// Taken where `SOLINAS_MEMORY_MIB` is no number.
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

/// Bytes that a method may take.
pub(crate) fn limit() -> u64 {
    solinas_runtime::memory_budget().unwrap_or(DEFAULT_LIMIT)
}

/// What `build` makes, and by how many bytes that makes the process grow: none where it does not show. `expected` is about as many.
///
/// What earlier work freed is filled first: small things are made again and again, and kept, until two in a row made the process grow.
pub(crate) fn grown<T, E>(expected: u64, build: impl Fn() -> Result<T, E>) -> Result<(T, Option<f64>), E> {
    let one = || {
        let before = resident();
        let built = build()?;
        Ok((built, before.zip(resident()).map(|(before, after)| after.saturating_sub(before) as f64)))
    };
    if expected > SMALL {
        return one();
    }
    let fits = |growth: Option<f64>| growth.is_some_and(|growth| growth >= expected as f64 / 2.0);
    let (mut built, mut last) = one()?;
    let mut kept = Vec::new();
    while last.is_some() && kept.len() < COPIES && kept.len() as u64 * expected <= SMALL {
        let (next, growth) = one()?;
        kept.push(std::mem::replace(&mut built, next));
        if fits(last) && fits(growth) {
            return Ok((built, growth));
        }
        last = growth;
    }
    Ok((built, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn growth_is_that_of_what_was_built() {
        let build = || Ok::<_, ()>((0..64).map(|i| vec![i as u8 | 1; 1 << 18]).collect::<Vec<_>>());
        // Other tests of this process allocate meanwhile.
        let least = (0..4).filter_map(|_| grown(16 << 20, build).unwrap().1).fold(f64::MAX, f64::min);
        assert!((0.5..2.0).contains(&(least / f64::from(16 << 20))), "{least}");
        assert!(limit() > 1 << 26);
    }
}
