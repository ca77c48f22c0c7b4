//! Where and when a report was made.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine a report was made on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor, its architecture where the model is not known.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Operating system.
    pub os: String,
}

impl Machine {
    /// This machine.
    #[must_use]
    pub fn this() -> Self {
        let cpu = field("/proc/cpuinfo", "model name", ':').unwrap_or_else(|| std::env::consts::ARCH.into());
        let os = field("/etc/os-release", "PRETTY_NAME", '=').unwrap_or_else(|| std::env::consts::OS.into());
        Self { cpu, cores: std::thread::available_parallelism().map_or(1, usize::from), os }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, os } = self;
        write!(f, "{cpu}, {cores} core{}, {os}", if *cores == 1 { "" } else { "s" })
    }
}

/// The value of the first line `name separator value` of a file.
fn field(file: &str, name: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// Clock of the first processor now, in MHz, where the system tells.
pub(crate) fn megahertz() -> Option<f64> {
    field("/proc/cpuinfo", "cpu MHz", ':')?.parse().ok()
}

/// Processes that ran or waited for a core in the last minute, on average, where the system tells.
pub(crate) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// What to say when the machine was busy before a measurement.
pub(crate) fn busy_note(load: Option<f64>) -> Option<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = load.filter(|load| *load > 0.5 * cores as f64)?;
    Some(format!("The machine was busy when this began (load {busy} on {cores} cores): times here are too long."))
}

/// The command line of this process, the program without its folder.
pub(crate) fn command() -> String {
    let mut args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let program = args.next().unwrap_or_default();
    let program = Path::new(&program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into_owned());
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}

/// Now, as `2026-01-31T23:59:59Z`.
pub(crate) fn now() -> String {
    utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Seconds since 1970 as date and time, in the proleptic Gregorian calendar: 400 years are 146097 days, and a year that begins in March
/// has its leap day at the end.
fn utc(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    let second = seconds % 86_400;
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_knows_leap_years() {
        for (seconds, want) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), want);
        }
    }
}
