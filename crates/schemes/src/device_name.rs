//! Names of devices.

use crate::{DeviceErrorKind, DeviceFault};
use std::fmt;
use std::str::FromStr;

/// Largest number of emulated devices of one name.
const MOST_EMULATED: usize = 8;

/// The name of the devices of one computation: `cpu`, `auto`, `cuda:N`, several of these as `cuda:0,cuda:1`, `cuda:all`,
/// `emulated`, `emulated:N` for `N` emulated devices, or `rtl`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum DeviceName {
    /// The processor.
    #[default]
    Cpu,
    /// The first GPU, if the machine has one, else the processor.
    Auto,
    /// A number of interpreters of the kernels, at least 1. They need no GPU, check every access, and are slow.
    Emulated(usize),
    /// The GPUs of these numbers: at least one, in ascending order.
    Cuda(Vec<usize>),
    /// All GPUs of the machine.
    AllCuda,
    /// The simulated hardware designs of `solinas-rtl`.
    Rtl,
}

impl DeviceName {
    /// The name of the GPU of this number.
    #[must_use]
    pub fn cuda(number: usize) -> Self {
        Self::Cuda(vec![number])
    }
}

/// No device has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown device {name:?}; choose cpu, auto, emulated, rtl, or cuda:N with the number of a GPU, such as cuda:0 (several: cuda:0,cuda:1 or cuda:all)"
)]
pub struct UnknownDevice {
    /// The name.
    pub name: String,
}

impl DeviceFault for UnknownDevice {
    fn kind(&self) -> DeviceErrorKind {
        DeviceErrorKind::Request
    }
}

impl FromStr for DeviceName {
    type Err = UnknownDevice;

    fn from_str(name: &str) -> Result<Self, UnknownDevice> {
        let unknown = || UnknownDevice { name: name.into() };
        // `parse` takes a sign, which no number of a device has.
        let number = |digits: &str| {
            let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
            number.ok_or_else(unknown)
        };
        match name {
            "cpu" => Ok(Self::Cpu),
            "auto" => Ok(Self::Auto),
            "emulated" => Ok(Self::Emulated(1)),
            "cuda:all" => Ok(Self::AllCuda),
            "rtl" => Ok(Self::Rtl),
            _ => match name.strip_prefix("emulated:") {
                Some(count) => {
                    let count = number(count)?;
                    if (1..=MOST_EMULATED).contains(&count) { Ok(Self::Emulated(count)) } else { Err(unknown()) }
                }
                None => {
                    let gpu = |part: &str| number(part.strip_prefix("cuda:").ok_or_else(unknown)?);
                    let mut numbers = name.split(',').map(gpu).collect::<Result<Vec<usize>, UnknownDevice>>()?;
                    numbers.sort_unstable();
                    numbers.dedup();
                    Ok(Self::Cuda(numbers))
                }
            },
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Auto => f.write_str("auto"),
            Self::Emulated(1) => f.write_str("emulated"),
            Self::Emulated(count) => write!(f, "emulated:{count}"),
            Self::Cuda(numbers) => {
                let names: Vec<String> = numbers.iter().map(|number| format!("cuda:{number}")).collect();
                f.write_str(&names.join(","))
            }
            Self::AllCuda => f.write_str("cuda:all"),
            Self::Rtl => f.write_str("rtl"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        use DeviceName::{AllCuda, Auto, Cpu, Cuda, Emulated, Rtl};
        for name in
            [Cpu, Auto, Rtl, Emulated(1), Emulated(8), AllCuda, Cuda(vec![0]), Cuda(vec![17]), Cuda(vec![0, 1, 5])]
        {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert_eq!("cuda:3,cuda:1,cuda:3".parse(), Ok(Cuda(vec![1, 3])), "a set of GPUs");
        let unknown = [
            "",
            "gpu",
            "CPU",
            "cuda",
            "cuda:",
            "cuda:-1",
            "cuda:+1",
            "cuda:x",
            "cuda:99999999999999999999",
            "cuda:0,",
            "cuda:0,1",
            "cuda:0, cuda:1",
            "cuda:0,cpu",
            "cuda:all,cuda:0",
            "emulated:",
            "emulated:0",
            "emulated:9",
            "emulated:+1",
            "cpu,cpu",
        ];
        for name in unknown {
            let error = name.parse::<DeviceName>().unwrap_err().to_string();
            assert!(error.contains(&format!("{name:?}")) && error.contains("cuda:0"), "{error}");
        }
    }
}
