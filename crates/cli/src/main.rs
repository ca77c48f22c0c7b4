//! The `solinas` command: arguments and printing only.
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod args;
mod bench;
mod bigint;
mod circuit;
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
mod manual;
#[cfg(unix)]
mod memory;
mod names;
mod output;
mod paper;
mod params;
mod progress;
mod rsa;
mod values;

use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Stack of the command's thread, bytes. All of it is there from the beginning, whereas a main thread's grows until no memory is left, and then ends the process.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let command = signals().and_then(|()| {
        let command = std::thread::Builder::new().stack_size(STACK).spawn(command);
        command.map_err(|e| error::input(format!("cannot start a thread: {e}"), "allow more memory or more processes"))
    });
    match command {
        // A panic has said where it happened.
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

/// Fails where nothing can be printed, where `SOLINAS_BACKEND` names a back end that is not there, or where no threads can be started: whatever the verb does.
fn prepare() -> error::Result<()> {
    output::check()?;
    solinas_field::Backend::detect()?;
    Ok(solinas_runtime::start_threads()?)
}

/// Makes errors of two signals that would end the process: of a write beyond the limit on file sizes, and of an abort, whose core dump would hold keys.
fn signals() -> error::Result<()> {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGABRT, SIGXFSZ};
        use signal_hook::flag::{register, register_conditional_shutdown};
        register(SIGXFSZ, Arc::default())
            .and_then(|_| register_conditional_shutdown(SIGABRT, 1, Arc::new(AtomicBool::new(true))))
            .map_err(|e| error::input(format!("cannot handle signals: {e}"), "run it where they can be handled"))?;
    }
    Ok(())
}
