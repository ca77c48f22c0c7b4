//! Standard output: prints text or JSON, and detects a closed pipe and a full disk.

use crate::error::{Error, Result};
use comfy_table::{ContentArrangement, Row, Table, presets};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether results, errors and warnings are JSON.
static JSON: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Prints a warning to standard error, which no option silences.
pub(crate) fn warn(line: &str) {
    let text = match is_json() {
        true => json(&serde_json::json!({ "warning": line }).to_string()).into_owned(),
        false => escape_control(&format!("warning: {line}")).into_owned(),
    };
    // A warning that cannot be printed does not stop the command.
    let _ = writeln!(io::stderr(), "{text}");
}

#[derive(clap::Args)]
pub(crate) struct Globals {
    /// Print results and errors as JSON
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Print the requested result only, without progress and notes
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
}

/// How results are printed.
pub(crate) struct Output {
    json: bool,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(globals: &Globals) -> Self {
        JSON.store(globals.json, Ordering::Relaxed);
        Self { json: globals.json, quiet: globals.quiet }
    }

    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Whether to print no progress and no notes.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a result that the user asked for.
    pub(crate) fn result<T: Serialize>(&self, data: &T, text: impl FnOnce() -> String) -> Result<()> {
        if !self.json {
            return self.text(&escape_control(&text()));
        }
        let text = serde_json::to_string_pretty(data)
            .map_err(|e| crate::error::input(format!("the result has no JSON form: {e}"), "leave out --json"))?;
        self.text(&(json(&text).into_owned() + "\n"))
    }

    /// Reports the work if its product is a file. Silent with `--quiet`.
    pub(crate) fn report<T: Serialize>(&self, data: &T, text: impl FnOnce() -> String) -> Result<()> {
        if self.quiet && !self.json { Ok(()) } else { self.result(data, text) }
    }

    /// Prints text for other programs unchanged. On a terminal, control characters are escaped.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let mut stdout = io::stdout().lock();
        let text = if stdout.is_terminal() && !self.json { escape_control(text) } else { text.into() };
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(printing)
    }

    /// Writes bytes unchanged, except to a terminal, which is an error.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut stdout = io::stdout().lock();
        if stdout.is_terminal() {
            return Err(crate::error::usage(
                "bytes are not written to a terminal",
                "name a file with -o, or use a pipe",
            ));
        }
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(printing)
    }

    /// Fails if `--json` is given and bytes would go to standard output, which then is not JSON.
    pub(crate) fn no_json_with_bytes(&self, path: &Path) -> Result<()> {
        if self.json && path == Path::new("-") {
            return Err(crate::error::usage(
                "--json cannot be combined with bytes on standard output",
                "name a file with -o",
            ));
        }
        Ok(())
    }

    /// Prints a line about the progress. Silent with `--quiet` and `--json`.
    pub(crate) fn note(&self, line: &str) -> Result<()> {
        if self.quiet || self.json { Ok(()) } else { self.text(&format!("{line}\n")) }
    }

    /// Prints the cycles of a simulated circuit to standard error. Silent with `--quiet` and `--json`.
    #[cfg(feature = "rtl")]
    pub(crate) fn cycles(&self, cycles: u64) {
        let hz = solinas_rtl::CLOCK_HZ;
        let (time, clock) = (1e3 * cycles as f64 / hz, hz / 1e6);
        self.remark(&format!("rtl: {cycles} cycles, {time:.3} ms at {clock:.0} MHz"));
    }

    /// Prints a line to standard error, beside what was asked for. Silent with `--quiet` and `--json`.
    pub(crate) fn remark(&self, line: &str) {
        if !self.quiet && !self.json {
            // A remark that cannot be printed does not stop the command.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Prints a warning to standard error, which no option silences.
    pub(crate) fn warn(&self, line: &str) {
        warn(line);
    }

    /// Warns about a key that protects little or nothing, unless `research` is set: then the user knows.
    pub(crate) fn warn_of_weakness(&self, key: &Path, weakness: Option<String>, research: bool) {
        if let Some(why) = weakness.filter(|_| !research) {
            self.warn(&format!("{}: {why}; add --research to confirm that you know", key.display()));
        }
    }

    pub(crate) fn finish(&self) -> Result<()> {
        io::stdout().flush().map_err(printing)
    }
}

/// Whether a terminal may interpret a character instead of showing it: controls except line ends and tabs, and characters that change the direction of text.
fn is_terminal_control(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces the characters that a terminal would interpret by escapes, since names and fields of files may hold any characters.
pub(crate) fn escape_control(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.escape_default().to_string())
}

/// As [`escape_control`], with the escapes of JSON.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(is_terminal_control) {
        return text.into();
    }
    text.chars().map(|c| if is_terminal_control(c) { escape(c) } else { c.to_string() }).collect()
}

/// Whether standard output was closed when the process began. Rust opens the null device in its place before `main`, which hides the fact.
static CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
#[ctor::ctor(unsafe)]
fn record_standard_output() {
    CLOSED.store(rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err(), Ordering::Relaxed);
}

/// Fails if standard output is closed.
pub(crate) fn check() -> Result<()> {
    if CLOSED.load(Ordering::Relaxed) {
        let what = "standard output is closed";
        return Err(crate::error::input(what, "open it, or redirect it to /dev/null"));
    }
    Ok(())
}

fn printing(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::io("write to", Path::new("standard output"), error),
    }
}

/// Number of columns of the terminal; `None` if standard output is not a terminal.
pub(crate) fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(width), _)| width)
}

/// Aligns rows of cells in columns. On a terminal, long cells wrap within their columns.
pub(crate) fn columns<R>(rows: &[R]) -> String
where
    for<'r> &'r R: Into<Row>,
{
    within(rows, terminal_width())
}

fn within<R>(rows: &[R], width: Option<u16>) -> String
where
    for<'r> &'r R: Into<Row>,
{
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(rows);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt() + "\n"
}

/// Prints the message of the argument parser. Help and versions go to standard output, mistakes to standard error, as JSON if the arguments
/// contain `--json`.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().skip(1).take_while(|argument| argument != "--").any(|argument| argument == "--json");
    if json && error.use_stderr() {
        let (what, help) = mistake(error);
        return crate::error::usage(what, help).report(true);
    }
    match error.print().and_then(|()| io::stdout().flush()) {
        Err(e) if !error.use_stderr() => printing(e).report(false),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

/// The problem with the arguments, and the remedy: the parser's tip, else a pointer to `--help`.
fn mistake(error: &clap::Error) -> (String, String) {
    let text = error.render().to_string();
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let what = match error.kind() {
        clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a subcommand is missing".to_owned(),
        _ => line(text.split("\n\n").next().unwrap_or_default().trim_start_matches("error:")),
    };
    let tip = text.split("\n\n").map(str::trim).find_map(|part| part.strip_prefix("tip:"));
    (what, tip.map_or_else(|| "see --help".to_owned(), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_control("a\tb\n"), "a\tb\n");
        assert_eq!(escape_control("\x1b[31mEvil\u{9b}\r\u{202e}"), "\\u{1b}[31mEvil\\u{9b}\\r\\u{202e}");
        assert_eq!(json("{\"a\": \"\u{9b}\"}"), "{\"a\": \"\\u009b\"}");
    }

    #[test]
    fn columns_keep_to_the_width_of_a_terminal() {
        let rows = [["name", "security"], ["a", "128 bits, by an estimate"]].map(|row| row.map(String::from));
        assert_eq!(within(&rows, None), "name  security\na     128 bits, by an estimate\n");
        assert_eq!(within(&rows, Some(20)), "name  security\na     128 bits, by\n      an estimate\n");
    }
}
