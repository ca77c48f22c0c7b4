//! The machine: its name, its cores, its clock of CPU time.

use std::fs;
use std::io;
use std::time::Duration;

use crate::Error;

/// The processor's name as the kernel gives it, with its family and model.
pub fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        info.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == name)
            .map_or("?", |(_, value)| value.trim())
    };
    format!("{} (family {}, model {})", field("model name"), field("cpu family"), field("model"))
}

/// The widest vector instructions this build was compiled for; our kernels choose theirs at run time.
pub fn simd() -> &'static str {
    match (cfg!(target_feature = "avx512f"), cfg!(target_feature = "avx2")) {
        (true, _) => "avx512f",
        (false, true) => "avx2",
        (false, false) => "baseline",
    }
}

/// Cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Processes that ran or waited for a core in the last minute, on average.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// CPU time this process has used on all its threads.
///
/// # Errors
/// [`Error::Clock`] if the kernel has no such clock.
pub fn cpu_time() -> Result<Duration, Error> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return Err(Error::Clock(io::Error::last_os_error()));
    }
    Ok(Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0)))
}
