//! Progress bars on standard error, and Ctrl-C.

use crate::error::{Result, input, interruption};
use crate::output::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use solinas_engine::{Control, Progress};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static CANCEL: AtomicBool = AtomicBool::new(false);
/// Whether the current work writes nothing, so that an interruption need not wait for its end.
static ENDS: AtomicBool = AtomicBool::new(false);
/// Whether errors are printed as JSON.
static JSON: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<std::result::Result<(), String>> = OnceLock::new();

/// The flag that Ctrl-C or a request to terminate sets. Before the first call of this function, both end the process as usual.
pub(crate) fn interruptible() -> Result<&'static AtomicBool> {
    #[allow(
        clippy::disallowed_methods,
        reason = "the work it ends has no temporary file, and the system clears its memory"
    )]
    let interrupted = || {
        CANCEL.store(true, Ordering::Relaxed);
        if ENDS.load(Ordering::Relaxed) {
            let error = interruption();
            error.report(JSON.load(Ordering::Relaxed));
            std::process::exit(error.code().into());
        }
    };
    let handler = HANDLER.get_or_init(|| ctrlc::set_handler(interrupted).map_err(|e| e.to_string()));
    match handler {
        Ok(()) => Ok(&CANCEL),
        Err(e) => Err(input(
            format!("cannot listen for Ctrl-C: {e}"),
            "run the command where a process may set signal handlers",
        )),
    }
}

/// A [`Control`] without a bar that Ctrl-C cancels.
///
/// # Errors
/// If no signal handler can be set.
pub(crate) fn interrupt_control() -> Result<Control<'static>> {
    Ok(Control { progress: None, cancel: Some(interruptible()?) })
}

/// Does work that writes nothing. Ctrl-C ends the process at once, with the usual message.
///
/// # Errors
/// The errors of the work.
pub(crate) fn cancellable<T>(out: &Output, work: impl FnOnce(&Control<'_>) -> Result<T>) -> Result<T> {
    JSON.store(out.json(), Ordering::Relaxed);
    ENDS.store(true, Ordering::Relaxed);
    let result = work(&interrupt_control()?);
    ENDS.store(false, Ordering::Relaxed);
    if CANCEL.load(Ordering::Relaxed) { Err(interruption()) } else { result }
}

/// Whether to show progress bars.
pub(crate) fn shows_progress(out: &Output) -> bool {
    !out.quiet() && std::io::IsTerminal::is_terminal(&std::io::stderr())
}

/// Does work of unknown length, and shows a label and a clock.
pub(crate) fn wait<T>(out: &Output, label: &str, work: impl FnOnce() -> T) -> T {
    wait_steps(out, label, |_| work())
}

/// Does work of several steps, and shows a label, the step that the work states, and a clock.
pub(crate) fn wait_steps<T>(out: &Output, label: &str, work: impl FnOnce(&mut dyn FnMut(&str)) -> T) -> T {
    let target = if shows_progress(out) { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let clock = ProgressBar::with_draw_target(None, target).with_message(label.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        clock.set_style(style);
    }
    if shows_progress(out) {
        clock.enable_steady_tick(std::time::Duration::from_millis(250));
    }
    let result = work(&mut |step| clock.set_message(format!("{label}: {step}")));
    clock.finish_and_clear();
    result
}

/// Builds the model of a circuit, and shows the stage of that.
///
/// # Errors
/// The errors of the build.
#[cfg(feature = "rtl")]
pub(crate) fn build_model<T>(
    out: &Output,
    build: impl FnOnce(&mut dyn FnMut(solinas_rtl::BuildStage)) -> std::result::Result<T, solinas_rtl::Error>,
) -> Result<T> {
    let label = "building the model of the circuit (once, a minute or two)";
    Ok(wait_steps(out, label, |show| build(&mut |stage| show(stage.name())))?)
}

/// Does long work, and shows a progress bar with that label. Ctrl-C cancels it.
///
/// # Errors
/// The errors of the work.
pub(crate) fn watch<T>(out: &Output, label: &str, work: impl FnOnce(&Control<'_>) -> Result<T>) -> Result<T> {
    let cancel = Some(interruptible()?);
    let target = if shows_progress(out) { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(0), target).with_message(label.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{msg}\n[{wide_bar}] {pos}/{len} {elapsed} (left {eta})") {
        bar.set_style(style.progress_chars("=> "));
    }
    let show = |progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let result = work(&Control { progress: Some(&show), cancel });
    bar.finish_and_clear();
    result
}
