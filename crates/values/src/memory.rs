//! The memory that keys, ciphertexts and runs may take.

use std::path::Path;

use crate::{Error, ParamsInfo};

pub use crate::options::MEMORY_VARIABLE as VARIABLE;

/// Requests of up to this many bytes are not checked.
const SMALL: u64 = 16 << 20;

/// The memory in bytes that keys, tables and ciphertexts may take. It is `SOLINAS_MEMORY_MIB` if that is set. Otherwise
/// it defaults to three quarters of the free memory (including page cache), or to 4 GiB if the system does not report
/// free memory.
///
/// # Errors
/// [`Error::Setting`] unless the variable is a number of at least 1.
pub fn budget() -> Result<u64, Error> {
    if let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return set(&value.to_string_lossy());
    }
    Ok(available().map_or(4 << 30, |free| free / 4 * 3))
}

/// Remedy for requests that depend on the number of values.
pub const FEWER: &str = "take fewer values at a time";
/// Remedy for requests of a fixed size.
pub const FREE: &str = "free some memory (ulimit -v limits it)";

/// Checks that `need` bytes for a key or ciphertexts are within the budget. `instead` is the remedy in the error.
///
/// # Errors
/// [`Error::Memory`] if they are not. The errors of [`budget`].
pub fn check(method: &'static str, params: &ParamsInfo, need: u64, instead: &str) -> Result<(), Error> {
    // A budget may be slow to find.
    let limit = if need <= SMALL { SMALL } else { budget()? };
    check_within(limit, method, params, need, instead)
}

/// As [`check`], within `limit` bytes.
///
/// # Errors
/// [`Error::Memory`].
pub fn check_within(
    limit: u64,
    method: &'static str,
    params: &ParamsInfo,
    need: u64,
    instead: &str,
) -> Result<(), Error> {
    if need <= SMALL.max(limit) {
        return Ok(());
    }
    let (need_mib, limit_mib) = (need.div_ceil(1 << 20), limit >> 20);
    let remedy = format!("{instead}, or allow {need_mib} MiB by {VARIABLE}");
    Err(Error::Memory { method, params: params.name.clone(), need_mib, limit_mib, remedy })
}

/// Converts the text of a number of MiB to bytes.
fn set(text: &str) -> Result<u64, Error> {
    let mib = text.trim().parse::<u64>().ok().filter(|&mib| mib > 0).and_then(|mib| mib.checked_mul(1 << 20));
    mib.ok_or_else(|| Error::Setting { name: VARIABLE, value: text.into(), expected: "a number of MiB, at least 1" })
}

/// Free memory in bytes: the least of the machine, the process' control groups, and its address space (`ulimit -v`).
fn available() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok();
    let groups = groups.and_then(|own| control_groups(Path::new("/sys/fs/cgroup"), &own));
    [machine(), groups, address_space()].into_iter().flatten().min()
}

/// Free memory of the machine, including page cache that can be dropped.
#[cfg(not(target_family = "wasm"))]
fn machine() -> Option<u64> {
    use sysinfo::{MemoryRefreshKind, RefreshKind, System};
    let wanted = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let free = System::new_with_specifics(wanted).ok()?.available_memory();
    Some(free).filter(|&free| free > 0)
}

/// Free memory, which a browser does not tell.
#[cfg(target_family = "wasm")]
fn machine() -> Option<u64> {
    None
}

/// File names of one version of Linux control groups.
struct Names {
    /// Folder below the mount point.
    folder: &'static str,
    limit: &'static str,
    used: &'static str,
    /// Prefix of the line of `memory.stat` with the page cache that the kernel drops first.
    cache: &'static str,
}

const V1: Names = Names {
    folder: "memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cache: "total_inactive_file ",
};
const V2: Names = Names { folder: "", limit: "memory.max", used: "memory.current", cache: "inactive_file " };

impl Names {
    /// Bytes that the limit of one group leaves. `None` without a limit. Page cache counts as free.
    fn free(&self, folder: &Path) -> Option<u64> {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (limit, used) = (number(&read(self.limit)?)?, number(&read(self.used)?)?);
        let stat = read("memory.stat").unwrap_or_default();
        let cache = stat.lines().find_map(|line| number(line.strip_prefix(self.cache)?)).unwrap_or(0);
        Some(limit.saturating_sub(used.saturating_sub(cache)))
    }
}

/// Bytes that the control groups mounted at `mount` leave to a process: the least of its group and the groups around
/// it. `own` is the text of its `/proc/self/cgroup`, with one line `ID:CONTROLLERS:GROUP` for each hierarchy.
fn control_groups(mount: &Path, own: &str) -> Option<u64> {
    let hierarchy = |line: &str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let names = match controllers {
            "" => V2,
            some if some.split(',').any(|controller| controller == "memory") => V1,
            _ => return None,
        };
        let root = mount.join(names.folder);
        let group = root.join(group.trim_start_matches('/'));
        let groups = group.ancestors().take_while(|folder| folder.starts_with(&root));
        groups.filter_map(|folder| names.free(folder)).min()
    };
    own.lines().filter_map(hierarchy).min()
}

/// Bytes that the limit of the process' address space leaves.
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
    fn the_machine_has_free_memory() {
        assert!(budget().unwrap() > 1 << 20);
    }

    /// Writes the files of a control group.
    fn group(folder: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn page_cache_of_a_control_group_is_free() {
        let mount = tempfile::tempdir().unwrap();
        let stat = "anon 100\nfile 750\ninactive_file 700\nactive_file 50\n";
        group(mount.path(), &[("memory.max", "1000\n"), ("memory.current", "900\n"), ("memory.stat", stat)]);
        assert_eq!(control_groups(mount.path(), "0::/\n"), Some(800));
        group(mount.path(), &[("memory.current", "1700\n")]);
        assert_eq!(control_groups(mount.path(), "0::/\n"), Some(0));
        group(mount.path(), &[("memory.max", "max\n")]);
        assert_eq!(control_groups(mount.path(), "0::/\n"), None);
    }

    #[test]
    fn the_least_of_nested_control_groups_counts() {
        let mount = tempfile::tempdir().unwrap();
        let path = |name: &str| mount.path().join(name);
        group(&path("outer"), &[("memory.max", "1000\n"), ("memory.current", "600\n")]);
        group(&path("outer/inner"), &[("memory.max", "900\n"), ("memory.current", "100\n")]);
        assert_eq!(control_groups(mount.path(), "0::/outer/inner\n"), Some(400));
        // A container may name a group of its host and see only the innermost folder of it.
        group(&path("outer/inner"), &[("memory.max", "300\n")]);
        assert_eq!(control_groups(&path("outer/inner"), "0::/not/mounted/here\n"), Some(200));
    }

    #[test]
    fn control_groups_of_version_1_are_read() {
        let mount = tempfile::tempdir().unwrap();
        let stat = "inactive_file 1\ntotal_inactive_file 50\n";
        let files = [("memory.limit_in_bytes", "1000\n"), ("memory.usage_in_bytes", "400\n"), ("memory.stat", stat)];
        group(&mount.path().join("memory/job"), &files);
        assert_eq!(control_groups(mount.path(), "3:cpu,memory:/job\n1:cpuset:/\n0::/\n"), Some(650));
        assert_eq!(control_groups(mount.path(), "1:cpuset:/\n"), None);
    }
}
