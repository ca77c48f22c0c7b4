//! Limits on a server, from arguments.

/// The requested number of threads, limited to four for each processor. More threads only slow each other down.
pub(crate) fn threads(asked: u16) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    usize::from(asked).min(4 * processors)
}

/// Resources of a server: the number of threads, limited by [`threads`], and the memory for tables, MiB.
pub(crate) fn server_options(asked: Option<u16>, mib: Option<u64>) -> solinas_runtime::ServerOptions {
    solinas_runtime::ServerOptions { threads: asked.map(threads), memory: mib.map(|mib| mib.saturating_mul(1 << 20)) }
}
