//! Errors of devices.

use solinas_schemes::{DeviceError, DeviceErrorKind, DeviceFault};
use thiserror::Error;

/// An error of a device or of an engine on it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is that of the hardware designs, which are no GPU.
    #[error(
        "the device rtl simulates hardware for bigint mul, square and powm, and for keys of the scheme gh; take another device, such as cpu"
    )]
    Rtl,
    /// The name stands for several devices, but the work runs on one.
    #[error("{name} stands for {count} devices, but this runs on one; name one of them, such as cuda:0")]
    SeveralDevices {
        /// The name.
        name: String,
        /// Number of its devices.
        count: usize,
    },
    /// A process forked after it had opened the device.
    #[error("{device} belongs to the parent process; open devices after the fork, or take the device cpu")]
    Forked {
        /// Name of the device.
        device: String,
    },
    /// This build has no CUDA driver.
    #[error(
        "no CUDA device: this build of Solinas has no support for CUDA; take the device cpu, or build solinas-gpu with its feature cuda on Linux"
    )]
    NoCuda,
    /// The library of the NVIDIA driver is missing.
    #[error(
        "no CUDA device: the driver library libcuda.so.1 was not found; install the NVIDIA driver, or take the device cpu"
    )]
    NoDriver,
    /// The machine has no GPU with this number.
    #[error("no CUDA device {number}: the driver sees {count} of them, numbered from 0; `nvidia-smi -L` lists them")]
    NoDevice {
        /// The number that was asked for.
        number: usize,
        /// The GPUs of the machine.
        count: usize,
    },
    /// The driver cannot compile the kernels.
    #[error("the NVIDIA driver supports CUDA {}.{}, but the kernels need {}.{}; install driver 550 or newer, or take the device cpu", have / 1000, have % 1000 / 10, need / 1000, need % 1000 / 10)]
    OldDriver {
        /// 1000 times the major version plus 10 times the minor version of the driver.
        have: u32,
        /// The version that the kernels need.
        need: u32,
    },
    /// The GPU lacks instructions that the kernels use.
    #[error("{device} has compute capability {}.{}, but the kernels need {}.{}; take another GPU, or the device cpu", have.0, have.1, need.0, need.1)]
    OldDevice {
        /// Name of the GPU.
        device: String,
        /// Major and minor number of the capability that the GPU has.
        have: (u32, u32),
        /// The capability that the kernels need.
        need: (u32, u32),
    },
    /// The memory of the device is too small.
    #[error("{what} needs {need} bytes on {device}, which has {free} bytes free of {limit}; {fits}")]
    Memory {
        /// The data that does not fit.
        what: String,
        /// Name of the device.
        device: String,
        /// Bytes that it needs.
        need: u64,
        /// Bytes that are free.
        free: u64,
        /// Bytes that the device may use.
        limit: u64,
        /// The remedy: what would fit.
        fits: String,
    },
    /// The host has too little memory that can be page-locked.
    #[error("{what} needs {need} bytes of page-locked memory, which the host does not have; close other programs")]
    HostMemory {
        /// The data that does not fit.
        what: String,
        /// Bytes that it needs.
        need: u64,
    },
    /// A kernel does not fit its launch. This is a fault of Solinas.
    #[error("kernel {kernel}: {problem}; please report this as a fault of Solinas")]
    Launch {
        /// Name of the kernel.
        kernel: String,
        /// The problem.
        problem: String,
    },
    /// A check of the emulated device failed. This is a fault of Solinas.
    #[error("the emulated device found a fault: {0}; please report this as a fault of Solinas")]
    Fault(String),
    /// A call of the CUDA driver failed. The device takes no more work.
    #[error("{device} failed in {call}: {problem}; make a new server, or take the device cpu")]
    Driver {
        /// Name of the device.
        device: String,
        /// The operation that reported the error, which an earlier one may have caused.
        call: String,
        /// The message of the driver.
        problem: String,
    },
    /// The engine has no kernels for these parameters.
    #[error("there are no GPU kernels for {params}; take the device cpu")]
    Unsupported {
        /// Description of the parameters.
        params: String,
    },
    /// A ciphertext or table does not fit the engine.
    #[error(transparent)]
    Scheme(solinas_schemes::Error),
}

/// The error of a device within one of a scheme is that of the device.
impl From<solinas_schemes::Error> for Error {
    fn from(error: solinas_schemes::Error) -> Self {
        match &error {
            solinas_schemes::Error::Device(device) => device.get().cloned().unwrap_or(Self::Scheme(error)),
            _ => Self::Scheme(error),
        }
    }
}

/// An error of a scheme stays one. Others become errors of a device.
impl From<Error> for solinas_schemes::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Scheme(error) => error,
            error => DeviceError::new(error).into(),
        }
    }
}

impl Error {
    /// Whether the machine has no device that runs the kernels.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::NoCuda | Self::NoDriver | Self::NoDevice { .. } | Self::OldDriver { .. } | Self::OldDevice { .. }
        )
    }
}

impl DeviceFault for Error {
    fn kind(&self) -> DeviceErrorKind {
        match self {
            Self::Launch { .. } | Self::Fault(_) => DeviceErrorKind::Internal,
            Self::Driver { .. } => DeviceErrorKind::Failure,
            _ => DeviceErrorKind::Request,
        }
    }

    /// There is no device, its memory is too small, it failed, or it has no kernels for the parameters.
    fn allows_fallback(&self) -> bool {
        self.is_absence()
            || matches!(
                self,
                Self::Memory { .. } | Self::HostMemory { .. } | Self::Driver { .. } | Self::Unsupported { .. }
            )
    }
}
