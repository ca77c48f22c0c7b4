//! The `solinas` command: arguments and printing only.
#![deny(unsafe_code)]
#![cfg_attr(
    not(all(feature = "bigint", feature = "paper", feature = "rsa", feature = "service")),
    allow(dead_code, unused_imports, reason = "a build without some verbs does not use all that they share")
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

#[cfg(feature = "service")]
mod admin;
mod args;
#[cfg(feature = "paper")]
mod bench;
#[cfg(feature = "bigint")]
mod bigint;
mod circuit;
#[cfg(feature = "service")]
mod connection;
mod csv_rows;
mod decrypt;
mod demo;
mod encrypt;
mod error;
mod eval;
mod expand;
mod files;
mod find;
mod inspect;
mod keygen;
mod limits;
mod manual;
#[cfg(unix)]
mod memory;
mod names;
mod other_file;
mod output;
#[cfg(feature = "paper")]
mod paper;
mod params;
mod progress;
mod random;
#[cfg(feature = "service")]
mod remote;
#[cfg(feature = "paper")]
mod report;
#[cfg(feature = "rsa")]
mod rsa;
#[cfg(feature = "service")]
mod serve;
mod trust;
mod values;
#[cfg(feature = "service")]
mod web;
#[cfg(feature = "service")]
mod work;

use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Stack of the command's thread, bytes. The system reserves all of it at the start. The stack of a main thread grows instead, and ends the process when
/// memory runs out.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let command = signals().and_then(|()| {
        let command = std::thread::Builder::new().stack_size(STACK).spawn(command);
        command.map_err(|e| error::input(format!("cannot start a thread: {e}"), "allow more memory or more processes"))
    });
    match command {
        // The panic itself has printed its message.
        Ok(command) => command.join().unwrap_or(ExitCode::FAILURE),
        Err(error) => error.report(false),
    }
}

fn command() -> ExitCode {
    match args::Cli::try_parse() {
        Ok(cli) => {
            let out = output::Output::new(&cli.globals);
            match prepare().and_then(|()| args::run(cli.command, &out)).and_then(|()| out.finish()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => error.report(out.json()),
            }
        }
        Err(error) => output::usage(&error),
    }
}

/// Checks what every verb needs.
///
/// # Errors
/// If standard output is closed, if `SOLINAS_BACKEND` names a back end that this machine lacks, or if no thread can be started.
fn prepare() -> error::Result<()> {
    output::check()?;
    solinas_field::allocation::keep_freed_memory();
    solinas_field::Backend::detect()?;
    Ok(solinas_engine::start_threads()?)
}

/// Turns two signals that would end the process into errors: a write beyond the limit on file sizes, and an abort, whose core dump would hold keys.
fn signals() -> error::Result<()> {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGABRT, SIGXFSZ};
        use signal_hook::flag::{register, register_conditional_shutdown};
        register(SIGXFSZ, Arc::default())
            .and_then(|_| register_conditional_shutdown(SIGABRT, 1, Arc::new(AtomicBool::new(true))))
            .map_err(|e| {
                error::input(
                    format!("cannot handle signals: {e}"),
                    "run the command where a process may set signal handlers",
                )
            })?;
    }
    Ok(())
}
