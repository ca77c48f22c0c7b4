//! Programs of NVIDIA, where they are on the path: `nvidia-smi`, `compute-sanitizer`, `ncu`. They only read.

use crate::Clock;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Longest output of a program that is kept, bytes.
const OUTPUT: usize = 4 << 20;

/// Returns the report of `nvidia-smi` on the GPUs.
pub(crate) fn nvidia_smi(clock: Clock) -> String {
    let fields = "name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit,pcie.link.gen.max";
    output(Command::new("nvidia-smi").args([&format!("--query-gpu={fields}"), "--format=csv"]), clock)
}

/// The checks on small shapes under three tools of `compute-sanitizer`.
pub(crate) fn sanitizer(device: &str, clock: Clock) -> String {
    let tool = |tool: &str| {
        let mut command = Command::new("compute-sanitizer");
        command.args(["--tool", tool, "--error-exitcode", "1"]);
        format!("== {tool}\n{}\n", of_lab(command, "checks", device, clock))
    };
    if device.starts_with("emulated") {
        return "The emulated device has checks of its own.\n".into();
    }
    ["memcheck", "racecheck", "initcheck"].map(tool).concat()
}

/// The benches on small shapes under `ncu`.
pub(crate) fn profile(device: &str, clock: Clock) -> String {
    if device.starts_with("emulated") {
        return "The emulated device has counters of its own.\n".into();
    }
    let mut command = Command::new("ncu");
    command.args([
        "--clock-control",
        "none",
        "--launch-count",
        "40",
        "--kernel-name",
        "regex:rotate|keyswitch|lab_fma",
    ]);
    of_lab(command, "benches", device, clock)
}

/// Runs one stage of this program under another one, with results in a temporary folder.
fn of_lab(mut command: Command, stage: &str, device: &str, clock: Clock) -> String {
    let folder = std::env::temp_dir().join(format!("gpu-lab-{}", std::process::id()));
    let mut run = || {
        std::fs::create_dir_all(&folder)?;
        command.arg(std::env::current_exe()?).arg(&folder);
        command.args(["--quick", "--device", device, "--step", stage]);
        Ok::<String, std::io::Error>(output(&mut command, clock))
    };
    let text = run().unwrap_or_else(|error| error.to_string());
    // A folder that stays behind harms nobody.
    let _ = std::fs::remove_dir_all(&folder);
    text
}

/// The output of a program, which is stopped when the time is over.
fn output(command: &mut Command, clock: Clock) -> String {
    let name = command.get_program().to_string_lossy().into_owned();
    if clock.is_over() {
        return format!("{name}: skipped, since the time was over\n");
    }
    let mut child = match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
        Ok(child) => child,
        Err(error) => return format!("{name}: {error}\n"),
    };
    let stdout = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // An output that breaks off is kept as far as it goes.
        let _ = stdout.map(|stdout| stdout.take(OUTPUT as u64).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let ended = loop {
        match child.try_wait() {
            Ok(None) if !clock.is_over() => std::thread::sleep(Duration::from_millis(50)),
            Ok(None) => break "stopped, since the time was over".to_owned(),
            Ok(Some(status)) => break status.to_string(),
            Err(error) => break error.to_string(),
        }
    };
    // A child that has ended cannot be stopped, which is right.
    let _ = child.kill();
    let _ = child.wait();
    format!("{}{name}: {ended}\n", reader.join().unwrap_or_default())
}
