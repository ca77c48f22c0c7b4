//! Products and powers on the simulated hardware designs.

use super::Reader;
use super::args::{One, Power, Two, Verb};
use crate::error::{Result, usage};
use crate::output::Output;
use crate::progress::{build_model, cancellable, wait};
use solinas_bigint::Natural;
use solinas_engine::{DeviceName, device_name};
use solinas_rtl::gh::Modular;
use solinas_rtl::multiplier::{Multiplier, Part, Size};
use solinas_rtl::{Error, Timing};

/// Whether a command runs on the simulated designs.
///
/// # Errors
/// If the command names them and does not run there.
pub(super) fn is_asked(verb: &Verb, device: Option<&str>) -> Result<bool> {
    let asked = device.map(str::parse).transpose().map_err(solinas_engine::Error::from)?;
    let named = asked.is_some();
    let runs = matches!(verb, Verb::Mul(_) | Verb::Square(_) | Verb::Powm(Power { secret: false, .. }));
    match device_name(asked)? == DeviceName::Rtl {
        true if runs => Ok(true),
        true if named => {
            Err(usage("only mul, square, and powm of a public exponent run on the device rtl", "leave out --device"))
        }
        _ => Ok(false),
    }
}

/// Reads the numbers and computes. Returns the result and the cycles of the simulated circuit.
///
/// # Errors
/// If a number cannot be read or does not fit, and those of the simulation. Ctrl-C ends the process at once.
pub(super) fn run(verb: &Verb, reader: &mut Reader<'_>, out: &Output) -> Result<(Natural, u64)> {
    cancellable(out, |_| simulate(verb, reader, out))
}

fn simulate(verb: &Verb, reader: &mut Reader<'_>, out: &Output) -> Result<(Natural, u64)> {
    if reader.common.engine.is_some() {
        return Err(usage("the device rtl has one method of multiplication", "leave out --engine"));
    }
    let (a, b, modulus) = match verb {
        Verb::Mul(Two { a, b, modulus, .. }) => (
            reader.natural(a, "the first number")?,
            Some(reader.natural(b, "the second number")?),
            reader.optional_modulus(modulus)?,
        ),
        Verb::Square(One { a, modulus, .. }) => {
            (reader.natural(a, "the first number")?, None, reader.optional_modulus(modulus)?)
        }
        Verb::Powm(Power { base, exponent, modulus, .. }) => {
            let (base, exponent) = (reader.natural(base, "the base")?, reader.natural(exponent, "the exponent")?);
            let modulus = reader.modulus(modulus)?;
            let circuit = modular(&modulus, fitting(&[("the base", &base)])?, out)?;
            let label = format!("simulating a power of {} bits", exponent.bit_len());
            return wait(out, &label, || Ok(power(&circuit, &base, &exponent)?));
        }
        _ => return Err(usage("only mul, square and powm run on the device rtl", "leave out --device")),
    };
    let b = b.as_ref().unwrap_or(&a);
    let longest = fitting(&[("the first operand", &a), ("the second operand", b)])?;
    match modulus {
        None => {
            let size = if longest <= Size::Small.bits() { Size::Small } else { Size::Full };
            let mut circuit = build_model(out, |progress| Multiplier::new(size, Timing::default(), progress))?;
            wait(out, "simulating a product", || {
                let products = circuit.multiply(&[(&a, b)], Part::All)?;
                let product = products.into_iter().next().ok_or(Error::Stuck { top: "multiplier", cycles: 0 })?;
                Ok((product.value, product.last_beat + 1 - product.first_load))
            })
        }
        Some(modulus) => {
            let circuit = modular(&modulus, longest, out)?;
            wait(out, "simulating a product", || {
                let ((a, first), (b, second)) = (reduced(&circuit, &a)?, reduced(&circuit, b)?);
                let (product, run) = circuit.multiply(&a, &b)?;
                Ok((product, first + second + run.cycles))
            })
        }
    }
}

/// Bits of the longest operand. It is checked before the model is built, which takes long.
///
/// # Errors
/// If an operand does not fit in any design.
fn fitting(operands: &[(&'static str, &Natural)]) -> Result<usize> {
    let most = Size::Full.bits();
    for &(what, operand) in operands {
        let bits = operand.bit_len();
        if bits > most {
            return Err(Error::TooLong { what, bits, most }.into());
        }
    }
    Ok(operands.iter().map(|(_, operand)| operand.bit_len()).max().unwrap_or(0))
}

fn modular(modulus: &Natural, longest: usize, out: &Output) -> Result<Modular> {
    build_model(out, |progress| Modular::for_operands(modulus, longest, Timing::default(), progress))
}

/// A number modulo that of the circuit, and the cycles that took.
fn reduced(circuit: &Modular, x: &Natural) -> std::result::Result<(Natural, u64), Error> {
    if x < circuit.modulus() {
        return Ok((x.clone(), 0));
    }
    let (x, run) = circuit.multiply(x, &Natural::one())?;
    Ok((x, run.cycles))
}

fn power(circuit: &Modular, base: &Natural, exponent: &Natural) -> std::result::Result<(Natural, u64), Error> {
    let (base, first) = reduced(circuit, base)?;
    let (power, run) = circuit.power(&base, exponent)?;
    Ok((power, first + run.cycles))
}
