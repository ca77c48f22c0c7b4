//! Memory of this process, if the system reports it (Linux).

use std::fs;

/// Bytes. Smaller objects are built repeatedly, until their total reaches this size.
const SMALL: u64 = 512 << 20;
/// Largest number of times an object is built.
const COPIES: usize = 64;
/// Default limit, which applies if `SOLINAS_MEMORY_MIB` is not a number.
const DEFAULT_LIMIT: u64 = 4 << 30;

/// The value of field `name`, in bytes, from the first file that has the field. The files state KiB.
fn field(files: &[&str], name: &str) -> Option<u64> {
    let text = files.iter().find_map(|file| fs::read_to_string(file).ok().filter(|text| text.contains(name)))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Resident bytes of the process, counted page by page if possible.
fn resident() -> Option<u64> {
    field(&["/proc/self/smaps_rollup"], "Rss:").or_else(|| field(&["/proc/self/status"], "VmRSS:"))
}

/// Bytes that a method may use.
pub(crate) fn limit() -> u64 {
    solinas_engine::memory_budget().unwrap_or(DEFAULT_LIMIT)
}

/// Runs `build`. Returns its result, and the growth of the process in bytes. The growth is `None` if it cannot be observed. `expected` is the approximate growth.
///
/// New objects first fill memory that earlier work has freed. Small objects are therefore built repeatedly, and kept, until two in a row make the process grow.
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
        // Other tests of this process allocate at the same time.
        let least = (0..4).filter_map(|_| grown(16 << 20, build).unwrap().1).fold(f64::MAX, f64::min);
        assert!((0.5..2.0).contains(&(least / f64::from(16 << 20))), "{least}");
        assert!(limit() > 1 << 26);
    }
}
