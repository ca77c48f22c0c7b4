//! Limits on a server, from arguments.

use crate::error::Result;
use solinas_circuits::counted;
use solinas_engine::{DeviceName, Estimate, Server, ServerOptions};

/// The requested number of threads, limited to four for each processor. More threads only slow each other down.
pub(crate) fn threads(asked: u16) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    usize::from(asked).min(4 * processors)
}

/// The device of this name.
///
/// # Errors
/// If there is none.
pub(crate) fn device(name: &str) -> Result<DeviceName> {
    Ok(name.parse().map_err(solinas_engine::Error::from)?)
}

/// Options of a server: the number of threads, limited by [`threads`], the memory in MiB, and the name of the device.
///
/// # Errors
/// If no device has this name.
pub(crate) fn server_options(asked: Option<u16>, mib: Option<u64>, device: Option<&str>) -> Result<ServerOptions> {
    Ok(ServerOptions {
        threads: asked.map(threads),
        memory: mib.map(|mib| mib.saturating_mul(1 << 20)),
        device: device.map(self::device).transpose()?,
        ..ServerOptions::default()
    })
}

/// The processors on which an estimate of a server holds.
pub(crate) fn workers(server: &Server, estimate: &Estimate) -> String {
    match server.device() {
        DeviceName::Cpu => counted(estimate.threads, "thread"),
        device => format!("the device {device}"),
    }
}

/// Warns if the device failed and the processor did its work.
pub(crate) fn warn_of_device(server: &Server) {
    if let Some(error) = server.device_failure() {
        crate::output::warn(&format!("the processor did the work, since the device auto failed: {error}"));
    }
}
