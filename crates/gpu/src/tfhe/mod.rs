//! TFHE on a device: bootstraps of gates and integers. Every byte of the ciphertexts is that of the CPU.
//!
//! An [`Engine`] holds a server key on a device. A [`Session`] holds the values of one program there. A wave of
//! bootstraps is a graph of five kernels: linear combinations of values, keyswitch, modulus switch, blind rotation, and
//! sample extraction. The values stay on the device from the first wave to the last one.
//! [`Engines`] and [`Sessions`] share waves among several devices.

mod group;
mod kernels;
mod session;

use crate::{Buffer, Device, Error, Stream};
pub use group::{Engines, Sessions};
use kernels::Kernels;
pub use session::Session;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{Evaluator, Params};

/// A TFHE server key on a device. It has no secrets.
#[derive(Debug)]
pub struct Engine {
    device: Device,
    params: Params,
    kernels: Kernels,
    /// As [`Evaluator::bootstrapping_key`].
    bootstrapping_key: Buffer<f64>,
    /// As the words of [`Evaluator::keyswitch_key`].
    keyswitch_key: Buffer<u32>,
    /// As [`twiddles`](solinas_field::fft::NegacyclicPlan::twiddles) of the blind rotation.
    twiddles: Buffer<f64>,
    /// As [`monomials`](solinas_field::torus::BlindRotation::monomials), for keys whose blocks have more than one bit.
    monomials: Option<Buffer<f64>>,
}

impl Engine {
    /// Copies a key to a device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are no kernels for the parameters. [`Error::Memory`] names the parameter sets that
    /// fit. The errors of the device.
    pub fn new(device: &Device, evaluator: &Evaluator) -> Result<Self, Error> {
        let params = evaluator.params().clone();
        let kernels = Kernels::new(device, &params)?;
        let free = device.memory_limit().saturating_sub(device.live_bytes());
        let need = Self::size_of(&params);
        if need > free {
            return Err(Error::Memory {
                what: format!("a server key of {}", params.name()),
                device: device.info().name.clone(),
                need,
                free,
                limit: device.memory_limit(),
                fits: fitting(free),
            });
        }
        let stream = Stream::new(device)?;
        let bootstrapping_key = stream.buffer_of(evaluator.bootstrapping_key(), "a bootstrapping key")?;
        let keyswitch_key = stream.buffer_of(evaluator.keyswitch_key().words(), "a keyswitch key")?;
        let twiddles = stream.buffer_of(&evaluator.rotation().fft().twiddles(), "twiddle factors")?;
        let monomials = evaluator.rotation().monomials();
        let monomials = (!monomials.is_empty()).then(|| stream.buffer_of(&monomials, "twiddle factors")).transpose()?;
        stream.synchronize()?;
        Ok(Self { device: device.clone(), params, kernels, bootstrapping_key, keyswitch_key, twiddles, monomials })
    }

    /// Bytes that a key of these parameters takes on a device, together with a wave of one bootstrap.
    pub fn size_of(params: &Params) -> u64 {
        Evaluator::size_of(params) as u64 + Session::job_bytes(params)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Number of values for which the device has room, if waves take the same number of bytes.
    pub fn room(&self) -> usize {
        let free = self.device.memory_limit().saturating_sub(self.device.live_bytes());
        (free / 2) as usize / (4 * self.words())
    }

    /// Number of bootstraps that run at once: one on each multiprocessor.
    pub fn parallel(&self) -> usize {
        self.device.info().multiprocessors as usize
    }

    /// Largest number of bootstraps of a graph, after which a run reports progress and can stop. An emulated bootstrap takes
    /// up to a second.
    fn batch(&self) -> usize {
        if self.device.info().is_emulated { 3 * self.parallel() } else { Session::MAX_JOBS }
    }

    /// Words of a value: `k N + 1`.
    fn words(&self) -> usize {
        self.params.big_dimension() + 1
    }
}

/// The advice that names the parameter sets whose keys fit in `free` bytes.
fn fitting(free: u64) -> String {
    let fits = |name: &String| Params::named(name).is_ok_and(|params| Engine::size_of(&params) <= free);
    let names: Vec<String> = Params::names().into_iter().filter(fits).collect();
    if names.is_empty() {
        "no parameter set fits, so take another device".into()
    } else {
        format!("keys of {} fit", names.join(", "))
    }
}

/// Half a box, by which the phase of a value is moved before a rotation. It is the same for all tables of a family.
fn offset(family: Family) -> u32 {
    use solinas_schemes::tfhe::LookupTable;
    match family {
        Family::Gates => LookupTable::Sign.offset(),
        Family::Integers => LookupTable::Entries(Vec::new()).offset(),
    }
}
