//! Products and powers on a GPU.

use super::Reader;
use super::args::{Common, EngineName, One, Power, Two, Verb};
use crate::error::{Result, usage};
use solinas_bigint::Natural;
use solinas_engine::device_name;
use solinas_gpu::bigint::{self, Modulus};
use solinas_gpu::{Device, DeviceOptions, solinas};

/// A device that computes instead of the processor.
pub(super) struct Gpu {
    device: Device,
    /// Whether to multiply over the field of p = 2^64 - 2^32 + 1, and not in complex numbers.
    over_field: bool,
}

/// Opens the device of a command. `None` is the processor.
///
/// # Errors
/// If the device cannot be opened, or if the command names one and does not run on it.
pub(super) fn open(verb: &Verb, common: &Common) -> Result<Option<Gpu>> {
    let asked = common.device.as_deref().map(str::parse).transpose().map_err(solinas_engine::Error::from)?;
    let runs = matches!(verb, Verb::Mul(_) | Verb::Square(_) | Verb::Powm(Power { secret: false, .. }));
    if !runs && asked.is_none() {
        return Ok(None);
    }
    let device = Device::open(device_name(asked)?, DeviceOptions::default())?;
    match (device, verb) {
        (None, _) => Ok(None),
        (Some(_), Verb::Powm(_)) if !runs => Err(usage(
            "a device is not for secret exponents: its memory accesses show the exponent",
            "leave out --device",
        )),
        (Some(_), _) if !runs => Err(usage("only mul, square and powm run on a device", "leave out --device")),
        (Some(device), _) => Ok(Some(Gpu { device, over_field: matches!(common.engine, Some(EngineName::Solinas)) })),
    }
}

impl Gpu {
    /// Reads the numbers, and returns the computation on them.
    pub(super) fn plan(self, verb: &Verb, reader: &mut Reader<'_>) -> Result<Box<dyn FnOnce() -> Result<Natural>>> {
        let (a, b, modulus) = match verb {
            Verb::Mul(Two { a, b, modulus, .. }) => {
                (reader.natural(a, "the first number")?, Some(reader.natural(b, "the second number")?), modulus)
            }
            Verb::Square(One { a, modulus, .. }) => (reader.natural(a, "the first number")?, None, modulus),
            Verb::Powm(Power { base, exponent, modulus, .. }) => {
                let (base, exponent) = (reader.natural(base, "the base")?, reader.natural(exponent, "the exponent")?);
                let modulus = reader.modulus(modulus)?;
                self.check_engine(Some(&modulus))?;
                return Ok(Box::new(move || self.power(&base, &exponent, &modulus)));
            }
            _ => return Err(usage("only mul, square and powm run on a device", "leave out --device")),
        };
        let modulus = reader.optional_modulus(modulus)?;
        self.check_engine(modulus.as_ref())?;
        Ok(Box::new(move || self.product(&a, b.as_ref(), modulus.as_ref())))
    }

    /// Refuses products modulo a number over the field.
    fn check_engine(&self, modulus: Option<&Natural>) -> Result<()> {
        match modulus {
            Some(_) if self.over_field => Err(usage(
                "a device computes modulo a number by the engine complex alone",
                "leave out --engine, or --device",
            )),
            _ => Ok(()),
        }
    }

    fn product(&self, a: &Natural, b: Option<&Natural>, modulus: Option<&Natural>) -> Result<Natural> {
        let product = || {
            let device = &self.device;
            let Some(modulus) = modulus else {
                return match (b, self.over_field) {
                    (Some(b), false) => bigint::mul(device, a, b),
                    (None, false) => bigint::square(device, a),
                    (Some(b), true) => solinas::mul(device, a, b),
                    (None, true) => solinas::square(device, a),
                };
            };
            let modulus = Modulus::new(device, modulus)?;
            let a = std::slice::from_ref(a);
            let products = b.map_or_else(|| modulus.square(a), |b| modulus.mul(a, std::slice::from_ref(b)))?;
            Ok(products.into_iter().next().unwrap_or_default())
        };
        Ok(product()?)
    }

    fn power(&self, base: &Natural, exponent: &Natural, modulus: &Natural) -> Result<Natural> {
        let power = || {
            let modulus = Modulus::new(&self.device, modulus)?;
            let powers = modulus.pow::<solinas_gpu::Error>(std::slice::from_ref(base), exponent, || Ok(()));
            Ok::<_, solinas_gpu::Error>(powers?.into_iter().next().unwrap_or_default())
        };
        Ok(power()?)
    }
}
