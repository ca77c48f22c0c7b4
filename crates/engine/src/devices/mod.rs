//! Devices: what computes for keys beside the processor. This build has those of its features `gpu` and `rtl`.

mod auto;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "rtl")]
mod rtl;

use crate::device::Device;
use crate::engine::Engine;
use crate::options::DEVICE_VARIABLE;
use crate::{Error, ServerKey, ServerOptions, registry};
use auto::{Auto, allows_fallback};
use serde::Serialize;
use solinas_schemes::DeviceName;
use solinas_values::process::Pool;
use std::sync::Arc;

/// This build lacks a device.
#[cfg(not(all(feature = "gpu", feature = "rtl")))]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this build of Solinas has no device {name}; build it with the feature `{feature}`, or take the device cpu")]
struct Missing {
    name: DeviceName,
    feature: &'static str,
}

#[cfg(not(all(feature = "gpu", feature = "rtl")))]
impl solinas_schemes::DeviceFault for Missing {
    fn kind(&self) -> solinas_schemes::DeviceErrorKind {
        solinas_schemes::DeviceErrorKind::Request
    }
}

#[cfg(not(all(feature = "gpu", feature = "rtl")))]
fn missing(name: &DeviceName, feature: &'static str) -> Error {
    solinas_schemes::DeviceError::new(Missing { name: name.clone(), feature }).into()
}

/// Opens the device of a name. `None` is the processor, which takes the place of a missing GPU under `auto`.
///
/// # Errors
/// [`Error::Device`] if the device cannot be opened, or if this build has none of that name.
#[cfg_attr(not(feature = "gpu"), allow(unused_variables, reason = "GPUs take the memory"))]
fn open(name: &DeviceName, memory: Option<u64>) -> Result<Option<Arc<dyn Device>>, Error> {
    match name {
        DeviceName::Cpu => Ok(None),
        #[cfg(feature = "rtl")]
        DeviceName::Rtl => Ok(Some(Arc::new(rtl::Rtl))),
        #[cfg(not(feature = "rtl"))]
        DeviceName::Rtl => Err(missing(name, "rtl")),
        #[cfg(feature = "gpu")]
        name => Ok(gpu::Gpus::open(name, memory)?.map(|gpus| Arc::new(gpus) as Arc<dyn Device>)),
        #[cfg(not(feature = "gpu"))]
        DeviceName::Auto => Ok(None),
        #[cfg(not(feature = "gpu"))]
        name => Err(missing(name, "gpu")),
    }
}

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
    if name != DeviceName::Auto {
        open(&name, None)?;
    }
    Ok(name)
}

/// An engine on the device that computes.
pub(crate) struct Chosen {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) name: DeviceName,
    /// The device behind the name. None for the processor.
    pub(crate) device: Option<Arc<dyn Device>>,
}

/// Loads a key for a device, on the current thread pool, which is `pool`.
pub(crate) fn engine(
    key: &ServerKey,
    name: DeviceName,
    options: &ServerOptions,
    pool: &Arc<Pool>,
) -> Result<Chosen, Error> {
    let entry = registry::entry(key.params().scheme)?;
    let on_host = || {
        let engine = entry.engine(key, None, options)?;
        Ok(Chosen { engine, name: DeviceName::Cpu, device: None })
    };
    let is_auto = name == DeviceName::Auto;
    let on_device = || {
        let device = open(&name, options.memory)?;
        let engine = device.as_deref().map(|device| entry.engine(key, Some(device), options));
        Ok(engine.transpose()?.zip(device))
    };
    match on_device() {
        Ok(Some((engine, device))) if is_auto => {
            let host = engine.on_host().map_or_else(|| entry.engine(key, None, options), Ok)?;
            let engine = Arc::new(Auto::new(engine, host, Arc::clone(pool)));
            Ok(Chosen { engine, name: DeviceName::cuda(0), device: Some(device) })
        }
        Ok(Some((engine, device))) => Ok(Chosen { engine, name, device: Some(device) }),
        Ok(None) => on_host(),
        Err(error) if is_auto && allows_fallback(&error) => on_host(),
        Err(error) => Err(error),
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
    #[cfg(feature = "gpu")]
    return gpu::list();
    #[cfg(not(feature = "gpu"))]
    GpuList { gpus: Vec::new(), problem: Some("this build of Solinas has no GPUs (feature `gpu`)".into()) }
}
