//! The choice of a device for a server, and the GPUs of the machine.

use crate::auto::{Auto, allows_fallback};
use crate::engine::Engine;
use crate::options::DEVICE_VARIABLE;
use crate::process::Pool;
use crate::{Error, ServerKey, ServerOptions};
use serde::Serialize;
use solinas_gpu::{Device, DeviceName, DeviceOptions};
use std::sync::Arc;

/// The device that the caller chose, else that of the variable `SOLINAS_DEVICE`, else the processor.
///
/// # Errors
/// [`Error::Device`] if the variable names no device.
pub fn device_name(chosen: Option<DeviceName>) -> Result<DeviceName, Error> {
    if let Some(device) = chosen {
        return Ok(device);
    }
    let value = std::env::var_os(DEVICE_VARIABLE).filter(|value| !value.is_empty());
    Ok(value.map_or(Ok(DeviceName::default()), |value| value.to_string_lossy().parse())?)
}

/// As [`device_name`]. Opens the GPUs of the name once, so that a missing one shows before there is work. With `auto`, the
/// processor takes the place of a GPU that cannot be opened.
///
/// # Errors
/// [`Error::Device`] if the variable names no device, or if a device cannot be opened.
pub fn check_device(chosen: Option<DeviceName>) -> Result<DeviceName, Error> {
    let name = device_name(chosen)?;
    if name != DeviceName::Rtl && name != DeviceName::Auto {
        Device::open_all(&name, DeviceOptions::default())?;
    }
    Ok(name)
}

/// An engine on the device that computes.
pub(crate) struct Chosen {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) name: DeviceName,
    /// The GPUs or emulated devices behind the name.
    pub(crate) devices: Vec<Device>,
}

/// Loads a key for a device, on the current thread pool, which is `pool`.
pub(crate) fn engine(
    key: &ServerKey,
    name: DeviceName,
    options: &ServerOptions,
    pool: &Arc<Pool>,
) -> Result<Chosen, Error> {
    let chosen = |engine, name, devices| Chosen { engine, name, devices };
    let on_host = || Ok(chosen(Arc::clone(&key.0).engine(options)?, DeviceName::Cpu, Vec::new()));
    let is_auto = name == DeviceName::Auto;
    if name == DeviceName::Cpu {
        return on_host();
    }
    if name == DeviceName::Rtl {
        return Ok(chosen(Arc::clone(&key.0).engine_on_rtl(options)?, name, Vec::new()));
    }
    let on_devices = || {
        let devices = Device::open_all(&name, DeviceOptions { memory: options.memory, seed: 0 })?;
        let engine = (!devices.is_empty()).then(|| Arc::clone(&key.0).engine_on(&devices)).transpose()?;
        Ok(engine.map(|engine| (engine, devices)))
    };
    match on_devices() {
        Ok(Some((engine, devices))) if is_auto => {
            let host = engine.on_host().map_or_else(|| Arc::clone(&key.0).engine(options), Ok)?;
            Ok(chosen(Arc::new(Auto::new(engine, host, Arc::clone(pool))), DeviceName::cuda(0), devices))
        }
        Ok(Some((engine, devices))) => Ok(chosen(engine, name, devices)),
        Ok(None) => on_host(),
        Err(error) if is_auto && allows_fallback(&error) => on_host(),
        Err(error) => Err(error),
    }
}

/// The only device of several, for an engine that runs on one.
///
/// # Errors
/// [`Error::Request`] if there are more.
pub(crate) fn one<'a>(scheme: &str, devices: &'a [Device]) -> Result<&'a Device, Error> {
    match devices {
        [device] => Ok(device),
        _ => Err(Error::Request {
            what: format!("scheme {scheme} runs on one device, but {} were named", devices.len()),
            help: "name one, such as cuda:0".into(),
        }),
    }
}

/// A GPU of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GpuInfo {
    /// Its name for servers, such as `cuda:0`.
    pub name: String,
    /// Name of the model.
    pub model: String,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// Number of its multiprocessors.
    pub multiprocessors: u32,
    /// The driver and its version.
    pub driver: String,
    /// The reason why servers do not run on it.
    pub problem: Option<String>,
}

/// The GPUs of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GpuList {
    /// The GPUs, in the order of their numbers.
    pub gpus: Vec<GpuInfo>,
    /// The reason why the list is empty.
    pub problem: Option<String>,
}

/// Lists the GPUs of the machine. If there is no driver, the list is empty and gives the reason.
pub fn gpus() -> GpuList {
    let info = |gpu: solinas_gpu::Gpu| GpuInfo {
        name: DeviceName::cuda(gpu.number).to_string(),
        model: gpu.info.name,
        memory_bytes: gpu.info.memory,
        multiprocessors: gpu.info.multiprocessors,
        driver: gpu.info.driver,
        problem: gpu.problem.map(|problem| problem.to_string()),
    };
    match solinas_gpu::gpus() {
        Ok(gpus) => {
            let problem = gpus.is_empty().then(|| "the NVIDIA driver sees no GPU; take the device cpu".into());
            GpuList { gpus: gpus.into_iter().map(info).collect(), problem }
        }
        Err(error) => GpuList { gpus: Vec::new(), problem: Some(error.to_string()) },
    }
}
