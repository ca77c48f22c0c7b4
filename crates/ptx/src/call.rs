//! Calls of a kernel in words, as `ptx-run` and the committed limits of counters hold them.

use std::path::PathBuf;
use std::str::FromStr;

use crate::random::Random;
use crate::{Fault, Kernel, Launch, Machine, Report};

/// A launch with its buffers in the memory of a [`Machine`].
#[derive(Clone, Debug)]
pub struct Call {
    launch: Launch,
    parameters: Vec<u8>,
    /// Files that get a buffer at the end: path, address and bytes.
    outputs: Vec<(PathBuf, u64, usize)>,
}

impl Call {
    /// The words that [`Self::new`] knows.
    pub const USAGE: &str = "\
Arguments of the kernel, in their order:
  u32=N  u64=N  f64=X  numbers
  words=N,N,..         a buffer of 32-bit words
  count=N              a buffer of the 32-bit words 0, 1, .., N-1
  zeros=BYTES          a buffer of zeros
  random=BYTES         a buffer of random bytes
  empty=BYTES          a buffer that is not initialised
  in=PATH              a buffer with the bytes of a file
  out=PATH             the same, and the file is written with the result
Options:
  --grid=X[,Y[,Z]]     blocks (1)
  --block=X[,Y[,Z]]    threads of a block (the kernel's limit)
  --shared=BYTES       dynamic shared memory (0)";

    /// Makes the buffers of a call and fills them.
    ///
    /// # Errors
    /// A message that names the word that is not known or does not fit the kernel.
    pub fn new<'a>(
        machine: &mut Machine,
        kernel: &Kernel,
        words: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let mut call = Self {
            launch: Launch::line(1, kernel.max_threads().unwrap_or(32)),
            parameters: Vec::new(),
            outputs: Vec::new(),
        };
        let mut parameters = kernel.parameters().iter();
        let mut given = 0;
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "--grid" => call.launch.grid = sizes(value)?,
                "--block" => call.launch.block = sizes(value)?,
                "--shared" => call.launch.shared = number(value)?,
                _ => {
                    given += 1;
                    let argument = call.argument(machine, key, value)?;
                    let Some(parameter) = parameters.next() else { continue };
                    if argument.len() != parameter.bytes as usize {
                        let (have, need) = (argument.len(), parameter.bytes);
                        return Err(format!(
                            "{word} has {have} bytes, argument {given} of {} has {need}",
                            kernel.name()
                        ));
                    }
                    call.parameters.resize(parameter.offset as usize, 0);
                    call.parameters.extend(argument);
                }
            }
        }
        let need = kernel.parameters().len();
        if given != need {
            return Err(format!("{} takes {need} arguments, {given} are given", kernel.name()));
        }
        Ok(call)
    }

    /// The bytes of an argument: a number, or the address of a new buffer.
    fn argument(&mut self, machine: &mut Machine, key: &str, value: &str) -> Result<Vec<u8>, String> {
        let bytes = match key {
            "u32" => return Ok(number::<u32>(value)?.to_le_bytes().into()),
            "u64" => return Ok(number::<u64>(value)?.to_le_bytes().into()),
            "f64" => return Ok(number::<f64>(value)?.to_le_bytes().into()),
            "empty" => {
                let address = machine.allocate(number(value)?).map_err(|fault| fault.to_string())?;
                return Ok(address.to_le_bytes().into());
            }
            "zeros" => vec![0; number(value)?],
            "random" => {
                let mut random = Random::new(1);
                (0..number(value)?).map(|_| random.next() as u8).collect()
            }
            "count" => (0..number::<u32>(value)?).flat_map(u32::to_le_bytes).collect(),
            "words" => {
                let words = value.split(',').map(number::<u32>).collect::<Result<Vec<_>, _>>()?;
                words.into_iter().flat_map(u32::to_le_bytes).collect()
            }
            "in" | "out" => std::fs::read(value).map_err(|error| format!("{value}: {error}"))?,
            _ => return Err(format!("{key}={value} is not known\n{}", Self::USAGE)),
        };
        let address = machine.allocate(bytes.len() as u64).map_err(|fault| fault.to_string())?;
        machine.write(address, &bytes).map_err(|fault| fault.to_string())?;
        if key == "out" {
            self.outputs.push((value.into(), address, bytes.len()));
        }
        Ok(address.to_le_bytes().into())
    }

    /// Runs the kernel on the machine that holds the buffers.
    ///
    /// # Errors
    /// As [`Machine::launch`].
    pub fn run(&self, machine: &mut Machine, kernel: &Kernel) -> Result<Report, Fault> {
        machine.launch(kernel, &self.launch, &self.parameters)
    }

    /// Writes the files of the `out` arguments.
    ///
    /// # Errors
    /// A message that names the file or the fault.
    pub fn save(&self, machine: &Machine) -> Result<(), String> {
        for (path, address, length) in &self.outputs {
            let mut bytes = vec![0; *length];
            machine.read(*address, &mut bytes).map_err(|fault| fault.to_string())?;
            std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is not a number that fits here"))
}

fn sizes(text: &str) -> Result<[u32; 3], String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("{text} has more than 3 sizes"));
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = number(part)?;
    }
    Ok(sizes)
}
