//! Names of devices.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// The name of a device: `cpu`, `auto`, `emulated` or `cuda:N`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum DeviceName {
    /// The processor, without this crate.
    #[default]
    Cpu,
    /// The first GPU, if the machine has one, else the processor.
    Auto,
    /// An interpreter of the kernels. It needs no GPU, checks every access, and is slow.
    Emulated,
    /// The GPU of this number.
    Cuda(usize),
}

impl FromStr for DeviceName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownDevice { name: name.into() };
        match name {
            "cpu" => Ok(Self::Cpu),
            "auto" => Ok(Self::Auto),
            "emulated" => Ok(Self::Emulated),
            _ => {
                let number = name.strip_prefix("cuda:").ok_or_else(unknown)?;
                // `parse` takes a sign, which no number of a GPU has.
                let digits = number.bytes().all(|byte| byte.is_ascii_digit());
                number.parse().ok().filter(|_| digits).map(Self::Cuda).ok_or_else(unknown)
            }
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Auto => f.write_str("auto"),
            Self::Emulated => f.write_str("emulated"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in [DeviceName::Cpu, DeviceName::Auto, DeviceName::Emulated, DeviceName::Cuda(0), DeviceName::Cuda(17)]
        {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        for name in ["", "gpu", "CPU", "cuda", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "cuda:99999999999999999999"] {
            let error = name.parse::<DeviceName>().unwrap_err().to_string();
            assert!(error.contains(&format!("{name:?}")) && error.contains("cuda:0"), "{error}");
        }
    }
}
