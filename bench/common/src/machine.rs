//! The machine: its name, cores and clocks, and the memory of this process.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

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

/// Processes that ran or waited for a core in the last minute, on average.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// The cores the calling thread may run on, in rising order.
///
/// # Errors
/// [`Error::System`] if the kernel refuses.
pub fn cores() -> Result<Vec<usize>, Error> {
    let set = sched_getaffinity(None).map_err(|error| Error::system("sched_getaffinity", error))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

/// Confines the calling thread, and the threads that it starts from now on, to `cores`.
///
/// # Errors
/// [`Error::System`] if the kernel refuses.
pub fn confine(cores: &[usize]) -> Result<(), Error> {
    let mut set = CpuSet::new();
    cores.iter().filter(|&&core| core < CpuSet::MAX_CPU).for_each(|&core| set.set(core));
    sched_setaffinity(None, &set).map_err(|error| Error::system("sched_setaffinity", error))
}

/// A rayon pool of `threads` workers on any cores.
///
/// # Errors
/// [`Error::Threads`] if a thread cannot be started.
pub fn free_pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Threads { threads, problem: error.to_string() })
}

/// A rayon pool of `threads` workers, confined to the first `threads` cores that the process may use.
///
/// # Errors
/// [`Error::Cores`] if the process may use fewer cores, [`Error::Threads`] if a thread cannot be started, [`Error::System`] if the kernel
/// refuses to confine it.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    let mut cores = cores()?;
    if cores.len() < threads {
        return Err(Error::Cores { wanted: threads, allowed: cores.len() });
    }
    cores.truncate(threads);
    let pool = free_pool(threads)?;
    pool.broadcast(|_| confine(&cores)).into_iter().collect::<Result<(), Error>>()?;
    Ok(pool)
}

/// CPU time of this process over all threads.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Returns free heap to the kernel, and resets the peak of resident memory to the present size.
///
/// # Errors
/// [`Error::System`] if the kernel cannot reset the peak.
pub fn reset_peak_memory() -> Result<(), Error> {
    // SAFETY: `malloc_trim` has no preconditions.
    unsafe { libc::malloc_trim(0) };
    fs::write("/proc/self/clear_refs", "5").map_err(|error| Error::system("/proc/self/clear_refs", error))
}

/// Peak resident memory in bytes since the last [`reset_peak_memory`].
///
/// # Errors
/// [`Error::System`] if the kernel does not report it.
pub fn peak_memory() -> Result<u64, Error> {
    let call = "/proc/self/status";
    let status = fs::read_to_string(call).map_err(|error| Error::system(call, error))?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .ok_or_else(|| Error::system(call, io::Error::other("it has no VmHWM line")))
}
