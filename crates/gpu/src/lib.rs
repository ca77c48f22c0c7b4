//! GPUs: devices, memory, streams, graphs, and the engines that run the kernels of Solinas on them.
//!
//! - [`Device`]: a GPU with CUDA, or the emulated device, which interprets the same PTX and checks every access.
//! - [`Stream`]: operations in order. [`Buffer`]: an array on the device, from the device's memory pool.
//!   Operations of different streams on one buffer wait for each other.
//! - [`Launch`] and [`Graph`]: one run of a kernel with its arguments, as an engine made it, and a chain of them.
//! - [`bigint`]: products, reductions and powers of long integers.
//! - [`complex`]: products of long integers by complex transforms.
//! - [`gh`]: products and Recrypt of the scheme of Gentry and Halevi.
//! - [`lwe`]: products of matrices of residues with vectors.
//! - [`solinas`]: products of long integers by transforms over the field of p = 2^64 - 2^32 + 1.
//! - [`tfhe`]: bootstraps of TFHE.
//! - [`ring`]: polynomials modulo `X^N + 1` and word-size primes, for NTRU and BGV.
//!
//! The results of an engine are those of the CPU, in every byte. The crate builds without CUDA. It opens the library
//! of the NVIDIA driver when a program opens a CUDA device.
//!
//! ```
//! use solinas_gpu::{Device, DeviceOptions, Stream};
//! let device = Device::emulated(DeviceOptions::default());
//! let stream = Stream::new(&device)?;
//! let buffer = stream.buffer_of(&[1u32, 2, 3], "an example")?;
//! let mut values = [0; 2];
//! stream.read(&buffer, 1, &mut values)?;
//! assert_eq!(values, [2, 3]);
//! # Ok::<(), solinas_gpu::Error>(())
//! ```
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod bigint;
mod buffer;
mod clock;
pub mod complex;
mod device;
mod driver;
#[cfg(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[allow(unsafe_code, reason = "the calls of the CUDA driver are C functions")]
mod driver_cuda;
#[cfg(not(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod driver_cuda {
    use crate::Error;
    use crate::driver::{Driver, Gpu};

    /// There is no CUDA in this build.
    pub(crate) fn open(_: usize) -> Result<Box<dyn Driver>, Error> {
        Err(Error::NoCuda)
    }

    /// As [`open`].
    pub(crate) fn list() -> Result<Vec<Gpu>, Error> {
        Err(Error::NoCuda)
    }
}
mod driver_emulated;
mod driver_faulty;
mod error;
pub mod gh;
mod graph;
mod host;
#[cfg_attr(not(feature = "kernels"), allow(unreachable_pub, dead_code, reason = "public with this feature"))]
mod kernel;
#[cfg_attr(not(feature = "kernels"), allow(unreachable_pub, dead_code, reason = "public with this feature"))]
mod launch;
pub mod lwe;
#[cfg_attr(not(feature = "kernels"), allow(unreachable_pub, dead_code, reason = "public with this feature"))]
mod module;
mod order;
mod pool;
pub mod ring;
pub mod solinas;
mod staging;
mod stream;
pub mod tfhe;

pub use buffer::Buffer;
pub use device::{Device, DeviceOptions, gpus};
pub use driver::{DeviceInfo, Gpu};
#[doc(hidden)]
pub use driver_faulty::Faults;
pub use error::Error;
pub use graph::Graph;
pub use host::HostBuffer;
pub use launch::Launch;
pub use stream::Stream;

// A kernel trusts its arguments: with wrong ones, a CUDA device reads and writes other memory. So only engines make
// launches, and the tests of single kernels, which have this feature.
#[cfg(feature = "kernels")]
pub use {kernel::Kernel, launch::Arg, module::Module};
#[cfg(not(feature = "kernels"))]
pub(crate) use {kernel::Kernel, launch::Arg, module::Module};
