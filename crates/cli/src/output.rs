//! Standard output: text or JSON, a closed pipe and a full disk noticed.

use crate::args::Globals;
use crate::error::{Error, Result};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// How results are printed.
pub(crate) struct Output {
    json: bool,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(globals: &Globals) -> Self {
        Self { json: globals.json, quiet: globals.quiet }
    }

    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Whether people are told how it goes.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// What the user asked to see.
    pub(crate) fn result<T: Serialize>(&self, data: &T, text: impl FnOnce() -> String) -> Result<()> {
        if !self.json {
            return self.text(&text());
        }
        let text = serde_json::to_string_pretty(data)
            .map_err(|e| crate::error::input(format!("the result has no JSON form: {e}"), "leave out --json"))?;
        self.text(&(text + "\n"))
    }

    /// What was done, when the product is a file; silent with `--quiet`.
    pub(crate) fn report<T: Serialize>(&self, data: &T, text: impl FnOnce() -> String) -> Result<()> {
        if self.quiet && !self.json { Ok(()) } else { self.result(data, text) }
    }

    /// Text as it is.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(printing)
    }

    /// A line on how it goes; none with `--quiet` or `--json`.
    pub(crate) fn note(&self, line: &str) -> Result<()> {
        if self.quiet || self.json { Ok(()) } else { self.text(&format!("{line}\n")) }
    }

    /// A warning to standard error, which no option silences.
    pub(crate) fn warn(&self, line: &str) {
        // The command's work does not hang on a warning.
        let _ = writeln!(io::stderr(), "warning: {line}");
    }

    pub(crate) fn finish(&self) -> Result<()> {
        io::stdout().flush().map_err(printing)
    }
}

fn printing(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::io("write to", Path::new("standard output"), error),
    }
}

/// Prints what the argument parser says: help and versions to standard output, mistakes to standard error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    match error.print().and_then(|()| io::stdout().flush()) {
        Err(e) if !error.use_stderr() => printing(e).report(false),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}
