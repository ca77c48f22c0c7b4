//! The `solinas` command: arguments and printing only.
#![forbid(unsafe_code)]
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
mod names;
mod output;
mod paper;
mod params;
mod progress;
mod rsa;
mod values;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(error) = limit_is_an_error() {
        return error.report(false);
    }
    match args::Cli::try_parse() {
        Ok(cli) => {
            let out = output::Output::new(&cli.globals);
            match back_end().and_then(|()| args::run(cli.command, &out)).and_then(|()| out.finish()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => error.report(out.json()),
            }
        }
        Err(error) => output::usage(&error),
    }
}

/// Fails where `SOLINAS_BACKEND` names a back end that is not there, whether the verb computes or not.
fn back_end() -> error::Result<()> {
    solinas_field::Backend::detect().map(drop).map_err(error::Error::from)
}

/// Makes a write beyond the limit on file sizes fail, with a message and nothing left behind, instead of end the process.
fn limit_is_an_error() -> error::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default()).map_err(|e| {
        error::input(format!("cannot handle the signal SIGXFSZ: {e}"), "run it where signals can be handled")
    })?;
    Ok(())
}
