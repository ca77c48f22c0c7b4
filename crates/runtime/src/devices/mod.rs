//! Devices: what computes for keys beside the processor. This build has those of its features `gpu` and `rtl`.

mod auto;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "rtl")]
mod rtl;

use crate::engine::Engine;
use crate::gh::Backend as GhBackend;
use crate::leveled::OnDevice;
use crate::options::DEVICE_VARIABLE;
use crate::process::Pool;
use crate::{Error, ServerKey, ServerOptions};
use auto::{Auto, allows_fallback};
use serde::Serialize;
use solinas_schemes::bgv::{self, Bgv};
use solinas_schemes::lwe::{self, Lwe};
use solinas_schemes::ntru::{self, Ntru};
use solinas_schemes::{DeviceError, DeviceErrorKind, DeviceFault, DeviceName, gh, tfhe};
use std::fmt::Debug;
use std::sync::Arc;

/// Computes for keys. A method is `None` if the device has nothing for the scheme.
pub(crate) trait Device: Debug + Send + Sync {
    /// The name under which a caller asks for it.
    fn name(&self) -> String;

    /// The schemes for whose keys it computes.
    fn schemes(&self) -> &'static str;

    /// Whether an error has ended the device.
    fn has_failed(&self) -> bool {
        false
    }

    fn tfhe(&self, _: &tfhe::Evaluator) -> Option<Result<Box<dyn tfhe::Backend>, Error>> {
        None
    }

    fn bgv(&self, _: &Arc<bgv::ServerKey>) -> Option<Result<Box<dyn OnDevice<Bgv>>, Error>> {
        None
    }

    fn ntru(&self, _: &Arc<ntru::ServerKey>) -> Option<Result<Box<dyn OnDevice<Ntru>>, Error>> {
        None
    }

    fn lwe(&self, _: &Arc<lwe::ServerKey>) -> Option<Result<Box<dyn OnDevice<Lwe>>, Error>> {
        None
    }

    /// The tables of Recrypt. Those on the processor take up to `memory` bytes.
    fn gh(&self, _: &Arc<gh::ServerKey>, _memory: u64) -> Option<Result<Box<dyn GhBackend>, Error>> {
        None
    }
}

/// The part of a device for a scheme.
///
/// # Errors
/// [`Error::Device`] if it has none. The errors of the device.
pub(crate) fn part<T>(device: &dyn Device, scheme: &str, part: Option<Result<T, Error>>) -> Result<T, Error> {
    part.unwrap_or_else(|| {
        let (name, schemes) = (device.name(), device.schemes());
        Err(DeviceError::new(Missing::Scheme { name, schemes, scheme: scheme.to_owned() }).into())
    })
}

/// A device that cannot do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Missing {
    #[error(
        "the device {name} computes for keys of scheme {schemes} alone, and not of {scheme}; take another device, such as cpu"
    )]
    Scheme { name: String, schemes: &'static str, scheme: String },
    #[error(
        "this build of Solinas has no device {name}; build it with the feature `{feature}`, or take the device cpu"
    )]
    #[cfg_attr(all(feature = "gpu", feature = "rtl"), allow(dead_code, reason = "this build has all devices"))]
    Build { name: DeviceName, feature: &'static str },
}

impl DeviceFault for Missing {
    fn kind(&self) -> DeviceErrorKind {
        DeviceErrorKind::Request
    }
}

/// Opens the device of a name. `None` is the processor, which takes the place of a missing GPU under `auto`.
///
/// # Errors
/// [`Error::Device`] if the device cannot be opened, or if this build has none of that name.
fn open(name: &DeviceName, memory: Option<u64>) -> Result<Option<Arc<dyn Device>>, Error> {
    match name {
        DeviceName::Cpu => Ok(None),
        #[cfg(feature = "rtl")]
        DeviceName::Rtl => Ok(Some(Arc::new(rtl::Rtl))),
        #[cfg(not(feature = "rtl"))]
        DeviceName::Rtl => Err(DeviceError::new(Missing::Build { name: name.clone(), feature: "rtl" }).into()),
        #[cfg(feature = "gpu")]
        name => Ok(gpu::Gpus::open(name, memory)?.map(|gpus| Arc::new(gpus) as Arc<dyn Device>)),
        #[cfg(not(feature = "gpu"))]
        DeviceName::Auto => Ok(memory.and(None)),
        #[cfg(not(feature = "gpu"))]
        name => Err(DeviceError::new(Missing::Build { name: name.clone(), feature: "gpu" }).into()),
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
    let on_host = || {
        let engine = Arc::clone(&key.0).engine(None, options)?;
        Ok(Chosen { engine, name: DeviceName::Cpu, device: None })
    };
    let is_auto = name == DeviceName::Auto;
    let on_device = || {
        let device = open(&name, options.memory)?;
        let engine = device.as_deref().map(|device| Arc::clone(&key.0).engine(Some(device), options));
        Ok(engine.transpose()?.zip(device))
    };
    match on_device() {
        Ok(Some((engine, device))) if is_auto => {
            let host = engine.on_host().map_or_else(|| Arc::clone(&key.0).engine(None, options), Ok)?;
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
