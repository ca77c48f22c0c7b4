//! How much memory tables may take.

use crate::{Error, ParamsInfo};

/// The variable that sets it, in MiB.
pub(crate) const VARIABLE: &str = "SOLINAS_MEMORY_MIB";

/// Bytes for which nobody asks how much is free.
const SMALL: u64 = 16 << 20;

/// Bytes that tables may take: `SOLINAS_MEMORY_MIB`, else three quarters of the memory that is free; 4 GiB where the system does not tell.
///
/// # Errors
/// [`Error::Setting`] for a variable that is no number, or 0.
pub fn budget() -> Result<u64, Error> {
    if let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return set(&value.to_string_lossy());
    }
    Ok(available().map_or(4 << 30, |free| free / 4 * 3))
}

/// What takes less than many values do.
pub(crate) const FEWER: &str = "take fewer values at a time";
/// What helps where nothing takes less.
pub(crate) const FREE: &str = "free some memory (ulimit -v limits it)";

/// That a key or ciphertexts of those bytes fit the budget; `instead` says what would take less.
///
/// # Errors
/// [`Error::Memory`] where they do not; those of [`budget`].
pub(crate) fn check(method: &'static str, params: &ParamsInfo, need: u64, instead: &str) -> Result<(), Error> {
    if need <= SMALL {
        return Ok(());
    }
    let limit = budget()?;
    if need <= limit {
        return Ok(());
    }
    let (need_mib, limit_mib) = (need.div_ceil(1 << 20), limit >> 20);
    let remedy = format!("{instead}, or allow {need_mib} MiB by {VARIABLE}");
    Err(Error::Memory { method, params: params.name.clone(), need_mib, limit_mib, remedy })
}

/// Bytes of a text that says MiB.
fn set(text: &str) -> Result<u64, Error> {
    let mib = text.trim().parse::<u64>().ok().filter(|&mib| mib > 0).and_then(|mib| mib.checked_mul(1 << 20));
    mib.ok_or_else(|| Error::Setting { name: VARIABLE, value: text.into(), expected: "a number of MiB, at least 1" })
}

/// Free memory in bytes, as Linux tells it: of the machine, of the control group, or of the process' address space (`ulimit -v`), the least of them.
fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").as_deref().and_then(meminfo);
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group = || Some(number("/sys/fs/cgroup/memory.max")?.saturating_sub(number("/sys/fs/cgroup/memory.current")?));
    [machine, group(), address_space()].into_iter().flatten().min()
}

/// Bytes that the limit on the process' address space leaves.
#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse::<u64>().ok()?;
    Some(limit.saturating_sub(pages * rustix::param::page_size() as u64))
}

#[cfg(not(target_os = "linux"))]
fn address_space() -> Option<u64> {
    None
}

fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_mebibytes_above_zero() {
        assert_eq!(set(" 3 ").unwrap(), 3 << 20);
        for text in ["0", "-1", "1.5", "much", "18446744073709551615"] {
            let message = set(text).unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("a number of MiB, at least 1"), "{message}");
        }
    }

    #[test]
    fn free_memory_is_read_in_bytes() {
        assert_eq!(meminfo("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(meminfo("MemTotal: 9 kB\n"), None);
        assert!(budget().unwrap() > 1 << 20);
    }
}
