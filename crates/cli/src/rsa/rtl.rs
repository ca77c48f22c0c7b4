//! Private operations on the simulated exponentiator.

use super::PrivateKeyArgs;
use crate::error::{Result, usage};
use crate::files::check_writable;
use crate::output::Output;
use crate::progress::{build_model, cancellable, wait};
use solinas_engine::{DeviceName, device_name};
use solinas_rsa::PrivateKey;
use solinas_rtl::Timing;
use solinas_rtl::rsa::PrivateOperations;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the cycles of the circuit.
pub(super) struct Cycles(Arc<AtomicU64>);

impl Cycles {
    /// The cycles so far.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Whether a private operation runs on the simulated exponentiator.
///
/// # Errors
/// If the command names another device than cpu and rtl, or an option that the circuit does not have.
pub(super) fn is_asked(args: &PrivateKeyArgs) -> Result<bool> {
    let asked = args.device.as_deref().map(str::parse).transpose().map_err(solinas_engine::Error::from)?;
    let named = asked.is_some();
    match device_name(asked)? {
        DeviceName::Rtl if args.method.is_some() => {
            Err(usage("the device rtl has one method of multiplication", "leave out --method"))
        }
        DeviceName::Rtl => Ok(true),
        DeviceName::Cpu => Ok(false),
        _ if named => Err(usage("RSA runs on the devices cpu and rtl", "give one of them, or leave out --device")),
        _ => Ok(false),
    }
}

/// Lets the circuit compute the powers of a key, if the command asks for it, and returns the count of its cycles. The model
/// may take minutes to build, so commands read all their files first, and the place of the result is checked here.
pub(super) fn attach(
    args: &PrivateKeyArgs,
    key: &mut PrivateKey,
    target: Option<&Path>,
    out: &Output,
) -> Result<Option<Cycles>> {
    if !is_asked(args)? {
        return Ok(None);
    }
    if let Some(path) = target.filter(|path| path.is_file() || !path.exists()) {
        check_writable(path)?;
    }
    let bits = key.public_key().bits();
    let circuit =
        cancellable(out, |_| build_model(out, |progress| PrivateOperations::new(bits, Timing::default(), progress)))?;
    let cycles = circuit.cycles();
    key.set_backend(Box::new(circuit));
    Ok(Some(Cycles(cycles)))
}

/// Runs a private operation, with a line about it if a circuit computes, and prints the cycles.
pub(super) fn operate<T>(
    cycles: Option<&Cycles>,
    out: &Output,
    operation: impl FnOnce() -> Result<T>,
) -> Result<(T, Option<u64>)> {
    let Some(cycles) = cycles else { return Ok((operation()?, None)) };
    let result = cancellable(out, |_| wait(out, "simulating the private operation", operation))?;
    out.cycles(cycles.get());
    Ok((result, Some(cycles.get())))
}
