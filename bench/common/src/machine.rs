//! The machine: its name, its cores, its clocks, and what a process holds of its memory.

use std::fs;
use std::io;
use std::mem;
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

/// Processes that ran or waited for a core in the last minute, on average.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// The cores the calling thread may run on, in rising order.
///
/// # Errors
/// [`Error::System`] if the kernel refuses.
pub fn cores() -> Result<Vec<usize>, Error> {
    // SAFETY: a `cpu_set_t` is plain bits, for which all zeros are valid.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: `set` lives through the call and its size is passed along.
    let status = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    if status != 0 {
        return Err(Error::system("sched_getaffinity"));
    }
    // SAFETY: every index is below CPU_SETSIZE.
    Ok((0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect())
}

/// Confines the calling thread, and the threads it starts from now on, to `cores`.
///
/// # Errors
/// [`Error::System`] if the kernel refuses.
pub fn confine(cores: &[usize]) -> Result<(), Error> {
    // SAFETY: a `cpu_set_t` is plain bits, for which all zeros are valid.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    for &core in cores.iter().filter(|&&core| core < libc::CPU_SETSIZE as usize) {
        // SAFETY: the index is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(core, &mut set) };
    }
    // SAFETY: `set` lives through the call and its size is passed along.
    let status = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    if status == 0 { Ok(()) } else { Err(Error::system("sched_setaffinity")) }
}

/// A rayon pool of `threads` workers, confined to as many cores.
///
/// # Errors
/// [`Error::Cores`] if the process may not use that many cores, [`Error::System`] if no thread can be started.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    let mut cores = cores()?;
    if cores.len() < threads {
        return Err(Error::Cores { wanted: threads, allowed: cores.len() });
    }
    cores.truncate(threads);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::System { call: "starting threads", source: io::Error::other(error) })?;
    pool.broadcast(|_| confine(&cores)).into_iter().collect::<Result<(), Error>>()?;
    Ok(pool)
}

/// CPU time this process has used on all its threads.
///
/// # Errors
/// [`Error::System`] if the kernel has no such clock.
pub fn cpu_time() -> Result<Duration, Error> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return Err(Error::system("clock_gettime"));
    }
    Ok(Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0)))
}

/// Hands free heap back to the kernel and starts the peak of resident memory afresh from what is left.
///
/// # Errors
/// [`Error::System`] if the kernel cannot reset the peak.
pub fn reset_peak_memory() -> Result<(), Error> {
    // SAFETY: `malloc_trim` has no preconditions.
    unsafe { libc::malloc_trim(0) };
    fs::write("/proc/self/clear_refs", "5").map_err(|source| Error::System { call: "/proc/self/clear_refs", source })
}

/// Peak resident memory in bytes since the last [`reset_peak_memory`].
///
/// # Errors
/// [`Error::System`] if the kernel does not tell.
pub fn peak_memory() -> Result<u64, Error> {
    let call = "/proc/self/status";
    let status = fs::read_to_string(call).map_err(|source| Error::System { call, source })?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .ok_or_else(|| Error::System { call, source: io::Error::other("it has no VmHWM line") })
}
