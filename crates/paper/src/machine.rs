//! Machine, command and time of a report.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use sysinfo::{CpuRefreshKind, RefreshKind, System};

/// The machine on which a report was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor; its architecture if the model is unknown.
    pub cpu: String,
    /// Number of cores that this process may use.
    pub cores: usize,
    /// Operating system.
    pub os: String,
}

impl Machine {
    /// This machine.
    #[must_use]
    pub fn this() -> Self {
        let cpu = processor().map(|(name, _)| name).filter(|name| !name.is_empty());
        let cpu = cpu.unwrap_or_else(|| std::env::consts::ARCH.into());
        let os = System::long_os_version().unwrap_or_else(|_| std::env::consts::OS.into());
        Self { cpu, cores: std::thread::available_parallelism().map_or(1, usize::from), os }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, os } = self;
        write!(f, "{cpu}, {cores} core{}, {os}", if *cores == 1 { "" } else { "s" })
    }
}

/// Model of the first processor and its current clock in MHz, if the system reports them.
fn processor() -> Option<(String, f64)> {
    let wanted = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing().with_frequency());
    let system = System::new_with_specifics(wanted).ok()?;
    system.cpus().first().map(|cpu| (cpu.brand().to_owned(), cpu.frequency() as f64))
}

/// Current clock of the first processor in MHz, if the system reports it.
pub(crate) fn megahertz() -> Option<f64> {
    processor().map(|(_, megahertz)| megahertz).filter(|&megahertz| megahertz > 0.0)
}

/// Average number of processes that ran or waited for a core in the last minute; 0 if the system does not report it.
pub(crate) fn load() -> f64 {
    System::load_average().map_or(0.0, |load| load.one)
}

/// The note for a report if the machine was busy before the measurement.
pub(crate) fn busy_note(load: f64) -> Option<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = load > 0.5 * cores as f64;
    busy.then(|| {
        format!("The machine was busy at the start (load {load} on {cores} cores), so these times are too long.")
    })
}

/// The command line of this process. The program is named without its folder.
pub(crate) fn command() -> String {
    let mut args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let program = args.next().unwrap_or_default();
    let program = Path::new(&program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into_owned());
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}

/// The current time, as `2026-01-31T23:59:59Z`.
pub(crate) fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
